//! One module: what it is, what it offers, and its compiled code once somebody calls it.
//!
//! Invariant: a [`Module`] was recognised, compiled and described without faults, now or
//! by an earlier host whose cache entry says so. Its code is loaded by the first call and
//! stays until the module is dropped.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use serde::{Deserialize, Serialize};
use tokio::task::AbortHandle;

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
pub(crate) fn hex(bytes: &[u8]) -> String {
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

/// Code on its way to its module. Goes on when those who wait for it have gone.
struct Loading {
    task: AbortHandle,
    ended: LoadingEnd,
}

/// How loading ended, for all who wait for it.
type LoadingEnd = Shared<BoxFuture<'static, Result<(), ModuleFault>>>;

/// A module that serves.
pub struct Module {
    path: PathBuf,
    digest: [u8; 32],
    size: u64,
    descriptor: Descriptor,
    from_cache: bool,
    code: OnceLock<Code>,
    /// The latest, until its code is there.
    loading: Mutex<Option<Loading>>,
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
        let code = code.map_or_else(OnceLock::new, OnceLock::from);
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

    /// Its code. It is loaded once at a time, whoever waits for it and however long they
    /// wait; a load that failed is told to those who waited, and the next caller tries
    /// again.
    pub(super) async fn code(self: &Arc<Self>, loader: &Arc<Loader>) -> Result<&Code, ModuleFault> {
        loop {
            if let Some(code) = self.loaded() {
                return Ok(code);
            }
            self.loading(loader).await?;
        }
    }

    /// Begins to load its code, beside whatever else its first call has to prepare.
    pub(crate) fn preload(self: &Arc<Self>, loader: &Arc<Loader>) {
        if self.loaded().is_none() {
            drop(self.loading(loader));
        }
    }

    /// The load that is running, or a new one.
    fn loading(self: &Arc<Self>, loader: &Arc<Loader>) -> LoadingEnd {
        let mut loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*loading
            && (!running.task.is_finished() || self.loaded().is_some())
        {
            return running.ended.clone();
        }
        if let Some(code) = loader.code_at_once(self) {
            let _ = self.code.set(code);
            return std::future::ready(Ok(())).boxed().shared();
        }
        let (module, loader) = (Arc::clone(self), Arc::clone(loader));
        let task = tokio::task::spawn_blocking(move || {
            let code = loader.load_code(&module)?;
            // Only one load runs at a time, and none begins when the code is there.
            let _ = module.code.set(code);
            Ok(())
        });
        let handle = task.abort_handle();
        let ended = async {
            task.await
                .unwrap_or_else(|panic| Err(ModuleFault::NotCompiled(panic.to_string())))
        };
        let ended = ended.boxed().shared();
        *loading = Some(Loading {
            task: handle,
            ended: ended.clone(),
        });
        ended
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::runtime::wasm::compile_cache::CompileCache;
    use crate::runtime::wasm::engine::{Allocation, Engine};

    /// A module whose code can not be loaded.
    fn unloadable() -> Arc<Module> {
        let descriptor = Descriptor {
            kind: "of another host".into(),
            version: "1".into(),
            tools: Vec::new(),
            shape: Shape::read(b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0").unwrap(),
            compile_time: Duration::ZERO,
            code_bytes: 0,
        };
        Arc::new(Module::new("/x.wasm".into(), [0; 32], 8, descriptor, None))
    }

    fn loader() -> Arc<Loader> {
        let engine = Engine::new(Allocation::OnDemand).unwrap();
        let cache = CompileCache::disabled("a test needs none");
        Arc::new(Loader::new(engine, Allocation::OnDemand, cache, 1 << 20))
    }

    #[test]
    fn a_load_goes_on_when_its_first_waiter_has_gone_and_a_failed_one_is_forgotten() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (module, loader) = (unloadable(), loader());
            // No load begins before the test lets it.
            let (release, released) = mpsc::channel::<()>();
            tokio::task::spawn_blocking(move || released.recv());

            let first = module.loading(&loader);
            module.preload(&loader);
            assert!(module.code(&loader).now_or_never().is_none());
            assert!(module.loading(&loader).ptr_eq(&first));

            drop(release);
            assert!(first.clone().await.is_err());
            assert!(module.code(&loader).await.is_err());
            assert!(!module.loading(&loader).ptr_eq(&first));
        });
    }
}
