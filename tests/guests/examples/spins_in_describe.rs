//! Computes for ever when asked what it offers.

prx_guests::describes!(loop {
    std::hint::spin_loop();
});
