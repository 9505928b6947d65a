//! What ends a call from outside: its deadline, or its caller.

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::runtime::{Ending, Execution, cancelled};

/// Waits for whichever comes first.
pub(super) struct Stop<'a> {
    /// `None`: not within the life of this machine.
    deadline: Option<Instant>,
    cancel: Option<&'a CancellationToken>,
}

impl<'a> Stop<'a> {
    /// The clock starts now.
    pub fn of(execution: &Execution<'a>) -> Self {
        Self {
            deadline: Instant::now().checked_add(execution.timeout),
            cancel: execution.cancel,
        }
    }

    /// Never returns by itself before one of both.
    pub async fn wait(&self) -> Ending {
        tokio::select! {
            biased;
            () = cancelled(self.cancel) => Ending::Cancelled,
            () = passed(self.deadline) => Ending::TimedOut,
        }
    }
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
