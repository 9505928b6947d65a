//! An adapter that is made by its first use: a host starts without asking a daemon or
//! trying a sandbox that no call may ever need.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use super::{Ending, Execution, ExecutionOutput, Result, RuntimeAdapter, cancelled};

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
        self.run(Execution::plain(command, args, env, working_dir, timeout))
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
        let started = Instant::now();
        let adapter = tokio::select! {
            biased;
            made = self.get() => made?,
            () = cancelled(execution.cancel) => {
                return Ok(ExecutionOutput::unheard(Ending::Cancelled, started));
            }
            () = tokio::time::sleep(execution.timeout) => {
                tracing::info!(backend = self.name, "the backend was not ready in time");
                return Ok(ExecutionOutput::unheard(Ending::TimedOut, started));
            }
        };
        let timeout = execution.timeout.saturating_sub(started.elapsed());
        adapter
            .run(Execution {
                timeout,
                ..execution
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio_util::sync::CancellationToken;

    use super::super::Program;
    use super::*;

    /// Exits at once; it must be given less time than the whole.
    struct Prompt;

    const TIMEOUT: Duration = Duration::from_mins(1);

    #[async_trait]
    impl RuntimeAdapter for Prompt {
        async fn execute(
            &self,
            _command: &str,
            _args: &[String],
            _env: &HashMap<String, String>,
            _working_dir: Option<&Path>,
            timeout: Duration,
        ) -> Result<ExecutionOutput> {
            assert!(timeout < TIMEOUT, "the making took no time of the command");
            Ok(ExecutionOutput::unheard(Ending::Exited, Instant::now()))
        }

        async fn is_available(&self) -> bool {
            true
        }

        fn name(&self) -> &'static str {
            "prompt"
        }
    }

    /// An adapter that is never ready.
    fn never() -> Arc<Deferred<Prompt>> {
        Deferred::new("prompt", pending)
    }

    fn execution(env: &HashMap<String, String>) -> Execution<'_> {
        Execution::new(Program::Shell("true"), env, TIMEOUT)
    }

    #[tokio::test]
    async fn the_making_takes_of_the_time_of_the_command() {
        let adapter = Deferred::new("prompt", || async {
            let begun = Instant::now();
            while begun.elapsed().is_zero() {
                tokio::task::yield_now().await;
            }
            Ok(Prompt)
        });
        let env = HashMap::new();
        let output = adapter.run(execution(&env)).await.unwrap();
        assert_eq!(output.ending, Ending::Exited);
    }

    #[tokio::test]
    async fn a_command_times_out_while_its_adapter_is_made() {
        let env = HashMap::new();
        let output = never()
            .execute("true", &[], &env, None, Duration::from_millis(1))
            .await
            .unwrap();
        assert_eq!(output.ending, Ending::TimedOut);
    }

    #[tokio::test]
    async fn a_command_is_cancelled_while_its_adapter_is_made() {
        let cancel = CancellationToken::new();
        let (adapter, env) = (never(), HashMap::new());
        let running = adapter.run(Execution {
            cancel: Some(&cancel),
            ..execution(&env)
        });
        let (output, ()) = tokio::join!(running, async { cancel.cancel() });
        assert_eq!(output.unwrap().ending, Ending::Cancelled);
    }
}
