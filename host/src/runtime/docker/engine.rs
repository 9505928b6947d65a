//! What an engine told of itself: which of a container's wishes it can fulfil, and which
//! user of a container is which user of this machine.

use bollard::models::{SystemInfo, SystemVersion};
use semver::Version;
use serde::Deserialize;

use super::faults::unavailable;
use super::settings::Settings;
use crate::runtime::Result;

/// Whose engine it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Docker,
    Podman,
}

impl Kind {
    /// The program with which people look after it.
    pub fn program(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// What Podman says of itself in words of its own. In Docker's it claims to enforce every
/// limit, and its version 4 does not say that it is rootless.
#[derive(Debug, Deserialize)]
pub(super) struct Podman {
    host: PodmanHost,
    store: PodmanStore,
    version: PodmanVersion,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodmanHost {
    security: PodmanSecurity,
    /// Those that it may use.
    cgroup_controllers: Option<Vec<String>>,
    /// `systemd` or `cgroupfs`
    cgroup_manager: String,
    /// `v1` or `v2`
    cgroup_version: String,
    cpus: u64,
}

#[derive(Debug, Deserialize)]
struct PodmanSecurity {
    rootless: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodmanStore {
    graph_driver_name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PodmanVersion {
    version: String,
}

/// An engine as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts, as the engine tells them"
)]
pub(super) struct Engine {
    pub kind: Kind,
    /// For instance `Docker 20.10.24`.
    pub version: String,
    /// Of the API, as both sides speak it.
    pub api: String,
    /// The engine's root is an ordinary user of this machine.
    pub rootless: bool,
    /// A container's users are others on this machine.
    pub remaps_users: bool,
    /// It has an init process for containers.
    pub has_init: bool,
    /// It says when a container was killed for its memory.
    pub tells_out_of_memory: bool,
    /// It enforces limits of memory.
    pub limits_memory: bool,
    /// It enforces limits of processes.
    pub limits_processes: bool,
    /// It enforces limits of processor time.
    pub limits_cpu: bool,
    /// How many processors it has, in thousandths; no container may ask for more.
    pub cpu_millis: Option<u64>,
    /// `1` or `2`.
    pub cgroups: Option<String>,
    /// For instance `overlay2`.
    pub storage: Option<String>,
}

impl Engine {
    /// Of Docker's answers.
    pub fn docker(api: String, version: &SystemVersion, info: SystemInfo) -> Self {
        let has = |name: &str| {
            let options = info.security_options.iter().flatten();
            let mut words = options.flat_map(|option| option.split(','));
            words.any(|word| word == name)
        };
        let rootless = has("name=rootless");
        let remaps_users = has("name=userns") && !rootless;
        // An engine that did not find its init program has `N/A` for its version.
        let missing_init =
            (info.init_commit.as_ref()).is_some_and(|commit| commit.id.as_deref() == Some("N/A"));
        let number = version.version.as_deref().unwrap_or("of unknown version");
        Self {
            kind: Kind::Docker,
            version: format!("Docker {number}"),
            api,
            rootless,
            remaps_users,
            has_init: !missing_init,
            tells_out_of_memory: true,
            limits_memory: info.memory_limit.unwrap_or(true),
            limits_processes: info.pids_limit.unwrap_or(true),
            limits_cpu: info.cpu_cfs_quota.unwrap_or(true),
            cpu_millis: info
                .ncpu
                .and_then(|count| u64::try_from(count).ok())
                .and_then(millis),
            cgroups: info.cgroup_version.map(|version| version.to_string()),
            storage: info.driver,
        }
    }

    /// Of Podman's own answer.
    pub fn podman(api: String, podman: Podman) -> Self {
        let Podman {
            host,
            store,
            version: PodmanVersion { version },
        } = podman;
        let controllers = host.cgroup_controllers.unwrap_or_default();
        // Without systemd nobody gives an ordinary user a control group, and that is no error.
        let has_groups = !host.security.rootless || host.cgroup_manager == "systemd";
        let has = |name: &str| has_groups && controllers.iter().any(|it| it == name);
        Self {
            kind: Kind::Podman,
            api,
            rootless: host.security.rootless,
            remaps_users: false,
            // It tells by the first container.
            has_init: true,
            tells_out_of_memory: Version::parse(&version).is_ok_and(|version| version.major >= 5),
            version: format!("Podman {version}"),
            limits_memory: has("memory"),
            limits_processes: has("pids"),
            limits_cpu: has("cpu"),
            cpu_millis: millis(host.cpus),
            cgroups: Some(host.cgroup_version.trim_start_matches('v').to_owned()),
            storage: Some(store.graph_driver_name),
        }
    }

    /// Who runs a command that writes a folder of `owner`, for a host that is `process`.
    ///
    /// * Rootless: the container's root is the user who runs the engine, and no other user
    ///   of the container may write that user's files.
    /// * A host that is not root: its own user, so that files belong to it.
    /// * A host that is root: the owner of the workspace. Is that root too, it is root
    ///   without a single capability, bound by the permissions of files like anybody else:
    ///   no other user can write the folder.
    pub fn user(&self, owner: (u32, u32), process: (u32, u32)) -> String {
        let (user, group) = match process {
            _ if self.rootless => (0, 0),
            (0, _) => owner,
            own => own,
        };
        format!("{user}:{group}")
    }

    /// Refuses a limit that somebody wrote and that it would not enforce.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](crate::runtime::RuntimeError::Unavailable), with the key and its place.
    pub fn refuse_unenforced(&self, settings: &Settings) -> Result<()> {
        let limits = [
            (&settings.memory_limit, self.limits_memory),
            (&settings.pids_limit, self.limits_processes),
            (&settings.cpu_limit_millis, self.limits_cpu),
        ];
        let unenforced =
            (limits.iter()).find(|(limit, is_enforced)| limit.place.is_some() && !is_enforced);
        match unenforced {
            None => Ok(()),
            Some((limit, _)) => Err(self.can_not_enforce(&limit.origin())),
        }
    }

    /// What to say of a limit that it would not enforce.
    pub fn can_not_enforce(&self, limit: &str) -> crate::runtime::RuntimeError {
        let remedy = if self.cgroups.as_deref() == Some("1") && self.rootless {
            "boot the machine with control groups v2, without which a rootless engine has none"
        } else {
            "let the engine have the controller (a rootless one has those that systemd delegates, \
             and in a session of systemd: `Delegate=cpu cpuset io memory pids` for \
             `user@.service`)"
        };
        unavailable(
            format!(
                "{limit} asks for a limit that {} here can not enforce: it has no control group \
                 with the controller",
                self.version
            ),
            format!("{remedy}, or leave the key out to do without the limit"),
        )
    }

    /// What does not hold with it though nobody asked for it, one line each.
    pub fn shortcomings(&self) -> Vec<String> {
        let limits = [
            ("memory_limit", self.limits_memory),
            ("pids_limit", self.limits_processes),
            ("cpu_limit", self.limits_cpu),
        ];
        let mut lines: Vec<_> = limits
            .iter()
            .filter(|(_, enforced)| !enforced)
            .map(|(key, _)| {
                format!(
                    "this engine can not enforce `runtime.docker.{key}`, so containers go without \
                     that limit: it has no control group with the controller"
                )
            })
            .collect();
        if !self.has_init {
            lines.push(
                "this engine has no init program: a command that is process 1 of its container \
                 ignores signals that it does not handle (install `tini` as `docker-init`)"
                    .to_owned(),
            );
        }
        if self.limits_memory && !self.tells_out_of_memory {
            lines.push(
                "this engine does not say when a command is killed at its limit of memory: it \
                 ends with exit code 137 (Podman 5 says it)"
                    .to_owned(),
            );
        }
        lines
    }
}

/// Processors in thousandths; none is no answer.
fn millis(processors: u64) -> Option<u64> {
    (processors > 0).then(|| processors.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bollard::models::Commit;

    use super::*;
    use crate::config::{Config, Environment};

    fn engine(info: SystemInfo) -> Engine {
        Engine::docker("1.41".to_owned(), &SystemVersion::default(), info)
    }

    fn podman(number: &str, rootless: bool, manager: &str, controllers: &[&str]) -> Engine {
        let answer = serde_json::json!({
            "host": {
                "security": {"rootless": rootless},
                "cgroupControllers": controllers,
                "cgroupVersion": "v2",
                "cgroupManager": manager,
                "cpus": 4,
            },
            "store": {"graphDriverName": "overlay"},
            "version": {"Version": number},
        });
        let own = serde_json::from_value(answer).expect("its own words");
        Engine::podman("1.41".to_owned(), own)
    }

    fn settings(lines: &str) -> Settings {
        let environment = Environment::new("/srv").with("HOME", "/home/ada");
        let text = format!("[runtime.docker]\n{lines}\n");
        let config = Config::from_toml(&text, Path::new("/srv/config.toml"), &environment);
        Settings::of_runtime(&config.expect("a good configuration").config, &environment)
    }

    #[test]
    fn files_belong_to_the_user_of_the_host_or_to_the_owner_of_the_workspace() {
        let rooted = engine(SystemInfo::default());
        assert_eq!(rooted.user((1001, 1002), (1000, 100)), "1000:100");
        assert_eq!(rooted.user((1001, 1002), (0, 0)), "1001:1002");
        assert_eq!(rooted.user((0, 0), (0, 0)), "0:0");
        let rootless = engine(SystemInfo {
            security_options: Some(vec![
                "name=seccomp,profile=default".into(),
                "name=rootless".into(),
            ]),
            ..SystemInfo::default()
        });
        assert_eq!(rootless.user((1000, 100), (1000, 100)), "0:0");
    }

    #[test]
    fn what_podman_is_and_does_it_says_in_its_own_words() {
        let engine = podman("4.3.1", true, "cgroupfs", &[]);
        assert_eq!(engine.version, "Podman 4.3.1");
        assert_eq!(engine.cgroups.as_deref(), Some("2"));
        assert_eq!(engine.cpu_millis, Some(4000));
        assert!(engine.rootless && !engine.limits_memory && !engine.limits_cpu);
        assert!(!engine.tells_out_of_memory);
        assert_eq!(engine.user((1000, 100), (1000, 100)), "0:0");
        let engine = podman("5.4.2+ds1", false, "cgroupfs", &["cpu", "memory", "pids"]);
        assert!(!engine.rootless && engine.limits_memory && engine.limits_processes);
        assert!(engine.tells_out_of_memory);
        assert_eq!(engine.shortcomings(), [""; 0]);
        let alone = podman("5.4.2", true, "cgroupfs", &["memory", "pids"]);
        assert!(!alone.limits_memory && !alone.limits_processes, "{alone:?}");
    }

    #[test]
    fn a_written_limit_is_enforced_or_refused() {
        let engine = podman("5.0.0", true, "systemd", &["pids"]);
        assert_eq!(engine.refuse_unenforced(&settings("")), Ok(()));
        assert_eq!(
            engine.refuse_unenforced(&settings("pids_limit = 5")),
            Ok(())
        );
        for (line, key) in [
            (
                "memory_limit = \"64m\"",
                "runtime.docker.memory_limit (/srv/config.toml:2)",
            ),
            (
                "cpu_limit = \"0.5\"",
                "runtime.docker.cpu_limit (/srv/config.toml:2)",
            ),
        ] {
            let error = engine.refuse_unenforced(&settings(line));
            let error = error.expect_err("refused");
            let said = error.to_string();
            assert!(said.contains(key), "{said}");
            let help = error.help().unwrap_or_default();
            assert!(
                help.contains("Delegate=") && help.contains("leave the key out"),
                "{help}"
            );
        }
        let old = Engine {
            cgroups: Some("1".to_owned()),
            rootless: true,
            ..Engine::default()
        };
        let help = old
            .can_not_enforce("`max_memory_mb`")
            .help()
            .unwrap_or_default();
        assert!(help.contains("control groups v2"), "{help}");
        let error = engine.can_not_enforce("`max_memory_mb`");
        assert!(error.to_string().contains("Podman 5.0.0"), "{error}");
        let all = super::tests::engine(SystemInfo::default());
        assert_eq!(
            all.refuse_unenforced(&settings("memory_limit = \"64m\"")),
            Ok(())
        );
    }

    #[test]
    fn what_an_engine_can_not_do_is_said() {
        assert!(engine(SystemInfo::default()).shortcomings().is_empty());
        let poor = engine(SystemInfo {
            memory_limit: Some(false),
            init_commit: Some(Commit {
                id: Some("N/A".into()),
            }),
            ..SystemInfo::default()
        });
        let lines = poor.shortcomings();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("`runtime.docker.memory_limit`"));
    }
}
