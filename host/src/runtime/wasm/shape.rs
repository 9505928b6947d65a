//! What a file is, read from its bytes alone: nothing is compiled and nothing runs.

mod entry;

use serde::{Deserialize, Serialize};
use wasmparser::{ComponentExternalKind, Encoding, Parser, Payload};

use super::fault::ModuleFault;
use crate::model::Shown as _;
use entry::EntryReader;

pub use entry::Entry;

/// Bytes of the magic number and the version.
const HEADER_BYTES: usize = 8;

/// The outside of a valid WebAssembly file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Component or core module.
    pub encoding: WasmEncoding,
    /// Names that it exports, with versions.
    pub exports: Vec<ExternName>,
    /// Names that it imports, with versions.
    pub imports: Vec<ExternName>,
    /// All exports are types: a WIT package in binary form, with no code.
    pub only_types: bool,
    /// How a core module begins, if it exports a `_start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Entry>,
    /// A core module has a memory that threads share.
    #[serde(default)]
    pub shared_memory: bool,
}

/// The two encodings of WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WasmEncoding {
    /// A component.
    Component,
    /// A core module.
    Core,
}

/// `wasi:cli/run@0.2.0`, apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExternName {
    /// `wasi:cli/run`; for a core import `module name`.
    pub name: String,
    /// `0.2.0`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl ExternName {
    /// An import of a core module.
    pub(super) fn of_core(module: &str, name: &str) -> Self {
        Self {
            name: format!("{module} {name}"),
            version: None,
        }
    }

    fn new(text: &str) -> Self {
        match text.split_once('@') {
            Some((name, version)) => Self {
                name: name.to_owned(),
                version: Some(version.to_owned()),
            },
            None => Self {
                name: text.to_owned(),
                version: None,
            },
        }
    }
}

impl std::fmt::Display for ExternName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name.shown())?;
        match &self.version {
            Some(version) => write!(f, "@{}", version.shown()),
            None => Ok(()),
        }
    }
}

impl Shape {
    /// Reads the outside of a module.
    ///
    /// # Errors
    ///
    /// Says what the file is, when it is no complete WebAssembly module.
    pub fn read(bytes: &[u8]) -> Result<Self, ModuleFault> {
        if let Some(what) = other_format(bytes) {
            return Err(ModuleFault::NotAModule(what));
        }
        if bytes.len() < HEADER_BYTES {
            return Err(ModuleFault::Truncated);
        }
        let shape = Self::parse(bytes).map_err(|error| parse_fault(bytes, &error))?;
        // A header alone is a valid module, and the beginning of every other one.
        if bytes.len() == HEADER_BYTES {
            Err(ModuleFault::Truncated)
        } else {
            Ok(shape)
        }
    }

    fn parse(bytes: &[u8]) -> wasmparser::Result<Self> {
        let mut shape = Self {
            encoding: if Parser::is_component(bytes) {
                WasmEncoding::Component
            } else {
                WasmEncoding::Core
            },
            exports: Vec::new(),
            imports: Vec::new(),
            only_types: true,
            entry: None,
            shared_memory: false,
        };
        let mut entry = EntryReader::default();
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::Version { encoding, .. } => {
                    depth += 1;
                    if depth == 1 && encoding == Encoding::Component {
                        shape.encoding = WasmEncoding::Component;
                    }
                }
                Payload::End(_) => depth -= 1,
                payload if depth == 1 => {
                    entry.read(&payload)?;
                    shape.read_section(payload)?;
                }
                _ => {}
            }
        }
        shape.entry = entry.entry;
        shape.shared_memory = entry.shared_memory;
        Ok(shape)
    }

    fn read_section(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section {
                    self.imports.push(ExternName::new(import?.name.name));
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    let export = export?;
                    self.only_types &= export.kind == ComponentExternalKind::Type
                        || export.kind == ComponentExternalKind::Component;
                    self.exports.push(ExternName::new(export.name.name));
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    self.imports
                        .push(ExternName::of_core(import.module, import.name));
                }
            }
            Payload::ExportSection(section) => {
                self.only_types = false;
                for export in section {
                    let name = export?.name.to_owned();
                    self.exports.push(ExternName {
                        name,
                        version: None,
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The versions in which an interface is exported.
    pub fn exported_versions<'a>(&'a self, interface: &'a str) -> impl Iterator<Item = &'a str> {
        self.exports
            .iter()
            .filter(move |export| export.name == interface)
            .map(|export| export.version.as_deref().unwrap_or("(none)"))
    }

    /// Whether something of that name is exported, in any version.
    pub fn has_export(&self, name: &str) -> bool {
        self.exports.iter().any(|export| export.name == name)
    }

    /// Says what a module is that no kind recognised.
    pub fn other_kind(&self) -> ModuleFault {
        let (what, why) = match self.encoding {
            WasmEncoding::Component if self.exports.is_empty() => (
                "a component without exports",
                "it exports nothing".to_owned(),
            ),
            WasmEncoding::Component if self.only_types => (
                "a WIT package",
                "it holds interfaces and no code".to_owned(),
            ),
            WasmEncoding::Component => ("a component of another world", self.exports_instead()),
            WasmEncoding::Core if self.has_export("_initialize") => (
                "a core reactor module",
                "it exports `_initialize` and no `_start`".to_owned(),
            ),
            WasmEncoding::Core => ("a core module", "it exports no `_start`".to_owned()),
        };
        ModuleFault::OtherKind {
            what: what.into(),
            why,
        }
    }

    fn exports_instead(&self) -> String {
        const SHOWN: usize = 5;
        let mut names: Vec<String> = self
            .exports
            .iter()
            .take(SHOWN)
            .map(|name| format!("`{name}`"))
            .collect();
        if self.exports.len() > SHOWN {
            names.push("…".into());
        }
        format!("it exports {}", names.join(", "))
    }
}

fn parse_fault(bytes: &[u8], error: &wasmparser::BinaryReaderError) -> ModuleFault {
    if error.message().contains("unexpected end") || error.offset() >= bytes.len() {
        ModuleFault::Truncated
    } else {
        // It may quote names of the module.
        ModuleFault::Invalid(error.to_string().shown().to_string())
    }
}

/// What a file is that does not begin like WebAssembly.
fn other_format(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("empty".into());
    }
    if bytes.starts_with(b"\0asm") || (bytes.len() < 4 && b"\0asm".starts_with(bytes)) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(256)])
        .trim_start()
        .to_owned();
    let lower = text.to_ascii_lowercase();
    let what = if bytes.starts_with(b"\x7fELF") {
        "a native program (ELF)"
    } else if bytes.starts_with(b"\x1f\x8b") {
        "a gzip archive"
    } else if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        "a zip archive"
    } else if bytes.starts_with(b"version https://git-lfs") {
        "a Git LFS pointer (run `git lfs pull`)"
    } else if lower.starts_with("<!doctype") || lower.starts_with("<html") {
        "an HTML page, perhaps a failed download"
    } else if text.starts_with("(module")
        || text.starts_with("(component")
        || text.starts_with(";;")
    {
        "WebAssembly text (run `wasm-tools parse`)"
    } else if std::str::from_utf8(bytes).is_ok() {
        "text"
    } else {
        "of an unknown format"
    };
    Some(what.into())
}
