//! Processes of one's own for tests that count what a process holds, or that need
//! several hosts which share nothing but files: the test program starts itself again
//! with one test only.

use std::any::type_name_of_val;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Tells a process that it was started for one test, and with what.
const ROLE: &str = "PRX_TEST_ROLE";

/// What this process was started with by [`several`]; `None`: by a person or by cargo.
pub fn role() -> Option<OsString> {
    std::env::var_os(ROLE)
}

/// Starts this program again with nothing but `test`, which then finds `role`.
pub fn again<F>(test: &F, role: OsString) -> Result<Command> {
    let path = type_name_of_val(test);
    let (_program, name) = path.split_once("::").context("a test without a module")?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args([name, "--exact", "--nocapture", "--test-threads", "1"])
        .env(ROLE, role)
        .stdin(Stdio::null());
    Ok(command)
}

/// Whether this process runs `test` alone. Otherwise runs it in such a process and
/// passes on how that ended: the caller returns at once.
pub fn is_alone<F>(test: &F) -> Result<bool> {
    if role().is_some() {
        return Ok(true);
    }
    several(test, 1, "alone")?;
    Ok(false)
}

/// Runs this program again with nothing but `test`, in a user namespace of its own: `line`
/// is for `sh`, prepares it with `words` from `$1` on, and ends with `exec "$@"`.
pub fn in_namespace<F>(
    test: &F,
    role: OsString,
    flags: &[&str],
    line: &str,
    words: &[&Path],
) -> Result<()> {
    let alone = again(test, role)?;
    let variables = alone.get_envs();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user"])
        .args(flags)
        .args(["sh", "-c", line, "sh"])
        .args(words)
        .arg(alone.get_program())
        .args(alone.get_args())
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .output()?;
    has_passed(&output)
}

fn has_passed(output: &Output) -> Result<()> {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}\n{complained}");
    ensure!(said.contains("1 passed"), "the test did not run: {said}");
    Ok(())
}

/// Starts that many processes for `test`, each with `role`, and waits until all have
/// passed it.
pub fn several<F>(test: &F, count: usize, role: impl Into<OsString>) -> Result<()> {
    let role = role.into();
    let mut children = Vec::new();
    for _ in 0..count {
        let mut command = again(test, role.clone())?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        children.push(command.spawn()?);
    }
    for child in children {
        has_passed(&child.wait_with_output()?)?;
    }
    Ok(())
}

/// What this process holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Mappings of memory.
    pub mappings: usize,
}

impl Held {
    /// What it holds now.
    pub fn now() -> Result<Self> {
        Ok(Self {
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            threads: fs::read_dir("/proc/self/task")?.count(),
            mappings: fs::read_to_string("/proc/self/maps")?.lines().count(),
        })
    }

    /// Proves that it holds no more than `before`, but for a few that come and go by
    /// themselves: threads for blocking work, and what their stacks need.
    pub fn assert_not_grown(before: Self) -> Result<()> {
        const FEW: usize = 12;
        let now = Self::now()?;
        ensure!(
            now.descriptors <= before.descriptors
                && now.threads <= before.threads + FEW
                && now.mappings <= before.mappings + 4 * FEW,
            "before: {before:?}, now: {now:?}"
        );
        Ok(())
    }
}

/// What this process has open in a folder: files and the folder itself.
pub fn open_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for handle in fs::read_dir("/proc/self/fd")? {
        // A handle may be gone before it is looked at.
        if let Ok(target) = fs::read_link(handle?.path())
            && target.starts_with(folder)
        {
            found.push(target);
        }
    }
    Ok(found)
}
