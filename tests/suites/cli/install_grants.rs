//! `prx-host install`: nothing is granted before a person has seen it and agreed.

use std::fs;

use anyhow::Result;
use prx_tests::guest;

use crate::place::Place;
use crate::terminal::at_terminal_typing;

/// Grants everything that there is to every module.
const ALL: &str = "[runtime]\nenv_whitelist = [\"LANG\"]\n\
    [runtime.wasm.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n\
    network = true\nallowed_hosts = [\"api.example.com:443\"]\n\
    env_vars = [\"LANG\"]\nmax_state_kb = 1\n";

fn path(name: &str) -> Result<String> {
    Ok(guest(name)?.display().to_string())
}

#[test]
fn a_rehearsal_shows_all_and_writes_nothing() -> Result<()> {
    let place = Place::new(ALL)?;
    fs::copy(guest("hints")?, place.path("hints.wasm"))?;
    let config = fs::read(place.path("config.toml"))?;
    let ran = place.run(&["install", "hints.wasm", "--dry-run"])?;
    assert_eq!(ran.code(), 0);
    place.snapshot("install_rehearsed", &ran);
    assert_eq!(place.modules()?, Vec::<String>::new());
    assert_eq!(fs::read(place.path("config.toml"))?, config);
    assert!(!place.path("state").exists());
    Ok(())
}

#[test]
fn without_a_word_nothing_is_granted() -> Result<()> {
    let place = Place::new(ALL)?;
    fs::copy(guest("hints")?, place.path("hints.wasm"))?;
    let ran = place.run(&["install", "hints.wasm"])?;
    assert_eq!(ran.code(), 2);
    place.snapshot("install_unagreed", &ran);
    assert_eq!(place.modules()?, Vec::<String>::new());
    let ran = place.run(&["install", "hints.wasm", "--yes"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert_eq!(place.modules()?, ["hints.wasm"]);
    Ok(())
}

#[test]
fn each_kind_of_grant_needs_a_word() -> Result<()> {
    let echo = path("echo")?;
    for grant in [
        "[runtime.wasm.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n",
        "[runtime.wasm.capabilities]\nfilesystem_write = [\"./docs::/docs\"]\n",
        "[runtime.wasm.capabilities]\nnetwork = true\n",
        "[runtime.wasm.capabilities]\nenv_vars = [\"HOME\"]\n",
        "[runtime.wasm.capabilities]\nmax_state_kb = 1\n",
        "[tools.custom.echo.capabilities]\nnetwork = true\n",
        "[tools.custom.echo.env]\nTOKEN = \"s3cret\"\n",
        "[tools.custom.echo.config]\ntoken = \"s3cret\"\n",
        // It can not be called as long as the variable is missing, but it will be.
        "[tools.custom.echo.config]\ntoken = { env = \"NOT_SET\" }\n",
        "[tools.custom.other]\nmodule = \"./echo.wasm\"\n[tools.custom.other.capabilities]\nnetwork = true\n",
    ] {
        let place = Place::new(grant)?;
        let ran = place.run(&["install", &echo])?;
        assert_eq!(ran.code(), 2, "{grant}: {}", ran.text());
        assert!(
            ran.stderr().contains("would be granted at once: ") && ran.stderr().contains("`--yes`"),
            "{grant}: {}",
            ran.text()
        );
        assert!(!ran.text().contains("s3cret"), "{}", ran.text());
        assert_eq!(place.modules()?, Vec::<String>::new());
        let ran = place.run(&["install", &echo, "--yes"])?;
        assert_eq!(ran.code(), 0, "{grant}: {}", ran.text());
        assert!(!ran.text().contains("s3cret"), "{}", ran.text());
    }
    for nothing in [
        "[runtime.wasm.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n\
         [tools.custom.echo.capabilities]\nfilesystem_read = []\n",
        "[tools.custom.echo]\nenabled = false\n[tools.custom.echo.capabilities]\nnetwork = true\n",
        "[tools.custom.other.capabilities]\nnetwork = true\n",
    ] {
        let place = Place::new(nothing)?;
        let ran = place.run(&["install", &echo])?;
        assert_eq!(ran.code(), 0, "{nothing}: {}", ran.text());
    }
    Ok(())
}

#[test]
fn a_grant_is_shown_as_wide_as_it_is() -> Result<()> {
    // The guest asks to read the one and to reach one host.
    let wide = "[runtime.wasm.capabilities]\nfilesystem_write = [\"./docs::/docs\"]\n\
                network = true\nmax_state_kb = 1\n";
    let place = Place::new(wide)?;
    let ran = place.run(&["install", &path("hints")?])?;
    assert_eq!(ran.code(), 2);
    let write = format!("write `/docs` (`{}`)", place.path("docs").display());
    for said in [ran.stdout(), ran.stderr()] {
        let granted = said.find("at once").map_or("", |at| &said[at..]);
        for wide in [&write, "network", "state, 1 KiB"] {
            assert!(granted.contains(wide), "{wide}: {}", ran.text());
        }
        assert!(!granted.contains("api.example.com"), "{}", ran.text());
    }
    Ok(())
}

#[test]
fn a_command_of_the_configuration_becomes_a_module_only_with_a_word() -> Result<()> {
    let more = "[runtime.wasm.capabilities]\nnetwork = true\n\
                [tools.custom.sorted]\ncommand = \"sort\"\n[runtime]\nbackend = \"wasm\"\n";
    let place = Place::new(more)?;
    let ran = place.run(&["install", &path("sort")?])?;
    assert_eq!(ran.code(), 2, "{}", ran.text());
    assert!(
        ran.stderr().contains("`sorted` would be granted at once"),
        "{}",
        ran.text()
    );
    Ok(())
}

#[test]
fn the_lines_that_are_shown_grant_the_rest() -> Result<()> {
    let place = Place::new(ALL)?;
    let hints = path("hints")?;
    let json = place
        .run(&["install", &hints, "--dry-run", "--json"])?
        .json()?;
    let lines = json["entries"][0]["lines_to_grant"]
        .as_str()
        .unwrap_or_default()
        .replace("<folder>", &place.path("notes").display().to_string());
    assert!(
        lines.contains("[tools.custom.hints.capabilities]"),
        "{json}"
    );
    let written = fs::read_to_string(place.path("config.toml"))? + &lines;
    fs::write(place.path("config.toml"), written)?;
    let json = place
        .run(&["install", &hints, "--dry-run", "--json"])?
        .json()?;
    let requests = json["entries"][0]["requests"].as_array().cloned();
    let requests = requests.unwrap_or_default();
    assert_eq!(requests.len(), 6, "{json}");
    for request in requests {
        assert!(request["granted_by"].is_string(), "{request}");
    }
    assert_eq!(
        json["entries"][0]["lines_to_grant"],
        serde_json::Value::Null
    );
    Ok(())
}

#[test]
fn a_person_at_a_terminal_is_asked() -> Result<()> {
    let place = Place::new(ALL)?;
    let hints = path("hints")?;
    let arguments = ["install", &hints, "--name", "h"];
    // The last one is the end of input.
    for no in ["n\n", "\n", "yep\n", "\u{4}"] {
        let (code, seen) = at_terminal_typing(&place, &arguments, no)?;
        assert_eq!(code, Some(3), "{no:?}: {seen}");
        assert!(
            seen.contains("Install `h`, and grant it what stands above? [y/N] ")
                && seen.contains("nothing was installed")
                && seen.contains("runtime.wasm.capabilities.network"),
            "{no:?}: {seen}"
        );
        assert_eq!(place.modules()?, Vec::<String>::new());
    }
    let (code, seen) = at_terminal_typing(&place, &arguments, "y\n")?;
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(place.modules()?, ["h.wasm"]);
    // One word at a terminal is enough for a replacement, too.
    let echo = path("echo")?;
    let arguments = ["install", &echo, "--name", "h", "--yes"];
    let (code, seen) = at_terminal_typing(&place, &arguments, "yes\n")?;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Replace `h`, and grant"), "{seen}");
    assert_eq!(fs::read(place.module("h"))?, fs::read(guest("echo")?)?);
    Ok(())
}

#[test]
fn who_asks_for_json_sees_the_rest_before_the_question() -> Result<()> {
    let place = Place::new(ALL)?;
    let hints = path("hints")?;
    let (code, seen) = at_terminal_typing(&place, &["install", &hints, "--json"], "y\n")?;
    assert_eq!(code, Some(0), "{seen}");
    let shown = seen.find("requested by hints and granted");
    let asked = seen.find("[y/N] ");
    let done = seen.find("\"result\": \"installed\"");
    assert!(shown.is_some() && shown < asked && asked < done, "{seen}");
    Ok(())
}

#[test]
fn nobody_is_asked_where_nothing_comes_of_it() -> Result<()> {
    let place = Place::new("")?;
    let echo = path("echo")?;
    let (code, seen) = at_terminal_typing(&place, &["install", &echo], "")?;
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("[y/N]"), "{seen}");
    Ok(())
}
