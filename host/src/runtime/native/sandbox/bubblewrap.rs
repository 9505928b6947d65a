//! The sandbox `bubblewrap`: every command in namespaces of its own.
//!
//! The command sees the granted paths (see [`super::paths`]), a `/proc` and `/dev` of its
//! own, no other process, and no network unless `allow_network`. It has no capability, so
//! the superuser too can only write files that belong to it. The first process is the
//! [warden](super::warden); with it every other ends, also those in sessions of their own,
//! and all of them end when the host dies.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use super::paths::Paths;
use super::warden::Warden;
use super::{Target, located, version_of};
use crate::config::{Config, Environment};
use crate::runtime::native::process::Prepared;
use crate::runtime::native::spawner;
use crate::runtime::{Result, RuntimeError};

const NAME: &str = "bubblewrap";
const NAMESPACES_HELP: &str = "allow user namespaces: `sysctl -w \
    kernel.unprivileged_userns_clone=1` (Debian), `sysctl -w \
    kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu), `sysctl -w \
    user.max_user_namespaces=10000`; in a container, let its seccomp profile allow them. Or \
    set `security.sandbox.backend` to `\"landlock\"`";

/// Bubblewrap with everything that is the same for each command.
#[derive(Debug)]
pub(in crate::runtime::native) struct Bubblewrap {
    program: PathBuf,
    pub(in crate::runtime::native) version: String,
    allow_network: bool,
    warden: Warden,
    options: Vec<OsString>,
}

impl Bubblewrap {
    /// Finds the program and prepares its options. It is not proved to work yet.
    pub(super) async fn find(
        config: &Config,
        environment: &Environment,
        paths: &Paths,
    ) -> Result<Self> {
        let program = located("bwrap", environment).ok_or_else(|| {
            fault(
                "the program `bwrap` is in no folder of `PATH`".to_owned(),
                "install it, for instance with `apt-get install bubblewrap`",
            )
        })?;
        let warden = Warden::load().map_err(|error| broken(&error))?;
        let warden = warden.ok_or_else(|| {
            fault(
                "this host was built without the program that watches the sandbox".to_owned(),
                "build it for Linux on x86_64 or aarch64, with a linker, or set \
                 `security.sandbox.backend` to `\"landlock\"`",
            )
        })?;
        Ok(Self {
            version: version_of(&program, &["--version"]).await,
            program,
            allow_network: config.sandbox.allow_network.value,
            warden,
            options: options_of(config, paths),
        })
    }

    /// Prepares one command.
    pub(super) fn prepare(&self, target: Target) -> Result<Prepared> {
        let mut launch = spawner::launch(&self.program);
        for option in &self.options {
            launch.arg(option);
        }
        launch.arg("--chdir").arg(&target.folder).arg("--");
        // The warden and the command itself are no subprocesses.
        let processes = target.limits.subprocesses.saturating_add(2);
        let warden = self.warden.attach(&mut launch, target, Some(processes));
        Ok(Prepared {
            launch,
            warden: Some(warden.map_err(|error| broken(&error))?),
        })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        vec![
            "files: only the granted paths, with `/tmp`, `/proc` and `/dev` of its own".to_owned(),
            if self.allow_network {
                "network: allowed by `allow_network`".to_owned()
            } else {
                "network: none".to_owned()
            },
            "processes: sees and reaches only its own; all end with the command".to_owned(),
        ]
    }

    /// The error for a sandbox that ended by itself, from what it wrote.
    pub(super) fn failure(complaint: &str) -> RuntimeError {
        let complaint = complaint.trim();
        let reason = complaint.strip_prefix("bwrap: ").unwrap_or(complaint);
        let forbidden = [
            "uid map",
            "RTM_NEWADDR",
            "RTM_NEWLINK",
            "namespace",
            "Creating new",
            "setting up",
        ];
        let help = if forbidden.iter().any(|sign| reason.contains(sign)) {
            NAMESPACES_HELP
        } else if reason.contains("proc") {
            "in a container, start it so that `/proc` is not masked, for instance with \
             `--security-opt systempaths=unconfined`; or set `security.sandbox.backend` to \
             `\"landlock\"`"
        } else {
            "see what `bwrap --unshare-all --ro-bind / / true` says on this machine, or set \
             another `security.sandbox.backend`"
        };
        fault(
            match reason {
                "" => "it ended without a word".to_owned(),
                reason => reason.to_owned(),
            },
            help,
        )
    }
}

fn options_of(config: &Config, paths: &Paths) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    let mut push = |parts: &[&OsStr]| options.extend(parts.iter().map(|part| (*part).to_owned()));
    let plain = |text: &'static str| OsStr::new(text);
    for option in [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ] {
        push(&[plain(option)]);
    }
    let network = config.sandbox.allow_network.value;
    if !network {
        push(&[plain("--unshare-net")]);
    }
    for option in ["--new-session", "--die-with-parent", "--as-pid-1"] {
        push(&[plain(option)]);
    }
    push(&[plain("--cap-drop"), plain("ALL")]);
    push(&[plain("--hostname"), plain("sandbox")]);
    // Files of `/proc/sys` belong to root, and a host that is root maps to it: without
    // capabilities it could still change settings of the whole machine there.
    push(&[plain("--proc"), plain("/proc")]);
    push(&[plain("--remount-ro"), plain("/proc")]);
    push(&[plain("--dev"), plain("/dev")]);
    push(&[plain("--remount-ro"), plain("/dev")]);
    // Files in memory count as memory: together they are no more than a process may have.
    let size = OsString::from(config.resources.max_memory_bytes.value.to_string());
    let in_memory = ["/dev/shm", "/tmp"];
    for folder in in_memory
        .iter()
        .filter(|folder| **folder != "/tmp" || paths.tmp)
    {
        push(&[
            plain("--perms"),
            plain("1777"),
            plain("--size"),
            size.as_os_str(),
            plain("--tmpfs"),
            plain(folder),
        ]);
    }
    for grant in paths.mounts() {
        let bind = if grant.writable {
            "--bind-try"
        } else {
            "--ro-bind-try"
        };
        push(&[plain(bind), grant.real.as_os_str(), grant.real.as_os_str()]);
    }
    // A path that was written through a link stays usable, where nothing is in its place.
    for grant in paths
        .granted
        .iter()
        .filter(|grant| grant.path != grant.real)
    {
        if !grant.path.parent().is_some_and(|parent| paths.show(parent)) {
            push(&[
                plain("--symlink"),
                grant.real.as_os_str(),
                grant.path.as_os_str(),
            ]);
        }
    }
    if network && let Some(resolver) = paths.resolver() {
        push(&[
            plain("--ro-bind-try"),
            resolver.as_os_str(),
            resolver.as_os_str(),
        ]);
    }
    // What lies between the granted paths is the sandbox's own, and nobody's to write.
    push(&[plain("--remount-ro"), plain("/")]);
    options
}

fn fault(reason: String, help: &str) -> RuntimeError {
    RuntimeError::Sandbox {
        sandbox: NAME,
        reason,
        help: help.to_owned(),
    }
}

fn broken(error: &io::Error) -> RuntimeError {
    fault(
        format!("it can not be prepared: {error}"),
        "see whether this process is short of memory or open files",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_that_the_system_forbids_says_which_settings_allow_it() {
        for complaint in [
            "bwrap: setting up uid map: Permission denied\n",
            "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
            "bwrap: No permissions to create new namespace, likely because the kernel does not \
             allow non-privileged user namespaces.",
            "bwrap: Creating new namespace failed: Operation not permitted",
        ] {
            let error = Bubblewrap::failure(complaint);
            assert!(error.help().unwrap().contains("sysctl"), "{complaint}");
            assert!(!error.to_string().contains("bwrap: "), "{error}");
        }
    }
}
