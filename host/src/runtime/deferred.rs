//! An adapter that is made by its first use: a host starts without asking a daemon or
//! trying a sandbox that no call may ever need.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{Execution, ExecutionOutput, Result, RuntimeAdapter};

/// Makes an adapter.
type Maker<A> = Box<dyn Fn() -> BoxFuture<'static, Result<A>> + Send + Sync>;

/// An adapter, or how to make it. Where that failed, the next use tries again.
pub(super) struct Deferred<A> {
    name: &'static str,
    make: Maker<A>,
    made: OnceCell<A>,
}

impl<A: RuntimeAdapter> Deferred<A> {
    pub fn new<F>(name: &'static str, make: impl Fn() -> F + Send + Sync + 'static) -> Arc<Self>
    where
        F: Future<Output = Result<A>> + Send + 'static,
    {
        Arc::new(Self {
            name,
            make: Box::new(move || Box::pin(make())),
            made: OnceCell::new(),
        })
    }

    /// The adapter, made now if it was not before.
    pub async fn get(&self) -> Result<&A> {
        self.made.get_or_try_init(|| (self.make)()).await
    }
}

#[async_trait]
impl<A: RuntimeAdapter> RuntimeAdapter for Deferred<A> {
    async fn execute(
        &self,
        command: &str,
        args: &[String],
        env: &HashMap<String, String>,
        working_dir: Option<&Path>,
        timeout: Duration,
    ) -> Result<ExecutionOutput> {
        let adapter = self.get().await?;
        adapter
            .execute(command, args, env, working_dir, timeout)
            .await
    }

    async fn is_available(&self) -> bool {
        match self.get().await {
            Ok(adapter) => adapter.is_available().await,
            Err(_) => false,
        }
    }

    fn name(&self) -> &str {
        self.name
    }

    async fn run(&self, execution: Execution<'_>) -> Result<ExecutionOutput> {
        self.get().await?.run(execution).await
    }
}
