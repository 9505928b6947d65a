//! Requests that the protocol does not have.

use anyhow::{Result, ensure};
use prx_tests::Stage;
use serde_json::json;

use crate::client::{Client, ERAS, Era};
use crate::offers::refused;

#[test]
fn an_unknown_method_is_answered_with_the_one_that_was_meant_or_all_there_are() -> Result<()> {
    let stage = Stage::new()?;
    let long = "x".repeat(100_000);
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        for (method, words) in [
            (
                "tool/list",
                "unknown method `tool/list`; did you mean `tools/list`?",
            ),
            ("tools/Call", "did you mean `tools/call`?"),
            (
                "resources/template/list",
                "did you mean `resources/templates/list`?",
            ),
            ("promts/get", "did you mean `prompts/get`?"),
            (
                "eat\n`this`",
                "unknown method `eat\\n`this``; this server has `completion/complete`, ",
            ),
            ("", "unknown method ``; this server has "),
            (&long, "`; this server has "),
        ] {
            let (code, text) = refused(&mut client, method, json!({}))?;
            assert_eq!(code, -32601, "{text}");
            ensure!(text.contains(words), "{words} is not in {text}");
            ensure!(text.len() < 1_000, "{} bytes", text.len());
        }
        let (_, text) = refused(&mut client, "no/such/method", json!({}))?;
        let of_sessions = ["`ping`", "`logging/setLevel`", "`resources/subscribe`"];
        for method in of_sessions {
            assert_eq!(text.contains(method), era == Era::Sessions, "{text}");
        }
        let is_listed = text.contains("`subscriptions/listen`");
        assert_eq!(is_listed, era == Era::Stateless, "{text}");
        client.request("tools/list", json!({}))?;
    }
    Ok(())
}
