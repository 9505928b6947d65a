//! Opens the database file of one namespace: folder, permissions, settings, schema.
//! Invariant: a file that is not ours, newer than us, or damaged is never written to.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::{Fault, StateError};

/// How long an operation waits for other processes before it gives up. One sync of a busy
/// disk can take seconds, and every writer before this one has its own; the caller's
/// deadline ends the wait earlier.
pub(super) const BUSY_LIMIT: Duration = Duration::from_secs(20);

/// Pause between two looks at a lock. `SQLite`'s own handler waits up to 100 ms, which is
/// a hundred times as long as most writes take.
const BUSY_PAUSE: Duration = Duration::from_micros(200);

/// The format of this host's files, kept in `user_version`.
const FORMAT: i32 = 1;

/// Marks a file as state of this host: `prxS`.
const APPLICATION: i32 = i32::from_be_bytes(*b"prxS");

/// Keys are blobs, since `SQLite`'s text functions end at a NUL. `total` saves a scan per
/// write; every change of `entry` changes it in the same transaction.
const SCHEMA: &str = "
    CREATE TABLE entry (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) STRICT;
    CREATE TABLE total (
        only INTEGER PRIMARY KEY CHECK (only = 0),
        used INTEGER NOT NULL CHECK (used >= 0)
    ) STRICT;
    INSERT INTO total (only, used) VALUES (0, 0);
";

/// What a file is, by its header and schema.
enum Identity {
    Empty,
    Ours(i32),
    Foreign,
}

/// Opens the file, making it and its folder if they are missing.
///
/// Several processes may do so at once. Switching to WAL and the first schema need the
/// whole file for a moment, in which `SQLite` does not always wait by itself; hence the loop.
pub(super) fn open(path: &Path) -> Result<Connection, StateError> {
    make_folder(path)?;
    let give_up = Instant::now() + BUSY_LIMIT;
    loop {
        match try_open(path) {
            Ok(connection) => return Ok(connection),
            Err(fault) if fault.is_transient() && Instant::now() < give_up => {
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(fault) => return Err(fault.into_error(path)),
        }
    }
}

fn try_open(path: &Path) -> Result<Connection, Fault> {
    // One connection is used by one thread at a time, so SQLite need not lock inside it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    keep_private(path)?;
    wait_for_others(&mut connection)?;
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        let reason = "it is read-only; make file and folder writable";
        return Err(Fault::Refused(StateError::unavailable(path, reason)));
    }
    let is_new = matches!(check_identity(&mut connection, path)?, Identity::Empty);
    apply_settings(&connection, path)?;
    if is_new {
        create_schema(&mut connection, path)?;
    }
    Ok(connection)
}

fn wait_for_others(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |attempts: i32| {
        if attempts == 0 {
            since = Instant::now();
        }
        std::thread::sleep(BUSY_PAUSE);
        since.elapsed() < BUSY_LIMIT
    }))
}

fn apply_settings(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        let reason = format!(
            "its file system supports no shared memory (journal mode stays `{mode}`); \
             set `runtime.wasm.state_path` to a folder on a local disk"
        );
        return Err(Fault::Refused(StateError::unavailable(path, reason)));
    }
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA journal_size_limit = 1048576;
         PRAGMA cell_size_check = ON;
         PRAGMA trusted_schema = OFF;",
    )?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(16);
    Ok(())
}

fn create_schema(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first.
    if matches!(identify(&transaction)?, Identity::Empty) {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()?;
    check_identity(connection, path).map(drop)
}

fn check_identity(connection: &mut Connection, path: &Path) -> Result<Identity, Fault> {
    // One transaction: else the file could change between the looks at it.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let reason = match identify(&transaction)? {
        identity @ (Identity::Empty | Identity::Ours(FORMAT)) => return Ok(identity),
        Identity::Ours(format) => format!(
            "it has format {format} and this host knows {FORMAT}, so a newer prx-host wrote it; \
             update this one"
        ),
        Identity::Foreign => "it is a database that prx-host did not make; \
             move it away or set `runtime.wasm.state_path` to another folder"
            .to_owned(),
    };
    Err(Fault::Refused(StateError::unavailable(path, reason)))
}

fn identify(connection: &Connection) -> rusqlite::Result<Identity> {
    let number = |query| connection.query_row(query, [], |row| row.get::<_, i32>(0));
    let application = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let things = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(match (application, format, things) {
        (0, 0, 0) => Identity::Empty,
        (APPLICATION, format, _) if format > 0 => Identity::Ours(format),
        _ => Identity::Foreign,
    })
}

/// Takes a file away from everybody else. `SQLite` gives `-wal` and `-shm` the same mode.
///
/// By path, not by handle: closing any handle of a file drops all locks that this process
/// holds on it (POSIX), also those of a connection that another thread is using.
#[cfg(unix)]
fn keep_private(path: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt;
    let narrowed = fs::metadata(path).and_then(|found| {
        let others = found.permissions().mode() & 0o077;
        if others == 0 {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
    });
    narrowed.map_err(|error| {
        let reason = format!("it can not be made private ({error}); make it this user's own");
        Fault::Refused(StateError::unavailable(path, reason))
    })
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) -> Result<(), Fault> {
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), StateError> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|folder| !folder.exists())
        .collect();
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| {
        let reason = format!(
            "its folder can not be made ({error}); \
             set `runtime.wasm.state_path` to a folder that this user can write"
        );
        StateError::unavailable(path, reason)
    })?;
    // A new folder must outlast a power cut as well as what is in it. SQLite syncs the
    // folder of its own files; not every file system can sync a folder, and none needs
    // to where it can not.
    for parent in missing.iter().filter_map(|folder| folder.parent()) {
        let _ = fs::File::open(parent).and_then(|parent| parent.sync_all());
    }
    Ok(())
}
