//! Well behaved: tells its version, which a test writes into the built module. Both its
//! description and its answers have it, so that a mixture of two versions shows.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use prx_guests::log::Level;
use prx_guests::{Tool, guest, log, text};

/// What a test replaces: sixteen letters in the module's data.
static VERSION: [u8; 16] = *b"version-00000000";

fn version() -> String {
    String::from_utf8_lossy(black_box(&VERSION)).into_owned()
}

guest![
    Tool::new("tell", &version(), |_| text(version())),
    Tool::new("wait", &version(), |_| {
        log::write(Level::Info, "waiting", &[]);
        while !Path::new("/gate/open").exists() {
            std::thread::sleep(Duration::from_millis(2));
        }
        text(version())
    }),
];
