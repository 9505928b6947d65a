//! One module: what it is, what it offers, and its compiled code once somebody calls it.
//!
//! Invariant: a [`Module`] was recognised, compiled and described without faults, now or
//! by an earlier host whose cache entry says so. Its code is loaded by the first call and
//! stays until the module is dropped.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

use super::abi::{self, Prepared};
use super::fault::ModuleFault;
use super::loader::Loader;
use super::pool::Pool;
use super::shape::{Shape, WasmEncoding};
use crate::model::ToolSpec;

/// What is known about a module without loading its code. Cached beside the code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Descriptor {
    /// The kind that serves it, for instance `skill`.
    pub kind: String,
    /// The version of the kind's interface.
    pub version: String,
    /// The tools that it offers, checked.
    pub tools: Vec<ToolSpec>,
    /// Its exports and imports.
    pub shape: Shape,
    /// What compiling it took.
    pub compile_time: Duration,
    /// Bytes of compiled code.
    pub code_bytes: u64,
}

impl Descriptor {
    /// Whether it is run as a command; it offers no tools of its own then.
    pub fn is_command(&self) -> bool {
        abi::kind_named(&self.kind).is_some_and(abi::Abi::is_command)
    }

    /// Kind and version for people: `skill 0.1.0`, `WASI command, core (0.1)`.
    pub fn in_words(&self) -> String {
        let Self { kind, version, .. } = self;
        match (self.is_command(), self.shape.encoding) {
            (false, _) => format!("{kind} {version}"),
            (true, WasmEncoding::Core) => format!("WASI command, core ({version})"),
            (true, WasmEncoding::Component) => format!("WASI command, component ({version})"),
        }
    }
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Code that is loaded and linked.
pub(super) struct Code {
    /// What calls it.
    pub prepared: Prepared,
    /// Where its instances live; `None`: each maps its own memory.
    pub pool: Option<Arc<Pool>>,
}

/// How far a module's code is on its way.
#[derive(Default)]
enum Loading {
    /// Nobody has asked for it.
    #[default]
    NotBegun,
    /// It is being loaded, and nobody waits for it yet.
    Begun(JoinHandle<Result<Code, ModuleFault>>),
    /// Somebody waits for it, or has it.
    Taken,
}

/// A module that serves.
pub struct Module {
    path: PathBuf,
    digest: [u8; 32],
    size: u64,
    descriptor: Descriptor,
    from_cache: bool,
    code: OnceCell<Code>,
    loading: Mutex<Loading>,
}

impl Module {
    pub(super) fn new(
        path: PathBuf,
        digest: [u8; 32],
        size: u64,
        descriptor: Descriptor,
        code: Option<Code>,
    ) -> Self {
        let from_cache = code.is_none();
        let code = OnceCell::new_with(code);
        Self {
            path,
            digest,
            size,
            descriptor,
            from_cache,
            code,
            loading: Mutex::default(),
        }
    }

    /// The file it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of the file.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// SHA-256 of the file, in hexadecimal.
    pub fn digest_hex(&self) -> String {
        hex(&self.digest)
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What it is and offers.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Whether it is run as a command; it offers no tools of its own then.
    pub fn is_command(&self) -> bool {
        self.descriptor.is_command()
    }

    /// Whether an earlier host had compiled it.
    pub fn from_cache(&self) -> bool {
        self.from_cache
    }

    /// Its code, if somebody has loaded it.
    pub(super) fn loaded(&self) -> Option<&Code> {
        self.code.get()
    }

    /// Its code, loaded by the first caller while others wait for the same load.
    pub(super) async fn code(self: &Arc<Self>, loader: &Arc<Loader>) -> Result<&Code, ModuleFault> {
        self.code
            .get_or_try_init(|| async {
                let loading = std::mem::replace(&mut *lock(&self.loading), Loading::Taken);
                let load = match loading {
                    Loading::Begun(load) => load,
                    Loading::NotBegun | Loading::Taken => self.load(loader),
                };
                load.await
                    .unwrap_or_else(|panic| Err(ModuleFault::NotCompiled(panic.to_string())))
            })
            .await
    }

    /// Begins to load its code, beside whatever else its first call has to prepare. How
    /// that ends is told to who asks for the code.
    pub(crate) fn preload(self: &Arc<Self>, loader: &Arc<Loader>) {
        if self.loaded().is_some() {
            return;
        }
        let mut loading = lock(&self.loading);
        if matches!(*loading, Loading::NotBegun) {
            *loading = Loading::Begun(self.load(loader));
        }
    }

    fn load(self: &Arc<Self>, loader: &Arc<Loader>) -> JoinHandle<Result<Code, ModuleFault>> {
        let (module, loader) = (Arc::clone(self), Arc::clone(loader));
        tokio::task::spawn_blocking(move || loader.load_code(&module))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
