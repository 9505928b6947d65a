//! The headers of a call that stands alone.
//!
//! Invariant: what is found to be right here, the library would find to be right, too. What
//! is not is left to the library, which says what is wrong.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

use crate::mcp::wire::Call;

/// Whether all headers of a call are there, once, and say what its body says.
pub(super) fn are_right(headers: &HeaderMap, call: &Call<'_>) -> bool {
    let Some(version) = call.stateless_version() else {
        return false;
    };
    let only = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().filter(|_| values.next().is_none())?;
        value.to_str().ok()
    };
    only("mcp-protocol-version") == Some(version.as_str())
        && only("mcp-method") == Some("tools/call")
        && only("mcp-name") == Some(&*call.name)
        && !headers.contains_key("mcp-session-id")
        && only(ACCEPT.as_str()).is_some_and(accepts_both)
}

/// Whether a list of media types names both that an answer may have, with no conditions.
fn accepts_both(list: &str) -> bool {
    let names = |kind: &str| {
        let mut kinds = list.split(',').map(str::trim);
        kinds.any(|named| named.eq_ignore_ascii_case(kind))
    };
    names("application/json") && names("text/event-stream")
}
