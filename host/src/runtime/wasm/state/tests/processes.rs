//! Several real processes on one folder. A child is this test program again, told by
//! variables to run the one ignored test below.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout};

use rusqlite::Connection;

use super::super::StateStore;
use super::{AMPLE, scanned_total};
use crate::runtime::wasm::child_process;

const ROUNDS: usize = 20;

#[test]
#[ignore = "the body of a child process that the tests below start"]
fn a_child_process_does_its_task() {
    let Some((folder, task)) = child_process::task() else {
        return;
    };
    let store = StateStore::new(folder);
    child_process::is_ready();
    match task.as_str() {
        "count" => {
            let state = store.namespace("counter").unwrap();
            for _ in 0..1000 {
                state.increment("n", 1, AMPLE).unwrap();
            }
        }
        "count for ever" => {
            let state = store.namespace("counter").unwrap();
            loop {
                let sum = state.increment("n", 1, AMPLE).unwrap();
                writeln!(std::io::stdout(), "acknowledged {sum}").unwrap();
            }
        }
        key => {
            for round in 0..ROUNDS {
                let state = store.namespace(&format!("round-{round}")).unwrap();
                state.set(key, b"here", AMPLE).unwrap();
            }
        }
    }
}

struct Worker {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a child and waits until it is ready to begin.
    fn start(folder: &Path, task: &str) -> Self {
        let (child, output) = child_process::start(module_path!(), folder, task);
        Self { child, output }
    }

    fn go(&mut self) {
        drop(self.child.stdin.take());
    }

    fn finish(mut self) {
        self.output.read_to_end(&mut Vec::new()).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

fn run_together(folder: &Path, tasks: [&str; 4]) {
    let mut workers = tasks.map(|task| Worker::start(folder, task));
    workers.iter_mut().for_each(Worker::go);
    workers.into_iter().for_each(Worker::finish);
}

#[test]
fn four_processes_that_increment_a_thousand_times_each_reach_four_thousand() {
    let folder = tempfile::tempdir().unwrap();
    run_together(folder.path(), ["count"; 4]);
    let state = StateStore::new(folder.path()).namespace("counter").unwrap();
    assert_eq!(
        state.get("n", AMPLE).unwrap().as_deref(),
        Some(&b"4000"[..])
    );
}

#[test]
fn processes_that_race_to_make_a_store_all_succeed_and_share_it() {
    let folder = tempfile::tempdir().unwrap();
    // Not even the folder is there.
    let folder = folder.path().join("deep/state");
    run_together(&folder, ["p0", "p1", "p2", "p3"]);
    let store = StateStore::new(&folder);
    for round in 0..ROUNDS {
        let state = store.namespace(&format!("round-{round}")).unwrap();
        assert_eq!(
            state.keys("", None, 10, AMPLE).unwrap(),
            ["p0", "p1", "p2", "p3"]
        );
        assert_eq!(state.usage(AMPLE).unwrap().used, scanned_total(&state));
    }
}

#[test]
fn a_killed_writer_leaves_a_whole_store_with_all_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for _ in 0..5 {
        let mut worker = Worker::start(folder.path(), "count for ever");
        worker.go();
        let enough = acknowledged + 20;
        let mut line = String::new();
        let mut killed = false;
        // Killed in whatever it was doing; what it had said before still arrives.
        while worker.output.read_line(&mut line).unwrap() > 0 {
            if let Some(sum) = line
                .strip_prefix("acknowledged ")
                .and_then(|n| n.strip_suffix('\n'))
            {
                acknowledged = sum.parse().unwrap();
            }
            if acknowledged >= enough && !killed {
                worker.child.kill().unwrap();
                killed = true;
            }
            line.clear();
        }
        assert!(!worker.child.wait().unwrap().success());

        let state = StateStore::new(folder.path()).namespace("counter").unwrap();
        let stored = state.increment("n", 0, AMPLE).unwrap();
        assert!(
            (acknowledged..=acknowledged + 1).contains(&stored),
            "{stored} {acknowledged}"
        );
        acknowledged = stored;
        assert_eq!(state.usage(AMPLE).unwrap().used, scanned_total(&state));
        let health: String = Connection::open(state.path())
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(health, "ok");
    }
}
