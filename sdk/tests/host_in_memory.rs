//! The host of native tests keeps the rules of the real one.

use prx_skill::log::Level;
use prx_skill::prelude::*;
use prx_skill::progress::Amount;
use prx_skill::state::Error;
use prx_skill::testing::Host;

#[test]
fn state_is_kept_and_counted() {
    let host = Host::new().state_quota(20);
    assert_eq!(state::get("key"), Ok(None));
    state::set("key", "value").unwrap();
    assert_eq!(state::get_text("key").unwrap().as_deref(), Some("value"));
    assert_eq!(state::usage().unwrap().used, 8);
    assert_eq!(
        state::set("other", "0123456789"),
        Err(Error::QuotaExceeded(3))
    );
    assert_eq!(
        host.state("other"),
        None,
        "a refused change leaves nothing behind"
    );
    state::set("key", "0123456789abcdefg").unwrap();
    assert_eq!(state::delete("key"), Ok(true));
    assert_eq!(state::delete("key"), Ok(false));
    assert_eq!(state::usage().unwrap().used, 0);
}

#[test]
fn keys_have_bounds() {
    let _host = Host::new();
    assert_eq!(state::set("", "x"), Err(Error::InvalidKey));
    assert_eq!(state::set(&"k".repeat(513), "x"), Err(Error::InvalidKey));
    assert_eq!(state::set(&"k".repeat(512), "x"), Ok(()));
}

#[test]
fn increment_counts_from_nothing_and_refuses_what_is_no_number() {
    let host = Host::new()
        .state_text("text", "abc")
        .state_text("max", "9223372036854775807");
    assert_eq!(state::increment("new", 5), Ok(5));
    assert_eq!(state::increment("new", -7), Ok(-2));
    assert_eq!(host.state("new").as_deref(), Some(b"-2".as_slice()));
    assert_eq!(state::increment("text", 1), Err(Error::NotANumber));
    assert_eq!(state::increment("max", 1), Err(Error::NotANumber));
}

#[test]
fn compare_and_set_writes_only_over_what_was_expected() {
    let _host = Host::new();
    assert_eq!(
        state::compare_and_set("key", Some(b"a"), Some(b"b")),
        Ok(false)
    );
    assert_eq!(state::compare_and_set("key", None, Some(b"a")), Ok(true));
    assert_eq!(state::compare_and_set("key", None, Some(b"b")), Ok(false));
    assert_eq!(state::compare_and_set("key", Some(b"a"), None), Ok(true));
    assert_eq!(state::get("key"), Ok(None));
}

#[test]
fn update_begins_anew_when_another_call_wrote_meanwhile() {
    let _host = Host::new();
    let mut disturbed = false;
    let sum = state::update("sum", |old: Option<u32>| {
        if !disturbed {
            disturbed = true;
            state::set("sum", "40").unwrap();
        }
        old.unwrap_or(0) + 2
    });
    assert_eq!(sum, Ok(42));
}

#[test]
fn all_keys_reads_every_page() {
    let _host = Host::new();
    for number in 0..2_001 {
        state::set(&format!("a{number:04}"), "").unwrap();
    }
    state::set("b", "").unwrap();
    assert_eq!(state::keys("a", None, 5_000).unwrap().len(), 1_000);
    assert_eq!(
        state::keys("a", Some("a1998"), 10).unwrap(),
        ["a1999", "a2000"]
    );
    let all = state::all_keys("a").unwrap();
    assert_eq!((all.len(), all[2_000].as_str()), (2_001, "a2000"));
}

#[test]
fn errors_of_the_state_say_what_an_operator_can_do() {
    let _host = Host::new().state_quota(0);
    let error = ToolError::from(state::get("key").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().contains("max_state_kb"), "{error}");

    let _host = Host::new()
        .state_outage("the disk is gone")
        .state_text("key", "\"a\"");
    let error = ToolError::from(state::get("key").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(
        error.message(),
        "the state can not be used now: the disk is gone"
    );
}

#[test]
fn json_in_the_state_that_does_not_fit_names_its_key() {
    let _host = Host::new().state_text("count", "\"many\"");
    let error = ToolError::from(state::get_json::<u32>("count").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        error
            .message()
            .starts_with("the state's value of `count` can not be read"),
        "{error}"
    );
    state::set_json("count", &3).unwrap();
    assert_eq!(state::get_json::<u32>("count"), Ok(Some(3)));
}

#[test]
fn settings_that_are_absent_or_do_not_fit_are_named() {
    let _host = Host::new()
        .config("limit", "ten")
        .config("locale", "de")
        .config("limit", "many");
    assert_eq!(config::keys(), ["locale", "limit"]);
    assert_eq!(
        config::get::<String>("locale").unwrap().as_deref(),
        Some("de")
    );
    assert_eq!(config::get_or::<u8>("depth", 3).unwrap(), 3);
    let error = config::get::<u8>("limit").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        error
            .message()
            .starts_with("the setting `limit` of this tool does not fit"),
        "{error}"
    );
    let error = config::require::<u8>("depth").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("`depth`"), "{error}");
}

#[test]
fn messages_below_the_level_are_not_put_together() {
    struct Costly;
    impl std::fmt::Display for Costly {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("nobody listens")
        }
    }
    let host = Host::new().log_level(Level::Warn);
    log::info(Costly);
    log::field("n", 1).debug_field("list", [2]).error("oh");
    let logs = host.logs();
    assert_eq!(logs.len(), 1);
    assert_eq!(
        (logs[0].level, logs[0].message.as_str()),
        (Level::Error, "oh")
    );
    assert_eq!(
        logs[0].fields,
        [("n".into(), "1".into()), ("list".into(), "[2]".into())]
    );
}

#[test]
fn progress_is_reported_in_order() {
    let host = Host::new();
    progress::fraction(0.5, "half");
    progress::count(3, 4, None);
    let reports = host.progress();
    assert_eq!(reports[0].amount, Amount::Fraction(0.5));
    assert_eq!(reports[0].message.as_deref(), Some("half"));
    assert_eq!(
        reports[1].amount,
        Amount::Count {
            done: 3,
            total: Some(4)
        }
    );
}

#[test]
fn a_host_is_empty_when_made_and_emptied_when_dropped() {
    let host = Host::new().config("key", 1).state_text("key", "x");
    log::warn("left behind");
    drop(host);
    assert_eq!(config::keys(), [""; 0]);
    assert_eq!(state::get("key"), Ok(None));
    assert_eq!(Host::new().logs(), []);
}
