//! Saying what a host is, for as long as it follows its files.

use std::time::{Duration, SystemTime};

use tokio::time::timeout;

use super::{Notice, Publisher, folder, name_of};
use crate::host::WeakHost;

/// How often the numbers of calls are told.
const PACE: Duration = Duration::from_secs(1);

/// Tells each change at once, and what was called once in a second. Ends with the host.
pub(crate) async fn keep(host: WeakHost) {
    let opened = SystemTime::now();
    let Some((mut changes, folder)) = host
        .upgrade()
        .map(|host| (host.changes(), folder(host.environment())))
    else {
        return;
    };
    let Some(folder) = folder else {
        return;
    };
    let publisher = tokio::task::spawn_blocking(move || Publisher::new(&folder)).await;
    let mut publisher = match publisher {
        Ok(Ok(publisher)) => publisher,
        Ok(Err(error)) => {
            tracing::debug!(%error, "others are not told of this host");
            return;
        }
        Err(_) => return,
    };
    loop {
        let of = host.clone();
        let telling = tokio::task::spawn_blocking(move || {
            let told = publisher.say(notice(&of, opened)?);
            Some((publisher, told))
        });
        let Ok(Some((back, told))) = telling.await else {
            return;
        };
        publisher = back;
        if let Err(error) = told {
            tracing::debug!(%error, "others are not told of a change");
        }
        if let Ok(Err(_)) = timeout(PACE, changes.changed()).await {
            // The host is gone.
            return;
        }
    }
}

/// What there is to say; `None`: the host is gone. Looks at the file system.
fn notice(host: &WeakHost, opened: SystemTime) -> Option<Notice> {
    let host = host.upgrade()?;
    let config = host.config();
    let file = config.file.as_deref().map(name_of);
    let latest = host.changes().borrow().clone();
    Some(Notice::of(opened, file, &host.snapshot(), &latest))
}
