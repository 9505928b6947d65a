//! `backend = "auto"` without Docker: modules run as modules, and whatever is none runs on
//! this machine as if there were no modules.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use anyhow::Result;
use prx_host::config::Environment;
use prx_host::create_runtime_in;
use prx_tests::commands::{printed, said};

use super::{COMMAND, stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_module_runs_on_this_machine_whatever_its_name_is() -> Result<()> {
    let stage = stage()?
        .runtime("workspace = \".\"")
        .entries("[security.sandbox]\nbackend = \"none\"");
    let environment = Environment::new(stage.root())
        .with("HOME", stage.root())
        .with("PATH", "/usr/bin:/bin")
        .with("DOCKER_HOST", "unix:///no/such/engine.sock");
    let adapter = create_runtime_in(&stage.config()?, &environment).await?;
    let nothing = HashMap::new();
    let minute = Duration::from_mins(1);

    assert_eq!(printed(&*adapter, COMMAND, &[]).await?, "1\n");
    assert_eq!(printed(&*adapter, "/bin/echo", &["a"]).await?, "a\n");

    let folder = stage.folder("not/granted")?;
    let in_folder = adapter.execute("pwd", &[], &nothing, Some(&folder), minute);
    let heard = said("pwd", &in_folder.await?)?;
    assert_eq!(heard.trim_end(), folder.display().to_string());

    let long = format!("echo {}", "x".repeat(300));
    let output = adapter.execute(&long, &[], &nothing, None, minute).await?;
    assert_eq!(said("echo", &output)?.trim_end(), "x".repeat(300));

    let script = stage.path("script");
    fs::write(&script, "echo up")?;
    let below = stage.folder("below")?;
    let args = ["../script".to_owned()];
    let output = adapter
        .execute("sh", &args, &nothing, Some(&below), minute)
        .await?;
    assert_eq!(said("sh", &output)?, "up\n");
    let line = adapter.execute(". ../script", &[], &nothing, Some(&below), minute);
    assert_eq!(said(". ../script", &line.await?)?, "up\n");
    Ok(())
}
