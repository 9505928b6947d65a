//! `prx-host check`: everything that is wrong with the configuration and the modules, at
//! once, each with its remedy.

use std::collections::BTreeMap;

use prx_host::config::{Config, Severity};
use prx_host::{Host, Snapshot};
use serde::Serialize;
use serde_json::json;

use super::list::{lines_of, open};
use super::render::{Failure, Line, Screen, Tone};
use super::{Exit, Global, facts, start, version};

/// Check the configuration and all modules; exit code 2 when something is wrong
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
        Self { severity, what, lines, rendered: None }
    }

    fn render(&self, screen: &Screen) -> String {
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
pub fn run(arguments: &Arguments, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
    let environment = start::environment()?;
    let discovered = start::discover(global, &environment)?;
    let file = discovered.file.as_ref().map(|file| file.display().to_string());
    let mut checked = Checked { file, tools: 0, findings: Vec::new() };
    match Config::load(&discovered, &environment) {
        Err(faults) => checked.findings = of_configuration(&faults, screen),
        Ok(loaded) => {
            checked.findings = of_configuration(&loaded.warnings, screen);
            start::block_on(modules(loaded.config, screen, &mut checked))?;
        }
    }
    let count = |severity| checked.findings.iter().filter(|one| one.severity == severity).count();
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

fn text(checked: &Checked, errors: usize, warnings: usize, screen: &Screen) -> String {
    let mut text = String::new();
    for finding in &checked.findings {
        text.push_str(&finding.render(screen));
        text.push_str("\n\n");
    }
    let file = checked.file.as_deref().unwrap_or("no configuration file");
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let summary = match (errors, warnings) {
        (0, 0) => screen.paint("all is well", Tone::Good),
        (errors, warnings) => {
            let tone = if errors > 0 { Tone::Error } else { Tone::Warning };
            let both = format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
            screen.paint(&both, tone)
        }
    };
    text.push_str(&format!("{file}, {} ready: {summary}", counted(checked.tools, "tool")));
    text
}

fn of_configuration(faults: &prx_host::config::Faults, screen: &Screen) -> Vec<Finding> {
    let rendered = faults.iter().map(|fault| {
        let mut lines: Vec<Line> = Vec::new();
        lines.extend(fault.cause.clone().map(|cause| ("cause", cause)));
        lines.extend(fault.place.as_ref().map(|place| ("place", place.to_string())));
        lines.extend(fault.key.clone().map(|key| ("key", key)));
        lines.extend(fault.help.clone().map(|help| ("help", help)));
        Finding {
            rendered: Some(faults.render_one(fault, screen.colours_on_stdout())),
            ..Finding::new(fault.severity, fault.what.clone(), lines)
        }
    });
    rendered.collect()
}

async fn modules(config: Config, screen: &Screen, checked: &mut Checked) -> Result<(), Failure> {
    let host = open(config, screen).await?;
    let snapshot = host.snapshot();
    checked.tools = snapshot.tools().len();
    let findings = &mut checked.findings;
    findings.extend(snapshot.broken().iter().map(|broken| {
        let what = format!("`{}` can not be called", broken.name);
        Finding::new(Severity::Error, what, lines_of(broken))
    }));
    findings.extend(missing_folders(&snapshot));
    findings.extend(unmet_requests(&snapshot));
    findings.extend(of_cache(&host));
    if let Some(missing) = version::missing() {
        findings.push(Finding::new(Severity::Warning, missing.into(), Vec::new()));
    }
    Ok(())
}

/// One finding for each folder, however many tools it was granted to.
fn missing_folders(snapshot: &Snapshot) -> Vec<Finding> {
    let mut missing: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for tool in snapshot.tools() {
        for grant in facts::missing_folders(tool.entry()) {
            let folder = (grant.host.display().to_string(), grant.granted_by.clone());
            missing.entry(folder).or_default().push(tool.name());
        }
    }
    let findings = missing.into_iter().map(|((folder, granted_by), tools)| {
        let lines = vec![
            ("cause", format!("{granted_by} grants it to {}", names(&tools))),
            ("help", "create the folder, or correct the key; calls are refused until then".into()),
        ];
        Finding::new(Severity::Error, format!("the folder `{folder}` is missing"), lines)
    });
    findings.collect()
}

fn names(tools: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> =
        tools.iter().take(SHOWN).map(|tool| format!("`{tool}`")).collect();
    if tools.len() > SHOWN {
        names.push(format!("{} more", tools.len() - SHOWN));
    }
    names.join(", ")
}

/// What tools need and were not granted.
fn unmet_requests(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Vec::new();
    for tool in snapshot.tools() {
        let entry = tool.entry();
        for request in entry.grants().unmet(&tool.spec().requests) {
            let capability = &request.capability;
            let mut lines: Vec<Line> = Vec::new();
            if !request.reason.is_empty() {
                lines.push(("cause", format!("it says why it needs it: {}", request.reason)));
            }
            lines.push(("help", entry.how_to_grant(capability)));
            let what = format!("tool `{}` asks for what it is not granted: {capability}", tool.name());
            findings.push(Finding::new(Severity::Warning, what, lines));
        }
    }
    findings
}

#[cfg(feature = "wasm-runtime")]
fn of_cache(host: &Host) -> Option<Finding> {
    let problem = host.cache_problem()?;
    let key = host.config().runtime.wasm.cache_path.origin();
    let lines = vec![
        ("cause", problem.to_owned()),
        ("help", format!("make the folder writable, or correct {key}")),
    ];
    let what = "compiled modules are not kept: each start compiles them again".to_owned();
    Some(Finding::new(Severity::Warning, what, lines))
}

#[cfg(not(feature = "wasm-runtime"))]
fn of_cache(_host: &Host) -> Option<Finding> {
    None
}
