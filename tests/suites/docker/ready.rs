//! Images that are missing while none is pulled: said before somebody calls, and never at the
//! price of waiting for ever.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use prx_host::{Host, NotReady};
use prx_tests::containers::{Kind, LONG, Yard};

/// What could not be called.
async fn not_ready(yard: &Yard) -> Result<Vec<NotReady>> {
    let builder = Host::builder(yard.config()?).environment(yard.environment());
    let host = Box::pin(builder.open()).await?;
    let asked = tokio::time::timeout(LONG, host.not_ready(&host.snapshot())).await;
    asked.context("it hangs")
}

/// A tool of each way to name an image; `there` has one that is there.
fn yard(pulls: bool) -> Result<Yard> {
    let mut yard = Yard::new()?;
    let there = std::mem::replace(&mut yard.image, "prx-test/standard:1".to_owned());
    yard.docker = format!(
        "auto_pull = {pulls}\n\
         [runtime.docker.tool_images]\nnamed = \"prx-test/named:1\"\nthere = \"prx-test/not-this:1\"\n\
         [tools.custom.own]\ntype = \"docker\"\ncommand = \"true\"\nimage = \"prx-test/own:1\"\n\
         [tools.custom.named]\ntype = \"docker\"\ncommand = \"true\"\n\
         [tools.custom.standard]\ntype = \"docker\"\ncommand = \"true\"\n\
         [tools.custom.there]\ntype = \"docker\"\ncommand = \"true\"\nimage = {there:?}\n"
    );
    Ok(yard)
}

#[tokio::test]
async fn a_missing_image_that_is_not_pulled_is_said_with_the_command_that_gets_it() -> Result<()> {
    let missing = not_ready(&yard(false)?).await?;
    let tools: Vec<&str> = missing.iter().map(|one| one.tool.as_str()).collect();
    assert_eq!(tools, ["named", "own", "standard"]);
    let program = Kind::given()?.program();
    for NotReady {
        tool, reason, help, ..
    } in &missing
    {
        let image = format!("prx-test/{tool}:1");
        ensure!(reason.contains(&image), "{reason}");
        ensure!(reason.contains("runtime.docker.auto_pull"), "{reason}");
        assert_eq!(help.as_deref(), Some(&*format!("{program} pull {image}")));
    }
    assert_eq!(not_ready(&yard(true)?).await?, []);
    Ok(())
}

#[tokio::test]
async fn a_sandbox_of_containers_has_its_own_image() -> Result<()> {
    let sandboxed = |image: &str| -> Result<Yard> {
        Yard::with(&format!(
            "auto_pull = false\n[security.sandbox]\nbackend = \"docker\"\n\
             [security.sandbox.docker]\nimage = {image:?}\n\
             [tools.custom.boxed]\ntype = \"native\"\ncommand = \"true\"\n"
        ))
    };
    let missing = not_ready(&sandboxed("prx-test/box:1")?).await?;
    ensure!(missing.len() == 1, "{missing:?}");
    ensure!(missing[0].reason.contains("prx-test/box:1"), "{missing:?}");
    let there = Yard::new()?.image;
    assert_eq!(not_ready(&sandboxed(&there)?).await?, []);
    Ok(())
}

/// The engine behind another socket, where it says nothing of its images.
fn silent_about_images(at: &Path, engine: PathBuf) -> Result<()> {
    let listener = UnixListener::bind(at)?;
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(upstream) = UnixStream::connect(&engine) else {
                return;
            };
            std::thread::spawn(move || forward(client, upstream));
        }
    });
    Ok(())
}

fn forward(mut client: UnixStream, mut engine: UnixStream) {
    if let (Ok(mut from), Ok(mut to)) = (engine.try_clone(), client.try_clone()) {
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    }
    let mut request = [0; 4096];
    while let Ok(length @ 1..) = client.read(&mut request) {
        let request = &request[..length];
        let is_of_image = String::from_utf8_lossy(request).contains("/images/");
        if !is_of_image && engine.write_all(request).is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn an_engine_that_does_not_tell_of_its_images_is_asked_once_and_not_waited_for() -> Result<()>
{
    let mut yard = yard(false)?;
    let silent = yard.beside("silent.sock");
    silent_about_images(&silent, std::mem::replace(&mut yard.socket, silent.clone()))?;
    let missing = not_ready(&yard).await?;
    assert_eq!(missing.len(), 4, "{missing:?}");
    for one in &missing {
        ensure!(
            one.reason.contains("does not tell of its images"),
            "{one:?}"
        );
        ensure!(one.help.is_some(), "{one:?}");
    }
    Ok(())
}
