//! What was noticed of tools and files that work or would work, in the form of blocks: rules
//! of clients that they break, programs that are missing, files that are passed over.

use std::path::PathBuf;

use prx_host::lint::{Finding, Severity, similar_names};
use prx_host::model::Shown as _;
use prx_host::{NotReady, Snapshot};

use super::render::Line;

/// What is so, and the lines that explain it.
pub type Notice = (String, Vec<Line>);

/// A command that could not be started.
pub fn of_not_ready(missing: NotReady) -> Notice {
    let mut lines = vec![("cause", missing.reason)];
    lines.extend(missing.help.map(|help| ("help", help)));
    (format!("`{}` can not be called now", missing.tool), lines)
}

/// Files that are no modules for the case of their ending.
pub fn of_files(files: &[PathBuf]) -> Vec<Notice> {
    let notice = |file: &PathBuf| {
        let lines = vec![
            (
                "cause",
                "modules end in `.wasm`, in small letters".to_owned(),
            ),
            (
                "help",
                format!("rename it to `{}`", file.with_extension("wasm").shown()),
            ),
        ];
        (format!("`{}` is passed over", file.shown()), lines)
    };
    files.iter().map(notice).collect()
}

/// The rules of clients that tools of a snapshot break, those that matter to clients.
pub fn of_tools(snapshot: &Snapshot) -> Vec<Notice> {
    let mut notices = Vec::new();
    for tool in snapshot.tools() {
        let findings = tool.findings().into_iter();
        let grave = findings.filter(|finding| finding.rule.severity == Severity::Warning);
        notices.extend(grave.map(|finding| of_finding(tool.name(), &finding)));
    }
    let names = snapshot.tools().map(|tool| tool.name());
    for (name, other, finding) in similar_names(names) {
        let (what, mut lines) = of_finding(name, &finding);
        lines.insert(0, ("other", format!("`{other}`")));
        notices.push((what, lines));
    }
    notices
}

fn of_finding(tool: &str, finding: &Finding) -> Notice {
    let rule = finding.rule;
    let lines = vec![
        ("cause", rule.effect.to_owned()),
        ("place", finding.places.join(" ").shown().to_string()),
        ("rule", rule.id.to_owned()),
        ("help", rule.advice.to_owned()),
    ];
    (format!("`{tool}`: {}", rule.what), lines)
}
