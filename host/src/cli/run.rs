//! `prx-host run`: one command on a backend, under the limits of the configuration.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use prx_host::config::{Backend, Config, Environment};
use prx_host::model::{Event, EventSink, format_bytes};
use prx_host::{Ending, Execution, ExecutionOutput, Program, RuntimeError, create_runtime_in};
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::listener::Listener;
use super::render::{Failure, Screen};
use super::start::Interrupts;
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(
    after_help = "A command alone is a line for the shell; with arguments it is a program, and no shell sees
them. On `wasm` it is a module. The exit code is the command's own; where it did not end by
itself, one of those that `prx-host --help` lists.

Examples:
  prx-host run -- 'ls | wc -l'
  prx-host run --backend docker --timeout 10 -- python3 -c 'print(6 * 7)'
  prx-host run --backend wasm --json -- qjs.wasm -e 'console.log(6 * 7)'"
)]
pub struct Arguments {
    /// Where it runs; else `runtime.backend` of the configuration.
    #[arg(long, short = 'b', value_enum, value_name = "BACKEND")]
    backend: Option<BackendName>,
    /// Seconds after which it is ended; else `runtime.default_timeout_secs`.
    #[arg(long, short = 't', value_name = "SECONDS", value_parser = super::call::seconds)]
    timeout: Option<Duration>,
    /// Let it read this program's standard input, to its end.
    #[arg(long, short = 'i')]
    stdin: bool,
    /// The command and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<String>,
}

/// `--backend`
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BackendName {
    /// The best there is.
    Auto,
    /// Processes of this machine.
    Native,
    /// Containers.
    Docker,
    /// WebAssembly modules.
    Wasm,
}

impl BackendName {
    fn backend(self) -> Option<Backend> {
        match self {
            Self::Auto => None,
            Self::Native => Some(Backend::Native),
            Self::Docker => Some(Backend::Docker),
            Self::Wasm => Some(Backend::Wasm),
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<ExitCode, Failure> {
    let mut config = start::configuration(global, screen)?;
    if let Some(backend) = arguments.backend {
        config.runtime.backend.value = backend.backend();
    }
    let stdin = if arguments.stdin {
        Some(standard_input()?)
    } else {
        None
    };
    let environment = start::environment()?;
    let (output, backend) = start::block_on(execute(
        arguments,
        &config,
        &environment,
        stdin.as_deref(),
        screen,
    ))?;
    if screen.json() {
        screen.print_json(&as_json(&output, &backend))?;
    }
    let limit = match arguments.timeout {
        Some(limit) => format!("--timeout {}", limit.as_secs_f64()),
        None => config.runtime.default_timeout.origin(),
    };
    ended(&output, &config, &limit, screen)
}

/// Bytes that a command may be given on its standard input.
const MAX_STDIN_BYTES: u64 = 64 << 20;

fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_STDIN_BYTES + 1)
        .read_to_end(&mut bytes);
    read.map_err(|error| {
        Failure::new(Exit::Usage, "standard input can not be read").cause(error.to_string())
    })?;
    if bytes.len() as u64 > MAX_STDIN_BYTES {
        let limit = format_bytes(MAX_STDIN_BYTES);
        return Err(Failure::new(Exit::Limit, "standard input is too long")
            .cause(format!("it has more than {limit}"))
            .help("put it into a file of the workspace"));
    }
    Ok(bytes)
}

async fn execute(
    arguments: &Arguments,
    config: &Config,
    environment: &Environment,
    stdin: Option<&[u8]>,
    screen: Screen,
) -> Result<(ExecutionOutput, String), Failure> {
    let runtime = create_runtime_in(config, environment)
        .await
        .map_err(failed)?;
    let (command, args) = arguments.command.split_first().ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no command").help("write it behind `--`")
    })?;
    let timeout = arguments
        .timeout
        .unwrap_or(config.runtime.default_timeout.value);
    let (env, cancel) = (HashMap::new(), CancellationToken::new());
    let mut execution = Execution::new(Program::of(command, args), &env, timeout);
    execution.stdin = stdin;
    execution.cancel = Some(&cancel);
    // Progress is that of an image being pulled.
    let listener = Listener::new(screen, false);
    let writer = (!screen.json()).then(Writer::start);
    execution.events = Some(events(&listener, writer.as_ref()));
    let mut interrupts = Interrupts::listen()?;
    let output = {
        // Dropped before the writer is waited for: it holds ends of its channel.
        let running = runtime.run(execution);
        tokio::pin!(running);
        tokio::select! {
            output = &mut running => output,
            () = interrupts.recv() => {
                cancel.cancel();
                running.await
            }
        }
    };
    listener.finish();
    if let Some(writer) = writer {
        // Who reads it may never come to the end.
        tokio::select! {
            () = writer.finish() => {}
            () = interrupts.recv() => {}
        }
    }
    Ok((output.map_err(failed)?, runtime.name().to_owned()))
}

fn events(listener: &Listener, writer: Option<&Writer>) -> EventSink {
    let (listener, progress) = (listener.clone(), listener.sink());
    let writer = writer.map(|writer| writer.sender.clone());
    Arc::new(move |event| match (event, &writer) {
        (Event::Progress(of_pull), _) => progress(Event::Progress(of_pull)),
        (Event::Stdout(bytes), Some(writer)) => {
            listener.finish();
            // The writer ends after its senders.
            let _ = writer.send((false, bytes.to_vec()));
        }
        (Event::Stderr(bytes), Some(writer)) => {
            listener.finish();
            let _ = writer.send((true, bytes.to_vec()));
        }
        _ => {}
    })
}

/// Writes output where the command meant it to go, as it comes: on a thread of its own,
/// because a reader may be slow, and time must go on. What waits is bounded by
/// `runtime.max_output_bytes`.
struct Writer {
    sender: mpsc::Sender<(bool, Vec<u8>)>,
    written: oneshot::Receiver<()>,
}

impl Writer {
    fn start() -> Self {
        let (sender, receiver) = mpsc::channel::<(bool, Vec<u8>)>();
        let (all_written, written) = oneshot::channel();
        std::thread::spawn(move || {
            for (is_error, bytes) in receiver {
                // Readers that are gone end nothing but the writing.
                let _ = if is_error {
                    std::io::stderr().lock().write_all(&bytes)
                } else {
                    let mut out = std::io::stdout().lock();
                    out.write_all(&bytes).and_then(|()| out.flush())
                };
            }
            let _ = all_written.send(());
        });
        Self { sender, written }
    }

    /// Waits until everything is written.
    async fn finish(self) {
        drop(self.sender);
        let _ = self.written.await;
    }
}

#[allow(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn failed(error: RuntimeError) -> Failure {
    let exit = match &error {
        RuntimeError::InvalidInput { .. } => Exit::Usage,
        _ => Exit::Unavailable,
    };
    Failure::new(exit, error.to_string()).help_if_any(error.help())
}

fn as_json(output: &ExecutionOutput, backend: &str) -> serde_json::Value {
    let ending = match &output.ending {
        Ending::Exited => json!("exited"),
        Ending::Signalled { signal } => json!({ "signalled": signal }),
        Ending::TimedOut => json!("timed_out"),
        Ending::Cancelled => json!("cancelled"),
        Ending::OutOfMemory { limit } => json!({ "out_of_memory": limit }),
        Ending::OutOfCpuTime { limit } => json!({ "out_of_cpu_seconds": limit.as_secs() }),
        Ending::LimitReached { kind, limit } => json!({ "limit_reached": kind, "limit": limit }),
        Ending::Trapped(trap) => json!({ "trapped": trap.message, "kind": trap.kind }),
        _ => json!("unknown"),
    };
    json!({
        "backend": backend,
        "ending": ending,
        "exit_code": output.exit_code,
        "duration_ms": super::facts::milliseconds(output.duration),
        "stdout": output.stdout.text(),
        "stdout_dropped_bytes": output.stdout.dropped,
        "stderr": output.stderr.text(),
        "stderr_dropped_bytes": output.stderr.dropped,
    })
}

/// The exit code; says on standard error why a command did not end by itself.
fn ended(
    output: &ExecutionOutput,
    config: &Config,
    time_limit: &str,
    screen: Screen,
) -> Result<ExitCode, Failure> {
    for (name, stream) in [("output", &output.stdout), ("error", &output.stderr)] {
        if stream.dropped > 0 && !screen.json() {
            let dropped = format_bytes(stream.dropped);
            let limit = config.runtime.max_output_bytes.origin();
            screen.note(&format!(
                "standard {name}: {dropped} more were dropped, by {limit}"
            ));
        }
    }
    let failure = match &output.ending {
        Ending::Exited => {
            // Codes beyond one byte are cut by the system, too.
            let code = output.exit_code.unwrap_or_default();
            return Ok(ExitCode::from(code.to_le_bytes()[0]));
        }
        Ending::Signalled { signal } => {
            if !screen.json() {
                screen.note(&format!("the command was ended by signal {signal}"));
            }
            let code = 128_i32.saturating_add(*signal);
            return Ok(ExitCode::from(code.to_le_bytes()[0]));
        }
        Ending::Cancelled => Failure::new(Exit::Cancelled, "the command was cancelled"),
        Ending::TimedOut => Failure::new(Exit::Limit, "the command was stopped: its time was up")
            .cause(format!("it ran for as long as it may: {time_limit}"))
            .help("allow it more with `--timeout SECONDS`"),
        Ending::OutOfMemory { limit } => Failure::new(Exit::Limit, "the command ran out of memory")
            .cause(format!("it may use {}", format_bytes(*limit)))
            .help("raise the limit of its backend; `prx-host config show` lists them"),
        Ending::OutOfCpuTime { limit } => {
            Failure::new(Exit::Limit, "the command used up its processor time")
                .cause(format!("it may use {} s", limit.as_secs()))
                .help("raise `security.resources.max_cpu_time_seconds`")
        }
        Ending::LimitReached { kind, limit } => {
            Failure::new(Exit::Limit, format!("the command reached a limit: {kind}"))
                .cause(format!("at most {} are allowed", kind.format(*limit)))
        }
        Ending::Trapped(trap) => {
            Failure::new(Exit::ToolFailed, "the command broke down").cause(trap.message.clone())
        }
        _ => Failure::new(Exit::Internal, "the command ended in an unknown way"),
    };
    if screen.json() {
        return Ok(failure.exit().into());
    }
    Err(failure)
}
