//! From a plan to a snapshot: modules are loaded side by side, then every entry is made
//! and its tools are named, in order.
//!
//! Invariant: what did not change since the last snapshot is the same in the next one, and
//! what can not be made anew stays as it was.

use std::collections::BTreeMap;
#[cfg(not(feature = "wasm-runtime"))]
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::commands;
use super::entry::Started;
#[cfg(feature = "wasm-runtime")]
use super::files::ModuleFiles;
use super::made::{Made, NotMade};
#[cfg(feature = "wasm-runtime")]
use super::modules::Modules;
use super::patience::Patience;
use super::plan::{self, ModuleFile, Planned, Scope, Subject};
use super::snapshot::{Broken, Serving, Snapshot, Tool};
use crate::config::{Config, Environment};
#[cfg(feature = "wasm-runtime")]
use crate::runtime::wasm::module::Module;
use crate::runtime::{Backends, Selection};

/// How loading comes along.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadEvent {
    /// So many modules will be loaded.
    Started {
        /// Their number.
        modules: usize,
    },
    /// One more is done.
    Loaded {
        /// Its file.
        module: PathBuf,
        /// Whether it serves.
        ok: bool,
        /// Whether an earlier host had compiled it.
        from_cache: bool,
    },
    /// All are done.
    Finished,
}

/// Hears [`LoadEvent`]s; must return at once.
pub type LoadListener = Arc<dyn Fn(LoadEvent) + Send + Sync>;

/// Makes the snapshots of one host.
pub(crate) struct Assembler {
    #[cfg(feature = "wasm-runtime")]
    pub modules: Modules,
    #[cfg(feature = "wasm-runtime")]
    pub files: ModuleFiles,
    pub backends: Backends,
    pub environment: Environment,
    pub scope: Scope,
    pub listener: Option<LoadListener>,
    /// The latest entries, and the configuration that they were made with.
    pub latest: Latest,
}

/// What the latest snapshot was put together from.
#[derive(Default)]
pub(crate) struct Latest {
    config: Option<Arc<Config>>,
    made: BTreeMap<String, Made>,
}

/// A snapshot, and what it does not know yet.
pub(crate) struct Assembled {
    pub snapshot: Snapshot,
    /// How soon to look again, where no event will tell.
    pub again: Option<Duration>,
}

impl Assembler {
    /// Loads what there is and freezes it as snapshot `number`. A module whose file is
    /// away serves on for a while.
    pub async fn assemble(
        &mut self,
        config: &Arc<Config>,
        number: u64,
        patience: Patience,
    ) -> Assembled {
        let selection = if plan::needs_selection(config, &self.scope) {
            Some(self.backends.selection().await.clone())
        } else {
            None
        };
        let (mut plan, again) = self.look(config, selection.as_ref(), patience).await;
        let started = Started {
            at: SystemTime::now(),
            snapshot: number,
        };
        let latest = std::mem::take(&mut self.latest);
        let is_same = |old: &Arc<Config>| Arc::ptr_eq(old, config);
        let same_config = latest.config.as_ref().is_some_and(is_same);
        let mut before = latest.made;
        self.latest.config = Some(Arc::clone(config));
        let mut tools = BTreeMap::new();
        for (name, planned) in &plan.entries {
            let before = before.remove(name);
            let attempt = self
                .make(config, name, planned, before, same_config, started)
                .await;
            let (made, faults) = attempt.settle(&tools);
            for (fault, is_kept) in faults {
                let serving = made.as_ref().filter(|_| is_kept).map(serving);
                plan.broken.push(broken(name, planned, fault, serving));
            }
            if let Some(made) = made {
                place(&made, planned, &mut tools, &mut plan.broken);
                self.latest.made.insert(name.clone(), made);
            }
        }
        Assembled {
            snapshot: Snapshot::new(number, tools, plan.broken, self.is_loading()),
            again,
        }
    }

    /// Plans, and looks at the files of the plan.
    #[cfg(feature = "wasm-runtime")]
    async fn look<'a>(
        &mut self,
        config: &'a Config,
        selection: Option<&Selection>,
        patience: Patience,
    ) -> (plan::Plan<'a>, Option<Duration>) {
        let listener = self.listener.as_ref();
        let tell = |event| {
            if let Some(listener) = listener {
                listener(event);
            }
        };
        loop {
            let plan = plan::plan(config, &self.scope, selection, &self.files.serving());
            let files = plan.entries.values().flat_map(Planned::modules);
            let heirs = plan.entries.values().filter_map(Planned::heir).collect();
            let again = self.files.look(files, &heirs, patience, &tell).await;
            // What is gone for good claims no name.
            if !plan.entries.values().any(|planned| self.is_gone(planned)) {
                return (plan, again);
            }
        }
    }

    #[cfg(feature = "wasm-runtime")]
    fn is_gone(&self, planned: &Planned<'_>) -> bool {
        let file = planned.module().filter(|_| planned.lingers);
        let mut lingering = file.into_iter().chain(&planned.rival);
        lingering.any(|file| self.files.known(&file.path()).serving.is_none())
    }

    /// Plans; there are no files that could be looked at.
    #[cfg(not(feature = "wasm-runtime"))]
    async fn look<'a>(
        &mut self,
        config: &'a Config,
        selection: Option<&Selection>,
        _patience: Patience,
    ) -> (plan::Plan<'a>, Option<Duration>) {
        let plan = plan::plan(config, &self.scope, selection, &BTreeSet::new());
        (plan, None)
    }

    async fn make(
        &self,
        config: &Arc<Config>,
        name: &str,
        planned: &Planned<'_>,
        before: Option<Made>,
        same_config: bool,
        started: Started,
    ) -> Attempt {
        let fault = self.fault(planned);
        let before = match before {
            Some(before) if same_config && !self.is_other(&before, planned) => {
                return Attempt {
                    fault,
                    ..Attempt::of(Ok(before))
                };
            }
            before => before,
        };
        let (backends, environment) = (&self.backends, &self.environment);
        let offer = match (&planned.subject, planned.tool) {
            #[cfg(feature = "wasm-runtime")]
            (Subject::Module(_), tool) => {
                let Some(module) = self.serving(planned) else {
                    return Attempt::of(Err(fault));
                };
                self.modules
                    .entry(config, name, tool, module, environment, started)
            }
            #[cfg(not(feature = "wasm-runtime"))]
            (Subject::Module(_), _) => Err(without_modules()),
            (Subject::Command(backend), Some(tool)) => {
                commands::entry(config, tool, *backend, backends, environment, started)
            }
            (Subject::Command(_), None) => Err("it has no entry".to_owned().into()),
            (Subject::Shell(backend), _) => {
                commands::shell(config, name, *backend, backends, started).await
            }
        };
        let made = offer.map(|offer| Made::new(offer, before.as_ref()));
        Attempt {
            fault,
            // A configuration that grants less must not leave an entry with more.
            fallback: before.filter(|_| same_config),
            ..Attempt::of(made.map_err(Some))
        }
    }

    /// The module that serves for an entry: that of its file, or where it never had one,
    /// that of its rival.
    #[cfg(feature = "wasm-runtime")]
    fn serving(&self, planned: &Planned<'_>) -> Option<&Arc<Module>> {
        let mut files = planned.modules().map(ModuleFile::path);
        files.find_map(|path| self.files.known(&path).serving.as_ref())
    }

    /// Whether an entry that was made is of another module than the one that serves now.
    #[cfg(feature = "wasm-runtime")]
    fn is_other(&self, made: &Made, planned: &Planned<'_>) -> bool {
        if planned.module().is_none() {
            return made.entry.module().is_some();
        }
        match (self.serving(planned), made.entry.module()) {
            (Some(serving), Some(module)) => !Arc::ptr_eq(serving, module),
            _ => true,
        }
    }

    /// Whether something is broken only because it is on its way.
    #[cfg(feature = "wasm-runtime")]
    fn is_loading(&self) -> bool {
        self.files.is_loading()
    }

    /// What is wrong with the file of a planned module as it is now.
    #[cfg(feature = "wasm-runtime")]
    fn fault(&self, planned: &Planned<'_>) -> Option<NotMade> {
        let known = self.files.known(&planned.module()?.path());
        known.fault.as_ref().map(|fault| NotMade {
            reason: fault.to_string(),
            help: fault.help().map(str::to_owned),
        })
    }

    #[cfg(not(feature = "wasm-runtime"))]
    #[allow(clippy::unused_self, reason = "as in a build with modules")]
    fn is_loading(&self) -> bool {
        false
    }

    #[cfg(not(feature = "wasm-runtime"))]
    #[allow(clippy::unused_self, reason = "as in a build with modules")]
    fn is_other(&self, _made: &Made, _planned: &Planned<'_>) -> bool {
        false
    }

    #[cfg(not(feature = "wasm-runtime"))]
    #[allow(clippy::unused_self, reason = "as in a build with modules")]
    fn fault(&self, _planned: &Planned<'_>) -> Option<NotMade> {
        None
    }
}

/// What making an entry led to.
struct Attempt {
    /// The entry, or why there is none.
    made: Result<Made, Option<NotMade>>,
    /// What served before with the same configuration.
    fallback: Option<Made>,
    /// What is wrong with the file of the module, where an earlier one serves.
    fault: Option<NotMade>,
}

/// What is wrong, and whether something serves all the same.
type Fault = (NotMade, bool);

impl Attempt {
    fn of(made: Result<Made, Option<NotMade>>) -> Self {
        Self {
            made,
            fallback: None,
            fault: None,
        }
    }

    /// Decides what serves. `tools` are those of the entries before this one, which keep
    /// their names.
    fn settle(self, tools: &BTreeMap<String, Arc<Tool>>) -> (Option<Made>, Vec<Fault>) {
        let mut faults: Vec<Fault> = self.fault.map(|fault| (fault, true)).into_iter().collect();
        let clash = |made: &Made| {
            let mut names = made.tools.iter().map(|tool| tool.name());
            names.find_map(|name| tools.get(name))
        };
        let fallback = self.fallback;
        match self.made {
            Err(why) => {
                let is_kept = fallback.is_some();
                faults.extend(why.map(|why| (why, is_kept)));
                (fallback, faults)
            }
            Ok(made) => {
                let taken = clash(&made);
                let is_better = |old: &Made| old.faults.is_empty() && clash(old).is_none();
                if (taken.is_some() || !made.faults.is_empty())
                    && let Some(fallback) = fallback.filter(is_better)
                {
                    let taken = taken.map(|first| taken_by(first));
                    let all = made.faults.into_iter().chain(taken);
                    faults.extend(all.map(|fault| (fault, true)));
                    return (Some(fallback), faults);
                }
                faults.extend(made.faults.iter().cloned().map(|fault| (fault, false)));
                (Some(made), faults)
            }
        }
    }
}

/// Gives the tools of an entry their places.
fn place(
    made: &Made,
    planned: &Planned<'_>,
    tools: &mut BTreeMap<String, Arc<Tool>>,
    faults: &mut Vec<Broken>,
) {
    for tool in &made.tools {
        match tools.get(tool.name()) {
            Some(first) => faults.push(broken(tool.name(), planned, taken_by(first), None)),
            None => {
                tools.insert(tool.name().to_owned(), Arc::clone(tool));
            }
        }
    }
}

fn taken_by(first: &Tool) -> NotMade {
    NotMade {
        reason: format!(
            "the entry `{}` has a tool of this name",
            first.entry().name()
        ),
        help: Some("give one of the two entries another name".into()),
    }
}

#[cfg(not(feature = "wasm-runtime"))]
fn without_modules() -> NotMade {
    NotMade {
        reason: "this prx-host was built without the `wasm` backend".into(),
        help: Some("build it with `--features wasm-runtime`".into()),
    }
}

fn serving(made: &Made) -> Serving {
    Serving {
        version: made.entry.version(),
        since: made.entry.started(),
    }
}

fn broken(name: &str, planned: &Planned<'_>, why: NotMade, serving: Option<Serving>) -> Broken {
    Broken {
        name: name.to_owned(),
        module: planned.module().map(ModuleFile::path),
        backend: planned.backend().as_str(),
        place: planned.tool.map(|tool| tool.place.to_string()),
        reason: why.reason,
        help: why.help,
        serving,
    }
}
