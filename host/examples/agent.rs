//! A small agent: a model is asked, the tools that it wants are called, and it is asked
//! again with their answers, until it has one of its own.
//!
//! The model is any command that reads a request of the chat completions API on its standard
//! input and writes the response, so `curl` will do:
//!
//!     cargo run --example agent -- config.toml 'How many words are in "to be or not to be"?' \
//!         curl -sS "$URL/v1/chat/completions" -H "Authorization: Bearer $KEY" \
//!         -H 'Content-Type: application/json' -d @-
//!
//! `MODEL` names the model of a service that has several.

use std::process::Stdio;

use futures::future::join_all;
use prx_host::Host;
use prx_host::config::{Config, Environment};
use prx_host::mcp::{ToolFilter, ToolFormat, model_words};
use prx_host::model::CallOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

/// Requests before an agent is stopped that finds no end.
const TURNS: usize = 10;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What a model wants of an agent.
#[derive(Deserialize)]
struct ToolCall {
    id: String,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    /// The text of one JSON object, as [`Host::call`] takes it.
    arguments: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, question, model @ ..] = arguments.as_slice() else {
        return Err("usage: agent <config.toml> <question> <command of the model>...".into());
    };
    let environment = Environment::of_process()?;
    let file = environment.current_dir().join(file);
    let text = std::fs::read_to_string(&file)?;
    let config = Config::from_toml(&text, &file, &environment)?.config;
    let host = Host::open(config).await?;
    // Modules and configuration may change while the agent works.
    let _watching = host.watch();

    let mut messages = vec![json!({ "role": "user", "content": question })];
    for _ in 0..TURNS {
        let message = ask(model, &host, &messages).await?;
        let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
        let calls = calls.cloned().unwrap_or_else(|| json!([]));
        let calls: Vec<ToolCall> = serde_json::from_value(calls)?;
        if calls.is_empty() {
            println!("{}", message["content"].as_str().unwrap_or_default());
            return Ok(());
        }
        messages.push(message);
        // Several tools at once: each call has its own instance and its own limits.
        messages.extend(join_all(calls.iter().map(|call| run(&host, call))).await);
    }
    Err(format!("there was no answer after {TURNS} turns").into())
}

/// Calls one tool. A call never fails: how it ended is what the model must hear.
async fn run(host: &Host, call: &ToolCall) -> Value {
    let Function { name, arguments } = &call.function;
    let report = host.call(name, arguments, CallOptions::default()).await;
    eprintln!("{name}({arguments}): {:?}", report.outcome.kind());
    json!({
        "role": "tool",
        "tool_call_id": call.id,
        "content": model_words(name, &report.outcome),
    })
}

/// Asks the model once, with the tools of this moment.
async fn ask(model: &[String], host: &Host, messages: &[Value]) -> Result<Value> {
    let tools = host.tool_definitions(ToolFormat::OpenAi, &ToolFilter::default());
    let mut request = json!({ "messages": messages, "tools": tools });
    if let Ok(name) = std::env::var("MODEL") {
        request["model"] = json!(name);
    }
    let [program, arguments @ ..] = model else {
        return Err("there is no model: give the command that asks one".into());
    };
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("the model has no input")?;
    // Both at once: a model may begin to answer while it reads.
    let request = request.to_string();
    let (written, output) = tokio::join!(
        async move { input.write_all(request.as_bytes()).await },
        child.wait_with_output()
    );
    let output = output?;
    written?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("the model ended with {}: {said}", output.status).into());
    }
    let mut response: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the model did not answer in JSON ({error}): {said}"))?;
    match response.pointer_mut("/choices/0/message") {
        Some(message) => Ok(message.take()),
        None => Err(format!("the model's answer has no message: {said}").into()),
    }
}
