//! Engines that are not there, not ours to use, not engines, or silent: each is an error
//! within seconds that says what to do.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use prx_host::config::{Config, Environment};
use prx_host::{
    DockerAdapter, Ending, Execution, Health, Program, RuntimeAdapter as _, RuntimeError,
    docker_health,
};
use prx_tests::containers::{Kind, LONG, Yard};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::own::{Engine, yard_on};

/// Why that engine can not be used, as an error and as the doctor says it.
async fn refused(yard: &Yard) -> Result<(String, String)> {
    let connecting = tokio::time::timeout(LONG, yard.adapter());
    let error = connecting.await.context("it hangs")?.err();
    let error = error.context("it can be used")?;
    let error = error.downcast::<RuntimeError>()?;
    ensure!(
        matches!(error, RuntimeError::Unavailable { .. }),
        "{error:?}"
    );
    let health = docker_health(&yard.config()?, &yard.environment()).await;
    ensure!(!health.usable && health.notes.len() == 1, "{health:?}");
    ensure!(error.to_string().ends_with(&health.notes[0]), "{health:?}");
    ensure!(health.help == error.help(), "{health:?}");
    Ok((error.to_string(), error.help().context("no help")?))
}

#[tokio::test]
async fn a_good_engine_is_told_by_its_version_and_its_ways() -> Result<()> {
    let yard = Yard::new()?;
    let health: Health = docker_health(&yard.config()?, &yard.environment()).await;
    assert!(health.usable, "{health:?}");
    let version = health.version.context("a version")?;
    let kind = Kind::given()?;
    let name = if kind.is_podman() {
        "Podman "
    } else {
        "Docker "
    };
    assert!(
        version.starts_with(name) && version.contains("API 1."),
        "{version}"
    );
    let notes = health.notes.join("\n");
    assert!(
        notes.contains(&yard.socket.display().to_string()),
        "{notes}"
    );
    assert!(notes.contains("control groups v"), "{notes}");
    assert_eq!(notes.contains("rootless: "), kind.is_rootless(), "{notes}");
    let unlimited = notes.matches("containers go without that limit").count();
    let expected = if kind.enforces_limits() { 0 } else { 3 };
    assert_eq!(unlimited, expected, "{notes}");
    assert!(yard.adapter().await?.is_available().await);
    Ok(())
}

#[tokio::test]
async fn an_engine_whose_init_program_is_missing_goes_without() -> Result<()> {
    // Docker says so beforehand, and to hide a file takes root.
    if Kind::given()? != Kind::Podman {
        return Ok(());
    }
    let engine = Engine::start_without(Some("/usr/libexec/podman")).await?;
    let engine = engine.context("it is Podman")?;
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    for code in [0, 7] {
        let line = format!("tr '\\0' ' ' < /proc/1/cmdline; exit {code}");
        let execution = Execution::new(Program::Shell(&line), &none, LONG);
        let output = adapter.run(execution).await?;
        assert_eq!(output.exit_code, Some(code), "{output:?}");
        ensure!(output.stdout.bytes.starts_with(b"sh -c "), "{output:?}");
    }
    let execution = Execution::new(Program::Shell("sleep 1000"), &none, LONG / 20);
    assert_eq!(adapter.run(execution).await?.ending, Ending::TimedOut);
    yard.emptied().await
}

#[tokio::test]
async fn a_socket_that_is_missing_is_said_to_be() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.socket = yard.beside("missing.sock");
    let (error, help) = refused(&yard).await?;
    assert!(error.contains("there is no socket"), "{error}");
    assert!(help.contains("systemctl start docker"), "{help}");
    Ok(())
}

#[tokio::test]
async fn a_socket_at_which_nobody_listens_is_said_to_be() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.socket = yard.beside("left.sock");
    drop(UnixListener::bind(&yard.socket)?);
    let (error, _) = refused(&yard).await?;
    assert!(error.contains("nobody listens"), "{error}");
    Ok(())
}

#[test]
fn a_socket_that_is_not_permitted_is_said_to_be() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.socket = yard.beside("private.sock");
    let _listener = UnixListener::bind(&yard.socket)?;
    fs::set_permissions(&yard.socket, fs::Permissions::from_mode(0o000))?;
    // Root may open anything, but for the capability; a thread has its own.
    let asked = std::thread::spawn(move || -> Result<(String, String)> {
        let mut sets = capabilities(None)?;
        let all = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        sets.effective.remove(all);
        set_capabilities(None, sets)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(refused(&yard))
    });
    let (error, help) = asked.join().expect("it does not panic")?;
    assert!(error.contains("may not use the socket"), "{error}");
    assert!(help.contains("group `docker`"), "{help}");
    Ok(())
}

/// Answers every request with these bytes, or never.
fn answering(socket: &Path, answer: Option<&'static str>) -> Result<()> {
    let listener = UnixListener::bind(socket)?;
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else {
                return;
            };
            match answer {
                // Open, and silent.
                None => held.push(connection),
                Some(answer) => {
                    let mut request = [0; 4096];
                    let _ = connection.read(&mut request);
                    let _ = connection.write_all(answer.as_bytes());
                }
            }
        }
    });
    Ok(())
}

#[tokio::test]
async fn what_never_answers_is_given_up() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.socket = yard.beside("silent.sock");
    answering(&yard.socket, None)?;
    let (error, help) = refused(&yard).await?;
    assert!(error.contains("did not answer within"), "{error}");
    assert!(help.contains("systemctl restart docker"), "{help}");
    Ok(())
}

#[tokio::test]
async fn what_is_no_engine_is_said_to_be_none() -> Result<()> {
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ] {
        let mut yard = Yard::new()?;
        yard.socket = yard.beside("other.sock");
        answering(&yard.socket, Some(answer))?;
        let (error, _) = refused(&yard).await?;
        assert!(
            error.contains("does not answer as an engine does"),
            "{error}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_engine_that_is_too_old_is_said_to_be() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.socket = yard.beside("old.sock");
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\
                  Connection: close\r\n\r\n{\"ApiVersion\":\"1.24\"}\r\n";
    answering(&yard.socket, Some(answer))?;
    let (error, help) = refused(&yard).await?;
    assert!(error.contains("too old: its API is 1.24"), "{error}");
    assert!(help.contains("Docker 20.10"), "{help}");
    Ok(())
}

#[tokio::test]
async fn the_engine_that_the_variable_names_is_used_unless_one_is_written() -> Result<()> {
    let yard = Yard::new()?;
    let home = yard.environment();
    let config = Config::default_with(&home).map(|loaded| loaded.config);
    let config = config.map_err(|faults| anyhow::anyhow!("{faults}"))?;
    let named = format!("unix://{}", yard.socket.display());
    let health = docker_health(&config, &home.clone().with("DOCKER_HOST", named)).await;
    assert!(health.usable, "{health:?}");
    let wrong = home.with("DOCKER_HOST", "unix:///no/such/socket");
    let health = docker_health(&config, &wrong).await;
    assert!(!health.usable, "{health:?}");
    let health = docker_health(&yard.config()?, &wrong).await;
    assert!(health.usable, "what is written wins: {health:?}");
    Ok(())
}

#[tokio::test]
async fn a_sandbox_of_containers_fails_as_a_sandbox() -> Result<()> {
    let mut yard = Yard::new()?;
    let environment: Environment = yard.environment();
    let adapter = DockerAdapter::for_sandbox(&yard.config()?, &environment).await?;
    assert!(adapter.is_available().await);
    yard.socket = yard.beside("missing.sock");
    let failed = DockerAdapter::for_sandbox(&yard.config()?, &environment).await;
    let error = failed.err().context("it can be used")?;
    ensure!(
        matches!(
            error,
            RuntimeError::Sandbox {
                sandbox: "docker",
                ..
            }
        ),
        "{error:?}"
    );
    Ok(())
}
