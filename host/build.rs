//! Compiles the warden, the first process of a bubblewrap sandbox: a program without any
//! library, which the host carries in itself. Where it can not be compiled, the host says
//! so when it is asked for that sandbox.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const FOLDER: &str = "src/runtime/native/sandbox/warden";
const SOURCE: &str = "src/runtime/native/sandbox/warden/program.rs";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rustc-check-cfg=cfg(warden)");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_known = matches!(
        variable("CARGO_CFG_TARGET_ARCH").as_str(),
        "x86_64" | "aarch64"
    );
    if variable("CARGO_CFG_TARGET_OS") != "linux" || !is_known {
        return;
    }
    match compile() {
        Ok(()) => println!("cargo::rustc-cfg=warden"),
        Err(reason) => {
            println!("cargo::warning=built without the sandbox bubblewrap: {reason}");
        }
    }
}

fn compile() -> Result<(), String> {
    let variable = |name: &str| env::var_os(name).ok_or_else(|| format!("`{name}` is not set"));
    let output = PathBuf::from(variable("OUT_DIR")?).join("warden");
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "--crate-name",
            "warden",
        ])
        .args([
            "-C",
            "panic=abort",
            "-C",
            "opt-level=s",
            "-C",
            "strip=symbols",
        ])
        .args(["-C", "relocation-model=static"])
        .args(["-C", "link-arg=-nostartfiles", "-C", "link-arg=-nostdlib"])
        .args([
            "-C",
            "link-arg=-static",
            "-C",
            "link-arg=-Wl,--build-id=none",
        ])
        .arg("--target")
        .arg(variable("TARGET")?)
        .arg("-o")
        .arg(output)
        .arg(SOURCE);
    if env::var_os("CARGO_CFG_TARGET_ENV").is_some_and(|libc| libc == "musl") {
        // Else rustc itself adds the start of a program, and there would be two.
        rustc.args(["-C", "link-self-contained=no"]);
    }
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = std::ffi::OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    let done = rustc.output().map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&done.stderr);
    let error = complaint.lines().find(|line| line.starts_with("error"));
    Err(error.unwrap_or("the compiler failed").to_owned())
}
