//! The trait of all backends: run one command under limits, and say how it ended.
//!
//! Invariant: when a method of an adapter returns, or its future is dropped, nothing of
//! the command is left running.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{Result, RuntimeError};
use crate::model::{Captured, Event, EventSink, LimitKind, Trap};

/// A backend: it runs commands in processes, containers or WebAssembly instances.
///
/// Whoever implements it needs the three methods without a body. The adapters of this
/// crate also carry standard input, cancellation and streaming: see [`run`](Self::run).
///
/// Dropping a returned future ends the command and everything that it started.
#[async_trait]
pub trait RuntimeAdapter: Send + Sync {
    /// Runs a command to its end.
    ///
    /// * Without `args`, `command` is a line for the shell of the backend; for `wasm` it is
    ///   a module. With `args`, `command` is a program and each of `args` is one argument
    ///   of it, whatever is in it.
    /// * `env` comes on top of the variables that the configuration lets through.
    /// * `working_dir` is a folder of this machine; `None` is the configured workspace.
    /// * `timeout` is wall clock. When it passes, the command is ended and the output so
    ///   far is in the answer.
    ///
    /// # Errors
    ///
    /// When the command never ran, or the backend broke down below it. A command that
    /// failed is no error: see [`ExecutionOutput::ending`].
    async fn execute(
        &self,
        command: &str,
        args: &[String],
        env: &HashMap<String, String>,
        working_dir: Option<&Path>,
        timeout: Duration,
    ) -> Result<ExecutionOutput>;

    /// Whether a command could run now.
    async fn is_available(&self) -> bool;

    /// `native`, `docker`, `wasm`, or the name of an adapter from elsewhere.
    fn name(&self) -> &str;

    /// Runs a command with standard input, cancellation, streaming and limits of its own.
    ///
    /// The body here serves adapters that only have [`execute`](Self::execute): it can
    /// cancel, tells of the output at the end, and refuses what would be lost.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    async fn run(&self, execution: Execution<'_>) -> Result<ExecutionOutput> {
        execute_plainly(self, execution).await
    }
}

async fn execute_plainly<A: RuntimeAdapter + ?Sized>(
    adapter: &A,
    execution: Execution<'_>,
) -> Result<ExecutionOutput> {
    let refuse = |what| {
        Err(RuntimeError::Unsupported {
            backend: adapter.name().to_owned(),
            what,
        })
    };
    if execution.stdin.is_some() {
        return refuse("standard input");
    }
    if execution.max_memory.is_some() {
        return refuse("a memory limit for one command");
    }
    let (command, args) = match execution.program {
        Program::Shell(line) => (line, &[][..]),
        Program::Direct { args: [], .. } => return refuse("a program without arguments"),
        Program::Direct { program, args } => (program, args),
    };
    let started = Instant::now();
    let running = adapter.execute(
        command,
        args,
        execution.env,
        execution.working_dir,
        execution.timeout,
    );
    let mut output = match execution.cancel {
        None => running.await?,
        Some(cancel) => tokio::select! {
            biased;
            output = running => output?,
            () = cancel.cancelled() => ExecutionOutput::unheard(Ending::Cancelled, started),
        },
    };
    if let Some(limit) = execution.max_output {
        output.stdout.cut(limit);
        output.stderr.cut(limit);
    }
    if let Some(events) = &execution.events {
        events(Event::Stdout(&output.stdout.bytes));
        events(Event::Stderr(&output.stderr.bytes));
    }
    Ok(output)
}

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program<'a> {
    /// A line for the shell; for `wasm`, a module without arguments.
    Shell(&'a str),
    /// A program and its arguments, with no shell between.
    Direct {
        /// A name to look up in `PATH`, or a path; for `wasm`, a module.
        program: &'a str,
        /// Each is one argument, whatever is in it.
        args: &'a [String],
    },
}

impl<'a> Program<'a> {
    /// How [`RuntimeAdapter::execute`] reads its arguments.
    pub fn of(command: &'a str, args: &'a [String]) -> Self {
        if args.is_empty() {
            Self::Shell(command)
        } else {
            Self::Direct {
                program: command,
                args,
            }
        }
    }

    /// The line, or the program's name.
    pub fn command(&self) -> &'a str {
        match self {
            Self::Shell(command)
            | Self::Direct {
                program: command, ..
            } => command,
        }
    }
}

/// One use of [`RuntimeAdapter::run`].
#[derive(Clone)]
pub struct Execution<'a> {
    /// What to run.
    pub program: Program<'a>,
    /// Variables on top of those that the configuration lets through.
    pub env: &'a HashMap<String, String>,
    /// A folder of this machine; `None` is the configured workspace.
    pub working_dir: Option<&'a Path>,
    /// Wall clock.
    pub timeout: Duration,
    /// Standard input; `None` is one that is at its end already.
    pub stdin: Option<&'a [u8]>,
    /// Ends the command earlier; the output so far is in the answer.
    pub cancel: Option<&'a CancellationToken>,
    /// Hears output as it comes, up to the limit.
    pub events: Option<EventSink>,
    /// Bytes kept of each output stream; `None`: as configured for the adapter.
    pub max_output: Option<u64>,
    /// Bytes of memory; `None`: as configured for the adapter.
    pub max_memory: Option<u64>,
}

impl<'a> Execution<'a> {
    /// What [`RuntimeAdapter::execute`] is asked for.
    pub fn plain(
        command: &'a str,
        args: &'a [String],
        env: &'a HashMap<String, String>,
        working_dir: Option<&'a Path>,
        timeout: Duration,
    ) -> Self {
        Self {
            working_dir,
            ..Self::new(Program::of(command, args), env, timeout)
        }
    }

    /// A command with nothing on its standard input and the adapter's limits.
    pub fn new(program: Program<'a>, env: &'a HashMap<String, String>, timeout: Duration) -> Self {
        Self {
            program,
            env,
            working_dir: None,
            timeout,
            stdin: None,
            cancel: None,
            events: None,
            max_output: None,
            max_memory: None,
        }
    }
}

/// What a command left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionOutput {
    /// The beginning of its standard output.
    pub stdout: Captured,
    /// The beginning of its standard error.
    pub stderr: Captured,
    /// The code with which it ended by itself; `None` when it was ended.
    pub exit_code: Option<i32>,
    /// From its start to its end.
    pub duration: Duration,
    /// How much of that it waited for a place among the commands that its backend runs at
    /// one time.
    pub waited: Duration,
    /// How it ended.
    pub ending: Ending,
}

impl ExecutionOutput {
    /// The command ended by itself, with code 0.
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0)
    }

    /// Nothing was heard of a command that ended so.
    pub(super) fn unheard(ending: Ending, started: Instant) -> Self {
        Self {
            stdout: Captured::default(),
            stderr: Captured::default(),
            exit_code: None,
            duration: started.elapsed(),
            waited: Duration::ZERO,
            ending,
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// By itself, with [`ExecutionOutput::exit_code`].
    Exited,
    /// By a signal that this host did not send.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// The deadline passed.
    TimedOut,
    /// The caller wanted no answer any more.
    Cancelled,
    /// It needed more memory than it may have.
    OutOfMemory {
        /// The limit, in bytes.
        limit: u64,
    },
    /// It used more processor time than it may.
    OutOfCpuTime {
        /// The limit.
        limit: Duration,
    },
    /// Another limit was reached.
    LimitReached {
        /// Which one.
        kind: LimitKind,
        /// Its value.
        limit: u64,
    },
    /// A WebAssembly guest broke down.
    Trapped(Trap),
}

/// Waits until the caller wants no answer any more.
pub(crate) async fn cancelled(cancel: Option<&CancellationToken>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An adapter that has only what it must have.
    struct Plain;

    #[async_trait]
    impl RuntimeAdapter for Plain {
        async fn execute(
            &self,
            _command: &str,
            _args: &[String],
            _env: &HashMap<String, String>,
            _working_dir: Option<&Path>,
            _timeout: Duration,
        ) -> Result<ExecutionOutput> {
            Ok(ExecutionOutput::unheard(Ending::Exited, Instant::now()))
        }

        async fn is_available(&self) -> bool {
            true
        }

        fn name(&self) -> &'static str {
            "plain"
        }
    }

    #[tokio::test]
    async fn what_a_plain_adapter_does_not_carry_is_refused() {
        let env = HashMap::new();
        let asked = Execution::new(Program::Shell("true"), &env, Duration::from_mins(1));
        assert_eq!(
            Plain.run(asked.clone()).await.unwrap().ending,
            Ending::Exited
        );
        let lost = [
            Execution {
                stdin: Some(b""),
                ..asked.clone()
            },
            Execution {
                max_memory: Some(1),
                ..asked
            },
        ];
        for execution in lost {
            let refused = Plain.run(execution).await;
            assert!(
                matches!(refused, Err(RuntimeError::Unsupported { .. })),
                "{refused:?}"
            );
        }
    }
}
