//! Standard input as lines: how they come, how long they may be, and where they end.

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, server};
use prx_tests::served::peak_memory;

/// Bytes that a line may have.
const MOST: usize = 16 << 20;

fn call(id: u64, text: &str) -> String {
    let params = json!({ "name": "echo", "arguments": { "text": text } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

#[test]
fn lines_that_straddle_reads_and_blank_ones_lose_nothing() -> Result<()> {
    let stage = Stage::new()?.entries("[serve]\nmax_result_chars = 100_000\n");
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("echo")?;
    // Around what is read at once, here and in the libraries below.
    for around in [8 << 10, 64 << 10] {
        for length in around - 3..around + 3 {
            let empty = call(900, "").len();
            let text = "x".repeat(length - empty);
            let line = call(900, &text);
            assert_eq!(line.len(), length);
            client.send_raw(format!("\r\n\n{line}\r\n \n").as_bytes())?;
            let answer = client.answer(900)?;
            assert_eq!(answer["result"]["structuredContent"]["text"], text);
        }
    }
    // Byte by byte.
    for byte in (call(901, "h\u{e9}") + "\n").as_bytes() {
        client.send_raw(&[*byte])?;
    }
    let answer = client.answer(901)?;
    assert_eq!(answer["result"]["structuredContent"]["text"], "h\u{e9}");
    Ok(())
}

#[test]
fn a_line_that_is_too_long_is_refused_with_its_id_and_kept_nowhere() -> Result<()> {
    let stage = Stage::new()?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("echo")?;
    client.call("echo", json!({}))?;
    let before = peak_memory(client.process())?;
    for (beginning, id) in [
        (
            r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":""#,
            json!(77),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":""#,
            Value::Null,
        ),
        ("", Value::Null),
    ] {
        client.send_raw(beginning.as_bytes())?;
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            client.send_raw(&piece)?;
        }
        // It is told before the line has ended.
        let answer = client.next()?;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer["id"], id);
        let text = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(text.contains("16 MiB"), "{text}");
        client.send_raw(b"\n")?;
        let echoed = client.call("echo", json!({ "a": 1 }))?;
        assert_eq!(echoed["structuredContent"]["a"], 1);
    }
    // A buffer that grows holds twice its bytes while it is moved.
    let grown = peak_memory(client.process())? - before;
    ensure!(grown < 4 * MOST as u64, "it took {grown} bytes");
    Ok(())
}

#[test]
fn a_hundred_megabytes_of_short_lines_are_refused_one_by_one_in_little_memory() -> Result<()> {
    let stage = Stage::new()?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("echo")?;
    client.call("echo", json!({}))?;
    let before = peak_memory(client.process())?;
    let line = [vec![b'x'; (1 << 14) - 1], b"\n".to_vec()].concat();
    let lines = (100 << 20) / line.len();
    client.send_aside(line.repeat(lines))?;
    for _ in 0..lines {
        let answer = client.next()?;
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
    }
    let echoed = client.call("echo", json!({ "a": 1 }))?;
    assert_eq!(echoed["structuredContent"]["a"], 1);
    let grown = peak_memory(client.process())? - before;
    ensure!(grown < MOST as u64, "it took {grown} bytes");
    Ok(())
}

#[test]
fn what_stands_before_the_end_of_the_input_is_answered_and_half_of_it_ends_well() -> Result<()> {
    let stage = Stage::new()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("echo")?;
        // A whole message without an end of its own, and a part of one.
        client.send_raw(br#"{"jsonrpc":"2.0","id":5000,"method":"no/such"}"#)?;
        client.hang_up();
        let answer = client.answer(5_000)?;
        ensure!(answer["error"].is_object(), "{answer}");
        assert_eq!(client.end()?, Some(0));

        let mut client = Client::start(era, &stage, &[])?;
        client.send_raw(br#"{"jsonrpc":"2.0","id":5000,"meth"#)?;
        client.hang_up();
        assert_eq!(client.next()?["error"]["code"], -32700);
        assert_eq!(client.end()?, Some(0));
    }
    Ok(())
}

#[test]
fn nothing_that_is_said_before_the_handshake_ends_the_server() -> Result<()> {
    let stage = Stage::new()?;
    let mut client = Client::silent(Era::Sessions, server(&stage, &[])?)?;
    client.notify("notifications/initialized", json!({}))?;
    client.notify("notifications/cancelled", json!({ "requestId": 1 }))?;
    client.send_raw(b"garbage\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n")?;
    assert_eq!(client.next()?["error"]["code"], -32700);
    let early = client.ask("tools/list", json!({}))?;
    assert_eq!(early.err().context("it was answered")?["code"], -32602);
    let asked = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    client.request("initialize", asked)?;
    client.notify("notifications/initialized", json!({}))?;
    client.wait_for_tool("echo")?;
    let echoed = client.call("echo", json!({ "a": 1 }))?;
    assert_eq!(echoed["structuredContent"]["a"], 1);
    Ok(())
}

#[test]
fn a_client_that_reads_nothing_costs_no_memory_for_what_it_asks() -> Result<()> {
    let stage = Stage::new()?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("echo")?;
    client.call("echo", json!({ "text": "x".repeat(40_000) }))?;
    let before = peak_memory(client.process())?;
    // 60 MB of questions, and as many of answers.
    let line = |id| call(id, &"x".repeat(40_000)) + "\n";
    let lines: String = (10_000..11_500).map(line).collect();
    client.send_aside(lines.into_bytes())?;
    client.pause()?;
    // As soon as it reads, all are answered.
    client.go_on();
    let mut listed = Vec::new();
    while listed.len() < 1_500 {
        let answer = client.next()?;
        listed.push(answer["id"].as_u64().context("an answer")?);
    }
    listed.sort_unstable();
    ensure!(listed.iter().copied().eq(10_000..11_500));
    let grown = peak_memory(client.process())? - before;
    ensure!(grown < 100 << 20, "it took {grown} bytes");
    Ok(())
}
