//! What can stand in a file that should be a module and is none.

use std::fs;

use anyhow::Result;
use prx_tests::guest;

use super::super::modules::section_ends;
use super::random::Random;

/// Guests that lie in their descriptions, or break down in them.
const LIES: [&str; 5] = [
    "lies_bad_json",
    "lies_duplicate_names",
    "lies_invalid_schema",
    "lies_no_tools",
    "panics_in_describe",
];

/// Bytes that must not serve, and what they are; or that are whole after all, where a cut
/// took nothing that matters.
pub(super) fn spoiled(whole: &[u8], random: &mut Random) -> Result<(String, Vec<u8>)> {
    Ok(match random.below(4) {
        0 => {
            let name = random.one_of(&LIES);
            (name.to_owned(), fs::read(guest(name)?)?)
        }
        1 => garbage(random),
        _ => {
            let length = cut(whole, random);
            (format!("cut to {length} bytes"), whole[..length].to_vec())
        }
    })
}

/// A length less than the whole: nothing, within the header, at the end of a section,
/// anywhere, all but one.
fn cut(whole: &[u8], random: &mut Random) -> usize {
    match random.below(5) {
        0 => 0,
        1 => random.one_of(&[1, 3, 4, 7, 8, 9]),
        2 => random.one_of(&section_ends(whole)),
        3 => random.below(whole.len()),
        _ => whole.len() - 1,
    }
}

fn garbage(random: &mut Random) -> (String, Vec<u8>) {
    let (what, bytes): (&str, Vec<u8>) = match random.below(5) {
        0 => ("a page", b"<!DOCTYPE html><html></html>".to_vec()),
        1 => ("a program", b"\x7fELF\x02\x01\x01\0".to_vec()),
        2 => (
            "a pointer",
            b"version https://git-lfs.github.com/spec/v1\n".to_vec(),
        ),
        3 => ("zeros", vec![0; 70_000]),
        _ => ("noise", {
            let count = random.below(5000);
            random.bytes(count)
        }),
    };
    (what.to_owned(), bytes)
}
