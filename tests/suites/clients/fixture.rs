//! The stage on which all clients are received: skills that offer what the official suite
//! asks for, a tool that waits, and a module that is not yet among the others.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use prx_tests::{Stage, guest, program};

/// One red pixel, as it goes over the line.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/// The prompts that are always there, in the order in which they are listed.
pub const PROMPTS: [&str; 4] = [
    "test_prompt_with_arguments",
    "test_prompt_with_embedded_resource",
    "test_prompt_with_image",
    "test_simple_prompt",
];

/// Grants, and tools as resources and prompts.
const ENTRIES: &str = r#"
[tools.custom.test_trigger_tool_change]
module = "test_trigger_tool_change.wasm"
[tools.custom.test_trigger_tool_change.capabilities]
filesystem_read = ["spare::/spare"]
filesystem_write = ["modules::/modules"]

# The same, under the name by which the suite changes prompts.
[tools.custom.test_trigger_prompt_change]
module = "test_trigger_tool_change.wasm"
[tools.custom.test_trigger_prompt_change.capabilities]
filesystem_read = ["spare::/spare"]
filesystem_write = ["modules::/modules"]

[tools.custom.skill]
module = "skill.wasm"
[tools.custom.skill.capabilities]
filesystem_read = ["gate::/gate"]

[serve.resources.static_text]
tool = "test_static_text"
uri = "test://static-text"
[serve.resources.static_binary]
tool = "test_static_binary"
uri = "test://static-binary"
[serve.resources.template]
tool = "test_template_data"
uri = "test://template/{id}/data"
[serve.resources.watched]
folder = "watched"
uri = "test://"
include = ["watched-resource"]
[serve.resources.handbook]
folder = "handbook"
uri = "test://handbook/"

[serve.prompts.test_simple_prompt]
description = "A prompt without arguments."
text = "This is a simple prompt for testing."
[serve.prompts.test_prompt_with_arguments]
description = "A prompt with two arguments."
text = "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
[serve.prompts.test_prompt_with_embedded_resource]
tool = "test_prompt_with_embedded_resource"
[serve.prompts.test_prompt_with_image]
tool = "test_prompt_with_image"
# There whenever its tool is, which the trigger brings.
[serve.prompts.spare]
tool = "spare"
"#;

/// Guests, and the stems under which they are laid.
const MODULES: [(&str, &str); 4] = [
    ("conformance", "test"),
    ("conformance_schema", "json_schema_2020_12_tool"),
    ("conformance_trigger", "test_trigger_tool_change"),
    ("versions", "skill"),
];

/// A stage whose modules are compiled already, so that a server lists them from its first
/// word on, however busy this machine is.
pub fn stage() -> Result<Stage> {
    let mut stage = Stage::new()?;
    for (name, stem) in MODULES {
        stage = stage.module(stem, &fs::read(guest(name)?)?)?;
    }
    stage.folder("gate")?;
    fs::copy(guest("echo")?, stage.folder("spare")?.join("spare.wasm"))?;
    fs::write(
        stage.folder("watched")?.join("watched-resource"),
        "watched\n",
    )?;
    fs::write(stage.folder("handbook")?.join("first.md"), "# First\n")?;
    let stage = stage.entries(ENTRIES);
    let config = stage.write_config()?;
    let listed = Command::new(program()?)
        .env_clear()
        .env("HOME", stage.root())
        .current_dir(stage.root())
        .arg("--config")
        .arg(config)
        .args(["list", "--json"])
        .stdin(Stdio::null())
        .output()?;
    ensure!(listed.status.success(), "{listed:?}");
    Ok(stage)
}
