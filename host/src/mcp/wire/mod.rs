//! What comes from a client before it is a message of the protocol: read once, and either
//! understood or refused with the code that JSON-RPC has for it.
//!
//! Invariants: the arguments of a call stay the text that the client wrote, so that the
//! library's own check sees them; whoever can be answered is answered, with the id that was
//! asked with.

mod about;
mod call;
mod object;
mod refusal;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, ProtocolVersion,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) use self::about::LastAbout;
pub(super) use self::call::{Arguments, Call};
use self::object::{members, string};
pub(super) use self::refusal::{Refusal, To};
use super::memory::Held;

/// Bytes at the beginning of a message that is too long in which its id is looked for.
pub(super) const HEAD: usize = 4 << 10;

/// What came.
pub(super) enum Heard<'a> {
    /// The call of a tool.
    Call(Call<'a>),
    /// Anything else of the protocol.
    Message(Box<ClientJsonRpcMessage>),
}

/// The same message, which holds its memory if it is a request.
pub(super) fn holding(mut message: ClientJsonRpcMessage, held: Held) -> ClientJsonRpcMessage {
    if let JsonRpcMessage::Request(request) = &mut message {
        request.request.extensions_mut().insert(held);
    }
    message
}

/// Requests that mean nothing without parameters of a certain form.
const WITH_PARAMS: [&str; 8] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "prompts/get",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
];

/// Those of them that the era without sessions does not have: they are answered as unknown.
const OF_SESSIONS: [&str; 4] = [
    "initialize",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Requests besides calls whose arguments are somebody's own: a key that stands twice would
/// be lost in the library.
const WITH_ARGUMENTS: [&str; 2] = ["completion/complete", "prompts/get"];

/// Requests for a list, which may go on where a page ended.
const LISTS: [&str; 4] = [
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "tools/list",
];

/// The members of a message that JSON-RPC knows.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    /// A member of these that stands twice.
    twice: Option<&'static str>,
}

impl<'a> Envelope<'a> {
    fn tell(&mut self, key: &str, value: &'a str) {
        let (place, name) = match key {
            "jsonrpc" => (&mut self.version, "jsonrpc"),
            "id" => (&mut self.id, "id"),
            "method" => (&mut self.method, "method"),
            "params" => (&mut self.params, "params"),
            "result" => (&mut self.result, "result"),
            "error" => (&mut self.error, "error"),
            _ => return,
        };
        if place.replace(value).is_some() {
            self.twice = Some(name);
        }
    }

    /// Who is told of a fault.
    fn to(&self) -> To {
        match self.id {
            Some(id) if is_id(id) && self.twice != Some("id") => To::Request(id.to_owned()),
            None if self.method.is_some() || self.result.is_some() || self.error.is_some() => {
                To::Nobody
            }
            _ => To::Unknown,
        }
    }
}

/// Whether a text is an id that can be given back: a number or a string.
fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) || string(text).is_some()
}

/// Reads a message. `last` is what the same client, or another one, said of itself before.
pub(super) fn read<'a>(bytes: &'a [u8], last: &mut LastAbout) -> Result<Heard<'a>, Refusal> {
    // A mark that some programs write before their text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Refusal::no_json(format!("it is not UTF-8: {error}")))?;
    let mut envelope = Envelope::default();
    if members(text, |key, value| envelope.tell(&key, value)).is_err() {
        return Err(no_object(text));
    }
    let to = envelope.to();
    if let Some(name) = envelope.twice {
        return Err(Refusal::no_request(to, format!("`{name}` stands twice")));
    }
    if envelope.version != Some("\"2.0\"") {
        let text = "`jsonrpc` must be \"2.0\"";
        return Err(Refusal::no_request(to, text));
    }
    let is_answer = envelope.result.is_some() || envelope.error.is_some();
    let Some(method) = envelope.method else {
        if is_answer {
            return whole(text, To::Nobody, "");
        }
        let text = "this is neither a request nor an answer: `method` is missing";
        return Err(Refusal::no_request(to, text));
    };
    if is_answer {
        let text = "a request has no `result` and no `error`";
        return Err(Refusal::no_request(to, text));
    }
    let Some(method) = string(method) else {
        return Err(Refusal::no_request(to, "`method` must be a string"));
    };
    request(text, &envelope, &method, to, last)
}

fn request<'a>(
    text: &'a str,
    envelope: &Envelope<'a>,
    method: &str,
    to: To,
    last: &mut LastAbout,
) -> Result<Heard<'a>, Refusal> {
    let id = match envelope.id {
        Some(id) => Some(call::request_id(id).ok_or_else(|| {
            Refusal::no_request(to.clone(), "`id` must be a string or a whole number")
        })?),
        None => None,
    };
    if let Some(params) = envelope.params
        && WITH_ARGUMENTS.contains(&method)
    {
        crate::json::parse(params).map_err(|error| {
            let text = format!("the parameters of `{method}` can not be read: {error}");
            Refusal::wrong_params(to.clone(), text)
        })?;
    }
    if let Some(params) = envelope.params
        && LISTS.contains(&method)
        && !has_good_cursor(params)
    {
        let text = "`cursor` must be a string, as the page before gave it";
        return Err(Refusal::wrong_params(to, text));
    }
    let is_object = |params: &str| params.starts_with('{');
    match (id, envelope.params) {
        (Some(id), params) if method == "tools/call" => {
            Call::read(id, envelope.id.unwrap_or_default(), params, last)
                .map(Heard::Call)
                .map_err(|fault| Refusal::wrong_params(to, fault))
        }
        (_, Some(params)) if params != "null" && !is_object(params) => {
            Err(Refusal::wrong_params(to, "`params` must be an object"))
        }
        _ => whole(text, to, method),
    }
}

/// Whether the cursor of a request for a list is one, or there is none: the library takes
/// any other for a list from its beginning.
fn has_good_cursor(params: &str) -> bool {
    let mut is_good = true;
    let _ = members(params, |key, value| {
        is_good &= key != "cursor" || value == "null" || string(value).is_some();
    });
    is_good
}

/// Reads a message that is no call, all of it.
fn whole<'a>(text: &str, to: To, method: &str) -> Result<Heard<'a>, Refusal> {
    let message: ClientJsonRpcMessage = serde_json::from_str(text).map_err(|error| {
        Refusal::wrong_params(
            to.clone(),
            format!("the parameters can not be read: {error}"),
        )
    })?;
    // What fits no known request is taken for one of somebody's own.
    if let JsonRpcMessage::Request(request) = &message
        && matches!(request.request, ClientRequest::CustomRequest(_))
        && WITH_PARAMS.contains(&method)
        && !(OF_SESSIONS.contains(&method) && is_stateless(text))
    {
        let text = format!("the parameters are not those of `{method}`");
        return Err(Refusal::wrong_params(to, text));
    }
    Ok(Heard::Message(Box::new(message)))
}

/// Whether a request is of the era without sessions, by its own word.
fn is_stateless(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Request {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        version: String,
    }
    let request = serde_json::from_str::<Request>(text);
    let first = ProtocolVersion::V_2026_07_28;
    request.is_ok_and(|request| request.params.meta.version.as_str() >= first.as_str())
}

/// Says why a text is no object.
fn no_object(text: &str) -> Refusal {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) => Refusal::no_json(error),
        Ok(_) if text.trim_start().starts_with('[') => Refusal::no_request(
            To::Unknown,
            "one message at a time: the protocol has no batches",
        ),
        Ok(_) => Refusal::no_request(To::Unknown, "a message is an object"),
    }
}

/// Who is told that a message is too long of which this is the beginning.
pub(super) fn to_of_head(head: &[u8]) -> To {
    let head = match std::str::from_utf8(head) {
        Ok(head) => head,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut found = To::Unknown;
    let end = head.as_bytes().as_ptr_range().end;
    // What reaches the end may go on behind it.
    let _ = members(head, |key, value| {
        if key == "id" && is_id(value) && value.as_bytes().as_ptr_range().end < end {
            found = To::Request(value.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests;
