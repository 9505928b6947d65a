//! The tools as a host calls them: JSON in, contents and structure out.

use std::fs;

use prx_skill::serde_json::{Value, from_str, json};
use prx_skill::testing::{self, Host};
use prx_skill::{Capability, ErrorKind};

use super::*;

fn folder() -> (tempfile::TempDir, Host) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("guide")).unwrap();
    fs::write(folder.path().join("README.md"), "# Title\nSee setup.\n").unwrap();
    fs::write(folder.path().join("guide/setup.md"), "# Setup\none\ntwo\n").unwrap();
    let host = Host::new().config("folder", folder.path());
    (folder, host)
}

fn call(tool: &str, arguments: Value) -> (String, Value) {
    let tools = SKILL.describe();
    let spec = tools.iter().find(|spec| spec.name == tool).unwrap();
    jsonschema::validate(spec.input_schema.as_value(), &arguments).unwrap();
    let output = testing::call(&SKILL, tool, arguments).unwrap();
    let Content::Text(text) = &output.contents[0] else {
        panic!("{output:?}")
    };
    let answer = from_str(&output.structured.unwrap()).unwrap();
    let schema = spec.output_schema.as_ref().unwrap();
    jsonschema::validate(schema.as_value(), &answer).unwrap();
    (text.clone(), answer)
}

#[test]
fn names_are_found_as_text_and_as_structure() {
    let (_folder, _host) = folder();
    let (text, found) = call("name", json!({"pattern": "*.md"}));
    assert_eq!(text, "README.md (19 bytes)\nguide/setup.md (16 bytes)");
    assert_eq!(found["matches"][1]["path"], "guide/setup.md");
    assert_eq!(found["complete"], true);
    let (text, found) = call("name", json!({"pattern": "*", "kind": "folder"}));
    assert_eq!(
        (text.as_str(), &found["matches"][0]["kind"]),
        ("guide/", &json!("folder"))
    );
}

#[test]
fn lines_are_found_as_a_reader_of_grep_expects() {
    let (_folder, _host) = folder();
    let (text, found) = call("text", json!({"query": "setup", "context": 1}));
    let expected = "README.md-1-# Title\nREADME.md:2:See setup.\n--\n\
                    guide/setup.md:1:# Setup\nguide/setup.md-2-one";
    assert_eq!(text, expected);
    assert_eq!(found["matches"][0]["line"], 2);
    assert_eq!(
        (&found["files_searched"], &found["files_matched"]),
        (&json!(2), &json!(2))
    );
    let (_, found) = call(
        "text",
        json!({"query": "^t", "regex": true, "path": "guide"}),
    );
    assert_eq!(found["matches"][0]["text"], "two");
}

#[test]
fn nothing_found_is_an_answer_and_not_an_error() {
    let (_folder, _host) = folder();
    let (text, found) = call("text", json!({"query": "absent"}));
    assert_eq!(text, "nothing found in 2 files");
    assert_eq!(found["matches"], json!([]));
    assert_eq!(call("name", json!({"pattern": "*.rs"})).0, "nothing found");
}

#[test]
fn long_searches_tell_their_progress() {
    let (folder, host) = folder();
    for number in 0..60 {
        fs::write(folder.path().join(format!("{number}.txt")), "x").unwrap();
    }
    call("text", json!({"query": "x", "files": "*.txt"}));
    let counts: Vec<_> = host
        .progress()
        .into_iter()
        .map(|entry| entry.amount)
        .collect();
    let count = |done| progress::Amount::Count { done, total: None };
    assert_eq!(counts, [count(25), count(50)]);
}

#[test]
fn each_error_has_the_kind_that_tells_what_to_do() {
    let (folder, host) = folder();
    for (tool, arguments, kind) in [
        (
            "text",
            json!({"query": "(", "regex": true}),
            ErrorKind::InvalidArguments,
        ),
        ("text", json!({"query": ""}), ErrorKind::InvalidArguments),
        (
            "text",
            json!({"query": "x", "path": "../x"}),
            ErrorKind::InvalidArguments,
        ),
        (
            "text",
            json!({"query": "x", "path": "nope"}),
            ErrorKind::NotFound,
        ),
        (
            "text",
            json!({"query": "x", "file": "*.md"}),
            ErrorKind::InvalidArguments,
        ),
        (
            "name",
            json!({"pattern": "[a"}),
            ErrorKind::InvalidArguments,
        ),
    ] {
        let error = testing::call(&SKILL, tool, arguments.clone()).unwrap_err();
        assert_eq!(error.kind(), kind, "{arguments}: {error}");
    }
    let _host = host.config("folder", folder.path().join("missing"));
    let error = testing::call(&SKILL, "text", json!({"query": "x"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().contains("filesystem_read"), "{error}");
}

#[test]
fn both_tools_ask_to_read_the_folder_and_nothing_more() {
    for tool in SKILL.describe() {
        let [request] = tool.requests else {
            panic!("{:?}", tool.requests)
        };
        assert_eq!(request.capability, Capability::ReadFolder("/docs"));
        assert!(!request.reason.is_empty());
        assert_eq!(tool.hints.read_only, Some(true));
        let schema = tool.input_schema.as_value();
        for (name, parameter) in schema["properties"].as_object().unwrap() {
            assert!(parameter["description"].is_string(), "{name}: {parameter}");
        }
    }
}
