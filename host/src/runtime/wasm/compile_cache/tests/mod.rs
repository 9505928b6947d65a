//! Tests of the cache as a whole: what it keeps, what it refuses, what it leaves behind.

mod contents;
mod eviction;
mod kept;
mod processes;
mod tampering;
mod temporaries;
mod unusable;

use std::path::{Path, PathBuf};

use super::{CacheKey, CodeFile, CompileCache};

/// A size that no test reaches by accident.
const AMPLE: u64 = 1 << 30;

fn key(number: u8) -> CacheKey {
    CacheKey {
        module: [number; 32],
        engine: [200; 32],
        kind: "skill",
    }
}

fn open(folder: &Path) -> CompileCache {
    let cache = CompileCache::open(folder, AMPLE);
    assert_eq!(cache.problem(), None);
    cache
}

/// The content of verified code, read the way an engine would: by its path.
fn read(code: &CodeFile) -> Vec<u8> {
    std::fs::read(code.path()).unwrap()
}

/// All files of a folder but the secret, in order of name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| !path.ends_with("secret"))
        .collect();
    files.sort();
    files
}

/// The two files of a cache with one entry: code, descriptor.
fn pair(folder: &Path) -> (PathBuf, PathBuf) {
    let mut files = files(folder);
    files.sort_by_key(|file| file.extension().map(ToOwned::to_owned));
    let [code, descriptor] = <[PathBuf; 2]>::try_from(files).unwrap();
    assert_eq!(code.extension().unwrap(), "code");
    assert_eq!(descriptor.extension().unwrap(), "descriptor");
    (code, descriptor)
}
