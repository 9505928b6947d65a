//! Where the clients are that `cargo xtask test` fetched, and how they are run: in an
//! environment of their own, so that nothing of this machine's settings decides a test.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// What is in the folder of `$PRX_TEST_CLIENTS` at that path.
fn fetched(path: &str) -> Result<PathBuf> {
    let folder = std::env::var_os("PRX_TEST_CLIENTS")
        .context("`PRX_TEST_CLIENTS` is not set; run this through `cargo xtask test`")?;
    let path = Path::new(&folder).join(path);
    ensure!(path.is_file(), "`{}` does not exist", path.display());
    Ok(path)
}

/// A script of a package for Node, run by the Node that was fetched with it.
pub fn node(script: &str, home: &Path) -> Result<Command> {
    let machine = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    let node = fetched(&format!("node_modules/node-linux-{machine}/bin/node"))?;
    let mut command = clean(&node, home);
    command.arg(fetched(&format!("node_modules/{script}"))?);
    Ok(command)
}

/// A script of this suite, run by a Python that has the SDK.
pub fn python(script: &Path, home: &Path) -> Result<Command> {
    let mut command = clean(&fetched("python/bin/python")?, home);
    command.arg("-I").arg(script);
    Ok(command)
}

fn clean(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(home);
    command
}
