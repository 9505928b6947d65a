//! `prx-host call`: one call of one tool.

mod answer;
mod arguments;
mod outcome;
mod sources;
mod wanted;

use std::path::PathBuf;
use std::time::Duration;

use prx_host::Host;
use prx_host::config::Config;
use prx_host::model::{CallOptions, CallReport, Outcome};
use tokio_util::sync::CancellationToken;

use super::list::{open, open_with};
use super::listener::Listener;
use super::render::{Failure, Screen};
use super::start::Interrupts;
use super::{Exit, Global, start};
use arguments::Given;

/// What a call says of its caller.
const CLIENT: &str = "prx-host call";

#[derive(clap::Args)]
#[command(
    after_help = "Examples:
  prx-host call wordcount --arg text='to be or not'
  prx-host call wordcount '{\"text\": \"to be\", \"min_length\": 3}'
  prx-host call search --arg 'words:=[\"a\", \"b\"]' --arg text=@notes.txt --timeout 5
  generate | prx-host call convert - --json
  prx-host call qr --arg text=hello --output code.png",
    after_long_help = "Values of --arg are read as the tool's schema wants them: text as it stands where a string
is wanted, JSON everywhere else.
  key=value    the value itself
  key=@file    the text of a file (`@-`: of standard input)
  key:=json    JSON, whatever the schema says (`key:=@file`: from a file)

What the skill logs and prints goes to standard error; its answer goes to standard output.

Examples:
  prx-host call wordcount --arg text='to be or not'
  prx-host call wordcount '{\"text\": \"to be\", \"min_length\": 3}'
  prx-host call search --arg 'words:=[\"a\", \"b\"]' --arg text=@notes.txt --timeout 5
  generate | prx-host call convert - --json
  prx-host call qr --arg text=hello --output code.png"
)]
pub struct Arguments {
    /// The tool, as `prx-host list` names it.
    tool: String,
    /// The arguments as one JSON object; `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "JSON | - | @FILE")]
    whole: Option<String>,
    /// One argument; wins over the same key in JSON. Can be repeated.
    #[arg(long = "arg", short = 'a', value_name = "KEY=VALUE")]
    args: Vec<String>,
    /// Seconds after which the call is ended; can only shorten the configured time.
    #[arg(long, short = 't', value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Save what the answer holds (images, sounds, bytes, else text) to this file or folder; `-` writes bytes to standard output.
    #[arg(long, short = 'o', value_name = "PATH")]
    output: Option<PathBuf>,
}

/// A number of seconds above 0, as an option has it.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "it is no number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("it must be more than 0 seconds".into()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    // Read before the host opens: a wrong command line needs no compiler.
    let given = Given::read(arguments.whole.as_deref(), &arguments.args)?;
    let report = start::block_on(call(arguments, config, &given, screen))?;
    answer::show(&report, arguments, screen)
}

async fn call(
    arguments: &Arguments,
    config: Config,
    given: &Given,
    screen: Screen,
) -> Result<CallReport, Failure> {
    let tool = arguments.tool.as_str();
    let builder = Host::builder(config.clone()).only(tool);
    // One listener for the whole command: no interrupt is lost between two steps of it.
    let mut interrupts = Interrupts::listen()?;
    let host = opened(open_with(builder, screen), tool, &mut interrupts).await?;
    let snapshot = host.snapshot();
    let found = snapshot.tool(tool);
    let text = match found {
        Some(tool) => given.for_schema(&tool.spec().input_schema)?,
        None => given.for_schema(&serde_json::Value::Bool(true))?,
    };
    let listener = Listener::new(screen, found.is_none_or(|tool| !tool.entry().is_command()));
    let cancel = CancellationToken::new();
    let options = CallOptions {
        timeout: arguments.timeout,
        cancel: Some(cancel.clone()),
        events: Some(listener.sink()),
        client: Some(CLIENT.into()),
        ..CallOptions::default()
    };
    let report = watched(&host, tool, &text, options, &cancel, &mut interrupts).await;
    listener.finish();
    let report = report?;
    if matches!(report.outcome, Outcome::UnknownTool { .. }) {
        // Only a host of all tools knows which one was meant.
        let host = opened(Box::pin(open(config, screen)), tool, &mut interrupts).await?;
        return Ok(host.call(tool, &text, CallOptions::default()).await);
    }
    if found.is_some_and(|tool| !tool.entry().is_command()) {
        // A skill leaves nothing behind that would have to be cleared away, and the process
        // ends: taking the host apart would only make the caller wait.
        std::mem::forget(host);
    }
    Ok(report)
}

/// Waits for a host, at most until Ctrl-C.
async fn opened(
    opening: impl Future<Output = Result<Host, Failure>>,
    tool: &str,
    interrupts: &mut Interrupts,
) -> Result<Host, Failure> {
    tokio::select! {
        opened = opening => opened,
        () = interrupts.recv() => Err(outcome::cancelled(tool)),
    }
}

/// Waits for the call. The first Ctrl-C cancels it, the second one waits no more.
async fn watched(
    host: &Host,
    tool: &str,
    text: &str,
    options: CallOptions,
    cancel: &CancellationToken,
    interrupts: &mut Interrupts,
) -> Result<CallReport, Failure> {
    let call = host.call(tool, text, options);
    tokio::pin!(call);
    loop {
        tokio::select! {
            report = &mut call => return Ok(report),
            () = interrupts.recv() => {
                if cancel.is_cancelled() {
                    return Err(outcome::cancelled(tool));
                }
                cancel.cancel();
            }
        }
    }
}
