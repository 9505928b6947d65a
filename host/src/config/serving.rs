//! `[serve]`: what clients of the Model Context Protocol are offered, and how they reach
//! it. Plain data; an agent's own table of clients has another name.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{Place, Provided, Setting};
use crate::command::Piece;
use crate::model::UriTemplate;

/// `[serve]`
#[derive(Clone, Debug, PartialEq)]
pub struct Serve {
    /// `tools`: globs of the tools that are offered.
    pub tools: Setting<Vec<String>>,
    /// `deny`: globs of the tools that are not.
    pub deny: Setting<Vec<String>>,
    /// `read_only`
    pub read_only: Setting<bool>,
    /// `page_size`: entries in one page of a list.
    pub page_size: Setting<u64>,
    /// `max_result_chars`
    pub max_result_chars: Setting<u64>,
    /// `max_calls`, at one time.
    pub max_calls: Setting<u64>,
    /// `instructions`: what clients hear first.
    pub instructions: Option<Setting<String>>,
    /// `[serve.http]`
    pub http: ServeHttp,
    /// `[serve.resources.<name>]`, in the file's order.
    pub resources: IndexMap<String, ResourceEntry>,
    /// `[serve.prompts.<name>]`, in the file's order.
    pub prompts: IndexMap<String, PromptEntry>,
}

/// `[serve.http]`
#[derive(Clone, Debug, PartialEq)]
pub struct ServeHttp {
    /// `listen`
    pub listen: Setting<SocketAddr>,
    /// `token`, which never stands in the file itself.
    pub token: Option<Setting<Provided<String>>>,
    /// `tls_cert`, absolute.
    pub tls_cert: Option<Setting<PathBuf>>,
    /// `tls_key`, absolute.
    pub tls_key: Option<Setting<PathBuf>>,
    /// `allowed_hosts`
    pub allowed_hosts: Setting<Vec<String>>,
    /// `allowed_origins`
    pub allowed_origins: Setting<Vec<String>>,
    /// `max_body_bytes`
    pub max_body_bytes: Setting<u64>,
    /// `max_sessions`
    pub max_sessions: Setting<u64>,
    /// `last_calls_secs`
    pub last_calls: Setting<Duration>,
}

/// `[serve.resources.<name>]`
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceEntry {
    /// `<name>`
    pub name: String,
    /// Where the table begins.
    pub place: Place,
    /// `title`
    pub title: Option<Setting<String>>,
    /// `description`
    pub description: Option<Setting<String>>,
    /// Where what is read comes from.
    pub source: ResourceSource,
}

/// Where the contents of resources come from.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceSource {
    /// The files of a folder.
    Folder {
        /// `folder`, absolute.
        folder: Setting<PathBuf>,
        /// `uri`: what the address of each file begins with; ends with `/`.
        uri: Setting<String>,
        /// `include`: globs of paths in the folder.
        include: Setting<Vec<String>>,
    },
    /// What a tool answers.
    Tool {
        /// `tool`
        tool: Setting<String>,
        /// `uri`
        uri: Setting<UriTemplate>,
        /// `arguments` beside those of the address.
        arguments: Setting<Map<String, Value>>,
        /// `media_type` of its texts.
        media_type: Option<Setting<String>>,
    },
}

/// `[serve.prompts.<name>]`
#[derive(Clone, Debug, PartialEq)]
pub struct PromptEntry {
    /// `<name>`
    pub name: String,
    /// Where the table begins.
    pub place: Place,
    /// `title`
    pub title: Option<Setting<String>>,
    /// `description`
    pub description: Option<Setting<String>>,
    /// Where its messages come from.
    pub source: PromptSource,
}

/// Where the messages of a prompt come from.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptSource {
    /// One message with places for arguments.
    Text {
        /// `text`
        text: Setting<Piece>,
        /// `[serve.prompts.<name>.arguments]`; absent: each place in the text is one.
        arguments: Setting<Vec<PromptParameter>>,
    },
    /// What a tool answers; it has the tool's arguments.
    Tool {
        /// `tool`
        tool: Setting<String>,
    },
}

/// One argument of a prompt. Its values are texts, as the protocol has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptParameter {
    /// Its name.
    pub name: String,
    /// `title`
    pub title: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `required`
    pub required: bool,
    /// `enum`: the only values; empty: any. `type = "boolean"` is `true` and `false`.
    pub choices: Vec<String>,
    /// `default`
    pub default: Option<String>,
}
