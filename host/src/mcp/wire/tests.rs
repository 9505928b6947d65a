//! What is understood, and how the rest is refused.

use serde_json::{Value, json};

use super::*;

/// The answer to a refused text; `None`: it is understood.
fn refused(text: impl AsRef<[u8]>) -> Option<Value> {
    let refusal = read(text.as_ref(), &mut LastAbout::default()).err()?;
    if refusal.to == To::Nobody {
        return Some(Value::Null);
    }
    Some(serde_json::from_str(&refusal.message()).unwrap())
}

fn code_and_id(text: impl AsRef<[u8]>) -> (i64, Value) {
    let answer = refused(text.as_ref())
        .unwrap_or_else(|| panic!("understood: {}", String::from_utf8_lossy(text.as_ref())));
    (
        answer["error"]["code"].as_i64().unwrap_or_default(),
        answer["id"].clone(),
    )
}

#[test]
fn what_is_no_json_is_a_parse_error_without_an_id() {
    let deep = "[".repeat(200);
    for text in [
        &b"{"[..],
        b"no json",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}",
        b"\xff\xfe",
        deep.as_bytes(),
    ] {
        assert_eq!(code_and_id(text), (-32700, Value::Null), "{text:?}");
    }
}

#[test]
fn what_is_no_request_is_refused_with_its_id_where_it_has_one() {
    for (text, id) in [
        ("[]", Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        ("7", Value::Null),
        ("null", Value::Null),
        ("{}", Value::Null),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            Value::Null,
        ),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, json!(3)),
        (r#"{"id":3,"method":"ping"}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":4,"method":5}"#, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"\ud800"}"#, json!(4)),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"ping","result":{}}"#,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"a","method":"b"}"#,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"\u0069d":5,"method":"a"}"#,
            Value::Null,
        ),
    ] {
        assert_eq!(code_and_id(text), (-32600, id), "{text}");
    }
}

#[test]
fn parameters_that_are_wrong_are_called_so() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let request = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{method}","params":{params}}}"#)
    };
    for text in [
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#.to_owned(),
        request("tools/call", "null"),
        request("tools/call", "[]"),
        request("tools/call", "{}"),
        request("tools/call", r#"{"name":5}"#),
        request("tools/call", r#"{"name":"a","name":"b"}"#),
        request("tools/call", r#"{"name":"a","arguments":[]}"#),
        request("tools/call", r#"{"name":"a","arguments":"{}"}"#),
        request(
            "tools/call",
            r#"{"name":"a","arguments":{},"arguments":{}}"#,
        ),
        request("tools/call", r#"{"name":"a","_meta":5}"#),
        request(
            "tools/call",
            &format!(r#"{{"name":"a","_meta":{{"a":{deep}}}}}"#),
        ),
        request("tools/list", "5"),
        request("tools/list", r#"{"cursor":7}"#),
        request("prompts/list", r#"{"_meta":{},"c\u0075rsor":[]}"#),
        request("resources/list", r#"{"cursor":"\ud800"}"#),
        request("resources/templates/list", r#"{"cursor":{}}"#),
        request("tools/list", &format!(r#"{{"a":{deep}}}"#)),
        request("logging/setLevel", r#"{"level":"loud"}"#),
        request("completion/complete", "{}"),
    ] {
        assert_eq!(code_and_id(&text), (-32602, json!(9)), "{text}");
    }
}

#[test]
fn a_list_may_go_on_behind_a_cursor_or_begin_without_one() {
    for params in [
        "{}",
        "null",
        r#"{"cursor":null}"#,
        r#"{"cursor":"YWZ0ZXI6YQ"}"#,
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{params}}}"#);
        assert_eq!(refused(&text), None, "{text}");
    }
}

#[test]
fn notifications_and_answers_are_never_answered() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":5}"#,
    ] {
        assert_eq!(refused(text), Some(Value::Null), "{text}");
    }
}

#[test]
fn a_call_keeps_its_arguments_as_they_were_written() {
    let written = r#"{ "a":1, "a":2, "deep":[[[]]], "half":"\ud800", "n":1e400 }"#;
    let text = format!(
        r#"{{"params":{{"arguments":{written},"_meta":{{"progressToken":7}},"name":"t\u0065st"}},"method":"tools\/call","id":"x","jsonrpc":"2.0"}}"#
    );
    let Ok(Heard::Call(call)) = read(text.as_bytes(), &mut LastAbout::default()) else {
        panic!("no call");
    };
    assert_eq!(call.name, "test");
    assert_eq!(call.arguments, written);
    let short: Value = serde_json::from_str(&call.without_arguments()).unwrap();
    let expected = json!({
        "jsonrpc": "2.0",
        "id": "x",
        "method": "tools/call",
        "params": { "name": "test", "_meta": { "progressToken": 7 } },
    });
    assert_eq!(short, expected);
}

#[test]
fn messages_of_the_protocol_are_understood() {
    for text in [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":null}",
        r#"{"jsonrpc":"2.0","id":1,"method":"somebody/else","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null}}"#,
    ] {
        assert_eq!(refused(text), None, "{text}");
    }
}

#[test]
fn the_beginning_of_a_long_message_tells_its_id() {
    let request = |id: &str| To::Request(id.to_owned());
    for (head, to) in [
        (
            r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"a":"xx"#,
            request("17"),
        ),
        (
            r#"{"id":"a\"b","params":{"id":3,"a":"xx"#,
            request("\"a\\\"b\""),
        ),
        (r#"{"jsonrpc":"2.0","id":17"#, To::Unknown),
        (r#"{"jsonrpc":"2.0","id":nu"#, To::Unknown),
        (r#"{"params":{"id":3,"a":"xx"#, To::Unknown),
        ("xxxxxxxx", To::Unknown),
    ] {
        assert_eq!(to_of_head(head.as_bytes()), to, "{head}");
    }
}
