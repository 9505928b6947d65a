//! Threads that compile beside running calls: whoever is called has the processors first.

use std::sync::{Arc, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// How far the threads stand back, from 0 to 19.
const NICENESS: i32 = 15;

/// Runs work on threads of low priority. Made by its first use; clones share the threads.
#[derive(Clone, Default)]
pub struct Background(Arc<OnceLock<Option<ThreadPool>>>);

impl Background {
    /// Runs work to its end, and what it does in parallel too. Blocks.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.0.get_or_init(threads) {
            Some(threads) => threads.install(work),
            // Slower calls are better than none.
            None => work(),
        }
    }
}

fn threads() -> Option<ThreadPool> {
    let stand_back = |_| {
        // With no process named it is the thread that calls.
        if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
            tracing::debug!(%error, "compiling can not stand back");
        }
    };
    let made = ThreadPoolBuilder::new()
        .thread_name(|index| format!("prx-compile-{index}"))
        .start_handler(stand_back)
        .build();
    made.map_err(|error| tracing::warn!(%error, "no threads for compiling in the background"))
        .ok()
}
