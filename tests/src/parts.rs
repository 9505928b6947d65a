//! What a module says about itself: kind, imports, exports. Read with a parser of its
//! own, so that the suites do not ask the host about what the host should know.

use anyhow::Result;
use wasmparser::{Encoding, Parser, Payload};

/// The outside of a module.
#[derive(Debug, Default)]
pub struct Parts {
    /// Whether it is a component rather than a core module.
    pub component: bool,
    /// Names of what a component imports.
    pub imports: Vec<String>,
    /// Names of what it exports.
    pub exports: Vec<String>,
}

impl Parts {
    /// Validates a module and reads its outside.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        wasmparser::Validator::new_with_features(wasmparser::WasmFeatures::all())
            .validate_all(bytes)?;
        let mut parts = Self::default();
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::Version { encoding, .. } => {
                    if depth == 0 {
                        parts.component = encoding == Encoding::Component;
                    }
                    depth += 1;
                }
                Payload::End(_) => depth -= 1,
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        parts.imports.push(import?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        parts.exports.push(export?.name.name.to_owned());
                    }
                }
                Payload::ExportSection(section) if depth == 1 => {
                    for export in section {
                        parts.exports.push(export?.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(parts)
    }

    /// The names of imports that begin with a text.
    pub fn imports_of(&self, prefix: &str) -> Vec<&str> {
        self.imports
            .iter()
            .map(String::as_str)
            .filter(|name| name.starts_with(prefix))
            .collect()
    }
}
