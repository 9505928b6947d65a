//! `prx:skill/config`: the values of `[tools.custom.<name>.config]`, read only.

use crate::runtime::wasm::abi::skill::bindings::config::Host;
use crate::runtime::wasm::call_state::CallState;

impl Host for CallState {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self.policy.access.config().get(&key).cloned())
    }

    fn keys(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.policy.access.config().keys().cloned().collect())
    }
}
