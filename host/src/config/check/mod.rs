//! From the text of a file to a checked [`Config`]: the walk over the tables that are
//! ours. Every table is read whatever was wrong with the ones before, so that all
//! faults of a file are found at once.

mod capabilities;
pub(super) mod command;
mod grants;
mod offers;
mod runtime;
mod security;
mod serve;
mod syntax;
mod tools;

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use toml::de::DeTable;

use super::document::Document;
use super::fault::Fault;
use super::reader::Table;
use super::source::SourceText;
use super::{Config, Environment, suggest};

const MIB: u64 = 1 << 20;
/// Up to a tebibyte.
const MEGABYTES: RangeInclusive<u64> = 1..=MIB;

/// The top-level tables that are ours, wholly or in part.
const OURS: [&str; 4] = ["runtime", "security", "serve", "tools"];

/// Tables that an agent may well have, however near their names are to ours.
const NOT_OURS: [&str; 4] = ["server", "servers", "service", "services"];

/// Reads a file's text. The configuration is usable if none of the faults is an error.
pub(super) fn check(source: &SourceText, environment: &Environment) -> (Config, Vec<Fault>) {
    let (root, errors) = DeTable::parse_recoverable(source.text());
    let broken: Vec<Range<usize>> = errors
        .iter()
        .map(|error| error.span().unwrap_or(0..0))
        .collect();
    let folder = source.file().parent().unwrap_or(Path::new(""));
    let folder = environment.current_dir().join(folder);
    let document = Document::new(source, environment, folder, errors.is_empty());
    let config = read(&document, root.get_ref());
    let mut faults = document.into_faults();
    faults.retain(|fault| is_trustworthy(fault, &broken, source));
    let syntax = errors.iter().zip(broken);
    faults.extend(syntax.map(|(error, span)| syntax::fault(error.message(), &span, source)));
    (config, faults)
}

/// The defaults, when there is no file.
pub(super) fn defaults(environment: &Environment) -> (Config, Vec<Fault>) {
    let source = SourceText::new(Path::new(""), "");
    let folder = environment.current_dir().to_owned();
    let document = Document::new(&source, environment, folder, true);
    let config = read(&document, &DeTable::new());
    (
        Config {
            file: None,
            digest: None,
            ..config
        },
        document.into_faults(),
    )
}

/// Every key that some table of ours has, with one tool, resource and prompt for all.
#[cfg(test)]
pub(super) fn known_keys() -> Vec<String> {
    let text = "tools.custom.any.command = \"any\"\n\
        serve.resources.any.folder = \"any\"\nserve.prompts.any.text = \"any\"\n\
        serve.prompts.any.arguments.any.required = true\n";
    let source = SourceText::new(Path::new(""), text);
    let environment = Environment::new("/").with("HOME", "/");
    let (root, _) = DeTable::parse_recoverable(source.text());
    let document = Document::new(&source, &environment, "/".into(), true);
    read(&document, root.get_ref());
    document.known_keys()
}

fn read<'a>(document: &'a Document<'a>, entries: &'a DeTable<'a>) -> Config {
    let root = Table::root(document, entries);
    for entry in root.entries() {
        if let Some(ours) = suggest::misspelled(entry.name, &OURS)
            && !OURS.contains(&entry.name)
            && !NOT_OURS.contains(&entry.name)
        {
            let fault = Fault::warning(format!("`{}` is left to the agent", entry.key));
            let fault = fault.at(document.source, &entry.key_span);
            entry.report(fault.help(format!("did you mean `{ours}`?")));
        }
    }
    let runtime = runtime::read(&root.table("runtime"));
    let security = root.table("security");
    let tools = root.table("tools");
    security::check_neighbours(&security);
    let config = Config {
        file: Some(document.source.file().to_owned()),
        digest: Some(Sha256::digest(document.source.text()).into()),
        sandbox: security::sandbox(&security.table("sandbox")),
        resources: security::resources(&security.table("resources")),
        shell: tools::shell(&tools),
        tools: tools::read(&tools, &runtime),
        serve: Box::new(serve::read(&root.table("serve"))),
        runtime,
    };
    check_variables(document, &config);
    config
}

/// A variable is granted only if both lists have it; in one alone it does nothing.
fn check_variables(document: &Document<'_>, config: &Config) {
    let whitelist = &config.runtime.env_whitelist;
    let tools = config.tools.values();
    let of_tools = tools.filter_map(|tool| tool.capabilities.env_vars.as_ref());
    for granted in of_tools.chain([&config.runtime.wasm.capabilities.env_vars]) {
        let names = granted.value.iter();
        let useless: Vec<String> = names
            .filter(|name| !whitelist.value.contains(*name))
            .map(|name| format!("`{name}`"))
            .collect();
        if useless.is_empty() {
            continue;
        }
        let names = useless.join(", ");
        let mut fault = Fault::warning(format!("`{}` grants nothing for {names}", granted.key))
            .about(&granted.key)
            .because(format!("{} does not list it", whitelist.origin()))
            .help(format!("add {names} to `{}`", whitelist.key));
        fault.place.clone_from(&granted.place);
        document.report(fault);
    }
}

/// Whether a fault is not a mere consequence of text that could not be parsed: it is in
/// another line, and not below a header that is broken.
fn is_trustworthy(fault: &Fault, broken: &[Range<usize>], source: &SourceText) -> bool {
    let Some(span) = &fault.span else {
        return true;
    };
    let line = source.place(span.start).line;
    let is_header = |line: usize| source.line(line).trim_start().starts_with('[');
    broken.iter().all(|broken| {
        let wrong = source.place(broken.start).line;
        let follows = |wrong| wrong < line && !(wrong + 1..=line).any(is_header);
        wrong != line && !(is_header(wrong) && follows(wrong))
    })
}
