//! Well behaved: one tool for each function of `prx:skill/state`, and two that use it
//! often. Errors are told by their WIT name in `data.error`.

use prx_guests::tools::{Error, ErrorKind};
use prx_guests::{Arguments, Tool, guest, state, structured};
use serde_json::{Value, json};

#[allow(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn refused(error: state::Error) -> Error {
    let (kind, name) = match &error {
        state::Error::Denied => (ErrorKind::Denied, "denied"),
        state::Error::InvalidKey => (ErrorKind::InvalidArguments, "invalid-key"),
        state::Error::QuotaExceeded(_) => (ErrorKind::Failed, "quota-exceeded"),
        state::Error::NotANumber => (ErrorKind::Conflict, "not-a-number"),
        state::Error::Unavailable(_) => (ErrorKind::Unavailable, "unavailable"),
    };
    let missing_bytes = match error {
        state::Error::QuotaExceeded(bytes) => Some(bytes),
        _ => None,
    };
    let data = json!({ "error": name, "missing_bytes": missing_bytes }).to_string();
    Error {
        kind,
        message: format!("{error:?}"),
        data: Some(data),
    }
}

fn shown(value: Option<Vec<u8>>) -> Value {
    value.map_or(Value::Null, |bytes| {
        String::from_utf8_lossy(&bytes).into_owned().into()
    })
}

fn delta(arguments: &Arguments) -> i64 {
    arguments
        .value()
        .get("delta")
        .and_then(Value::as_i64)
        .unwrap_or(1)
}

fn compare_and_set(arguments: &Arguments) -> prx_guests::Answer {
    let expected = arguments.optional_text("expected");
    let value = arguments.optional_text("value");
    let done = state::compare_and_set(
        &arguments.text("key")?,
        expected.as_deref().map(str::as_bytes),
        value.as_deref().map(str::as_bytes),
    );
    structured(json!({ "done": done.map_err(refused)? }))
}

fn keys(arguments: &Arguments) -> prx_guests::Answer {
    let limit = arguments.optional_number("limit").unwrap_or(1000);
    let keys = state::keys(
        &arguments.optional_text("prefix").unwrap_or_default(),
        arguments.optional_text("after").as_deref(),
        u32::try_from(limit).unwrap_or(u32::MAX),
    );
    structured(json!({ "keys": keys.map_err(refused)? }))
}

guest![
    Tool::new("get", "Tells the value of a key, or null.", |arguments| {
        let value = state::get(&arguments.text("key")?).map_err(refused)?;
        structured(json!({ "value": shown(value) }))
    })
    .takes("key", "string"),
    Tool::new("set", "Sets the value of a key.", |arguments| {
        state::set(&arguments.text("key")?, arguments.text("value")?.as_bytes())
            .map_err(refused)?;
        structured(json!({ "done": true }))
    })
    .takes("key", "string")
    .takes("value", "string"),
    Tool::new(
        "delete",
        "Removes a key; tells whether it existed.",
        |arguments| {
            let existed = state::delete(&arguments.text("key")?).map_err(refused)?;
            structured(json!({ "existed": existed }))
        }
    )
    .takes("key", "string"),
    Tool::new(
        "increment",
        "Adds `delta` (1) to a key `times` (1) times.",
        |arguments| {
            let key = arguments.text("key")?;
            let mut sum = None;
            for _ in 0..arguments.optional_number("times").unwrap_or(1) {
                sum = Some(state::increment(&key, delta(&arguments)).map_err(refused)?);
            }
            structured(json!({ "sum": sum }))
        }
    )
    .takes("key", "string")
    .may_take("delta", "integer")
    .may_take("times", "integer"),
    Tool::new(
        "compare_and_set",
        "Replaces `expected` by `value`.",
        |arguments| { compare_and_set(&arguments) }
    )
    .takes("key", "string")
    .may_take("expected", "string")
    .may_take("value", "string"),
    Tool::new("keys", "Lists keys.", |arguments| keys(&arguments))
        .may_take("prefix", "string")
        .may_take("after", "string")
        .may_take("limit", "integer"),
    Tool::new("usage", "Tells how full the store is.", |_| {
        let usage = state::usage().map_err(refused)?;
        structured(json!({ "used": usage.used, "quota": usage.quota }))
    }),
    Tool::new(
        "fill",
        "Sets `count` keys to values of `bytes` bytes.",
        |arguments| {
            let value = vec![b'v'; arguments.size("bytes")?];
            let count = arguments.number("count")?;
            for number in 0..count {
                state::set(&format!("fill-{number:06}"), &value).map_err(refused)?;
            }
            structured(json!({ "count": count }))
        }
    )
    .takes("count", "integer")
    .takes("bytes", "integer"),
    Tool::new(
        "set_and_trap",
        "Sets the value of a key, then traps.",
        |arguments| {
            state::set(&arguments.text("key")?, arguments.text("value")?.as_bytes())
                .map_err(refused)?;
            std::process::abort()
        }
    )
    .takes("key", "string")
    .takes("value", "string"),
];
