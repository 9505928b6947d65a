//! What running hosts tell others on this machine of themselves: which versions they
//! serve, since when, what is wrong, and how much is called. For `list`, `doctor` and
//! `watch`, which are processes of their own.
//!
//! Each host that follows its files keeps one small file in the folder of this user's
//! state, wherever its configuration stands: it is found although that is broken now.
//! Nothing of a call stands in it.

mod file;
mod keep;
mod notice;

use std::path::{Path, PathBuf};

use file::Publisher;
pub(crate) use keep::keep;
pub use notice::{Notice, NoticeFault, NoticeServing, NoticeTool};

use crate::config::Environment;

/// Where the hosts of a user meet; `None`: there is no home folder.
fn folder(environment: &Environment) -> Option<PathBuf> {
    Some(environment.xdg("XDG_STATE_HOME")?.join("openprx/hosts"))
}

/// The hosts of this user that are running on a configuration file (`None`: on none) and
/// follow their files, oldest first. A host that ended without saying so is not among
/// them. What can not be read is left out: this is for people, and never a reason to fail.
pub fn running_hosts(environment: &Environment, config: Option<&Path>) -> Vec<Notice> {
    let Some(folder) = folder(environment) else {
        return Vec::new();
    };
    let wanted = config.map(name_of);
    let mut all = file::read_all(&folder);
    all.retain(|notice| notice.config == wanted);
    all.sort_by(|one, two| (&one.started, one.pid).cmp(&(&two.started, two.pid)));
    all
}

/// A file by the path that has no links in it, if it is there.
fn name_of(file: &Path) -> String {
    let real = file.canonicalize();
    real.as_deref().unwrap_or(file).display().to_string()
}
