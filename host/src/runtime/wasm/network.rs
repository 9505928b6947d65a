//! Who may reach what over the network: sockets, name look-up and HTTP, one rule for all.
//!
//! Invariant: without a matching grant no packet leaves, not even a DNS question, and the
//! refusal is noted. Listening is never granted.

use std::future::Future;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;

use wasmtime_wasi::sockets::SocketAddrUse;
use wasmtime_wasi_http::{Error as HttpError, RequestOptions, WasiBody, WasiHttpHooks};

use super::access::Access;
use super::call_state::{Denials, Policy};
use crate::model::{Capability, HostPattern};

type Answer = Pin<Box<dyn Future<Output = bool> + Send + Sync>>;

/// The check that WASI asks before it uses a socket address.
pub(super) fn socket_check(
    access: Access,
    denials: Denials,
) -> impl Fn(SocketAddr, SocketAddrUse) -> Answer + Send + Sync + 'static {
    move |address, usage| {
        let (access, denials) = (access.clone(), denials.clone());
        Box::pin(async move {
            let allowed = match usage {
                SocketAddrUse::TcpConnect | SocketAddrUse::UdpSend | SocketAddrUse::UdpReceive => {
                    may_reach(access.network(), address).await
                }
                // A client's own end, which the system chooses.
                SocketAddrUse::TcpBind | SocketAddrUse::UdpBind => {
                    address.port() == 0 && !access.network().is_empty()
                }
                SocketAddrUse::TcpListen | SocketAddrUse::TcpAccept => false,
            };
            if !allowed {
                denials.note(Capability::Network(address.to_string()));
            }
            allowed
        })
    }
}

/// Whether a pattern names that address, or a host that has it.
async fn may_reach(patterns: &[HostPattern], address: SocketAddr) -> bool {
    let ip = address.ip().to_canonical();
    let literal = ip.to_string();
    if patterns
        .iter()
        .any(|pattern| pattern.allows(&literal, address.port()))
    {
        return true;
    }
    for pattern in patterns {
        if let HostPattern::Host { name, port } = pattern
            && port.is_none_or(|port| port == address.port())
            && name.parse::<IpAddr>().is_err()
            && resolves_to(name.clone(), ip).await
        {
            return true;
        }
    }
    false
}

async fn resolves_to(name: String, ip: IpAddr) -> bool {
    // The system's resolver blocks; it must not hold an async worker.
    tokio::task::spawn_blocking(move || {
        (name.as_str(), 0)
            .to_socket_addrs()
            .is_ok_and(|mut found| found.any(|address| address.ip().to_canonical() == ip))
    })
    .await
    .unwrap_or(false)
}

type HttpAnswer = Box<
    dyn Future<
            Output = Result<
                (
                    http::Response<WasiBody>,
                    Box<dyn Future<Output = Result<(), HttpError>> + Send>,
                ),
                HttpError,
            >,
        > + Send,
>;

/// Decides about each outgoing request of a call.
impl WasiHttpHooks for Policy {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Box<dyn Future<Output = Result<(), HttpError>> + Send>,
    ) -> HttpAnswer {
        use http_body_util::BodyExt;

        let uri = request.uri();
        let default_port = if uri.scheme() == Some(&http::uri::Scheme::HTTP) {
            80
        } else {
            443
        };
        let host = uri
            .host()
            .unwrap_or_default()
            .trim_matches(['[', ']'])
            .to_owned();
        let port = uri.port_u16().unwrap_or(default_port);
        // User information in an authority only serves to disguise the host.
        let disguised = uri
            .authority()
            .is_none_or(|authority| authority.as_str().contains('@'));
        if disguised
            || !self
                .access
                .network()
                .iter()
                .any(|pattern| pattern.allows(&host, port))
        {
            self.denials
                .note(Capability::Network(format!("{host}:{port}")));
            return Box::new(async { Err(HttpError::HttpRequestDenied) });
        }
        Box::new(async move {
            let (response, io) = wasmtime_wasi_http::default_send_request(request, options).await?;
            let io: Box<dyn Future<Output = Result<(), HttpError>> + Send> = Box::new(io);
            Ok((response.map(BodyExt::boxed_unsync), io))
        })
    }
}
