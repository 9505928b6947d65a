//! Computes for ever while it is instantiated.

use prx_guests::{Tool, at_start, guest, text};

fn start() {
    loop {
        std::hint::spin_loop();
    }
}

at_start!(start);

guest![Tool::new("answer", "Never gets that far.", |_| text(
    "started"
))];
