//! What `check`, `list`, `inspect` and the forms for APIs say and do of tools that clients
//! of models would not like, and of files that are almost modules.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::place::Place;

fn hard() -> Result<Place> {
    Place::with_guests(&["hard_on_clients"], "")
}

/// The rules that a tool breaks, as `list --json` has them.
fn rules(place: &Place, tool: &str) -> Result<Vec<String>> {
    let all = place.run(&["list", "--json"])?.json()?;
    let mut all = all.as_array().context("an array")?.iter();
    let found = all.find(|one| one["tool"] == tool).context("a tool")?;
    let findings = found["findings"].as_array().context("findings")?.iter();
    Ok(findings
        .filter_map(|one| one["rule"].as_str().map(str::to_owned))
        .collect())
}

#[test]
fn check_warns_of_what_clients_drop_and_strict_fails_for_it() -> Result<()> {
    let place = hard()?;
    let ran = place.run_warm(&["check"])?;
    place.snapshot("check_hard_on_clients", &ran);
    assert_eq!(ran.code(), 0);
    assert_eq!(place.run(&["check", "--strict"])?.code(), 2);
    let found = rules(&place, "hard_on_clients_choose")?;
    let expected = ["root-combinator", "schema-ref", "schema-type-array"];
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn commands_of_the_configuration_are_held_against_the_same_rules() -> Result<()> {
    let place = Place::new(
        "[tools.custom.either]\ntype = \"native\"\ncommand = \"cat\"\nargs = [\"{path}\"]\n\
         [tools.custom.either.parameters]\ntype = \"object\"\noneOf = [{ required = [\"path\"] }]\n\
         [tools.custom.either.parameters.properties.path]\ntype = [\"string\", \"null\"]\n",
    )?;
    let found = rules(&place, "either")?;
    let expected = ["root-combinator", "schema-nullable", "property-description"];
    assert_eq!(found, expected);
    let said = place.run(&["inspect", "either"])?;
    ensure!(
        said.stdout()
            .contains("note: an argument has no description"),
        "{}",
        said.text()
    );
    Ok(())
}

#[test]
fn inspect_tells_an_author_all_of_a_file() -> Result<()> {
    let place = hard()?;
    let file = place.module("hard_on_clients");
    let file = file.to_str().context("a path")?;
    let said = place.run(&["inspect", file])?;
    for words in [
        "warning: its input schema has a combinator at its root (root-combinator)",
        "/inputSchema/anyOf",
        "help: write the schema in place",
        "note: its input schema has no `properties`",
        "it claims to be read-only and to be destructive (hints-contradict)",
    ] {
        ensure!(
            said.stdout().contains(words),
            "{words} is not in\n{}",
            said.text()
        );
    }
    let tools = place.run(&["inspect", file, "--json"])?.json()?;
    assert_eq!(tools["tools"][0]["findings"][0]["rule"], "root-combinator");
    assert_eq!(
        tools["tools"][0]["findings"][0]["places"][0],
        "/inputSchema/anyOf"
    );
    Ok(())
}

#[test]
fn the_log_hears_of_it_once_for_each_version() -> Result<()> {
    let place = hard()?;
    let output = place
        .command()?
        .env("RUST_LOG", "prx_host::lint=info")
        .arg("list")
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter(|line| line.contains("root-combinator"));
    assert_eq!(lines.count(), 1, "{said}");
    Ok(())
}

#[test]
fn apis_get_schemas_that_they_take_and_mcp_the_authors_own() -> Result<()> {
    let place = hard()?;
    let listed = |format: &str| -> Result<Value> {
        let all = place.run(&["list", "--format", format])?.json()?;
        let mut all = all.as_array().context("an array")?.iter();
        let is_it = |tool: &&Value| tool.to_string().contains("hard_on_clients_choose");
        all.find(is_it).cloned().context("a tool")
    };
    let anthropic = listed("anthropic")?;
    let schema = &anthropic["input_schema"];
    for gone in ["anyOf", "$schema", "$defs"] {
        ensure!(schema.get(gone).is_none(), "{schema}");
    }
    assert_eq!(
        schema["properties"]["place"]["description"],
        "Where to look."
    );
    assert_eq!(schema["properties"]["id"]["description"], "By number.");
    let description = anthropic["description"].as_str().context("a text")?;
    ensure!(
        description.contains("must also fit this JSON Schema: {\"anyOf\""),
        "{description}"
    );
    let openai = listed("openai")?;
    assert_eq!(&openai["function"]["parameters"], schema);
    let own = listed("mcp")?["inputSchema"].clone();
    assert_eq!(own["properties"]["place"]["$ref"], "#/$defs/place");
    assert_eq!(own["anyOf"][1]["required"][0], "name");
    let keys: Vec<_> = own.as_object().context("an object")?.keys().collect();
    assert_eq!(keys, ["$schema", "type", "properties", "anyOf", "$defs"]);
    Ok(())
}

#[test]
fn a_tool_whose_name_looks_like_an_option_can_be_called_and_is_warned_of() -> Result<()> {
    let place = Place::new("")?;
    std::fs::copy(prx_tests::guest("trivial")?, place.module("--help"))?;
    let called = place.run(&["call", "--arg", "text=abc", "--", "--help"])?;
    ensure!(
        called.code() == 0 && called.stdout().contains('3'),
        "{}",
        called.text()
    );
    let shown = place.run(&["inspect", "--", "--help"])?;
    ensure!(shown.stdout().contains("tool --help"), "{}", shown.text());
    let found = place.run(&["check"])?;
    ensure!(
        found
            .stdout()
            .contains("`--help`: its name begins with no letter"),
        "{}",
        found.text()
    );
    Ok(())
}

#[test]
fn names_that_differ_by_almost_nothing_are_warned_of() -> Result<()> {
    let place = Place::with_guests(&["trivial"], "")?;
    for name in ["a-b", "a_b"] {
        std::fs::copy(prx_tests::guest("trivial")?, place.module(name))?;
    }
    let found = place.run(&["check"])?.stdout();
    ensure!(
        found.contains("`a_b`: another tool has almost the same name"),
        "{found}"
    );
    ensure!(found.contains("`a-b`"), "{found}");
    Ok(())
}

#[test]
fn a_file_whose_ending_is_in_capitals_is_told_by_check_and_list() -> Result<()> {
    let place = Place::new("")?;
    std::fs::copy(prx_tests::guest("trivial")?, place.path("modules/UP.WASM"))?;
    for command in ["check", "list"] {
        let said = place.run(&[command])?;
        assert_eq!(said.code(), 0);
        ensure!(
            said.stdout().contains("UP.WASM` is passed over"),
            "{}",
            said.text()
        );
        ensure!(
            said.stdout().contains("modules/UP.wasm`"),
            "{}",
            said.text()
        );
    }
    assert_eq!(place.run(&["check", "--strict"])?.code(), 2);
    Ok(())
}
