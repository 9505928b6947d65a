//! Reaches for the network as an ordinary program does. Errors are told with their
//! number in `data.errno`.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

use prx_guests::{Tool, from_io, guest, structured, text};
use serde_json::json;

guest![
    Tool::new(
        "connect",
        "Connects by TCP to `name:port`, sends a text, reads to the end.",
        |arguments| {
            let mut stream = TcpStream::connect(arguments.text("address")?).map_err(from_io)?;
            if let Some(sent) = arguments.optional_text("send") {
                stream.write_all(sent.as_bytes()).map_err(from_io)?;
                stream
                    .shutdown(std::net::Shutdown::Write)
                    .map_err(from_io)?;
            }
            let mut received = Vec::new();
            stream.read_to_end(&mut received).map_err(from_io)?;
            text(String::from_utf8_lossy(&received))
        }
    )
    .takes("address", "string")
    .may_take("send", "string"),
    Tool::new(
        "send_udp",
        "Sends a text by UDP to `name:port`.",
        |arguments| {
            let address = arguments.text("address")?;
            let any = if address.starts_with('[') {
                "[::]:0"
            } else {
                "0.0.0.0:0"
            };
            let socket = UdpSocket::bind(any).map_err(from_io)?;
            let sent = socket
                .send_to(arguments.text("send")?.as_bytes(), address)
                .map_err(from_io)?;
            text(format!("sent {sent} bytes"))
        }
    )
    .takes("address", "string")
    .takes("send", "string"),
    Tool::new(
        "look_up",
        "Looks up the addresses of a name.",
        |arguments| {
            let found = (arguments.text("name")?, 0)
                .to_socket_addrs()
                .map_err(from_io)?;
            let addresses: Vec<String> = found.map(|address| address.ip().to_string()).collect();
            structured(json!({ "addresses": addresses }))
        }
    )
    .takes("name", "string"),
    Tool::new("listen", "Listens by TCP on `address:port`.", |arguments| {
        let listener = TcpListener::bind(arguments.text("address")?).map_err(from_io)?;
        text(format!(
            "listening on {}",
            listener.local_addr().map_err(from_io)?
        ))
    })
    .takes("address", "string"),
    Tool::new(
        "bind_udp",
        "Receives by UDP on `address:port`.",
        |arguments| {
            let socket = UdpSocket::bind(arguments.text("address")?).map_err(from_io)?;
            text(format!(
                "bound to {}",
                socket.local_addr().map_err(from_io)?
            ))
        }
    )
    .takes("address", "string"),
];
