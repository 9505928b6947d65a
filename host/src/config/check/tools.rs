//! `[tools.custom.<name>]`: the entries of tools, and which keys fit which type.

use indexmap::IndexMap;
use serde_json::Value;

use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::suggest;
use crate::config::{Backend, Provided, Runtime, Setting, ShellTool, ToolEntry};

use super::{MEGABYTES, MIB, capabilities, command, runtime};

/// The tables within `[tools]`.
const TABLES: [&str; 2] = ["custom", "shell"];

/// Reads `[tools.custom]`. Everything in `[tools]` is ours.
pub(super) fn read(table: &Table<'_>, runtime: &Runtime) -> IndexMap<String, ToolEntry> {
    for entry in table.entries() {
        if !TABLES.contains(&entry.name) {
            foreign(&entry);
        }
    }
    let custom = table.table("custom");
    let tools = custom.entries().filter_map(|entry| {
        check_name(&entry, "a tool");
        let tool = tool(&entry, &entry.table()?, runtime);
        Some((entry.name.to_owned(), tool))
    });
    tools.collect()
}

/// Reads `[tools.shell]`.
pub(super) fn shell(table: &Table<'_>) -> ShellTool {
    let shell = table.table("shell");
    ShellTool {
        enabled: shell.setting("enabled", false, Entry::boolean),
        backend: shell.optional("type", |entry| {
            entry.choice(&[("native", Backend::Native), ("docker", Backend::Docker)])
        }),
        timeout: shell.optional("timeout_secs", Entry::seconds),
        max_output_bytes: shell.optional("max_output_bytes", runtime::output_bytes),
    }
}

fn foreign(entry: &Entry<'_>) {
    let fault = Fault::error(format!("unknown table `{}`", entry.key));
    let fault = fault.at(entry.document.source, &entry.key_span);
    entry.report(match suggest::nearest(entry.name, TABLES) {
        Some(near) => fault.help(format!("did you mean `tools.{near}`?")),
        None => fault
            .because("tools are entries of `tools.custom`")
            .help(format!("write `[tools.custom.{}]`", entry.name)),
    });
}

/// A name that goes into names of tools, resources or prompts.
pub(super) fn check_name(entry: &Entry<'_>, of_what: &str) {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let length = entry.name.chars().count();
    let why = if length == 0 {
        "the name is empty".to_owned()
    } else if length > 64 {
        format!("it has {length} characters; 64 are allowed")
    } else if let Some(odd) = entry.name.chars().find(|c| !letter(*c)) {
        format!("it contains {odd:?}")
    } else {
        return;
    };
    entry.report(
        Fault::error(format!(
            "`{}` is not a usable name of {of_what}",
            entry.name.escape_debug()
        ))
        .at(entry.document.source, &entry.key_span)
        .because(why)
        .help("a name has 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`"),
    );
}

fn tool(entry: &Entry<'_>, table: &Table<'_>, runtime: &Runtime) -> ToolEntry {
    let backend = table.optional("type", |entry| entry.choice(&runtime::BACKENDS));
    if let Some(backend) = &backend {
        check_fit(table, backend);
    }
    let command = table.optional("command", Entry::filled_text);
    let keys = command::read(table);
    let module = table.optional("module", module_path);
    check_subject(entry, table, backend.as_ref());
    // Keys of another type are faults already; their tables are read for faults of their own.
    let nested = table.table("capabilities");
    let concerns_module = match backend.as_ref().map(|backend| backend.value) {
        Some(Backend::Wasm) => true,
        Some(Backend::Native | Backend::Docker) => false,
        None => command.is_none(),
    };
    let default_module = || {
        let key = table.full_key("module");
        Setting::default_of(key, format!("{}.wasm", entry.name).into())
    };
    ToolEntry {
        name: entry.name.to_owned(),
        place: entry.document.place(&entry.key_span),
        backend,
        module: module.or_else(|| concerns_module.then(default_module)),
        command,
        args: keys.args,
        stdin: keys.stdin,
        output: keys.output,
        success_exit_codes: keys.success_exit_codes,
        image: table.optional("image", runtime::image),
        working_dir: table.optional("working_dir", Entry::path),
        env: table.setting("env", IndexMap::new(), Entry::variables_or_sources),
        parameters: keys.parameters,
        description: table.optional("description", Entry::filled_text),
        enabled: table.setting("enabled", true, Entry::boolean),
        timeout: table.optional_in_either(&nested, "timeout_secs", Entry::seconds),
        max_memory_bytes: table.optional_in_either(&nested, "max_memory_mb", |entry| {
            entry.bytes(&MEGABYTES, MIB, "MB")
        }),
        max_output_bytes: table.optional("max_output_bytes", runtime::output_bytes),
        capabilities: capabilities::of_tool(
            &nested,
            &runtime.workspace,
            &runtime.wasm.capabilities,
        ),
        config: config(table),
    }
}

/// The path of a module as it was written; a home or XDG folder expands.
fn module_path(entry: &Entry<'_>) -> Option<std::path::PathBuf> {
    let text = entry.filled_text()?;
    if text.starts_with(['~', '$']) {
        entry.path()
    } else {
        Some(text.into())
    }
}

fn config(table: &Table<'_>) -> IndexMap<String, Provided<Value>> {
    let table = table.table("config");
    table
        .entries()
        .filter_map(|entry| Some((entry.name.to_owned(), entry.provided(Entry::json)?)))
        .collect()
}

/// Keys that have no meaning for the type of the tool.
fn check_fit(table: &Table<'_>, backend: &Setting<Backend>) {
    let (unfit, instead): (&[&'static str], &[(&str, &str)]) = match backend.value {
        Backend::Wasm => (
            &["command", "image", "working_dir"],
            &[
                ("command", "write `module`, the path of the `.wasm` file"),
                ("working_dir", "grant a folder in its `capabilities`"),
            ],
        ),
        Backend::Native => (
            &["module", "image", "capabilities", "config"],
            &[
                ("module", "write `type = \"wasm\"`, or `command`"),
                ("image", "write `type = \"docker\"`"),
                ("config", "pass it in `args` or `env`"),
            ],
        ),
        Backend::Docker => (
            &["module", "capabilities", "config"],
            &[
                ("module", "write `type = \"wasm\"`, or `command`"),
                ("config", "pass it in `args` or `env`"),
            ],
        ),
    };
    for name in unfit {
        let Some(entry) = table.entry(name) else {
            continue;
        };
        let kind = backend.value.as_str();
        let help = instead.iter().find(|(key, _)| key == name);
        entry.report(
            Fault::error(format!("`{name}` does not fit a tool of type `{kind}`"))
                .at(table.document.source, &entry.key_span)
                .because(format!("the type is set by {}", backend.origin()))
                .help(help.map_or_else(
                    || format!("remove `{name}`"),
                    |(_, help)| (*help).to_owned(),
                )),
        );
    }
}

/// A tool names what it runs: a command or a module, never both.
fn check_subject(entry: &Entry<'_>, table: &Table<'_>, backend: Option<&Setting<Backend>>) {
    let command = table.entry("command");
    let module = table.entry("module");
    if backend.is_none() && table.entry("type").is_some() {
        // An unknown type is a fault by itself.
        return;
    }
    match (backend, command, module) {
        (None, Some(_), Some(module)) => module.report(
            Fault::error(format!(
                "`{}` has both a `command` and a `module`",
                entry.key
            ))
            .at(table.document.source, &module.key_span)
            .because("without a `type` it is not clear which of them is meant")
            .help("remove one of the two"),
        ),
        (Some(backend), None, _) if backend.value != Backend::Wasm && table.document.complete => {
            entry.report(
                Fault::error(format!("`{}` has no `command`", entry.key))
                    .at(table.document.source, &entry.key_span)
                    .because(format!(
                        "a tool of type `{}` runs one",
                        backend.value.as_str()
                    ))
                    .help("write the program to run into it, for instance `command = \"ruff\"`"),
            );
        }
        _ => {}
    }
}
