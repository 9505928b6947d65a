//! What commands begin with: logging, limits of the process, the configuration, the
//! asynchronous runtime.

use std::future::Future;

use prx_host::config::{self, Config, Discovered, Environment};
use prx_host::running_hosts;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::render::{Failure, Screen, Tone};
use super::{Exit, Global};

/// Sends the program's own messages to standard error.
pub fn log(verbose: u8, quiet: u8, colours: bool) {
    let default = match (verbose, quiet) {
        // Commands themselves say which modules are broken.
        // What a client did wrong it is told itself.
        (0, 0) => "warn,prx_host::host=error,rmcp=error",
        (0, 1) => "error",
        (0, _) => "off",
        (1, _) => "info",
        (2, _) => "debug",
        _ => "trace",
    };
    let filter = match std::env::var("RUST_LOG") {
        Ok(text) if !text.is_empty() => EnvFilter::new(text),
        _ => EnvFilter::new(default),
    };
    // More than that, and it writes the values of variables.
    let filter = match "bollard=info".parse() {
        Ok(bound) => filter.add_directive(bound),
        Err(_) => filter,
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .without_time()
        .init();
}

/// Lets the process have as many files open as the system allows: each granted folder of
/// each running call is one.
pub fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "the limit of open files can not be raised");
    }
}

/// What asks a process to end: Ctrl-C, a service manager, a terminal that is closed.
pub struct Interrupts([Signal; 3]);

impl Interrupts {
    /// Begins to listen: from now on none of them ends the process by itself.
    pub fn listen() -> Result<Self, Failure> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        let listen = || Ok(Self([interrupt?, terminate?, hangup?]));
        listen().map_err(|error: std::io::Error| {
            Failure::new(Exit::Internal, "signals can not be listened for").cause(error.to_string())
        })
    }

    /// Waits for the next one.
    pub async fn recv(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// The environment of the process.
pub fn environment() -> Result<Environment, Failure> {
    Environment::of_process().map_err(|error| {
        Failure::new(Exit::Usage, "the current folder can not be read")
            .cause(error.to_string())
            .help("change to a folder that exists")
    })
}

/// Finds the configuration file.
pub fn discover(global: &Global, environment: &Environment) -> Result<Discovered, Failure> {
    config::discover(global.config.as_deref(), environment).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let failure = Failure::new(Exit::Usage, error.to_string()).help(error.help());
        match source {
            Some(source) => failure.cause(source),
            None => failure,
        }
    })
}

/// Reads the configuration; warnings go to standard error.
pub fn configuration(global: &Global, screen: Screen) -> Result<Config, Failure> {
    let environment = environment()?;
    let discovered = discover(global, &environment)?;
    let loaded = Config::load(&discovered, &environment).map_err(|faults| {
        let file = discovered.file.as_deref();
        // Who mends the file wants to know that nobody is waiting.
        for host in running_hosts(&environment, file) {
            screen.note(&screen.paint_err(
                &format!(
                    "note: process {} goes on with the last good configuration, since {}",
                    host.pid, host.since
                ),
                Tone::Warning,
            ));
        }
        Failure::of_faults(faults)
    })?;
    warn(&loaded.warnings, global, screen);
    Ok(loaded.config)
}

/// Shows what is odd in a configuration that can be used.
pub fn warn(warnings: &config::Faults, global: &Global, screen: Screen) {
    if !warnings.is_empty() && global.quiet == 0 {
        screen.note(&warnings.render(screen.colours_on_stderr()));
    }
}

/// How often timers and signals are looked at: each time that a busy guest yields.
const EVENT_INTERVAL: u32 = 1;

/// Runs asynchronous work to its end, on this thread: a command is about one thing, and
/// what blocks has threads of its own.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut runtime = Builder::new_current_thread();
    run(runtime.event_interval(EVENT_INTERVAL), work)
}

/// Runs asynchronous work to its end on as many threads as there are processors: for
/// commands that do many things at a time.
#[cfg(feature = "mcp")]
pub fn block_on_all<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    run(&mut Builder::new_multi_thread(), work)
}

/// What a guest keeps blocked is left behind: it must not keep the program alive.
fn run<T>(
    runtime: &mut Builder,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = runtime.enable_all().build().map_err(|error| {
        Failure::new(Exit::Internal, "threads can not be started").cause(error.to_string())
    })?;
    let result = runtime.block_on(Box::pin(work));
    runtime.shutdown_background();
    result
}
