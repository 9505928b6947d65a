//! The adapter for WASI commands, held to the contract with the player as a component.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Result, ensure};
use prx_host::config::{Config, Environment};
use prx_host::model::{Access, FolderGrant};
use prx_host::{RuntimeAdapter, WasmAdapter};
use prx_tests::guest;

use crate::fixture::{Behaviour, Breakdown, Command, Differences, Fixture, LONG};

/// The adapter for WASI commands.
pub struct Wasm;

impl Fixture for Wasm {
    fn differences(&self) -> Differences {
        Differences {
            breakdown: Breakdown::Trap,
            has_shell: false,
            has_processes: false,
            holds_sessions: true,
            shows_own_paths: false,
            many: 1000,
        }
    }

    fn configuration(&self) -> String {
        // Compiled once for all cases.
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/commands-compiled");
        format!("[runtime.wasm]\nmodule_path = \"workspace\"\ncache_path = {cache:?}")
    }

    async fn adapter(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Arc<dyn RuntimeAdapter>> {
        let mut config = config.clone();
        // As `filesystem_read = ["/workspace"]` would do it; a case may have written the
        // table of that key already.
        let workspace = FolderGrant {
            host: config.runtime.workspace.value.clone(),
            guest: "/workspace".to_owned(),
            access: Access::Read,
            granted_by: "the fixture".to_owned(),
        };
        let readable = &mut config.runtime.wasm.capabilities.filesystem_read;
        readable.value.push(workspace);
        let adapter = WasmAdapter::open(&config, environment)?;
        // Short times are those of commands, not of the compiler.
        for warm in [Behaviour::Exit(0), Behaviour::PrintArguments(&[])] {
            let command = self.command(&warm)?;
            let nothing = HashMap::new();
            let mut execution = command.execution(&nothing);
            execution.timeout = 5 * LONG;
            let ran = adapter.run(execution).await?;
            ensure!(ran.is_success(), "{ran:?}");
        }
        Ok(Arc::new(adapter))
    }

    fn command(&self, behaviour: &Behaviour<'_>) -> Result<Command> {
        // The standard library for WASI 0.2 knows no codes but 0 and 1, and no working
        // folder: this guest asks and tells WASI itself.
        let direct = |words: &[&str]| {
            let words = words.iter().map(|&word| word.to_owned());
            Ok(Command {
                program: guest("command")?.display().to_string(),
                args: words.collect(),
            })
        };
        match behaviour {
            Behaviour::Exit(code) => return direct(&["exit", &code.to_string()]),
            Behaviour::PrintFolder => return direct(&["folder"]),
            _ => {}
        }
        let player = guest("player")?.display().to_string();
        // There are no signals to ignore.
        let behaviour = match behaviour {
            Behaviour::Stubborn { marker } => &Behaviour::Sleep { marker },
            behaviour => behaviour,
        };
        Ok(Command::of_player(&player, behaviour))
    }

    /// An instance is no process: it is part of the future that was dropped. What is left
    /// of a thousand of them is counted in `lifetime`.
    fn running(&self, _marker: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn end(&self, _marker: &str) -> Result<()> {
        Ok(())
    }
}

mod component {
    contract!(super::Wasm);
}
