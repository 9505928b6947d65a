//! The contract of both transports with clients that mean no good: each does its worst,
//! and after each the server serves as before, with nothing left over.

mod behaviours;
mod http;
mod messages;
mod stdio;

use anyhow::{Context as _, Result};
use prx_tests::{Stage, Versions};
use serde_json::Value;

/// One client of the first era, over either transport.
trait Hostile {
    /// Sends bytes as one message; the message that answers it.
    fn answer_to(&mut self, bytes: &[u8]) -> Result<Value>;

    /// Sends messages at once; the answers of all, in whatever order.
    fn answers_to(&mut self, messages: &[String]) -> Result<Vec<Value>>;

    /// Sends messages, reads nothing, and is gone a moment later.
    fn send_and_vanish(&mut self, messages: &[String]) -> Result<()>;

    /// Sends the first half of a message, and is gone.
    fn vanish_within(&mut self, message: &str) -> Result<()>;

    /// Sends that many bytes which never become a message; what it hears of it.
    fn send_without_end(&mut self, bytes: usize) -> Result<()>;

    /// Waits until that many calls are running.
    fn wait_for_calls(&mut self, count: usize) -> Result<()>;

    /// Says that it does not want the answers to these requests any more.
    fn cancel(&mut self, ids: &[u64]) -> Result<()>;

    /// Proves that others are served, and that nothing is left over.
    fn assert_healthy(&mut self) -> Result<()>;
}

/// A stage with a tool that waits at a gate which nobody opens.
fn stage() -> Result<Stage> {
    let stage = Stage::new()?.module("skill", &Versions::new()?.module(1))?;
    stage.folder("gate")?;
    Ok(stage.capabilities("filesystem_read = [\"gate::/gate\"]"))
}

fn run(client: &mut dyn Hostile) -> Result<()> {
    client.assert_healthy().context("before anything")?;
    for (text, expected) in messages::all() {
        let shown = String::from_utf8_lossy(&text[..text.len().min(120)]).into_owned();
        let answer = client
            .answer_to(&text)
            .with_context(|| format!("sending {shown}"))?;
        expected
            .check(&answer)
            .with_context(|| format!("{shown} was answered {answer}"))?;
    }
    client.assert_healthy().context("after all messages")?;
    for (name, behave) in behaviours::ALL {
        behave(client).with_context(|| format!("a client that {name}"))?;
        client
            .assert_healthy()
            .with_context(|| format!("after a client that {name}"))?;
    }
    Ok(())
}

#[test]
fn over_standard_streams_nothing_that_a_client_does_is_felt_by_the_next() -> Result<()> {
    run(&mut stdio::Client::start(&stage()?)?)
}

#[test]
fn over_http_nothing_that_a_client_does_is_felt_by_others() -> Result<()> {
    run(&mut http::Client::start(&stage()?)?)
}
