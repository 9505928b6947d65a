//! The module files of one host as they were last seen: which module serves for each, and
//! what is wrong with the file as it is now.
//!
//! Invariant: a module serves until another one that is whole takes its place, or until
//! its file is gone for good. Nothing here runs on the path of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::assemble::LoadEvent;
use super::patience::Patience;
use super::plan::ModuleFile;
use super::reading::{Read, Reading, Refused};
use crate::file_state::{Stamp, WRITING};
use crate::runtime::wasm::background::Background;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::loader::Loader;
use crate::runtime::wasm::module::Module;
use crate::runtime::wasm::source::ModuleSource;

/// What is known of one file.
#[derive(Default)]
pub(super) struct Known {
    /// The module that serves.
    pub serving: Option<Arc<Module>>,
    /// What is wrong with the file as it is now.
    pub fault: Option<ModuleFault>,
    /// The bytes that were refused last, and why: that is not found out twice.
    refused: Option<Refused>,
    /// Of the bytes that were looked at last; `None`: they are looked at again.
    stamp: Option<Stamp>,
    /// Since when the file is not there.
    missing_since: Option<Instant>,
}

/// A load that ended.
struct Loaded {
    path: PathBuf,
    number: u64,
    read: Read,
}

/// All files that some entry is about.
pub(crate) struct ModuleFiles {
    loader: Arc<Loader>,
    known: BTreeMap<PathBuf, Known>,
    /// Files that are being loaded, which may take longer than a look, each with the number
    /// of its load.
    loading: BTreeMap<PathBuf, u64>,
    loads: JoinSet<Loaded>,
    /// How many loads were begun.
    begun: u64,
    /// As many loads at a time as there are processors.
    places: Option<Arc<Semaphore>>,
    /// Compiles what comes later, beside the calls that are running.
    background: Option<Background>,
    /// Whether nobody else waits: what is known is loaded without another thread.
    alone: bool,
    attention: Arc<Attention>,
}

/// Tells that a load ended while no look waited for it.
#[derive(Default)]
struct Attention {
    is_wanted: AtomicBool,
    signal: Arc<Notify>,
}

impl Attention {
    fn call(&self) {
        if self.is_wanted.load(Ordering::SeqCst) {
            self.signal.notify_one();
        }
    }
}

impl ModuleFiles {
    /// No files yet. `alone` is a process for one call.
    pub fn new(loader: Arc<Loader>, alone: bool) -> Self {
        Self {
            loader,
            known: BTreeMap::new(),
            loading: BTreeMap::new(),
            loads: JoinSet::new(),
            begun: 0,
            places: None,
            background: None,
            alone,
            attention: Arc::default(),
        }
    }

    /// Signals that there is something to look at: a load ended after the look that began
    /// it.
    pub fn signal(&self) -> Arc<Notify> {
        Arc::clone(&self.attention.signal)
    }

    /// What is known of a file that was looked at.
    pub(super) fn known(&self, path: &PathBuf) -> &Known {
        &self.known[path]
    }

    /// Whether a file has nothing that serves only because it is being loaded.
    pub(super) fn is_loading(&self) -> bool {
        let mut known = self.known.values();
        known.any(|file| file.fault == Some(ModuleFault::Loading))
    }

    /// The files whose modules serve: each may be away for a moment and come back.
    pub fn serving(&self) -> BTreeSet<PathBuf> {
        let serving = self.known.iter().filter(|(_, file)| file.serving.is_some());
        serving.map(|(path, _)| path.clone()).collect()
    }

    /// Looks at all files, and loads those that may have changed. `heirs` are the files that
    /// will serve in place of others: those may be gone before they are loaded. Answers how
    /// soon to look again, where nothing will tell.
    pub(super) async fn look(
        &mut self,
        files: impl Iterator<Item = &ModuleFile>,
        heirs: &BTreeMap<PathBuf, PathBuf>,
        patience: Patience,
        tell: &(dyn Fn(LoadEvent) + Sync),
    ) -> Option<Duration> {
        let files: BTreeMap<PathBuf, ModuleFile> =
            files.map(|file| (file.path(), file.clone())).collect();
        self.known.retain(|path, _| files.contains_key(path));
        let changed: Vec<(PathBuf, ModuleSource)> = files
            .iter()
            .filter(|(path, _)| !self.loading.contains_key(*path))
            .map(|(path, file)| (path.clone(), source(file.clone())))
            .filter(|(path, source)| !self.is_unchanged(path, source))
            .collect();
        let earlier = self.loading.clone();
        self.load(changed);
        tell(LoadEvent::Started {
            modules: self.loading.len(),
        });
        self.attention.is_wanted.store(false, Ordering::SeqCst);
        let mut again = None;
        let end = patience.loading.map(|time| Instant::now() + time);
        while let Some(Loaded { path, number, read }) = self.next_until(end).await {
            if self.loading.get(&path) != Some(&number) {
                // Nobody wanted it for a while, and what was read then may be old.
                continue;
            }
            self.loading.remove(&path);
            let file = files.get(&path);
            if let Some(file) = file.filter(|_| earlier.get(&path) == Some(&number)) {
                let source = source(file.clone());
                let is_same = |stamp| source.stamp() == Ok(stamp);
                if !read.stamp.is_some_and(is_same) {
                    // It has changed since it was read, before this look.
                    self.load(vec![(path, source)]);
                    continue;
                }
            }
            tell(LoadEvent::Loaded {
                module: path.clone(),
                ok: read.outcome.is_ok(),
                from_cache: read
                    .outcome
                    .as_ref()
                    .is_ok_and(|module| module.from_cache()),
            });
            // Nobody may want it any more.
            if files.contains_key(&path) {
                let heir = heirs.get(&path);
                let is_needed = heir.is_some_and(|heir| self.loading.contains_key(heir));
                let known = self.known.entry(path).or_default();
                let away = if is_needed {
                    let since = known.missing_since.as_ref();
                    since.map_or(Duration::ZERO, Instant::elapsed) + WRITING
                } else {
                    patience.away
                };
                again = known.note(read, away).into_iter().chain(again).min();
            }
        }
        tell(LoadEvent::Finished);
        self.loading.retain(|path, _| files.contains_key(path));
        for path in self.loading.keys() {
            self.known.entry(path.clone()).or_default().goes_on();
        }
        again
    }

    /// The next load that ends; `None`: there is none, or it takes longer.
    async fn next_until(&mut self, end: Option<Instant>) -> Option<Loaded> {
        let next = async |loads: &mut JoinSet<_>| match end {
            None => loads.join_next().await,
            Some(end) => tokio::time::timeout_at(end.into(), loads.join_next())
                .await
                .unwrap_or(None),
        };
        let mut ended = next(&mut self.loads).await;
        if ended.is_none() && !self.loads.is_empty() {
            // From now on the loads must tell; one may have ended just before.
            self.attention.is_wanted.store(true, Ordering::SeqCst);
            ended = self.loads.try_join_next();
        }
        match ended? {
            Ok(read) => Some(read),
            // The runtime is being shut down, and nobody will ask for what it loads.
            Err(error) if error.is_cancelled() => None,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    fn is_unchanged(&self, path: &PathBuf, source: &ModuleSource) -> bool {
        let stamp = self.known.get(path).and_then(|known| known.stamp);
        stamp.is_some_and(|stamp| source.stamp() == Ok(stamp))
    }

    fn load(&mut self, files: Vec<(PathBuf, ModuleSource)>) {
        if files.is_empty() {
            return;
        }
        // The first files are read before there are calls, which later ones must not slow.
        let background = self.background.clone();
        self.background.get_or_insert_default();
        let places = self.places.get_or_insert_with(|| {
            let width = match files.len() {
                1 if self.alone => 1,
                // It looks into several files.
                _ => std::thread::available_parallelism().map_or(1, usize::from),
            };
            Arc::new(Semaphore::new(width))
        });
        for (path, source) in files {
            self.begun += 1;
            let number = self.begun;
            self.loading.insert(path.clone(), number);
            let known = self.known.get(&path);
            let reading = Reading {
                loader: Arc::clone(&self.loader),
                source,
                serving: known.and_then(|known| known.serving.clone()),
                refused: known.and_then(|known| known.refused.clone()),
                background: background.clone(),
            };
            let (places, alone) = (Arc::clone(places), self.alone);
            let attention = Arc::clone(&self.attention);
            let load = async move {
                let _place = places.acquire_owned().await;
                let read = reading.in_parts(alone).await;
                Loaded { path, number, read }
            };
            self.loads.spawn(async move {
                let loaded = load.await;
                attention.call();
                loaded
            });
        }
    }
}

impl Known {
    /// Takes note of a load that goes on.
    fn goes_on(&mut self) {
        if self.serving.is_none() {
            self.fault = Some(ModuleFault::Loading);
        }
    }

    /// Takes note of what was read; answers how soon to look again.
    fn note(&mut self, read: Read, patience: Duration) -> Option<Duration> {
        self.stamp = read.stamp;
        let is_missing = read.outcome.as_ref().is_err_and(ModuleFault::is_absence);
        let missing_since = match self.missing_since {
            _ if !is_missing => None,
            None => Some(Instant::now()),
            since => since,
        };
        self.missing_since = missing_since;
        let fault = match read.outcome {
            Ok(module) => {
                self.serving = Some(module);
                (self.fault, self.refused) = (None, None);
                return None;
            }
            Err(fault) => fault,
        };
        if let Some(digest) = read.digest.filter(|_| !fault.may_pass()) {
            self.refused = Some((digest, fault.clone()));
        }
        let mut again = (fault == ModuleFault::BeingWritten).then_some(WRITING);
        if let Some(since) = missing_since
            && self.serving.is_some()
        {
            let rest = patience.saturating_sub(since.elapsed());
            if !rest.is_zero() {
                // Nothing is said of a file that is away for a moment.
                return Some(rest);
            }
            self.serving = None;
            again = None;
        }
        self.fault = Some(fault);
        again
    }
}

fn source(file: ModuleFile) -> ModuleSource {
    match file {
        ModuleFile::Inside {
            folder,
            folder_path,
            file,
        } => ModuleSource::inside(&folder, &folder_path, file),
        ModuleFile::Absolute(path) => ModuleSource::absolute(path),
    }
}
