//! Files: a guest reaches what is granted, in the way it is granted, and nothing else by
//! any name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use prx_host::model::{Outcome, OutcomeKind};
use prx_tests::calls::{assert_healthy, call, structured, text};
use prx_tests::{Stage, process};
use serde_json::{Value, json};

const SECRET: &str = "the operator's secret";

/// Two folders granted to read and to write, a secret beside them, and every way out of
/// them that a host file system can hold.
fn stage() -> Result<Stage> {
    let stage = Stage::new()?.guests(&["files", "raw_files"])?.capabilities(
        "filesystem_read = [\"docs::/docs\"]\nfilesystem_write = [\"notes::/notes\"]",
    );
    for folder in ["docs", "notes"] {
        let path = stage.folder(folder)?;
        fs::create_dir(path.join("inner"))?;
        fs::write(path.join("inside.txt"), format!("inside {folder}"))?;
        fs::write(path.join("inner/deep.txt"), format!("deep in {folder}"))?;
        symlink("inside.txt", path.join("good_link"))?;
        symlink("../outside/secret.txt", path.join("relative_link"))?;
        symlink(stage.path("outside/secret.txt"), path.join("absolute_link"))?;
        symlink("../outside", path.join("folder_link"))?;
        symlink(stage.path("outside"), path.join("absolute_folder_link"))?;
        symlink("/proc/self/environ", path.join("proc_link"))?;
        symlink("loop_link", path.join("loop_link"))?;
    }
    let outside = stage.folder("outside")?;
    fs::write(outside.join("secret.txt"), SECRET)?;
    Ok(stage)
}

/// Proves that a call did not succeed, in one of the ways that say so, and that the
/// secret is in no part of what it said.
fn assert_refused(outcome: &Outcome, what: &str) -> Result<()> {
    let refused = [OutcomeKind::Denied, OutcomeKind::ToolError];
    ensure!(refused.contains(&outcome.kind()), "{what}: {outcome:?}");
    let said = format!("{outcome:?}");
    ensure!(
        !said.contains(SECRET) && !said.contains("root:"),
        "{what}: {said}"
    );
    Ok(())
}

/// What lies outside is as it was.
fn assert_untouched(stage: &Stage) -> Result<()> {
    assert_eq!(
        fs::read_to_string(stage.path("outside/secret.txt"))?,
        SECRET
    );
    assert_eq!(fs::read_dir(stage.path("outside"))?.count(), 1);
    Ok(())
}

fn path(folder: &str, rest: &str) -> Value {
    json!({ "path": format!("/{folder}/{rest}") })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_granted_can_be_used() -> Result<()> {
    let stage = stage()?;
    let host = stage.open().await?;
    for folder in ["docs", "notes"] {
        let read = text(&host, "files_read", path(folder, "inside.txt")).await?;
        assert_eq!(read, format!("inside {folder}"));
        let deep = text(&host, "files_read", path(folder, "inner/../inner/deep.txt")).await?;
        assert_eq!(deep, format!("deep in {folder}"));
        let linked = text(&host, "files_read", path(folder, "good_link")).await?;
        assert_eq!(linked, format!("inside {folder}"));
        let listed = structured(&host, "files_list", path(folder, "inner")).await?;
        assert_eq!(listed, json!({ "names": ["deep.txt"] }));
    }
    let folders = structured(&host, "raw_files_folders", json!({})).await?;
    assert_eq!(folders, json!({ "folders": ["/notes", "/docs"] }));
    let written = json!({ "path": "/notes/new.txt", "contents": "h\u{e9}" });
    assert_eq!(text(&host, "files_write", written).await?, "wrote 3 bytes");
    assert_eq!(fs::read_to_string(stage.path("notes/new.txt"))?, "h\u{e9}");
    let moved = json!({ "from": "/notes/new.txt", "to": "/notes/inner/moved.txt" });
    text(&host, "files_rename", moved).await?;
    text(&host, "files_remove", path("notes", "inner/moved.txt")).await?;
    text(&host, "files_create_folder", path("notes", "made")).await?;
    assert!(stage.path("notes/made").is_dir());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_leads_out_of_a_granted_folder() -> Result<()> {
    let stage = stage()?;
    let host = stage.open().await?;
    let absolute = stage.path("outside/secret.txt").display().to_string();
    let names = [
        "../outside/secret.txt",
        "inner/../../outside/secret.txt",
        "./.././outside/secret.txt",
        "relative_link",
        "absolute_link",
        "folder_link/secret.txt",
        "absolute_folder_link/secret.txt",
        "inner/../folder_link/secret.txt",
        "proc_link",
        "loop_link",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        absolute.as_str(),
        "",
        "nul\0inside.txt",
    ];
    for (number, folder) in ["notes", "docs"].into_iter().enumerate() {
        for name in names {
            let what = format!("{name:?} in {folder}");
            for tool in ["files_read", "files_stat"] {
                if name.is_empty() && tool == "files_stat" {
                    continue;
                }
                assert_refused(&call(&host, tool, path(folder, name)).await, &what)?;
            }
            for follow in [0, 1] {
                let raw = json!({ "folder": number, "path": name, "follow": follow });
                assert_refused(&call(&host, "raw_files_read", raw).await, &what)?;
                let mut raw = json!({ "folder": number, "path": name, "follow": follow });
                raw["contents"] = "overwritten".into();
                assert_refused(&call(&host, "raw_files_write", raw).await, &what)?;
            }
            let written = json!({ "path": format!("/{folder}/{name}"), "contents": "overwritten" });
            assert_refused(&call(&host, "files_write", written).await, &what)?;
        }
        for name in ["..", "folder_link", "../outside", "absolute_folder_link"] {
            assert_refused(&call(&host, "files_list", path(folder, name)).await, name)?;
        }
    }
    for name in [
        "/etc/passwd",
        &absolute,
        "/",
        "etc/passwd",
        "/proc/self/environ",
        "/docs2/x",
    ] {
        let outcome = call(&host, "files_read", json!({ "path": name })).await;
        assert_refused(&outcome, name)?;
    }
    assert_untouched(&stage)?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_and_moves_carry_nothing_in_or_out() -> Result<()> {
    let stage = stage()?;
    let host = stage.open().await?;
    let secret = stage.path("outside/secret.txt").display().to_string();
    for target in ["../outside/secret.txt", "/etc/passwd", secret.as_str()] {
        // Whether such a link can be made is no matter: it must not be of use.
        let _ = call(
            &host,
            "files_symlink",
            json!({ "target": target, "link": "/notes/way" }),
        )
        .await;
        let raw = json!({ "folder": 0, "target": target, "path": "way" });
        let _ = call(&host, "raw_files_symlink", raw).await;
        assert_refused(
            &call(&host, "files_read", path("notes", "way")).await,
            target,
        )?;
        let _ = fs::remove_file(stage.path("notes/way"));
    }
    for (tool, from, to) in [
        ("rename", "inside.txt", "../outside/taken.txt"),
        ("rename", "../outside/secret.txt", "taken.txt"),
        ("rename", "inside.txt", "folder_link/taken.txt"),
        ("hard_link", "../outside/secret.txt", "taken.txt"),
        ("hard_link", "folder_link/secret.txt", "taken.txt"),
        ("hard_link", "inside.txt", "../outside/taken.txt"),
    ] {
        let raw = json!({ "folder": 0, "path": from, "to_folder": 0, "to": to });
        let outcome = call(&host, &format!("raw_files_{tool}"), raw).await;
        assert_refused(&outcome, &format!("{tool} {from} to {to}"))?;
        let plain = json!({ "from": format!("/notes/{from}"), "to": format!("/notes/{to}") });
        let outcome = call(&host, &format!("files_{tool}"), plain).await;
        assert_refused(&outcome, &format!("{tool} {from} to {to}"))?;
    }
    // A second name of the very link would lead out from elsewhere.
    let raw = json!({ "folder": 0, "path": "absolute_link", "to_folder": 0, "to": "second" });
    let _ = call(&host, "raw_files_hard_link", raw).await;
    assert_refused(
        &call(&host, "files_read", path("notes", "second")).await,
        "second",
    )?;
    assert!(stage.path("notes/inside.txt").is_file());
    assert_untouched(&stage)?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_granted_to_read_stays_as_it_is() -> Result<()> {
    let stage = stage()?;
    let host = stage.open().await?;
    let before = listing(&stage.path("docs"))?;
    let file = "/docs/inside.txt";
    for (tool, arguments) in [
        ("files_write", json!({ "path": file, "contents": "x" })),
        (
            "files_write",
            json!({ "path": "/docs/new.txt", "contents": "x" }),
        ),
        (
            "files_write",
            json!({ "path": "/docs/good_link", "contents": "x" }),
        ),
        ("files_remove", json!({ "path": file })),
        ("files_create_folder", json!({ "path": "/docs/made" })),
        (
            "files_symlink",
            json!({ "target": "inside.txt", "link": "/docs/link" }),
        ),
        (
            "files_hard_link",
            json!({ "from": file, "to": "/docs/second.txt" }),
        ),
        (
            "files_rename",
            json!({ "from": file, "to": "/docs/moved.txt" }),
        ),
        (
            "files_rename",
            json!({ "from": file, "to": "/notes/moved.txt" }),
        ),
        (
            "files_rename",
            json!({ "from": "/notes/inside.txt", "to": "/docs/moved.txt" }),
        ),
        (
            "files_hard_link",
            json!({ "from": file, "to": "/notes/second.txt" }),
        ),
        (
            "raw_files_write",
            json!({ "folder": 1, "path": "inside.txt", "contents": "x" }),
        ),
        (
            "raw_files_write",
            json!({ "folder": 1, "path": "new.txt", "contents": "x" }),
        ),
        (
            "raw_files_symlink",
            json!({ "folder": 1, "target": "a", "path": "b" }),
        ),
        (
            "raw_files_hard_link",
            json!({ "folder": 1, "path": "inside.txt", "to_folder": 0, "to": "s" }),
        ),
        (
            "raw_files_rename",
            json!({ "folder": 1, "path": "inside.txt", "to_folder": 0, "to": "s" }),
        ),
    ] {
        let what = format!("{tool} {arguments}");
        assert_refused(&call(&host, tool, arguments).await, &what)?;
    }
    assert_eq!(listing(&stage.path("docs"))?, before);
    assert_eq!(
        fs::read_to_string(stage.path("docs/inside.txt"))?,
        "inside docs"
    );
    assert_healthy(&host).await
}

fn listing(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_grants_that_reach_into_each_other_keep_their_own_rules() -> Result<()> {
    let stage = Stage::new()?.guests(&["files"])?.capabilities(
        "filesystem_read = [\"all::/all\"]\nfilesystem_write = [\"all/open::/open\"]",
    );
    let open = stage.folder("all/open")?;
    fs::write(stage.path("all/file.txt"), "in all")?;
    fs::write(open.join("file.txt"), "in open")?;
    symlink("../file.txt", open.join("up"))?;
    let host = stage.open().await?;
    // By the way that grants to write, a file can be written; by the other it can not.
    let by_open = json!({ "path": "/open/file.txt", "contents": "new" });
    text(&host, "files_write", by_open).await?;
    let by_all = json!({ "path": "/all/open/file.txt", "contents": "newer" });
    assert_refused(&call(&host, "files_write", by_all).await, "/all/open")?;
    assert_eq!(
        text(&host, "files_read", path("all", "open/file.txt")).await?,
        "new"
    );
    assert_eq!(
        text(&host, "files_read", path("all", "open/up")).await?,
        "in all"
    );
    assert_refused(&call(&host, "files_read", path("open", "up")).await, "up")?;
    assert_refused(
        &call(&host, "files_read", path("open", "../file.txt")).await,
        "..",
    )?;
    let up = json!({ "path": "/open/up", "contents": "x" });
    assert_refused(&call(&host, "files_write", up).await, "up")?;
    assert_eq!(fs::read_to_string(stage.path("all/file.txt"))?, "in all");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipe_is_not_opened_for_nobody_could_end_the_waiting() -> Result<()> {
    if !process::is_alone(&a_pipe_is_not_opened_for_nobody_could_end_the_waiting)? {
        return Ok(());
    }
    let stage = stage()?.entries(
        "[tools.custom.files]\ntimeout_secs = 10\n[tools.custom.raw_files]\ntimeout_secs = 10",
    );
    for folder in ["docs", "notes"] {
        let pipe = stage.path(folder).join("pipe");
        ensure!(Command::new("mkfifo").arg(&pipe).status()?.success());
        symlink("pipe", stage.path(folder).join("pipe_link"))?;
    }
    let done = assert_no_pipe_opens(&stage).await;
    // The runtime ends only when none of its threads waits any more. A fault must not
    // become a test that hangs: whoever waits for the other end of a pipe has it now.
    if done.is_err() {
        for folder in ["docs", "notes"] {
            let both_ends = fs::OpenOptions::new().read(true).write(true).to_owned();
            std::mem::forget(both_ends.open(stage.path(folder).join("pipe"))?);
        }
    }
    done
}

async fn assert_no_pipe_opens(stage: &Stage) -> Result<()> {
    let host = stage.open().await?;
    for (number, folder) in ["notes", "docs"].into_iter().enumerate() {
        for name in ["pipe", "pipe_link"] {
            let what = format!("{name} in {folder}");
            assert_refused(&call(&host, "files_read", path(folder, name)).await, &what)?;
            let written = json!({ "path": format!("/{folder}/{name}"), "contents": "x" });
            assert_refused(&call(&host, "files_write", written).await, &what)?;
            for follow in [0, 1] {
                let raw = json!({ "folder": number, "path": name, "follow": follow });
                assert_refused(&call(&host, "raw_files_read", raw).await, &what)?;
            }
        }
    }
    let read = text(&host, "files_read", path("docs", "inside.txt")).await?;
    assert_eq!(read, "inside docs");
    assert_healthy(&host).await
}
