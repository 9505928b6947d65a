//! Embeds the host in thirty lines: opens it on a folder of skills, lists the tools and
//! calls one. Run it with
//!
//!     cargo run --example embed -- demo/skills textstats '{"text": "Hello, world"}'

use prx_host::Host;
use prx_host::config::{Config, Environment};
use prx_host::model::{CallOptions, Outcome};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, tool, json] = arguments.as_slice() else {
        return Err("usage: embed <folder> <tool> <json>".into());
    };
    let environment = Environment::of_process()?;
    let text = format!("[runtime.wasm]\nmodule_path = {folder:?}");
    let file = environment.current_dir().join("config.toml");
    let config = Config::from_toml(&text, &file, &environment)?.config;

    let host = Host::open(config).await?;
    for tool in host.snapshot().tools() {
        println!("{}: {}", tool.name(), tool.spec().description);
    }
    let report = host.call(tool, json, CallOptions::default()).await;
    match report.outcome {
        Outcome::Ok(output) => println!("{}", output.text()),
        other => return Err(format!("{other:?}").into()),
    }
    Ok(())
}
