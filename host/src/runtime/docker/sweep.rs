//! At the start of a host: containers of hosts that ended without removing them.
//!
//! Invariant: the containers of a host that may be alive are not touched.

use std::collections::HashMap;

use bollard::errors::Error;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use super::connect::Connection;
use super::engine::Kind;
use super::faults::said;
use super::plain;
use super::process::{INSTANCE, KEPT, is_abandoned};
use super::remove::{Disposed, Leftover};

/// A container of a host.
#[derive(Debug, Deserialize)]
struct Found {
    #[serde(rename = "Id")]
    id: String,
    #[serde(rename = "Labels")]
    labels: Option<HashMap<String, String>>,
    /// Of Podman these are more words than of Docker.
    #[serde(rename = "State")]
    state: String,
}

/// Removes what is abandoned. What can not be removed now waits for the next host.
pub(super) async fn sweep(connection: &Connection) -> Result<usize, Error> {
    let mut swept = 0;
    for container in of_hosts(connection).await? {
        let labels = container.labels.unwrap_or_default();
        if !is_abandoned(&labels) {
            continue;
        }
        let leftover = Leftover {
            name: container.id,
            seen: true,
            kept: labels.contains_key(KEPT),
            may_return: false,
        };
        // One that stays is only to be ended.
        if leftover.kept && container.state != "running" {
            continue;
        }
        match leftover.dispose(&connection.client).await {
            Ok(Disposed::Now) => swept += 1,
            Ok(Disposed::Before) => {}
            Err(error) => {
                tracing::warn!(container = leftover.name, error = said(&error), "not swept");
            }
        }
    }
    if swept > 0 {
        tracing::info!(
            containers = swept,
            "swept what hosts that are gone left behind"
        );
    }
    Ok(swept)
}

/// The containers of all hosts. Podman is asked in its own words: in Docker's it refuses to
/// list any container as long as there is one that it lost half of.
async fn of_hosts(connection: &Connection) -> Result<Vec<Found>, Error> {
    let root = match connection.engine.kind {
        Kind::Docker => format!("/v{}", connection.engine.api),
        Kind::Podman => plain::PODMAN.to_owned(),
    };
    let ours = format!(r#"{{"label":["{INSTANCE}"]}}"#);
    let ours = utf8_percent_encode(&ours, NON_ALPHANUMERIC);
    let path = format!("{root}/containers/json?all=true&filters={ours}");
    plain::get(&connection.address, &path).await
}
