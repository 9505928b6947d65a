//! Values that stand elsewhere than in the configuration: variables and files. They are
//! read when a tool is loaded, and go to that tool only.

use std::io::Read as _;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use crate::config::{Environment, Provided, ToolEntry};
use crate::file_state;
use crate::model::Shown as _;

/// Bytes that a file with a value may have.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// What a tool is provided with, all of it known.
#[derive(Default)]
pub(super) struct Provision {
    /// `[tools.custom.<name>.env]`
    pub env: IndexMap<String, String>,
    /// `[tools.custom.<name>.config]`
    pub config: IndexMap<String, Value>,
}

/// Reads everything that an entry refers to.
///
/// # Errors
///
/// The first thing that is not there, as a sentence; it names no value.
pub(super) fn provision(
    tool: Option<&ToolEntry>,
    environment: &Environment,
) -> Result<Provision, String> {
    let Some(tool) = tool else {
        return Ok(Provision::default());
    };
    let named = |table: &str, name: &str| format!("`tools.custom.{}.{table}.{name}`", tool.name);
    let env = tool.env.value.iter().map(|(name, value)| {
        let text = read(value, |text| text, environment);
        let text = text.map_err(|why| format!("{} {why}", named("env", name)))?;
        Ok((name.clone(), text))
    });
    let config = tool.config.iter().map(|(name, value)| {
        let value = read(value, Value::from, environment);
        let value = value.map_err(|why| format!("{} {why}", named("config", name)))?;
        Ok((name.clone(), value))
    });
    Ok(Provision {
        env: env.collect::<Result<_, String>>()?,
        config: config.collect::<Result<_, String>>()?,
    })
}

/// The text that stands elsewhere.
///
/// # Errors
///
/// Why it is not there, as the end of a sentence; it names no value.
#[cfg(feature = "mcp")]
pub(crate) fn text_of(
    value: &Provided<String>,
    environment: &Environment,
) -> Result<String, String> {
    read(value, |text| text, environment)
}

fn read<T: Clone>(
    value: &Provided<T>,
    of_text: impl Fn(String) -> T,
    environment: &Environment,
) -> Result<T, String> {
    match value {
        Provided::Value(value) => Ok(value.clone()),
        Provided::Variable(name) => {
            let value = environment.variable(name).ok_or_else(|| {
                format!("takes its value from the variable `{name}`, which is not set")
            })?;
            let text = value.to_str().ok_or_else(|| {
                format!("takes its value from the variable `{name}`, which is not UTF-8")
            })?;
            Ok(of_text(text.to_owned()))
        }
        Provided::File(path) => file(path)
            .map(of_text)
            .map_err(|why| format!("takes its value from the file `{}`, {why}", path.shown())),
    }
}

fn file(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("which can not be read: {error}");
    let file = file_state::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("which is no regular file".into());
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("which has more than {MAX_FILE_BYTES} bytes"));
    }
    if text.contains('\0') {
        return Err("which contains NUL".into());
    }
    // A file that an editor wrote ends with a line end that is no part of the value.
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_variables_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "s3cret\n").unwrap();
        let environment = Environment::new("/").with("KEY", "from the host");
        let text = |provided| read::<String>(&provided, |text| text, &environment);
        assert_eq!(text(Provided::Value("a".into())).unwrap(), "a");
        assert_eq!(
            text(Provided::Variable("KEY".into())).unwrap(),
            "from the host"
        );
        assert_eq!(text(Provided::File(path)).unwrap(), "s3cret");
    }

    #[test]
    fn what_is_not_there_is_named_without_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("long");
        std::fs::write(&long, "x".repeat(100_000)).unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let environment = Environment::new("/").with("OTHER", "s3cret");
        for (provided, expected) in [
            (Provided::Variable("KEY".into()), "`KEY`, which is not set"),
            (Provided::File("/no/such".into()), "which can not be read"),
            (Provided::File(folder.path().into()), "no regular file"),
            (Provided::File(pipe), "no regular file"),
            (Provided::File(long), "more than 65536 bytes"),
        ] {
            let why = read::<String>(&provided, |text| text, &environment).unwrap_err();
            assert!(why.contains(expected), "{why}");
            assert!(!why.contains("s3cret") && !why.contains("xxx"), "{why}");
        }
    }
}
