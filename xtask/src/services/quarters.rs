//! A small machine within this one, for an engine that is not the usual one: processes and a
//! network of its own, and an ordinary user whom nobody outside knows. No account of this
//! machine is made or changed, and whatever runs in it ends with it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::started::Started;

/// The ordinary user, and the first of the users that belong to that one.
const USER: &str = "prx-test";
const USER_ID: u32 = 61_234;
const OTHERS: u32 = 1_000_000_000;

/// Where services in it are found, also by an engine with a loopback of its own.
pub const ADDRESS: &str = "10.213.251.1";

/// How long it may take to be there.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes it: arguments are the folder and the address.
const INIT: &str = r#"set -e
for name in passwd group subuid subgid; do mount --bind "$1/$name" "/etc/$name"; done
mount -t tmpfs -o mode=1777 shm /dev/shm
ip link set lo up
ip address add "$2/32" dev lo
touch "$1/ready"
exec catatonit -P"#;

/// Whose commands run in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Root,
    Ordinary,
}

/// A running one.
pub struct Quarters {
    folder: PathBuf,
    /// Who runs tests.
    who: Who,
    /// The process that holds it together.
    init: u32,
    #[allow(dead_code, reason = "held for its end")]
    machine: Started,
}

impl Quarters {
    /// Makes one in an empty folder, which everybody on the way to may pass through.
    pub fn new(folder: &Path, who: Who) -> Result<Self> {
        let accounts = [
            (
                "passwd",
                format!(
                    "{USER}:x:{USER_ID}:{USER_ID}::{}/home:/bin/sh\n",
                    folder.display()
                ),
            ),
            ("group", format!("{USER}:x:{USER_ID}:\n")),
            ("subuid", format!("{USER}:{OTHERS}:65536\n")),
            ("subgid", format!("{USER}:{OTHERS}:65536\n")),
        ];
        for (name, line) in accounts {
            let there = fs::read_to_string(Path::new("/etc").join(name));
            let there = there.with_context(|| format!("`/etc/{name}` can not be read"))?;
            fs::write(folder.join(name), there + &line)?;
        }
        for name in ["home", "run", "stages"] {
            let path = folder.join(name);
            fs::create_dir(&path)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
            if who == Who::Ordinary {
                chown(&path, Some(USER_ID), Some(USER_ID))?;
            }
        }
        let arguments = [
            "--mount",
            "--pid",
            "--net",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ];
        let arguments = arguments.map(str::to_owned).into_iter().chain([
            "sh".to_owned(),
            "-c".to_owned(),
            INIT.to_owned(),
            "init".to_owned(),
            folder.display().to_string(),
            ADDRESS.to_owned(),
        ]);
        let arguments: Vec<_> = arguments.collect();
        // It takes no other signal; what it started ends with it.
        let log = folder.join("log");
        let mut machine = Started::with_last("KILL", "unshare", &arguments, &log)?;
        machine.until(|| folder.join("ready").exists())?;
        Ok(Self {
            folder: folder.to_owned(),
            who,
            init: only_child(machine.id())?,
            machine,
        })
    }

    /// A file or folder of its own.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The words before a command that is to run in it, with no variables but these.
    fn words(&self, who: Who, variables: &[(&str, String)]) -> Vec<String> {
        let mut words: Vec<String> = vec![
            "nsenter".into(),
            format!("--target={}", self.init),
            "--mount".into(),
            "--pid".into(),
            "--net".into(),
            "--wd=/".into(),
            "--".into(),
        ];
        if who == Who::Ordinary {
            words.extend([
                "setpriv".into(),
                format!("--reuid={USER_ID}"),
                format!("--regid={USER_ID}"),
                "--clear-groups".into(),
                "--".into(),
            ]);
        }
        words.extend(["env".into(), "-i".into()]);
        let own = [
            ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin".to_owned()),
            ("HOME", self.at("home").display().to_string()),
            ("XDG_RUNTIME_DIR", self.at("run").display().to_string()),
            ("USER", USER.to_owned()),
        ];
        let all = own.iter().chain(variables);
        words.extend(all.map(|(name, value)| format!("{name}={value}")));
        words
    }

    /// Starts a service in it. What that says goes to a file of its own.
    pub fn start(
        &self,
        who: Who,
        log: &str,
        variables: &[(&str, String)],
        command: &[String],
    ) -> Result<Started> {
        let words = self.words(who, variables);
        let words: Vec<_> = words.iter().skip(1).chain(command).cloned().collect();
        Started::new("nsenter", &words, &self.at(log))
    }

    /// Whether a command in it succeeds.
    pub fn succeeds(&self, command: &[&str]) -> bool {
        let words = self.words(Who::Root, &[]);
        let mut run = Command::new(&words[0]);
        run.args(&words[1..]).args(command);
        crate::command::quietly(&mut run).is_ok()
    }

    /// A program that runs another in it, as `cargo` runs tests by one: a copy of it, since
    /// nobody else may look into the folder where it was built.
    pub fn runner(&self, variables: &[(&str, String)]) -> Result<PathBuf> {
        let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
        let words = self.words(self.who, variables);
        let words: Vec<_> = words.iter().map(quoted).collect();
        let copy = quoted(&self.at("test").display().to_string());
        let script = format!(
            "#!/bin/sh\nset -e\nrm -f {copy}\ncp \"$1\" {copy}\nchmod 755 {copy}\nshift\nexec {} {copy} \"$@\"\n",
            words.join(" ")
        );
        let path = self.at("runner");
        fs::write(&path, script)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }
}

impl Drop for Quarters {
    fn drop(&mut self) {
        // With it the system ends everything in here, and then `unshare` ends.
        let init = self.init.to_string();
        if let Err(error) = crate::command::quietly(Command::new("kill").args(["-KILL", &init])) {
            eprintln!("warning: {error:#}");
        }
    }
}

/// The one process that another has started.
fn only_child(parent: u32) -> Result<u32> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))?;
        if let Some(child) = children.split_whitespace().next() {
            return Ok(child.parse()?);
        }
        thread::sleep(Duration::from_millis(10));
    }
    bail!("`unshare` started nothing")
}
