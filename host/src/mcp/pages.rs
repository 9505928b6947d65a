//! Lists in pages. A page goes on behind a key, whatever was added or removed meanwhile.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// What cursors begin with, so that one of somebody else is known as that.
const CURSOR: &str = "after:";

/// One page in the order of keys, and the cursor of the next.
///
/// # Errors
///
/// A cursor that this server did not give.
pub(super) fn page<T: Clone>(
    all: &BTreeMap<String, T>,
    request: Option<PaginatedRequestParams>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let after = cursor.as_deref().map(key_of).transpose()?;
    let from = match &after {
        Some(key) => Bound::Excluded(key.as_str()),
        None => Bound::Unbounded,
    };
    let mut rest = all.range::<str, _>((from, Bound::Unbounded));
    let taken: Vec<_> = rest.by_ref().take(size).collect();
    let last = rest.next().and(taken.last());
    let next = last.map(|(key, _)| URL_SAFE_NO_PAD.encode(format!("{CURSOR}{key}")));
    let items = taken.into_iter().map(|(_, item)| item.clone()).collect();
    Ok((items, next))
}

fn key_of(cursor: &str) -> Result<String, ErrorData> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.strip_prefix(CURSOR)
        .map(str::to_owned)
        .ok_or_else(|| ErrorData::invalid_params("the cursor is none of this server", None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_together_are_the_list_whatever_goes_meanwhile() {
        let mut all: BTreeMap<String, u32> = (0..7).map(|n| (format!("k{n}"), n)).collect();
        let (mut seen, mut request) = (Vec::new(), None);
        loop {
            let (items, next) = page(&all, request, 3).unwrap();
            seen.extend(items);
            // The entry that the cursor names goes.
            all.remove("k2");
            let Some(next) = next else { break };
            let mut params = PaginatedRequestParams::default();
            params.cursor = Some(next);
            request = Some(params);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn cursors_of_others_are_refused() {
        for cursor in ["", "x", "YWZ0ZXI", "%%%"] {
            let mut params = PaginatedRequestParams::default();
            params.cursor = Some(cursor.to_owned());
            let refused = page(&BTreeMap::<String, u32>::new(), Some(params), 1);
            assert_eq!(refused.unwrap_err().code.0, -32602, "{cursor}");
        }
    }
}
