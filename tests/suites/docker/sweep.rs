//! What a host that was killed leaves behind goes when the next one starts; what belongs
//! to a host that lives stays.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::model::Event;
use prx_host::{Execution, Program, RuntimeAdapter as _};
use prx_tests::containers::{LONG, Yard};
use prx_tests::process;

/// A host of its own that runs something endless. Killed when dropped.
struct Host {
    child: Child,
}

impl Host {
    /// Starts one with that variable for a name, and waits until its command has begun.
    fn start(name: &str, yard: &Yard) -> Result<Self> {
        let mut command: Command = process::again(&another_host, name.into())?;
        // Killed, it can not remove its folder itself.
        command.env("TMPDIR", yard.beside(""));
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let said = child.stdout.take().context("a pipe")?;
        let host = Self { child };
        for line in BufReader::new(said).lines() {
            if line?.ends_with("begun") {
                return Ok(host);
            }
        }
        anyhow::bail!("the other host ended before its command began")
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// The other host; by itself it does nothing.
#[test]
fn another_host() -> Result<()> {
    let Some(name) = process::role() else {
        return Ok(());
    };
    let name = name.to_string_lossy().into_owned();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let yard = Yard::new()?;
        let adapter = yard.adapter().await?;
        let variables = HashMap::from([("PRX_NAME".to_owned(), name)]);
        let mut execution =
            Execution::new(Program::Shell("echo begun; sleep 1000"), &variables, LONG);
        execution.events = Some(Arc::new(|event| {
            if matches!(event, Event::Stdout(_)) {
                println!("begun");
            }
        }));
        adapter.run(execution).await?;
        Ok(())
    })
}

/// The names of other hosts whose containers are there.
async fn names(yard: &Yard) -> Result<Vec<String>> {
    let client = prx_tests::containers::client(&yard.socket)?;
    let mut names = Vec::new();
    for container in prx_tests::containers::list(&yard.socket).await? {
        let id = container.id.context("an id")?;
        // Others come and go meanwhile.
        let Ok(found) = client.inspect_container(&id, None).await else {
            continue;
        };
        let env = found
            .config
            .and_then(|config| config.env)
            .unwrap_or_default();
        let name = env.iter().find_map(|pair| pair.strip_prefix("PRX_NAME="));
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

#[tokio::test]
async fn only_what_hosts_left_that_are_gone_is_swept() -> Result<()> {
    let yard = Yard::new()?;
    let own = format!("{}", std::process::id());
    let name = |which: &str| format!("{which}-{own}");
    let ours = async || -> Result<Vec<String>> {
        let mut names = names(&yard).await?;
        names.retain(|name| name.ends_with(&format!("-{own}")));
        Ok(names)
    };
    let mut killed = Host::start(&name("killed"), &yard)?;
    let mut living = Host::start(&name("living"), &yard)?;
    assert_eq!(ours().await?, [name("killed"), name("living")]);

    yard.adapter().await?;
    assert_eq!(ours().await?.len(), 2, "both hosts live");

    killed.kill()?;
    let adapter = yard.adapter().await?;
    // Hosts of other tests sweep as well: what one of them is removing is there a while longer.
    let left_are = async |expected: Vec<String>| -> Result<()> {
        let began = std::time::Instant::now();
        while ours().await? != expected {
            ensure!(began.elapsed() < LONG, "not swept: {:?}", ours().await?);
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        Ok(())
    };
    left_are(vec![name("living")]).await?;

    living.kill()?;
    drop(adapter);
    ensure!(ours().await?.len() == 1, "nobody has started since");
    yard.adapter().await?;
    left_are(Vec::new()).await?;
    Ok(())
}
