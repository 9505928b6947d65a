//! Writes 64 MB to each of standard output, standard error and the log when asked
//! what it offers, then answers well.

use std::io::Write as _;

use prx_guests::{Tool, log};

prx_guests::describes!({
    let chunk = "d".repeat(1 << 16);
    for _ in 0..1024 {
        let _ = std::io::stdout().write_all(chunk.as_bytes());
        let _ = std::io::stderr().write_all(chunk.as_bytes());
        log::write(log::Level::Error, &chunk, &[]);
    }
    vec![Tool::new("answer", "Answers.", |_| unreachable!()).into_spec()]
});
