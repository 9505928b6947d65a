//! The module files of one host as they were last seen: which module serves for each, and
//! what is wrong with the file as it is now.
//!
//! Invariant: a module serves until another one that is whole takes its place, or until
//! its file is gone for good. Nothing here runs on the path of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::assemble::LoadEvent;
use super::plan::ModuleFile;
use crate::file_state::Stamp;
use crate::runtime::wasm::background::Background;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::loader::Loader;
use crate::runtime::wasm::module::Module;
use crate::runtime::wasm::source::{Contents, ModuleSource};

/// How soon a file is looked at again that somebody is writing.
const WRITING: Duration = Duration::from_millis(100);

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

/// Bytes that can not serve, by their SHA-256.
type Refused = ([u8; 32], ModuleFault);

/// All files that some entry is about.
pub(crate) struct ModuleFiles {
    loader: Arc<Loader>,
    known: BTreeMap<PathBuf, Known>,
    /// Compiles what comes later, beside the calls that are running.
    background: Option<Background>,
    /// Whether nobody else waits: what is known is loaded without another thread.
    alone: bool,
}

/// A file that was read anew.
struct Read {
    stamp: Option<Stamp>,
    /// Of its bytes; `None`: they could not be read.
    digest: Option<[u8; 32]>,
    outcome: Result<Arc<Module>, ModuleFault>,
}

impl Read {
    fn failed(fault: ModuleFault) -> Self {
        Self {
            stamp: None,
            digest: None,
            outcome: Err(fault),
        }
    }
}

impl ModuleFiles {
    /// No files yet. `alone` is a process for one call.
    pub fn new(loader: Arc<Loader>, alone: bool) -> Self {
        Self {
            loader,
            known: BTreeMap::new(),
            background: None,
            alone,
        }
    }

    /// What is known of a file that was looked at.
    pub(super) fn known(&self, path: &PathBuf) -> &Known {
        &self.known[path]
    }

    /// The files whose modules serve: each may be away for a moment and come back.
    pub fn serving(&self) -> BTreeSet<PathBuf> {
        let serving = self.known.iter().filter(|(_, file)| file.serving.is_some());
        serving.map(|(path, _)| path.clone()).collect()
    }

    /// Looks at all files; reads those that may have changed, as many at a time as there
    /// are processors. A file that is away stays for `patience`. Answers how soon to look
    /// again, where that depends on nothing that an event would tell.
    pub(super) async fn look(
        &mut self,
        files: impl Iterator<Item = &ModuleFile>,
        patience: Duration,
        tell: &(dyn Fn(LoadEvent) + Sync),
    ) -> Option<Duration> {
        let files: BTreeMap<PathBuf, ModuleFile> =
            files.map(|file| (file.path(), file.clone())).collect();
        self.known.retain(|path, _| files.contains_key(path));
        let changed: Vec<(PathBuf, ModuleSource)> = files
            .into_iter()
            .map(|(path, file)| (path, source(file)))
            .filter(|(path, source)| !self.is_unchanged(path, source))
            .collect();
        tell(LoadEvent::Started {
            modules: changed.len(),
        });
        let mut reads = self.read(changed);
        let mut again = None;
        while let Some(read) = reads.join_next().await {
            let (path, read) = read.expect("the tasks neither panic nor are aborted");
            tell(LoadEvent::Loaded {
                module: path.clone(),
                ok: read.outcome.is_ok(),
                from_cache: read
                    .outcome
                    .as_ref()
                    .is_ok_and(|module| module.from_cache()),
            });
            let sooner = self.known.entry(path).or_default().note(read, patience);
            again = sooner.into_iter().chain(again).min();
        }
        tell(LoadEvent::Finished);
        again
    }

    fn is_unchanged(&self, path: &PathBuf, source: &ModuleSource) -> bool {
        let stamp = self.known.get(path).and_then(|known| known.stamp);
        stamp.is_some_and(|stamp| source.stamp() == Ok(stamp))
    }

    fn read(&mut self, files: Vec<(PathBuf, ModuleSource)>) -> JoinSet<(PathBuf, Read)> {
        // The first files are read before there are calls, which later ones must not slow.
        let background = self.background.clone();
        self.background.get_or_insert_default();
        let width = match files.len() {
            0 | 1 => 1,
            // It looks into several files.
            _ => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let places = Arc::new(Semaphore::new(width));
        let mut reads = JoinSet::new();
        for (path, source) in files {
            let known = self.known.get(&path);
            let reading = Reading {
                loader: Arc::clone(&self.loader),
                source,
                serving: known.and_then(|known| known.serving.clone()),
                refused: known.and_then(|known| known.refused.clone()),
                background: background.clone(),
            };
            let (places, alone) = (Arc::clone(&places), self.alone);
            reads.spawn(async move {
                let _place = places.acquire_owned().await;
                let mut contents = None;
                if alone {
                    match reading.open() {
                        Opened::Read(read) => return (path, read),
                        Opened::Unknown(unknown) => contents = Some(unknown),
                    }
                }
                let reading = tokio::task::spawn_blocking(move || match contents {
                    Some(contents) => reading.compile(&contents),
                    None => reading.read(),
                });
                // A panic while loading is a fault of the module that caused it.
                let read = reading.await.unwrap_or_else(|panic| {
                    Read::failed(ModuleFault::NotCompiled(panic.to_string()))
                });
                (path, read)
            });
        }
        reads
    }
}

impl Known {
    /// Takes note of what was read; answers how soon to look again.
    fn note(&mut self, read: Read, patience: Duration) -> Option<Duration> {
        self.stamp = read.stamp;
        let is_missing = matches!(read.outcome, Err(ModuleFault::Missing));
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

/// A file that is read, and what is known of it.
struct Reading {
    loader: Arc<Loader>,
    source: ModuleSource,
    serving: Option<Arc<Module>>,
    refused: Option<Refused>,
    /// Where it is compiled, if that is not here.
    background: Option<Background>,
}

/// What can be said of a file without compiling it.
enum Opened {
    Read(Read),
    /// Only the compiler can tell.
    Unknown(Contents),
}

impl Reading {
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
