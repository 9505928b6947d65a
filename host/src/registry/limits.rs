//! From what the configuration says to what one entry may use. What it may touch is in
//! [`crate::grants`], which adapters read too.

use super::entry::EntryLimits;
use crate::config::{Config, Setting, ToolEntry};

/// What the entry itself says, or else what holds for all.
pub(super) fn own_or<T: Clone>(own: Option<&Setting<T>>, general: &Setting<T>) -> Setting<T> {
    own.unwrap_or(general).clone()
}

/// The limits of an entry of a module.
pub(super) fn of_module(config: &Config, tool: Option<&ToolEntry>) -> EntryLimits {
    let wasm = &config.runtime.wasm;
    let timeout = match wasm.timeout.value {
        Some(value) => &Setting {
            value,
            key: wasm.timeout.key.clone(),
            place: wasm.timeout.place.clone(),
        },
        None => &config.runtime.default_timeout,
    };
    EntryLimits {
        timeout: own_or(tool.and_then(|tool| tool.timeout.as_ref()), timeout),
        max_memory: own_or(
            tool.and_then(|tool| tool.max_memory_bytes.as_ref()),
            &wasm.max_memory_bytes,
        ),
        max_output: own_or(
            tool.and_then(|tool| tool.max_output_bytes.as_ref()),
            &config.runtime.max_output_bytes,
        ),
    }
}
