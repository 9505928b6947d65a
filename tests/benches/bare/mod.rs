//! The bar: what wasmtime alone needs for a call of a skill. New store, WASI without
//! grants, instance, call, drop; nothing is checked, limited or watched.

use prx_host::bench::Engine;
use wasmtime::Store;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/0.1.0",
        inline: "
            package prx:bare;
            world bare {
                export prx:skill/tools@0.1.0;
            }
        ",
        world: "prx:bare/bare",
        exports: { default: async },
    });
}

struct Data {
    table: ResourceTable,
    wasi: WasiCtx,
}

impl WasiView for Data {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// A module, compiled and linked.
pub struct Loop {
    engine: Engine,
    linked: bindings::BarePre<Data>,
}

impl Loop {
    /// Links a component that the engine has compiled or loaded.
    pub fn link(engine: Engine, component: &Component) -> anyhow::Result<Self> {
        let mut linker = Linker::new(engine.wasmtime());
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(anyhow::Error::msg)?;
        let prepared = linker
            .instantiate_pre(component)
            .and_then(bindings::BarePre::new)
            .map_err(anyhow::Error::msg)?;
        Ok(Self {
            engine,
            linked: prepared,
        })
    }

    /// One call in a fresh instance; gives the structured answer.
    pub async fn call(&self, tool: &str, arguments: &str) -> anyhow::Result<String> {
        let data = Data {
            table: ResourceTable::new(),
            wasi: WasiCtx::builder().build(),
        };
        let mut store = Store::new(self.engine.wasmtime(), data);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let answer = async {
            let skill = self.linked.instantiate_async(&mut store).await?;
            skill
                .prx_skill_tools()
                .call_call(&mut store, tool, arguments)
                .await
        };
        let output = answer.await.map_err(anyhow::Error::msg)?;
        let output = output.map_err(|error| anyhow::anyhow!("{}", error.message))?;
        output
            .structured
            .ok_or_else(|| anyhow::anyhow!("no structured answer"))
    }
}
