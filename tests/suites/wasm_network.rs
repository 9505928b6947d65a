//! The network: without a grant no packet leaves; with one, only what it names is
//! reached, and nobody ever listens.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::thread::JoinHandle;

use anyhow::{Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{Capability, Outcome};
use prx_tests::Stage;
use prx_tests::calls::{assert_healthy, call, structured, text};
use serde_json::{Value, json};

/// A server that must not be reached.
struct Untouched {
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Untouched {
    fn new() -> Result<Self> {
        let (tcp, udp) = (
            TcpListener::bind("127.0.0.1:0")?,
            UdpSocket::bind("127.0.0.1:0")?,
        );
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        Ok(Self { tcp, udp })
    }

    fn tcp(&self) -> Result<u16> {
        Ok(self.tcp.local_addr()?.port())
    }

    fn udp(&self) -> Result<u16> {
        Ok(self.udp.local_addr()?.port())
    }

    /// On the loopback what was sent has arrived, and a connection is queued, before the
    /// sender goes on.
    fn assert_untouched(&self) -> Result<()> {
        let waits = |error: &std::io::Error| error.kind() == ErrorKind::WouldBlock;
        ensure!(
            self.tcp.accept().is_err_and(|error| waits(&error)),
            "connected"
        );
        ensure!(
            self.udp.recv(&mut [0]).is_err_and(|error| waits(&error)),
            "received"
        );
        Ok(())
    }
}

/// Answers one connection with what it received, in capitals.
fn shouting_server() -> Result<(u16, JoinHandle<Result<()>>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        let mut received = String::new();
        stream.read_to_string(&mut received)?;
        stream.write_all(received.to_uppercase().as_bytes())?;
        Ok(())
    });
    Ok((port, server))
}

fn granting(hosts: &str) -> Result<Stage> {
    let lines = format!("network = true\nallowed_hosts = [{hosts}]");
    Ok(Stage::new()?.guests(&["network"])?.capabilities(&lines))
}

/// Proves that a call was denied for want of the network, and names what was asked for.
async fn denied(host: &Host, tool: &str, arguments: Value) -> Result<String> {
    let what = format!("{tool} {arguments}");
    match call(host, tool, arguments).await {
        Outcome::Denied(denial) => match denial.capability {
            Some(Capability::Network(asked)) => {
                let help = denial.help.unwrap_or_default();
                ensure!(help.contains("network = true"), "{what}: {help}");
                Ok(asked)
            }
            other => bail!("{what}: {other:?}"),
        },
        other => bail!("{what}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_grant_nothing_leaves() -> Result<()> {
    let server = Untouched::new()?;
    let stage = Stage::new()?.guests(&["network"])?;
    let host = stage.open().await?;
    let (tcp, udp) = (server.tcp()?, server.udp()?);
    for (tool, arguments) in [
        (
            "connect",
            json!({ "address": format!("127.0.0.1:{tcp}"), "send": "x" }),
        ),
        ("connect", json!({ "address": format!("localhost:{tcp}") })),
        ("connect", json!({ "address": "[::1]:80" })),
        ("connect", json!({ "address": "192.0.2.1:443" })),
        (
            "send_udp",
            json!({ "address": format!("127.0.0.1:{udp}"), "send": "x" }),
        ),
        ("look_up", json!({ "name": "localhost" })),
        ("look_up", json!({ "name": "secret.exfiltrated.example" })),
        ("listen", json!({ "address": "127.0.0.1:0" })),
        ("listen", json!({ "address": "0.0.0.0:0" })),
        ("bind_udp", json!({ "address": "127.0.0.1:0" })),
    ] {
        denied(&host, &format!("network_{tool}"), arguments).await?;
    }
    server.assert_untouched()?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_without_the_network_are_a_fault_of_the_configuration() -> Result<()> {
    let stage = Stage::new()?.capabilities("network = false\nallowed_hosts = [\"a.example:1\"]");
    ensure!(stage.config().is_err());
    for hosts in [
        "\"http://ok@evil\"",
        "\"*.example.com\"",
        "\"\"",
        "\"a b\"",
        "\"a:0\"",
    ] {
        ensure!(granting(hosts)?.config().is_err(), "{hosts}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_port_is_reached_and_no_other() -> Result<()> {
    let server = Untouched::new()?;
    let (port, shouting) = shouting_server()?;
    let stage = granting(&format!("\"127.0.0.1:{port}\""))?;
    let host = stage.open().await?;
    let other = format!("127.0.0.1:{}", server.tcp()?);
    let asked = denied(
        &host,
        "network_connect",
        json!({ "address": other.as_str() }),
    )
    .await?;
    assert_eq!(asked, other);
    let udp = format!("127.0.0.1:{}", server.udp()?);
    let sent = json!({ "address": udp.as_str(), "send": "x" });
    assert_eq!(denied(&host, "network_send_udp", sent).await?, udp);
    denied(
        &host,
        "network_connect",
        json!({ "address": format!("127.0.0.2:{port}") }),
    )
    .await?;
    // The name leads to the granted address, but nobody granted the name.
    denied(
        &host,
        "network_connect",
        json!({ "address": format!("localhost:{port}") }),
    )
    .await?;
    denied(&host, "network_look_up", json!({ "name": "localhost" })).await?;
    server.assert_untouched()?;

    let said = json!({ "address": format!("127.0.0.1:{port}"), "send": "hello" });
    assert_eq!(text(&host, "network_connect", said).await?, "HELLO");
    shouting.join().expect("the server lives")?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_name_is_looked_up_and_reached_on_its_port() -> Result<()> {
    let server = Untouched::new()?;
    let (port, shouting) = shouting_server()?;
    let stage = granting(&format!("\"LocalHost.:{port}\""))?;
    let host = stage.open().await?;
    let found = structured(&host, "network_look_up", json!({ "name": "localhost" })).await?;
    let addresses = found["addresses"].as_array().cloned().unwrap_or_default();
    ensure!(addresses.contains(&json!("127.0.0.1")), "{found}");
    for name in [
        "localhost.evil.example",
        "evil-localhost",
        "example.com",
        "0x7f.1",
    ] {
        denied(&host, "network_look_up", json!({ "name": name })).await?;
    }
    let other = format!("localhost:{}", server.tcp()?);
    denied(&host, "network_connect", json!({ "address": other })).await?;
    server.assert_untouched()?;

    let said = json!({ "address": format!("localhost:{port}"), "send": "hello" });
    assert_eq!(text(&host, "network_connect", said).await?, "HELLO");
    shouting.join().expect("the server lives")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_reach_what_is_granted() -> Result<()> {
    let server = UdpSocket::bind("127.0.0.1:0")?;
    let address = server.local_addr()?.to_string();
    let stage = granting(&format!("\"{address}\""))?;
    let host = stage.open().await?;
    let sent = json!({ "address": address.as_str(), "send": "hello" });
    assert_eq!(text(&host, "network_send_udp", sent).await?, "sent 5 bytes");
    let mut received = [0; 16];
    let length = server.recv(&mut received)?;
    assert_eq!(&received[..length], b"hello");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_listens_whatever_is_granted() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["network"])?
        .capabilities("network = true");
    let host = stage.open().await?;
    let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    for address in [
        "127.0.0.1:0".to_owned(),
        "0.0.0.0:0".to_owned(),
        free.to_string(),
    ] {
        denied(&host, "network_listen", json!({ "address": address })).await?;
    }
    denied(
        &host,
        "network_bind_udp",
        json!({ "address": free.to_string() }),
    )
    .await?;
    ensure!(TcpListener::bind(free).is_ok(), "somebody listens");
    let (port, shouting) = shouting_server()?;
    let said = json!({ "address": format!("localhost:{port}"), "send": "any" });
    assert_eq!(text(&host, "network_connect", said).await?, "ANY");
    shouting.join().expect("the server lives")?;
    Ok(())
}
