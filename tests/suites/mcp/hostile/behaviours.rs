//! What clients do, or leave undone.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Hostile;

type Behaviour = fn(&mut dyn Hostile) -> Result<()>;

/// All of them, as one says it: a client that …
pub const ALL: [(&str, Behaviour); 8] = [
    ("asks a thousand things of all sizes at once", thousand),
    ("asks two things with one id", one_id_twice),
    ("wants nothing of what it asked", cancels),
    ("sends a hundred megabytes of nothing", garbage),
    ("vanishes within a message", vanishes_within),
    ("vanishes within a call", vanishes_within_a_call),
    ("reads no answer", never_reads),
    (
        "asks for more calls than there is room for, and vanishes",
        crowd,
    ),
];

fn call(id: u64, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn waiting(ids: impl IntoIterator<Item = u64>) -> Vec<String> {
    let ids = ids.into_iter();
    ids.map(|id| call(id, "skill_wait", &json!({}))).collect()
}

fn thousand(client: &mut dyn Hostile) -> Result<()> {
    let text = |id: u64| "x".repeat(usize::try_from(id * 37 % 20_000).unwrap_or_default());
    let messages: Vec<String> = (0..1_000)
        .map(|id| call(10_000 + id, "echo", &json!({ "text": text(id) })))
        .collect();
    let mut answers = BTreeMap::new();
    for answer in client.answers_to(&messages)? {
        let id = answer["id"].as_u64().context("an answer")?;
        ensure!(
            answers.insert(id, answer).is_none(),
            "{id} was answered twice"
        );
    }
    for id in 0..1_000 {
        let answer = answers.get(&(10_000 + id)).context("one has no answer")?;
        let echoed = &answer["result"]["structuredContent"]["text"];
        ensure!(echoed.as_str() == Some(&text(id)), "{id}");
    }
    Ok(())
}

fn one_id_twice(client: &mut dyn Hostile) -> Result<()> {
    // The first waits; the other must not take its answer, nor it that of the other.
    let [first, second] =
        [("skill_wait", 1), ("echo", 2)].map(|(tool, a)| call(20_000, tool, &json!({ "a": a })));
    let answers = client.answers_to(&[first, second])?;
    ensure!(answers.len() == 1, "{answers:?}");
    ensure!(answers[0]["id"] == 20_000, "{answers:?}");
    ensure!(answers[0]["error"]["code"] == -32600, "{answers:?}");
    client.cancel(&[20_000])
}

fn cancels(client: &mut dyn Hostile) -> Result<()> {
    let ids: Vec<u64> = (30_000..30_050).collect();
    let mut messages = waiting(ids.iter().copied());
    messages.push(call(30_050, "echo", &json!({})));
    let answers = client.answers_to(&messages)?;
    ensure!(
        answers.len() == 1 && answers[0]["id"] == 30_050,
        "{answers:?}"
    );
    client.wait_for_calls(ids.len())?;
    client.cancel(&ids)
}

fn garbage(client: &mut dyn Hostile) -> Result<()> {
    client.send_without_end(100 << 20)
}

fn vanishes_within(client: &mut dyn Hostile) -> Result<()> {
    client.vanish_within(&call(40_000, "echo", &json!({ "text": "x".repeat(9_000) })))
}

fn vanishes_within_a_call(client: &mut dyn Hostile) -> Result<()> {
    client.send_and_vanish(&waiting(50_000..50_020))
}

fn never_reads(client: &mut dyn Hostile) -> Result<()> {
    // More than pipes and sockets hold.
    let large = json!({ "text": "x".repeat(40_000) });
    let messages: Vec<String> = (0..300)
        .map(|id| call(60_000 + id, "echo", &large))
        .collect();
    client.send_and_vanish(&messages)
}

fn crowd(client: &mut dyn Hostile) -> Result<()> {
    client.send_and_vanish(&waiting(70_000..70_400))
}
