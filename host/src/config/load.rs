//! Reading a configuration: from the file that was found, from a text, or from nothing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::model::Shown as _;

use super::fault::{Fault, Faults};
use super::source::SourceText;
use super::{Config, Discovered, Environment, check};

/// No configuration is larger; a path that leads to a device or a disk image is.
const MOST_BYTES: u64 = 4 << 20;

/// A configuration and what its author should know about it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The checked configuration.
    pub config: Config,
    /// Faults that do not stop it from being used.
    pub warnings: Faults,
}

impl Config {
    /// Reads the file that was discovered, or answers the defaults if there is none.
    pub fn load(discovered: &Discovered, environment: &Environment) -> Result<Loaded, Faults> {
        match &discovered.file {
            Some(file) => Self::load_file(file, environment),
            None => Self::default_with(environment),
        }
    }

    /// Reads one file.
    pub fn load_file(file: &Path, environment: &Environment) -> Result<Loaded, Faults> {
        let file = environment.current_dir().join(file);
        let bytes = File::open(&file).and_then(read).map_err(|error| {
            let fault = Fault::error(format!(
                "the configuration file `{}` can not be read",
                file.shown()
            ));
            let fault = fault.because(error.to_string());
            Faults::new(
                vec![fault.help("make it a readable file, or name another")],
                None,
            )
        })?;
        Self::from_bytes(&bytes, &file, environment)
    }

    /// Reads what stood in a file.
    pub(crate) fn from_bytes(
        bytes: &[u8],
        file: &Path,
        environment: &Environment,
    ) -> Result<Loaded, Faults> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::from_toml(text, file, environment),
            Err(error) => Err(not_text(file, bytes, &error)),
        }
    }

    /// Reads a text as if it stood in `file`: relative paths start from that file's
    /// folder. The file need not exist.
    pub fn from_toml(text: &str, file: &Path, environment: &Environment) -> Result<Loaded, Faults> {
        let source = SourceText::new(file, text);
        let (config, faults) = check::check(&source, environment);
        finished(config, Faults::new(faults, Some(source)))
    }

    /// The configuration that is in force without a file. Fails only when the home folder
    /// is not known, since modules, cache and state have their places in it.
    pub fn default_with(environment: &Environment) -> Result<Loaded, Faults> {
        let (config, faults) = check::defaults(environment);
        finished(config, Faults::new(faults, None))
    }
}

fn finished(config: Config, faults: Faults) -> Result<Loaded, Faults> {
    if faults.has_errors() {
        Err(faults)
    } else {
        Ok(Loaded {
            config,
            warnings: faults,
        })
    }
}

/// Reads the text of a configuration, unless it is too large for one.
pub(crate) fn read(file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let why = format!("it is larger than {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// A fault at the first byte that is not UTF-8, with the text so far.
fn not_text(file: &Path, bytes: &[u8], error: &std::str::Utf8Error) -> Faults {
    let source = SourceText::new(file, &String::from_utf8_lossy(bytes));
    let offset = error.valid_up_to();
    let fault = Fault::error("the configuration file is not UTF-8 text")
        .at(&source, &(offset..offset + '\u{fffd}'.len_utf8()))
        .because("TOML files are written in UTF-8")
        .help("save the file as UTF-8");
    Faults::new(vec![fault], Some(source))
}
