//! What a file is, whether it serves or not: everything that can be read of it.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::fault::ModuleFault;
use super::imports;
use super::loader::Loader;
use super::module::{Descriptor, Module, hex};
use super::shape::{ExternName, Shape};
use super::source::ModuleSource;

/// One file, looked at from all sides.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The file.
    pub path: PathBuf,
    /// Its bytes; 0 when it can not be read.
    pub size: u64,
    /// SHA-256 of the file in hexadecimal; empty when it can not be read.
    pub digest: String,
    /// Its exports and imports, when it is WebAssembly.
    pub shape: Option<Shape>,
    /// What it offers, when it serves.
    pub descriptor: Option<Descriptor>,
    /// Why it does not serve.
    pub fault: Option<ModuleFault>,
    /// Whether it was compiled before.
    pub from_cache: bool,
}

/// One import of a module, and what the host has for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportOffer {
    /// The interface.
    pub name: String,
    /// The version that the module asks for.
    pub asked: Option<String>,
    /// The version that the host has; `None`: it does not know the interface.
    pub offered: Option<&'static str>,
    /// Whether the offered version serves for the one that was asked for.
    pub served: bool,
}

impl Loader {
    /// Looks at one file.
    pub fn inspect(&self, file: PathBuf) -> Inspection {
        let source = ModuleSource::absolute(file);
        let mut inspection = Inspection {
            path: source.path(),
            size: 0,
            digest: String::new(),
            shape: None,
            descriptor: None,
            fault: None,
            from_cache: false,
        };
        let contents = match source.read() {
            Ok(contents) => contents,
            Err(fault) => {
                return Inspection {
                    fault: Some(fault),
                    ..inspection
                };
            }
        };
        inspection.size = contents.bytes.len() as u64;
        inspection.digest = hex(&contents.digest);
        inspection.shape = Shape::read(&contents.bytes).ok();
        match self.load_contents(&source, &contents) {
            Ok(module) => Inspection::of_module(&module),
            Err(fault) => Inspection {
                fault: Some(fault),
                ..inspection
            },
        }
    }
}

impl Inspection {
    /// What is known about a module that serves.
    pub fn of_module(module: &Arc<Module>) -> Self {
        Self {
            path: module.path().to_owned(),
            size: module.size(),
            digest: module.digest_hex(),
            shape: Some(module.descriptor().shape.clone()),
            descriptor: Some(module.descriptor().clone()),
            fault: None,
            from_cache: module.from_cache(),
        }
    }
}

impl Shape {
    /// What the host has for each import.
    pub fn offers(&self) -> Vec<ImportOffer> {
        let offer = |import: &ExternName| ImportOffer {
            name: import.name.clone(),
            asked: import.version.clone(),
            offered: imports::offered(self.encoding, import),
            served: imports::missing(self.encoding, import).is_none(),
        };
        self.imports.iter().map(offer).collect()
    }
}
