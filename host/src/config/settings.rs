//! The checked configuration: plain data with every default filled in.
//! Knows nothing of TOML; `check` makes it, everybody reads it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

use super::Serve;
use crate::command::{ArgumentGroup, OutputFormat, Parameters, Stdin};
use crate::model::{FolderGrant, HostPattern, Shown as _};

/// Where a value of the configuration was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
}

/// A name that is not UTF-8 must not make a message impossible.
fn lossy<S: serde::Serializer>(file: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&file.display())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.shown(), self.line)
    }
}

/// A value, the key that holds it, and where it was written (`None`: the default). Two
/// settings are equal when their keys and values are: a line that moved changes nothing.
#[derive(Clone, Debug)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// The full key, for instance `runtime.wasm.timeout_secs`.
    pub key: String,
    /// Where it was written; `None` for a default.
    pub place: Option<Place>,
}

impl<T: PartialEq> PartialEq for Setting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.key == other.key
    }
}

impl<T: Eq> Eq for Setting<T> {}

impl<T> Setting<T> {
    /// A value that nobody wrote.
    pub fn default_of(key: impl Into<String>, value: T) -> Self {
        Self {
            value,
            key: key.into(),
            place: None,
        }
    }

    /// `key (file:line)`, or `key (default)`.
    pub fn origin(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({place})", self.key),
            None => format!("{} (default)", self.key),
        }
    }
}

/// A whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file it came from; `None`: no file, all defaults.
    pub file: Option<PathBuf>,
    /// SHA-256 of the text it was read from; `None`: no file.
    pub digest: Option<[u8; 32]>,
    /// `[runtime]`
    pub runtime: Runtime,
    /// `[security.sandbox]`
    pub sandbox: Sandbox,
    /// `[security.resources]`
    pub resources: Resources,
    /// `[tools.shell]`
    pub shell: ShellTool,
    /// `[tools.custom.<name>]`, in the file's order.
    pub tools: IndexMap<String, ToolEntry>,
    /// `[serve]`
    pub serve: Box<Serve>,
}

/// Which adapter runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Processes of this machine.
    Native,
    /// Containers.
    Docker,
    /// WebAssembly modules.
    Wasm,
}

impl Backend {
    /// As it is written in `config.toml`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Docker => "docker",
            Self::Wasm => "wasm",
        }
    }
}

/// `[runtime]`
#[derive(Clone, Debug, PartialEq)]
pub struct Runtime {
    /// `backend`; `None` is `"auto"`.
    pub backend: Setting<Option<Backend>>,
    /// `default_timeout_secs`
    pub default_timeout: Setting<Duration>,
    /// `max_output_bytes`, per stream.
    pub max_output_bytes: Setting<u64>,
    /// `env_whitelist`
    pub env_whitelist: Setting<Vec<String>>,
    /// `workspace`, absolute.
    pub workspace: Setting<PathBuf>,
    /// `[runtime.reload]`
    pub reload: Reload,
    /// `[runtime.native]`
    pub native: Native,
    /// `[runtime.docker]`
    pub docker: Docker,
    /// `[runtime.wasm]`
    pub wasm: Wasm,
}

/// `[runtime.reload]`: how a running host follows its modules and its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Reload {
    /// `method`
    pub method: Setting<ReloadMethod>,
    /// `settle_ms`: changes are taken over when there was none for so long.
    pub settle: Setting<Duration>,
    /// `poll_secs`: how often everything is looked at where no events tell of changes.
    pub poll: Setting<Duration>,
}

/// `runtime.reload.method`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReloadMethod {
    /// Events of the file system; where there are none, looking again and again.
    Auto,
    /// Looking again and again, for file systems that tell nothing: network and
    /// container mounts.
    Poll,
    /// Nothing is followed, once all that was there at the start is loaded.
    Off,
}

/// `[runtime.native]`
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// `shell`
    pub shell: Setting<PathBuf>,
    /// `[runtime.native.env]`
    pub env: Setting<IndexMap<String, String>>,
}

/// `[runtime.docker]`
#[derive(Clone, Debug, PartialEq)]
pub struct Docker {
    /// `image`
    pub image: Setting<String>,
    /// `socket`
    pub socket: Setting<PathBuf>,
    /// `memory_limit`, in bytes.
    pub memory_limit: Setting<u64>,
    /// `cpu_limit`, in thousandths of a processor.
    pub cpu_limit_millis: Setting<u64>,
    /// `pids_limit`
    pub pids_limit: Setting<u64>,
    /// `network`
    pub network: Setting<DockerNetwork>,
    /// `mount_workspace`
    pub mount_workspace: Setting<bool>,
    /// `workspace_mount_path`
    pub workspace_mount_path: Setting<String>,
    /// `auto_pull`
    pub auto_pull: Setting<bool>,
    /// `auto_remove`
    pub auto_remove: Setting<bool>,
    /// `[runtime.docker.tool_images]`
    pub tool_images: Setting<IndexMap<String, String>>,
}

/// `runtime.docker.network`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DockerNetwork {
    /// Loopback only.
    None,
    /// Docker's own bridge.
    Bridge,
    /// The host's network.
    Host,
}

/// `[runtime.wasm]`
#[derive(Clone, Debug, PartialEq)]
pub struct Wasm {
    /// `engine`
    pub engine: Setting<WasmEngine>,
    /// `module_path`, absolute.
    pub module_path: Setting<PathBuf>,
    /// `timeout_secs`; `None`: `runtime.default_timeout_secs` holds.
    pub timeout: Setting<Option<Duration>>,
    /// `max_memory_mb`, in bytes.
    pub max_memory_bytes: Setting<u64>,
    /// `cache_path`: the folder of compiled modules, absolute.
    pub cache_path: Setting<PathBuf>,
    /// `cache_max_mb`, in bytes.
    pub cache_max_bytes: Setting<u64>,
    /// `state_path`: the folder of skills' state, absolute.
    pub state_path: Setting<PathBuf>,
    /// `[runtime.wasm.capabilities]`
    pub capabilities: Capabilities,
}

/// `runtime.wasm.engine`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WasmEngine {
    /// The engine of this host.
    Wasmtime,
    /// Known to the documents, not built into this host: an error with a remedy.
    Wasmer,
}

/// `[runtime.wasm.capabilities]`, what every skill gets. All empty by default.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// `filesystem_read`
    pub filesystem_read: Setting<Vec<FolderGrant>>,
    /// `filesystem_write`; a folder given here may be read too.
    pub filesystem_write: Setting<Vec<FolderGrant>>,
    /// `network`
    pub network: Setting<bool>,
    /// `allowed_hosts`; `None`: `network = true` is any host.
    pub allowed_hosts: Setting<Option<Vec<HostPattern>>>,
    /// `env_vars`
    pub env_vars: Setting<Vec<String>>,
    /// `max_state_kb`, in bytes; 0: no state.
    pub max_state_bytes: Setting<u64>,
}

/// `[tools.custom.<name>.capabilities]`: a key given here replaces the global one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapabilityOverrides {
    /// `filesystem_read`
    pub filesystem_read: Option<Setting<Vec<FolderGrant>>>,
    /// `filesystem_write`
    pub filesystem_write: Option<Setting<Vec<FolderGrant>>>,
    /// `network`
    pub network: Option<Setting<bool>>,
    /// `allowed_hosts`
    pub allowed_hosts: Option<Setting<Vec<HostPattern>>>,
    /// `env_vars`
    pub env_vars: Option<Setting<Vec<String>>>,
    /// `max_state_kb`, in bytes.
    pub max_state_bytes: Option<Setting<u64>>,
}

/// `[tools.custom.<name>]`
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEntry {
    /// `<name>`
    pub name: String,
    /// Where the table begins.
    pub place: Place,
    /// `type`; `None`: the selected backend.
    pub backend: Option<Setting<Backend>>,
    /// `module`, as written: relative to `module_path`, or absolute.
    pub module: Option<Setting<PathBuf>>,
    /// `command`
    pub command: Option<Setting<String>>,
    /// `args`; empty: `command` is a line for the shell.
    pub args: Setting<Vec<ArgumentGroup>>,
    /// `stdin`
    pub stdin: Setting<Stdin>,
    /// `output`
    pub output: Setting<OutputFormat>,
    /// `success_exit_codes`
    pub success_exit_codes: Setting<Vec<i32>>,
    /// `image`
    pub image: Option<Setting<String>>,
    /// `working_dir`, absolute.
    pub working_dir: Option<Setting<PathBuf>>,
    /// `[tools.custom.<name>.env]`
    pub env: Setting<IndexMap<String, Provided<String>>>,
    /// `[tools.custom.<name>.parameters]`
    pub parameters: Option<Setting<Parameters>>,
    /// `description`
    pub description: Option<Setting<String>>,
    /// `enabled`
    pub enabled: Setting<bool>,
    /// `timeout_secs`
    pub timeout: Option<Setting<Duration>>,
    /// `max_memory_mb`, in bytes.
    pub max_memory_bytes: Option<Setting<u64>>,
    /// `max_output_bytes`
    pub max_output_bytes: Option<Setting<u64>>,
    /// `[tools.custom.<name>.capabilities]`
    pub capabilities: CapabilityOverrides,
    /// `[tools.custom.<name>.config]`, as JSON.
    pub config: IndexMap<String, Provided<Value>>,
}

/// A value, or where it is taken from when the tool is loaded: what is secret need not
/// stand in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provided<T> {
    /// It stands in the file.
    Value(T),
    /// `{ env = "NAME" }`: a variable of the host's environment.
    Variable(String),
    /// `{ file = "path" }`: the text of a file, without a line end at its end; absolute.
    File(PathBuf),
}

/// `[tools.shell]`: the tool that runs lines of a shell. Off by default.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellTool {
    /// `enabled`
    pub enabled: Setting<bool>,
    /// `type`; `None`: the selected backend for commands.
    pub backend: Option<Setting<Backend>>,
    /// `timeout_secs`
    pub timeout: Option<Setting<Duration>>,
    /// `max_output_bytes`
    pub max_output_bytes: Option<Setting<u64>>,
}

/// `[security.sandbox]`
#[derive(Clone, Debug, PartialEq)]
pub struct Sandbox {
    /// `backend`; `None` is `"auto"`. `enabled = false` is read as `"none"`.
    pub backend: Setting<Option<SandboxBackend>>,
    /// `allow_network`
    pub allow_network: Setting<bool>,
    /// `writable_paths`, absolute.
    pub writable_paths: Setting<Vec<PathBuf>>,
    /// `readonly_paths`, absolute.
    pub readonly_paths: Setting<Vec<PathBuf>>,
    /// `firejail_args`, for the backend `firejail` only.
    pub firejail_args: Setting<Vec<String>>,
    /// `[security.sandbox.docker]`
    pub docker: SandboxDocker,
}

/// `[security.sandbox.docker]`: what differs from `[runtime.docker]` when containers are
/// the sandbox.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SandboxDocker {
    /// `image`
    pub image: Option<Setting<String>>,
    /// `network`
    pub network: Option<Setting<DockerNetwork>>,
    /// `memory_limit`, in bytes.
    pub memory_limit: Option<Setting<u64>>,
    /// `cpu_limit`, in thousandths of a processor.
    pub cpu_limit_millis: Option<Setting<u64>>,
}

/// `security.sandbox.backend`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the configuration")]
pub enum SandboxBackend {
    Landlock,
    Firejail,
    Bubblewrap,
    Docker,
    None,
}

/// `[security.resources]`
#[derive(Clone, Debug, PartialEq)]
pub struct Resources {
    /// `max_memory_mb`, in bytes.
    pub max_memory_bytes: Setting<u64>,
    /// `max_cpu_time_seconds`
    pub max_cpu_time: Setting<Duration>,
    /// `max_subprocesses`
    pub max_subprocesses: Setting<u64>,
    /// `max_open_files`; `None`: as many as the host itself may have.
    pub max_open_files: Option<Setting<u64>>,
}
