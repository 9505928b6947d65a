//! The sandbox `firejail`: a set-user-ID program that hides what is not granted.
//!
//! Firejail takes away from a whole machine where bubblewrap builds up from nothing, so it
//! is the weakest of the three: what is made at the top of the file system after the host
//! started is visible to commands. The command runs under the [warden](super::warden) here
//! as well, but not as the first process: a command that kills all it can reach also kills
//! the warden, and is then said to be killed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::paths::Paths;
use super::warden::Warden;
use super::{Target, located, version_of};
use crate::config::{Config, Environment};
use crate::runtime::native::process::Prepared;
use crate::runtime::native::spawner;
use crate::runtime::{Result, RuntimeError};

/// What `firejail` itself takes care of, or what is nothing without a process.
const SPECIAL: [&str; 6] = ["/proc", "/sys", "/dev", "/tmp", "/run", "/lost+found"];

const RUN: &str = "/run";

/// Firejail with everything that is the same for each command.
#[derive(Debug)]
pub(in crate::runtime::native) struct Firejail {
    program: PathBuf,
    pub(in crate::runtime::native) version: String,
    warden: Warden,
    allow_network: bool,
    options: Vec<OsString>,
}

impl Firejail {
    /// Finds the program and prepares its options. It is not proved to work yet.
    pub(super) async fn find(
        config: &Config,
        environment: &Environment,
        paths: &Paths,
    ) -> Result<Self> {
        let program = located("firejail", environment).ok_or_else(|| {
            fault(
                "the program `firejail` is in no folder of `PATH`".to_owned(),
                "install it, for instance with `apt-get install firejail`",
            )
        })?;
        let warden = Warden::load().map_err(|error| broken(&error))?;
        let warden = warden.ok_or_else(|| {
            fault(
                "this host was built without the program that watches the sandbox".to_owned(),
                "build it for Linux on x86_64 or aarch64, with a linker",
            )
        })?;
        Ok(Self {
            version: version_of(&program, &["--version"]).await,
            program,
            warden,
            allow_network: config.sandbox.allow_network.value,
            options: options_of(config, paths).map_err(|error| broken(&error))?,
        })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        vec![
            "files: hides what is not granted; what is made in `/` later is visible".to_owned(),
            if self.allow_network {
                "network: allowed by `allow_network`".to_owned()
            } else {
                "network: none".to_owned()
            },
            "processes: sees and reaches only its own; all end with the command".to_owned(),
        ]
    }

    /// Prepares one command.
    pub(super) fn prepare(&self, target: Target) -> Result<Prepared> {
        let mut launch = spawner::launch(&self.program);
        for option in &self.options {
            launch.arg(option);
        }
        launch.arg("--").folder(&target.folder);
        let warden = self.warden.attach(&mut launch, target, None);
        Ok(Prepared {
            launch,
            warden: Some(warden.map_err(|error| broken(&error))?),
        })
    }

    /// The error for a sandbox that ended by itself, from what it wrote.
    pub(super) fn failure(complaint: &str) -> RuntimeError {
        fault(
            match complaint.trim() {
                "" => "it ended without a word".to_owned(),
                reason => reason.to_owned(),
            },
            "see what `firejail --noprofile --net=none true` says on this machine, or set \
             another `security.sandbox.backend`",
        )
    }
}

/// Whether a complaint is about a mount that somebody else made at the same moment, for
/// instance a container: Firejail takes it for its own, and gives up.
pub(super) fn is_chance(complaint: &str) -> bool {
    complaint.contains("last mount name") && complaint.contains("invalid")
}

fn options_of(config: &Config, paths: &Paths) -> io::Result<Vec<OsString>> {
    let mut options: Vec<OsString> = [
        "--quiet",
        "--noprofile",
        "--deterministic-shutdown",
        "--keep-fd=all",
        "--caps.drop=all",
        "--nonewprivs",
        "--private-dev",
        "--ipc-namespace",
        "--hostname=sandbox",
    ]
    .map(OsString::from)
    .into();
    if !config.sandbox.allow_network.value {
        options.push("--net=none".into());
    }
    let mut push = |option: &str, path: &Path| {
        let mut text = OsString::from(option);
        text.push(path);
        options.push(text);
    };
    let mut tops: Vec<PathBuf> = fs::read_dir("/")?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| !path.is_symlink())
        .collect();
    tops.sort();
    for top in &tops {
        let is_special = SPECIAL.iter().any(|special| top == Path::new(special));
        let mut inside = paths
            .granted
            .iter()
            .filter(|grant| grant.real.starts_with(top));
        if inside.next().is_none() && !is_special {
            push("--blacklist=", top);
        }
    }
    for grant in &paths.granted {
        // Only what lies deeper can be picked out; the rest of its top folder goes.
        if !grant.pinned
            && grant.real.components().count() > 2
            && !is_within_granted_top(paths, &grant.real)
        {
            push("--whitelist=", &grant.real);
        }
        push(
            if grant.writable {
                "--read-write="
            } else {
                "--read-only="
            },
            &grant.real,
        );
    }
    // The sockets of services and agents are in `/run`. Firejail can not do without it: to
    // pick something out hides the rest, even if that does not exist.
    let is_granted = |path: &Path| paths.granted.iter().any(|grant| grant.real == path);
    if !is_granted(Path::new(RUN)) {
        let resolver = config.sandbox.allow_network.value.then(|| paths.resolver());
        let resolver = resolver.flatten().filter(|file| file.starts_with(RUN));
        push(
            "--whitelist=",
            &resolver.unwrap_or_else(|| Path::new(RUN).join("nothing-of-it")),
        );
    }
    let keeps_tmp = paths
        .granted
        .iter()
        .any(|grant| grant.real.starts_with("/tmp"));
    match (paths.tmp, keeps_tmp) {
        (_, true) => {}
        (true, false) => options.push("--private-tmp".into()),
        (false, false) => options.push("--blacklist=/tmp".into()),
    }
    options.extend(
        config
            .sandbox
            .firejail_args
            .value
            .iter()
            .map(OsString::from),
    );
    Ok(options)
}

fn is_within_granted_top(paths: &Paths, real: &Path) -> bool {
    let top: PathBuf = real.components().take(2).collect();
    paths.granted.iter().any(|grant| grant.real == top)
}

fn fault(reason: String, help: &str) -> RuntimeError {
    RuntimeError::Sandbox {
        sandbox: "firejail",
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
