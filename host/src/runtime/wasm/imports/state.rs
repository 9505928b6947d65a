//! `prx:skill/state`: the entry's own store, off the async workers.

use crate::model::Capability;
use crate::runtime::wasm::abi::skill::bindings::state::{Error, Host, StoreUsage};
use crate::runtime::wasm::call_state::CallState;
use crate::runtime::wasm::state::{Namespace, StateError};

impl CallState {
    /// Runs one operation of the store where it may block.
    async fn with_store<T: Send + 'static>(
        &mut self,
        operation: impl FnOnce(&Namespace, u64) -> Result<T, StateError> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let Some(grant) = self.policy.access.state().cloned() else {
            self.policy.denials.note(Capability::State);
            return Ok(Err(Error::Denied));
        };
        let done =
            tokio::task::spawn_blocking(move || operation(&grant.namespace, grant.quota)).await?;
        Ok(done.map_err(Error::from))
    }
}

impl From<StateError> for Error {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Denied => Self::Denied,
            StateError::InvalidKey => Self::InvalidKey,
            StateError::QuotaExceeded(missing) => Self::QuotaExceeded(missing),
            StateError::NotANumber => Self::NotANumber,
            StateError::Unavailable(reason) => Self::Unavailable(reason),
        }
    }
}

impl Host for CallState {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, Error>> {
        self.with_store(move |store, quota| store.get(&key, quota))
            .await
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), Error>> {
        self.with_store(move |store, quota| store.set(&key, &value, quota))
            .await
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, Error>> {
        self.with_store(move |store, quota| store.delete(&key, quota))
            .await
    }

    async fn increment(&mut self, key: String, delta: i64) -> wasmtime::Result<Result<i64, Error>> {
        self.with_store(move |store, quota| store.increment(&key, delta, quota))
            .await
    }

    async fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<Vec<u8>>,
        value: Option<Vec<u8>>,
    ) -> wasmtime::Result<Result<bool, Error>> {
        self.with_store(move |store, quota| {
            store.compare_and_set(&key, expected.as_deref(), value.as_deref(), quota)
        })
        .await
    }

    async fn keys(
        &mut self,
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<String>, Error>> {
        self.with_store(move |store, quota| store.keys(&prefix, after.as_deref(), limit, quota))
            .await
    }

    async fn usage(&mut self) -> wasmtime::Result<Result<StoreUsage, Error>> {
        self.with_store(|store, quota| {
            store.usage(quota).map(|usage| StoreUsage {
                used: usage.used,
                quota: usage.quota,
            })
        })
        .await
    }
}
