//! References within a schema: where they lead, which of them lead back to themselves, and
//! the schema with the others written in place.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::merge::merge;
use crate::lint::walk::{each_below, walk};

/// Values that a schema may have when it is written out; else its references stay.
const MOST_VALUES: usize = 20_000;
/// The dialect that schemas are of, unless they say so themselves.
const TODAY: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords that give names or other meanings to what is within: nothing is moved then.
const ANCHORS: [&str; 6] = [
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
];

/// Where a schema refers to, if it does.
pub(in crate::lint) fn target(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// Whether a schema is of the dialect that everybody reads.
pub(in crate::lint) fn is_of_today(schema: &Value) -> bool {
    let named = schema.get("$schema").and_then(Value::as_str);
    named.is_none_or(|named| named.trim_end_matches('#') == TODAY)
}

/// All references of one schema.
pub(in crate::lint) struct References<'a> {
    root: &'a Value,
    /// Which targets stand behind each target, not those behind them.
    behind: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> References<'a> {
    /// Finds them.
    pub fn of(root: &'a Value) -> Self {
        let mut known = Self {
            root,
            behind: BTreeMap::new(),
        };
        let mut open = targets_in(root);
        while let Some(target) = open.pop() {
            if !known.behind.contains_key(target) {
                let found = known.resolve(target).map(targets_in).unwrap_or_default();
                open.extend(&found);
                known.behind.insert(target, found);
            }
        }
        known
    }

    /// What a target names; `None`: it is left alone.
    fn resolve(&self, target: &str) -> Option<&'a Value> {
        let pointer = target.strip_prefix('#')?;
        // A pointer, and none that is written like an address.
        let is_plain = (pointer.is_empty() || pointer.starts_with('/')) && !pointer.contains('%');
        self.root.pointer(pointer).filter(|_| is_plain)
    }

    /// Whether what a target names leads back to it.
    pub fn is_recursive(&self, target: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open: Vec<&str> = self.behind.get(target).cloned().unwrap_or_default();
        while let Some(next) = open.pop() {
            if next == target || leads_around(target, next) {
                return true;
            }
            if !seen.contains(&next) {
                seen.push(next);
                open.extend(self.behind.get(next).into_iter().flatten());
            }
        }
        false
    }
}

/// Whether one target is a part of what another one names, or the other way round.
fn leads_around(one: &str, other: &str) -> bool {
    let is_in = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    is_in(one, other) || is_in(other, one)
}

fn targets_in(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    walk(schema, &mut |part| found.extend(target(part.schema)));
    found
}

/// Whether something within has a name of its own.
fn is_anchored(root: &Value) -> bool {
    let mut is_anchored = false;
    walk(root, &mut |part| {
        is_anchored |= ANCHORS.iter().any(|word| part.schema.get(word).is_some());
    });
    is_anchored
}

/// The schema with every reference written in place that leads to an end. Means the same.
pub(super) fn inlined(root: &Value) -> Value {
    if is_anchored(root) {
        return root.clone();
    }
    let known = References::of(root);
    let mut written = root.clone();
    let mut rest = MOST_VALUES;
    if known.write_out(&mut written, &mut rest) {
        written
    } else {
        root.clone()
    }
}

impl References<'_> {
    /// Writes references out; `false`: it would be too much.
    fn write_out(&self, schema: &mut Value, rest: &mut usize) -> bool {
        let Some(object) = schema.as_object_mut() else {
            return true;
        };
        let Some(left) = rest.checked_sub(object.len() + 1) else {
            return false;
        };
        *rest = left;
        let mut fits = true;
        each_below(object, &mut |below| fits &= self.write_out(below, rest));
        if !fits {
            return false;
        }
        let end = object.get("$ref").and_then(Value::as_str);
        let end = end.filter(|target| !self.is_recursive(target));
        let Some(named) = end.and_then(|target| self.resolve(target)) else {
            return fits;
        };
        let mut named = named.clone();
        fits &= self.write_out(&mut named, rest);
        object.shift_remove("$ref");
        *schema = put_in(std::mem::take(object), named);
        fits
    }
}

/// What stands beside a reference, and what the reference names, as one schema.
fn put_in(beside: Map<String, Value>, named: Value) -> Value {
    if beside.is_empty() {
        return named;
    }
    if let Value::Object(named) = &named
        && let Some(merged) = merge(&beside, named)
    {
        return Value::Object(merged);
    }
    let mut both = beside;
    let all = both
        .entry("allOf")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(all) = all {
        all.push(named);
    }
    Value::Object(both)
}
