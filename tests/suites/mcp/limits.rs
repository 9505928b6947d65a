//! Clients over HTTP that are slow, silent, gone, or too many.

use std::io::{BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Stage, Versions};
use serde_json::json;

use prx_tests::served::{
    Answer, Line, Served, Session, eventually, peak_memory, read_until, reads_nothing,
};

/// Long enough for what is in time on a busy machine, short enough to be waited for.
const SOON: Duration = Duration::from_millis(700);

fn waiting() -> Result<Stage> {
    let stage = Stage::new()?.module("skill", &Versions::new()?.module(1))?;
    stage.folder("gate")?;
    Ok(stage.capabilities("filesystem_read = [\"gate::/gate\"]"))
}

fn head(served: &Served, length: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{length}\r\n\r\n",
        served.address
    )
}

/// Reads until the server ends the connection.
fn until_cut(mut line: Box<dyn Line>) -> String {
    let mut said = Vec::new();
    let _ = line.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn who_is_slow_with_a_head_or_a_body_is_cut_off() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| {
        http.first_request = SOON;
        http.idle_connection = SOON;
        http.body_time = SOON;
    })?
    .ready()?;
    // Each of these would wait for ever.
    let silent = served.connect()?;
    let mut within_head = served.connect()?;
    within_head.write_all(b"POST /mcp HTTP/1.1\r\nHos")?;
    let mut within_body = served.connect()?;
    within_body.write_all(head(&served, "Content-Length: 100").as_bytes())?;
    within_body.write_all(b"{")?;
    let mut within_chunks = served.connect()?;
    within_chunks.write_all(head(&served, "Transfer-Encoding: chunked").as_bytes())?;
    within_chunks.write_all(b"1\r\n{\r\n")?;
    let mut idle = served.connect()?;
    write!(
        idle,
        "GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n",
        served.address
    )?;
    served.assert_healthy()?;
    assert_eq!(until_cut(silent), "");
    assert_eq!(until_cut(within_head), "");
    for slow in [within_body, within_chunks] {
        let said = until_cut(slow);
        ensure!(said.starts_with("HTTP/1.1 408 "), "{said}");
        ensure!(said.contains("took too long"), "{said}");
    }
    let said = until_cut(idle);
    ensure!(said.starts_with("HTTP/1.1 200 "), "{said}");
    served.assert_healthy()
}

#[test]
fn a_thousand_connections_that_say_nothing_keep_nobody_out() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| {
        http.max_connections = 100;
        http.first_request = Duration::from_hours(1);
        http.idle_connection = Duration::from_hours(1);
    })?
    .ready()?;
    let session = served.session()?;
    let mut stream = session.listen(&served)?;
    let mut silent = Vec::new();
    for number in 0..1_000 {
        let mut line = served.connect()?;
        if number % 2 == 1 {
            // A body that does not come is no more than silence.
            let begun = head(&served, "Content-Length: 100");
            let _ = line.write_all(begun.as_bytes());
        }
        silent.push(line);
    }
    served.assert_healthy()?;
    ensure!(served.number("prx_host_http_connections")? <= 100);
    // Who is in use stays: its stream is open still.
    stream.get_mut().shut(Shutdown::Write);
    let said = until_cut(stream.into_inner());
    ensure!(!said.contains("HTTP/1.1"), "{said}");
    // The oldest silent ones had to go.
    let gone = silent.into_iter().next().context("one")?;
    assert_eq!(until_cut(gone), "");
    Ok(())
}

#[test]
fn streams_that_stay_open_leave_room_for_requests() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| http.max_connections = 8)?.ready()?;
    let listen = || {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let stream = served.begin_request("subscriptions/listen", wanted, &[])?;
        let mut stream = BufReader::new(stream);
        read_until(&mut stream, "HTTP/1.1 ").map(|status| (status, stream))
    };
    let session = served.session()?;
    let mut streams = vec![session.listen(&served)?];
    for _ in 0..3 {
        let (status, stream) = listen()?;
        ensure!(status.contains("200"), "{status}");
        streams.push(stream);
    }
    let (status, _) = listen()?;
    ensure!(status.contains("503"), "{status}");
    served.assert_healthy()?;
    drop(streams);
    eventually(|| {
        let (status, _) = listen()?;
        ensure!(status.contains("200"), "{status}");
        Ok(())
    })
}

#[test]
fn dead_sessions_make_room_for_new_ones_and_those_in_use_do_not() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| http.max_sessions = 8)?.ready()?;
    let listens = served.session()?;
    let _stream = listens.listen(&served)?;
    let dead: Vec<Session> = (0..7).map(|_| served.session()).collect::<Result<_>>()?;
    // It was used last, so it is not the first to go.
    let list = |session: &Session| served.ask("tools/list", json!({}), &session.headers());
    assert_eq!(list(&dead[0])?.status, 200);
    eventually(|| {
        // Its last stream may not be known to have ended.
        let newer = served.session()?;
        ensure!(list(&newer)?.status == 200);
        Ok(())
    })?;
    assert_eq!(served.number("prx_host_http_sessions")?, 8);
    for (session, status) in [(&dead[1], 404), (&dead[0], 200), (&listens, 200)] {
        assert_eq!(list(session)?.status, status);
    }

    // All with an open stream: there is no room, and it is said when to try again.
    let mut streams = Vec::new();
    eventually(|| {
        let session = served.session()?;
        streams.push(session.listen(&served)?);
        ensure!(streams.len() >= 7, "some are idle still");
        Ok(())
    })?;
    let asked = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let refused = served.ask("initialize", asked, &[])?;
    assert_eq!(refused.status, 503, "{refused:?}");
    ensure!(refused.header("retry-after").is_some(), "{refused:?}");
    ensure!(refused.body.contains("sessions"), "{refused:?}");
    drop(streams);
    eventually(|| served.session().map(drop))?;
    served.assert_healthy()
}

#[test]
fn a_session_that_nobody_uses_ends_but_not_one_that_listens() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| http.idle_session = SOON)?.ready()?;
    let listens = served.session()?;
    let _stream = listens.listen(&served)?;
    let idle = served.session()?;
    served.wait_for("prx_host_http_sessions", |sessions| sessions == 1)?;
    for (session, status) in [(&idle, 404), (&listens, 200)] {
        let listed = served.ask("tools/list", json!({}), &session.headers())?;
        assert_eq!(listed.status, status);
    }
    Ok(())
}

#[test]
fn calls_beyond_those_that_may_wait_are_refused_and_the_others_take_turns() -> Result<()> {
    let stage = waiting()?;
    let served = Served::inside(&stage, |options, _| {
        options.max_calls = 2;
        options.max_waiting = 3;
    })?
    .ready()?;
    let wait = json!({ "name": "skill_wait", "arguments": {} });
    let mut calls = Vec::new();
    for _ in 0..5 {
        calls.push(served.begin_request("tools/call", wait.clone(), &[])?);
    }
    served.wait_for("prx_host_waiting_calls", |waiting| waiting == 3)?;
    served.wait_for("prx_host_running_calls", |running| running == 2)?;
    let session = served.session()?;
    let refused = [
        served.request("tools/call", wait.clone(), &[])?,
        served.ask("tools/call", wait, &session.headers())?,
    ];
    for refused in refused {
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        let message = refused.message()?;
        assert_eq!(message["error"]["code"], -32000, "{message}");
        assert_eq!(message["id"], 1);
    }
    // Other things are answered meanwhile.
    let listed = served.request("tools/list", json!({}), &[])?.message()?;
    ensure!(listed["result"]["tools"].is_array(), "{listed}");
    std::fs::write(stage.path("gate/open"), "")?;
    for call in &mut calls {
        let answer = Answer::read(&mut **call)?.message()?;
        assert_eq!(answer["result"]["content"][0]["text"], Versions::text(1));
    }
    served.assert_healthy()
}

#[test]
fn a_client_that_dies_within_a_call_ends_it_at_once_or_with_its_deadline() -> Result<()> {
    let stage =
        waiting()?.entries("[tools.custom.skill]\nmodule = \"skill.wasm\"\ntimeout_secs = 6");
    let served = Served::start(&stage, &[])?.ready()?;
    let wait = json!({ "name": "skill_wait", "arguments": {} });
    let call = served.begin_request("tools/call", wait.clone(), &[])?;
    served.wait_for("prx_host_running_calls", |running| running == 1)?;
    drop(call);
    served.wait_for("prx_host_running_calls", |running| running == 0)?;
    let cancelled = "prx_host_calls_total{tool=\"skill_wait\",outcome=\"cancelled\"} 1";
    let metrics = served.send("GET", "/metrics", &[], "")?.body;
    ensure!(metrics.contains(cancelled), "{metrics}");

    // In the first era, a line that breaks is no word of the client's.
    let session = served.session()?;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": wait });
    let line = served.begin_in(&session, &call.to_string())?;
    served.wait_for("prx_host_running_calls", |running| running == 1)?;
    drop(line);
    served.wait_for("prx_host_running_calls", |running| running == 0)?;
    let metrics = served.send("GET", "/metrics", &[], "")?.body;
    let timed_out = "prx_host_calls_total{tool=\"skill_wait\",outcome=\"timed_out\"} 1";
    ensure!(metrics.contains(timed_out), "{metrics}");
    served.assert_healthy()
}

/// Clients that ask for more than sockets hold, and read nothing. Each ends when the server
/// has had enough; whether that is so.
fn deaf(served: &Served, clients: usize) -> Result<Vec<JoinHandle<bool>>> {
    let message = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": "echo", "arguments": { "text": "x".repeat(45_000) } },
    });
    let message = message.to_string();
    let begin = |_| {
        let session = served.session()?;
        let mut line = served.connect()?;
        let requests = served.text(&session, &message).repeat(400);
        Ok(std::thread::spawn(move || {
            line.write_all(requests.as_bytes()).is_err()
        }))
    };
    (0..clients).map(begin).collect()
}

#[test]
fn who_takes_nothing_of_its_answer_is_cut_off() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| http.stalled = SOON)?.ready()?;
    let slow = deaf(&served, 5)?;
    served.assert_healthy()?;
    for slow in slow {
        let cut = slow.join().map_err(|_| anyhow::anyhow!("a panic"))?;
        ensure!(cut, "all was read of a client that reads nothing");
    }
    served.wait_for("prx_host_http_connections", |open| open <= 1)?;
    served.assert_healthy()
}

#[test]
fn large_answers_that_nobody_takes_wait_for_each_other_and_small_ones_do_not() -> Result<()> {
    const MOST: u64 = 200_000;
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |options, http| {
        (options.max_answer_bytes, http.stalled) = (200_000, SOON);
    })?;
    let served = served.ready()?;
    let slow = deaf(&served, 5)?;
    served.wait_for("prx_host_answer_bytes", |bytes| bytes > MOST / 3)?;
    while slow.iter().any(|slow| !slow.is_finished()) {
        ensure!(served.number("prx_host_answer_bytes")? <= MOST);
        let small = json!({ "name": "echo", "arguments": { "a": 1 } });
        let answer = served.request("tools/call", small, &[])?.message()?;
        assert_eq!(answer["result"]["structuredContent"]["a"], 1);
    }
    served.wait_for("prx_host_answer_bytes", |bytes| bytes == 0)?;
    let text = "x".repeat(45_000);
    let large = json!({ "name": "echo", "arguments": { "text": text } });
    let answer = served.request("tools/call", large, &[])?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["text"], text);
    Ok(())
}

#[test]
fn who_takes_nothing_of_its_answer_costs_little() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &[])?.ready()?;
    served.assert_healthy()?;
    let before = peak_memory(served.process())?;
    // 720 MB of answers are asked for.
    let slow = deaf(&served, 20)?;
    reads_nothing(served.process())?;
    served.assert_healthy()?;
    let grown = peak_memory(served.process())? - before;
    ensure!(grown < 60 << 20, "it took {grown} bytes");
    drop(served);
    for slow in slow {
        slow.join().map_err(|_| anyhow::anyhow!("a panic"))?;
    }
    Ok(())
}

#[test]
fn a_broken_body_and_a_large_one_are_refused_with_words() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::inside(&stage, |_, http| http.max_body_bytes = 2 << 20)?.ready()?;
    let broken = served.post("{", &[])?;
    assert_eq!(broken.status, 400, "{broken:?}");
    assert_eq!(broken.header("content-type"), Some("application/json"));
    let message = broken.message()?;
    assert_eq!(message["error"]["code"], -32700, "{message}");
    ensure!(message["id"].is_null(), "{message}");

    let large = served.post(vec![b' '; 3 << 20], &[])?;
    assert_eq!(large.status, 413, "{large:?}");
    ensure!(large.body.contains("2 MiB"), "{large:?}");

    let text = served.send("POST", "/mcp", &[("Content-Type", "text/plain")], "{")?;
    ensure!(matches!(text.status, 406 | 415), "{text:?}");
    served.assert_healthy()
}
