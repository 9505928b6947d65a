//! The description of one call's container: a pure function of settings, call and image.
//!
//! Invariant: nothing here makes a container more powerful than the documents say. What a
//! call brings along ends up in its program, its arguments and its environment only.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType,
};

use super::engine::Engine;
use super::hosts;
use super::process;
use super::settings::Settings;
use super::workspace::{Given, Place};
use crate::config::DockerNetwork;
use crate::runtime::{Execution, Program, Result, RuntimeError};

/// What every image for shell lines has.
const SHELL: &str = "sh";

/// Where programs may leave what nobody needs later; also their home.
const TEMPORARY: &str = "/tmp";

/// What one call's container is made from.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub settings: &'a Settings,
    pub engine: &'a Engine,
    pub place: &'a Place,
    pub execution: &'a Execution<'a>,
    pub image: &'a str,
    /// `NAME=value`, as the image has them.
    pub image_env: &'a [String],
    /// The image has a check of its own for the health of what runs.
    pub has_healthcheck: bool,
    /// A file of this machine for `/etc/hosts`, with which no network is made at all.
    pub hosts: Option<&'a str>,
    /// A process of the engine's comes first, and hands signals on.
    pub init: bool,
}

/// What a container can do without, where an engine turns out not to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// [`Plan::hosts`]: then the engine makes the network `none`.
    Hosts,
    /// [`Plan::init`]
    Init,
}

impl Plan<'_> {
    /// The same without something.
    pub fn without(self, extra: Extra) -> Self {
        match extra {
            Extra::Hosts => Self {
                hosts: None,
                ..self
            },
            Extra::Init => Self {
                init: false,
                ..self
            },
        }
    }

    /// Bytes of memory that the container may use.
    pub fn memory_limit(&self) -> u64 {
        (self.execution.max_memory).unwrap_or(self.settings.memory_limit.value)
    }

    /// The program that the engine starts.
    pub fn program(&self) -> &str {
        match self.execution.program {
            Program::Shell(_) => SHELL,
            Program::Direct { program, .. } => program,
        }
    }

    /// What the engine is asked for.
    pub fn body(&self) -> Result<ContainerCreateBody> {
        let (program, arguments) = self.command()?;
        let with_stdin = self.execution.stdin.is_some();
        Ok(ContainerCreateBody {
            image: Some(self.image.to_owned()),
            // Both, so that nothing of the image's own entry point is left.
            entrypoint: Some(vec![program]),
            cmd: Some(arguments),
            env: Some(self.environment()?),
            working_dir: self.place.working_dir.clone(),
            user: Some(self.place.user.clone()),
            labels: Some(process::labels(
                self.execution.timeout,
                !self.settings.auto_remove,
            )),
            attach_stdin: Some(with_stdin),
            open_stdin: Some(with_stdin),
            stdin_once: Some(with_stdin),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            tty: Some(false),
            // Podman asks a command to end before it removes it by force, and waits that long.
            stop_timeout: Some(0),
            network_disabled: self.hosts.map(|_| true),
            healthcheck: self.has_healthcheck.then(|| HealthConfig {
                test: Some(vec!["NONE".to_owned()]),
                ..HealthConfig::default()
            }),
            host_config: Some(self.host_config()),
            ..ContainerCreateBody::default()
        })
    }

    fn host_config(&self) -> HostConfig {
        let (settings, engine) = (self.settings, self.engine);
        let memory = self.memory_limit();
        let nano_cpus = self.cpu_millis().saturating_mul(1_000_000);
        // Some engines pass over what they can not enforce, others refuse it.
        let enforced = |is_enforced: bool, limit: u64| is_enforced.then(|| signed(limit));
        HostConfig {
            memory: enforced(engine.limits_memory, memory),
            // The sum of memory and swap: no swap.
            memory_swap: enforced(engine.limits_memory, memory),
            nano_cpus: enforced(engine.limits_cpu, nano_cpus),
            pids_limit: enforced(engine.limits_processes, settings.pids_limit.value),
            network_mode: Some(network(settings.network).to_owned()),
            mounts: Some(self.mounts()),
            // Executable: whoever may write the workspace can run what was written there
            // anyway, and build tools run what they unpack.
            tmpfs: Some(HashMap::from([(
                TEMPORARY.to_owned(),
                format!("rw,exec,nosuid,nodev,mode=1777,size={}", memory / 2),
            )])),
            readonly_rootfs: Some(true),
            privileged: Some(false),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            init: Some(self.init),
            // The owner of files is to be found on this machine, not in a shifted range.
            userns_mode: (engine.remaps_users).then(|| "host".to_owned()),
            // Ten gigabytes of output must not end up on the engine's disk.
            log_config: Some(HostConfigLogConfig {
                typ: Some("none".to_owned()),
                config: None,
            }),
            // The engine must not remove what is still asked how it ended.
            auto_remove: Some(false),
            ..HostConfig::default()
        }
    }

    /// An engine refuses more processors than it has.
    fn cpu_millis(&self) -> u64 {
        let wanted = self.settings.cpu_limit_millis.value;
        self.engine
            .cpu_millis
            .map_or(wanted, |there| wanted.min(there))
    }

    fn mounts(&self) -> Vec<Mount> {
        // A mount, not a "bind": a missing source is an error instead of a new folder.
        let mount = |given: &Given| Mount {
            typ: Some(MountType::BIND),
            source: Some(given.source.clone()),
            target: Some(given.target.clone()),
            read_only: Some(given.read_only),
            ..Mount::default()
        };
        let hosts = self.hosts.map(|file| Given {
            source: file.to_owned(),
            target: hosts::TARGET.to_owned(),
            read_only: true,
        });
        (self.place.mounts.iter().chain(&hosts))
            .map(mount)
            .collect()
    }

    /// The program and its arguments.
    fn command(&self) -> Result<(String, Vec<String>)> {
        let (program, arguments) = match self.execution.program {
            Program::Shell(line) => (SHELL, vec!["-c".to_owned(), line.to_owned()]),
            Program::Direct { program, args } => (program, args.to_vec()),
        };
        if program.is_empty() {
            return Err(RuntimeError::CommandNotFound {
                command: String::new(),
                reason: "the name is empty".to_owned(),
                help: "name a program of the image".to_owned(),
            });
        }
        without_nul("the command", program)?;
        for (index, argument) in arguments.iter().enumerate() {
            let what = match self.execution.program {
                Program::Shell(_) => "the command".to_owned(),
                Program::Direct { .. } => format!("argument {}", index + 1),
            };
            without_nul(&what, argument)?;
        }
        Ok((program.to_owned(), arguments))
    }

    /// The variables: of the call, else of the image, else of this machine. The image's own
    /// stay with the engine, which adds them by itself.
    fn environment(&self) -> Result<Vec<String>> {
        let of_image = |name: &str| {
            let mut names = (self.image_env.iter()).filter_map(|pair| pair.split('=').next());
            names.any(|own| own == name)
        };
        let mut variables = BTreeMap::new();
        for (name, value) in &self.settings.passed {
            if !of_image(name) {
                variables.insert(name.as_str(), value.as_str());
            }
        }
        variables.insert("HOME", TEMPORARY);
        for (name, value) in self.execution.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(RuntimeError::InvalidInput {
                    what: format!("the variable `{}`", name.escape_debug()),
                    reason: "a name is not empty and has neither `=` nor NUL in it: correct it or leave it out".to_owned(),
                });
            }
            without_nul(&format!("the variable `{name}`"), value)?;
            variables.insert(name, value);
        }
        Ok(variables
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect())
    }
}

fn without_nul(what: &str, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(RuntimeError::InvalidInput {
            what: what.to_owned(),
            reason: "it has a NUL byte in it, and programs take texts that end at one: leave the byte out".to_owned(),
        });
    }
    Ok(())
}

fn network(network: DockerNetwork) -> &'static str {
    match network {
        DockerNetwork::None => "none",
        DockerNetwork::Bridge => "bridge",
        DockerNetwork::Host => "host",
    }
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
