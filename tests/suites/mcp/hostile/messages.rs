//! Messages that are none, or not quite, and what is answered to them.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

/// What an answer must be.
pub enum Expected {
    /// An error with that code, to a request with that id.
    Error(i64, Value),
    /// The result of a call, an error that a model can mend, with these words.
    Mendable(&'static str),
}

impl Expected {
    pub fn check(&self, answer: &Value) -> Result<()> {
        match self {
            Self::Error(code, id) => {
                ensure!(answer["error"]["code"] == *code, "the code is not {code}");
                ensure!(answer.get("id") == Some(id), "the id is not {id}");
                let text = answer["error"]["message"].as_str().unwrap_or_default();
                ensure!(text.len() > 10, "it does not say why");
            }
            Self::Mendable(words) => {
                ensure!(answer["id"] == ID, "the id is not {ID}");
                ensure!(answer["result"]["isError"] == true, "it is no error");
                let text = answer["result"]["content"][0]["text"].as_str();
                let text = text.unwrap_or_default();
                ensure!(text.contains(words), "it does not say `{words}`");
            }
        }
        Ok(())
    }
}

/// The id of these requests, which is none that others have.
const ID: u64 = 4_000_000_000;

fn request(method: &str, params: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":"{method}","params":{params}}}"#).into_bytes()
}

fn call(arguments: &str) -> Vec<u8> {
    request(
        "tools/call",
        &format!(r#"{{"name":"echo","arguments":{arguments}}}"#),
    )
}

/// All of them.
pub fn all() -> Vec<(Vec<u8>, Expected)> {
    use Expected::{Error, Mendable};
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let very_deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let (none, id) = (Value::Null, json!(ID));
    let no_json = |text: &[u8]| (text.to_vec(), Error(-32700, Value::Null));
    let no_request = |text: &str, id: &Value| (text.as_bytes().to_vec(), Error(-32600, id.clone()));
    let wrong = |text: Vec<u8>| (text, Error(-32602, json!(ID)));
    vec![
        no_json(b"{"),
        no_json(b"no json"),
        no_json(b"\xff\xfe"),
        no_json(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xffng\"}"),
        no_json(&[b'['; 5_000]),
        no_request("[]", &none),
        no_request(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &none),
        no_request("7", &none),
        no_request("{}", &none),
        no_request(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &none),
        no_request(r#"{"jsonrpc":"2.0","id":"x","method":7}"#, &json!("x")),
        no_request(
            &format!(r#"{{"jsonrpc":"1.0","id":{ID},"method":"ping"}}"#),
            &id,
        ),
        no_request(&format!(r#"{{"jsonrpc":"2.0","id":{ID}}}"#), &id),
        no_request(
            &format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":"ping","method":"ping"}}"#),
            &id,
        ),
        (request("no/such/method", "{}"), Error(-32601, id.clone())),
        wrong(format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":"tools/call"}}"#).into_bytes()),
        wrong(request("tools/call", "null")),
        wrong(request("tools/call", "[]")),
        wrong(request("tools/call", "{}")),
        wrong(request("tools/call", r#"{"name":["echo"]}"#)),
        wrong(request("tools/call", r#"{"name":"echo","name":"trivial"}"#)),
        wrong(request("tools/call", r#"{"name":"nobody","arguments":{}}"#)),
        wrong(call("[]")),
        wrong(call("\"{}\"")),
        wrong(request("tools/list", "[]")),
        wrong(request("tools/list", &deep)),
        wrong(request("tools/list", r#"{"cursor":"of somebody else"}"#)),
        wrong(request("logging/setLevel", r#"{"level":"loud"}"#)),
        (
            call(r#"{"a":1,"b":{"c":1,"c":2}}"#),
            Mendable("`c` stands twice"),
        ),
        (call(r#"{"a":1,"a":1}"#), Mendable("`a` stands twice")),
        (call(r#"{"a":"\ud800"}"#), Mendable("not valid JSON")),
        (call(r#"{"a":1e400}"#), Mendable("not valid JSON")),
        (call(&deep), Mendable("not valid JSON")),
        (call(&very_deep), Mendable("not valid JSON")),
    ]
}
