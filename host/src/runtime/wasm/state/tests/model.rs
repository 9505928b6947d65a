//! Random operations, compared with a map in memory that follows the WIT text.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::{Namespace, StateError};
use super::{fresh_namespace, scanned_total};

#[derive(Clone, Debug)]
enum Operation {
    Get(String),
    Set(String, Vec<u8>),
    Delete(String),
    Increment(String, i64),
    CompareAndSet(String, Option<Vec<u8>>, Option<Vec<u8>>),
    Keys(String, Option<String>, u32),
    Usage,
}

/// What an operation answered, in one type.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Nothing,
    Value(Option<Vec<u8>>),
    Done(bool),
    Sum(i64),
    Keys(Vec<String>),
    Used(u64),
}

#[derive(Default)]
struct Model(BTreeMap<String, Vec<u8>>);

impl Model {
    fn used(&self) -> u64 {
        self.0
            .iter()
            .map(|(key, value)| (key.len() + value.len()) as u64)
            .sum()
    }

    fn put(&mut self, key: &str, value: Vec<u8>, quota: u64) -> Result<(), StateError> {
        let before = self.used();
        let mut next = self.0.clone();
        next.insert(key.to_owned(), value);
        let after = Model(next.clone()).used();
        if after > quota && after > before {
            return Err(StateError::QuotaExceeded(after - quota));
        }
        self.0 = next;
        Ok(())
    }

    fn apply(&mut self, operation: &Operation, quota: u64) -> Result<Answer, StateError> {
        use Operation::{CompareAndSet, Delete, Get, Increment, Keys, Set, Usage};
        if quota == 0 {
            return Err(StateError::Denied);
        }
        if let Get(key) | Set(key, _) | Delete(key) | Increment(key, _) | CompareAndSet(key, ..) =
            operation
            && !(1..=512).contains(&key.len())
        {
            return Err(StateError::InvalidKey);
        }
        Ok(match operation {
            Get(key) => Answer::Value(self.0.get(key).cloned()),
            Set(key, value) => {
                self.put(key, value.clone(), quota)?;
                Answer::Nothing
            }
            Delete(key) => Answer::Done(self.0.remove(key).is_some()),
            Increment(key, delta) => {
                let value = match self.0.get(key) {
                    None => 0,
                    Some(value) => std::str::from_utf8(value)
                        .ok()
                        .and_then(|value| value.parse::<i64>().ok())
                        .ok_or(StateError::NotANumber)?,
                };
                let sum = value.checked_add(*delta).ok_or(StateError::NotANumber)?;
                self.put(key, sum.to_string().into_bytes(), quota)?;
                Answer::Sum(sum)
            }
            CompareAndSet(key, expected, value) => {
                if self.0.get(key) != expected.as_ref() {
                    return Ok(Answer::Done(false));
                }
                match value {
                    Some(value) => self.put(key, value.clone(), quota)?,
                    None => drop(self.0.remove(key)),
                }
                Answer::Done(true)
            }
            Keys(prefix, after, limit) => Answer::Keys(
                self.0
                    .keys()
                    .filter(|key| key.starts_with(prefix.as_str()))
                    .filter(|key| after.as_ref().is_none_or(|after| *key > after))
                    .take(*limit as usize)
                    .cloned()
                    .collect(),
            ),
            Usage => Answer::Used(self.used()),
        })
    }
}

fn apply(state: &Namespace, operation: &Operation, quota: u64) -> Result<Answer, StateError> {
    match operation {
        Operation::Get(key) => state.get(key, quota).map(Answer::Value),
        Operation::Set(key, value) => state.set(key, value, quota).map(|()| Answer::Nothing),
        Operation::Delete(key) => state.delete(key, quota).map(Answer::Done),
        Operation::Increment(key, delta) => state.increment(key, *delta, quota).map(Answer::Sum),
        Operation::CompareAndSet(key, expected, value) => state
            .compare_and_set(key, expected.as_deref(), value.as_deref(), quota)
            .map(Answer::Done),
        Operation::Keys(prefix, after, limit) => state
            .keys(prefix, after.as_deref(), *limit, quota)
            .map(Answer::Keys),
        Operation::Usage => state.usage(quota).map(|usage| {
            assert_eq!(usage.quota, quota);
            Answer::Used(usage.used)
        }),
    }
}

fn keys() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => prop::sample::select(vec!["a", "ab", "abc", "b", "a\0", "é", "\u{10ffff}"])
            .prop_map(str::to_owned),
        2 => "[ab]{0,3}",
        1 => Just("k".repeat(512)),
        1 => Just("k".repeat(513)),
    ]
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => prop::sample::select(vec!["", "0", "7", "-3", "x", "9223372036854775807"])
            .prop_map(|value| value.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

fn operations() -> impl Strategy<Value = (Operation, u64)> {
    let operation = prop_oneof![
        2 => keys().prop_map(Operation::Get),
        5 => (keys(), values()).prop_map(|(key, value)| Operation::Set(key, value)),
        2 => keys().prop_map(Operation::Delete),
        4 => (keys(), prop_oneof![Just(1), Just(-1), any::<i64>()])
            .prop_map(|(key, delta)| Operation::Increment(key, delta)),
        4 => (keys(), prop::option::of(values()), prop::option::of(values()))
            .prop_map(|(key, old, new)| Operation::CompareAndSet(key, old, new)),
        2 => ("[ab\u{e9}]{0,2}", prop::option::of(keys()), 0u32..6)
            .prop_map(|(prefix, after, limit)| Operation::Keys(prefix, after, limit)),
        1 => Just(Operation::Usage),
    ];
    (
        operation,
        prop::sample::select(vec![0, 3, 20, 60, 600, 5000, 5000, 5000]),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_operations_answer_what_the_model_answers(
        sequence in prop::collection::vec(operations(), 1..60),
    ) {
        let (_folder, state) = fresh_namespace();
        state.set("a", b"1", 100).unwrap();
        let mut model = Model::default();
        model.put("a", b"1".to_vec(), 100).unwrap();
        for (operation, quota) in &sequence {
            let expected = model.apply(operation, *quota);
            prop_assert_eq!(apply(&state, operation, *quota), expected, "{:?}", operation);
        }
        let used = state.usage(1).unwrap().used;
        prop_assert_eq!(used, model.used());
        prop_assert_eq!(used, scanned_total(&state));
        let stored: Vec<_> = model.0.keys().cloned().collect();
        prop_assert_eq!(state.keys("", None, 1000, 1).unwrap(), stored);
    }
}
