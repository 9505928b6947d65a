//! A host in a folder of its own: modules, configuration, state, and the folders that it
//! grants. Compiled modules are shared between all stages, also of other processes, so
//! that each guest is compiled once; only a suite about the cache asks for its own.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use prx_host::config::{Config, Environment};
use prx_host::{Host, HostBuilder, WasmAdapter};
use tempfile::TempDir;

use crate::guest;

/// The names under which every stage has the two guests that answer anything, for
/// [`assert_healthy`](crate::calls::assert_healthy).
pub(crate) const HEALTHY: [&str; 2] = ["echo", "trivial"];

/// What a host will find when it is opened.
pub struct Stage {
    root: PathBuf,
    /// Removes the folder at the end; `None` where it belongs to another process.
    #[allow(dead_code, reason = "held for its end")]
    owned: Option<TempDir>,
    environment: Environment,
    cache: String,
    runtime: String,
    wasm: String,
    capabilities: String,
    entries: String,
}

impl Stage {
    /// A stage in a new folder, with the guests `echo` and `trivial`.
    pub fn new() -> Result<Self> {
        let owned = tempfile::Builder::new().prefix("prx-stage-").tempdir()?;
        // Host paths are compared with what a process has open: no links in them.
        let root = owned.path().canonicalize()?;
        fs::create_dir(root.join("modules"))?;
        let mut stage = Self::at(&root)?;
        stage.owned = Some(owned);
        stage.guests(&HEALTHY)
    }

    /// The stage that another process has set up in that folder, with an empty
    /// configuration.
    pub fn at(root: &Path) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            owned: None,
            environment: Environment::new(root).with("HOME", root),
            cache: shared_cache()?,
            runtime: String::new(),
            wasm: String::new(),
            capabilities: String::new(),
            entries: String::new(),
        })
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Makes a folder in its folder.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name);
        fs::create_dir_all(&path).with_context(|| format!("making `{}`", path.display()))?;
        Ok(path)
    }

    /// Copies built guests among the modules.
    pub fn guests(self, names: &[&str]) -> Result<Self> {
        names.iter().try_fold(self, |stage, name| {
            stage.module(name, &fs::read(guest(name)?)?)
        })
    }

    /// Puts a module among the modules, with that file stem.
    pub fn module(self, stem: &str, bytes: &[u8]) -> Result<Self> {
        let file = format!("modules/{stem}.wasm");
        fs::write(self.path(&file), bytes).with_context(|| format!("writing `{file}`"))?;
        Ok(self)
    }

    /// Adds a variable to the environment of the host.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment = self.environment.with(name, value);
        self
    }

    /// Adds lines to `[runtime]`.
    #[must_use]
    pub fn runtime(mut self, lines: &str) -> Self {
        self.runtime.push_str(lines);
        self.runtime.push('\n');
        self
    }

    /// Adds lines to `[runtime.wasm]`.
    #[must_use]
    pub fn wasm(mut self, lines: &str) -> Self {
        self.wasm.push_str(lines);
        self.wasm.push('\n');
        self
    }

    /// Adds lines to `[runtime.wasm.capabilities]`.
    #[must_use]
    pub fn capabilities(mut self, lines: &str) -> Self {
        self.capabilities.push_str(lines);
        self.capabilities.push('\n');
        self
    }

    /// Adds whole tables, for instance `[tools.custom.time]`.
    #[must_use]
    pub fn entries(mut self, tables: &str) -> Self {
        self.entries.push_str(tables);
        self.entries.push('\n');
        self
    }

    /// Keeps compiled modules in the folder `cache` of this stage instead of the shared one.
    #[must_use]
    pub fn own_cache(self) -> Self {
        let folder = self.path("cache");
        self.cache_in(&folder)
    }

    /// Keeps compiled modules in that folder.
    #[must_use]
    pub fn cache_in(mut self, folder: &Path) -> Self {
        self.cache = folder.display().to_string();
        self
    }

    /// The text of the configuration.
    pub fn text(&self) -> String {
        let Self {
            cache,
            runtime,
            wasm,
            capabilities,
            entries,
            ..
        } = self;
        format!(
            "[runtime]\n{runtime}\n[runtime.wasm]\nmodule_path = \"modules\"\n\
             cache_path = {cache:?}\nstate_path = \"state\"\n{wasm}\n\
             [runtime.wasm.capabilities]\n{capabilities}\n{entries}"
        )
    }

    /// Where that line stands in the configuration, as messages say it: `file:line`.
    pub fn place_of(&self, line: &str) -> Result<String> {
        let text = self.text();
        let found = text.lines().position(|candidate| candidate == line);
        let number = found.with_context(|| format!("`{line}` is no line of the configuration"))?;
        Ok(format!(
            "{}:{}",
            self.path("config.toml").display(),
            number + 1
        ))
    }

    /// Writes the configuration to its file, which a host can follow then.
    pub fn write_config(&self) -> Result<PathBuf> {
        let file = self.path("config.toml");
        fs::write(&file, self.text())?;
        Ok(file)
    }

    /// The configuration, read.
    pub fn config(&self) -> Result<Config> {
        let text = self.text();
        Config::from_toml(&text, &self.path("config.toml"), &self.environment)
            .map(|loaded| loaded.config)
            .map_err(|faults| anyhow!("{faults}\nin\n{text}"))
    }

    /// A host that can be opened on this stage.
    pub fn host(&self) -> Result<HostBuilder> {
        Ok(Host::builder(self.config()?).environment(self.environment.clone()))
    }

    /// An adapter for commands on this stage. The stage must outlive it.
    pub fn wasm_adapter(&self) -> Result<WasmAdapter> {
        Ok(WasmAdapter::open(&self.config()?, &self.environment)?)
    }

    /// Opens a host on this stage. The stage must outlive it.
    pub async fn open(&self) -> Result<Host> {
        // The future holds a whole configuration: too much for the callers' own.
        Ok(Box::pin(self.host()?.open()).await?)
    }
}

fn shared_cache() -> Result<String> {
    let folder = std::env::current_exe()?.with_file_name("modules-compiled-for-suites");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    Ok(folder.display().to_string())
}
