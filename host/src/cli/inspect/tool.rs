//! Finds the tool that is to be looked at, and shows it.

#[cfg(feature = "wasm-runtime")]
use prx_host::Broken;
use prx_host::config::Config;
use prx_host::{Host, Snapshot, Tool};
use serde_json::{Value, json};

use super::sheet::{limits, pair, tool as sheet_of};
use crate::cli::list::{lines_of, open, open_with, what_of};
use crate::cli::render::{Failure, Screen, Tone, columns, indented};
use crate::cli::{Exit, facts};

/// Looks at a tool, or at all tools of an entry.
pub async fn inspect(config: Config, name: &str, screen: Screen) -> Result<Exit, Failure> {
    let host = open_with(Host::builder(config.clone()).only(name), screen).await?;
    let snapshot = host.snapshot();
    let tools = tools_of(&snapshot, name);
    let Some(first) = tools.first() else {
        return not_found(config, &snapshot, name, screen).await;
    };
    #[cfg(feature = "wasm-runtime")]
    if let Some(module) = first.entry().module() {
        return super::module::inspect_tools(&host, &std::sync::Arc::clone(module), tools, screen);
    }
    let keys = keys_of(&config, first.entry().name());
    if screen.json() {
        let keys: serde_json::Map<String, Value> =
            keys.into_iter().map(|(k, v, _)| (k, v)).collect();
        screen.print_json(&json!({
            "configured": keys,
            "tools": tools.iter().map(|tool| facts::tool_json(tool)).collect::<Vec<_>>(),
        }))?;
    } else {
        screen.print(&text(first, &keys, screen))?;
    }
    Ok(Exit::Ok)
}

/// What the configuration says of an entry: key, value, place.
fn keys_of(config: &Config, entry: &str) -> Vec<(String, Value, String)> {
    let prefixes = [format!("tools.custom.{entry}."), format!("tools.{entry}.")];
    let keys = config.effective().into_iter().filter_map(|key| {
        let name = prefixes
            .iter()
            .find_map(|prefix| key.key.strip_prefix(prefix))?;
        Some((name.to_owned(), key.value, key.origin.to_string()))
    });
    keys.collect()
}

fn text(tool: &Tool, keys: &[(String, Value, String)], screen: Screen) -> String {
    let entry = tool.entry();
    let mut rows = vec![pair("backend", entry.backend().as_str().to_owned())];
    for (name, value, origin) in keys {
        // The parameters are shown as the schema that they are.
        if name != "parameters" && name != "description" {
            rows.push(vec![name.clone(), value.to_string(), origin.clone()]);
        }
    }
    let configured = format!(
        "{}\n{}",
        screen.paint("configured", Tone::Heading),
        indented(&columns(&rows), 2)
    );
    let parts = [
        configured,
        sheet_of(tool.name(), tool.spec(), screen),
        limits(entry, screen),
    ];
    parts.map(|part| part.trim_end().to_owned()).join("\n\n")
}

/// The tool of that name, or the tools of the entry of that name.
fn tools_of<'a>(snapshot: &'a Snapshot, name: &str) -> Vec<&'a Tool> {
    if let Some(tool) = snapshot.tool(name) {
        return vec![tool.as_ref()];
    }
    snapshot
        .tools()
        .map(AsRef::as_ref)
        .filter(|tool: &&Tool| tool.entry().name() == name)
        .collect()
}

/// A name that is no tool: a broken one with a file that can be looked at, or unknown.
async fn not_found(
    config: Config,
    snapshot: &Snapshot,
    name: &str,
    screen: Screen,
) -> Result<Exit, Failure> {
    let broken = snapshot.broken().iter().find(|broken| broken.name == name);
    match broken {
        #[cfg(feature = "wasm-runtime")]
        Some(Broken {
            module: Some(module),
            ..
        }) if module.is_file() => super::module::inspect_file(config, module, screen).await,
        Some(broken) => {
            let failure = Failure::new(Exit::Unavailable, what_of(broken));
            Err(lines_of(broken)
                .into_iter()
                .fold(failure, |all, (label, line)| all.line(label, line)))
        }
        None => {
            let all = open(config, screen).await?;
            let snapshot = all.snapshot();
            let failure = Failure::new(Exit::Usage, format!("there is no tool `{name}`"));
            Err(failure.help(match snapshot.nearest(name) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => {
                    "`prx-host list` shows the tools; a file is named by a path with `/`".into()
                }
            }))
        }
    }
}
