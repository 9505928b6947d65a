//! Rules about descriptions and hints.

use crate::model::{Capability, ToolSpec};

/// Characters of a description that all clients take.
const MOST: usize = 1024;
/// Characters of a first sentence that is read at a glance.
const MOST_AT_FIRST: usize = 200;

fn place(is_broken: bool, pointer: &str) -> Vec<String> {
    if is_broken {
        vec![pointer.to_owned()]
    } else {
        Vec::new()
    }
}

pub(super) fn missing(_name: &str, spec: &ToolSpec) -> Vec<String> {
    place(spec.description.trim().is_empty(), "/description")
}

pub(super) fn long(_name: &str, spec: &ToolSpec) -> Vec<String> {
    place(spec.description.chars().count() > MOST, "/description")
}

pub(super) fn control(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    place(spec.description.contains(is_odd), "/description")
}

pub(super) fn first_sentence(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let text = spec.description.trim_start();
    let ends = [". ", ".\n", "! ", "? ", "\n\n"];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let sentence = &text[..end.unwrap_or(text.len())];
    place(sentence.chars().count() > MOST_AT_FIRST, "/description")
}

pub(super) fn contradiction(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let hints = spec.hints;
    let is_broken = hints.read_only == Some(true) && hints.destructive == Some(true);
    place(is_broken, "/annotations")
}

pub(super) fn writes(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let mut requests = spec.requests.iter();
    let writes = requests.any(|one| matches!(one.capability, Capability::WriteFolder(_)));
    let is_broken = spec.hints.read_only == Some(true) && writes;
    place(is_broken, "/annotations/readOnlyHint")
}
