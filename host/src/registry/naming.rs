//! Names of tools: unique, and fit for every client that calls them.

use crate::model::ToolSpec;

/// Bytes of a tool's name.
pub(crate) const MAX_NAME_BYTES: usize = 64;

/// Whether a name matches `^[a-zA-Z0-9_-]{1,64}$`.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_name_byte)
}

/// Whether a name may have this byte.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether an entry of that name may have a tool of this name: the other direction of
/// [`tool_name`].
pub(crate) fn may_have(entry: &str, tool: &str) -> bool {
    tool.strip_prefix(entry)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// The name by which agents call a tool: `<entry>` for an only one, `<entry>_<tool>`
/// otherwise.
///
/// # Errors
///
/// When the name would be too long for clients.
pub(super) fn tool_name(entry: &str, tool: &ToolSpec, only: bool) -> Result<String, String> {
    let name = if only {
        entry.to_owned()
    } else {
        format!("{entry}_{}", tool.name)
    };
    if is_name(&name) {
        Ok(name)
    } else {
        Err(format!(
            "its tool would be called `{name}`, which has {} of at most {MAX_NAME_BYTES} letters",
            name.len()
        ))
    }
}
