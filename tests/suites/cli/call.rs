//! `prx-host call`: arguments, answers, events, and how each outcome ends.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use anyhow::Result;
use serde_json::json;

use crate::place::{Place, has_content};

#[test]
fn arguments_come_from_json_files_standard_input_and_single_keys() -> Result<()> {
    let place = Place::with_guests(&["echo"], "")?;
    fs::write(place.path("whole.json"), r#"{"from":"file"}"#)?;
    fs::write(place.path("text.txt"), "two\nlines")?;
    for (arguments, answer) in [
        (&[][..], json!({})),
        (&[r#"{"a":1}"#], json!({"a": 1})),
        (&["@whole.json"], json!({"from": "file"})),
        (
            &["-a", "a=1", "-a", "b=word", "-a", "c:=\"1\""],
            json!({"a": 1, "b": "word", "c": "1"}),
        ),
        (&["-a", "a=@text.txt"], json!({"a": "two\nlines"})),
        (&[r#"{"a":1,"b":2}"#, "-a", "b=3"], json!({"a": 1, "b": 3})),
    ] {
        let mut command = vec!["call", "echo", "--json"];
        command.extend(arguments);
        let ran = place.run(&command)?;
        assert_eq!(
            ran.json()?["output"]["structured"],
            answer,
            "{arguments:?}: {}",
            ran.text()
        );
    }
    let mut child = place
        .command()?
        .args(["call", "echo", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .expect("it is piped")
        .write_all(br#"{"from":"stdin"}"#)?;
    let output = child.wait_with_output()?;
    assert_eq!(String::from_utf8(output.stdout)?, "{\"from\":\"stdin\"}\n");
    Ok(())
}

#[test]
fn answers_of_every_kind_are_shown_as_they_are() -> Result<()> {
    let place = Place::with_guests(&["contents"], "")?;
    for tool in ["text", "document", "structure", "mixed"] {
        let ran = place.run(&["call", &format!("contents_{tool}")])?;
        place.snapshot(&format!("call_contents_{tool}"), &ran);
    }
    place.snapshot(
        "call_contents_json",
        &place.run(&["call", "contents_mixed", "--json"])?,
    );
    Ok(())
}

#[test]
fn bytes_go_into_a_pipe_a_file_or_a_folder() -> Result<()> {
    let place = Place::with_guests(&["contents"], "")?;
    let png = b"\x89PNG\r\n\x1a\n";
    assert!(
        place
            .run(&["call", "contents_image"])?
            .bytes()
            .starts_with(png)
    );
    assert_eq!(
        place.run(&["call", "contents_bytes", "-o", "-"])?.bytes(),
        [0, 159, 146, 150, 255]
    );

    let ran = place.run(&["call", "contents_image", "--output", "one.png"])?;
    assert_eq!((ran.code(), ran.stdout().as_str()), (0, ""));
    assert!(fs::read(place.path("one.png"))?.starts_with(png));
    assert!(
        ran.stderr().contains("saved to `one.png` (image/png"),
        "{}",
        ran.text()
    );

    let ran = place.run(&["call", "contents_mixed", "--output", "new/"])?;
    assert!(ran.stdout().contains("plain *text*"), "{}", ran.text());
    for name in [
        "contents_mixed-1.png",
        "contents_mixed-2.wav",
        "contents_mixed-3.bin",
    ] {
        assert!(
            has_content(&place.path("new").join(name)),
            "no {name}: {}",
            ran.text()
        );
    }
    place.run(&["call", "contents_text", "--output", "text.md"])?;
    assert_eq!(
        fs::read_to_string(place.path("text.md"))?,
        "plain *text* \u{1F980}\n"
    );
    assert_eq!(place.run(&["call", "contents_mixed", "-o", "-"])?.code(), 2);
    Ok(())
}

#[test]
fn messages_and_chatter_go_to_standard_error() -> Result<()> {
    let place = Place::with_guests(&["log_progress"], "")?;
    place.snapshot("call_log", &place.run(&["call", "log_progress_log"])?);
    place.snapshot(
        "call_log_quiet",
        &place.run(&["-q", "call", "log_progress_log"])?,
    );
    place.snapshot(
        "call_log_silent",
        &place.run(&["-qq", "call", "log_progress_log"])?,
    );
    place.snapshot(
        "call_streams",
        &place.run(&["call", "log_progress_streams"])?,
    );
    place.snapshot(
        "call_progress",
        &place.run(&["call", "log_progress_fractions"])?,
    );
    Ok(())
}

/// One failing call: the tool with its arguments, and the promised exit code.
const FAILURES: &[(&str, &[&str], i32)] = &[
    (
        "tool_error",
        &[
            "errors_fail",
            "-a",
            "kind=not_found",
            "-a",
            "message=no such note",
            "-a",
            "data={\"id\":7}",
        ],
        1,
    ),
    ("trapped", &["crashes_panic", "-a", "message=the end"], 1),
    ("exited", &["crashes_exit", "-a", "code=3"], 1),
    (
        "invalid_arguments",
        &["time_sleep", "-a", "millis=soon", "-a", "more=1"],
        2,
    ),
    ("no_json", &["time_sleep", "{"], 2),
    ("unknown_tool", &["time_sleeep"], 2),
    (
        "denied",
        &[
            "errors_fail",
            "-a",
            "kind=denied",
            "-a",
            "message=not allowed",
        ],
        3,
    ),
    ("timed_out", &["time_spin"], 4),
    ("timed_out_by_caller", &["time_poll", "--timeout", "0.2"], 4),
    ("out_of_memory", &["memory_grow"], 4),
    ("folder_missing", &["files_read", "-a", "path=/docs/x"], 5),
    ("broken", &["page"], 5),
];

#[test]
fn each_outcome_has_its_message_and_exit_code() -> Result<()> {
    let place = Place::with_guests(
        &["errors", "crashes", "time", "memory", "files"],
        "[tools.custom.time]\ntimeout_secs = 1\n\
         [tools.custom.files.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n",
    )?;
    place.add("page", b"<!DOCTYPE html>")?;
    for (name, arguments, code) in FAILURES {
        let mut command = vec!["call"];
        command.extend(*arguments);
        let ran = place.run(&command)?;
        place.snapshot(&format!("failure_{name}"), &ran);
        assert_eq!(ran.code(), *code, "{name}: {}", ran.text());

        command.push("--json");
        let ran = place.run(&command)?;
        assert_eq!(ran.code(), *code, "{name} as JSON: {}", ran.text());
        let answer = ran.json()?;
        assert!(answer["error"]["message"].is_string(), "{name}: {answer}");
        assert_eq!(answer["error"]["exit_code"], *code, "{name}: {answer}");
    }
    Ok(())
}

#[test]
fn a_call_is_one_line_in_the_log_and_never_what_was_said_in_it() -> Result<()> {
    let place = Place::with_guests(&["trivial"], "")?;
    let output = place
        .command()?
        .env("RUST_LOG", "prx_host::calls=info")
        .args(["call", "trivial", "--arg", "text=s3cret"])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("calls:"))
        .collect();
    let [line] = lines.as_slice() else {
        anyhow::bail!("{said}");
    };
    for field in [
        "call=1",
        "tool=\"trivial\"",
        "module=\"",
        "snapshot=1",
        "client=\"prx-host call\"",
        "outcome=\"ok\"",
        " ms=",
        "waited_ms=",
        "argument_bytes=17",
        "answer_bytes=",
        "stdout_bytes=0",
        "stderr_bytes=0",
    ] {
        anyhow::ensure!(line.contains(field), "{field} is not in {line}");
    }
    anyhow::ensure!(!said.contains("s3cret"), "{said}");
    Ok(())
}

#[test]
fn a_call_of_an_unknown_tool_is_one_line_too_and_still_told_what_was_meant() -> Result<()> {
    let place = Place::with_guests(&["trivial"], "")?;
    let output = place
        .command()?
        .env("RUST_LOG", "prx_host::calls=info")
        .args(["call", "trivail"])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter(|line| line.contains("calls:"));
    let lines: Vec<&str> = lines.collect();
    let [line] = lines.as_slice() else {
        anyhow::bail!("{said}");
    };
    for field in ["outcome=\"unknown_tool\"", "client=\"prx-host call\""] {
        anyhow::ensure!(line.contains(field), "{field} is not in {line}");
    }
    anyhow::ensure!(said.contains("`trivial`"), "{said}");
    Ok(())
}
