//! Makes the standard library for wasm32-wasip2 available to the rustc in use: it
//! is there, or rustup fetches it, or it is built from Debian's signed sources.

mod debian;
mod install;
mod rustc;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::command;
use rustc::Rustc;

/// The target that skills are compiled for.
pub const TARGET: &str = "wasm32-wasip2";

/// What rustup may take: it fetches about 20 MB, and hangs when offline.
const RUSTUP_LIMIT: Duration = Duration::from_mins(2);

/// `cargo xtask wasm-target`
#[derive(clap::Args)]
pub struct Request {
    /// Get it from here, even if it is there already.
    #[arg(long, value_enum)]
    from: Option<Source>,
    /// Lay it into this folder, which then serves as `--sysroot`, instead of the toolchain.
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Source {
    /// `rustup target add`
    Rustup,
    /// Built from the packages `rust-src` and `wasi-libc`.
    Debian,
}

/// Runs `cargo xtask wasm-target`.
pub fn run(request: &Request) -> Result<()> {
    let rustc = Rustc::in_use()?;
    match (request.from, &request.into) {
        (None, None) => ensure(),
        (Some(Source::Rustup), None) => {
            from_rustup(&rustc)?;
            println!("{TARGET}: added by rustup");
            Ok(())
        }
        (Some(Source::Rustup), Some(_)) => {
            bail!("rustup lays a target only into its own toolchain: leave out `--into`")
        }
        (Some(Source::Debian), None) => from_debian(&rustc, None),
        (_, Some(dir)) => {
            let dir = std::path::absolute(dir)?;
            from_debian(&rustc, Some(&dir))?;
            println!("To compile with it:\n  export {}", rustc::line_for(&dir));
            Ok(())
        }
    }
}

/// Makes the target available by the first way that works.
pub fn ensure() -> Result<()> {
    let rustc = Rustc::in_use()?;
    if rustc.compiles().is_ok() {
        println!("{TARGET}: present");
        return Ok(());
    }
    let mut refusals = Vec::new();
    match from_rustup(&rustc) {
        Ok(()) => {
            println!("{TARGET}: added by rustup");
            return Ok(());
        }
        Err(why) => refusals.push(format!("rustup: {why:#}")),
    }
    match from_debian(&rustc, None) {
        Ok(()) => return Ok(()),
        Err(why) => refusals.push(format!("Debian: {why:#}")),
    }
    bail!(
        "rustc {} has no standard library for {TARGET}, and no way to get it worked\n\
         {}\n  help: with rustup (https://rustup.rs) run `rustup target add {TARGET}`; a rustc from \
         a distribution needs its package for WebAssembly, on Debian `libstd-rust-dev-wasm32`",
        rustc.version,
        refusals
            .iter()
            .map(|why| format!("  - {why}"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
}

fn from_rustup(rustc: &Rustc) -> Result<()> {
    println!(
        "{TARGET}: asking rustup (at most {} s)",
        RUSTUP_LIMIT.as_secs()
    );
    // The toolchain in use is told to rustup by `RUSTUP_TOOLCHAIN`, which children inherit.
    command::within(
        RUSTUP_LIMIT,
        Command::new("rustup").args(["target", "add", TARGET]),
    )?;
    rustc
        .compiles()
        .context("rustup added it, but not to the rustc in use")
}

/// Builds it into the toolchain, or into a folder that serves as `--sysroot`.
fn from_debian(rustc: &Rustc, sysroot: Option<&Path>) -> Result<()> {
    let dir = match sysroot {
        Some(sysroot) => sysroot.join("lib/rustlib").join(TARGET).join("lib"),
        None => rustc.target_libdir(TARGET)?,
    };
    install::check_writable(&dir)?;
    println!(
        "{TARGET}: building it from Debian's rust-src {} (a minute or two)",
        rustc.version
    );
    let work = tempfile::tempdir().context("could not make a temporary folder")?;
    let built = debian::build(&rustc.version, work.path())?;
    install::lay(&built, &dir)?;
    let flags = sysroot.map(rustc::sysroot_flag);
    rustc
        .links(flags.as_slice())
        .with_context(|| format!("what was built into `{}` does not work", dir.display()))?;
    println!(
        "{TARGET}: built from rust-src {} into `{}`",
        rustc.version,
        dir.display()
    );
    Ok(())
}
