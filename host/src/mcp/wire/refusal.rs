//! Answers to what is no request of the protocol, in the words of JSON-RPC 2.0.

use std::fmt;

use rmcp::model::ErrorCode;
use serde_json::json;

/// Why something that came is not served.
#[derive(Debug, PartialEq)]
pub(in crate::mcp) struct Refusal {
    /// Who is told.
    pub to: To,
    pub code: ErrorCode,
    pub text: String,
}

/// Who hears of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mcp) enum To {
    /// A notification or an answer, which are never answered.
    Nobody,
    /// Something whose id can not be read.
    Unknown,
    /// A request with this id, as it was written.
    Request(String),
}

/// The code for requests that come while there is no room; of those that JSON-RPC leaves
/// to servers.
const BUSY: ErrorCode = ErrorCode(-32000);

impl Refusal {
    pub fn no_json(text: impl fmt::Display) -> Self {
        Self {
            to: To::Unknown,
            code: ErrorCode::PARSE_ERROR,
            text: format!("this is no JSON: {text}"),
        }
    }

    pub fn no_request(to: To, text: impl Into<String>) -> Self {
        Self {
            to,
            code: ErrorCode::INVALID_REQUEST,
            text: text.into(),
        }
    }

    pub fn wrong_params(to: To, text: impl Into<String>) -> Self {
        Self {
            to,
            code: ErrorCode::INVALID_PARAMS,
            text: text.into(),
        }
    }

    pub fn busy(to: To, text: impl Into<String>) -> Self {
        Self {
            to,
            code: BUSY,
            text: text.into(),
        }
    }

    /// Something with more bytes than a message may have, which was not read to its end.
    pub fn too_long(to: To, most: usize) -> Self {
        let most = crate::model::format_bytes(most as u64);
        Self::no_request(
            to,
            format!("the message has more than the {most} that one may have"),
        )
    }

    /// The error for one that is a handler's.
    pub fn into_error(self) -> rmcp::ErrorData {
        rmcp::ErrorData::new(self.code, self.text, None)
    }

    /// The message that answers, with an id of `null` where there is no other.
    pub fn message(&self) -> String {
        let id = match &self.to {
            To::Request(id) => id,
            To::Nobody | To::Unknown => "null",
        };
        let error = json!({ "code": self.code.0, "message": self.text });
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}
