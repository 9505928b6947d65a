//! Modules that were run before, kept while their files stay as they are.
//!
//! Invariant: a file is compiled once at a time, whoever waits for it and however long
//! they wait: the compiling goes on when they have gone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cap_std::fs::Metadata;
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::sync::Semaphore;

use crate::file_state::Stamp;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::loader::Loader;
use crate::runtime::wasm::module::Module;
use crate::runtime::wasm::source::ModuleSource;

/// Modules that are kept. One more takes the place of the one that was idle longest.
const MAX_KEPT: usize = 64;
/// Modules that are compiled at the same time: each may need all processors.
const COMPILED_AT_ONCE: usize = 2;

type Loaded = Result<Arc<Module>, ModuleFault>;
type Loading = Shared<BoxFuture<'static, Loaded>>;

/// The modules of one adapter.
pub(super) struct KeptModules {
    state: Mutex<State>,
    places: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    modules: HashMap<PathBuf, Kept>,
    /// Counts the uses of all modules.
    clock: u64,
}

struct Kept {
    stamp: Stamp,
    /// Whether the file was so new that nothing would show a further change.
    is_fresh: bool,
    loading: Loading,
    last_use: u64,
}

impl Default for KeptModules {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            places: Arc::new(Semaphore::new(COMPILED_AT_ONCE)),
        }
    }
}

impl KeptModules {
    /// The module of a file that was run before and stayed as it was: one look at the
    /// file, and no way into the folder. A link that was swapped in since then leads to
    /// another file, which is not this module.
    pub fn unchanged(&self, path: &Path) -> Option<Arc<Module>> {
        let data = std::fs::metadata(path).map(Metadata::from_just_metadata);
        let stamp = Stamp::of(&data.ok()?);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let last_use = state.clock;
        let kept = state.modules.get_mut(path)?;
        if kept.stamp != stamp || kept.is_fresh {
            return None;
        }
        let module = kept.loading.peek()?.as_ref().ok()?;
        let module = Arc::clone(module);
        kept.last_use = last_use;
        Some(module)
    }

    /// The module of a file, as the file is now.
    pub async fn load(&self, loader: &Arc<Loader>, source: &ModuleSource) -> Loaded {
        let data = source.metadata().map_err(|error| source.explain(&error))?;
        let (path, stamp) = (source.path(), Stamp::of(&data));
        let loading = self.loading(loader, source, &path, stamp);
        let outcome = loading.clone().await;
        if outcome.as_ref().is_err_and(ModuleFault::may_pass) {
            self.forget(&path, &loading);
        }
        outcome
    }

    fn loading(
        &self,
        loader: &Arc<Loader>,
        source: &ModuleSource,
        path: &PathBuf,
        stamp: Stamp,
    ) -> Loading {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let last_use = state.clock;
        let mut previous = None;
        if let Some(kept) = state.modules.get_mut(path) {
            let is_loading = kept.loading.peek().is_none();
            if kept.stamp == stamp && (is_loading || !kept.is_fresh) {
                kept.last_use = last_use;
                return kept.loading.clone();
            }
            previous = kept.loading.peek().and_then(|loaded| loaded.clone().ok());
        }
        let loading = start(
            Arc::clone(&self.places),
            Arc::clone(loader),
            source.clone(),
            previous,
        );
        let kept = Kept {
            stamp,
            is_fresh: stamp.is_too_fresh(SystemTime::now()),
            loading: loading.clone(),
            last_use,
        };
        state.modules.insert(path.clone(), kept);
        state.make_room();
        loading
    }

    fn forget(&self, path: &PathBuf, loading: &Loading) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |kept: &Kept| kept.loading.ptr_eq(loading);
        if state.modules.get(path).is_some_and(is_same) {
            state.modules.remove(path);
        }
    }
}

impl State {
    fn make_room(&mut self) {
        while self.modules.len() > MAX_KEPT {
            let idle = self.modules.iter().min_by_key(|(_, kept)| kept.last_use);
            let Some(path) = idle.map(|(path, _)| path.clone()) else {
                return;
            };
            self.modules.remove(&path);
        }
    }
}

/// Begins to load, in a task of its own.
fn start(
    places: Arc<Semaphore>,
    loader: Arc<Loader>,
    source: ModuleSource,
    previous: Option<Arc<Module>>,
) -> Loading {
    let task = tokio::spawn(async move {
        let _place = places.acquire_owned().await;
        tokio::task::spawn_blocking(move || read(&loader, &source, previous))
            .await
            .unwrap_or_else(|panic| Err(ModuleFault::NotCompiled(panic.to_string())))
    });
    let joined = async {
        task.await
            .unwrap_or_else(|gone| Err(ModuleFault::Unreadable(gone.to_string())))
    };
    joined.boxed().shared()
}

/// A file that was touched and not changed is still the module that it was.
fn read(loader: &Loader, source: &ModuleSource, previous: Option<Arc<Module>>) -> Loaded {
    let contents = source.read()?;
    match previous {
        Some(previous) if *previous.digest() == contents.digest => Ok(previous),
        _ => loader.load_contents(source, &contents),
    }
}
