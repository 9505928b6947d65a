//! Text that the command line points at: a file, or standard input.

use std::fs::File;
use std::io::{self, Read};

use crate::cli::Exit;
use crate::cli::render::Failure;

/// A little more than a host accepts as arguments, so that the host says what its limit is.
const MOST_BYTES: u64 = (16 << 20) + 1;

/// Reads a file, or standard input when it is called `-`.
pub fn read(name: &str) -> Result<String, Failure> {
    let shown = if name == "-" {
        "standard input".to_owned()
    } else {
        format!("`{name}`")
    };
    let failed = |why: String| {
        Failure::new(
            Exit::Usage,
            format!("{shown} can not be read as an argument"),
        )
        .cause(why)
    };
    let bytes = if name == "-" {
        read_all(io::stdin().lock())
    } else {
        File::open(name).and_then(read_all)
    };
    let bytes = bytes.map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| {
        failed("it is not UTF-8 text".into())
            .help("JSON holds text only; encode bytes, or grant the skill the file's folder")
    })
}

fn read_all(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
