//! What an engine told of itself: which of a container's wishes it can fulfil, and which
//! user of a container is which user of this machine.

use bollard::models::{SystemInfo, SystemVersion};

/// An engine as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts, as the engine tells them"
)]
pub(super) struct Engine {
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
    /// A container can be without any network, which starts faster than one with the network
    /// `none`. Podman knows no such thing.
    pub can_go_without: bool,
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
    /// Reads what it answered.
    pub fn new(api: String, version: &SystemVersion, info: SystemInfo) -> Self {
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
        Self {
            version: name_and_version(version),
            api,
            rootless,
            remaps_users,
            has_init: !missing_init,
            can_go_without: !is_podman(version),
            limits_memory: info.memory_limit.unwrap_or(true),
            limits_processes: info.pids_limit.unwrap_or(true),
            limits_cpu: info.cpu_cfs_quota.unwrap_or(true),
            cpu_millis: info
                .ncpu
                .and_then(|count| u64::try_from(count).ok())
                .filter(|count| *count > 0)
                .map(|count| count.saturating_mul(1000)),
            cgroups: info.cgroup_version.map(|version| version.to_string()),
            storage: info.driver,
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

    /// What is asked for and not enforced, one line each.
    pub fn unenforced(&self) -> Vec<String> {
        let limits = [
            ("memory_limit", self.limits_memory),
            ("pids_limit", self.limits_processes),
            ("cpu_limit", self.limits_cpu),
        ];
        let mut lines: Vec<_> = limits
            .iter()
            .filter(|(_, enforced)| !enforced)
            .map(|(key, _)| {
                format!("this engine can not enforce `runtime.docker.{key}`: its control groups lack the controller")
            })
            .collect();
        if !self.has_init {
            lines.push(
                "this engine has no init program: a command that is process 1 of its container \
                 ignores signals that it does not handle (install `tini` as `docker-init`)"
                    .to_owned(),
            );
        }
        lines
    }
}

fn name_and_version(version: &SystemVersion) -> String {
    let number = version.version.as_deref().unwrap_or("of unknown version");
    let name = if is_podman(version) {
        "Podman"
    } else {
        "Docker"
    };
    format!("{name} {number}")
}

fn is_podman(version: &SystemVersion) -> bool {
    (version.components.iter().flatten())
        .any(|component| component.name.to_ascii_lowercase().contains("podman"))
}

#[cfg(test)]
mod tests {
    use bollard::models::Commit;

    use super::*;

    fn engine(info: SystemInfo) -> Engine {
        Engine::new("1.41".to_owned(), &SystemVersion::default(), info)
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
    fn what_an_engine_can_not_do_is_said() {
        assert!(engine(SystemInfo::default()).unenforced().is_empty());
        let poor = engine(SystemInfo {
            memory_limit: Some(false),
            init_commit: Some(Commit {
                id: Some("N/A".into()),
            }),
            ..SystemInfo::default()
        });
        let lines = poor.unenforced();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("`runtime.docker.memory_limit`"));
    }
}
