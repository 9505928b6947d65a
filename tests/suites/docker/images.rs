//! Images that are there, that are pulled, and that can not be had.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bollard::query_parameters::RemoveImageOptions;
use prx_host::model::Event;
use prx_host::{Ending, Execution, Program, RuntimeAdapter as _, RuntimeError};
use prx_tests::containers::{self, Kind, LONG, Yard, printed};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_missing_image_is_pulled_once_with_progress_and_not_on_the_calls_time() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.image = containers::image_in_registry()?;
    let client = containers::client(&yard.socket)?;
    let _ = client
        .remove_image(&yard.image, None::<RemoveImageOptions>, None)
        .await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listening = heard.clone();
    let adapter = yard
        .adapter()
        .await?
        .with_pull_listener(Arc::new(move |progress| {
            let mut heard = listening.lock().expect("nobody panics");
            heard.push((
                progress.image.to_owned(),
                progress.status.to_owned(),
                progress.finished,
            ));
        }));
    let none = HashMap::new();
    let calls = (0..3).map(|_| adapter.execute("echo pulled", &[], &none, None, LONG));
    for output in futures::future::join_all(calls).await {
        assert_eq!(printed(&output?)?, "pulled\n");
    }
    let heard = std::mem::take(&mut *heard.lock().expect("nobody panics"));
    let finished = heard.iter().filter(|(_, _, finished)| *finished).count();
    assert_eq!(finished, 1, "three calls share one pull: {heard:?}");
    assert!(heard.len() > 2, "{heard:?}");
    assert!(
        heard.iter().all(|(image, _, _)| *image == yard.image),
        "{heard:?}"
    );

    // Who listens to a call hears of the pull it waits for, too. An image that a container has
    // can not be removed.
    yard.emptied().await?;
    client
        .remove_image(&yard.image, None::<RemoveImageOptions>, None)
        .await?;
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = told.clone();
    let mut execution = Execution::new(Program::Shell("echo again"), &none, LONG);
    execution.events = Some(Arc::new(move |event| {
        if let Event::Progress(progress) = event {
            let message = progress.message.unwrap_or_default().to_owned();
            telling.lock().expect("nobody panics").push(message);
        }
    }));
    let output = yard.adapter().await?.run(execution).await?;
    assert_eq!(printed(&output)?, "again\n");
    let told = told.lock().expect("nobody panics");
    assert!(!told.is_empty(), "nothing was told");
    assert!(
        told.iter().all(|message| message.contains(&yard.image)),
        "{told:?}"
    );
    Ok(())
}

#[tokio::test]
async fn without_pulling_a_missing_image_is_an_error_with_the_command_that_gets_it() -> Result<()> {
    let yard = Yard::with("auto_pull = false\n")?;
    let adapter = yard.adapter().await?.with_image("prx-test/missing:1");
    let none = HashMap::new();
    let error = adapter
        .execute("true", &[], &none, None, LONG)
        .await
        .expect_err("missing");
    ensure!(matches!(error, RuntimeError::Image { .. }), "{error:?}");
    assert!(
        error.to_string().contains("runtime.docker.auto_pull"),
        "{error}"
    );
    assert_eq!(
        error.help().as_deref(),
        Some(&*format!(
            "{} pull prx-test/missing:1",
            Kind::given()?.program()
        ))
    );
    let error = adapter.ensure_image().await.expect_err("missing");
    ensure!(matches!(error, RuntimeError::Image { .. }), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn an_image_that_no_registry_has_is_an_error_and_the_next_call_asks_again() -> Result<()> {
    let yard = Yard::new()?;
    let missing = containers::image_in_registry()?.replace("busybox", "missing");
    let adapter = yard.adapter().await?.with_image(&missing);
    let none = HashMap::new();
    for _ in 0..2 {
        let error = adapter
            .execute("true", &[], &none, None, LONG)
            .await
            .expect_err("missing");
        ensure!(matches!(error, RuntimeError::Image { .. }), "{error:?}");
        assert!(error.to_string().contains("could not be pulled"), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_call_can_be_cancelled_while_a_registry_says_nothing() -> Result<()> {
    // Takes connections and never answers, where the engine finds registries.
    let registry = containers::image_in_registry()?;
    let (host, _) = registry.split_once(':').context("a port")?;
    let silent = tokio::net::TcpListener::bind((host, 0)).await?;
    let image = format!("{}/prx-test/never:1", silent.local_addr()?);
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?.with_image(&image);
    let token = CancellationToken::new();
    let none = HashMap::new();
    let mut execution = Execution::new(Program::Shell("true"), &none, Duration::from_secs(1));
    execution.cancel = Some(&token);
    let asked = async {
        let connection = tokio::time::timeout(LONG, silent.accept()).await;
        token.cancel();
        connection
    };
    let (output, connection) = tokio::join!(adapter.run(execution), asked);
    connection.context("nobody asked")??;
    assert_eq!(output?.ending, Ending::Cancelled);
    Ok(())
}

#[tokio::test]
async fn a_tool_can_have_an_image_of_its_own() -> Result<()> {
    let mut yard = Yard::with("auto_pull = false\n")?;
    let there = std::mem::replace(&mut yard.image, "prx-test/missing:1".into());
    let adapter = yard.adapter().await?.with_image(&there);
    let none = HashMap::new();
    assert!(
        adapter
            .execute("true", &[], &none, None, LONG)
            .await?
            .is_success()
    );
    Ok(())
}
