//! Many clients over HTTP, spoken by hand.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Served, Stage, TOKEN, server};
use serde_json::json;

#[test]
fn tools_are_called_in_sessions_and_without() -> Result<()> {
    let stage = Stage::new()?;
    let mut served = Served::start(&stage, &[])?.ready()?;
    let call = json!({ "name": "trivial", "arguments": { "text": "abc", "numbers": [2, 40] } });
    let answer = served.request("tools/call", call.clone(), &[])?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["sum"], 42, "{answer}");

    let parameters = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let begun = served.ask("initialize", parameters, &[])?;
    let session = begun
        .header("mcp-session-id")
        .context("no session")?
        .to_owned();
    let headers = [
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let answer = served.ask("tools/call", call, &headers)?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["sum"], 42, "{answer}");
    let listed = served.ask("tools/list", json!({}), &headers)?.message()?;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(2));
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

#[test]
fn pages_of_others_and_names_of_others_are_refused() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(
        &stage,
        &[
            "--allow-host",
            "tools.example.com",
            "--allow-origin",
            "https://app.example.com:443",
        ],
    )?;
    let list = |headers: &[(&str, &str)]| served.request("tools/list", json!({}), headers);
    for (header, allowed) in [
        (("Host", "evil.example.com"), false),
        (("Host", "127.0.0.1.evil.example.com"), false),
        (("Host", "evil@localhost.example"), false),
        (("Host", "TOOLS.example.com:8808"), true),
        (("Host", "localhost"), true),
        (("Host", "[::1]:1"), true),
        (("Origin", "https://evil.example.com"), false),
        (("Origin", "http://localhost:3000"), false),
        (("Origin", "null"), false),
        (("Origin", "https://app.example.com"), true),
    ] {
        let status = list(&[header])?.status;
        assert_eq!(status == 200, allowed, "{header:?}: {status}");
        ensure!(
            allowed || status == 403 || status == 400,
            "{header:?}: {status}"
        );
    }
    // A page of this very server is nobody else's.
    let port = served.address.port();
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        let own = format!("http://{name}:{port}");
        assert_eq!(list(&[("Origin", &own)])?.status, 200, "{own}");
        let other = format!("https://{name}:{port}");
        assert_eq!(list(&[("Origin", &other)])?.status, 403, "{other}");
    }
    for path in ["/metrics", "/readyz", "/healthz", "/nothing"] {
        let status = served
            .send("GET", path, &[("Host", "evil.example.com")], "")?
            .status;
        assert_eq!(status, 403, "{path}");
    }
    Ok(())
}

#[test]
fn a_page_that_may_not_ask_is_refused_on_every_path() -> Result<()> {
    let stage = Stage::new()?;
    let allowed = [
        "--allow-origin",
        "https://app.example.com",
        "--allow-origin",
        "http://localhost:*",
    ];
    let served = Served::start(&stage, &allowed)?.ready()?;
    let own = format!("http://{}", served.address);
    let good = [
        own.as_str(),
        "https://app.example.com",
        "https://APP.example.com:443",
        "http://localhost:3000",
        "http://localhost",
    ];
    let bad = [
        "https://evil.example.com",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.example",
        "https://app.example.com/",
        "http://localhost:*",
        "https://localhost:3000",
        "http://127.0.0.1:1",
        "null",
        "",
        "app.example.com",
    ];
    for (path, found) in [
        ("/metrics", 200),
        ("/readyz", 200),
        ("/healthz", 200),
        ("/nothing", 404),
    ] {
        let asked = |headers: &[(&str, &str)]| served.send("GET", path, headers, "");
        assert_eq!(asked(&[])?.status, found, "{path}");
        for origin in good {
            let answer = asked(&[("Origin", origin)])?;
            assert_eq!(answer.status, found, "{path}: {origin}");
        }
        for origin in bad {
            let answer = asked(&[("Origin", origin)])?;
            assert_eq!(answer.status, 403, "{path}: {origin}");
            ensure!(answer.body.contains("--allow-origin"), "{}", answer.body);
        }
        let both = [("Origin", good[1]), ("Origin", bad[0])];
        assert_eq!(asked(&both)?.status, 403, "{path}");
    }
    let list = |origin: &str| served.request("tools/list", json!({}), &[("Origin", origin)]);
    for origin in good {
        assert_eq!(list(origin)?.status, 200, "{origin}");
    }
    for origin in bad {
        assert_eq!(list(origin)?.status, 403, "{origin}");
    }
    Ok(())
}

#[test]
fn without_its_token_nothing_is_told() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &["--token-env", "TOKEN"])?;
    let right = format!("Bearer {TOKEN}");
    for (sent, allowed) in [
        (None, false),
        (Some("Bearer"), false),
        (Some("Bearer "), false),
        (Some("Bearer 0123456789abcdef0123456789abcdeF"), false),
        (Some(TOKEN), false),
        (Some("Basic 0123456789abcdef0123456789abcdef"), false),
        (Some(right.as_str()), true),
    ] {
        let headers: Vec<_> = sent.iter().map(|token| ("Authorization", *token)).collect();
        let answer = served.request("tools/list", json!({}), &headers)?;
        assert_eq!(answer.status, if allowed { 200 } else { 401 }, "{sent:?}");
        ensure!(allowed || answer.header("www-authenticate") == Some("Bearer"));
        let metrics = served.send("GET", "/metrics", &headers, "")?;
        assert_eq!(metrics.status == 200, allowed, "{sent:?}");
    }
    assert_eq!(served.send("GET", "/healthz", &[], "")?.status, 200);
    Ok(())
}

#[test]
fn beyond_loopback_nothing_is_served_without_a_token() -> Result<()> {
    let stage = Stage::new()?;
    let output = server(&stage, &["--http", "0.0.0.0:0"])?
        .stderr(Stdio::piped())
        .output()?;
    assert_eq!(output.status.code(), Some(5));
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(said.contains("--token-file"), "{said}");
    for token in ["short", "", "two words of a phrase"] {
        let mut command = server(&stage, &["--http", "127.0.0.1:0", "--token-env", "WEAK"])?;
        let output = command.env("WEAK", token).stderr(Stdio::piped()).output()?;
        assert_eq!(output.status.code(), Some(2), "{token}");
    }
    Ok(())
}

#[test]
fn numbers_are_there_for_operators() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &[])?.ready()?;
    for arguments in [json!({ "text": "abc" }), json!({ "text": 7 })] {
        served.request(
            "tools/call",
            json!({ "name": "trivial", "arguments": arguments }),
            &[],
        )?;
    }
    let answered = served.send("GET", "/metrics", &[], "")?;
    assert_eq!(
        answered.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let metrics = answered.body;
    for line in [
        "# TYPE prx_host_reloads_total counter",
        "prx_host_reloads_total{result=\"failed\"} 0",
        "prx_host_places_taken 0",
        "prx_host_call_seconds_bucket{tool=\"trivial\",le=\"+Inf\"} 2",
        "prx_host_calls_total{tool=\"trivial\",outcome=\"ok\"} 1",
        "prx_host_calls_total{tool=\"trivial\",outcome=\"invalid_arguments\"} 1",
        "prx_host_call_seconds_count{tool=\"trivial\"} 2",
        "prx_host_running_calls{tool=\"trivial\"} 0",
        "prx_host_tools 2",
    ] {
        ensure!(
            metrics.lines().any(|found| found.trim() == line),
            "{line} is not in\n{metrics}"
        );
    }
    // The two modules are in the cache, which other tests fill, too.
    ensure!(served.number("prx_host_cache_entries")? >= 2, "{metrics}");
    ensure!(served.number("prx_host_cache_bytes")? > 1_000, "{metrics}");
    Ok(())
}

#[test]
fn a_request_that_is_too_large_is_refused_and_the_next_is_served() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &[])?.ready()?;
    let large = json!({ "name": "echo", "arguments": { "text": "x".repeat(8 << 20) } });
    assert_eq!(served.request("tools/call", large, &[])?.status, 413);
    let small = json!({ "name": "echo", "arguments": { "text": "x" } });
    let answer = served.request("tools/call", small, &[])?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["text"], "x");
    Ok(())
}
