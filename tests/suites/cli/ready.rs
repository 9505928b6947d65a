//! Commands that could not be started: said before somebody calls them; and what `doctor`
//! says while the configuration is broken.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::place::Place;

fn place() -> Result<Place> {
    Place::new(
        "[runtime.native]\nshell = \"/no/such/shell\"\n\
         [runtime.docker]\nsocket = \"/no/such/socket\"\n\
         [tools.custom.good]\ntype = \"native\"\ncommand = \"cat\"\nargs = [\"{path}\"]\n\
         [tools.custom.gone]\ntype = \"native\"\ncommand = \"no-such-program\"\nargs = [\"{path}\"]\n\
         [tools.custom.line]\ntype = \"native\"\ncommand = \"ls | wc -l\"\n\
         [tools.custom.nowhere]\ntype = \"native\"\ncommand = \"cat\"\nargs = [\"{path}\"]\nworking_dir = \"away\"\n\
         [tools.custom.contained]\ntype = \"docker\"\ncommand = \"cat\"\nargs = [\"{path}\"]\n",
    )
}

const EXPECTED: [(&str, &str); 4] = [
    ("contained", "/no/such/socket"),
    ("gone", "it is in no folder of `PATH`"),
    ("line", "the shell does not exist"),
    ("nowhere", "No such file"),
];

#[test]
fn check_warns_of_each_and_list_shows_them_with_a_remedy() -> Result<()> {
    let place = place()?;
    let checked = place.run(&["check", "--json"])?.json()?;
    assert_eq!(checked["errors"], 0, "{checked}");
    let findings = checked["findings"].as_array().context("findings")?;
    let listed = place.run(&["list", "--json"])?.json()?;
    let listed = listed.as_array().context("an array")?;
    let state = |name: &str| -> Value {
        let found = listed.iter().find(|one| one["tool"] == name);
        found.cloned().unwrap_or_default()
    };
    for (name, reason) in EXPECTED {
        let what = format!("`{name}` can not be called now");
        let mut found = findings.iter().filter(|one| one["what"] == what.as_str());
        let finding = found.next().with_context(|| format!("{name}: {checked}"))?;
        assert_eq!(finding["severity"], "warning");
        ensure!(finding["cause"].to_string().contains(reason), "{finding}");
        ensure!(finding["help"].is_string(), "{finding}");
        assert_eq!(state(name)["state"], "not_ready", "{name}");
        assert_eq!(state(name)["reason"], finding["cause"], "{name}");
    }
    assert_eq!(state("good")["state"], "ready");
    assert_eq!(place.run(&["check", "--strict"])?.code(), 2);
    let shown = place.run(&["list"])?.stdout();
    assert_eq!(shown.matches("not ready, see below").count(), 4, "{shown}");
    ensure!(
        shown.contains("warning: `gone` can not be called now"),
        "{shown}"
    );
    Ok(())
}

#[test]
fn what_is_said_to_be_missing_is_what_a_call_misses() -> Result<()> {
    let place = place()?;
    for (name, reason) in EXPECTED {
        let arguments: &[&str] = if name == "line" {
            &["call", name]
        } else {
            &["call", name, "--arg", "path=x"]
        };
        let said = place.run(arguments)?;
        assert_eq!(said.code(), 5, "{}", said.text());
        ensure!(said.stderr().contains(reason), "{name}: {}", said.text());
    }
    Ok(())
}

#[test]
fn doctor_looks_at_the_machine_although_the_configuration_is_broken_and_says_so() -> Result<()> {
    let place = Place::new("[runtime]\nbackend = \"nativ\"\n")?;
    let said = place.run(&["doctor"])?;
    assert_eq!(said.code(), 2, "{}", said.text());
    let (out, err) = (said.stdout(), said.stderr());
    ensure!(
        out.starts_with("error: the configuration can not be used"),
        "{out}"
    );
    ensure!(
        out.contains("Backends and sandboxes") && out.contains("native"),
        "{out}"
    );
    ensure!(
        err.contains("nativ") && err.contains("config.toml"),
        "{err}"
    );
    let json = place.run(&["doctor", "--json"])?.json()?;
    ensure!(
        json["configuration_fault"].to_string().contains("nativ"),
        "{json}"
    );
    ensure!(json["backends"].is_array());
    Ok(())
}
