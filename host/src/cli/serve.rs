//! `prx-host serve`: agents use the tools over the Model Context Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use prx_host::Host;
use prx_host::config::{Config, Environment, Provided, check_host, check_origin};
use prx_host::mcp::{
    HttpOptions, Narrowing, ServeError, ServeOptions, TlsFiles, TlsPart, read_token, serve_http,
    serve_stdio,
};

use super::list::open_failure;
use super::render::{Failure, Screen, Tone};
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(
    after_help = "Standard input and output belong to the protocol; messages go to standard error.
It ends when its input does; with --http, when it is told to (Ctrl-C, SIGTERM).
`prx-host mcp-config` prints how clients start it. Over HTTP there are /mcp, /healthz,
/readyz and /metrics. [serve] of the configuration says what is offered; flags win over
its keys, and what `--deny` names is hidden besides what `deny` does.

Examples:
  prx-host serve
  prx-host serve --tools 'notes_*' --deny '*_delete'
  prx-host serve --read-only
  prx-host serve --http
  prx-host serve --http 127.0.0.1:9000
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
    /// Serve clients over HTTP at this address, under the path `/mcp`; without an address at
    /// that of `serve.http.listen`, by default 127.0.0.1:8808.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1)]
    #[allow(
        clippy::option_option,
        reason = "a flag with a value that may be absent"
    )]
    http: Option<Option<SocketAddr>>,
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
    #[arg(
        long,
        value_name = "NAME",
        requires = "http",
        value_parser = host_name,
        help_heading = "HTTP"
    )]
    allow_host: Vec<String>,
    /// A web page that may ask, for instance `https://app.example.com:443`; may be repeated.
    #[arg(
        long,
        value_name = "ORIGIN",
        requires = "http",
        value_parser = origin,
        help_heading = "HTTP"
    )]
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
    /// What `[serve.http]` says, and the flags in place of it.
    fn options(
        &self,
        listen: Option<SocketAddr>,
        config: &Config,
        environment: &Environment,
    ) -> Result<HttpOptions, Failure> {
        let token = match (&self.token_file, &self.token_env) {
            (Some(file), _) => {
                let file = environment.current_dir().join(file);
                Some(("--token-file", Provided::File(file)))
            }
            (None, Some(name)) => Some(("--token-env", Provided::Variable(name.clone()))),
            (None, None) => None,
        };
        let mut config = config.clone();
        if token.is_some() {
            // What is not used need not be there.
            config.serve.http.token = None;
        }
        let mut options = HttpOptions::from_config(&config, environment).map_err(failure)?;
        if let Some((flag, from)) = token {
            options.token = Some(read_token(&from, flag, environment).map_err(failure)?);
        }
        if let Some(listen) = listen {
            options.listen = listen;
        }
        if !self.allow_host.is_empty() {
            options.hosts.clone_from(&self.allow_host);
        }
        if !self.allow_origin.is_empty() {
            options.origins.clone_from(&self.allow_origin);
        }
        if let Some((certificate, key)) = self.tls_cert.clone().zip(self.tls_key.clone()) {
            options.tls = Some(TlsFiles { certificate, key });
        }
        Ok(options)
    }

    /// What names a file for TLS.
    fn names(&self, part: TlsPart, config: &Config) -> String {
        let http = &config.serve.http;
        let (flag, written, key) = match part {
            TlsPart::Certificate => ("--tls-cert", &self.tls_cert, &http.tls_cert),
            TlsPart::Key => ("--tls-key", &self.tls_key, &http.tls_key),
        };
        match (written, key) {
            (None, Some(key)) => key.origin(),
            _ => flag.to_owned(),
        }
    }
}

/// A server that can not begin, or ended badly.
#[allow(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn failure(error: ServeError) -> Failure {
    let exit = match &error {
        ServeError::Token { .. } | ServeError::Tls { .. } => Exit::Usage,
        _ => Exit::Unavailable,
    };
    let failure = Failure::new(exit, "the tools can not be served");
    failure.cause(error.to_string()).help_if_any(error.help())
}

/// A page that may ask.
fn origin(text: &str) -> Result<String, String> {
    match check_origin(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(why) => Err(format!(
            "{why}; write scheme and host, for instance `https://app.example.com:443`"
        )),
    }
}

/// A name of the server.
fn host_name(text: &str) -> Result<String, String> {
    match check_host(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(why) => Err(format!(
            "{why}; write a name alone, for instance `tools.example.com`"
        )),
    }
}

/// How long a client waits at most for its first answer: modules that take longer to compile
/// are announced when they are ready.
const FIRST_MODULES: Duration = Duration::from_millis(50);

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let environment = start::environment()?;
    let config = start::configuration(global, screen)?;
    let narrowing = Narrowing {
        tools: arguments.tools.clone(),
        deny: arguments.deny.clone(),
        read_only: arguments.read_only,
    };
    let options = ServeOptions::from_config(&config, &narrowing).map_err(|error| {
        Failure::new(Exit::Usage, "a name of tools can not be understood")
            .cause(error.to_string())
            .help("write it as a glob, for instance `notes_*`")
    })?;
    let over_http = &arguments.over_http;
    let http = arguments
        .http
        .map(|listen| over_http.options(listen, &config, &environment))
        .transpose()?;
    let mut builder = Host::builder(config).wait_for_modules(FIRST_MODULES);
    if let Some(file) = prx_host::config::standard_file(&environment) {
        builder = builder.config_file(file);
    }
    start::block_on_all(async {
        let mut interrupts = start::Interrupts::listen()?;
        let host = Box::pin(builder.open()).await.map_err(open_failure)?;
        let began_with = host.config();
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
            let named_by = match &error {
                ServeError::Tls { part, .. } => Some(over_http.names(*part, &began_with)),
                _ => None,
            };
            match named_by {
                Some(named_by) => failure(error).line("named by", format!("`{named_by}`")),
                None => failure(error),
            }
        })?;
        Ok(Exit::Ok)
    })
}
