//! Each operation, at its edges.

use super::super::StateError;
use super::{AMPLE, fresh_namespace};

#[test]
fn a_value_is_read_as_it_was_set_and_replaced_and_removed() {
    let (_folder, state) = fresh_namespace();
    assert_eq!(state.get("key", AMPLE), Ok(None));
    for value in [&b"one"[..], b"", b"\0\xff\0", &vec![7; 100_000]] {
        state.set("key", value, AMPLE).unwrap();
        assert_eq!(state.get("key", AMPLE).unwrap().as_deref(), Some(value));
    }
    assert_eq!(state.delete("key", AMPLE), Ok(true));
    assert_eq!(state.delete("key", AMPLE), Ok(false));
    assert_eq!(state.get("key", AMPLE), Ok(None));
}

#[test]
fn without_a_quota_every_operation_is_denied_and_no_file_is_made() {
    let (_folder, state) = fresh_namespace();
    let denied = StateError::Denied;
    assert_eq!(state.get("", 0), Err(denied.clone()));
    assert_eq!(state.set("k", b"v", 0), Err(denied.clone()));
    assert_eq!(state.delete("k", 0), Err(denied.clone()));
    assert_eq!(state.increment("k", 1, 0), Err(denied.clone()));
    assert_eq!(
        state.compare_and_set("k", None, None, 0),
        Err(denied.clone())
    );
    assert_eq!(state.keys("", None, 10, 0), Err(denied.clone()));
    assert_eq!(state.usage(0), Err(denied));
    assert!(!state.path().exists());
}

#[test]
fn keys_have_1_to_512_bytes() {
    let (_folder, state) = fresh_namespace();
    let longest = "ä".repeat(256);
    state.set(&longest, b"v", AMPLE).unwrap();
    assert_eq!(
        state.get(&longest, AMPLE).unwrap().as_deref(),
        Some(&b"v"[..])
    );
    for key in ["", &format!("{longest}x")] {
        assert_eq!(state.get(key, AMPLE), Err(StateError::InvalidKey));
        assert_eq!(state.set(key, b"", AMPLE), Err(StateError::InvalidKey));
        assert_eq!(state.delete(key, AMPLE), Err(StateError::InvalidKey));
        assert_eq!(state.increment(key, 1, AMPLE), Err(StateError::InvalidKey));
        assert_eq!(
            state.compare_and_set(key, None, None, AMPLE),
            Err(StateError::InvalidKey)
        );
    }
}

#[test]
fn keys_that_differ_after_a_nul_are_different_and_counted_whole() {
    let (_folder, state) = fresh_namespace();
    state.set("a\0b", b"1", AMPLE).unwrap();
    state.set("a\0c", b"2", AMPLE).unwrap();
    assert_eq!(
        state.get("a\0b", AMPLE).unwrap().as_deref(),
        Some(&b"1"[..])
    );
    assert_eq!(
        state.keys("a\0", None, 10, AMPLE).unwrap(),
        ["a\0b", "a\0c"]
    );
    assert_eq!(state.usage(AMPLE).unwrap().used, 8);
}

#[test]
fn the_quota_counts_keys_and_values_and_says_how_much_is_missing() {
    let (_folder, state) = fresh_namespace();
    assert_eq!(
        state.set("key", &[0; 10], 12),
        Err(StateError::QuotaExceeded(1))
    );
    state.set("key", &[0; 9], 12).unwrap();
    assert_eq!(state.set("k", b"", 12), Err(StateError::QuotaExceeded(1)));
    assert_eq!(
        state.set("key", &[0; 1000], 12),
        Err(StateError::QuotaExceeded(991))
    );
    let changed = state.compare_and_set("key", Some(&[0; 9]), Some(&[0; 11]), 12);
    assert_eq!(changed, Err(StateError::QuotaExceeded(2)));
    assert_eq!(
        state.increment("n", 1, 12),
        Err(StateError::QuotaExceeded(2))
    );
    assert_eq!(state.get("key", 12).unwrap(), Some(vec![0; 9]));
    assert_eq!(state.usage(12).unwrap().used, 12);
}

#[test]
fn a_store_above_a_lowered_quota_can_be_read_and_shrunk_but_not_grown() {
    let (_folder, state) = fresh_namespace();
    state.set("a", &[1; 50], AMPLE).unwrap();
    state.set("b", &[2; 50], AMPLE).unwrap();
    assert_eq!(state.get("a", 10).unwrap(), Some(vec![1; 50]));
    assert_eq!(
        state.set("a", &[1; 51], 10),
        Err(StateError::QuotaExceeded(93))
    );
    state.set("a", &[3; 50], 10).unwrap();
    state.set("a", &[1; 20], 10).unwrap();
    assert_eq!(state.delete("b", 10), Ok(true));
    assert_eq!(state.usage(10).unwrap().used, 21);
}

#[test]
fn increment_counts_from_zero_and_refuses_what_is_no_integer() {
    let (_folder, state) = fresh_namespace();
    assert_eq!(state.increment("n", 5, AMPLE), Ok(5));
    assert_eq!(state.increment("n", -12, AMPLE), Ok(-7));
    assert_eq!(state.get("n", AMPLE).unwrap().as_deref(), Some(&b"-7"[..]));
    assert_eq!(state.increment("zero", 0, AMPLE), Ok(0));
    assert_eq!(
        state.get("zero", AMPLE).unwrap().as_deref(),
        Some(&b"0"[..])
    );
    for value in [
        &b"x"[..],
        b"",
        b"1.5",
        b" 1",
        b"1\n",
        b"9223372036854775808",
        b"\xff",
    ] {
        state.set("n", value, AMPLE).unwrap();
        assert_eq!(state.increment("n", 1, AMPLE), Err(StateError::NotANumber));
        assert_eq!(state.get("n", AMPLE).unwrap().as_deref(), Some(value));
    }
}

#[test]
fn increment_refuses_a_sum_that_does_not_fit() {
    let (_folder, state) = fresh_namespace();
    assert_eq!(state.increment("n", i64::MAX, AMPLE), Ok(i64::MAX));
    assert_eq!(state.increment("n", 1, AMPLE), Err(StateError::NotANumber));
    assert_eq!(state.increment("n", i64::MIN, AMPLE), Ok(-1));
    assert_eq!(
        state.increment("n", i64::MIN, AMPLE),
        Err(StateError::NotANumber)
    );
    assert_eq!(state.get("n", AMPLE).unwrap().as_deref(), Some(&b"-1"[..]));
}

#[test]
fn compare_and_set_acts_only_on_the_expected_value() {
    let (_folder, state) = fresh_namespace();
    assert_eq!(
        state.compare_and_set("k", Some(b""), Some(b"1"), AMPLE),
        Ok(false)
    );
    assert_eq!(state.compare_and_set("k", None, None, AMPLE), Ok(true));
    assert_eq!(
        state.compare_and_set("k", None, Some(b"1"), AMPLE),
        Ok(true)
    );
    assert_eq!(
        state.compare_and_set("k", None, Some(b"2"), AMPLE),
        Ok(false)
    );
    assert_eq!(
        state.compare_and_set("k", Some(b"2"), None, AMPLE),
        Ok(false)
    );
    assert_eq!(
        state.compare_and_set("k", Some(b"1"), Some(b"2"), AMPLE),
        Ok(true)
    );
    assert_eq!(state.get("k", AMPLE).unwrap().as_deref(), Some(&b"2"[..]));
    assert_eq!(
        state.compare_and_set("k", Some(b"2"), None, AMPLE),
        Ok(true)
    );
    assert_eq!(state.get("k", AMPLE), Ok(None));
}

#[test]
fn keys_are_listed_by_prefix_in_byte_order_and_page_by_page() {
    let (_folder, state) = fresh_namespace();
    for key in [
        "b",
        "a/2",
        "a/10",
        "a/é",
        "a",
        "a0",
        "Z",
        "\u{10ffff}",
        "\u{10ffff}x",
    ] {
        state.set(key, b"", AMPLE).unwrap();
    }
    let list = |prefix, after, limit| state.keys(prefix, after, limit, AMPLE).unwrap();
    let all = [
        "Z",
        "a",
        "a/10",
        "a/2",
        "a/é",
        "a0",
        "b",
        "\u{10ffff}",
        "\u{10ffff}x",
    ];
    assert_eq!(list("", None, 100), all);
    assert_eq!(list("a/", None, 100), ["a/10", "a/2", "a/é"]);
    assert_eq!(list("a/", None, 1), ["a/10"]);
    assert_eq!(list("a/", Some("a/10"), 1), ["a/2"]);
    assert_eq!(list("a/", Some("Z"), 100), ["a/10", "a/2", "a/é"]);
    assert_eq!(list("a/", Some("a/é"), 100), Vec::<String>::new());
    assert_eq!(list("a/", Some("zzz"), 100), Vec::<String>::new());
    assert_eq!(list("\u{10ffff}", None, 100), ["\u{10ffff}", "\u{10ffff}x"]);
    assert_eq!(list("", None, 0), Vec::<String>::new());
}

#[test]
fn at_most_a_thousand_keys_are_listed_at_once() {
    let (_folder, state) = fresh_namespace();
    state.set("first", b"", AMPLE).unwrap();
    let mut connection = rusqlite::Connection::open(state.path()).unwrap();
    let transaction = connection.transaction().unwrap();
    for number in 0..1100 {
        transaction
            .execute(
                "INSERT INTO entry VALUES (?1, x'')",
                [format!("k{number:04}").as_bytes()],
            )
            .unwrap();
    }
    transaction.commit().unwrap();
    let page = state.keys("k", None, u32::MAX, AMPLE).unwrap();
    assert_eq!(page.len(), 1000);
    assert_eq!(
        state
            .keys("k", page.last().map(String::as_str), 5000, AMPLE)
            .unwrap()
            .len(),
        100
    );
}
