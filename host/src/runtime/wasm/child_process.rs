//! For tests with several real processes: this test program again, told by variables to
//! run one ignored test, which begins when its parent says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const FOLDER: &str = "PRX_HOST_TEST_FOLDER";
const TASK: &str = "PRX_HOST_TEST_TASK";

/// Starts `a_child_process_does_its_task` of a test module (its `module_path!()`) and
/// waits until it is [ready](is_ready). It goes on when its standard input is dropped.
pub fn start(module: &str, folder: &Path, task: &str) -> (Child, BufReader<ChildStdout>) {
    let (_crate, module) = module.split_once("::").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            &format!("{module}::a_child_process_does_its_task"),
            "--exact",
        ])
        .args(["--ignored", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(TASK, task)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the child ended too early"
        );
    }
    (child, output)
}

/// In the child: its folder and task; `None` where nobody started it as one.
pub fn task() -> Option<(String, String)> {
    Some((std::env::var(FOLDER).ok()?, std::env::var(TASK).ok()?))
}

/// In the child: tells the parent, and waits until it lets go.
pub fn is_ready() {
    std::io::stdout().write_all(b"\nready\n").unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
