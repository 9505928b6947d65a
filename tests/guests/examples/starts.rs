//! Misbehaves in its start function, but only in calls: the granted variable
//! `PRX_GUEST_START` (`spin`, `sleep`, `trap`, `exit`) says how. `describe` is called
//! without grants, so the module loads well.

use std::time::Duration;

use prx_guests::{Tool, at_start, guest, text};

fn start() {
    match std::env::var("PRX_GUEST_START").as_deref() {
        Ok("spin") => loop {
            std::hint::spin_loop();
        },
        Ok("sleep") => std::thread::sleep(Duration::from_hours(1)),
        Ok("trap") => std::process::abort(),
        Ok("exit") => std::process::exit(3),
        _ => {}
    }
}

at_start!(start);

guest![Tool::new(
    "answer",
    "Answers, if it came so far.",
    |_| text("started")
)];
