//! Finding an engine and agreeing with it on a version of its language.
//!
//! Invariant: whatever is at the other end, also what never says a word, costs seconds at
//! most and gives an error that says what to do.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};
use hyper::header::HeaderMap;
use tokio::time::timeout;

use super::engine::{Engine, Kind};
use super::faults::{said, unavailable};
use super::plain;
use crate::config::{Config, Environment};
use crate::model::Shown as _;
use crate::runtime::{Result, RuntimeError};

/// For a sign of life.
const PATIENCE: Duration = Duration::from_secs(5);

/// For everything that an engine which lives tells of itself. Podman asks other programs for it,
/// which takes seconds on a slow machine.
const INTRODUCTION: Duration = Duration::from_secs(20);

/// For a single request later on, in seconds; also on a machine with a slow disk.
const REQUEST_SECONDS: u64 = 60;

/// What to do about an engine that is not reached in one of the ways that are spoken.
const FORWARD: &str = "name a socket in `runtime.docker.socket`, or forward the engine's: `ssh \
                       -N -L /tmp/docker.sock:/var/run/docker.sock HOST`, and \
                       `DOCKER_HOST=unix:///tmp/docker.sock`";

/// Docker 20.10 and Podman 4.
const OLDEST: (usize, usize) = (1, 41);

/// Where an engine may answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A socket of this machine.
    Socket(PathBuf),
    /// `host:port`, without encryption.
    Tcp(String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.shown()),
            Self::Tcp(address) => write!(f, "tcp://{address}"),
        }
    }
}

/// An engine that answered.
#[derive(Clone)]
pub(super) struct Connection {
    pub client: Docker,
    /// Another one for the same engine, that shares nothing with the first.
    pub apart: Docker,
    pub address: Address,
    pub engine: Engine,
}

impl Connection {
    /// Whether it is hung up on when a command has left input unread, after all that the command
    /// had to say: a socket of this machine hands out what is in it first. Podman does so.
    pub fn hangs_up_on_input(&self) -> bool {
        self.engine.kind == Kind::Podman && matches!(self.address, Address::Socket(_))
    }
}

/// Asks the first engine that answers. The error is that of the most telling address: one
/// where something is.
pub(super) async fn connect(config: &Config, environment: &Environment) -> Result<Connection> {
    let addresses = addresses(config, environment)?;
    let mut told: Option<RuntimeError> = None;
    for address in &addresses {
        if addresses.len() > 1 && !exists(address) {
            continue;
        }
        match open(address).await {
            Ok(connection) => return Ok(connection),
            Err(error) => told = told.or(Some(error)),
        }
    }
    Err(told.unwrap_or_else(|| {
        let looked: Vec<_> = addresses.iter().map(|at| format!("`{at}`")).collect();
        unavailable(
            format!(
                "no engine answers: there is neither of {}",
                looked.join(", ")
            ),
            "start Docker (`sudo systemctl start docker`) or Podman (`systemctl --user start \
             podman.socket`), or name the socket in `runtime.docker.socket`",
        )
    }))
}

fn exists(address: &Address) -> bool {
    match address {
        // What can not be looked at may be there.
        Address::Socket(path) => path.try_exists().unwrap_or(true),
        Address::Tcp(_) => true,
    }
}

/// Where to ask, in this order: where the configuration says, else where `DOCKER_HOST`
/// says, else where engines are by habit.
pub(super) fn addresses(config: &Config, environment: &Environment) -> Result<Vec<Address>> {
    let socket = &config.runtime.docker.socket;
    if socket.place.is_some() {
        return Ok(vec![Address::Socket(socket.value.clone())]);
    }
    let set = |name| environment.variable(name).filter(|value| !value.is_empty());
    if let Some(named) = set("DOCKER_HOST") {
        let address = of_variable(&named.to_string_lossy())?;
        // As for `docker`, it means nothing for a socket of this machine.
        if matches!(address, Address::Tcp(_)) && set("DOCKER_TLS_VERIFY").is_some() {
            return Err(unavailable(
                format!(
                    "`DOCKER_TLS_VERIFY` asks for TLS to `{address}`, and this host does not speak it to an engine"
                ),
                FORWARD,
            ));
        }
        return Ok(vec![address]);
    }
    let mut sockets = vec![socket.value.clone()];
    let session = environment.xdg("XDG_RUNTIME_DIR");
    sockets.extend(session.iter().map(|folder| folder.join("docker.sock")));
    sockets.push("/run/podman/podman.sock".into());
    sockets.extend(
        session
            .iter()
            .map(|folder| folder.join("podman/podman.sock")),
    );
    Ok(sockets.into_iter().map(Address::Socket).collect())
}

fn of_variable(value: &str) -> Result<Address> {
    match value.split_once("://") {
        Some(("unix", path)) if Path::new(path).is_absolute() => {
            Ok(Address::Socket(PathBuf::from(path)))
        }
        Some(("tcp" | "http", address)) if !address.is_empty() => {
            Ok(Address::Tcp(address.trim_end_matches('/').to_owned()))
        }
        other => {
            let scheme = other.map_or("no scheme", |(scheme, _)| scheme);
            Err(unavailable(
                format!(
                    "`DOCKER_HOST` has `{scheme}`, and this host speaks `unix:///path` and `tcp://host:port`"
                ),
                FORWARD,
            ))
        }
    }
}

/// Asks the engine at one address who it is.
async fn open(address: &Address) -> Result<Connection> {
    if let Address::Socket(path) = address {
        knock(path).await?;
    }
    let silent = |limit: Duration| {
        unavailable(
            format!(
                "what listens at `{address}` did not answer within {} s",
                limit.as_secs()
            ),
            "look after the engine (`sudo systemctl restart docker`), or name another socket in \
             `runtime.docker.socket`",
        )
    };
    let answered = timeout(PATIENCE, plain::ping(address)).await;
    let headers = answered
        .map_err(|_| silent(PATIENCE))?
        .map_err(|error| strange(address, &said(&error)))?;
    timeout(INTRODUCTION, introduce(address, &headers))
        .await
        .unwrap_or_else(|_| Err(silent(INTRODUCTION)))
}

/// Whether somebody listens; the system tells best why not.
async fn knock(path: &Path) -> Result<()> {
    let connected = timeout(PATIENCE, tokio::net::UnixStream::connect(path)).await;
    let error = match connected {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => error,
        Err(_) => ErrorKind::TimedOut.into(),
    };
    let at = path.shown();
    let start = "start it (`sudo systemctl start docker`), or name another socket in \
                 `runtime.docker.socket`";
    Err(match error.kind() {
        ErrorKind::NotFound => unavailable(
            format!("there is no socket `{at}`"),
            format!("install Docker or Podman, or {start}"),
        ),
        ErrorKind::PermissionDenied => unavailable(
            format!("this user may not use the socket `{at}`"),
            "join the group `docker` (`sudo usermod -aG docker $USER`, then log in again), which \
             makes you root in all but name, or use a rootless engine",
        ),
        ErrorKind::ConnectionRefused => unavailable(
            format!("nobody listens at the socket `{at}`"),
            format!("the engine is down: {start}"),
        ),
        _ => unavailable(format!("the socket `{at}` can not be used: {error}"), start),
    })
}

async fn introduce(address: &Address, headers: &HeaderMap) -> Result<Connection> {
    let at_least = ClientVersion {
        major_version: OLDEST.0,
        minor_version: OLDEST.1,
    };
    let strange = |error: bollard::errors::Error| strange(address, &said(&error));
    // Podman's answers cost it a third of a second each, so it is asked for one only.
    let is_podman = headers.contains_key("libpod-api-version");
    let client = if is_podman {
        let theirs = headers.get("api-version").and_then(|api| api.to_str().ok());
        client_of(address, &spoken_by_both(theirs.unwrap_or_default()))
    } else {
        let client = client_of(address, API_DEFAULT_VERSION).map_err(strange)?;
        client.negotiate_version().await
    };
    let client = client.map_err(strange)?;
    let api = client.client_version();
    if api < at_least {
        return Err(unavailable(
            format!(
                "the engine at `{address}` is too old: its API is {api}, and {at_least} is the oldest that will do"
            ),
            "upgrade to Docker 20.10, Podman 4 or later",
        ));
    }
    let engine = if is_podman {
        let path = format!("{}/info", plain::PODMAN);
        Engine::podman(
            api.to_string(),
            plain::get(address, &path).await.map_err(strange)?,
        )
    } else {
        let version = client.version().await.map_err(strange)?;
        let info = client.info().await.map_err(strange)?;
        Engine::docker(api.to_string(), &version, info)
    };
    Ok(Connection {
        apart: client_of(address, &api).map_err(strange)?,
        engine,
        client,
        address: address.clone(),
    })
}

/// The version of the language that both sides speak, of the one that the other side names.
fn spoken_by_both(theirs: &str) -> ClientVersion {
    let numbers = theirs.split_once('.');
    let numbers =
        numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let (major_version, minor_version) = numbers.unwrap_or(OLDEST);
    let theirs = ClientVersion {
        major_version,
        minor_version,
    };
    if theirs < *API_DEFAULT_VERSION {
        theirs
    } else {
        *API_DEFAULT_VERSION
    }
}

/// What to say of something that is no engine, as far as one can tell.
fn strange(address: &Address, said: &str) -> RuntimeError {
    let seems = match address {
        Address::Socket(_) => {
            return unavailable(
                format!("what listens at `{address}` does not answer as an engine does: {said}"),
                "name the engine's socket in `runtime.docker.socket`",
            );
        }
        // So a server that wants TLS says to one that does not speak it; others just hang up.
        Address::Tcp(_) if said.contains("HTTPS") => "it wants TLS",
        Address::Tcp(_) => "if it is an engine, it may want TLS",
    };
    unavailable(
        format!(
            "what listens at `{address}` does not answer as an engine does: {said}; {seems}, which this host does not speak to an engine"
        ),
        FORWARD,
    )
}

fn client_of(address: &Address, version: &ClientVersion) -> Result<Docker, bollard::errors::Error> {
    match address {
        Address::Socket(path) => {
            Docker::connect_with_unix(&path.to_string_lossy(), REQUEST_SECONDS, version)
        }
        Address::Tcp(at) => Docker::connect_with_http(at, REQUEST_SECONDS, version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, environment: &Environment) -> Result<Vec<String>> {
        let home = environment.clone().with("HOME", "/home/ada");
        let config = Config::from_toml(text, Path::new("/srv/config.toml"), &home)
            .expect("a good configuration")
            .config;
        let addresses = addresses(&config, environment)?;
        Ok(addresses.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_written_wins_over_the_variable_and_that_over_habit() {
        let plain = Environment::new("/srv").with("XDG_RUNTIME_DIR", "/run/user/1");
        let named = plain.clone().with("DOCKER_HOST", "unix:///run/d.sock");
        let written = "[runtime.docker]\nsocket = \"/srv/d.sock\"\n";
        assert_eq!(found(written, &named), Ok(vec!["/srv/d.sock".into()]));
        assert_eq!(found("", &named), Ok(vec!["/run/d.sock".into()]));
        let tcp = plain.clone().with("DOCKER_HOST", "tcp://127.0.0.1:2375");
        assert_eq!(found("", &tcp), Ok(vec!["tcp://127.0.0.1:2375".into()]));
        let habit = [
            "/var/run/docker.sock",
            "/run/user/1/docker.sock",
            "/run/podman/podman.sock",
            "/run/user/1/podman/podman.sock",
        ];
        assert_eq!(found("", &plain), Ok(habit.map(String::from).to_vec()));
    }

    #[test]
    fn tls_is_refused_and_not_left_out() {
        let verify = Environment::new("/srv").with("DOCKER_TLS_VERIFY", "1");
        let tcp = verify.clone().with("DOCKER_HOST", "tcp://127.0.0.1:2376");
        let error = found("", &tcp).expect_err("refused");
        assert!(error.to_string().contains("`DOCKER_TLS_VERIFY`"), "{error}");
        assert!(error.help().is_some_and(|help| help.contains("ssh")));
        let socket = verify.with("DOCKER_HOST", "unix:///run/d.sock");
        assert_eq!(found("", &socket), Ok(vec!["/run/d.sock".into()]));
    }

    #[tokio::test]
    async fn a_port_that_wants_tls_is_said_to() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let answer = b"HTTP/1.0 400 Bad Request\r\n\r\n\
                       Client sent an HTTP request to an HTTPS server.\n";
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("its number").to_string();
        let serve = async {
            loop {
                let (mut stream, _) = listener.accept().await.expect("a client");
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream.write_all(answer).await;
            }
        };
        let address = Address::Tcp(address);
        let error = tokio::select! {
            opened = open(&address) => opened.err().expect("no engine"),
            never = serve => never,
        };
        assert!(error.to_string().contains("it wants TLS"), "{error}");
        assert!(error.help().is_some_and(|help| help.contains("ssh")));
    }

    #[test]
    fn a_variable_that_names_what_is_not_spoken_is_an_error() {
        for value in [
            "ssh://ada@example.com",
            "unix://relative",
            "docker",
            "tcp://",
        ] {
            let environment = Environment::new("/srv").with("DOCKER_HOST", value);
            let error = found("", &environment).expect_err(value);
            assert!(error.to_string().contains("`DOCKER_HOST`"), "{error}");
            assert!(!error.to_string().contains("ada@"), "{error}");
        }
    }
}
