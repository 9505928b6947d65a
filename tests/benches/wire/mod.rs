//! Raw clients of both transports, and the server to compare with.

pub mod http;
pub mod native;
pub mod stdio;

use anyhow::ensure;
use serde_json::{Value, json};

/// A request without what says who asks.
fn request(id: u64, method: &str, params: &Value) -> String {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The call that is measured.
fn call(id: u64) -> String {
    let arguments = json!({ "text": "The quick brown fox", "numbers": [1, 2, 3, 4, 5] });
    request(
        id,
        "tools/call",
        &json!({ "name": "trivial", "arguments": arguments }),
    )
}

/// Whether an answer is right, without the cost of reading all of it.
fn check(answer: &[u8]) -> anyhow::Result<()> {
    let has = |part: &[u8]| answer.windows(part.len()).any(|window| window == part);
    let is_right = has(b"\"structuredContent\"") && has(b"\"sum\":15") && has(b"\"characters\":19");
    ensure!(is_right, "{}", String::from_utf8_lossy(answer));
    Ok(())
}
