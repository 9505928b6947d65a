//! The choice of `backend = "auto"` without Docker, command by command.
//!
//! Invariant: which adapter runs a command is decided before one begins with it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::wasm::adapter::WasmAdapter;
use super::{Execution, ExecutionOutput, Program, Result, RuntimeAdapter};

/// What is a module runs as one, all else on this machine.
pub(super) struct ModulesFirst {
    modules: WasmAdapter,
    native: Arc<dyn RuntimeAdapter>,
}

impl ModulesFirst {
    pub fn new(modules: WasmAdapter, native: Arc<dyn RuntimeAdapter>) -> Self {
        Self { modules, native }
    }

    /// What runs this. A line of several words is no name of a module.
    fn adapter(&self, program: &Program<'_>) -> &dyn RuntimeAdapter {
        let is_line = matches!(program, Program::Shell(line) if line.contains(char::is_whitespace));
        if !is_line && self.modules.has_module(program.command()) {
            &self.modules
        } else {
            &*self.native
        }
    }
}

#[async_trait]
impl RuntimeAdapter for ModulesFirst {
    async fn execute(
        &self,
        command: &str,
        args: &[String],
        env: &HashMap<String, String>,
        working_dir: Option<&Path>,
        timeout: Duration,
    ) -> Result<ExecutionOutput> {
        self.run(Execution::plain(command, args, env, working_dir, timeout))
            .await
    }

    async fn is_available(&self) -> bool {
        self.native.is_available().await
    }

    fn name(&self) -> &str {
        self.native.name()
    }

    async fn run(&self, execution: Execution<'_>) -> Result<ExecutionOutput> {
        self.adapter(&execution.program).run(execution).await
    }
}
