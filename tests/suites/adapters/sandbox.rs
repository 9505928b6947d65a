//! What a sandboxed command must not be able to do. Each is first shown to work without a
//! sandbox, so that a test can not pass because the deed is impossible anyway.

use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::process::{Child, Stdio};

use anyhow::Result;
use prx_host::{ExecutionOutput, RuntimeError};

use crate::fixture::{Command, Fixture as _, LONG, Setup, Stage, marker};
use crate::native::{Native, PLAYER, marked};

pub const SANDBOXES: [&str; 3] = ["bubblewrap", "landlock", "firejail"];

async fn play(stage: &Stage, args: &[&str]) -> Result<ExecutionOutput> {
    let command = Command {
        program: PLAYER.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    };
    Ok(stage
        .adapter
        .run(command.execution(&HashMap::new()))
        .await?)
}

pub async fn shell(stage: &Stage, line: &str) -> Result<ExecutionOutput> {
    Ok(stage
        .adapter
        .execute(line, &[], &HashMap::new(), None, LONG)
        .await?)
}

/// Runs a deed without a sandbox, where it succeeds, and in each, where it must not.
async fn is_held(
    sandboxes: &[&'static str],
    setup: &Setup<'_>,
    deed: impl Fn(&Stage) -> Result<Vec<String>>,
) -> Result<()> {
    for sandbox in ["none"].iter().chain(sandboxes) {
        let stage = Stage::new(&Native::new(sandbox), setup).await?;
        let args = deed(&stage)?;
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = play(&stage, &args).await?;
        let held = !output.is_success();
        assert_eq!(held, *sandbox != "none", "{sandbox}: {output:?}");
    }
    Ok(())
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

#[tokio::test]
async fn a_secret_beside_the_workspace_can_not_be_read() -> Result<()> {
    is_held(&SANDBOXES, &Setup::default(), |stage| {
        let secret = stage.outside().join("secret");
        fs::write(&secret, "secret")?;
        Ok(owned(&["read", &secret.display().to_string()]))
    })
    .await
}

#[tokio::test]
async fn a_secret_is_not_reached_through_a_link_in_the_workspace() -> Result<()> {
    is_held(&SANDBOXES, &Setup::default(), |stage| {
        let secret = stage.outside().join("secret");
        fs::write(&secret, "secret")?;
        std::os::unix::fs::symlink(&secret, stage.workspace.join("link"))?;
        Ok(owned(&["read", "link"]))
    })
    .await
}

#[tokio::test]
async fn nothing_is_written_outside_of_the_granted_paths() -> Result<()> {
    for sandbox in ["none"].iter().chain(&SANDBOXES) {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let target = stage.outside().join("target");
        let output = play(&stage, &["write", &target.display().to_string()]).await?;
        let is_open = *sandbox == "none";
        assert_eq!(fs::exists(&target)?, is_open, "{sandbox}: {output:?}");
        // Firejail lets it write into a folder that vanishes with the command.
        if *sandbox != "firejail" {
            assert_eq!(output.is_success(), is_open, "{sandbox}: {output:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn read_only_paths_can_not_be_written() -> Result<()> {
    for sandbox in SANDBOXES {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        for target in ["/usr/prx-test", "/etc/prx-test"] {
            let output = play(&stage, &["write", target]).await?;
            assert_eq!(output.exit_code, Some(1), "{sandbox}: {output:?}");
            assert!(!fs::exists(target)?, "{sandbox}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_workspace_can_be_written() -> Result<()> {
    for sandbox in SANDBOXES {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let output = play(&stage, &["write", "made"]).await?;
        assert!(output.is_success(), "{sandbox}: {output:?}");
        assert_eq!(
            fs::read(stage.workspace.join("made"))?,
            b"written by a command"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_folder_of_temporary_files_is_the_commands_own() -> Result<()> {
    // Landlock has no mounts: there it is the one of the machine.
    for sandbox in ["bubblewrap", "firejail"] {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let theirs = tempfile::Builder::new()
            .prefix("prx-theirs-")
            .tempfile_in("/tmp")?;
        let path = theirs.path().display().to_string();
        let output = play(&stage, &["read", &path]).await?;
        assert_eq!(output.exit_code, Some(1), "{sandbox}: {output:?}");
        let own = format!("/tmp/{}", marker());
        let output = play(&stage, &["write", &own]).await?;
        assert!(output.is_success(), "{sandbox}: {output:?}");
        assert!(!fs::exists(&own)?, "{sandbox}");
    }
    Ok(())
}

#[tokio::test]
async fn a_server_on_loopback_can_not_be_reached() -> Result<()> {
    let server = TcpListener::bind("127.0.0.1:0")?;
    let address = server.local_addr()?.to_string();
    is_held(&SANDBOXES, &Setup::default(), |_| {
        Ok(owned(&["connect", &address]))
    })
    .await
}

#[tokio::test]
async fn a_server_on_loopback_is_reached_where_the_network_is_allowed() -> Result<()> {
    let server = TcpListener::bind("127.0.0.1:0")?;
    let address = server.local_addr()?.to_string();
    for sandbox in SANDBOXES {
        let fixture = Native::new(sandbox).with("allow_network = true");
        let stage = Stage::plain(&fixture).await?;
        let output = play(&stage, &["connect", &address]).await?;
        assert!(output.is_success(), "{sandbox}: {output:?}");
    }
    Ok(())
}

#[tokio::test]
async fn sockets_and_files_of_services_are_not_seen() -> Result<()> {
    for sandbox in ["none"].iter().chain(&SANDBOXES) {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let output = shell(&stage, "ls -A /run").await?;
        let seen = output.stdout.text();
        // Firejail keeps its own folder.
        let others = seen.lines().filter(|name| *name != "firejail").count();
        assert_eq!(others > 0, *sandbox == "none", "{sandbox}: {seen}");
    }
    Ok(())
}

#[tokio::test]
async fn what_decides_the_next_start_of_the_host_can_not_be_changed() -> Result<()> {
    let setup = Setup {
        tables: "[runtime.wasm]\nmodule_path = \"workspace/inner/modules\"\n",
        folders: &["inner/modules"],
        ..Setup::default()
    };
    // Landlock can only add rights.
    for sandbox in ["none", "bubblewrap", "firejail"] {
        let fixture = Native::new(sandbox).with("writable_paths = [\"/tmp\", \".\"]");
        let stage = Stage::new(&fixture, &setup).await?;
        let is_open = sandbox == "none";
        for deed in [
            "echo >> ../config.toml",
            "mv ../config.toml ../other.toml && mv ../other.toml ../config.toml",
            "echo > inner/modules/module.wasm",
            "mv inner/modules inner/others && mv inner/others inner/modules",
            "mv inner outer && mv outer inner",
        ] {
            // Which the host warns of.
            let is_open = is_open || (sandbox == "firejail" && deed.starts_with("mv inner outer"));
            let output = shell(&stage, deed).await?;
            assert_eq!(
                output.is_success(),
                is_open,
                "{sandbox}: {deed}: {output:?}"
            );
        }
        let output = shell(&stage, "echo > inner/beside && echo > ../beside").await?;
        assert!(output.is_success(), "{sandbox}: {output:?}");
    }
    Ok(())
}

/// A process of the host with a secret among its variables.
struct Bystander(Child);

impl Bystander {
    fn start(marker: &str) -> Result<Self> {
        let mut child = std::process::Command::new(PLAYER);
        child
            .args(["sleep", marker])
            .env("API_KEY", "planted-secret");
        Ok(Self(child.stdout(Stdio::null()).spawn()?))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn processes_of_the_host_are_not_seen_nor_their_variables() -> Result<()> {
    let marker = marker();
    let bystander = Bystander::start(&marker)?;
    let pid = bystander.0.id();
    let list = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null; true";
    for sandbox in ["none"].iter().chain(&SANDBOXES) {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let output = shell(&stage, list).await?;
        let seen = output.stdout.text();
        let is_open = *sandbox == "none";
        assert_eq!(seen.contains(&marker), is_open, "{sandbox}");
        assert_eq!(seen.contains("planted-secret"), is_open, "{sandbox}");
        let memory = format!("/proc/{pid}/environ");
        let output = play(&stage, &["read", &memory]).await?;
        assert_eq!(output.is_success(), is_open, "{sandbox}: {output:?}");
    }
    Ok(())
}

#[tokio::test]
async fn processes_of_the_host_can_not_be_signalled() -> Result<()> {
    for sandbox in SANDBOXES {
        let marker = marker();
        let bystander = Bystander::start(&marker)?;
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let pid = bystander.0.id().to_string();
        let output = play(&stage, &["kill", &pid, "9"]).await?;
        assert_eq!(output.exit_code, Some(1), "{sandbox}: {output:?}");
        // Every process it may reach: its own at most.
        let _ = play(&stage, &["kill", "-1", "9"]).await;
        assert_eq!(marked(&marker)?.len(), 1, "{sandbox}");
    }
    Ok(())
}

#[tokio::test]
async fn variables_are_in_no_arguments_that_others_can_read() -> Result<()> {
    for sandbox in SANDBOXES {
        let fixture = Native::new(sandbox);
        let stage = Stage::plain(&fixture).await?;
        let marker = marker();
        let args = ["sleep".to_owned(), marker.clone()];
        let env = HashMap::from([("API_KEY".to_owned(), format!("{marker}secret"))]);
        let call = stage.adapter.execute(PLAYER, &args, &env, None, LONG);
        let look = async {
            let mut lines = Vec::new();
            while !lines.iter().any(|line: &String| line.contains(PLAYER)) {
                tokio::task::yield_now().await;
                lines = fixture.running(&marker)?;
            }
            anyhow::Ok(lines)
        };
        tokio::select! {
            output = call => panic!("{output:?}"),
            lines = look => {
                let lines = lines?.join("\n");
                assert!(!lines.contains("secret"), "{sandbox}: {lines}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_variable_does_not_work_on_the_sandbox_itself() -> Result<()> {
    for sandbox in SANDBOXES {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let env = HashMap::from([("LD_PRELOAD".to_owned(), "/no/such/library.so".to_owned())]);
        let output = stage.adapter.execute("true", &[], &env, None, LONG).await?;
        // The loader of each program complains once: of the shell's, never of the sandbox's.
        let complaints = output.stderr.text().matches("cannot be preloaded").count();
        assert!(
            output.is_success() && complaints <= 1,
            "{sandbox}: {output:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_command_has_no_capability() -> Result<()> {
    for sandbox in ["bubblewrap", "firejail"] {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let output = shell(&stage, "grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status").await?;
        let told = output.stdout.text();
        assert_eq!(
            told.matches("0000000000000000").count(),
            3,
            "{sandbox}: {told}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn descriptors_of_the_host_are_not_inherited() -> Result<()> {
    // One that lost its close-on-exec flag, as those have that the host itself inherited.
    let secret = tempfile::tempfile()?;
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty())?;
    for sandbox in ["none"].iter().chain(&SANDBOXES) {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let output = play(&stage, &["descriptors"]).await?;
        assert_eq!(output.stdout.text(), "", "{sandbox}: {output:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_working_folder_that_is_not_granted_is_refused() -> Result<()> {
    for sandbox in SANDBOXES {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let command = Command {
            program: PLAYER.to_owned(),
            args: owned(&["folder"]),
        };
        let env = HashMap::new();
        let mut execution = command.execution(&env);
        execution.working_dir = Some(stage.outside());
        let error = stage.adapter.run(execution).await;
        assert!(
            matches!(error, Err(RuntimeError::WorkingDirectory { .. })),
            "{sandbox}: {error:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_command_that_the_sandbox_does_not_show_is_said_to_be_hidden() -> Result<()> {
    for sandbox in SANDBOXES {
        let stage = Stage::plain(&Native::new(sandbox)).await?;
        let hidden = stage.outside().join("hidden");
        fs::copy("/bin/true", &hidden)?;
        let command = Command {
            program: hidden.display().to_string(),
            args: owned(&["argument"]),
        };
        let error = stage
            .adapter
            .run(command.execution(&HashMap::new()))
            .await
            .unwrap_err();
        let told = format!("{error} {}", error.help().unwrap_or_default());
        assert!(
            told.contains("readonly_paths") && told.contains(sandbox),
            "{told}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_root_folder_is_never_granted() -> Result<()> {
    for sandbox in SANDBOXES {
        let fixture = Native::new(sandbox).with("writable_paths = [\"/tmp\", \"/\"]");
        let error = Stage::plain(&fixture).await.err();
        let error = error.map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains("whole machine"), "{sandbox}: {error}");
    }
    Ok(())
}
