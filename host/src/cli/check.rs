//! `prx-host check`: everything that is wrong with the configuration and the modules, at
//! once, each with its remedy.

mod served;

use std::fmt::Write as _;

use prx_host::config::{Config, Severity};
use prx_host::model::Request;
use prx_host::model::Shown as _;
use prx_host::{Entry, Host, Snapshot};
use serde::Serialize;
use serde_json::json;

use super::facts::MissingFolder;
use super::list::{lines_of, open, what_of};
use super::render::{Failure, Line, Screen, Tone};
use super::{Exit, Global, facts, noticed, start, version};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  prx-host check
  prx-host check --strict --config ./config.toml   # warnings count too")]
pub struct Arguments {
    /// Warnings are errors.
    #[arg(long)]
    strict: bool,
}

/// One thing that is wrong.
#[derive(Serialize)]
struct Finding {
    severity: Severity,
    what: String,
    #[serde(flatten, serialize_with = "as_map")]
    lines: Vec<Line>,
    /// As people see it, where the configuration has rendered it already.
    #[serde(skip)]
    rendered: Option<String>,
}

fn as_map<S: serde::Serializer>(lines: &[Line], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(lines.iter().map(|(label, text)| (label, text)))
}

impl Finding {
    fn new(severity: Severity, what: String, lines: Vec<Line>) -> Self {
        Self {
            severity,
            what,
            lines,
            rendered: None,
        }
    }

    fn render(&self, screen: Screen) -> String {
        if let Some(rendered) = &self.rendered {
            return rendered.clone();
        }
        let tone = match self.severity {
            Severity::Error => Tone::Error,
            Severity::Warning => Tone::Warning,
        };
        screen.block(&self.severity.to_string(), tone, &self.what, &self.lines)
    }
}

/// What was looked at, and what was found.
struct Checked {
    file: Option<String>,
    tools: usize,
    findings: Vec<Finding>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let environment = start::environment()?;
    let discovered = start::discover(global, &environment)?;
    let file = discovered
        .file
        .as_ref()
        .map(|file| file.display().to_string());
    let mut checked = Checked {
        file,
        tools: 0,
        findings: Vec::new(),
    };
    match Config::load(&discovered, &environment) {
        Err(faults) => checked.findings = of_configuration(&faults, screen),
        Ok(loaded) => {
            checked.findings = of_configuration(&loaded.warnings, screen);
            start::block_on(modules(loaded.config, screen, &mut checked))?;
        }
    }
    let count = |severity| {
        checked
            .findings
            .iter()
            .filter(|one| one.severity == severity)
            .count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if screen.json() {
        screen.print_json(&json!({
            "file": checked.file,
            "tools": checked.tools,
            "errors": errors,
            "warnings": warnings,
            "findings": checked.findings,
        }))?;
    } else {
        screen.print(&text(&checked, errors, warnings, screen))?;
    }
    let failed = errors > 0 || (arguments.strict && warnings > 0);
    Ok(if failed { Exit::Usage } else { Exit::Ok })
}

fn text(checked: &Checked, errors: usize, warnings: usize, screen: Screen) -> String {
    let mut text = String::new();
    for finding in &checked.findings {
        text.push_str(&finding.render(screen));
        text.push_str("\n\n");
    }
    let file = checked.file.as_deref().unwrap_or("no configuration file");
    let file = file.shown();
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let summary = match (errors, warnings) {
        (0, 0) => screen.paint("all is well", Tone::Good),
        (errors, warnings) => {
            let tone = if errors > 0 {
                Tone::Error
            } else {
                Tone::Warning
            };
            let both = format!(
                "{}, {}",
                counted(errors, "error"),
                counted(warnings, "warning")
            );
            screen.paint(&both, tone)
        }
    };
    let _ = write!(
        text,
        "{file}, {} ready: {summary}",
        counted(checked.tools, "tool")
    );
    text
}

fn of_configuration(faults: &prx_host::config::Faults, screen: Screen) -> Vec<Finding> {
    let rendered = faults.iter().map(|fault| {
        let mut lines: Vec<Line> = Vec::new();
        lines.extend(fault.cause.clone().map(|cause| ("cause", cause)));
        lines.extend(
            fault
                .place
                .as_ref()
                .map(|place| ("place", place.to_string())),
        );
        lines.extend(fault.key.clone().map(|key| ("key", key)));
        lines.extend(fault.help.clone().map(|help| ("help", help)));
        Finding {
            rendered: Some(faults.render_one(fault, screen.colours_on_stdout())),
            ..Finding::new(fault.severity, fault.what.clone(), lines)
        }
    });
    rendered.collect()
}

async fn modules(config: Config, screen: Screen, checked: &mut Checked) -> Result<(), Failure> {
    let host = open(config, screen).await?;
    let snapshot = host.snapshot();
    checked.tools = snapshot.tools().len();
    let findings = &mut checked.findings;
    findings.extend(
        snapshot
            .broken()
            .iter()
            .map(|broken| Finding::new(Severity::Error, what_of(broken), lines_of(broken))),
    );
    findings.extend(
        MissingFolder::all(&snapshot)
            .iter()
            .map(|missing| Finding::new(Severity::Error, missing.what(), missing.lines())),
    );
    findings.extend(host.not_ready(&snapshot).await.into_iter().map(|missing| {
        let (what, lines) = noticed::of_not_ready(missing);
        Finding::new(Severity::Warning, what, lines)
    }));
    let noticed = noticed::of_files(&host.passed_over()).into_iter();
    let noticed = noticed.chain(noticed::of_tools(&snapshot));
    findings.extend(noticed.map(|(what, lines)| Finding::new(Severity::Warning, what, lines)));
    findings.extend(unmet_requests(&snapshot));
    let unserved = served::unserved(&host.config(), &snapshot).into_iter();
    findings.extend(unserved.map(|(what, lines)| Finding::new(Severity::Warning, what, lines)));
    findings.extend(of_cache(&host));
    if let Some(missing) = version::missing() {
        findings.push(Finding::new(Severity::Warning, missing.into(), Vec::new()));
    }
    Ok(())
}

/// What entries need and were not granted, each thing once.
fn unmet_requests(snapshot: &Snapshot) -> Vec<Finding> {
    let mut unmet: Vec<(&Entry, &Request, Vec<String>)> = Vec::new();
    for tool in snapshot.tools() {
        let entry = tool.entry().as_ref();
        for request in entry.grants().unmet(&tool.spec().requests) {
            let name = tool.name().to_owned();
            let known = unmet.iter_mut().find(|(known, asked, _)| {
                known.name() == entry.name() && asked.capability == request.capability
            });
            match known {
                Some((.., tools)) => tools.push(name),
                None => unmet.push((entry, request, vec![name])),
            }
        }
    }
    let findings = unmet.into_iter().map(|(entry, request, tools)| {
        let mut cause = format!("{} can not do without", facts::names(&tools));
        if !request.reason.is_empty() {
            let _ = write!(cause, ": {}", request.reason);
        }
        let lines = vec![
            ("cause", cause),
            ("help", entry.how_to_grant(&request.capability)),
        ];
        let (name, capability) = (entry.name(), &request.capability);
        let what = format!("`{name}` asks for what it is not granted: {capability}");
        Finding::new(Severity::Warning, what, lines)
    });
    findings.collect()
}

#[cfg(feature = "wasm-runtime")]
fn of_cache(host: &Host) -> Option<Finding> {
    let problem = host.cache_problem()?;
    let key = host.config().runtime.wasm.cache_path.origin();
    let lines = vec![
        ("cause", problem.to_owned()),
        (
            "help",
            format!("make the folder writable, or correct {key}"),
        ),
    ];
    let what = "compiled modules are not kept: each start compiles them again".to_owned();
    Some(Finding::new(Severity::Warning, what, lines))
}

#[cfg(not(feature = "wasm-runtime"))]
fn of_cache(_host: &Host) -> Option<Finding> {
    None
}
