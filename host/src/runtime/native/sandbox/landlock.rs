//! The sandbox `landlock`: the kernel narrows what one process and its children may do.
//!
//! Nothing has to be installed and no namespace is made, so it is fast and works where
//! user namespaces are forbidden. What it holds depends on the kernel, see
//! [`Landlock::notes`]. It never gives a `/tmp`, a `/proc` or a network of one's own:
//! `/tmp` among the writable paths is the one of the machine, `/proc` stays closed.
//!
//! Since there is no PID namespace, a program that starts a session of its own is out of
//! reach when the command ends.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
    Scope,
};

use super::paths::Paths;
use super::{Target, direct};
use crate::config::Config;
use crate::runtime::native::process::Prepared;
use crate::runtime::{Result, RuntimeError};

/// The newest interface that this host makes use of.
const WANTED: ABI = ABI::V6;

/// Devices that programs expect and that give nothing away.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What the running kernel offers.
#[derive(Debug)]
pub(in crate::runtime::native) struct Landlock {
    abi: i32,
    allow_network: bool,
}

impl Landlock {
    /// Asks the kernel, and proves that it enforces by being refused.
    pub(super) fn try_out(config: &Config, paths: &Paths) -> Result<Self> {
        let abi = abi();
        let landlock = Self {
            abi,
            allow_network: config.sandbox.allow_network.value,
        };
        if abi < 1 {
            return Err(fault(
                "the kernel has no Landlock, or it is not switched on",
            ));
        }
        let rules = landlock.rules(paths)?;
        let proof = std::thread::spawn(move || {
            let status = rules.restrict_self().map_err(|error| error.to_string())?;
            match status.ruleset {
                RulesetStatus::NotEnforced => Err("the kernel enforces nothing of it".to_owned()),
                _ if std::fs::read_dir("/").is_ok() => {
                    Err("it was accepted, and `/` could still be read".to_owned())
                }
                _ => Ok(()),
            }
        });
        match proof.join() {
            Ok(Ok(())) => Ok(landlock),
            Ok(Err(reason)) => Err(fault(&reason)),
            Err(_) => Err(fault("the trial broke down")),
        }
    }

    pub(super) fn version(&self) -> String {
        format!("Landlock ABI {}", self.abi)
    }

    /// What holds here and what does not.
    pub(in crate::runtime::native) fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "files: only the granted paths and the machine's `/tmp` where that is granted; \
             `/proc` is closed, and with it `/dev/stdout` and the like"
                .to_owned(),
        ];
        notes.push(match (self.allow_network, self.abi) {
            (true, _) => "network: allowed by `allow_network`".to_owned(),
            (false, 4..) => {
                "network: no TCP; UDP and sockets in the file system are not held".to_owned()
            }
            (false, _) => "network: not held, that needs Linux 6.7 (ABI 4)".to_owned(),
        });
        notes.push(if self.abi >= 6 {
            "processes: no signals and no abstract sockets to others; a program that starts a \
             session of its own outlives its command"
                .to_owned()
        } else {
            "processes: others can be signalled, which needs Linux 6.12 (ABI 6) to prevent; a \
             program that starts a session of its own outlives its command"
                .to_owned()
        });
        notes
    }

    /// What of that does not hold, which other sandboxes do hold.
    pub(super) fn gaps(&self) -> Vec<String> {
        // All but that of files, and that of a network that is allowed.
        self.notes()
            .split_off(if self.allow_network { 2 } else { 1 })
    }

    pub(super) fn prepare(&self, target: Target, paths: &Paths) -> Result<Prepared> {
        let rules = Option::<OwnedFd>::from(self.rules(paths)?)
            .ok_or_else(|| fault("the kernel enforces nothing of it"))?;
        let mut launch = direct(target);
        let restrict = move || {
            let rules = rules.as_raw_fd();
            // SAFETY: no pointers.
            let answers = unsafe {
                [
                    libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into(),
                    libc::syscall(libc::SYS_landlock_restrict_self, rules, 0),
                ]
            };
            match answers {
                [0, 0] => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        // SAFETY: the step only makes system calls.
        unsafe { launch.step(restrict) };
        Ok(Prepared {
            launch,
            warden: None,
        })
    }

    fn rules(&self, paths: &Paths) -> Result<RulesetCreated> {
        self.try_rules(paths)
            .map_err(|error| fault(&error.to_string()))
    }

    fn try_rules(&self, paths: &Paths) -> Result<RulesetCreated, landlock::RulesetError> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(WANTED))?
            .scope(Scope::from_all(WANTED))?;
        let ruleset = if self.allow_network {
            ruleset
        } else {
            ruleset.handle_access(AccessNet::from_all(WANTED))?
        };
        let mut created = ruleset.create()?;
        for grant in &paths.granted {
            created = allow(created, &grant.real, grant.writable)?;
        }
        if paths.tmp {
            created = allow(created, Path::new("/tmp"), true)?;
        }
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        for path in DEVICES {
            created = add(created, Path::new(path), device)?;
        }
        Ok(created)
    }
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    writable: bool,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let access = if writable {
        // Devices are reached through `/dev` alone.
        AccessFs::from_all(WANTED) & !AccessFs::IoctlDev
    } else {
        AccessFs::from_read(WANTED)
    };
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(WANTED)
    };
    add(rules, path, access)
}

/// A path that is gone grants nothing.
fn add(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    match PathFd::new(path) {
        Ok(file) => rules.add_rule(PathBeneath::new(file, access)),
        Err(_) => Ok(rules),
    }
}

/// The version of the interface that the kernel offers; 0: none.
pub(super) fn abi() -> i32 {
    // The crate tells no number; the system call with this flag does nothing else.
    const VERSION_FLAG: libc::c_uint = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel reads no memory.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            nothing,
            0_usize,
            VERSION_FLAG,
        )
    };
    i32::try_from(answer).unwrap_or_default().max(0)
}

fn fault(reason: &str) -> RuntimeError {
    RuntimeError::Sandbox {
        sandbox: "landlock",
        reason: reason.to_owned(),
        help: "use Linux 5.13 or newer with `landlock` in the kernel's `lsm=` list, or set \
               `security.sandbox.backend` to `\"bubblewrap\"`"
            .to_owned(),
    }
}
