//! What the README promises: its configuration loads, its commands exist. Its Rust is
//! compiled as doc tests of this package.

use std::path::Path;

use prx_host::config::{Config, Environment};
use prx_tests::workspace;

fn readme() -> anyhow::Result<String> {
    Ok(std::fs::read_to_string(workspace().join("README.md"))?)
}

/// The blocks between fences that are marked as `language`.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    text.split("\n```")
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .collect()
}

#[test]
fn the_configuration_of_the_readme_loads_without_a_word() -> anyhow::Result<()> {
    let readme = readme()?;
    let configurations: Vec<&str> = blocks(&readme, "toml")
        .into_iter()
        .filter(|block| block.contains("[runtime]"))
        .collect();
    assert_eq!(configurations.len(), 1, "{configurations:?}");
    let environment = Environment::new("/srv/agent").with("HOME", "/home/ada");
    let loaded = Config::from_toml(
        configurations[0],
        Path::new("/srv/agent/config.toml"),
        &environment,
    )?;
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    assert_eq!(loaded.config.tools.len(), 2);
    Ok(())
}

#[test]
fn the_server_of_the_readme_loads_without_a_word() -> anyhow::Result<()> {
    let readme = readme()?;
    let mut blocks = blocks(&readme, "toml").into_iter();
    let text = blocks.find(|block| block.contains("[serve]"));
    let text = text.ok_or_else(|| anyhow::anyhow!("there is none"))?;
    let environment = Environment::new("/srv/agent").with("HOME", "/home/ada");
    let loaded = Config::from_toml(text, Path::new("/srv/agent/config.toml"), &environment)?;
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let serve = loaded.config.serve;
    assert_eq!((serve.resources.len(), serve.prompts.len()), (2, 1));
    Ok(())
}

#[test]
fn the_commands_at_the_top_of_the_readme_exist() -> anyhow::Result<()> {
    let readme = readme()?;
    let output = std::process::Command::new(env!("CARGO"))
        .args(["xtask", "--help"])
        .current_dir(workspace())
        .output()?;
    let help = String::from_utf8(output.stdout)?;
    for command in ["demo", "test"] {
        assert!(
            readme.contains(&format!("\ncargo xtask {command} ")),
            "{command}"
        );
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command} is not in\n{help}"
        );
    }
    Ok(())
}
