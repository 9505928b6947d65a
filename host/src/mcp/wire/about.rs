//! What clients say of themselves with each call.
//!
//! Invariant: it is read anew where its text differs from the last one, and only there: most
//! clients say the same with every call.

use std::sync::Arc;

use rmcp::model::{JsonObject, ProtocolVersion, RequestMetaObject};

use super::super::handler::known_as;

/// Bytes of a text that is remembered.
const MOST: usize = 4 << 10;

/// The `_meta` of a call, read.
pub(in crate::mcp) struct About {
    pub meta: RequestMetaObject,
    /// The revision of the protocol, where that is one of the stateless era.
    pub version: Option<ProtocolVersion>,
    /// Whether it says all that there is to know, and that nothing but the answer is wanted.
    pub is_alone: bool,
    /// What the client calls itself.
    pub client: Option<Arc<str>>,
}

/// The last one, with its text.
#[derive(Default)]
pub(in crate::mcp) struct LastAbout(Option<(String, Arc<About>)>);

impl LastAbout {
    /// Reads what a client says of itself.
    pub(super) fn read(&mut self, text: &str) -> serde_json::Result<Arc<About>> {
        if let Some((last, about)) = &self.0
            && last == text
        {
            return Ok(Arc::clone(about));
        }
        let about = Arc::new(About::of(serde_json::from_str::<JsonObject>(text)?.into()));
        if text.len() <= MOST {
            self.0 = Some((text.to_owned(), Arc::clone(&about)));
        }
        Ok(about)
    }
}

impl About {
    fn of(meta: RequestMetaObject) -> Self {
        let first = ProtocolVersion::V_2026_07_28;
        let version = meta.protocol_version().filter(|version| {
            ProtocolVersion::KNOWN_VERSIONS.contains(version) && version.as_str() >= first.as_str()
        });
        let is_whole = version
            .as_ref()
            .is_some_and(|version| meta.missing_required_keys(version).is_empty());
        let listens = meta.get_progress_token().is_some() || meta.log_level().is_some();
        Self {
            version,
            is_alone: is_whole && !listens,
            client: meta.client_info().map(|client| known_as(&client.name)),
            meta,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn about(more: &Value) -> String {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "one", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            meta[key] = value.clone();
        }
        meta.to_string()
    }

    #[test]
    fn only_who_says_all_and_wants_nothing_more_stands_alone() {
        let mut last = LastAbout::default();
        let mut is_alone = |more: Value| last.read(&about(&more)).unwrap().is_alone;
        let named = |name: &str| format!("io.modelcontextprotocol/{name}");
        assert!(is_alone(json!({})));
        assert!(is_alone(json!({ "traceparent": "x" })));
        assert!(!is_alone(json!({ "progressToken": 1 })));
        assert!(!is_alone(json!({ named("logLevel"): "error" })));
        assert!(!is_alone(json!({ named("protocolVersion"): "2025-11-25" })));
        assert!(!is_alone(json!({ named("protocolVersion"): "2999-01-01" })));
        assert!(!is_alone(json!({ named("clientCapabilities"): 5 })));
        assert!(last.read("[]").is_err());
        // What was wrong is not remembered, and what was right still is.
        assert!(last.read(&about(&json!({}))).unwrap().is_alone);
        assert!(!last.read("{}").unwrap().is_alone);
    }

    #[test]
    fn who_asks_is_who_this_text_names() {
        let mut last = LastAbout::default();
        let info = "io.modelcontextprotocol/clientInfo";
        for name in ["one", "two", "two", "one"] {
            let text = about(&json!({ info: { "name": name, "version": "1" } }));
            assert_eq!(last.read(&text).unwrap().client.as_deref(), Some(name));
        }
        let unnamed = about(&json!({ info: null }));
        assert_eq!(last.read(&unnamed).unwrap().client, None);
    }
}
