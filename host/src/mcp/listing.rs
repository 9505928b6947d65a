//! The tools as clients list them: converted once for each snapshot, narrowed by what this
//! server offers, in pages.
//!
//! Invariant: a tool that is not listed can not be called.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use globset::GlobSet;
use rmcp::ErrorData;
use rmcp::model::{
    JsonObject, ListToolsResult, PaginatedRequestParams, Tool as Listed, ToolAnnotations,
};
use serde_json::{Value, json};

use super::pages::page;
use crate::model::{Access, Grants};
use crate::registry::{Snapshot, Tool};

/// The tools of one snapshot that a server offers.
pub(super) struct Listing {
    pub snapshot: Arc<Snapshot>,
    listed: BTreeMap<String, Listed>,
    /// Tools some of whose arguments stand in headers, too.
    with_headers: HashSet<String>,
}

/// Which tools a server offers.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    /// Only these, where there are any.
    pub(super) allow: Option<GlobSet>,
    /// None of these.
    pub(super) deny: Option<GlobSet>,
    /// Only tools that change nothing.
    pub(super) read_only: bool,
}

impl ToolFilter {
    /// Whether a tool of that name may be offered of which nothing else is known.
    pub(super) fn admits_name(&self, name: &str) -> bool {
        let is_in = |set: &GlobSet| set.is_match(name);
        self.allow.as_ref().is_none_or(is_in)
            && !self.deny.as_ref().is_some_and(is_in)
            && !self.read_only
    }

    /// Whether a tool may be used that is behind something else which is offered.
    pub(super) fn admits_behind(&self, tool: Option<&Arc<Tool>>) -> bool {
        !self.read_only || tool.is_some_and(|tool| annotations(tool).read_only_hint == Some(true))
    }

    /// Whether a tool is offered.
    fn admits(&self, tool: &Tool) -> bool {
        let name = tool.name();
        let is_in = |set: &GlobSet| set.is_match(name);
        self.allow.as_ref().is_none_or(is_in)
            && !self.deny.as_ref().is_some_and(is_in)
            && (!self.read_only || annotations(tool).read_only_hint == Some(true))
    }
}

impl Listing {
    /// Converts the tools of a snapshot.
    pub fn new(snapshot: &Arc<Snapshot>, filter: &ToolFilter) -> Self {
        let offered = snapshot.tools().filter(|tool| filter.admits(tool));
        let listed = offered.map(|tool| (tool.name().to_owned(), listed(tool)));
        let listed: BTreeMap<String, Listed> = listed.collect();
        let with_headers = listed.iter().filter(|(_, tool)| names_headers(tool));
        Self {
            with_headers: with_headers.map(|(name, _)| name.clone()).collect(),
            listed,
            snapshot: Arc::clone(snapshot),
        }
    }

    /// Whether a tool is offered.
    pub fn has(&self, name: &str) -> bool {
        self.listed.contains_key(name)
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Listed> {
        self.listed.get(name)
    }

    /// Whether clients repeat some arguments of a tool in headers.
    pub fn has_headers(&self, name: &str) -> bool {
        self.with_headers.contains(name)
    }

    /// The name that an unknown one was most likely meant to be.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        self.snapshot.nearest(name).filter(|near| self.has(near))
    }

    /// All tools.
    pub fn tools(&self) -> impl Iterator<Item = &Listed> {
        self.listed.values()
    }

    /// One page, in the order of names.
    ///
    /// # Errors
    ///
    /// A cursor that this server did not give.
    pub fn page(
        &self,
        request: Option<PaginatedRequestParams>,
        size: usize,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next) = page(&self.listed, request, size)?;
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = next;
        Ok(page)
    }

    /// Whether a client that has the one has the other: the same list, of the same tools.
    pub fn is_as(&self, other: &Self) -> bool {
        let is_same = |name: &String| {
            let tools = [self, other].map(|listing| listing.snapshot.tool(name));
            matches!(tools, [Some(one), Some(two)]
                if Arc::ptr_eq(one, two) || one.means_the_same(two))
        };
        self.listed == other.listed && self.listed.keys().all(is_same)
    }
}

fn listed(tool: &Tool) -> Listed {
    let spec = tool.spec();
    let mut listed = Listed::new(
        tool.name().to_owned(),
        spec.description.clone(),
        Arc::new(input_schema(&spec.input_schema)),
    );
    listed.title.clone_from(&spec.title);
    listed.annotations = Some(annotations(tool));
    listed.output_schema = spec.output_schema.as_ref().and_then(output_schema);
    listed
}

/// Whether a schema says of an argument that it stands in a header, too.
fn names_headers(tool: &Listed) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                members.contains_key("x-mcp-header") || members.values().any(within)
            }
            Value::Array(items) => items.iter().any(within),
            _ => false,
        }
    }
    tool.input_schema.values().any(within)
}

/// Clients insist on an object with properties.
fn input_schema(schema: &Value) -> JsonObject {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// One client refuses a whole list for a schema that is of no object. The promise is left
/// out then; the answers stay as they are.
fn output_schema(schema: &Value) -> Option<Arc<JsonObject>> {
    let schema = schema.as_object()?;
    (schema.get("type") == Some(&json!("object"))).then(|| Arc::new(schema.clone()))
}

/// What a tool does, by what it may do: a module's own word does not make it harmless.
fn annotations(tool: &Tool) -> ToolAnnotations {
    let (hints, grants) = (tool.spec().hints, tool.entry().grants());
    let read_only = match hints.read_only {
        Some(true) if changes_something(grants) || hints.destructive == Some(true) => Some(false),
        said => said,
    };
    ToolAnnotations::from_raw(
        tool.spec().title.clone(),
        read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world.or_else(|| {
            // What has no network and is no command reaches nothing.
            (!tool.entry().is_command() && grants.network.is_empty()).then_some(false)
        }),
    )
}

fn changes_something(grants: &Grants) -> bool {
    let writes = |access| access == Access::Write;
    !grants.network.is_empty() || grants.folders.iter().any(|folder| writes(folder.access))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_stand_in_headers_are_found_however_deep() {
        let names = |schema: Value| {
            let schema = schema.as_object().cloned().unwrap_or_default();
            names_headers(&Listed::new("a", "b", Arc::new(schema)))
        };
        let header = json!({ "type": "string", "x-mcp-header": "Region" });
        assert!(names(json!({ "properties": { "region": header } })));
        assert!(names(
            json!({ "properties": { "a": { "properties": { "b": header } } } })
        ));
        assert!(!names(
            json!({ "properties": { "region": { "type": "string" } } })
        ));
    }
}
