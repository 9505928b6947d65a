//! `prx-host mcp-config`: how a client starts this host, ready to paste.

use std::path::Path;

use serde_json::{Value, json};

use prx_host::model::Shown as _;

use super::render::{Failure, Screen};
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(
    after_help = "The block goes to standard output, and where it belongs to standard error. Paths are
absolute: clients start servers in folders of their own.

Examples:
  prx-host mcp-config --client claude-desktop
  prx-host mcp-config --client codex >> ~/.codex/config.toml
  prx-host mcp-config --client cursor -- --read-only"
)]
pub struct Arguments {
    /// The client.
    #[arg(long, value_enum)]
    client: Client,
    /// The name under which the client knows this host.
    #[arg(long, default_value = "prx-host")]
    name: String,
    /// More arguments for `prx-host serve`.
    #[arg(last = true, value_name = "ARGUMENT")]
    serve: Vec<String>,
}

/// The clients whose configuration is known.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
#[allow(missing_docs, reason = "named as on the command line")]
enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Codex,
    Zed,
}

impl Client {
    /// The file in which its servers stand.
    fn file(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => {
                "claude_desktop_config.json (Settings, Developer, Edit Config); merge it with what stands there"
            }
            Self::ClaudeCode => "`.mcp.json` in a project, or `claude mcp add-json`",
            Self::Cursor => "`.cursor/mcp.json` in a project, or `~/.cursor/mcp.json`",
            Self::Vscode => "`.vscode/mcp.json` in a project",
            Self::Codex => "`~/.codex/config.toml`",
            Self::Zed => "Zed's settings.json",
        }
    }
}

/// What a client starts.
struct Start {
    name: String,
    program: String,
    arguments: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Internal, "this program does not know its own path")
            .cause(error.to_string())
    })?;
    let environment = start::environment()?;
    let discovered = start::discover(global, &environment)?;
    let mut words = Vec::new();
    if let Some(file) = &discovered.file {
        words.extend(["--config".to_owned(), text(file)?]);
    }
    words.push("serve".into());
    words.extend(arguments.serve.iter().cloned());
    let start = Start {
        name: arguments.name.clone(),
        program: text(&program)?,
        arguments: words,
    };
    let block = start.block(arguments.client);
    if global.quiet == 0 {
        screen.note(&format!("# for {}", arguments.client.file()));
    }
    screen.print(&block)?;
    Ok(Exit::Ok)
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!(
                "the path `{}` is not UTF-8, and clients' files are",
                path.shown()
            ),
        )
        .help("move the file to a path that is")
    })
}

impl Start {
    fn block(&self, client: Client) -> String {
        let Self {
            name,
            program,
            arguments,
        } = self;
        let command = json!({ "command": program, "args": arguments });
        let json = match client {
            Client::ClaudeDesktop | Client::ClaudeCode | Client::Cursor => {
                json!({ "mcpServers": { name: command } })
            }
            Client::Vscode => {
                let server = json!({ "type": "stdio", "command": program, "args": arguments });
                json!({ "servers": { name: server } })
            }
            Client::Zed => {
                let server = json!({ "source": "custom", "command": program, "args": arguments });
                json!({ "context_servers": { name: server } })
            }
            Client::Codex => return self.toml(),
        };
        pretty(&json)
    }

    fn toml(&self) -> String {
        let server = toml::Table::from_iter([
            (
                "command".to_owned(),
                toml::Value::from(self.program.clone()),
            ),
            ("args".to_owned(), toml::Value::from(self.arguments.clone())),
        ]);
        let servers = toml::Table::from_iter([(self.name.clone(), toml::Value::from(server))]);
        let root = toml::Table::from_iter([("mcp_servers".to_owned(), toml::Value::from(servers))]);
        toml::to_string(&root).unwrap_or_default()
    }
}

fn pretty(json: &Value) -> String {
    serde_json::to_string_pretty(json).unwrap_or_default()
}
