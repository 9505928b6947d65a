//! `[serve.resources.<name>]` and `[serve.prompts.<name>]`: what clients are offered besides
//! tools. Each is one of two kinds, and keys of the other kind are faults.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::command::Piece;
use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::{
    PromptEntry, PromptParameter, PromptSource, ResourceEntry, ResourceSource, Setting, suggest,
};
use crate::model::UriTemplate;

use super::{serve, tools};

/// What the addresses of a host's own resources begin with.
const OWN: &str = "prx-host://";
/// Of these, those of files.
const OWN_FILES: &str = "prx-host://files/";

/// Reads `[serve.resources]`.
pub(super) fn resources(table: &Table<'_>) -> IndexMap<String, ResourceEntry> {
    let mut addresses = HashMap::new();
    let resources = table.entries().filter_map(|entry| {
        tools::check_name(&entry, "a resource");
        let table = entry.table()?;
        let resource = resource(&entry, &table)?;
        let uri = match &resource.source {
            ResourceSource::Folder { uri, .. } => uri.value.clone(),
            ResourceSource::Tool { uri, .. } => uri.value.to_string(),
        };
        if let Some(other) = addresses.insert(uri.clone(), entry.key.clone()) {
            let at = table.entry("uri").unwrap_or(entry);
            at.report(
                Fault::error(format!("`{uri}` is the address of two resources"))
                    .because(format!("`{other}` has it too"))
                    .help("give one of them another `uri`"),
            );
        }
        Some((resource.name.clone(), resource))
    });
    resources.collect()
}

/// Reads `[serve.prompts]`.
pub(super) fn prompts(table: &Table<'_>) -> IndexMap<String, PromptEntry> {
    let prompts = table.entries().filter_map(|entry| {
        tools::check_name(&entry, "a prompt");
        let prompt = prompt(&entry, &entry.table()?)?;
        Some((prompt.name.clone(), prompt))
    });
    prompts.collect()
}

fn resource(entry: &Entry<'_>, table: &Table<'_>) -> Option<ResourceEntry> {
    let folder = table.optional("folder", Entry::path);
    let tool = table.optional("tool", Entry::filled_text);
    let include = table.setting("include", vec!["**".to_owned()], serve::globs);
    let arguments = table.setting("arguments", Map::new(), Entry::json_object);
    let media_type = table.optional("media_type", media_type);
    let (title, description) = words(table);
    let kind = kind_of(entry, table, ["folder", "tool"])?;
    unfit(
        table,
        kind,
        match kind {
            "folder" => &["arguments", "media_type"],
            _ => &["include"],
        },
    );
    let source = if kind == "folder" {
        let name = entry.name;
        ResourceSource::Folder {
            uri: table.setting("uri", format!("{OWN_FILES}{name}/"), prefix),
            folder: folder?,
            include,
        }
    } else {
        let uri = answered_at(entry, table, &arguments.value)?;
        ResourceSource::Tool {
            tool: tool?,
            uri,
            arguments,
            media_type,
        }
    };
    Some(ResourceEntry {
        name: entry.name.to_owned(),
        place: entry.document.place(&entry.key_span),
        title,
        description,
        source,
    })
}

/// The address at which a tool answers. Arguments come from it or stand beside it.
fn answered_at(
    entry: &Entry<'_>,
    table: &Table<'_>,
    arguments: &Map<String, Value>,
) -> Option<Setting<UriTemplate>> {
    let uri = table.optional("uri", template);
    if table.entry("uri").is_none() && table.document.complete {
        entry.report(
            Fault::error(format!("`{}` has no `uri`", entry.key))
                .at(entry.document.source, &entry.key_span)
                .because("clients read it by its address")
                .help(
                    "write one, for instance `uri = \"wiki://page/{id}\"`; `{id}` becomes the argument `id`",
                ),
        );
    }
    let uri = uri?;
    if let Some(twice) = uri.value.names().find(|name| arguments.contains_key(*name)) {
        let at = table.entry("arguments");
        at.as_ref().unwrap_or(entry).report(
            Fault::error(format!("the argument `{twice}` has two values"))
                .because(format!("it stands in the address, `{}`, too", uri.value))
                .help("remove it here or there"),
        );
    }
    Some(uri)
}

type Words = Option<Setting<String>>;

fn words(table: &Table<'_>) -> (Words, Words) {
    (
        table.optional("title", Entry::filled_text),
        table.optional("description", Entry::filled_text),
    )
}

/// Which of two keys says what an entry is made of: exactly one does.
fn kind_of(entry: &Entry<'_>, table: &Table<'_>, kinds: [&'static str; 2]) -> Option<&'static str> {
    let [one, other] = kinds;
    match (table.entry(one), table.entry(other)) {
        (Some(_), None) => Some(one),
        (None, Some(_)) => Some(other),
        (Some(_), Some(second)) => {
            second.report(
                Fault::error(format!("`{}` has both `{one}` and `{other}`", entry.key))
                    .at(table.document.source, &second.key_span)
                    .because("it is made of one of them")
                    .help("remove one of the two"),
            );
            None
        }
        (None, None) => {
            if table.document.complete {
                entry.report(
                    Fault::error(format!("`{}` has neither `{one}` nor `{other}`", entry.key))
                        .at(table.document.source, &entry.key_span)
                        .because("nothing says what it consists of")
                        .help(format!("write `{one}` or `{other}` into it")),
                );
            }
            None
        }
    }
}

fn unfit(table: &Table<'_>, kind: &str, keys: &[&'static str]) {
    for name in keys {
        if let Some(entry) = table.entry(name) {
            entry.report(
                Fault::error(format!("`{name}` does not fit one with a `{kind}`"))
                    .at(table.document.source, &entry.key_span)
                    .help(format!("remove `{name}`")),
            );
        }
    }
}

/// An address, perhaps with places for values.
fn template(entry: &Entry<'_>) -> Option<UriTemplate> {
    let text = entry.text()?;
    let wrong = |why: String| {
        entry.report(
            Fault::error(format!("`{}` is no address of a resource", entry.key))
                .because(why)
                .help("write for instance `\"docs://handbook/\"`"),
        );
        None
    };
    match UriTemplate::parse(text) {
        Ok(_) if text.starts_with(OWN) && !text.starts_with(OWN_FILES) => {
            wrong(format!("`{OWN}` is for what the host itself keeps"))
        }
        Ok(template) => Some(template),
        Err(error) => wrong(error.to_string()),
    }
}

/// What the addresses of files begin with.
fn prefix(entry: &Entry<'_>) -> Option<String> {
    let template = template(entry)?;
    let why = if template.names().next().is_some() {
        "the path of a file follows it; it has no places for values"
    } else if !template.as_str().ends_with('/') {
        "the path of a file follows it; it ends with `/`"
    } else {
        return Some(template.as_str().to_owned());
    };
    entry.report(
        Fault::error(format!("`{}` can not begin addresses of files", entry.key))
            .because(why)
            .help("write for instance `\"docs://handbook/\"`"),
    );
    None
}

fn media_type(entry: &Entry<'_>) -> Option<String> {
    let text = entry.filled_text()?;
    let is_one = text.split_once('/').is_some_and(|(kind, rest)| {
        let letter = |c: char| c.is_ascii_graphic() || c == ' ';
        !kind.is_empty() && !rest.is_empty() && text.chars().all(letter)
    });
    if !is_one {
        entry.report(
            Fault::error(format!("`{}` is no media type", entry.key))
                .help("write for instance `\"text/markdown\"`"),
        );
    }
    is_one.then_some(text)
}

fn prompt(entry: &Entry<'_>, table: &Table<'_>) -> Option<PromptEntry> {
    let text = table.optional("text", |entry| Some(Piece::parse(&entry.filled_text()?)));
    let tool = table.optional("tool", Entry::filled_text);
    let written = table.optional("arguments", parameters);
    let (title, description) = words(table);
    let kind = kind_of(entry, table, ["text", "tool"])?;
    let source = if kind == "tool" {
        unfit(table, kind, &["arguments"]);
        PromptSource::Tool { tool: tool? }
    } else {
        let text = text?;
        let arguments = match (written, table.entry("arguments")) {
            (Some(arguments), Some(at)) => {
                check_places(
                    &at,
                    table.entry("text").as_ref(),
                    &text.value,
                    &arguments.value,
                );
                arguments
            }
            _ => Setting::default_of(table.full_key("arguments"), of_places(&text.value)),
        };
        PromptSource::Text { text, arguments }
    };
    Some(PromptEntry {
        name: entry.name.to_owned(),
        place: entry.document.place(&entry.key_span),
        title,
        description,
        source,
    })
}

/// What a text alone says of its arguments.
fn of_places(text: &Piece) -> Vec<PromptParameter> {
    let mut told = BTreeSet::new();
    let names = text.names().filter(|name| told.insert(*name));
    let parameter = |name: &str| PromptParameter {
        name: name.to_owned(),
        required: true,
        ..PromptParameter::default()
    };
    names.map(parameter).collect()
}

/// Each place needs an argument of its name, and each argument is there to be used.
fn check_places(
    arguments: &Entry<'_>,
    at: Option<&Entry<'_>>,
    text: &Piece,
    parameters: &[PromptParameter],
) {
    let known: BTreeSet<&str> = parameters.iter().map(|one| one.name.as_str()).collect();
    let places: BTreeSet<&str> = text.names().collect();
    for name in places.difference(&known) {
        let help = match suggest::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{{{near}}}`?"),
            None => format!(
                "add `{name}` to `arguments`, or write `{{{{{name}}}}}` for the text itself"
            ),
        };
        let at = at.unwrap_or(arguments);
        at.report(
            Fault::error(format!("`{}` names an unknown argument", at.key))
                .because(format!("it has a place for `{name}`"))
                .help(help),
        );
    }
    for name in known.difference(&places) {
        arguments.report(
            Fault::warning(format!("`{}.{name}` has no effect", arguments.key))
                .because("the text has no place for it")
                .help(format!("write `{{{name}}}` where it belongs")),
        );
    }
}

fn parameters(entry: &Entry<'_>) -> Option<Vec<PromptParameter>> {
    let table = entry.table()?;
    let parameters = table.entries().filter_map(|entry| parameter(&entry));
    Some(parameters.collect())
}

fn parameter(entry: &Entry<'_>) -> Option<PromptParameter> {
    let table = entry.table()?;
    let required = table.setting("required", false, Entry::boolean).value;
    let is_boolean = table.optional("type", |entry| {
        entry.choice(&[("string", false), ("boolean", true)])
    });
    let choices = table.optional("enum", |entry| entry.list("strings", Entry::filled_text));
    let default = table.optional("default", Entry::filled_text);
    let (title, description) = words(&table);
    let text = |setting: Words| setting.map(|setting| setting.value);
    let mut choices = choices.map(|choices| choices.value).unwrap_or_default();
    if is_boolean.is_some_and(|kind| kind.value) {
        if let Some(both) = table.entry("enum") {
            both.report(
                Fault::error(format!(
                    "`{}` is both a boolean and one of a list",
                    entry.key
                ))
                .help("remove `type` or `enum`"),
            );
        }
        choices = ["true", "false"].map(str::to_owned).into();
    }
    if let Some(odd) = &default
        && !choices.is_empty()
        && !choices.contains(&odd.value)
    {
        let at = table.entry("default");
        at.as_ref().unwrap_or(entry).report(
            Fault::error(format!(
                "`{}` has a default that does not fit it",
                entry.key
            ))
            .because(format!("`{}` is none of its values", odd.value))
            .help(format!(
                "write one of {}",
                suggest::listed(choices.iter().map(String::as_str))
            )),
        );
    }
    Some(PromptParameter {
        name: entry.name.to_owned(),
        title: text(title),
        description: text(description),
        required,
        choices,
        default: text(default),
    })
}
