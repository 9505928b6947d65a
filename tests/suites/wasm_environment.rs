//! The environment: a guest sees the variables that both lists name and that are set,
//! and nothing else of its surroundings.

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_host::model::CallOptions;
use prx_tests::Stage;
use prx_tests::calls::{report, structured};
use serde_json::{Value, json};

const SECRET: &str = "hunter2-of-the-operator";

fn stage() -> Result<Stage> {
    Ok(Stage::new()?
        .guests(&["environment"])?
        .variable("API_TOKEN", SECRET)
        .variable("AWS_SECRET_ACCESS_KEY", SECRET)
        .variable("LANG", "de_DE.UTF-8")
        .variable("TERM", "")
        .variable("USER", "ada")
        .variable("PATH", SECRET))
}

async fn variables(host: &Host, tool: &str) -> Result<Value> {
    let seen = structured(host, tool, json!({})).await?;
    assert_eq!(seen["arguments"], json!([]), "{seen}");
    assert_eq!(seen["initial_cwd"], json!(null), "{seen}");
    Ok(seen["variables"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_grant_the_environment_is_empty() -> Result<()> {
    let stage = stage()?;
    let host = stage.open().await?;
    assert_eq!(variables(&host, "environment").await?, json!({}));
    let seen = structured(&host, "environment", json!({})).await?;
    assert_eq!(seen["folders"], json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_both_lists_name_is_seen_and_what_is_unset_is_absent() -> Result<()> {
    let stage = stage()?
        .runtime("env_whitelist = [\"LANG\", \"TERM\", \"LANGUAGE\", \"USER\"]")
        .capabilities("env_vars = [\"LANG\", \"TERM\", \"LANGUAGE\", \"API_TOKEN\", \"HOME\"]");
    let host = stage.open().await?;
    // TERM is set and empty, LANGUAGE is not set; USER is in one list, API_TOKEN in the
    // other.
    let expected = json!({ "LANG": "de_DE.UTF-8", "TERM": "" });
    assert_eq!(variables(&host, "environment").await?, expected);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_narrows_widens_and_sets_its_own() -> Result<()> {
    let stage = stage()?.capabilities("env_vars = [\"LANG\"]").entries(
        "[tools.custom.none]\nmodule = \"environment.wasm\"\n\
         [tools.custom.none.capabilities]\nenv_vars = []\n\
         [tools.custom.other]\nmodule = \"environment.wasm\"\n\
         [tools.custom.other.capabilities]\nenv_vars = [\"USER\"]\n\
         [tools.custom.own]\nmodule = \"environment.wasm\"\n\
         [tools.custom.own.env]\nLANG = \"fr\"\nEXTRA = \"e=x;$HOME\"",
    );
    let host = stage.open().await?;
    for (tool, expected) in [
        ("none", json!({})),
        ("other", json!({ "USER": "ada" })),
        ("own", json!({ "LANG": "fr", "EXTRA": "e=x;$HOME" })),
    ] {
        assert_eq!(variables(&host, tool).await?, expected, "{tool}");
    }
    Ok(())
}

#[test]
fn a_star_is_no_name_of_variables() -> Result<()> {
    for line in [
        "env_vars = [\"*\"]",
        "env_vars = [\"AWS_*\"]",
        "env_vars = [\"LANG\", \"\"]",
        "env_vars = [\"A=B\"]",
    ] {
        let faulty = Stage::new()?.capabilities(line);
        let fault = faulty.config().err().context("it was accepted")?;
        ensure!(fault.to_string().contains("env_vars"), "{fault}");
    }
    let listed = Stage::new()?.runtime("env_whitelist = [\"*\"]");
    ensure!(listed.config().is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_of_the_host_is_in_nothing_that_it_says() -> Result<()> {
    let stage = stage()?
        .guests(&["crashes", "files"])?
        .capabilities("env_vars = [\"LANG\"]");
    let host = stage.open().await?;
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("environment", json!({})),
        ("crashes_panic", json!({ "message": "m" })),
        ("files_read", json!({ "path": "/proc/self/environ" })),
        ("files_read", json!({})),
        ("nobody", json!({})),
    ] {
        said.push(format!("{:?}", report(&host, tool, arguments).await));
    }
    let snapshot = host.snapshot();
    for tool in snapshot.tools() {
        said.push(format!("{:?}{:?}", tool.spec(), tool.entry().grants()));
    }
    said.push(format!("{:?}{:?}", snapshot.broken(), host.config()));
    let odd = host
        .call("environment", "{\"a\":", CallOptions::default())
        .await;
    said.push(format!("{odd:?}"));
    let said = said.concat();
    assert!(said.contains("LANG") && !said.contains(SECRET));
    Ok(())
}
