//! Which sandbox is used: the named one, or the strongest that works here.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::bubblewrap::Bubblewrap;
use super::firejail::Firejail;
use super::landlock::{self, Landlock};
use super::paths::Paths;
use super::{Sandbox, Target};
use crate::config::{Config, Environment, SandboxBackend};
use crate::runtime::native::TRIES;
use crate::runtime::native::environment::Variables;
use crate::runtime::native::group::End;
use crate::runtime::native::limits::Limits;
use crate::runtime::native::process::{Bounds, Over, Ran, run};
use crate::runtime::{Result, RuntimeError};

/// How long a sandbox may take to run nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// From the strongest on.
pub(in crate::runtime::native) const ORDER: [SandboxBackend; 3] = [
    SandboxBackend::Bubblewrap,
    SandboxBackend::Landlock,
    SandboxBackend::Firejail,
];

/// The same for a configuration and what the kernel has of Landlock: without ABI 4 that
/// leaves the network open, which firejail does not.
fn ranked(allow_network: bool, abi: i32) -> [SandboxBackend; 3] {
    let [first, landlock, last] = ORDER;
    if allow_network || abi >= 4 {
        ORDER
    } else {
        [first, last, landlock]
    }
}

/// Takes the configured sandbox, or with `auto` the strongest that works, and logs it.
pub(in crate::runtime::native) async fn choose(
    config: &Config,
    environment: &Environment,
) -> Result<Sandbox> {
    match config.sandbox.backend.value {
        None => {}
        Some(SandboxBackend::None) => {
            tracing::warn!(
                "native commands run without a sandbox: `security.sandbox.backend` is `\"none\"`"
            );
            return Ok(Sandbox::None);
        }
        Some(named) => {
            let sandbox = try_out(named, config, environment).await?;
            log(&sandbox, "configured");
            return Ok(sandbox);
        }
    }
    let mut reasons = BTreeSet::new();
    for candidate in ranked(config.sandbox.allow_network.value, landlock::abi()) {
        match try_out(candidate, config, environment).await {
            Ok(sandbox) => {
                log(&sandbox, "the strongest that works here");
                return Ok(sandbox);
            }
            Err(RuntimeError::Sandbox {
                sandbox, reason, ..
            }) => {
                reasons.insert(format!("`{sandbox}`: {reason}"));
            }
            // Wrong paths are wrong for all.
            Err(error) => return Err(error),
        }
    }
    let reasons: Vec<String> = reasons.into_iter().collect();
    tracing::warn!(
        "native commands run without a sandbox, for none works here ({}); set \
         `security.sandbox.backend = \"none\"` to accept that, or see `prx-host doctor`",
        reasons.join("; ")
    );
    Ok(Sandbox::None)
}

fn log(sandbox: &Sandbox, why: &str) {
    let version = sandbox.version().unwrap_or_default();
    tracing::info!(
        "native commands run in the sandbox `{}` ({version}), {why}",
        sandbox.name()
    );
    if let Sandbox::Landlock(landlock, _) = sandbox {
        let gaps = landlock.gaps().join("; ");
        tracing::warn!("the sandbox `landlock` does not hold everything: {gaps}");
    }
    for danger in sandbox.dangers() {
        tracing::warn!("{danger}");
    }
}

/// One sandbox, proved to work by running something in it.
pub(in crate::runtime::native) async fn try_out(
    backend: SandboxBackend,
    config: &Config,
    environment: &Environment,
) -> Result<Sandbox> {
    let paths = Paths::of(config)?;
    let sandbox = match backend {
        SandboxBackend::None => return Ok(Sandbox::None),
        SandboxBackend::Docker => {
            return Err(RuntimeError::Sandbox {
                sandbox: "docker",
                reason: "it is the Docker backend that runs commands in containers".to_owned(),
                help: "build the host with the feature `docker`, or set \
                       `security.sandbox.backend` to `\"auto\"`"
                    .to_owned(),
            });
        }
        SandboxBackend::Landlock => {
            let landlock = Landlock::try_out(config, &paths)?;
            return Ok(Sandbox::Landlock(landlock, paths));
        }
        SandboxBackend::Bubblewrap => {
            let bubblewrap = Bubblewrap::find(config, environment, &paths).await?;
            Sandbox::Bubblewrap(bubblewrap, paths)
        }
        SandboxBackend::Firejail => {
            let firejail = Firejail::find(config, environment, &paths).await?;
            Sandbox::Firejail(firejail, paths)
        }
    };
    prove(sandbox, config).await
}

async fn prove(sandbox: Sandbox, config: &Config) -> Result<Sandbox> {
    let mut tries = 1;
    loop {
        let ran = try_once(&sandbox, config).await?;
        let complaint = match ran {
            Ok(ran) if ran.over == Over::Ended(End::Exited(0)) => return Ok(sandbox),
            Ok(ran) if tries < TRIES && sandbox.may_be_tried_again(&ran) => {
                tries += 1;
                continue;
            }
            Ok(ran) if ran.over == Over::TimedOut => {
                format!("it ran nothing within {} s", PATIENCE.as_secs())
            }
            Ok(ran) => ran.stderr.text(),
            Err(error) => error.to_string(),
        };
        return Err(sandbox.failure(&complaint));
    }
}

/// Runs nothing in a sandbox.
async fn try_once(sandbox: &Sandbox, config: &Config) -> Result<io::Result<Ran>> {
    let target = Target {
        // Without arguments, not even its name, the warden runs nothing.
        file: PathBuf::new(),
        argv: Vec::new(),
        variables: Variables::none(),
        folder: PathBuf::from("/"),
        limits: Limits::of(&config.resources),
    };
    let bounds = Bounds {
        stdin: None,
        timeout: PATIENCE,
        cancel: None,
        events: None,
        max_output: 4096,
    };
    Ok(run(sandbox.prepare(target)?, bounds).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landlock_comes_last_where_it_leaves_a_network_open_that_is_not_allowed() {
        use SandboxBackend::{Bubblewrap, Firejail, Landlock};
        assert_eq!(ranked(false, 3), [Bubblewrap, Firejail, Landlock]);
        assert_eq!(ranked(false, 4), [Bubblewrap, Landlock, Firejail]);
        assert_eq!(ranked(true, 3), [Bubblewrap, Landlock, Firejail]);
    }
}
