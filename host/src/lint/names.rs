//! Rules about names.

use std::collections::BTreeMap;

use super::Finding;
use super::rules::NAME_SIMILAR;
use crate::model::ToolSpec;

/// Characters of a name that leave room for what clients put in front of it.
const MOST: usize = 40;

fn place(is_broken: bool) -> Vec<String> {
    if is_broken {
        vec!["/name".to_owned()]
    } else {
        Vec::new()
    }
}

pub(super) fn first(name: &str, _spec: &ToolSpec) -> Vec<String> {
    place(!name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

pub(super) fn long(name: &str, _spec: &ToolSpec) -> Vec<String> {
    place(name.chars().count() > MOST)
}

pub(super) fn dash(name: &str, _spec: &ToolSpec) -> Vec<String> {
    place(name.contains('-'))
}

/// The names that differ from another one only by case or by `-` and `_`, each with the
/// finding and that other one.
pub fn similar_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(&'a str, &'a str, Finding)> {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        let plain = name.to_ascii_lowercase().replace('-', "_");
        alike.entry(plain).or_default().push(name);
    }
    let pairs = alike.values().flat_map(|names| {
        let first = names.first().copied();
        let others = names.iter().skip(1);
        others.filter_map(move |name| Some((*name, first?)))
    });
    let finding = || Finding {
        rule: &NAME_SIMILAR,
        places: vec!["/name".to_owned()],
    };
    pairs
        .map(|(name, first)| (name, first, finding()))
        .collect()
}
