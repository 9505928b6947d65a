//! `prx-host serve`: agents use the tools over the Model Context Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use prx_host::Host;
use prx_host::mcp::{HttpOptions, ServeOptions, TlsFiles, ToolFilter, serve_http, serve_stdio};

use super::list::open_failure;
use super::render::{Failure, Screen, Tone};
use super::{Exit, Global, start};

/// Serve the tools to an agent over the Model Context Protocol
#[derive(clap::Args)]
#[command(
    after_help = "Standard input and output belong to the protocol; messages go to standard error.
It ends when its input does; with --http, when it is told to (Ctrl-C, SIGTERM).
`prx-host mcp-config` prints how clients start it. Over HTTP there are /mcp, /healthz,
/readyz and /metrics.

Examples:
  prx-host serve
  prx-host serve --tools 'notes_*' --deny '*_delete'
  prx-host serve --read-only
  prx-host serve --http 127.0.0.1:8808
  prx-host serve --http 0.0.0.0:8808 --token-env PRX_TOKEN --allow-host tools.example.com \\
    --tls-cert cert.pem --tls-key key.pem"
)]
pub struct Arguments {
    /// Offer only tools whose names match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    tools: Vec<String>,
    /// Offer no tool whose name matches this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    deny: Vec<String>,
    /// Offer only tools that change nothing: those that say so and have no grant to write
    /// or to reach a network.
    #[arg(long)]
    read_only: bool,
    /// Serve clients over HTTP at this address, under the path `/mcp`.
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    #[command(flatten)]
    over_http: OverHttp,
}

/// What holds over HTTP only.
#[derive(clap::Args)]
struct OverHttp {
    /// The file with the token that each request must bring; needed beyond loopback.
    #[arg(long, value_name = "FILE", requires = "http", help_heading = "HTTP")]
    token_file: Option<PathBuf>,
    /// The variable with that token.
    #[arg(
        long,
        value_name = "NAME",
        requires = "http",
        conflicts_with = "token_file",
        help_heading = "HTTP"
    )]
    token_env: Option<String>,
    /// The certificate for TLS, with those of its issuers (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "HTTP")]
    tls_cert: Option<PathBuf>,
    /// Its private key (PEM).
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        help_heading = "HTTP"
    )]
    tls_key: Option<PathBuf>,
    /// A name under which clients reach the server, besides those of loopback; may be
    /// repeated.
    #[arg(long, value_name = "NAME", requires = "http", help_heading = "HTTP")]
    allow_host: Vec<String>,
    /// A web page that may ask, for instance `https://app.example.com:443`; may be repeated.
    #[arg(long, value_name = "ORIGIN", requires = "http", help_heading = "HTTP")]
    allow_origin: Vec<String>,
}

/// Says what an operator may not have meant.
fn warn(http: &HttpOptions, screen: Screen) {
    let note =
        |text: &str| screen.note(&screen.paint_err(&format!("warning: {text}"), Tone::Warning));
    if http.listen.ip().is_loopback() {
        return;
    }
    if http.tls.is_none() {
        note("the token and all answers travel without TLS; give `--tls-cert` and `--tls-key`");
    }
    if http.hosts.is_empty() && http.listen.ip().is_unspecified() {
        note("clients reach it by no name but those of loopback; give `--allow-host NAME`");
    }
}

impl OverHttp {
    fn options(&self, listen: SocketAddr) -> Result<HttpOptions, Failure> {
        let mut options = HttpOptions::new(listen);
        options.token = self.token()?;
        options.hosts.clone_from(&self.allow_host);
        options.origins.clone_from(&self.allow_origin);
        options.tls = self
            .tls_cert
            .clone()
            .zip(self.tls_key.clone())
            .map(|(certificate, key)| TlsFiles { certificate, key });
        Ok(options)
    }

    fn token(&self) -> Result<Option<String>, Failure> {
        let unusable = |from: &str, why: String| {
            Failure::new(Exit::Usage, format!("{from} gives no token"))
                .cause(why)
                .help("put a long random text there, for instance `openssl rand -hex 32`")
        };
        let (from, text) = match (&self.token_file, &self.token_env) {
            (Some(file), _) => {
                let from = format!("the file `{}`", file.display());
                let text = std::fs::read_to_string(file)
                    .map_err(|error| unusable(&from, error.to_string()))?;
                (from, text)
            }
            (None, Some(name)) => {
                let from = format!("the variable `{name}`");
                let text =
                    std::env::var(name).map_err(|error| unusable(&from, error.to_string()))?;
                (from, text)
            }
            (None, None) => return Ok(None),
        };
        let token = text.trim();
        if token.len() < SHORTEST_TOKEN || token.contains(char::is_whitespace) {
            let why = format!("it needs at least {SHORTEST_TOKEN} characters without spaces");
            return Err(unusable(&from, why));
        }
        Ok(Some(token.to_owned()))
    }
}

/// Shorter ones can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// How long a client waits at most for its first answer: modules that take longer to compile
/// are announced when they are ready.
const FIRST_MODULES: Duration = Duration::from_millis(50);

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let filter = ToolFilter::new(&arguments.tools, &arguments.deny, arguments.read_only);
    let filter = filter.map_err(|error| {
        Failure::new(Exit::Usage, "a name of tools can not be understood")
            .cause(error.to_string())
            .help("write it as a glob, for instance `notes_*`")
    })?;
    let mut options = ServeOptions::default();
    options.filter = filter;
    let environment = start::environment()?;
    let config = start::configuration(global, screen)?;
    let mut builder = Host::builder(config).wait_for_modules(FIRST_MODULES);
    if let Some(file) = prx_host::config::standard_file(&environment) {
        builder = builder.config_file(file);
    }
    let http = arguments
        .http
        .map(|listen| arguments.over_http.options(listen))
        .transpose()?;
    start::block_on_all(async {
        let mut interrupts = start::Interrupts::listen()?;
        let host = Box::pin(builder.open()).await.map_err(open_failure)?;
        let _watching = host.watch();
        let end = interrupts.recv();
        let served = match http {
            None => serve_stdio(&host, options, end).await,
            Some(http) => {
                warn(&http, screen);
                let scheme = if http.tls.is_some() { "https" } else { "http" };
                let tell = |address| screen.note(&format!("listening on {scheme}://{address}/mcp"));
                serve_http(&host, options, http, tell, end).await
            }
        };
        served.map_err(|error| {
            let failure = Failure::new(Exit::Unavailable, "the tools can not be served");
            failure.cause(error.to_string()).help_if_any(error.help())
        })?;
        Ok(Exit::Ok)
    })
}
