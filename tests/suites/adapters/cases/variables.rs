//! Which variables a command sees.

use std::collections::HashMap;

use anyhow::Result;

use super::{play, texts};
use crate::fixture::{Behaviour, Fixture, Setup, Stage};

/// Names and values of the kind that a host must keep for itself.
const SECRETS: [(&str, &str); 5] = [
    ("ANTHROPIC_API_KEY", "planted-secret-1"),
    ("AWS_SECRET_ACCESS_KEY", "planted-secret-2"),
    ("GITHUB_TOKEN", "planted-secret-3"),
    ("DATABASE_URL", "postgres://planted-secret-4"),
    ("PATHOLOGICAL", "planted-secret-5"),
];

pub async fn only_listed_variables_arrive<F: Fixture>(fixture: &F) -> Result<()> {
    let setup = Setup {
        runtime: "env_whitelist = [\"PRX_LISTED\", \"PRX_EMPTY\", \"PRX_UNSET\"]",
        variables: &[
            ("PRX_LISTED", "a b=c"),
            ("PRX_EMPTY", ""),
            ("PRX_UNLISTED", "no"),
        ],
        tables: "[runtime.wasm.capabilities]\n\
                 env_vars = [\"PRX_LISTED\", \"PRX_EMPTY\", \"PRX_UNSET\"]",
        ..Setup::default()
    };
    let stage = Stage::new(fixture, &setup).await?;
    let output = play(fixture, &stage, Behaviour::PrintVariables).await?;
    let mut seen = texts(&output.stdout.bytes);
    seen.retain(|variable| variable.starts_with("PRX_"));
    seen.sort();
    assert_eq!(seen, ["PRX_EMPTY=", "PRX_LISTED=a b=c"]);
    Ok(())
}

pub async fn a_call_has_its_own_variables<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::PrintVariables)?;
    let value = "two\nlines \"and\" ünïcödé";
    let env = HashMap::from([("PRX_OWN".to_owned(), value.to_owned())]);
    let output = stage.adapter.run(command.execution(&env)).await?;
    let seen = texts(&output.stdout.bytes);
    assert!(seen.contains(&format!("PRX_OWN={value}")), "{seen:?}");

    let output = play(fixture, &stage, Behaviour::PrintVariables).await?;
    let seen = texts(&output.stdout.bytes);
    assert!(
        !seen.iter().any(|variable| variable.starts_with("PRX_OWN")),
        "{seen:?}"
    );
    Ok(())
}

pub async fn a_listed_name_is_no_prefix<F: Fixture>(fixture: &F) -> Result<()> {
    let setup = Setup {
        variables: &SECRETS,
        ..Setup::default()
    };
    let stage = Stage::new(fixture, &setup).await?;
    let output = play(fixture, &stage, Behaviour::PrintVariables).await?;
    assert!(
        !output.stdout.text().contains("PATHOLOGICAL"),
        "PATH is no prefix"
    );
    Ok(())
}

pub async fn secrets_of_the_host_do_not_arrive<F: Fixture>(fixture: &F) -> Result<()> {
    let setup = Setup {
        variables: &SECRETS,
        ..Setup::default()
    };
    let stage = Stage::new(fixture, &setup).await?;
    let output = play(fixture, &stage, Behaviour::PrintVariables).await?;
    let seen = output.stdout.text();
    assert!(!seen.contains("planted-secret"), "{seen}");
    for (name, _) in SECRETS {
        assert!(!seen.contains(name), "{seen}");
    }
    // Nor what the process of this test has in its real environment.
    assert!(!seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    Ok(())
}

pub async fn errors_do_not_tell_values<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let mut command = fixture.command(&Behaviour::Exit(0))?;
    let own = |name: &str, value: &str| HashMap::from([(name.to_owned(), value.to_owned())]);
    let env = own("API_KEY", "planted-secret\0");
    let refused = stage
        .adapter
        .run(command.execution(&env))
        .await
        .unwrap_err();
    assert!(
        !format!("{refused} {refused:?}").contains("planted"),
        "{refused:?}"
    );

    "/no/such/command".clone_into(&mut command.program);
    let env = own("API_KEY", "planted-secret");
    let missing = stage
        .adapter
        .run(command.execution(&env))
        .await
        .unwrap_err();
    assert!(
        !format!("{missing} {missing:?}").contains("planted"),
        "{missing:?}"
    );
    Ok(())
}
