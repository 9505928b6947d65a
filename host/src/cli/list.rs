//! `prx-host list`: what can be called, and what can not and why.

use std::fmt::Write as _;
use std::sync::Arc;

use prx_host::config::Config;
use prx_host::model::Shown as _;
use prx_host::{Broken, Host, HostBuilder, NotReady, Snapshot, Tool};
use serde_json::{Value, json};

use super::facts::MissingFolder;
use super::render::{Failure, Screen, Tone, loading, table};
use super::{Exit, Global, facts, hosts, noticed, start, version};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  prx-host list
  prx-host list --json | jq -r '.[] | select(.state == \"ready\").tool'
  prx-host list --format openai > tools.json   # for a request to a model")]
pub struct Arguments {
    /// Print the tools as JSON in the form in which models are told of them.
    #[cfg(feature = "mcp")]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// Forms of tool definitions.
#[cfg(feature = "mcp")]
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
#[allow(missing_docs, reason = "named as on the command line")]
enum Format {
    Openai,
    Anthropic,
    Mcp,
}

impl Arguments {
    /// The tools in the form that is asked for.
    #[cfg(feature = "mcp")]
    fn definitions(&self, host: &Host) -> Option<Vec<Value>> {
        use prx_host::mcp::{ToolFilter, ToolFormat};
        let format = match self.format? {
            Format::Openai => ToolFormat::OpenAi,
            Format::Anthropic => ToolFormat::Anthropic,
            Format::Mcp => ToolFormat::Mcp,
        };
        Some(host.tool_definitions(format, &ToolFilter::default()))
    }

    #[cfg(not(feature = "mcp"))]
    #[allow(clippy::unused_self, reason = "as in a build with forms")]
    fn definitions(&self, _host: &Host) -> Option<Vec<Value>> {
        None
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    start::block_on(async {
        let host = open(config, screen).await?;
        let snapshot = host.snapshot();
        if let Some(definitions) = arguments.definitions(&host) {
            screen.print_json(&definitions)?;
        } else if screen.json() {
            screen.print_json(&json(&snapshot, &host.not_ready(&snapshot).await))?;
        } else {
            let missing = host.not_ready(&snapshot).await;
            screen.print(&text(&snapshot, &host, missing, screen))?;
        }
        Ok(Exit::Ok)
    })
}

/// Opens a host on everything that is configured.
pub async fn open(config: Config, screen: Screen) -> Result<Host, Failure> {
    open_with(Host::builder(config), screen).await
}

/// Opens a host; shows on a terminal how loading comes along.
pub async fn open_with(mut builder: HostBuilder, screen: Screen) -> Result<Host, Failure> {
    if let Some(listener) = loading(screen) {
        builder = builder.on_load(listener);
    }
    // On the heap: a configuration on the stack of each caller is large.
    Box::pin(builder.open()).await.map_err(open_failure)
}

/// A host that could not be opened.
#[allow(clippy::needless_pass_by_value, reason = "fits `map_err`")]
pub fn open_failure(error: prx_host::OpenError) -> Failure {
    let failure =
        Failure::new(Exit::Unavailable, "the host can not start").cause(error.to_string());
    match &error {
        prx_host::OpenError::Runtime(error) => failure.help_if_any(error.help()),
        _ => failure,
    }
}

fn json(snapshot: &Snapshot, missing: &[NotReady]) -> Vec<Value> {
    let one = |tool: &Arc<Tool>| {
        let mut facts = facts::tool_json(tool);
        if let Some(missing) = missing.iter().find(|one| one.tool == tool.name()) {
            facts["state"] = json!("not_ready");
            facts["reason"] = json!(missing.reason);
            facts["help"] = json!(missing.help);
        }
        facts
    };
    let mut all: Vec<Value> = snapshot.tools().map(one).collect();
    all.extend(snapshot.broken().iter().map(|broken| {
        json!({
            "tool": broken.name,
            "state": "broken",
            "place": broken.place,
            "backend": broken.backend,
            "module": broken.module.as_ref().map(|path| path.display().to_string()),
            "reason": broken.reason,
            "help": broken.help,
            "serving": broken.serving,
        })
    }));
    all
}

fn text(snapshot: &Snapshot, host: &Host, missing: Vec<NotReady>, screen: Screen) -> String {
    let config = host.config();
    let folder = &config.runtime.wasm.module_path.value;
    let mut rows: Vec<Vec<String>> = snapshot
        .tools()
        .map(|tool| tool_row(tool, folder, &missing))
        .collect();
    rows.extend(
        snapshot
            .broken()
            .iter()
            .map(|broken| broken_row(broken, folder)),
    );
    let mut text = String::new();
    if rows.is_empty() {
        let _ = writeln!(
            text,
            "There are no tools yet. Put a skill's `.wasm` file into `{}`.",
            folder.shown()
        );
    } else {
        let headings = ["tool", "module", "backend", "version", "grants", "state"];
        text.push_str(&table(screen, &headings, &rows));
    }
    for broken in snapshot.broken() {
        text.push_str("\n\n");
        text.push_str(&block_of(broken, screen));
    }
    for missing in MissingFolder::all(snapshot) {
        text.push_str("\n\n");
        text.push_str(&screen.block("warning", Tone::Warning, &missing.what(), &missing.lines()));
    }
    let noticed = missing.into_iter().map(noticed::of_not_ready);
    for (what, lines) in noticed.chain(noticed::of_files(&host.passed_over())) {
        text.push_str("\n\n");
        text.push_str(&screen.block("warning", Tone::Warning, &what, &lines));
    }
    for note in hosts::notes(snapshot, &host.running()) {
        text.push_str("\n\n");
        text.push_str(&screen.block("note", Tone::Warning, &screen.guest_out(&note), &[]));
    }
    if let Some(missing) = version::missing() {
        text.push_str("\n\n");
        text.push_str(&screen.block("note", Tone::Warning, missing, &[]));
    }
    text.replace("\n\n\n", "\n\n")
}

fn tool_row(tool: &Tool, folder: &std::path::Path, missing: &[NotReady]) -> Vec<String> {
    let entry = tool.entry();
    let module = facts::module(entry);
    let has_module = module.is_some();
    let state = match entry.missing_folders().next() {
        None if missing.iter().any(|one| one.tool == tool.name()) => "not ready, see below".into(),
        None => "ready".into(),
        Some(grant) => format!("folder missing: {}", grant.host.shown()),
    };
    vec![
        tool.name().to_owned(),
        module.as_ref().map_or_else(
            || "-".into(),
            |module| facts::short_path(&module.path, folder),
        ),
        entry.backend().as_str().to_owned(),
        module.map_or_else(|| "-".into(), |module| module.in_words),
        // What commands may touch on other backends is the same for all of them.
        if entry.is_command() && !has_module {
            "-".into()
        } else {
            facts::grants_in_short(entry.grants())
        },
        state,
    ]
}

fn broken_row(broken: &Broken, folder: &std::path::Path) -> Vec<String> {
    vec![
        broken.name.clone(),
        broken
            .module
            .as_ref()
            .map_or_else(|| "-".into(), |path| facts::short_path(path, folder)),
        broken.backend.to_owned(),
        "-".into(),
        "-".into(),
        "BROKEN, see below".into(),
    ]
}

/// A broken entry with its reason and remedy.
pub fn block_of(broken: &Broken, screen: Screen) -> String {
    screen.block("error", Tone::Error, &what_of(broken), &lines_of(broken))
}

/// What is wrong with a broken entry, in one line.
pub fn what_of(broken: &Broken) -> String {
    // What is no entry has a name in brackets.
    match broken
        .name
        .strip_prefix('(')
        .and_then(|name| name.strip_suffix(')'))
    {
        Some(name) => format!("the {name} can not be used"),
        None if broken.serving.is_some() => {
            format!("the new version of `{}` can not be used", broken.name)
        }
        None => format!("`{}` can not be called", broken.name),
    }
}

/// Reason, place and remedy of a broken entry.
pub fn lines_of(broken: &Broken) -> Vec<(&'static str, String)> {
    let mut lines = vec![("cause", broken.reason.clone())];
    if let Some(module) = &broken.module {
        lines.push(("module", module.shown().to_string()));
    }
    if let Some(place) = &broken.place {
        lines.push(("entry", place.clone()));
    }
    if let Some(serving) = &broken.serving {
        let version = facts::short_version(serving.version.as_deref());
        let since = humantime::format_rfc3339_seconds(serving.since.at);
        lines.push((
            "serving",
            format!("the last good version{version}, since {since}"),
        ));
    }
    if let Some(help) = &broken.help {
        lines.push(("help", help.clone()));
    }
    lines
}
