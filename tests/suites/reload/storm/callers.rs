//! Eight who call without pause, and one who hears of every change.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_host::model::CallOptions;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::random::Random;
use super::witness::Witness;

const CALLERS: u64 = 8;

/// Calls that go on until they are ended, or until one of them gets a wrong answer.
pub(super) struct Callers {
    tasks: JoinSet<Result<()>>,
    stop: CancellationToken,
    witness: Arc<Witness>,
}

impl Callers {
    /// Begins to call these tools.
    pub fn start(
        host: &Host,
        witness: &Arc<Witness>,
        tools: &'static [&'static str],
        seed: u64,
    ) -> Self {
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        let start = |task, tasks: &mut JoinSet<_>| {
            // Whoever finds something wrong ends it for all.
            let guard = stop.clone().drop_guard();
            tasks.spawn(async move {
                let _guard = guard;
                task.await
            });
        };
        for caller in 0..CALLERS {
            let random = Random::new(seed ^ (caller << 32));
            let call = call(
                host.clone(),
                Arc::clone(witness),
                tools,
                random,
                stop.clone(),
            );
            start(Box::pin(call) as futures::future::BoxFuture<_>, &mut tasks);
        }
        let listen = listen(host.clone(), Arc::clone(witness), stop.clone());
        start(Box::pin(listen), &mut tasks);
        Self {
            tasks,
            stop,
            witness: Arc::clone(witness),
        }
    }

    /// Whether one of them has ended already.
    pub fn have_ended(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Ends them all; answers how many snapshots and answers there were.
    pub async fn end(mut self) -> Result<(usize, u64)> {
        self.stop.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        self.witness.verdict()
    }
}

async fn call(
    host: Host,
    witness: Arc<Witness>,
    tools: &'static [&'static str],
    mut random: Random,
    stop: CancellationToken,
) -> Result<()> {
    while !stop.is_cancelled() {
        let tool = random.one_of(tools);
        let before = host.snapshot();
        witness.see(&before)?;
        let report = host.call(tool, "{}", CallOptions::default()).await;
        let after = host.snapshot();
        witness.see(&after)?;
        let possible = before.number()..=after.number();
        ensure!(
            possible.contains(&report.snapshot),
            "snapshot {} served a call between {possible:?}",
            report.snapshot
        );
        witness.judge(tool, &report)?;
        // A call that never had to wait gave nobody else a turn.
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Sees every snapshot of which subscribers are told.
async fn listen(host: Host, witness: Arc<Witness>, stop: CancellationToken) -> Result<()> {
    let mut changes = host.changes();
    let mut told = changes.borrow_and_update().snapshot;
    let listening = async {
        loop {
            changes.changed().await.context("the host is gone")?;
            let change = Arc::clone(&changes.borrow_and_update());
            ensure!(
                change.snapshot > told,
                "snapshot {} was told of after {told}",
                change.snapshot
            );
            told = change.snapshot;
            let snapshot = host.snapshot();
            ensure!(
                snapshot.number() >= told,
                "snapshot {told} was told of and is not there"
            );
            witness.see(&snapshot)?;
        }
    };
    stop.run_until_cancelled(listening).await.unwrap_or(Ok(()))
}
