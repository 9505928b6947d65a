//! What the configuration says of containers, as plain data: for tools that run in them,
//! and for native commands whose sandbox they are.

use std::path::PathBuf;

use super::hosts;
use crate::config::{Config, DockerNetwork, Environment, Setting};

/// The name that a container never takes from this machine: it names places in an image.
const PATH: &str = "PATH";

/// What holds for every call of one adapter.
#[derive(Clone)]
pub(super) struct Settings {
    pub image: String,
    pub workspace: Setting<PathBuf>,
    /// Where the workspace appears; `None`: nowhere.
    pub mount_path: Option<String>,
    /// What no command may write, for it tells the host what to do: the file of the
    /// configuration and the folder of modules.
    pub guarded: Vec<PathBuf>,
    pub memory_limit: Setting<u64>,
    pub cpu_limit_millis: Setting<u64>,
    pub pids_limit: Setting<u64>,
    pub network: DockerNetwork,
    /// Where the names of containers without a network are kept.
    pub hosts: Option<PathBuf>,
    pub auto_pull: Setting<bool>,
    pub auto_remove: bool,
    pub max_output: u64,
    /// Variables of this machine that are let through. Values may be secrets: never printed.
    pub passed: Vec<(String, String)>,
}

impl Settings {
    /// `[runtime.docker]`.
    pub fn of_runtime(config: &Config, environment: &Environment) -> Self {
        let docker = &config.runtime.docker;
        Self {
            image: docker.image.value.clone(),
            workspace: config.runtime.workspace.clone(),
            mount_path: (docker.mount_workspace.value)
                .then(|| docker.workspace_mount_path.value.clone()),
            guarded: (config.file.iter().cloned())
                .chain([config.runtime.wasm.module_path.value.clone()])
                .collect(),
            memory_limit: docker.memory_limit.clone(),
            cpu_limit_millis: docker.cpu_limit_millis.clone(),
            pids_limit: docker.pids_limit.clone(),
            network: docker.network.value,
            hosts: hosts::path(environment),
            auto_pull: docker.auto_pull.clone(),
            auto_remove: docker.auto_remove.value,
            max_output: config.runtime.max_output_bytes.value,
            passed: passed(&config.runtime.env_whitelist.value, environment),
        }
    }

    /// `[security.sandbox.docker]` over `[runtime.docker]`. The network is that of the
    /// sandbox: what tools in containers of their own may do says nothing about it.
    pub fn of_sandbox(config: &Config, environment: &Environment) -> Self {
        let sandbox = &config.sandbox;
        let mut settings = Self::of_runtime(config, environment);
        settings.network = match (&sandbox.docker.network, sandbox.allow_network.value) {
            (Some(network), _) => network.value,
            (None, true) => DockerNetwork::Bridge,
            (None, false) => DockerNetwork::None,
        };
        if let Some(image) = &sandbox.docker.image {
            settings.image.clone_from(&image.value);
        }
        if let Some(limit) = &sandbox.docker.memory_limit {
            settings.memory_limit.clone_from(limit);
        }
        if let Some(limit) = &sandbox.docker.cpu_limit_millis {
            settings.cpu_limit_millis.clone_from(limit);
        }
        settings
    }
}

/// The variables of the whitelist that are set here. One that is not UTF-8 can not be
/// told to an engine and counts as unset.
fn passed(whitelist: &[String], environment: &Environment) -> Vec<(String, String)> {
    let value = |name: &String| {
        let value = environment.variable(name)?.to_str()?;
        Some((name.clone(), value.to_owned()))
    };
    whitelist
        .iter()
        .filter(|name| name.as_str() != PATH)
        .filter_map(value)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn config(text: &str) -> Config {
        let environment = Environment::new("/srv").with("HOME", "/home/ada");
        Config::from_toml(text, Path::new("/srv/config.toml"), &environment)
            .expect("a good configuration")
            .config
    }

    #[test]
    fn only_whitelisted_variables_that_are_set_pass_and_never_path() {
        let config = config("[runtime]\nenv_whitelist = [\"PATH\", \"LANG\", \"UNSET\"]\n");
        let environment = Environment::new("/srv")
            .with("PATH", "/opt/bin")
            .with("LANG", "C")
            .with("API_TOKEN", "hunter2");
        let settings = Settings::of_runtime(&config, &environment);
        assert_eq!(settings.passed, [("LANG".to_owned(), "C".to_owned())]);
    }

    #[test]
    fn a_sandbox_has_a_network_of_its_own() {
        let environment = Environment::new("/srv");
        let settings = |text| Settings::of_sandbox(&config(text), &environment);
        let bridged = "[runtime.docker]\nnetwork = \"bridge\"\n";
        assert_eq!(settings(bridged).network, DockerNetwork::None);
        let allowed = "[security.sandbox]\nallow_network = true\n";
        assert_eq!(settings(allowed).network, DockerNetwork::Bridge);
        let named = "[security.sandbox]\nallow_network = true\n\
                     [security.sandbox.docker]\nnetwork = \"none\"\nimage = \"box\"\n\
                     memory_limit = \"64m\"\ncpu_limit = \"0.5\"\n";
        let settings = settings(named);
        assert_eq!(settings.network, DockerNetwork::None);
        assert_eq!(settings.image, "box");
        assert_eq!(settings.memory_limit.value, 64 << 20);
        assert_eq!(settings.cpu_limit_millis.value, 500);
    }
}
