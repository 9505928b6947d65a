//! From what the configuration says to what one entry may use: its limits. What it may
//! touch is in [`crate::grants`], which adapters read too.

use super::entry::EntryLimits;
use crate::config::{Config, Setting, ToolEntry};

pub(super) use crate::grants::grants;

/// The limits of an entry.
pub(super) fn limits(config: &Config, tool: Option<&ToolEntry>) -> EntryLimits {
    let wasm = &config.runtime.wasm;
    let timeout = tool
        .and_then(|tool| tool.timeout.clone())
        .unwrap_or_else(|| match wasm.timeout.value {
            Some(value) => Setting {
                value,
                key: wasm.timeout.key.clone(),
                place: wasm.timeout.place.clone(),
            },
            None => config.runtime.default_timeout.clone(),
        });
    EntryLimits {
        timeout,
        max_memory: tool
            .and_then(|tool| tool.max_memory_bytes.clone())
            .unwrap_or_else(|| wasm.max_memory_bytes.clone()),
        max_output: tool
            .and_then(|tool| tool.max_output_bytes.clone())
            .unwrap_or_else(|| config.runtime.max_output_bytes.clone()),
    }
}
