//! Commands of WASI 0.2: components that export `wasi:cli/run`.

use std::sync::Arc;

use async_trait::async_trait;
use semver::Version;
use wasmtime::Store;
use wasmtime_wasi::p2::bindings::CommandPre;

use super::exit_code;
use crate::runtime::wasm::abi::{Abi, Command, Prepared, Recognised};
use crate::runtime::wasm::call_state::CallState;
use crate::runtime::wasm::compiled::Compiled;
use crate::runtime::wasm::engine::Engine;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::shape::Shape;

/// The interface that makes a component a command.
const INTERFACE: &str = "wasi:cli/run";
/// The newest version of it that this host serves.
const VERSION: Version = Version::new(0, 2, 12);

/// The kind of commands that are components.
pub struct ComponentCommandAbi;

impl Abi for ComponentCommandAbi {
    fn name(&self) -> &'static str {
        "command"
    }

    fn is_command(&self) -> bool {
        true
    }

    fn recognise(&self, shape: &Shape) -> Recognised {
        let offered: Vec<&str> = shape.exported_versions(INTERFACE).collect();
        if offered.is_empty() {
            return Recognised::No;
        }
        let served = offered.iter().find(|version| {
            // Later patches of 0.2 only add, and `run` never had anything to add to.
            version.parse::<Version>().is_ok_and(|version| {
                version.pre.is_empty()
                    && version.major == VERSION.major
                    && version.minor == VERSION.minor
            })
        });
        match served {
            Some(version) => Recognised::Yes {
                version: (*version).to_owned(),
            },
            None => Recognised::Refused(ModuleFault::UnknownVersion {
                interface: INTERFACE.to_owned(),
                asked: offered.join(", "),
                served: VERSION.to_string(),
            }),
        }
    }

    fn prepare(&self, engine: &Engine, code: &Compiled) -> wasmtime::Result<Prepared> {
        let linked = engine.link(code.component()?)?;
        let command = ComponentCommand(CommandPre::new(linked)?);
        Ok(Prepared::Command(Arc::new(command)))
    }
}

struct ComponentCommand(CommandPre<CallState>);

#[async_trait]
impl Command for ComponentCommand {
    async fn run(&self, store: &mut Store<CallState>) -> wasmtime::Result<i32> {
        let run = async {
            let command = self.0.instantiate_async(&mut *store).await?;
            let ended = command.wasi_cli_run().call_run(&mut *store).await?;
            Ok(i32::from(ended.is_err()))
        };
        exit_code(run.await)
    }
}
