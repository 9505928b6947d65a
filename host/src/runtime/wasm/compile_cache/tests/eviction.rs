//! The size is kept, and what was unused for longest goes first.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::CompileCache;
use super::super::key::descriptor_name;
use super::{AMPLE, files, key, open};

const HOUR: Duration = Duration::from_hours(1);
/// Four entries fit, five do not: a descriptor of this length makes a file of 100 bytes.
const PAYLOAD: &[u8] = &[1; 20];
const CODE: &[u8] = &[2; 900];
const FOUR_ENTRIES: u64 = 4000;

fn last_use(folder: &Path, number: u8) -> SystemTime {
    let path = folder.join(descriptor_name(&key(number).stem()));
    path.metadata().unwrap().modified().unwrap()
}

fn set_last_use(folder: &Path, number: u8, time: SystemTime) {
    let path = folder.join(descriptor_name(&key(number).stem()));
    File::open(path).unwrap().set_modified(time).unwrap();
}

/// Entries 1 to 4, 1 being unused for the longest time.
fn full(folder: &Path) -> CompileCache {
    let cache = CompileCache::open(folder, FOUR_ENTRIES);
    for number in 1..=4 {
        cache.store(&key(number), PAYLOAD, CODE);
        set_last_use(
            folder,
            number,
            SystemTime::now() - HOUR * (20 - u32::from(number)),
        );
    }
    assert_eq!(cache.statistics().evicted, 0, "four entries were to fit");
    cache
}

/// Which of the entries 1 to 9 are there, by their files, so that none is touched.
fn present(folder: &Path) -> Vec<u8> {
    (1..=9)
        .filter(|n| folder.join(descriptor_name(&key(*n).stem())).exists())
        .collect()
}

#[test]
fn the_longest_unused_entry_goes_first_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    cache.store(&key(5), PAYLOAD, CODE);
    assert_eq!(present(folder.path()), [2, 3, 4, 5]);
    cache.store(&key(6), PAYLOAD, &CODE.repeat(2));
    assert_eq!(present(folder.path()), [4, 5, 6]);
    assert_eq!(files(folder.path()).len(), 6);
    assert_eq!(cache.statistics().evicted, 3);
}

#[test]
fn use_keeps_an_entry() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    cache.lookup_descriptor(&key(1)).unwrap();
    cache.open_code(&key(2)).unwrap();
    cache.store(&key(5), PAYLOAD, CODE);
    cache.store(&key(6), PAYLOAD, CODE);
    assert_eq!(present(folder.path()), [1, 2, 5, 6]);
}

#[test]
fn the_time_of_use_is_written_at_most_once_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    let recent = SystemTime::now() - HOUR / 2;
    set_last_use(folder.path(), 1, recent);
    let (before, old) = (last_use(folder.path(), 1), last_use(folder.path(), 2));
    cache.lookup_descriptor(&key(1)).unwrap();
    cache.lookup_descriptor(&key(2)).unwrap();
    assert_eq!(last_use(folder.path(), 1), before);
    assert!(last_use(folder.path(), 2) > old + HOUR);
}

#[test]
fn what_was_just_stored_stays_even_if_all_others_seem_newer() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    for number in 1..=4 {
        let time = SystemTime::now() + HOUR * u32::from(number);
        set_last_use(folder.path(), number, time);
    }
    cache.store(&key(5), PAYLOAD, &CODE.repeat(4));
    assert_eq!(present(folder.path()), [5]);
}

#[test]
fn a_time_in_the_future_does_not_keep_an_entry_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    set_last_use(folder.path(), 1, SystemTime::now() + HOUR * 1000);
    cache.lookup_descriptor(&key(1)).unwrap();
    assert!(last_use(folder.path(), 1) < SystemTime::now() + HOUR);
}

#[test]
fn an_entry_larger_than_the_cache_is_not_kept_and_drives_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    cache.store(&key(5), PAYLOAD, &CODE.repeat(5));
    assert_eq!(present(folder.path()), [1, 2, 3, 4]);
    assert_eq!(cache.statistics().store_failures, 0);
}

#[test]
fn code_without_a_descriptor_counts_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let cache = full(folder.path());
    std::fs::remove_file(folder.path().join(descriptor_name(&key(1).stem()))).unwrap();
    let [orphan] = &files(folder.path())
        .into_iter()
        .filter(|file| {
            file.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(&key(1).stem())
        })
        .collect::<Vec<_>>()[..]
    else {
        panic!("the code was expected to be there");
    };
    File::open(orphan)
        .unwrap()
        .set_modified(SystemTime::now() - HOUR * 100)
        .unwrap();
    cache.store(&key(5), PAYLOAD, CODE);
    assert!(!orphan.exists());
    assert_eq!(present(folder.path()), [2, 3, 4, 5]);
}

#[test]
fn files_of_others_in_the_folder_are_neither_counted_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("README.txt");
    std::fs::write(&note, vec![b'x'; 10_000]).unwrap();
    let cache = full(folder.path());
    cache.store(&key(5), PAYLOAD, CODE);
    assert!(note.exists());
    assert_eq!(present(folder.path()), [2, 3, 4, 5]);
}

#[test]
fn a_smaller_limit_holds_from_the_next_store_on() {
    let folder = tempfile::tempdir().unwrap();
    full(folder.path());
    open(folder.path());
    assert_eq!(present(folder.path()).len(), 4);
    CompileCache::open(folder.path(), 2000).store(&key(5), PAYLOAD, CODE);
    assert_eq!(present(folder.path()), [4, 5]);
    CompileCache::open(folder.path(), AMPLE).store(&key(6), PAYLOAD, CODE);
    assert_eq!(present(folder.path()), [4, 5, 6]);
}

#[test]
fn the_limit_holds_after_every_store_although_the_folder_is_not_always_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let limit = 40_000;
    let cache = CompileCache::open(folder.path(), limit);
    for number in 0..100 {
        cache.store(&key(number), PAYLOAD, CODE);
        let total: u64 = files(folder.path())
            .iter()
            .map(|file| file.metadata().unwrap().len())
            .sum();
        assert!(total <= limit, "{total} bytes after {number}");
        assert!(
            total >= limit.min(1000 * u64::from(number)),
            "{total} bytes after {number}"
        );
    }
    assert_eq!(cache.statistics().evicted, 60);
}
