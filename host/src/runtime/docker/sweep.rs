//! At the start of a host: containers of hosts that ended without removing them.
//!
//! Invariant: the containers of a host that may be alive are not touched.

use std::collections::HashMap;

use bollard::Docker;
use bollard::errors::Error;
use bollard::models::ContainerSummaryStateEnum;
use bollard::query_parameters::ListContainersOptionsBuilder;

use super::faults::said;
use super::process::{INSTANCE, KEPT, is_abandoned};
use super::remove::{Disposed, Leftover};

/// Removes what is abandoned. What can not be removed now waits for the next host.
pub(super) async fn sweep(client: &Docker) -> Result<usize, Error> {
    let ours = HashMap::from([("label", vec![INSTANCE])]);
    let options = ListContainersOptionsBuilder::new().all(true).filters(&ours);
    let mut swept = 0;
    for container in client.list_containers(Some(options.build())).await? {
        let Some(name) = container.id else { continue };
        let labels = container.labels.unwrap_or_default();
        if !is_abandoned(&labels) {
            continue;
        }
        let leftover = Leftover {
            name,
            seen: true,
            kept: labels.contains_key(KEPT),
        };
        // One that stays is only to be ended.
        if leftover.kept && container.state != Some(ContainerSummaryStateEnum::RUNNING) {
            continue;
        }
        match leftover.dispose(client).await {
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
