//! Folders and secrets that can not be trusted or used: the cache is off, or heals, and
//! the host goes on.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::super::{CompileCache, Statistics};
use super::{AMPLE, key, open, read};

/// The cache must be off, and do nothing; gives the reason.
fn problem_of(folder: &Path) -> String {
    let cache = CompileCache::open(folder, AMPLE);
    cache.store(&key(1), b"descriptor", b"code");
    assert_eq!(cache.lookup_descriptor(&key(1)), None);
    assert!(cache.open_code(&key(1)).is_none());
    cache.remove(&key(1));
    assert_eq!(cache.statistics(), Statistics::default());
    let problem = cache.problem().expect("the cache was used").to_owned();
    assert!(problem.contains(&folder.display().to_string()), "{problem}");
    problem
}

#[test]
fn a_folder_that_others_may_write_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o770, 0o707, 0o777, 0o1777, 0o720, 0o702] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let problem = problem_of(folder.path());
        assert!(problem.contains("others may write"), "{problem}");
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    open(folder.path());
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    if std::os::unix::fs::chown(folder.path(), Some(65534), None).is_err() {
        eprintln!("SKIPPED: only root can give a folder to another user");
        return;
    }
    let problem = problem_of(folder.path());
    assert!(problem.contains("belongs to user 65534"), "{problem}");
}

#[test]
fn a_file_in_place_of_the_folder_or_above_it_turns_the_cache_off() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for place in [file.clone(), file.join("cache")] {
        let problem = problem_of(&place);
        assert!(
            problem.contains("can not be made") && problem.contains("cache_path"),
            "{problem}"
        );
    }
    assert_eq!(fs::read(&file).unwrap(), b"in the way");
}

#[test]
fn a_size_of_zero_turns_the_cache_off() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::open(&folder.path().join("cache"), 0);
    assert!(cache.problem().unwrap().contains("cache_max_mb"));
    assert!(!folder.path().join("cache").exists());
}

#[test]
fn a_secret_that_is_damaged_or_was_open_to_others_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    let damages: [fn(&Path); 7] = [
        |secret| fs::write(secret, []).unwrap(),
        |secret| fs::write(secret, [1; 31]).unwrap(),
        |secret| fs::write(secret, [1; 33]).unwrap(),
        |secret| fs::write(secret, [0; 32]).unwrap(),
        |secret| fs::set_permissions(secret, Permissions::from_mode(0o640)).unwrap(),
        |secret| {
            fs::rename(secret, secret.with_extension("moved")).unwrap();
            std::os::unix::fs::symlink(secret.with_extension("moved"), secret).unwrap();
        },
        |secret| {
            fs::remove_file(secret).unwrap();
            fs::create_dir(secret).unwrap();
        },
    ];
    for damage in damages {
        let cache = open(folder.path());
        cache.store(&key(1), b"descriptor", b"code");
        let before = fs::read(&secret).unwrap();
        damage(&secret);
        let cache = open(folder.path());
        assert!(cache.open_code(&key(1)).is_none());
        assert_eq!(cache.statistics().rejected, 1);
        assert_ne!(fs::read(&secret).unwrap(), before);
        let found = secret.symlink_metadata().unwrap();
        assert!(found.is_file() && found.permissions().mode() & 0o777 == 0o600);
    }
}

#[test]
fn the_secret_is_made_once_and_is_random() {
    let secret_of = |folder: &tempfile::TempDir| {
        open(folder.path());
        fs::read(folder.path().join("secret")).unwrap()
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = secret_of(&one);
    assert_eq!(first.len(), 32);
    assert_eq!(secret_of(&one), first);
    assert_ne!(secret_of(&two), first);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_takes_nothing_is_warned_of_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("cache");
    let cache = open(&folder);
    cache.store(&key(1), b"descriptor", b"code");
    let code = cache.open_code(&key(1)).unwrap();
    // Nothing can be made in a folder that has no name any more.
    fs::remove_dir_all(&folder).unwrap();
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        for number in 2..5 {
            cache.store(&key(number), b"descriptor", b"code");
            assert_eq!(cache.lookup_descriptor(&key(number)), None);
        }
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("can not be kept").count(), 1, "{log}");
    assert_eq!(cache.statistics().store_failures, 3);
    assert_eq!(read(&code), b"code");
}
