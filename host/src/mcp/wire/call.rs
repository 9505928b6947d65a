//! The call of a tool as it came: what belongs to the protocol is read, the arguments stay
//! text.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, Extensions,
    NumberOrString, ProtocolVersion, RequestId,
};

use super::super::memory::Held;
use super::about::{About, LastAbout};
use super::object::{members, string};

/// A call of a tool.
pub(in crate::mcp) struct Call<'a> {
    pub id: RequestId,
    /// The id as it was written.
    raw_id: &'a str,
    pub name: Cow<'a, str>,
    raw_name: &'a str,
    about: Option<Arc<About>>,
    raw_meta: Option<&'a str>,
    pub(super) arguments: &'a str,
}

/// The arguments of a call, as its client wrote them. They go with the request to where it
/// is handled.
#[derive(Clone, Debug)]
pub(in crate::mcp) struct Arguments(pub Arc<str>);

/// The id of a request; `None`: it is none.
pub(super) fn request_id(text: &str) -> Option<RequestId> {
    if let Some(text) = string(text) {
        return Some(NumberOrString::String(text.into()));
    }
    text.parse().ok().map(NumberOrString::Number)
}

impl<'a> Call<'a> {
    /// Reads the parameters of a call.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub(super) fn read(
        id: RequestId,
        raw_id: &'a str,
        params: Option<&'a str>,
        last: &mut LastAbout,
    ) -> Result<Self, String> {
        let params = params.ok_or("`params` are missing: a call has a `name` and `arguments`")?;
        let (mut name, mut arguments, mut meta, mut twice) = (None, None, None, None);
        let tell = |key: Cow<'a, str>, value: &'a str| {
            let place = match key.as_ref() {
                "name" => &mut name,
                "arguments" => &mut arguments,
                "_meta" => &mut meta,
                _ => return,
            };
            if place.replace(value).is_some() {
                twice = Some(key);
            }
        };
        members(params, tell).map_err(|_| "`params` must be an object")?;
        if let Some(key) = twice {
            return Err(format!("`{key}` stands twice in `params`"));
        }
        let raw_name = name.ok_or("`name` is missing: which tool is called")?;
        let name = string(raw_name).ok_or("`name` must be a string")?;
        let raw_meta = meta.filter(|meta| *meta != "null");
        let about = raw_meta.map(|text| last.read(text)).transpose();
        let about = about.map_err(|error| format!("`_meta` must be an object: {error}"))?;
        let arguments = arguments.filter(|text| *text != "null").unwrap_or("{}");
        if !arguments.starts_with('{') {
            return Err("`arguments` must be an object".to_owned());
        }
        Ok(Self {
            id,
            raw_id,
            name,
            raw_name,
            about,
            raw_meta,
            arguments,
        })
    }

    /// The arguments as text.
    pub fn arguments(&self) -> Arguments {
        Arguments(self.arguments.into())
    }

    /// The revision of the protocol that a call of the stateless era names.
    pub fn stateless_version(&self) -> Option<&ProtocolVersion> {
        self.about.as_ref()?.version.as_ref()
    }

    /// What its client says of itself, if it says all, and wants to hear nothing but the
    /// answer.
    pub fn about_if_alone(&self) -> Option<&About> {
        self.about.as_deref().filter(|about| about.is_alone)
    }

    /// The request, with its arguments beside it.
    pub fn into_message(self, held: Held) -> ClientJsonRpcMessage {
        let arguments = self.arguments();
        let params = CallToolRequestParams::new(self.name.into_owned());
        let mut request = CallToolRequest::new(params);
        if let Some(about) = self.about {
            request.extensions.insert(about.meta.clone());
        }
        request.extensions.insert(arguments);
        request.extensions.insert(held);
        ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id)
    }

    /// The same request as text, without its arguments.
    pub fn without_arguments(&self) -> String {
        let (id, name) = (self.raw_id, self.raw_name);
        let mut text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{name}"#
        );
        if let Some(meta) = self.raw_meta {
            let _ = write!(text, r#","_meta":{meta}"#);
        }
        text.push_str("}}");
        text
    }

    /// The id as it was written.
    pub fn raw_id(&self) -> &str {
        self.raw_id
    }
}

impl Arguments {
    /// The arguments that came with a request, over whichever transport.
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Self>().or_else(|| {
            let parts = extensions.get::<axum::http::request::Parts>()?;
            parts.extensions.get::<Self>()
        })
    }
}
