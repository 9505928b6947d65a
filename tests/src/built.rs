//! Where built modules are: in the folder that an environment variable names, else
//! built once by cargo and collected. Every folder holds `<name>.wasm` and no else.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::Value;

/// The root of this workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this package is in a workspace")
}

/// The folder of the test guests: `$PRX_TEST_GUESTS`, or built now.
pub fn guests() -> Result<&'static Path> {
    static GUESTS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    found(&GUESTS, "PRX_TEST_GUESTS", || {
        build(
            "guests",
            &["--package".into(), "prx-guests".into(), "--examples".into()],
        )
    })
}

/// The folder of the skills under `plugins/`: `$PRX_TEST_PLUGINS`, or built now.
pub fn plugins() -> Result<&'static Path> {
    static PLUGINS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    found(&PLUGINS, "PRX_TEST_PLUGINS", || {
        build("plugins", &plugin_packages()?)
    })
}

/// A file of a program that nobody here wrote, by its package and its path in there:
/// in `$PRX_TEST_PROGRAMS`, where `cargo xtask test` puts them.
pub fn foreign(package: &str, file: &str) -> Result<PathBuf> {
    let folder = std::env::var_os("PRX_TEST_PROGRAMS")
        .context("`PRX_TEST_PROGRAMS` is not set; run this through `cargo xtask test`")?;
    let path = Path::new(&folder).join(package).join(file);
    ensure!(path.is_file(), "`{}` does not exist", path.display());
    Ok(path)
}

/// The module of one test guest.
pub fn guest(behaviour: &str) -> Result<PathBuf> {
    module(guests()?, behaviour)
}

/// The module of one skill under `plugins/`.
pub fn plugin(name: &str) -> Result<PathBuf> {
    module(plugins()?, name)
}

fn module(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name).with_extension("wasm");
    ensure!(
        path.is_file(),
        "`{}` does not exist; is its example listed?",
        path.display()
    );
    Ok(path)
}

fn found(
    cell: &'static OnceLock<Result<PathBuf, String>>,
    variable: &str,
    build: impl FnOnce() -> Result<PathBuf>,
) -> Result<&'static Path> {
    let folder = cell.get_or_init(|| match std::env::var_os(variable) {
        Some(folder) => Ok(folder.into()),
        None => build().map_err(|error| format!("{error:#}")),
    });
    match folder {
        Ok(folder) => Ok(folder),
        Err(error) => Err(anyhow!("{error}")).with_context(|| {
            format!("can not build modules; set `{variable}` to a folder that has them")
        }),
    }
}

fn plugin_packages() -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    for entry in fs::read_dir(workspace().join("plugins")).context("reading `plugins/`")? {
        let manifest = entry?.path().join("Cargo.toml");
        if manifest.is_file() {
            let text = fs::read_to_string(&manifest)?;
            let name = text.lines().find_map(|line| line.strip_prefix("name = "));
            let name = name.with_context(|| format!("no name in `{}`", manifest.display()))?;
            arguments.extend([
                "--package".to_owned(),
                name.trim().trim_matches('"').to_owned(),
            ]);
        }
    }
    Ok(arguments)
}

fn build(what: &str, selection: &[String]) -> Result<PathBuf> {
    // Two test programs may come here at once: one of them builds, the other finds
    // everything fresh. Cargo's own lock does not cover the collecting.
    let lock = std::env::current_exe()?.with_file_name(format!("{what}.lock"));
    let lock = File::create(&lock).with_context(|| format!("creating `{}`", lock.display()))?;
    lock.lock()
        .context("waiting for another build of the modules")?;

    let artifacts = run_cargo(selection)?;
    let first = artifacts.first().context("cargo built no module")?;
    let folder = first
        .parent()
        .context("an artifact without a folder")?
        .join(what);
    collect(&artifacts, &folder)?;
    Ok(folder)
}

fn run_cargo(selection: &[String]) -> Result<Vec<PathBuf>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace())
        .args([
            "build",
            "--quiet",
            "--profile",
            "skill",
            "--target",
            "wasm32-wasip2",
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .args(selection)
        // Flags for this machine's own programs would not suit a module.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    if !output.status.success() {
        bail!("`cargo build` of the modules failed: {}", output.status);
    }
    let mut artifacts = Vec::new();
    for line in output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let message: Value = serde_json::from_slice(line).context("reading cargo's messages")?;
        let files = message["filenames"].as_array().into_iter().flatten();
        let files = files.filter_map(Value::as_str).map(PathBuf::from);
        artifacts.extend(files.filter(|file| file.extension() == Some("wasm".as_ref())));
    }
    Ok(artifacts)
}

/// Makes `folder` hold exactly the artifacts. Cargo's own folder also has each module
/// under a second name, which a host would take for a second skill.
fn collect(artifacts: &[PathBuf], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut kept = Vec::new();
    for artifact in artifacts {
        let name = artifact.file_name().context("an artifact without a name")?;
        let (bytes, to) = (fs::read(artifact)?, folder.join(name));
        // An unchanged file keeps its time, and whoever reads it is not disturbed.
        if fs::read(&to).ok().as_ref() != Some(&bytes) {
            let temporary = to.with_extension("new");
            fs::write(&temporary, bytes)?;
            fs::rename(&temporary, &to)?;
        }
        kept.push(to);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !kept.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
