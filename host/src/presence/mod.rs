//! What running hosts tell others on this machine of themselves: which versions they
//! serve, since when, what is wrong, and how much is called. For `list`, `doctor` and
//! `watch`, which are processes of their own.
//!
//! Each host that follows its files keeps one small file beside the state of its skills,
//! where hosts of the same configuration meet. Nothing of a call stands in it.

mod file;
mod keep;
mod notice;

use std::path::PathBuf;

use file::Publisher;
pub(crate) use keep::keep;
pub use notice::{Notice, NoticeFault, NoticeServing, NoticeTool};

use crate::config::Config;

/// Where the hosts of a configuration meet.
fn folder(config: &Config) -> PathBuf {
    config.runtime.wasm.state_path.value.join(".hosts")
}

/// The hosts of this configuration that are running and follow their files, oldest first.
/// A host that ended without saying so is not among them. What can not be read is left
/// out: this is for people, and never a reason to fail.
pub fn running_hosts(config: &Config) -> Vec<Notice> {
    let mut all = file::read_all(&folder(config));
    all.sort_by(|one, two| (&one.started, one.pid).cmp(&(&two.started, two.pid)));
    all
}
