//! Commands of WASI 0.1: core modules that export `_start` and import
//! `wasi_snapshot_preview1`, or its forerunner `wasi_unstable`.

use std::sync::Arc;

use async_trait::async_trait;
use wasmtime::{InstancePre, Store};

use super::exit_code;
use crate::runtime::wasm::abi::{Abi, Command, Prepared, Recognised};
use crate::runtime::wasm::call_state::CallState;
use crate::runtime::wasm::compiled::Compiled;
use crate::runtime::wasm::engine::Engine;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::imports::preview1;
use crate::runtime::wasm::shape::{Entry, Shape, WasmEncoding};

/// The kind of commands that are core modules.
pub struct CoreCommandAbi;

impl Abi for CoreCommandAbi {
    fn name(&self) -> &'static str {
        "command-core"
    }

    fn is_command(&self) -> bool {
        true
    }

    fn recognise(&self, shape: &Shape) -> Recognised {
        match (shape.encoding, &shape.entry) {
            (WasmEncoding::Component, _) | (_, None) => Recognised::No,
            (_, Some(Entry::Plain)) if shape.shared_memory => {
                refused("its memory is shared by threads, which this host does not offer".into())
            }
            (_, Some(Entry::Plain)) => Recognised::Yes {
                version: version(shape).into(),
            },
            (_, Some(Entry::Typed(signature))) => refused(format!(
                "its `_start` is `{signature}`, and a command's is `() -> ()`"
            )),
            (_, Some(Entry::NotAFunction)) => refused("its `_start` is no function".into()),
        }
    }

    fn prepare(&self, engine: &Engine, code: &Compiled) -> wasmtime::Result<Prepared> {
        let linked = engine.link_core(code.core_module()?)?;
        Ok(Prepared::Command(Arc::new(CoreCommand(linked))))
    }
}

fn refused(why: String) -> Recognised {
    Recognised::Refused(ModuleFault::OtherKind {
        what: "a core module".into(),
        why,
    })
}

/// A module that imports nothing of WASI is served all the same.
fn version(shape: &Shape) -> &'static str {
    let imports_old = shape
        .imports
        .iter()
        .any(|import| import.name.starts_with(preview1::UNSTABLE));
    if imports_old { "0.0" } else { "0.1" }
}

struct CoreCommand(InstancePre<CallState>);

#[async_trait]
impl Command for CoreCommand {
    async fn run(&self, store: &mut Store<CallState>) -> wasmtime::Result<i32> {
        let run = async {
            let instance = self.0.instantiate_async(&mut *store).await?;
            let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
            start.call_async(&mut *store, ()).await?;
            Ok(0)
        };
        exit_code(run.await)
    }
}
