//! Whether a container was killed for its memory. Docker hears of that and of the end of the
//! container on two ways, and says of an end that came first that it was any kill.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bollard::errors::Error;
use bollard::query_parameters::EventsOptionsBuilder;
use futures::StreamExt as _;
use serde::Deserialize;
use tokio::time::timeout;

use super::connect::Connection;
use super::engine::Kind;
use super::plain;

/// The code of a command that SIGKILL ended.
const KILLED: i64 = 128 + 9;

/// How long the news may be late.
const LATE: Duration = Duration::from_secs(1);

/// What an engine says of a container that has ended.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct State {
    pub exit_code: i64,
    #[serde(rename = "OOMKilled")]
    oom_killed: Option<bool>,
}

impl State {
    /// Bollard reads none of which Docker has no word, and Podman calls a container `stopped`
    /// until it has cleared away.
    pub async fn of(connection: &Connection, name: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Inspected {
            state: State,
        }
        let path = format!("/v{}/containers/{name}/json", connection.engine.api);
        let inspected: Inspected = plain::get(&connection.address, &path).await?;
        Ok(inspected.state)
    }
}

/// What a container's end tells about its memory. Asks again only after a SIGKILL.
pub(super) async fn ran_out(
    connection: &Connection,
    name: &str,
    state: &State,
    began: SystemTime,
) -> bool {
    if state.oom_killed == Some(true) {
        return true;
    }
    if connection.engine.kind == Kind::Podman || state.exit_code != KILLED {
        return false;
    }
    let filters = HashMap::from([("container", vec![name]), ("event", vec!["oom"])]);
    let options = EventsOptionsBuilder::new()
        .since(&seconds(began))
        .until(&seconds(SystemTime::now() + LATE))
        .filters(&filters)
        .build();
    let mut events = connection.client.events(Some(options));
    // The engine ends the answer by itself, at the latest when `LATE` and what rounding
    // adds have passed.
    let first = timeout(3 * LATE, events.next()).await;
    matches!(first, Ok(Some(Ok(_))))
}

fn seconds(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs().to_string()
}
