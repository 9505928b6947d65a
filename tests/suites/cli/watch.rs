//! `watch`, and what `list` and `doctor` say of hosts that are running.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_host::config::{Config, Environment};
use prx_host::model::{CallOptions, Outcome};
use prx_tests::Versions;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::place::Place;
use crate::terminal::start_at_terminal;

/// Replaces a module as careful programs do.
fn replace(file: &Path, bytes: &[u8]) -> Result<()> {
    let beside = file.with_extension("tmp");
    fs::write(&beside, bytes)?;
    Ok(fs::rename(&beside, file)?)
}

fn place() -> Result<(Place, Versions)> {
    let (place, versions) = (Place::with_guests(&["echo"], "")?, Versions::new()?);
    place.add("skill", &versions.module(1))?;
    Ok((place, versions))
}

/// Asks a process to end, as Ctrl-C does.
fn interrupt(child: &Child) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id())?).context("a process has an id")?;
    Ok(kill_process(pid, Signal::INT)?)
}

#[test]
fn each_change_is_a_line_and_an_interrupt_ends_it_well() -> Result<()> {
    let (place, versions) = place()?;
    let mut child = place
        .command()?
        .args(["watch", "--json"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    let mut next = || -> Result<Value> {
        let line = lines.next().context("it ended")??;
        Ok(serde_json::from_str(&line)?)
    };
    let first = next()?;
    assert_eq!(first["snapshot"], 1);
    assert_eq!(
        first["added"],
        serde_json::json!(["echo", "skill_tell", "skill_wait"])
    );
    replace(&place.module("skill"), &versions.module(2))?;
    let second = next()?;
    assert_eq!(second["snapshot"], 2);
    assert_eq!(
        second["changed"],
        serde_json::json!(["skill_tell", "skill_wait"])
    );
    replace(&place.module("skill"), b"no module")?;
    let third = next()?;
    assert_eq!(third["changed"], serde_json::json!([]));
    assert_eq!(third["broken"][0]["name"], "skill");
    assert_eq!(third["broken"][0]["serving"]["since"]["snapshot"], 2);
    interrupt(&child)?;
    assert_eq!(child.wait()?.code(), Some(0));
    Ok(())
}

#[test]
fn at_a_terminal_a_table_is_drawn_over_the_one_before() -> Result<()> {
    let (place, versions) = place()?;
    place.run(&["list"])?;
    let (mut child, mut terminal) = start_at_terminal(&place, &["watch"])?;
    let mut seen = String::new();
    let mut wait_for = |text: &str| -> Result<String> {
        let mut part = [0; 4096];
        while !seen.contains(text) {
            let count = terminal.read(&mut part)?;
            ensure!(count > 0, "it ended without {text:?}: {seen}");
            seen.push_str(&String::from_utf8_lossy(&part[..count]));
        }
        Ok(std::mem::take(&mut seen))
    };
    let first = wait_for("skill_wait")?;
    ensure!(first.contains("Snapshot 1"), "{first}");
    replace(&place.module("skill"), &versions.module(2))?;
    let second = wait_for("Latest changes")?;
    ensure!(
        second.contains("Snapshot 2") && second.contains("\u{1b}["),
        "{second:?}"
    );
    interrupt(&child)?;
    while let Ok(count) = terminal.read(&mut [0; 4096]) {
        if count == 0 {
            break;
        }
    }
    assert_eq!(child.wait()?.code(), Some(0));
    Ok(())
}

/// A host of this process on the configuration of a place.
async fn host(place: &Place) -> Result<Host> {
    let environment = Environment::new(place.path("")).with("HOME", place.path(""));
    let config = Config::load_file(&place.path("config.toml"), &environment);
    let config = config.map_err(|faults| anyhow::anyhow!("{faults}"))?.config;
    let builder = Host::builder(config).environment(environment);
    Ok(Box::pin(builder.open()).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_and_doctor_say_what_a_running_host_serves_and_why() -> Result<()> {
    let (place, versions) = place()?;
    let host = host(&place).await?;
    let watching = host.watch();
    let mut changes = host.changes();
    replace(&place.module("skill"), &versions.module(2))?;
    changes.wait_for(|change| change.snapshot == 2).await?;
    let report = host.call("skill_tell", "{}", CallOptions::default()).await;
    ensure!(
        matches!(report.outcome, Outcome::Ok(_)),
        "{:?}",
        report.outcome
    );
    replace(&place.module("skill"), b"no module")?;
    changes.wait_for(|change| change.snapshot == 3).await?;
    // Others are told a moment later.
    let told = loop {
        let said = place.run(&["watch", "--once", "--json"])?.json()?;
        let hosts = said["hosts"].as_array().context("a list")?.clone();
        match hosts.first() {
            Some(host) if host["snapshot"] == 3 => break host.clone(),
            _ => {}
        }
    };
    assert_eq!(told["pid"], std::process::id());
    let tools = told["tools"].as_array().context("a list")?;
    let tell = tools.iter().find(|tool| tool["name"] == "skill_tell");
    assert_eq!(tell.context("it is told of")?["calls"], 1);
    assert_eq!(told["broken"][0]["name"], "skill");
    let process = format!("process {}", std::process::id());
    for command in ["list", "doctor"] {
        let said = place.run(&[command])?.stdout();
        ensure!(said.contains(&process), "{command}: {said}");
        ensure!(
            said.contains("not a WebAssembly module"),
            "{command}: {said}"
        );
    }
    let shown = place.run(&["watch", "--once"])?.stdout();
    ensure!(shown.contains(&process), "{shown}");
    drop((watching, host));
    while place.run(&["doctor"])?.stdout().contains(&process) {}
    Ok(())
}
