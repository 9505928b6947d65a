//! Reading one module file: whether it is what serves already, what the cache has, or
//! something to compile.
//!
//! Invariant: bytes that were refused are not compiled again.

use std::sync::Arc;

use crate::file_state::Stamp;
use crate::runtime::wasm::background::Background;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::loader::Loader;
use crate::runtime::wasm::module::Module;
use crate::runtime::wasm::source::{Contents, ModuleSource};

/// Bytes that can not serve, by their SHA-256.
pub(super) type Refused = ([u8; 32], ModuleFault);

/// A file that was read anew.
pub(super) struct Read {
    pub stamp: Option<Stamp>,
    /// Of its bytes; `None`: they could not be read.
    pub digest: Option<[u8; 32]>,
    pub outcome: Result<Arc<Module>, ModuleFault>,
}

impl Read {
    pub fn failed(fault: ModuleFault) -> Self {
        Self {
            stamp: None,
            digest: None,
            outcome: Err(fault),
        }
    }
}

/// A file that is read, and what is known of it.
pub(super) struct Reading {
    pub loader: Arc<Loader>,
    pub source: ModuleSource,
    pub serving: Option<Arc<Module>>,
    pub refused: Option<Refused>,
    /// Where it is compiled, if that is not here.
    pub background: Option<Background>,
}

/// What can be said of a file without compiling it.
enum Opened {
    Read(Read),
    /// Only the compiler can tell.
    Unknown(Contents),
}

impl Reading {
    /// Reads and loads it on a thread for what blocks; what is known, on this one where
    /// nobody else waits for it.
    pub async fn in_parts(self, alone: bool) -> Read {
        let mut contents = None;
        if alone {
            match self.open() {
                Opened::Read(read) => return read,
                Opened::Unknown(unknown) => contents = Some(unknown),
            }
        }
        let reading = tokio::task::spawn_blocking(move || match contents {
            Some(contents) => self.compile(&contents),
            None => self.read(),
        });
        // A panic while loading is a fault of the module that caused it.
        reading
            .await
            .unwrap_or_else(|panic| Read::failed(ModuleFault::NotCompiled(panic.to_string())))
    }

    fn read(&self) -> Read {
        match self.open() {
            Opened::Read(read) => read,
            Opened::Unknown(contents) => self.compile(&contents),
        }
    }

    /// Reads the file, and takes what serves or what the cache has.
    fn open(&self) -> Opened {
        let contents = match self.source.read() {
            Ok(contents) => contents,
            Err(fault) => return Opened::Read(Read::failed(fault)),
        };
        let read = |outcome| {
            Opened::Read(Read {
                stamp: contents.stamp,
                digest: Some(contents.digest),
                outcome,
            })
        };
        if let Some((digest, fault)) = &self.refused
            && *digest == contents.digest
        {
            return read(Err(fault.clone()));
        }
        let serving = self.serving.as_ref();
        let same = serving.filter(|serving| *serving.digest() == contents.digest);
        let known = same.cloned();
        match known.or_else(|| self.loader.known(&self.source, &contents)) {
            Some(module) => read(Ok(module)),
            None => Opened::Unknown(contents),
        }
    }

    fn compile(&self, contents: &Contents) -> Read {
        let background = self.background.as_ref();
        let outcome = self.loader.compile(&self.source, contents, background);
        let stamp = match &outcome {
            Err(fault) if fault.may_pass() => None,
            _ => contents.stamp,
        };
        Read {
            stamp,
            digest: Some(contents.digest),
            outcome,
        }
    }
}
