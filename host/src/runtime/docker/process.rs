//! The host process that a container belongs to, as labels of the container: how a later
//! host finds out that nobody looks after it any more.
//!
//! Invariant: a container whose host may be alive is never said to be abandoned.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// On every container of every host: a number drawn once per process.
pub(super) const INSTANCE: &str = "prx-host.instance";
const PID: &str = "prx-host.pid";
const START_TIME: &str = "prx-host.start-time";
const PID_NAMESPACE: &str = "prx-host.pid-namespace";
const BOOT: &str = "prx-host.boot-id";
/// When the call must be over, in seconds since 1970.
const DEADLINE: &str = "prx-host.deadline";
/// On a container that stays for inspection.
pub(super) const KEPT: &str = "prx-host.kept";

/// How long after its deadline a container of a host that can not be looked at, since it
/// runs in another container or on another machine, counts as abandoned. Its own host
/// would have removed it, clocks that differ included.
const GRACE: Duration = Duration::from_hours(1);

/// What tells this process from all others, also from a later one with the same id.
struct HostProcess {
    pid: u32,
    instance: String,
    /// Empty where the system does not tell.
    start_time: String,
    pid_namespace: String,
    boot: String,
}

impl HostProcess {
    fn current() -> &'static Self {
        static CURRENT: OnceLock<HostProcess> = OnceLock::new();
        CURRENT.get_or_init(|| Self {
            pid: std::process::id(),
            instance: format!("{:016x}", RandomState::new().build_hasher().finish()),
            start_time: stat("self").map_or_else(String::new, |stat| stat.start_time),
            pid_namespace: pid_namespace(),
            boot: boot(),
        })
    }
}

/// A name that no other container has or had, whichever adapter of this process asks.
pub(super) fn new_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("prx-host-{}-{number}", HostProcess::current().instance)
}

/// The labels of a container for a call that ends by `timeout`.
pub(super) fn labels(timeout: Duration, kept: bool) -> HashMap<String, String> {
    let process = HostProcess::current();
    let now = seconds_since_1970();
    let mut labels = HashMap::from([
        (INSTANCE.to_owned(), process.instance.clone()),
        (PID.to_owned(), process.pid.to_string()),
        (START_TIME.to_owned(), process.start_time.clone()),
        (PID_NAMESPACE.to_owned(), process.pid_namespace.clone()),
        (BOOT.to_owned(), process.boot.clone()),
        (
            DEADLINE.to_owned(),
            now.saturating_add(timeout.as_secs()).to_string(),
        ),
    ]);
    if kept {
        labels.insert(KEPT.to_owned(), "true".to_owned());
    }
    labels
}

/// Whether the host process of a container is certainly gone.
pub(super) fn is_abandoned(labels: &HashMap<String, String>) -> bool {
    let label = |name| labels.get(name).map_or("", String::as_str);
    let process = HostProcess::current();
    let visible = !process.boot.is_empty()
        && !process.pid_namespace.is_empty()
        && label(BOOT) == process.boot
        && label(PID_NAMESPACE) == process.pid_namespace;
    if visible {
        // Its deadline says nothing here: a clock may jump, and a machine may sleep while
        // the host's own clock stands still.
        return is_gone(label(PID), label(START_TIME));
    }
    let deadline = label(DEADLINE).parse::<u64>();
    deadline.is_ok_and(|at| seconds_since_1970() > at.saturating_add(GRACE.as_secs()))
}

fn is_gone(pid: &str, start_time: &str) -> bool {
    let Some(id) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    match rustix::process::test_kill_process(id) {
        Err(rustix::io::Errno::SRCH) => true,
        // It is there, whoever's it is. A system may hide what else is to be known of it.
        Ok(()) | Err(_) => stat(pid).is_some_and(|stat| {
            !start_time.is_empty() && (stat.start_time != start_time || stat.has_ended)
        }),
    }
}

struct Stat {
    start_time: String,
    /// Dead, but its parent has not asked yet.
    has_ended: bool,
}

/// Fields 3 and 22 of `/proc/<pid>/stat`, counted after the name, which may hold anything.
fn stat(pid: &str) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let start_time = fields.nth(18)?.to_owned();
    Some(Stat {
        start_time,
        has_ended,
    })
}

fn pid_namespace() -> String {
    fs::read_link("/proc/self/ns/pid")
        .map(|link| link.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn with(mut labels: HashMap<String, String>, name: &str, value: &str) -> bool {
        labels.insert(name.to_owned(), value.to_owned());
        is_abandoned(&labels)
    }

    #[test]
    fn a_container_of_this_process_is_not_abandoned() {
        assert!(!is_abandoned(&labels(Duration::from_secs(1), false)));
    }

    #[test]
    fn a_host_that_ended_is_gone_even_before_its_parent_asks() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .spawn()
            .expect("a child");
        let pid = child.id().to_string();
        let start_time = stat(&pid).expect("the system tells").start_time;
        let mut labels = labels(Duration::from_secs(1), false);
        labels.insert(PID.to_owned(), pid);
        labels.insert(START_TIME.to_owned(), start_time);
        assert!(!is_abandoned(&labels));
        drop(child.stdin.take());
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::waitid(
            rustix::process::WaitId::Pid(id),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        )
        .expect("it ends");
        assert!(is_abandoned(&labels), "a zombie looks after nothing");
        child.wait().expect("its end");
        assert!(is_abandoned(&labels));
    }

    #[test]
    fn a_later_process_with_the_same_id_is_another_one() {
        let labels = labels(Duration::from_secs(1), false);
        assert!(with(labels, START_TIME, "1"));
    }

    #[test]
    fn a_host_that_can_not_be_looked_at_has_until_an_hour_after_its_deadline() {
        for unseen in [BOOT, PID_NAMESPACE] {
            let mut labels = labels(Duration::from_secs(1), false);
            labels.insert(unseen.to_owned(), "elsewhere".to_owned());
            labels.insert(START_TIME.to_owned(), "1".to_owned());
            assert!(!is_abandoned(&labels));
            let past = seconds_since_1970() - GRACE.as_secs() - 60;
            assert!(with(labels, DEADLINE, &past.to_string()));
        }
    }

    #[test]
    fn a_host_that_can_be_looked_at_is_believed_more_than_any_deadline() {
        let past = (seconds_since_1970() - 2 * GRACE.as_secs()).to_string();
        let mut labels = labels(Duration::from_secs(1), false);
        labels.insert(DEADLINE.to_owned(), past);
        assert!(!is_abandoned(&labels), "it lives");
        assert!(with(labels, START_TIME, "1"), "it is gone");
    }

    #[test]
    fn labels_that_say_nothing_abandon_nothing() {
        assert!(!is_abandoned(&HashMap::new()));
        assert!(!with(labels(Duration::from_secs(1), false), PID, "many"));
    }
}
