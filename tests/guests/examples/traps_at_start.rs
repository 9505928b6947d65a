//! Traps while it is instantiated.

use prx_guests::{Tool, at_start, guest, text};

fn start() {
    std::process::abort();
}

at_start!(start);

guest![Tool::new("answer", "Never gets that far.", |_| text(
    "started"
))];
