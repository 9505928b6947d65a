//! Uses up time: in computing, in sleeping, in waiting for something that never comes.

use std::io::Read as _;
use std::time::Duration;

use prx_guests::tools::ErrorKind;
use prx_guests::wasi::clocks::monotonic_clock;
use prx_guests::{Tool, fail, guest, text};

guest![
    Tool::new(
        "spin",
        "Says so on standard error, then computes for ever.",
        |_| {
            eprintln!("spinning");
            loop {
                std::hint::spin_loop();
            }
        }
    ),
    Tool::new(
        "work",
        "Computes for that many rounds, then answers.",
        |arguments| {
            let rounds = arguments.number("rounds")?;
            let sum = (0..rounds).fold(0_u64, |sum, round| std::hint::black_box(sum ^ round));
            text(format!("worked {rounds} rounds: {sum}"))
        }
    )
    .takes("rounds", "integer"),
    Tool::new(
        "sleep",
        "Sleeps that many milliseconds, then answers.",
        |arguments| {
            let millis = arguments.number("millis")?;
            std::thread::sleep(Duration::from_millis(millis));
            text(format!("slept {millis} ms"))
        }
    )
    .takes("millis", "integer"),
    Tool::new("stdin", "Reads standard input to its end.", |_| {
        let mut input = Vec::new();
        match std::io::stdin().read_to_end(&mut input) {
            Ok(_) => text(format!("read {} bytes", input.len())),
            Err(error) => Err(fail(ErrorKind::Failed, format!("reading failed: {error}"))),
        }
    }),
    Tool::new(
        "poll",
        "Says so on standard error, then waits for an instant that never comes.",
        |_| {
            eprintln!("waiting");
            monotonic_clock::subscribe_instant(u64::MAX).block();
            text("the end of time")
        }
    ),
    Tool::new(
        "poll_again",
        "Waits in short steps without end.",
        |_| loop {
            monotonic_clock::subscribe_duration(1_000_000).block();
        }
    ),
];
