//! Entries that are not what this cache wrote: each is a miss, counted, and gone.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::CompileCache;
use super::super::key::{code_name, descriptor_name};
use super::{files, key, open, pair, read};

const DESCRIPTOR: &[u8] = b"a descriptor of modest length";
const CODE: &[u8] = &[0x5a; 300];

fn filled() -> (tempfile::TempDir, CompileCache, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), DESCRIPTOR, CODE);
    let (code, descriptor) = pair(folder.path());
    (folder, cache, code, descriptor)
}

/// The code must be refused, and the whole entry be gone; storing must work again.
fn assert_discarded(folder: &Path, cache: &CompileCache) {
    assert!(cache.open_code(&key(1)).is_none());
    assert_eq!(cache.statistics().rejected, 1);
    assert_eq!(files(folder), Vec::<PathBuf>::new());
    assert_eq!(cache.lookup_descriptor(&key(1)), None);
    cache.store(&key(1), DESCRIPTOR, CODE);
    assert_eq!(read(&cache.open_code(&key(1)).unwrap()), CODE);
    assert_eq!(cache.statistics().rejected, 1);
}

fn overwrite(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut content = fs::read(path).unwrap();
    change(&mut content);
    fs::write(path, content).unwrap();
}

#[test]
fn truncated_zeroed_and_extended_files_are_discarded() {
    let changes: [fn(&mut Vec<u8>); 5] = [
        |content| content.truncate(content.len() / 2),
        Vec::clear,
        |content| content.fill(0),
        |content| content.push(0),
        |content| content.insert(0, 0),
    ];
    for change in changes {
        for of_code in [true, false] {
            let (folder, cache, code, descriptor) = filled();
            overwrite(if of_code { &code } else { &descriptor }, change);
            assert_discarded(folder.path(), &cache);
        }
    }
}

#[test]
fn a_damaged_descriptor_is_also_refused_when_only_it_is_wanted() {
    let (folder, cache, _, descriptor) = filled();
    overwrite(&descriptor, |content| content[60] ^= 1);
    assert_eq!(cache.lookup_descriptor(&key(1)), None);
    assert_eq!(cache.statistics().rejected, 1);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn an_absurdly_large_descriptor_is_discarded_unread() {
    let (folder, cache, _, descriptor) = filled();
    fs::File::options()
        .write(true)
        .open(&descriptor)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_discarded(folder.path(), &cache);
}

#[test]
fn the_code_of_one_entry_is_refused_under_the_name_of_another() {
    let (folder, cache, code, _) = filled();
    // The same cache, another key, the same length.
    cache.store(&key(2), DESCRIPTOR, &[0xa5; 300]);
    let stem = key(2).stem();
    let theirs = files(folder.path())
        .into_iter()
        .find(|file| {
            let name = file.file_name().unwrap().to_str().unwrap();
            name.starts_with(&stem) && name.ends_with("code")
        })
        .unwrap();
    fs::copy(&theirs, &code).unwrap();
    assert!(cache.open_code(&key(1)).is_none());
    assert_eq!(cache.statistics().rejected, 1);
    assert!(!code.exists());
    assert!(cache.open_code(&key(2)).is_some());
}

#[test]
fn a_whole_entry_is_refused_under_the_names_of_another() {
    let (folder, cache, code, descriptor) = filled();
    let mac = code
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .split('.')
        .nth(1)
        .unwrap()
        .to_owned();
    let stem = key(2).stem();
    fs::rename(&descriptor, folder.path().join(descriptor_name(&stem))).unwrap();
    fs::rename(&code, folder.path().join(format!("{stem}.{mac}.code"))).unwrap();
    assert!(cache.open_code(&key(2)).is_none());
    assert_eq!(cache.statistics().rejected, 1);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn an_entry_copied_from_another_cache_is_refused() {
    let (folder, cache, code, descriptor) = filled();
    let elsewhere = tempfile::tempdir().unwrap();
    open(elsewhere.path()).store(&key(1), DESCRIPTOR, CODE);
    let (foreign_code, foreign_descriptor) = pair(elsewhere.path());
    assert_ne!(
        foreign_code.file_name(),
        code.file_name(),
        "the secrets are the same"
    );
    fs::copy(&foreign_descriptor, &descriptor).unwrap();
    fs::rename(
        &foreign_code,
        folder.path().join(foreign_code.file_name().unwrap()),
    )
    .unwrap();
    assert_discarded(folder.path(), &cache);
}

#[test]
fn entries_of_a_secret_that_was_replaced_are_refused() {
    let (folder, cache, ..) = filled();
    drop(cache);
    fs::write(folder.path().join("secret"), [9; 32]).unwrap();
    assert_discarded(folder.path(), &open(folder.path()));
}

#[test]
fn links_pipes_and_folders_are_never_followed_or_opened() {
    for of_code in [true, false] {
        for kind in ["link", "pipe", "folder"] {
            let (folder, cache, code, descriptor) = filled();
            let place = if of_code { &code } else { &descriptor };
            let outside = tempfile::tempdir().unwrap();
            let moved = outside.path().join("moved");
            fs::copy(place, &moved).unwrap();
            fs::remove_file(place).unwrap();
            match kind {
                // The content is right, the way to it is not.
                "link" => std::os::unix::fs::symlink(&moved, place).unwrap(),
                "pipe" => {
                    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                    let fifo = rustix::fs::FileType::Fifo;
                    rustix::fs::mknodat(rustix::fs::CWD, place, fifo, mode, 0).unwrap();
                }
                _ => fs::create_dir(place).unwrap(),
            }
            assert_discarded(folder.path(), &cache);
            assert!(moved.exists(), "what the link led to was removed");
        }
    }
}

#[test]
fn files_that_others_could_have_read_or_written_are_discarded() {
    for mode in [0o644, 0o620, 0o602, 0o640, 0o4600, 0o400] {
        for of_code in [true, false] {
            let (folder, cache, code, descriptor) = filled();
            let place = if of_code { code } else { descriptor };
            fs::set_permissions(place, Permissions::from_mode(mode)).unwrap();
            assert_discarded(folder.path(), &cache);
        }
    }
}

#[test]
fn a_file_of_another_user_is_discarded() {
    let (folder, cache, code, _) = filled();
    if std::os::unix::fs::chown(&code, Some(65534), None).is_err() {
        eprintln!("SKIPPED: only root can give a file to another user");
        return;
    }
    assert_discarded(folder.path(), &cache);
}

#[test]
fn a_stem_that_is_in_the_way_as_a_folder_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    fs::create_dir(folder.path().join(descriptor_name(&key(1).stem()))).unwrap();
    fs::create_dir(folder.path().join(code_name(&key(1).stem(), &[1; 32]))).unwrap();
    cache.store(&key(1), DESCRIPTOR, CODE);
    assert_eq!(read(&cache.open_code(&key(1)).unwrap()), CODE);
    pair(folder.path());
}

#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Truncate(prop::sample::Index),
    Extend(Vec<u8>),
    Overwrite(prop::sample::Index, Vec<u8>),
}

fn damages() -> impl Strategy<Value = Damage> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..80);
    prop_oneof![
        6 => (any::<prop::sample::Index>(), 1u8..).prop_map(|(at, mask)| Damage::Flip(at, mask)),
        1 => any::<prop::sample::Index>().prop_map(Damage::Truncate),
        1 => bytes().prop_map(Damage::Extend),
        2 => (any::<prop::sample::Index>(), bytes())
            .prop_map(|(at, bytes)| Damage::Overwrite(at, bytes)),
    ]
}

fn apply(damage: &Damage, content: &mut Vec<u8>) {
    let length = content.len();
    match damage {
        Damage::Flip(at, mask) => content[at.index(length)] ^= mask,
        Damage::Truncate(at) => content.truncate(at.index(length)),
        Damage::Extend(bytes) => content.extend_from_slice(bytes),
        Damage::Overwrite(at, bytes) => {
            let from = at.index(length);
            let to = length.min(from + bytes.len());
            content[from..to].copy_from_slice(&bytes[..to - from]);
        }
    }
}

proptest! {
    #[test]
    fn no_change_of_either_file_yields_other_content(
        damage in damages(),
        of_code in any::<bool>(),
    ) {
        let (_folder, cache, code, descriptor) = filled();
        let place = if of_code { &code } else { &descriptor };
        let before = fs::read(place).unwrap();
        overwrite(place, |content| apply(&damage, content));
        let is_changed = fs::read(place).unwrap() != before;

        let found = cache.lookup_descriptor(&key(1));
        let loaded = cache.open_code(&key(1)).map(|code| read(&code));
        prop_assert_eq!(found.is_none(), is_changed && !of_code);
        prop_assert_eq!(loaded.is_none(), is_changed);
        prop_assert!(found.is_none_or(|found| found == DESCRIPTOR));
        prop_assert!(loaded.is_none_or(|loaded| loaded == CODE));
        prop_assert_eq!(cache.statistics().rejected, u64::from(is_changed));
    }
}

#[test]
fn a_flip_of_any_byte_is_found() {
    let (_folder, cache, code, descriptor) = filled();
    for place in [&code, &descriptor] {
        for index in 0..fs::read(place).unwrap().len() {
            overwrite(place, |content| content[index] ^= 0x10);
            assert!(
                cache.open_code(&key(1)).is_none(),
                "byte {index} of {}",
                place.display()
            );
            cache.store(&key(1), DESCRIPTOR, CODE);
        }
    }
}
