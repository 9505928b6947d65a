//! One call in one container: made, listened to, started, ended, removed.
//!
//! Invariants: both streams are read to their very end before the exit code is believed.
//! However the call ends, also when its future is dropped at any point, the container is
//! removed, or handed over to the caretaker: one that ended by itself always is, since an
//! answer need not wait until the engine has tidied up.

use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

use bollard::container::AttachContainerResults;
use bollard::errors::Error;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, KillContainerOptions,
    WaitContainerOptions,
};
use futures::future::FusedFuture;
use futures::{FutureExt as _, StreamExt as _};
use tokio::time::timeout;

use super::container::{Extra, Plan};
use super::engine::Kind;
use super::faults::{
    broken_off, interrupted, is_missing, is_settled, not_attached, not_begun, not_created,
    not_started, said, status,
};
use super::remove::Leftover;
use super::stop::Stop;
use super::streams::{Captures, feed};
use super::{Shared, image, memory, process};
use crate::runtime::{Ending, ExecutionOutput, Result, RuntimeError};

/// How long an engine may take to end a container and to give its last output.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Runs one call. The image is there.
pub(super) async fn run(
    shared: &Shared,
    plan: &Plan<'_>,
    stop: &Stop<'_>,
    started: Instant,
) -> Result<ExecutionOutput> {
    let captures = Captures::new(plan.execution, shared.settings.max_output);
    let mut plan = *plan;
    let (mut container, begun) = loop {
        let body = plan.body()?;
        let mut container = Container::new(shared);
        let begun = tokio::select! {
            biased;
            begun = container.begin(body, &plan) => begun,
            ending = stop.wait() => {
                container.abandon().await;
                return Ok(captures.output(ending, None, started));
            }
        };
        let Some(extra) = container.lacks else {
            break (container, begun);
        };
        // Nothing has run yet: once more, without it.
        container.dispose().await;
        plan = plan.without(extra);
    };
    let output = match begun {
        Ok(attached) => {
            container
                .attend(attached, &plan, &captures, stop, started)
                .await
        }
        Err(error) => Err(error),
    };
    container.dispose().await;
    output
}

/// A container of this call; dropped, it is handed over to the caretaker.
struct Container<'a> {
    shared: &'a Shared,
    leftover: Leftover,
    began: SystemTime,
    /// What the engine could not give it, so that nothing ran in it.
    lacks: Option<Extra>,
    /// It ended by itself, so nothing runs in it any more.
    ended: bool,
    gone: bool,
}

/// How a container ended by itself.
struct End {
    exit_code: i64,
    /// It failed, and something in it was killed at the limit of memory.
    out_of_memory: bool,
}

impl<'a> Container<'a> {
    fn new(shared: &'a Shared) -> Self {
        Self {
            shared,
            leftover: Leftover {
                name: process::new_name(),
                seen: false,
                // One that may yet be starting can only be ended for good by removing it.
                kept: false,
                may_return: shared.connection.engine.kind == Kind::Podman,
            },
            began: SystemTime::now(),
            lacks: None,
            ended: false,
            // From here on the request may be under way.
            gone: false,
        }
    }

    fn kind(&self) -> Kind {
        self.shared.connection.engine.kind
    }

    fn name(&self) -> &str {
        &self.leftover.name
    }

    /// Makes it, listens to it and starts it, in this order: nothing is missed.
    async fn begin(
        &mut self,
        body: ContainerCreateBody,
        plan: &Plan<'_>,
    ) -> Result<AttachContainerResults> {
        let client = &self.shared.connection.client;
        let named = CreateContainerOptionsBuilder::new().name(&self.leftover.name);
        let created = client.create_container(Some(named.build()), body).await;
        let created = created.map_err(|error| {
            self.look_for_lack(&error, plan);
            self.refused(&error, plan)
        })?;
        self.leftover.seen = true;
        for warning in created.warnings {
            tracing::debug!(container = self.name(), warning, "the engine warns");
        }
        let streams = AttachContainerOptionsBuilder::new()
            .stream(true)
            .stdin(plan.execution.stdin.is_some())
            .stdout(true)
            .stderr(true)
            .build();
        let command = plan.program();
        let attached = client.attach_container(self.name(), Some(streams)).await;
        // Podman makes the program ready here, and has not begun to start it.
        if (attached.as_ref().err()).is_some_and(|error| status(error).is_some()) {
            self.leftover.may_return = false;
        }
        let kind = self.kind();
        let attached = attached.map_err(|error| not_attached(kind, &error, command, plan.image))?;
        let started = client.start_container(self.name(), None).await;
        // Unless the engine has answered, it may start yet.
        if (started.as_ref().err()).is_none_or(|error| status(error).is_some()) {
            self.leftover.kept = !self.shared.settings.auto_remove;
            self.leftover.may_return = false;
        }
        started.map_err(|error| {
            self.look_for_lack(&error, plan);
            not_started(kind, &error, command, plan.image)
        })?;
        Ok(attached)
    }

    /// Notes that it failed for something it can do without.
    fn look_for_lack(&mut self, error: &Error, plan: &Plan<'_>) {
        if status(error).is_none() {
            return;
        }
        let reason = said(error);
        // Errors of engines have the path in them.
        if plan.hosts.is_some_and(|file| reason.contains(file)) {
            self.shared.hosts.refuse(&reason);
            self.lacks = Some(Extra::Hosts);
        } else if plan.init && reason.contains("init binary") {
            tracing::warn!(
                reason,
                "a command that is process 1 of its container ignores signals that it does not \
                 handle: install `catatonit`"
            );
            self.shared.has_init.store(false, Relaxed);
            self.lacks = Some(Extra::Init);
        }
    }

    /// Why the engine made none. It may have: where no answer came, nobody knows.
    fn refused(&mut self, error: &Error, plan: &Plan<'_>) -> RuntimeError {
        if status(error).is_some() {
            self.gone = true;
        }
        if is_missing(error) {
            let reason = "it was removed before the container was made";
            return image::gone(self.kind(), plan.image, reason);
        }
        if let Some(workspace) = plan.place.mounts.first()
            && said(error).contains("bind source path does not exist")
        {
            return RuntimeError::Folder {
                path: (&workspace.source).into(),
                reason: "the engine does not find it (one on another machine has other folders)"
                    .to_owned(),
                granted_by: self.shared.settings.workspace.origin(),
            };
        }
        not_created(self.kind(), error)
    }

    /// Reads and feeds it until it ends, or is ended.
    async fn attend(
        &mut self,
        attached: AttachContainerResults,
        plan: &Plan<'_>,
        captures: &Captures,
        stop: &Stop<'_>,
        started: Instant,
    ) -> Result<ExecutionOutput> {
        let AttachContainerResults { output, input } = attached;
        // Fused: its end may lie behind when the call is stopped.
        let hangs_up = self.shared.connection.hangs_up_on_input();
        let mut read = pin!(captures.read(output, hangs_up).fuse());
        let ended = tokio::select! {
            biased;
            end = self.end(read.as_mut()) => Ok(end?),
            never = feed(input, plan.execution.stdin) => match never {},
            ending = stop.wait() => Err(ending),
        };
        let end = match ended {
            Ok(end) => {
                self.ended = true;
                end
            }
            Err(ending) => {
                self.kill(read).await;
                return Ok(captures.output(ending, None, started));
            }
        };
        let limit = plan.memory_limit();
        if end.out_of_memory {
            return Ok(captures.output(Ending::OutOfMemory { limit }, None, started));
        }
        let code = i32::try_from(end.exit_code).unwrap_or(i32::MAX);
        let output = captures.output(Ending::Exited, Some(code), started);
        let silent = output.stdout.bytes.is_empty() && output.stderr.dropped == 0;
        let never = silent
            .then(|| {
                not_begun(
                    end.exit_code,
                    &output.stderr.bytes,
                    plan.program(),
                    plan.image,
                )
            })
            .flatten();
        never.map_or(Ok(output), Err)
    }

    /// Waits until all output is read, and then until the container has ended.
    async fn end(&self, read: Pin<&mut impl Future<Output = Result<(), Error>>>) -> Result<End> {
        let failed = |error: &Error| interrupted(self.kind(), error);
        let cut_off = || cut_off(self.kind());
        read.await.map_err(|error| failed(&error))?;
        let client = &self.shared.patient;
        // It may have closed its streams and go on.
        let options = WaitContainerOptions {
            condition: "not-running".to_owned(),
        };
        let mut answers = client.wait_container(self.name(), Some(options));
        let told = match answers.next().await {
            Some(Ok(ended)) => match ended.error.and_then(|error| error.message) {
                None => ended.status_code,
                // Podman's code is 0 then.
                Some(reason) => return Err(untold(self.kind(), &reason)),
            },
            Some(Err(Error::DockerContainerWaitError { code, .. })) => code,
            Some(Err(error)) => return Err(failed(&error)),
            None => return Err(cut_off()),
        };
        // The engine says more only once it has cleared away, and there is nothing to ask:
        // whatever was killed in it for memory, the command did its work.
        if told == 0 {
            return Ok(End {
                exit_code: told,
                out_of_memory: false,
            });
        }
        let connection = &self.shared.connection;
        let inspected = memory::State::of(connection, self.name()).await;
        let state = inspected.map_err(|error| failed(&error))?;
        Ok(End {
            exit_code: state.exit_code,
            out_of_memory: memory::ran_out(connection, self.name(), &state, self.began).await,
        })
    }

    /// Ends everything in it, and hears the last of its output.
    async fn kill(&self, read: Pin<&mut impl FusedFuture<Output = Result<(), Error>>>) {
        let client = &self.shared.connection.client;
        let options = KillContainerOptions {
            signal: "SIGKILL".to_owned(),
        };
        let killed = timeout(
            LAST_WORDS,
            client.kill_container(self.name(), Some(options)),
        );
        match killed.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) if is_settled(&error) || is_missing(&error) => {}
            // It is removed by force later on.
            _ => return,
        }
        if !read.is_terminated() {
            let _ = timeout(LAST_WORDS, read).await;
        }
    }

    /// Removes it, or hands it over.
    async fn dispose(mut self) {
        if self.gone {
            return;
        }
        if self.leftover.kept {
            tracing::info!(container = self.name(), "kept for inspection");
        }
        if self.ended && !self.shared.caretaker.is_behind() {
            return;
        }
        let client = &self.shared.connection.client;
        let disposed = timeout(LAST_WORDS, self.leftover.dispose(client)).await;
        self.gone = matches!(disposed, Ok(Ok(_))) && !self.leftover.may_return;
    }

    /// Gets rid of one that was stopped while it began. Whether it exists may not be known.
    async fn abandon(self) {
        if self.leftover.seen {
            self.dispose().await;
        }
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        if !self.gone {
            self.shared.caretaker.take(self.leftover.clone());
        }
    }
}

fn untold(kind: Kind, reason: &str) -> RuntimeError {
    let reason = format!(
        "the engine can not say how the container ended, which others may have removed: {reason}"
    );
    broken_off(kind, &reason)
}

fn cut_off(kind: Kind) -> RuntimeError {
    let reason = "the engine hung up before it said how the container ended";
    broken_off(kind, reason)
}
