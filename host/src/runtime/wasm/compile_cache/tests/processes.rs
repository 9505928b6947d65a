//! Several threads and real processes on one folder. A child is this test program again,
//! told by variables to run the one ignored test below.

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout};

use super::super::CompileCache;
use super::super::folder::PrivateFolder;
use super::super::temporary::Temporary;
use super::{files, key, open, read};
use crate::runtime::wasm::child_process;

const ENTRIES: u8 = 40;

/// Code that belongs to a descriptor and to no other.
fn code_for(descriptor: &[u8]) -> Vec<u8> {
    descriptor.repeat(1000)
}

/// Fills all entries and looks at them; what is there must be a pair. `writer` makes the
/// content differ, as a compiler that is not deterministic would.
fn fill(cache: &CompileCache, writer: &str) {
    for number in 0..ENTRIES {
        let descriptor = format!("{writer} {number}").into_bytes();
        cache.store(&key(number), &descriptor, &code_for(&descriptor));
        for number in [number, ENTRIES - 1 - number] {
            if let Some(code) = cache.open_code(&key(number)) {
                let code = read(&code);
                let length = code.len() / 1000;
                assert_eq!(
                    code,
                    code_for(&code[..length]),
                    "two writers' content is mixed"
                );
            }
        }
    }
    let statistics = cache.statistics();
    assert_eq!((statistics.rejected, statistics.store_failures), (0, 0));
}

fn assert_filled(folder: &Path) {
    let cache = open(folder);
    for number in 0..ENTRIES {
        let descriptor = cache
            .lookup_descriptor(&key(number))
            .expect("an entry is missing");
        assert!(
            String::from_utf8(descriptor)
                .unwrap()
                .ends_with(&format!(" {number}"))
        );
    }
    assert_eq!(cache.statistics().rejected, 0);
    assert!(
        files(folder).iter().all(|file| file.extension().is_some()),
        "temporary files stayed"
    );
}

#[test]
fn threads_that_fill_the_same_entries_never_mix_them() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| fill(&cache, "same"));
        }
    });
    assert_filled(folder.path());
    for number in 0..ENTRIES {
        assert!(cache.open_code(&key(number)).is_some());
    }
    let different = open(folder.path());
    std::thread::scope(|scope| {
        for writer in ["one", "two", "three", "four"] {
            let different = &different;
            scope.spawn(move || fill(different, writer));
        }
    });
    assert_filled(folder.path());
}

#[test]
#[ignore = "the body of a child process that the tests below start"]
fn a_child_process_does_its_task() {
    let Some((folder, task)) = child_process::task() else {
        return;
    };
    let folder = Path::new(&folder);
    if task == "leave a temporary file" {
        let private = PrivateFolder::open(folder).unwrap();
        let _writing = Temporary::write(&private, b"half").unwrap();
        child_process::is_ready();
    } else {
        child_process::is_ready();
        fill(&open(folder), &task);
    }
}

fn start(folder: &Path, task: &str) -> (Child, BufReader<ChildStdout>) {
    child_process::start(module_path!(), folder, task)
}

#[test]
fn processes_that_make_and_fill_one_cache_at_once_share_it() {
    let folder = tempfile::tempdir().unwrap();
    // Not even the folder is there, so they also race for the secret.
    let folder = folder.path().join("deep/cache");
    let mut children = ["same", "same", "other", "another"].map(|task| start(&folder, task));
    for (child, _) in &mut children {
        drop(child.stdin.take());
    }
    for (mut child, mut output) in children {
        output.read_to_end(&mut Vec::new()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    assert_filled(&folder);
}

#[test]
fn the_temporary_file_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path());
    let (mut child, _output) = start(folder.path(), "leave a temporary file");
    open(folder.path());
    assert_eq!(
        files(folder.path()).len(),
        1,
        "the file of a living process was swept"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    open(folder.path());
    assert!(files(folder.path()).is_empty());
}
