//! `wasi:sockets` where the check of addresses comes too late: creating sockets and
//! looking up names.
//!
//! Invariant: without a network grant a guest gets no socket and no answer from DNS.

use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{self, HostResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{
    self, ErrorCode, HostNetwork, IpAddress, IpAddressFamily,
};
use wasmtime_wasi::p2::bindings::sockets::{tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{DynPollable, Network, SocketError, SocketResult, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::WasiSocketsCtxView;

use crate::model::{Capability, HostPattern};
use crate::runtime::wasm::call_state::{CallState, Denials};

type Addresses = ip_name_lookup::ResolveAddressStream;

/// WASI's sockets behind the grants of one call.
struct Guarded<'a> {
    wasi: WasiSocketsCtxView<'a>,
    network: &'a [HostPattern],
    denials: &'a Denials,
}

impl Guarded<'_> {
    fn any_network(&self) -> SocketResult<()> {
        if self.network.is_empty() {
            self.denials.note(Capability::Network("*".into()));
            return Err(ErrorCode::AccessDenied.into());
        }
        Ok(())
    }
}

struct HasGuarded;

impl HasData for HasGuarded {
    type Data<'a> = Guarded<'a>;
}

fn guarded(state: &mut CallState) -> Guarded<'_> {
    let wasi = state.wasi.get(&state.policy).ctx();
    Guarded {
        wasi: WasiSocketsCtxView {
            ctx: wasi.ctx.sockets(),
            table: wasi.table,
        },
        network: state.policy.access.network(),
        denials: &state.policy.denials,
    }
}

/// Puts the guarded functions in the place of WASI's own.
pub(super) fn replace_in_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    ip_name_lookup::add_to_linker::<_, HasGuarded>(linker, guarded)?;
    tcp_create_socket::add_to_linker::<_, HasGuarded>(linker, guarded)?;
    udp_create_socket::add_to_linker::<_, HasGuarded>(linker, guarded)?;
    linker.allow_shadowing(false);
    Ok(())
}

impl network::Host for Guarded<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.wasi.convert_error_code(error)
    }

    fn network_error_code(
        &mut self,
        error: Resource<wasmtime_wasi::p2::bindings::io::error::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.wasi.network_error_code(error)
    }
}

impl HostNetwork for Guarded<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        HostNetwork::drop(&mut self.wasi, network)
    }
}

impl tcp_create_socket::Host for Guarded<'_> {
    fn create_tcp_socket(&mut self, family: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        self.any_network()?;
        self.wasi.create_tcp_socket(family)
    }
}

impl udp_create_socket::Host for Guarded<'_> {
    async fn create_udp_socket(
        &mut self,
        family: IpAddressFamily,
    ) -> SocketResult<Resource<UdpSocket>> {
        self.any_network()?;
        self.wasi.create_udp_socket(family).await
    }
}

impl ip_name_lookup::Host for Guarded<'_> {
    fn resolve_addresses(
        &mut self,
        network: Resource<Network>,
        name: String,
    ) -> SocketResult<Resource<Addresses>> {
        if !self
            .network
            .iter()
            .any(|pattern| pattern.allows_lookup(&name))
        {
            self.denials.note(Capability::Network(name));
            return Err(ErrorCode::PermanentResolverFailure.into());
        }
        ip_name_lookup::Host::resolve_addresses(&mut self.wasi, network, name)
    }
}

impl HostResolveAddressStream for Guarded<'_> {
    fn resolve_next_address(
        &mut self,
        stream: Resource<Addresses>,
    ) -> SocketResult<Option<IpAddress>> {
        self.wasi.resolve_next_address(stream)
    }

    fn subscribe(
        &mut self,
        stream: Resource<Addresses>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        HostResolveAddressStream::subscribe(&mut self.wasi, stream)
    }

    fn drop(&mut self, stream: Resource<Addresses>) -> wasmtime::Result<()> {
        HostResolveAddressStream::drop(&mut self.wasi, stream)
    }
}
