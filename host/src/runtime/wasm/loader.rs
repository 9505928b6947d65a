//! From bytes to a [`Module`]: recognised, compiled or found in the cache, described.
//!
//! Invariant: blocking, for blocking threads only; it never runs on the path of a call
//! whose code is loaded. What it has once compiled it does not compile again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::abi::{self, Abi, Prepared, Recognised, Skill};
use super::access::Access;
use super::breakdown::one_line;
use super::compile_cache::{CacheKey, CompileCache};
use super::compiled::Compiled;
use super::engine::Engine;
use super::fault::ModuleFault;
use super::imports;
use super::module::{Descriptor, Module};
use super::session::{self, Session, SessionLimits};
use super::shape::{Shape, WasmEncoding};
use super::source::ModuleSource;
use crate::model::ToolSpec;

/// How long `describe` may take. Interpreters that start inside of a module need seconds.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of output that are kept of a failing `describe`.
const DESCRIBE_OUTPUT: u64 = 4096;

/// Loads modules for one host.
pub struct Loader {
    engine: Engine,
    cache: CompileCache,
    /// Bytes of memory for `describe`.
    max_memory: u64,
    runtime: Handle,
}

impl Loader {
    /// A loader whose asynchronous parts run on the current runtime.
    pub fn new(engine: Engine, cache: CompileCache, max_memory: u64) -> Self {
        Self {
            engine,
            cache,
            max_memory,
            runtime: Handle::current(),
        }
    }

    /// The cache of compiled modules.
    pub fn cache(&self) -> &CompileCache {
        &self.cache
    }

    /// The engine that compiles.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Loads a module: from the cache where it is known, else by compiling it.
    pub fn load(&self, source: &ModuleSource) -> Result<Arc<Module>, ModuleFault> {
        let bytes = source.read()?;
        self.load_bytes(source, Sha256::digest(&bytes).into(), &bytes)
    }

    /// Loads a module whose file was read and hashed already.
    pub(super) fn load_bytes(
        &self,
        source: &ModuleSource,
        digest: [u8; 32],
        bytes: &[u8],
    ) -> Result<Arc<Module>, ModuleFault> {
        if let Some(descriptor) = self.known(digest) {
            let size = bytes.len() as u64;
            return Ok(Arc::new(Module::new(
                source.path(),
                digest,
                size,
                descriptor,
                None,
            )));
        }
        self.compile(source, digest, bytes)
    }

    /// Whether a module of these bytes can be had without compiling.
    fn known(&self, digest: [u8; 32]) -> Option<Descriptor> {
        let bytes = self.cache.lookup_descriptor(&self.key(digest))?;
        match serde_json::from_slice(&bytes) {
            Ok(descriptor) => Some(descriptor),
            Err(error) => {
                tracing::debug!(%error, "a cached descriptor of another layout is made anew");
                None
            }
        }
    }

    fn compile(
        &self,
        source: &ModuleSource,
        digest: [u8; 32],
        bytes: &[u8],
    ) -> Result<Arc<Module>, ModuleFault> {
        let shape = Shape::read(bytes)?;
        let (kind, version) = recognise(&shape)?;
        check_imports(&shape)?;
        let started = Instant::now();
        let compiled = self.compile_bytes(shape.encoding, bytes)?;
        let compile_time = started.elapsed();
        let prepared = kind
            .prepare(&self.engine, &compiled)
            .map_err(|error| not_compiled(&error))?;
        let tools = match &prepared {
            Prepared::Skill(skill) => self.describe(skill)?,
            Prepared::Command(_) => Vec::new(),
        };
        let code = compiled.serialize().map_err(|error| not_compiled(&error))?;
        let code_bytes = code.len() as u64;
        let descriptor = Descriptor {
            kind: kind.name().to_owned(),
            version,
            tools,
            shape,
            compile_time,
            code_bytes,
        };
        self.remember(digest, &descriptor, &code);
        let size = bytes.len() as u64;
        tracing::debug!(module = %source.path().display(), ?compile_time, code_bytes, "compiled");
        Ok(Arc::new(Module::new(
            source.path(),
            digest,
            size,
            descriptor,
            Some(prepared),
        )))
    }

    fn compile_bytes(&self, encoding: WasmEncoding, bytes: &[u8]) -> Result<Compiled, ModuleFault> {
        let compile = || Compiled::new(&self.engine, encoding, bytes);
        // A compiler is large and fed by strangers: its panic is a fault of the module.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(compile))
            .unwrap_or_else(|_| Err(wasmtime::format_err!("the compiler panicked")))
            .map_err(|error| not_compiled(&error))
    }

    fn describe(&self, skill: &Arc<dyn Skill>) -> Result<Vec<ToolSpec>, ModuleFault> {
        let limits = SessionLimits {
            max_memory: self.max_memory,
            max_output: DESCRIBE_OUTPUT,
        };
        let mut session = Session::start(&self.engine, &Access::none(), &limits, None, None)
            .map_err(|fault| ModuleFault::NotDescribed(fault.to_string()))?;
        let watched = self.runtime.block_on(async {
            session::watch(skill.describe(&mut session.store), DESCRIBE_TIMEOUT, None).await
        });
        let (described, remains) = session.end(watched);
        described.unwrap_or_else(|breakdown| {
            let why = breakdown.explain(&remains, DESCRIBE_TIMEOUT, self.max_memory);
            Err(ModuleFault::NotDescribed(why))
        })
    }

    fn remember(&self, digest: [u8; 32], descriptor: &Descriptor, code: &[u8]) {
        match serde_json::to_vec(descriptor) {
            Ok(bytes) => self.cache.store(&self.key(digest), &bytes, code),
            Err(error) => tracing::warn!(%error, "a descriptor can not be cached"),
        }
    }

    /// Loads the code of a module that the cache knew, or compiles it after all.
    pub(super) fn load_code(&self, module: &Module) -> Result<Prepared, ModuleFault> {
        let kind = abi::kind_named(&module.descriptor().kind)
            .ok_or_else(|| ModuleFault::NotCompiled("its kind is unknown".into()))?;
        let compiled = match self.cached_code(module) {
            Some(compiled) => compiled,
            None => self.compile_again(module)?,
        };
        kind.prepare(&self.engine, &compiled)
            .map_err(|error| not_compiled(&error))
    }

    fn cached_code(&self, module: &Module) -> Option<Compiled> {
        let key = self.key(*module.digest());
        let encoding = module.descriptor().shape.encoding;
        let code = self.cache.open_code(&key)?;
        // SAFETY: `open_code` gives only files that a host of this user wrote and that
        // carry this cache's own seal, so the code is what this engine once serialised.
        match unsafe { Compiled::load(&self.engine, encoding, &code.path()) } {
            Ok(compiled) => Some(compiled),
            Err(error) => {
                tracing::warn!(%error, "a cached module can not be loaded and is compiled anew");
                self.cache.remove(&key);
                None
            }
        }
    }

    fn compile_again(&self, module: &Module) -> Result<Compiled, ModuleFault> {
        let bytes = ModuleSource::absolute(module.path()).read()?;
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        if digest != *module.digest() {
            return Err(ModuleFault::Changed);
        }
        let compiled = self.compile_bytes(module.descriptor().shape.encoding, &bytes)?;
        match compiled.serialize() {
            Ok(code) => self.remember(digest, module.descriptor(), &code),
            Err(error) => tracing::warn!(%error, "a module can not be cached"),
        }
        Ok(compiled)
    }

    fn key(&self, digest: [u8; 32]) -> CacheKey {
        CacheKey {
            module: digest,
            engine: self.engine.fingerprint(),
            kind: "module",
        }
    }
}

/// Finds the kind of a module.
fn recognise(shape: &Shape) -> Result<(&'static dyn Abi, String), ModuleFault> {
    for kind in abi::KINDS {
        match kind.recognise(shape) {
            Recognised::Yes { version } => return Ok((*kind, version)),
            Recognised::Refused(fault) => return Err(fault),
            Recognised::No => {}
        }
    }
    Err(shape.other_kind())
}

/// Names each import that nobody here offers, before the linker stops at the first.
fn check_imports(shape: &Shape) -> Result<(), ModuleFault> {
    let missing: Vec<String> = shape
        .imports
        .iter()
        .filter_map(|import| imports::missing(shape.encoding, import))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(ModuleFault::MissingImports(missing))
    }
}

fn not_compiled(error: &wasmtime::Error) -> ModuleFault {
    ModuleFault::NotCompiled(one_line(&format!("{error:#}")))
}
