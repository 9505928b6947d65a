//! From bytes to a [`Module`]: recognised, compiled or found in the cache, described.
//!
//! Invariant: blocking, for blocking threads only; it never runs on the path of a call
//! whose code is loaded. What it has once compiled it does not compile again.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::abi::{self, Abi, Prepared, Recognised, Skill};
use super::access::Access;
use super::background::Background;
use super::breakdown::one_line;
use super::compile_cache::{CacheKey, CompileCache};
use super::compiled::Compiled;
use super::engine::{Allocation, Engine};
use super::fault::ModuleFault;
use super::imports;
use super::module::{Code, Descriptor, Module};
use super::pool::Pool;
use super::session::{self, Session, SessionLimits, World};
use super::shape::{Shape, WasmEncoding};
use super::source::{Contents, ModuleSource};
use crate::model::{Shown as _, ToolSpec};

/// How long `describe` may take. Interpreters that start inside of a module need seconds.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of output that are kept of a failing `describe`.
const DESCRIBE_OUTPUT: u64 = 4096;

/// Loads modules for one host.
pub struct Loader {
    /// Compiles everything, and runs what does not run in the pool.
    engine: Engine,
    /// Made with the first code that is loaded; `None` where there is to be none.
    pool: OnceLock<Option<Arc<Pool>>>,
    cache: CompileCache,
    /// Bytes of memory for `describe`.
    max_memory: u64,
    runtime: Handle,
}

impl Loader {
    /// A loader whose asynchronous parts run on the current runtime. `engine` is one
    /// without a pool.
    pub fn new(
        engine: Engine,
        allocation: Allocation,
        cache: CompileCache,
        max_memory: u64,
    ) -> Self {
        Self {
            engine,
            pool: match allocation {
                Allocation::OnDemand => OnceLock::from(None),
                Allocation::Pooling => OnceLock::new(),
            },
            cache,
            max_memory,
            runtime: Handle::current(),
        }
    }

    /// The cache of compiled modules.
    pub fn cache(&self) -> &CompileCache {
        &self.cache
    }

    /// Places of the pool that are taken; `None`: there is no pool, or none yet.
    pub fn places_taken(&self) -> Option<u32> {
        let pool = self.pool.get()?.as_ref()?;
        Some(pool.taken())
    }

    /// The engine that runs instances of this code.
    pub(super) fn engine_of<'a>(&'a self, code: &'a Code) -> &'a Engine {
        code.pool
            .as_ref()
            .map_or(&self.engine, |pool| pool.engine())
    }

    /// Loads a module: from the cache where it is known, else by compiling it.
    pub fn load(&self, source: &ModuleSource) -> Result<Arc<Module>, ModuleFault> {
        self.load_contents(source, &source.read()?)
    }

    /// Loads a module whose file was read already.
    pub fn load_contents(
        &self,
        source: &ModuleSource,
        contents: &Contents,
    ) -> Result<Arc<Module>, ModuleFault> {
        match self.known(source, contents) {
            Some(module) => Ok(module),
            None => self.compile(source, contents, None),
        }
    }

    /// A module that can be had without compiling.
    pub fn known(&self, source: &ModuleSource, contents: &Contents) -> Option<Arc<Module>> {
        let digest = contents.digest;
        let bytes = self.cache.lookup_descriptor(&self.key(digest))?;
        match serde_json::from_slice(&bytes) {
            Ok(descriptor) => {
                let size = contents.bytes.len() as u64;
                let module = Module::new(source.path(), digest, size, descriptor, None);
                Some(Arc::new(module))
            }
            Err(error) => {
                tracing::debug!(%error, "a cached descriptor of another layout is made anew");
                None
            }
        }
    }

    /// Compiles a module that is not known: in the background, if there is one. What the
    /// module itself is asked has a deadline, and is asked here.
    pub fn compile(
        &self,
        source: &ModuleSource,
        contents: &Contents,
        background: Option<&Background>,
    ) -> Result<Arc<Module>, ModuleFault> {
        let Contents { bytes, digest, .. } = contents;
        let shape = Shape::read(bytes)?;
        let (kind, version) = recognise(&shape)?;
        check_imports(&shape)?;
        let started = Instant::now();
        let compile = || self.compile_bytes(shape.encoding, bytes);
        let compiled = match background {
            Some(background) => background.run(compile),
            None => compile(),
        }?;
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
        self.remember(*digest, &descriptor, &code);
        let size = bytes.len() as u64;
        let encoding = descriptor.shape.encoding;
        // SAFETY: the bytes are what was serialised just now.
        let pooled = self.pooled(|engine| unsafe { Compiled::of_bytes(engine, encoding, &code) });
        let code = match pooled {
            Some((compiled, pool)) => self.code(kind, &compiled, Some(pool))?,
            None => Code {
                prepared,
                pool: None,
            },
        };
        tracing::debug!(module = %source.path().shown(), ?compile_time, code_bytes, "compiled");
        Ok(Arc::new(Module::new(
            source.path(),
            *digest,
            size,
            descriptor,
            Some(code),
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
        let access = Access::none();
        let world = World {
            access: &access,
            limits: &limits,
            events: None,
            process: None,
            place: None,
            waited: std::time::Duration::ZERO,
        };
        let mut session = Session::start(&self.engine, world)
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

    /// The code of a module that the cache knew, for a process for one call: nobody else
    /// waits, and another thread would take longer to start than the code to load.
    pub(super) fn code_at_once(&self, module: &Module) -> Option<Code> {
        let is_alone = self.pool.get().is_some_and(Option::is_none);
        let kind = abi::kind_named(&module.descriptor().kind).filter(|_| is_alone)?;
        let (compiled, pool) = self.cached_code(module)?;
        self.code(kind, &compiled, pool).ok()
    }

    /// Loads the code of a module that the cache knew, or compiles it after all.
    pub(super) fn load_code(&self, module: &Module) -> Result<Code, ModuleFault> {
        let kind = abi::kind_named(&module.descriptor().kind)
            .ok_or_else(|| ModuleFault::NotCompiled("its kind is unknown".into()))?;
        let (compiled, pool) = match self.cached_code(module) {
            Some(cached) => cached,
            None => self.compile_again(module)?,
        };
        self.code(kind, &compiled, pool)
    }

    fn code(
        &self,
        kind: &dyn Abi,
        compiled: &Compiled,
        pool: Option<Arc<Pool>>,
    ) -> Result<Code, ModuleFault> {
        let engine = pool.as_ref().map_or(&self.engine, |pool| pool.engine());
        let prepared = kind
            .prepare(engine, compiled)
            .map_err(|error| not_compiled(&error))?;
        Ok(Code { prepared, pool })
    }

    /// The code for instances in the pool, if there is one and a place has room for them.
    fn pooled(
        &self,
        load: impl FnOnce(&Engine) -> wasmtime::Result<Compiled>,
    ) -> Option<(Compiled, Arc<Pool>)> {
        let pool = self
            .pool
            .get_or_init(|| Pool::open(&self.engine).map(Arc::new))
            .as_ref()?;
        match load(pool.engine()) {
            Ok(compiled) => Some((compiled, Arc::clone(pool))),
            Err(error) => {
                tracing::debug!("a module runs outside of the pool: {error:#}");
                None
            }
        }
    }

    fn cached_code(&self, module: &Module) -> Option<(Compiled, Option<Arc<Pool>>)> {
        let key = self.key(*module.digest());
        let encoding = module.descriptor().shape.encoding;
        let file = self.cache.open_code(&key)?;
        // SAFETY: `open_code` gives only files that a host of this user wrote and that
        // carry this cache's own seal, so the code is what this engine once serialised.
        let load = |engine: &Engine| unsafe { Compiled::load(engine, encoding, &file.path()) };
        if let Some((compiled, pool)) = self.pooled(load) {
            return Some((compiled, Some(pool)));
        }
        match load(&self.engine) {
            Ok(compiled) => Some((compiled, None)),
            Err(error) => {
                tracing::warn!(%error, "a cached module can not be loaded and is compiled anew");
                self.cache.remove(&key);
                None
            }
        }
    }

    fn compile_again(&self, module: &Module) -> Result<(Compiled, Option<Arc<Pool>>), ModuleFault> {
        let Contents { bytes, digest, .. } = ModuleSource::absolute(module.path()).read()?;
        if digest != *module.digest() {
            return Err(ModuleFault::Changed);
        }
        let encoding = module.descriptor().shape.encoding;
        let compiled = self.compile_bytes(encoding, &bytes)?;
        let code = compiled.serialize().map_err(|error| not_compiled(&error))?;
        self.remember(digest, module.descriptor(), &code);
        // SAFETY: the bytes are what was serialised just now.
        let pooled = self.pooled(|engine| unsafe { Compiled::of_bytes(engine, encoding, &code) });
        Ok(match pooled {
            Some((compiled, pool)) => (compiled, Some(pool)),
            None => (compiled, None),
        })
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
