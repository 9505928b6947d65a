//! What programs may touch: granted folders, from the working folder on, and no more.

use std::fs;

use anyhow::{Result, ensure};
use prx_host::{RuntimeAdapter as _, RuntimeError};
use prx_tests::commands::{arguments, execution, printed, run, said};

use super::{COMMAND, stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_those_of_granted_folders_and_no_others() -> Result<()> {
    let stage = stage()?
        .runtime(r#"workspace = "work""#)
        .capabilities("filesystem_read = [\"/workspace\"]\nfilesystem_write = [\"./out::/out\"]");
    let (work, _out) = (stage.folder("work")?, stage.folder("out")?);
    fs::write(work.join("seen"), "in the workspace")?;
    fs::write(stage.path("secret"), "hidden")?;
    std::os::unix::fs::symlink("../secret", work.join("link"))?;
    let adapter = stage.wasm_adapter()?;
    let secret = stage.path("secret");
    let says = async |words: &[&str]| printed(&adapter, COMMAND, words).await;
    assert_eq!(
        says(&["read", "/workspace/seen"]).await?,
        "in the workspace\n"
    );
    assert_eq!(
        says(&["write", "/out/made", "by a guest"]).await?,
        "written\n"
    );
    assert_eq!(fs::read_to_string(stage.path("out/made"))?, "by a guest");
    assert_eq!(says(&["read", "/out/made"]).await?, "by a guest\n");
    for path in [
        "/workspace/link",
        "/workspace/../secret",
        "../secret",
        "/secret",
        "/etc/passwd",
        secret.to_str().unwrap_or_default(),
    ] {
        let heard = says(&["read", path]).await?;
        ensure!(heard.starts_with("error: "), "{path}: {heard}");
    }
    let heard = says(&["write", "/workspace/new", "x"]).await?;
    ensure!(
        heard.starts_with("error: ") && !work.join("new").exists(),
        "{heard}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_granted_where_nothing_is_configured() -> Result<()> {
    let stage = stage()?;
    fs::write(stage.path("secret"), "hidden")?;
    let adapter = stage.wasm_adapter()?;
    for words in [
        &["read", "secret"][..],
        &["read", "/workspace/secret"],
        &["write", "x", "y"],
        &["connect", "127.0.0.1:1"],
    ] {
        let heard = printed(&adapter, COMMAND, words).await?;
        ensure!(heard.starts_with("error: "), "{words:?}: {heard}");
    }
    assert_eq!(printed(&adapter, COMMAND, &["variables"]).await?, "[]\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_begins_in_the_working_folder_if_that_is_granted() -> Result<()> {
    let stage = stage()?
        .runtime(r#"workspace = "work""#)
        .capabilities(r#"filesystem_read = ["/workspace"]"#);
    let inner = stage.folder("work/inner")?;
    fs::write(stage.path("work/file"), "outer")?;
    fs::write(inner.join("file"), "inner")?;
    let adapter = stage.wasm_adapter()?;
    assert_eq!(
        printed(&adapter, COMMAND, &["read", "file"]).await?,
        "outer\n"
    );
    assert_eq!(
        printed(&adapter, COMMAND, &["folder"]).await?,
        "/workspace\n"
    );
    let args = [arguments(&["read", "file"]), arguments(&["folder"])];
    for (args, expected) in args.iter().zip(["inner\n", "/workspace/inner\n"]) {
        let mut execution = execution(COMMAND, args);
        execution.working_dir = Some(&inner);
        assert_eq!(said(COMMAND, &adapter.run(execution).await?)?, expected);
    }
    for folder in [stage.root(), &stage.path("none"), &stage.path("work/file")] {
        let mut execution = execution(COMMAND, &args[0]);
        execution.working_dir = Some(folder);
        let refused = adapter.run(execution).await;
        let is_refused =
            matches!(&refused, Err(RuntimeError::WorkingDirectory { path, .. }) if path == folder);
        ensure!(is_refused, "{}: {refused:?}", folder.display());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_folder_that_is_gone_is_named_with_its_key() -> Result<()> {
    let stage = stage()?.capabilities(r#"filesystem_read = ["./docs::/docs"]"#);
    let docs = stage.folder("docs")?;
    let adapter = stage.wasm_adapter()?;
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    fs::remove_dir(&docs)?;
    let refused = run(&adapter, COMMAND, &[]).await;
    let Err(RuntimeError::Folder {
        path, granted_by, ..
    }) = &refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!(path, &docs);
    ensure!(granted_by.contains("filesystem_read"), "{granted_by}");
    fs::create_dir(&docs)?;
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    Ok(())
}
