//! Sleeps for an hour when asked what it offers.

prx_guests::describes!({
    std::thread::sleep(std::time::Duration::from_hours(1));
    Vec::new()
});
