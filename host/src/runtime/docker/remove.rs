//! Getting rid of containers, also when the call that made them is gone: on a thread with
//! a runtime of its own, since the caller's may be ending.
//!
//! Invariant: what was handed over here is tried again until the engine says that it is
//! gone, or until the adapter ends; what is left then is swept by the next host.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters::{KillContainerOptions, RemoveContainerOptionsBuilder};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::faults::{is_missing, is_settled, said};

/// How long the end of an adapter may take.
const LAST: Duration = Duration::from_secs(10);

/// Waits between tries; the last one is repeated.
const PAUSES: [Duration; 6] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
];

/// Tries after which a container that was never seen does not exist, and one that may return
/// does not: the request that made it would long have been served.
const TRIES_UNSURE: usize = 5;

/// Containers that may be waiting for their removal before calls have to wait for it too.
const MOST: usize = 16;

/// A container that nobody waits for any more.
#[derive(Clone, Debug)]
pub(super) struct Leftover {
    pub name: String,
    /// Whether the engine has said that it exists.
    pub seen: bool,
    /// Whether it stays for inspection, ended.
    pub kept: bool,
    /// Whether it may be there again after its removal: Podman can write down one that it
    /// was still making, or starting, when it was told to remove it.
    pub may_return: bool,
}

impl Leftover {
    /// Whether it is gone for good once it is not there.
    fn is_sure(&self) -> bool {
        self.seen && !self.may_return
    }

    /// Ends it and, unless it stays, removes it. It may be gone already.
    pub async fn dispose(&self, client: &Docker) -> Result<Disposed, Error> {
        if self.kept {
            let options = KillContainerOptions {
                signal: "SIGKILL".to_owned(),
            };
            let killed = client.kill_container(&self.name, Some(options)).await;
            return disposed(killed);
        }
        disposed(remove(client, &self.name).await)
    }
}

/// What came of getting rid of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disposed {
    /// It was there.
    Now,
    /// It was not there, or others see to it.
    Before,
}

fn disposed(answer: Result<(), Error>) -> Result<Disposed, Error> {
    match answer {
        Ok(()) => Ok(Disposed::Now),
        Err(error) if is_missing(&error) || is_settled(&error) => Ok(Disposed::Before),
        Err(error) => Err(error),
    }
}

/// Ends and removes a container, with its own volumes.
async fn remove(client: &Docker, name: &str) -> Result<(), Error> {
    let options = RemoveContainerOptionsBuilder::new().force(true).v(true);
    client.remove_container(name, Some(options.build())).await
}

/// Sees to leftovers until it is dropped, and to the last ones while it is.
pub(super) struct Caretaker {
    client: Docker,
    at_work: Mutex<Option<Thread>>,
    /// How many it still sees to.
    waiting: Arc<AtomicUsize>,
}

struct Thread {
    leftovers: UnboundedSender<Leftover>,
    ended: JoinHandle<()>,
}

impl Caretaker {
    /// `client` is of nobody else: what a client keeps open ends with the runtime that
    /// opened it.
    pub fn new(client: Docker) -> Self {
        Self {
            client,
            at_work: Mutex::new(None),
            waiting: Arc::default(),
        }
    }

    /// Whether the engine removes containers more slowly than calls leave them behind.
    pub fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= MOST
    }

    /// Takes over a container. Never waits.
    pub fn take(&self, leftover: Leftover) {
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        if at_work.is_none() {
            *at_work = start(&self.client, &self.waiting);
        }
        let name = leftover.name.clone();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let sent = (at_work.as_ref()).is_some_and(|it| it.leftovers.send(leftover).is_ok());
        if !sent {
            tracing::warn!(container = name, "left behind; the next host sweeps it");
        }
    }
}

impl Drop for Caretaker {
    fn drop(&mut self) {
        let at_work = self
            .at_work
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(Thread { leftovers, ended }) = at_work.take() {
            drop(leftovers);
            // It ends within `LAST`, whatever the engine does.
            let _ = ended.join();
        }
    }
}

fn start(client: &Docker, waiting: &Arc<AtomicUsize>) -> Option<Thread> {
    let (client, waiting) = (client.clone(), Arc::clone(waiting));
    let (leftovers, taken) = unbounded_channel();
    let ended = std::thread::Builder::new()
        .name("prx-containers".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            match runtime {
                Ok(runtime) => runtime.block_on(tend(client, taken, &waiting)),
                Err(error) => tracing::warn!(%error, "containers may be left behind"),
            }
        })
        .ok()?;
    Some(Thread { leftovers, ended })
}

async fn tend(client: Docker, mut taken: UnboundedReceiver<Leftover>, waiting: &AtomicUsize) {
    let mut tries = JoinSet::new();
    loop {
        tokio::select! {
            leftover = taken.recv() => match leftover {
                Some(leftover) => {
                    tries.spawn(insist(client.clone(), leftover));
                }
                None => break,
            },
            Some(_) = tries.join_next() => {
                waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
    let all = async { while tries.join_next().await.is_some() {} };
    if timeout(LAST, all).await.is_err() {
        tracing::warn!("the engine does not answer; the next host sweeps what is left behind");
    }
}

async fn insist(client: Docker, leftover: Leftover) {
    for attempt in 0.. {
        match leftover.dispose(&client).await {
            Ok(Disposed::Now) if !leftover.may_return => return,
            Ok(Disposed::Before) if leftover.is_sure() || attempt >= TRIES_UNSURE => return,
            Ok(Disposed::Now | Disposed::Before) => {}
            Err(error) => {
                tracing::debug!(
                    container = leftover.name,
                    error = said(&error),
                    "not removed yet"
                );
            }
        }
        sleep(PAUSES[PAUSES.len().min(attempt + 1) - 1]).await;
    }
}
