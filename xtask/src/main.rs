//! `cargo xtask`: the chores of the project, written in Rust so that they run
//! wherever the host builds. This file owns the command line and nothing else.

mod bench;
mod clients;
mod command;
mod demo;
mod guests;
mod lint;
mod programs;
mod services;
mod steps;
mod test;
mod wasm_target;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use workspace::Workspace;

/// The chores of prx-host.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Build the example skills, list them and call some: a folder ready to play with.
    Demo {
        /// The folder to make or to refresh; `demo` in the workspace by default.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Set everything up and run every test.
    Test(test::Request),
    /// Check formatting, lints, documentation, licences and lengths of files.
    Lint(lint::Request),
    /// Run the benches in release mode and judge them against their goals.
    Bench(bench::Request),
    /// Make the compilation target of skills, wasm32-wasip2, available.
    WasmTarget(wasm_target::Request),
}

fn main() -> ExitCode {
    let task = Task::parse();
    let done = Workspace::find().and_then(|workspace| match task {
        Task::Demo { dir } => demo::run(&workspace, dir),
        Task::Test(request) => test::run(&workspace, &request),
        Task::Lint(request) => lint::run(&workspace, &request),
        Task::Bench(request) => bench::run(&workspace, &request),
        Task::WasmTarget(request) => wasm_target::run(&request),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("  cause: {cause}");
            }
            ExitCode::FAILURE
        }
    }
}
