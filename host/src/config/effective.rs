//! What is in force and where each value came from, for people who look at it. Never
//! shows what looks like a secret.

mod serve;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Capabilities, CapabilityOverrides, Config, Docker, DockerNetwork, Place, Provided,
    ReloadMethod, Resources, Sandbox, SandboxBackend, Setting, ShellTool, ToolEntry, Wasm,
    WasmEngine, check::command, document, redact,
};
use crate::command::{OutputFormat, Stdin};
use crate::model::{FolderGrant, HostPattern};

/// One key of the configuration that is in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectiveKey {
    /// The full key, as it was written or could be.
    pub key: String,
    /// The value in the terms of the file (`max_memory_mb` is in MB), with paths made
    /// absolute and secrets hidden; `null`: not set.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody wrote it.
    Default,
    /// It was written here.
    Written(Place),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Written(place) => place.fmt(f),
        }
    }
}

/// `"default"`, or `"file:line"`.
impl Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Config {
    /// Every key with the value that is in force and its origin, table by table.
    pub fn effective(&self) -> Vec<EffectiveKey> {
        let mut keys = Keys::default();
        let runtime = &self.runtime;
        keys.add(&runtime.backend, |backend| match backend {
            Some(backend) => json!(backend.as_str()),
            None => json!("auto"),
        });
        keys.add(&runtime.default_timeout, seconds);
        keys.add(&runtime.max_output_bytes, |bytes| json!(bytes));
        keys.add(&runtime.env_whitelist, |names| json!(names));
        keys.add(&runtime.workspace, |written| path(written));
        keys.add(&runtime.reload.method, |method| {
            json!(match method {
                ReloadMethod::Auto => "auto",
                ReloadMethod::Poll => "poll",
                ReloadMethod::Off => "off",
            })
        });
        keys.add(&runtime.reload.settle, |time| json!(time.as_millis()));
        keys.add(&runtime.reload.poll, seconds);
        keys.add(&runtime.native.shell, |written| path(written));
        keys.add(&runtime.native.env, variables);
        keys.docker(&runtime.docker);
        keys.wasm(&runtime.wasm);
        keys.sandbox(&self.sandbox);
        keys.resources(&self.resources);
        keys.shell(&self.shell);
        for tool in self.tools.values() {
            keys.tool(tool);
        }
        keys.serve(&self.serve);
        keys.list
    }
}

#[derive(Default)]
struct Keys {
    list: Vec<EffectiveKey>,
}

impl Keys {
    fn add<T>(&mut self, setting: &Setting<T>, value: impl Fn(&T) -> Value) {
        self.list.push(EffectiveKey {
            key: setting.key.clone(),
            value: value(&setting.value),
            origin: match &setting.place {
                Some(place) => Origin::Written(place.clone()),
                None => Origin::Default,
            },
        });
    }

    fn add_written<T>(&mut self, setting: Option<&Setting<T>>, value: impl Fn(&T) -> Value) {
        if let Some(setting) = setting {
            self.add(setting, value);
        }
    }

    fn docker(&mut self, docker: &Docker) {
        self.add(&docker.image, |image| json!(image));
        self.add(&docker.socket, |written| path(written));
        self.add(&docker.memory_limit, |bytes| docker_memory(*bytes));
        self.add(&docker.cpu_limit_millis, |millis| processors(*millis));
        self.add(&docker.pids_limit, |limit| json!(limit));
        self.add(&docker.network, |mode| network(*mode));
        self.add(&docker.mount_workspace, |mount| json!(mount));
        self.add(&docker.workspace_mount_path, |path| json!(path));
        self.add(&docker.auto_pull, |pull| json!(pull));
        self.add(&docker.auto_remove, |remove| json!(remove));
        self.add(&docker.tool_images, |images| json!(images));
    }

    fn wasm(&mut self, wasm: &Wasm) {
        self.add(&wasm.engine, |engine| match engine {
            WasmEngine::Wasmtime => json!("wasmtime"),
            WasmEngine::Wasmer => json!("wasmer"),
        });
        self.add(&wasm.module_path, |written| path(written));
        self.add(&wasm.timeout, |timeout| {
            timeout.as_ref().map_or(Value::Null, seconds)
        });
        self.add(&wasm.max_memory_bytes, |bytes| megabytes(*bytes));
        self.add(&wasm.cache_path, |written| path(written));
        self.add(&wasm.cache_max_bytes, |bytes| megabytes(*bytes));
        self.add(&wasm.state_path, |written| path(written));
        let Capabilities {
            filesystem_read,
            filesystem_write,
            network,
            allowed_hosts,
            env_vars,
            max_state_bytes,
        } = &wasm.capabilities;
        self.add(filesystem_read, |grants| folders(grants));
        self.add(filesystem_write, |grants| folders(grants));
        self.add(network, |network| json!(network));
        self.add(allowed_hosts, |allowed| {
            allowed.as_deref().map_or(Value::Null, hosts)
        });
        self.add(env_vars, |names| json!(names));
        self.add(max_state_bytes, |bytes| kilobytes(*bytes));
    }

    fn sandbox(&mut self, sandbox: &Sandbox) {
        self.add(&sandbox.backend, |backend| {
            json!(match backend {
                None => "auto",
                Some(SandboxBackend::Landlock) => "landlock",
                Some(SandboxBackend::Firejail) => "firejail",
                Some(SandboxBackend::Bubblewrap) => "bubblewrap",
                Some(SandboxBackend::Docker) => "docker",
                Some(SandboxBackend::None) => "none",
            })
        });
        self.add(&sandbox.allow_network, |allow| json!(allow));
        self.add(&sandbox.writable_paths, |list| paths(list));
        self.add(&sandbox.readonly_paths, |list| paths(list));
        self.add(&sandbox.firejail_args, |args| json!(args));
        let docker = &sandbox.docker;
        self.add_written(docker.image.as_ref(), |image| json!(image));
        self.add_written(docker.network.as_ref(), |mode| network(*mode));
        self.add_written(docker.memory_limit.as_ref(), |bytes| docker_memory(*bytes));
        self.add_written(docker.cpu_limit_millis.as_ref(), |millis| {
            processors(*millis)
        });
    }

    fn resources(&mut self, resources: &Resources) {
        self.add(&resources.max_memory_bytes, |bytes| megabytes(*bytes));
        self.add(&resources.max_cpu_time, seconds);
        self.add(&resources.max_subprocesses, |count| json!(count));
        self.add_written(resources.max_open_files.as_ref(), |count| json!(count));
    }

    fn shell(&mut self, shell: &ShellTool) {
        self.add(&shell.enabled, |enabled| json!(enabled));
        self.add_written(shell.backend.as_ref(), |backend| json!(backend.as_str()));
        self.add_written(shell.timeout.as_ref(), seconds);
        self.add_written(shell.max_output_bytes.as_ref(), |bytes| json!(bytes));
    }

    fn tool(&mut self, tool: &ToolEntry) {
        self.add_written(tool.backend.as_ref(), |backend| json!(backend.as_str()));
        self.add_written(tool.module.as_ref(), |written| path(written));
        self.add_written(tool.command.as_ref(), |command| json!(command));
        self.add(&tool.args, |args| command::written(args));
        self.add_written(written(&tool.stdin), stdin);
        self.add_written(written(&tool.output), |format| match format {
            OutputFormat::Text => json!("text"),
            OutputFormat::Json => json!("json"),
        });
        self.add_written(written(&tool.success_exit_codes), |codes| json!(codes));
        self.add_written(tool.image.as_ref(), |image| json!(image));
        self.add_written(tool.working_dir.as_ref(), |written| path(written));
        self.add(&tool.env, |variables| {
            let variables = variables.iter();
            variables
                .map(|(name, value)| (name.clone(), provided(name, value, |text| json!(text))))
                .collect()
        });
        self.add_written(tool.parameters.as_ref(), |parameters| {
            parameters.schema().clone()
        });
        self.add_written(tool.description.as_ref(), |description| json!(description));
        self.add(&tool.enabled, |enabled| json!(enabled));
        self.add_written(tool.timeout.as_ref(), seconds);
        self.add_written(tool.max_memory_bytes.as_ref(), |bytes| megabytes(*bytes));
        self.add_written(tool.max_output_bytes.as_ref(), |bytes| json!(bytes));
        let CapabilityOverrides {
            filesystem_read,
            filesystem_write,
            network,
            allowed_hosts,
            env_vars,
            max_state_bytes,
        } = &tool.capabilities;
        self.add_written(filesystem_read.as_ref(), |grants| folders(grants));
        self.add_written(filesystem_write.as_ref(), |grants| folders(grants));
        self.add_written(network.as_ref(), |network| json!(network));
        self.add_written(allowed_hosts.as_ref(), |list| hosts(list));
        self.add_written(env_vars.as_ref(), |names| json!(names));
        self.add_written(max_state_bytes.as_ref(), |bytes| kilobytes(*bytes));
        for (name, value) in &tool.config {
            self.list.push(EffectiveKey {
                key: document::joined(&format!("tools.custom.{}.config", tool.name), name),
                value: provided(name, value, Value::clone),
                // Single values have no place of their own; their tool has one.
                origin: Origin::Written(tool.place.clone()),
            });
        }
    }
}

/// A setting that somebody wrote.
fn written<T>(setting: &Setting<T>) -> Option<&Setting<T>> {
    setting.place.is_some().then_some(setting)
}

fn stdin(stdin: &Stdin) -> Value {
    match stdin {
        Stdin::Closed => json!("none"),
        Stdin::Json => json!("json"),
        Stdin::Text(piece) => json!(piece.to_string()),
    }
}

/// A value with secrets hidden; where it is taken from is no secret.
fn provided<T>(name: &str, value: &Provided<T>, json: impl Fn(&T) -> Value) -> Value {
    match value {
        Provided::Value(value) => redact::redacted(name, &json(value)),
        Provided::Variable(name) => json!({ "env": name }),
        Provided::File(file) => json!({ "file": path(file) }),
    }
}

fn seconds(time: &Duration) -> Value {
    match time.subsec_nanos() {
        0 => json!(time.as_secs()),
        _ => json!(time.as_secs_f64()),
    }
}

fn megabytes(bytes: u64) -> Value {
    json!(bytes >> 20)
}

fn kilobytes(bytes: u64) -> Value {
    json!(bytes >> 10)
}

fn docker_memory(bytes: u64) -> Value {
    let units = [(30, "g"), (20, "m"), (10, "k")];
    let whole = units
        .iter()
        .find(|(shift, _)| bytes.trailing_zeros() >= *shift);
    json!(match whole {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => format!("{bytes}b"),
    })
}

fn processors(millis: u64) -> Value {
    let thousandths = format!("{:03}", millis % 1000);
    let fraction = thousandths.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    json!(format!("{}.{fraction}", millis / 1000))
}

fn network(network: DockerNetwork) -> Value {
    json!(match network {
        DockerNetwork::None => "none",
        DockerNetwork::Bridge => "bridge",
        DockerNetwork::Host => "host",
    })
}

fn path(path: &Path) -> Value {
    json!(path.to_string_lossy())
}

fn paths(paths: &[PathBuf]) -> Value {
    paths.iter().map(|path| path.to_string_lossy()).collect()
}

fn folders(grants: &[FolderGrant]) -> Value {
    let written = |grant: &FolderGrant| {
        if grant.host == Path::new(&grant.guest) {
            grant.guest.clone()
        } else {
            format!("{}::{}", grant.host.display(), grant.guest)
        }
    };
    grants.iter().map(written).collect()
}

fn hosts(hosts: &[HostPattern]) -> Value {
    hosts.iter().map(HostPattern::to_string).collect()
}

fn variables(variables: &IndexMap<String, String>) -> Value {
    let variables = variables.iter();
    variables
        .map(|(name, value)| (name.clone(), redact::redacted(name, &json!(value))))
        .collect()
}
