//! The tools as a host calls them: JSON in, structure out.

use prx_skill::serde_json::{Value, from_str};
use prx_skill::testing::{self, Host};
use prx_skill::{Capability, ErrorKind};

use super::*;

fn folder() -> (tempfile::TempDir, Host) {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new().config("folder", folder.path());
    (folder, host)
}

fn call(tool: &str, arguments: Value) -> Result<Value, ToolError> {
    let output = testing::call(&SKILL, tool, arguments)?;
    let answer = from_str(&output.structured.unwrap()).unwrap();
    let tools = SKILL.describe();
    let schema = tools
        .iter()
        .find(|spec| spec.name == tool)
        .unwrap()
        .output_schema
        .as_ref();
    jsonschema::validate(schema.unwrap().as_value(), &answer).unwrap();
    Ok(answer)
}

#[test]
fn a_note_goes_through_all_five_tools() {
    let (_folder, host) = folder();
    let written = call("add", json!({"title": "Plan for May", "text": "sow beans"})).unwrap();
    assert_eq!(
        (&written["name"], &written["replaced"]),
        (&json!("plan-for-may"), &json!(false))
    );
    assert_eq!(
        call("list", json!({})).unwrap()["notes"][0]["title"],
        "Plan for May"
    );
    assert_eq!(
        call("read", json!({"name": "Plan for May"})).unwrap()["text"],
        "sow beans"
    );
    let hits = call("search", json!({"query": "BEANS"})).unwrap();
    assert_eq!(
        (&hits["total"], &hits["notes"][0]["line"]),
        (&json!(1), &json!("sow beans"))
    );
    let removed = call("remove", json!({"name": "plan-for-may"})).unwrap();
    assert_eq!(removed["text"], "sow beans");
    assert_eq!(call("list", json!({})).unwrap()["total"], 0);
    let logged: Vec<_> = host.logs().into_iter().map(|entry| entry.message).collect();
    assert_eq!(logged, ["wrote a note", "removed a note"]);
}

#[test]
fn a_conflict_carries_what_is_needed_to_solve_it() {
    let (_folder, _host) = folder();
    call("add", json!({"title": "Plan", "text": "one"})).unwrap();
    let error = call("add", json!({"title": "plan", "text": "two"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let data: Value = from_str(error.data().unwrap()).unwrap();
    assert_eq!(data["name"], "plan");
    let again = json!({"title": "plan", "text": "two", "replaces": data["revision"]});
    assert_eq!(call("add", again.clone()).unwrap()["replaced"], true);
    let error = call("add", again).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("changed meanwhile"), "{error}");
}

#[test]
fn each_error_has_the_kind_that_tells_what_to_do() {
    let (folder, host) = folder();
    for (tool, arguments, kind) in [
        (
            "add",
            json!({"title": "../..", "text": ""}),
            ErrorKind::InvalidArguments,
        ),
        (
            "add",
            json!({"title": "a\nb", "text": ""}),
            ErrorKind::InvalidArguments,
        ),
        (
            "add",
            json!({"title": "a", "text": "", "replaces": "x"}),
            ErrorKind::NotFound,
        ),
        ("read", json!({"name": "absent"}), ErrorKind::NotFound),
        ("remove", json!({"name": "absent"}), ErrorKind::NotFound),
        ("search", json!({"query": " "}), ErrorKind::InvalidArguments),
    ] {
        let error = call(tool, arguments.clone()).unwrap_err();
        assert_eq!(error.kind(), kind, "{arguments}: {error}");
    }
    let host = host.config("extension", "../x");
    assert_eq!(
        call("list", json!({})).unwrap_err().kind(),
        ErrorKind::Failed
    );
    let host = host.config("extension", "md");
    let _host = host.config("folder", folder.path().join("missing"));
    let error = call("list", json!({})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().contains("filesystem_write"), "{error}");
}

#[test]
fn the_operator_chooses_the_extension() {
    let (folder, host) = folder();
    let _host = host.config("extension", "txt");
    call("add", json!({"title": "Plan", "text": "x"})).unwrap();
    assert!(folder.path().join("plan.txt").is_file());
}

#[test]
fn only_the_tools_that_change_notes_ask_to_write() {
    for tool in SKILL.describe() {
        let changes = ["add", "remove"].contains(&tool.name);
        let [request] = tool.requests else {
            panic!("{:?}", tool.requests)
        };
        let folder = "/notes";
        let wanted = if changes {
            Capability::WriteFolder(folder)
        } else {
            Capability::ReadFolder(folder)
        };
        assert_eq!(request.capability, wanted, "{}", tool.name);
        assert_eq!(tool.hints.read_only, Some(!changes), "{}", tool.name);
        // `add` overwrites what `replaces` names.
        assert_eq!(tool.hints.destructive, Some(changes), "{}", tool.name);
    }
}
