//! A build without `wasm-runtime`: it says everywhere what is missing.

use std::fs;

use crate::{home, run};

#[test]
fn a_build_without_wasm_says_so_and_how_to_get_it() {
    let home = home();
    let modules = home.path().join("modules");
    fs::create_dir(&modules).unwrap();
    fs::write(modules.join("skill.wasm"), b"\0asm").unwrap();
    fs::write(
        home.path().join("c.toml"),
        "[runtime.wasm]\nmodule_path = \"modules\"\n",
    )
    .unwrap();
    for (command, code) in [
        (&["list"][..], 0),
        (&["check"], 2),
        (&["call", "skill"], 5),
        (&["inspect", "skill"], 5),
        (&["install", "modules/skill.wasm"], 5),
        (&["remove", "skill"], 5),
        (&["--version"], 0),
        (&["--help"], 0),
    ] {
        let mut arguments = command.to_vec();
        if !command[0].starts_with('-') {
            arguments.extend(["--config", "c.toml"]);
        }
        let said = run(home.path(), &arguments);
        assert!(
            said.starts_with(&format!("exit code: {code}\n")),
            "{command:?}: {said}"
        );
        assert!(
            said.contains("--features wasm-runtime"),
            "{command:?}: {said}"
        );
    }
}
