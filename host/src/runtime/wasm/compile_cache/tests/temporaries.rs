//! What interrupted writers leave is swept, and work that goes on is not.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use super::super::folder::PrivateFolder;
use super::super::temporary::Temporary;
use super::{files, key, open, pair};

fn temporaries(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|file| {
        file.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(".tmp-")
    });
    found
}

#[test]
fn a_file_without_a_writer_is_swept_at_open() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).store(&key(1), b"descriptor", b"code");
    fs::write(folder.path().join(".tmp-0123456789abcdef"), "half").unwrap();
    std::os::unix::fs::symlink("/", folder.path().join(".tmp-link")).unwrap();
    open(folder.path());
    pair(folder.path());
}

#[test]
fn a_file_that_is_being_written_is_kept_until_it_is_an_hour_old() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path());
    let private = PrivateFolder::open(folder.path()).unwrap();
    let writing = Temporary::write(&private, b"half").unwrap();
    open(folder.path());
    let [file] = &temporaries(folder.path())[..] else {
        panic!("the file was swept")
    };
    let old = SystemTime::now() - Duration::from_mins(61);
    File::open(file).unwrap().set_modified(old).unwrap();
    open(folder.path());
    assert!(temporaries(folder.path()).is_empty());
    writing.rename("gone").unwrap_err();
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let descriptor = super::super::key::descriptor_name(&key(1).stem());
    // A folder that is not empty can be neither replaced nor removed.
    fs::create_dir_all(folder.path().join(descriptor).join("x")).unwrap();
    cache.store(&key(1), b"descriptor", b"code");
    assert_eq!(cache.statistics().store_failures, 1);
    assert!(temporaries(folder.path()).is_empty());
}

#[test]
fn opening_a_cache_over_and_over_disturbs_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sweeper = scope.spawn(|| {
            let mut opened = 0;
            while !is_done.load(Ordering::Relaxed) {
                open(folder.path());
                opened += 1;
            }
            opened
        });
        for number in 0..=255 {
            cache.store(&key(number), b"descriptor", b"code");
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(sweeper.join().unwrap() > 0);
    });
    assert_eq!(cache.statistics().store_failures, 0);
    assert_eq!(cache.statistics().stored, 256);
    assert!(temporaries(folder.path()).is_empty());
}
