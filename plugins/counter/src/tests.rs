//! The tools as a host calls them, over the state in memory that the SDK keeps for tests.

use prx_skill::serde_json::{Value, from_str, json};
use prx_skill::testing::{self, Host};
use prx_skill::{Capability, ErrorKind};

use super::*;

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

fn data(error: &ToolError) -> Value {
    from_str(error.data().unwrap()).unwrap()
}

#[test]
fn a_counter_counts_up_and_down_and_keeps_its_value() {
    let host = Host::new();
    assert_eq!(call("increment", json!({"name": "a"})).unwrap()["value"], 1);
    assert_eq!(
        call("increment", json!({"name": "a", "by": 41})).unwrap()["value"],
        42
    );
    assert_eq!(
        call("increment", json!({"name": "a", "by": -2})).unwrap()["value"],
        40
    );
    assert_eq!(
        call("get", json!({"name": "a"})).unwrap(),
        json!({"name": "a", "value": 40})
    );
    assert_eq!(host.state("counter/a").as_deref(), Some(&b"40"[..]));
}

#[test]
fn a_counter_that_nobody_made_is_not_found() {
    let _host = Host::new();
    let error = call("get", json!({"name": "absent"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("tool `increment`"), "{error}");
}

#[test]
fn resetting_frees_the_counter_and_tells_what_it_was() {
    let host = Host::new();
    call("increment", json!({"name": "a", "by": 7})).unwrap();
    assert_eq!(call("reset", json!({"name": "a"})).unwrap()["was"], 7);
    assert_eq!(host.state("counter/a"), None);
    assert_eq!(call("reset", json!({"name": "a"})).unwrap()["was"], 0);
}

#[test]
fn a_reset_from_another_value_is_a_conflict_that_tells_the_value() {
    let _host = Host::new();
    call("increment", json!({"name": "a", "by": 7})).unwrap();
    let error = call("reset", json!({"name": "a", "expected": 6})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(data(&error), json!({"name": "a", "value": 7}));
    assert_eq!(
        call("reset", json!({"name": "a", "expected": 7})).unwrap()["was"],
        7
    );
    assert_eq!(
        call("reset", json!({"name": "a", "expected": 0})).unwrap()["was"],
        0
    );
}

#[test]
fn a_full_state_says_how_much_is_missing_and_what_to_do() {
    let _host = Host::new().state_quota(20);
    call("increment", json!({"name": "first"})).unwrap();
    let error = call("increment", json!({"name": "second"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().contains("max_state_kb"), "{error}");
    // `counter/first` and `1` take 14 bytes, `counter/second` and `1` would take 15.
    let expected = json!({"missing_bytes": 9, "used_bytes": 14, "quota_bytes": 20});
    assert_eq!(data(&error), expected);
    call("reset", json!({"name": "first"})).unwrap();
    assert_eq!(
        call("increment", json!({"name": "second"})).unwrap()["value"],
        1
    );
}

#[test]
fn without_a_grant_every_tool_is_denied_with_the_key_to_set() {
    let _host = Host::new().state_quota(0);
    for tool in ["increment", "get", "reset", "list"] {
        let name = if tool == "list" {
            json!({})
        } else {
            json!({"name": "a"})
        };
        let error = call(tool, name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{tool}");
        assert!(error.message().contains("max_state_kb"), "{error}");
    }
}

#[test]
fn a_store_that_does_not_answer_is_unavailable() {
    let _host = Host::new().state_outage("the disk is gone");
    let error = call("increment", json!({"name": "a"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[test]
fn counting_out_of_range_changes_nothing() {
    let _host = Host::new();
    call("increment", json!({"name": "a", "by": i64::MAX})).unwrap();
    let error = call("increment", json!({"name": "a"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        call("get", json!({"name": "a"})).unwrap()["value"],
        i64::MAX
    );
}

#[test]
fn lists_go_page_by_page_and_see_only_counters() {
    let _host = Host::new().state_text("other", "not a counter");
    for name in ["b", "a", "ab", "counter/", "c"] {
        call("increment", json!({"name": name})).unwrap();
    }
    let mut names = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = call("list", json!({"limit": 2, "after": after})).unwrap();
        for counter in page["counters"].as_array().unwrap() {
            names.push(counter["name"].as_str().unwrap().to_owned());
        }
        match page.get("next") {
            Some(next) => after = next.clone(),
            None => break,
        }
    }
    assert_eq!(names, ["a", "ab", "b", "c", "counter/"]);
    let page = call("list", json!({"prefix": "a"})).unwrap();
    assert_eq!(page["counters"].as_array().unwrap().len(), 2);
    assert!(page["used_bytes"].as_u64() < page["quota_bytes"].as_u64());
}

#[test]
fn names_that_are_no_names_are_refused() {
    let _host = Host::new();
    for name in ["", "  ", "a\nb", &"x".repeat(201)] {
        let error = call("increment", json!({"name": name})).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{name:?}");
    }
}

#[test]
fn damaged_state_is_told_and_not_overwritten() {
    let host = Host::new().state_text("counter/a", "many");
    for tool in ["get", "reset"] {
        let error = call(tool, json!({"name": "a"})).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Failed, "{tool}");
    }
    assert_eq!(host.state("counter/a").as_deref(), Some(&b"many"[..]));
}

#[test]
fn every_tool_asks_for_state_and_nothing_more() {
    for tool in SKILL.describe() {
        let [request] = tool.requests else {
            panic!("{:?}", tool.requests)
        };
        assert_eq!(request.capability, Capability::State);
        assert!(!request.reason.is_empty());
    }
}
