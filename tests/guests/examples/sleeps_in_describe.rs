//! Sleeps for an hour when asked what it offers.

prx_guests::describes!({
    std::thread::sleep(std::time::Duration::from_secs(3600));
    Vec::new()
});
