//! Images: whether one is there, and fetching it with progress when it may be.
//!
//! Invariant: one image is fetched once, however many calls wait for it, and for as long
//! as one of them does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::errors::Error;
use bollard::models::CreateImageInfo;
use bollard::query_parameters::CreateImageOptionsBuilder;
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _, Shared, WeakShared};
use serde::Deserialize;
use tokio::time::timeout;

use super::connect::Connection;
use super::engine::Kind;
use super::faults::{is_missing, look_after, said, unavailable};
use super::plain;
use crate::config::Setting;
use crate::model::{Event, EventSink, Progress};
use crate::runtime::{Result, RuntimeError};

/// How long a registry may say nothing.
const SILENCE: Duration = Duration::from_mins(2);

/// How often the log hears of a pull.
const REPORT: Duration = Duration::from_secs(5);

/// Hears how a pull goes on. It must return at once.
pub type PullListener = Arc<dyn Fn(PullProgress<'_>) + Send + Sync>;

/// How far a pull has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullProgress<'a> {
    /// The image.
    pub image: &'a str,
    /// What the engine says it does, for instance `Downloading`.
    pub status: &'a str,
    /// Bytes that have arrived, of all layers that are known so far.
    pub done: u64,
    /// Bytes of all layers whose size is known so far. Grows as layers begin.
    pub total: u64,
    /// The pull is over, and the image is there.
    pub finished: bool,
}

/// Tells the listener of a call how a pull goes on.
pub(super) fn progress_of(events: EventSink) -> PullListener {
    Arc::new(move |progress: PullProgress<'_>| {
        #[allow(clippy::cast_precision_loss, reason = "bytes of an image, for a bar")]
        let (done, total) = (progress.done as f64, progress.total as f64);
        let message = format!("pulling `{}`: {}", progress.image, progress.status);
        events(Event::Progress(Progress {
            done,
            total: (progress.total > 0).then_some(total),
            message: Some(&message),
        }));
    })
}

/// An image that is there.
pub(super) struct Present {
    /// `NAME=value`
    pub env: Vec<String>,
    /// It has a check of its own for the health of what runs.
    pub has_healthcheck: bool,
}

type Pull = BoxFuture<'static, Result<()>>;

/// The pulls that go on.
#[derive(Default)]
pub(super) struct Pulls {
    running: Mutex<HashMap<String, WeakShared<Pull>>>,
}

impl Pulls {
    /// Fetches an image that is not there, if it may be.
    pub async fn fetch(
        &self,
        connection: &Connection,
        image: &str,
        auto_pull: &Setting<bool>,
        listener: Option<&PullListener>,
    ) -> Result<Present> {
        let kind = connection.engine.kind;
        if !auto_pull.value {
            return Err(not_pulled(kind, image, auto_pull));
        }
        let client = &connection.client;
        self.shared(client, kind, image, listener).await?;
        look(connection, image)
            .await?
            .ok_or_else(|| gone(kind, image, "it was pulled, and is gone again"))
    }

    fn shared(
        &self,
        client: &Docker,
        kind: Kind,
        image: &str,
        listener: Option<&PullListener>,
    ) -> Shared<Pull> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, pull| pull.upgrade().is_some());
        let goes_on = running.get(image).and_then(WeakShared::upgrade);
        // One that ended badly is tried anew by the next call.
        if let Some(pull) = goes_on.filter(|pull| pull.peek().is_none()) {
            return pull;
        }
        let new = pull(client.clone(), kind, image.to_owned(), listener.cloned());
        let new = new.boxed().shared();
        if let Some(weak) = new.downgrade() {
            running.insert(image.to_owned(), weak);
        }
        new
    }
}

/// An image that is missing and must not be pulled.
pub(super) fn not_pulled(kind: Kind, image: &str, auto_pull: &Setting<bool>) -> RuntimeError {
    let reason = format!(
        "it is not on this engine, and {} is off",
        auto_pull.origin()
    );
    gone(kind, image, &reason)
}

/// An image that is not there, and could be.
pub(super) fn gone(kind: Kind, image: &str, reason: &str) -> RuntimeError {
    RuntimeError::Image {
        image: image.to_owned(),
        reason: reason.to_owned(),
        help: format!("{} pull {image}", kind.program()),
    }
}

/// The image, if it is there.
pub(super) async fn look(connection: &Connection, image: &str) -> Result<Option<Present>> {
    let kind = connection.engine.kind;
    let found = match kind {
        Kind::Docker => of_docker(connection, image).await,
        Kind::Podman => of_podman(connection, image).await,
    };
    match found {
        Ok(present) => Ok(Some(present)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(unavailable(
            format!("the engine does not tell of its images: {}", said(&error)),
            look_after(kind),
        )),
    }
}

async fn of_docker(connection: &Connection, image: &str) -> Result<Present, Error> {
    let found = connection.client.inspect_image(image).await?;
    let config = found.config.unwrap_or_default();
    Ok(Present {
        env: config.env.unwrap_or_default(),
        has_healthcheck: config.healthcheck.is_some(),
    })
}

/// In Docker's words Podman does not tell of checks.
async fn of_podman(connection: &Connection, image: &str) -> Result<Present, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Found {
        config: Option<Variables>,
        healthcheck: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Variables {
        env: Option<Vec<String>>,
    }
    let path = format!("{}/images/{image}/json", plain::PODMAN);
    let asked = plain::get(&connection.address, &path);
    let found: Found = timeout(SILENCE, asked)
        .await
        .unwrap_or(Err(Error::RequestTimeoutError))?;
    Ok(Present {
        env: found
            .config
            .and_then(|config| config.env)
            .unwrap_or_default(),
        has_healthcheck: found.healthcheck.is_some(),
    })
}

async fn pull(
    client: Docker,
    kind: Kind,
    image: String,
    listener: Option<PullListener>,
) -> Result<()> {
    tracing::info!(image, "pulling");
    let failed = |reason: String| RuntimeError::Image {
        image: image.clone(),
        reason: format!("it could not be pulled: {reason}"),
        help: format!(
            "see that `{} pull {image}` works, or name an image that is there",
            kind.program()
        ),
    };
    let options = CreateImageOptionsBuilder::new().from_image(&with_tag(&image));
    let mut messages = client.create_image(Some(options.build()), None, None);
    let mut layers = Layers::default();
    let mut reported = Instant::now();
    loop {
        let message = timeout(SILENCE, messages.next()).await;
        let message = message
            .map_err(|_| failed(format!("nothing was heard for {} s", SILENCE.as_secs())))?;
        let Some(message) = message else { break };
        let message = message.map_err(|error| failed(said(&error)))?;
        if let Some(error) = message
            .error_detail
            .as_ref()
            .and_then(|it| it.message.clone())
        {
            return Err(failed(error));
        }
        let progress = layers.hear(&image, &message);
        if reported.elapsed() >= REPORT {
            reported = Instant::now();
            tracing::info!(
                image,
                done = progress.done,
                total = progress.total,
                "pulling"
            );
        }
        if let Some(listener) = &listener {
            listener(progress);
        }
    }
    tracing::info!(image, "pulled");
    if let Some(listener) = &listener {
        let (done, total) = layers.sum();
        listener(PullProgress {
            image: &image,
            status: "Pulled",
            done,
            total,
            finished: true,
        });
    }
    Ok(())
}

/// An image without a tag means `latest`; an engine would fetch all tags.
fn with_tag(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains([':', '@']) {
        image.to_owned()
    } else {
        format!("{image}:latest")
    }
}

/// The layers of one pull: bytes that arrived, and bytes that there are.
#[derive(Default)]
struct Layers {
    sizes: HashMap<String, (u64, u64)>,
}

impl Layers {
    fn hear<'a>(&mut self, image: &'a str, message: &'a CreateImageInfo) -> PullProgress<'a> {
        let status = message.status.as_deref().unwrap_or_default();
        let amount = |number: Option<i64>| number.and_then(|it| u64::try_from(it).ok());
        if let Some(id) = &message.id {
            let detail = message.progress_detail.as_ref();
            let current = detail.and_then(|it| amount(it.current));
            let total = detail.and_then(|it| amount(it.total));
            let layer = self.sizes.entry(id.clone()).or_default();
            match (status, current) {
                // Unpacking counts the same bytes a second time.
                ("Downloading", Some(current)) => {
                    *layer = (current, total.unwrap_or(layer.1).max(current));
                }
                ("Download complete" | "Pull complete", _) => layer.0 = layer.1,
                _ => {}
            }
        }
        let (done, total) = self.sum();
        PullProgress {
            image,
            status,
            done,
            total,
            finished: false,
        }
    }

    fn sum(&self) -> (u64, u64) {
        (self.sizes.values()).fold((0, 0), |sum, layer| (sum.0 + layer.0, sum.1 + layer.1))
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn an_image_without_a_tag_is_the_latest() {
        for (image, full) in [
            ("debian", "debian:latest"),
            ("debian:12", "debian:12"),
            ("localhost:5000/box", "localhost:5000/box:latest"),
            ("localhost:5000/box:1", "localhost:5000/box:1"),
            ("box@sha256:00", "box@sha256:00"),
        ] {
            assert_eq!(with_tag(image), full);
        }
    }

    #[test]
    fn progress_is_the_sum_of_the_layers_and_counts_each_byte_once() {
        let mut layers = Layers::default();
        let mut hear = |id: &str, status: &str, current, total| {
            let message = CreateImageInfo {
                id: Some(id.to_owned()),
                status: Some(status.to_owned()),
                progress_detail: Some(ProgressDetail { current, total }),
                ..CreateImageInfo::default()
            };
            let heard = layers.hear("box", &message);
            (heard.done, heard.total)
        };
        assert_eq!(hear("a", "Pulling fs layer", None, None), (0, 0));
        assert_eq!(hear("a", "Downloading", Some(10), Some(100)), (10, 100));
        assert_eq!(hear("b", "Downloading", Some(5), Some(50)), (15, 150));
        assert_eq!(hear("a", "Download complete", None, None), (105, 150));
        assert_eq!(hear("a", "Extracting", Some(30), Some(100)), (105, 150));
    }
}
