//! Module files: changed, touched, broken, cut, gone and back.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_tests::calls::assert_healthy;
use prx_tests::{Stage, guest};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::{TELL, assert_version, fault, module, replace, stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_module_serves_and_the_others_stay_the_very_same() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    assert_version(&host, TELL, 1).await?;
    let before = host.snapshot();
    replace(&module(&stage, "skill.wasm"), &versions.module(2))?;
    let after = host.reload().await;
    assert_version(&host, TELL, 2).await?;
    assert_eq!(after.number(), before.number() + 1);
    for name in ["echo", "trivial"] {
        let [old, new] = [&before, &after].map(|snapshot| snapshot.tool(name));
        ensure!(old.zip(new).is_some_and(|(old, new)| Arc::ptr_eq(old, new)));
    }
    let change = host.changes().borrow().clone();
    assert_eq!(change.snapshot, after.number());
    assert_eq!(change.changed, ["skill_tell", "skill_wait"]);
    ensure!(change.added.is_empty() && change.removed.is_empty() && change.broken.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_touched_or_written_again_as_it_was_is_no_change() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let before = host.snapshot();
    let file = module(&stage, "skill.wasm");
    File::options()
        .append(true)
        .open(&file)?
        .set_modified(std::time::SystemTime::now())?;
    ensure!(Arc::ptr_eq(&before, &host.reload().await));
    replace(&file, &versions.module(1))?;
    ensure!(Arc::ptr_eq(&before, &host.reload().await));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_serve_leaves_the_good_version_in_its_place_and_says_so() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let file = module(&stage, "skill.wasm");
    let digest = |host: &Host| {
        let tool = host.snapshot().tool(TELL).cloned();
        tool.and_then(|tool| tool.entry().version())
    };
    let good = digest(&host).context("there is no version")?;
    for (bytes, reason) in [
        (&b"<!DOCTYPE html>"[..], "HTML"),
        (&[], "empty"),
        (&versions.module(2)[..60_000], "middle of a module"),
        (&fs::read(guest("lies_duplicate_names")?)?, "tools"),
        (&fs::read(guest("panics_in_describe")?)?, "asking"),
        (&wat::parse_str("(module (func))")?, "neither a skill nor"),
    ] {
        replace(&file, bytes)?;
        let snapshot = host.reload().await;
        let fault = fault(&snapshot, "skill")?;
        ensure!(fault.reason.contains(reason), "{reason}: {}", fault.reason);
        let serving = fault.serving.context("nothing serves")?;
        assert_eq!(serving.version.as_ref(), Some(&good));
        assert_eq!(serving.since.snapshot, 1);
        assert_version(&host, TELL, 1).await?;
    }
    replace(&file, &versions.module(3))?;
    let snapshot = host.reload().await;
    ensure!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
    assert_version(&host, TELL, 3).await?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_length_of_a_file_that_was_cut_takes_the_place_of_the_whole() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let file = module(&stage, "skill.wasm");
    let whole = versions.module(2);
    let sections = section_ends(&whole);
    ensure!(sections.len() > 5, "{sections:?}");
    let lengths = [0, 1, 4, 7, 8, 9, whole.len() / 2, whole.len() - 1];
    for length in lengths.into_iter().chain(sections) {
        replace(&file, &whole[..length])?;
        host.reload().await;
        let told = host.snapshot();
        let told = &told.tool(TELL).context("it is gone")?.spec().description;
        // What lacks but the names at its end is whole.
        let version = if told.ends_with('2') { 2 } else { 1 };
        assert_version(&host, TELL, version).await?;
        replace(&file, &versions.module(1))?;
        host.reload().await;
    }
    Ok(())
}

/// Where the sections of a component end: a file cut there may be a valid one.
pub(super) fn section_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut depth = 0;
    for payload in wasmparser::Parser::new(0).parse_all(bytes) {
        match payload {
            Ok(wasmparser::Payload::End(_)) => depth -= 1,
            Ok(wasmparser::Payload::Version { .. }) => depth += 1,
            Ok(payload) if depth == 1 => {
                ends.extend(payload.as_section().map(|(_, range)| range.end));
            }
            _ => {}
        }
    }
    ends.retain(|end| *end < bytes.len());
    ends
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_gone_takes_its_tools_with_it() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let file = module(&stage, "skill.wasm");
    fs::remove_file(&file)?;
    let snapshot = host.reload().await;
    ensure!(snapshot.tool(TELL).is_none() && snapshot.broken().is_empty());
    assert_eq!(
        host.changes().borrow().removed,
        ["skill_tell", "skill_wait"]
    );
    fs::write(&file, versions.module(2))?;
    host.reload().await;
    assert_version(&host, TELL, 2).await?;
    assert_eq!(host.changes().borrow().added, ["skill_tell", "skill_wait"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_with_a_skill_and_files_beside_it_is_a_skill() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let folder = stage.folder("modules/own")?;
    fs::write(folder.join("README.md"), "about it")?;
    ensure!(host.reload().await.tool("own_tell").is_none());
    fs::write(folder.join("skill.wasm"), versions.module(5))?;
    host.reload().await;
    assert_version(&host, "own_tell", 5).await?;
    fs::rename(&folder, module(&stage, "other"))?;
    let snapshot = host.reload().await;
    ensure!(snapshot.tool("own_tell").is_none());
    assert_version(&host, "other_tell", 5).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_modules_with_one_name_the_same_wins_as_at_a_start() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    // In the order of names a folder comes before a file.
    let folder = stage.folder("modules/skill")?;
    fs::write(folder.join("skill.wasm"), versions.module(2))?;
    let snapshot = host.reload().await;
    assert_version(&host, TELL, 2).await?;
    let reason = fault(&snapshot, "skill")?.reason;
    ensure!(reason.contains("is taken by"), "{reason}");
    let fresh = stage.open().await?;
    assert_version(&fresh, TELL, 2).await?;
    assert_eq!(fresh.snapshot().broken(), snapshot.broken());
    fs::remove_dir_all(folder)?;
    ensure!(host.reload().await.broken().is_empty());
    assert_version(&host, TELL, 1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_that_can_not_serve_takes_no_name_from_one_that_does() -> Result<()> {
    let (stage, versions) = stage()?;
    stage.write_config()?;
    let host = stage.open().await?;
    // It comes first, and may be half of a copy.
    let folder = stage.folder("modules/skill")?;
    let first = folder.join("skill.wasm");
    fs::write(&first, &versions.module(2)[..60_000])?;
    let snapshot = host.reload().await;
    assert_version(&host, TELL, 1).await?;
    let all = snapshot.broken();
    let kept = all
        .iter()
        .find(|fault| fault.module.as_deref() == Some(&first));
    let serving = kept.and_then(|fault| fault.serving.as_ref());
    assert_eq!(serving.context("nothing serves")?.since.snapshot, 1);
    ensure!(Arc::ptr_eq(&snapshot, &host.reload().await));
    // Neither does it when everything is made anew.
    let other = stage.text() + "[tools.custom.more]\nmodule = \"echo.wasm\"\n";
    replace(&stage.path("config.toml"), other.as_bytes())?;
    ensure!(host.reload().await.tool("more").is_some());
    assert_version(&host, TELL, 1).await?;
    replace(&first, &versions.module(2))?;
    host.reload().await;
    assert_version(&host, TELL, 2).await?;
    // Broken now, it keeps the name that it has; and what is gone serves for nobody.
    fs::write(&first, "broken")?;
    host.reload().await;
    assert_version(&host, TELL, 2).await?;
    fs::remove_file(module(&stage, "skill.wasm"))?;
    fs::remove_dir_all(folder)?;
    ensure!(host.reload().await.tool(TELL).is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_is_not_compiled_again_until_it_changes() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let file = module(&stage, "skill.wasm");
    replace(&file, &fs::read(guest("lies_no_tools")?)?)?;
    let refused = host.reload().await;
    let before = host.cache_statistics();
    // As new as it is, it is read again: its times prove nothing yet.
    ensure!(Arc::ptr_eq(&refused, &host.reload().await));
    assert_eq!(host.cache_statistics(), before);
    replace(&file, &versions.module(2))?;
    ensure!(host.reload().await.broken().is_empty());
    assert_version(&host, TELL, 2).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_whose_tools_can_not_be_named_does_not_replace_one_whose_tools_can() -> Result<()>
{
    let long = "x".repeat(60);
    let (stage, versions) = stage()?;
    let stage = stage.module(&long, &fs::read(guest("echo")?)?)?;
    let host = stage.open().await?;
    let before = host.snapshot();
    ensure!(before.tool(&long).is_some());
    replace(
        &module(&stage, &format!("{long}.wasm")),
        &versions.module(2),
    )?;
    let snapshot = host.reload().await;
    ensure!(snapshot.tool(&long).is_some());
    for fault in snapshot.broken() {
        ensure!(fault.serving.is_some(), "{fault:?}");
    }
    assert_eq!(snapshot.broken().len(), 2);
    // Looking again changes nothing.
    ensure!(Arc::ptr_eq(&snapshot, &host.reload().await));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_comes_to_lead_out_of_the_folder_replaces_nothing() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let outside = stage.path("outside.wasm");
    fs::write(&outside, versions.module(2))?;
    let file = module(&stage, "skill.wasm");
    fs::remove_file(&file)?;
    symlink(&outside, &file)?;
    let snapshot = host.reload().await;
    let fault = fault(&snapshot, "skill")?;
    ensure!(fault.reason.contains("leads out"), "{}", fault.reason);
    assert_version(&host, TELL, 1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_whose_file_is_gone_takes_its_tools_with_it() -> Result<()> {
    let (stage, _) = stage()?;
    let (file, behind) = (module(&stage, "skill.wasm"), module(&stage, "behind"));
    fs::rename(&file, &behind)?;
    symlink("behind", &file)?;
    let host = stage.open().await?;
    assert_version(&host, TELL, 1).await?;
    fs::remove_file(&behind)?;
    let snapshot = host.reload().await;
    ensure!(snapshot.tool(TELL).is_none(), "it is still there");
    let fault = fault(&snapshot, "skill")?;
    ensure!(fault.reason.contains("leads nowhere"), "{}", fault.reason);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_somebody_is_writing_is_left_alone_until_it_is_complete() -> Result<()> {
    use std::io::Write as _;

    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let (bytes, file) = (versions.module(2), module(&stage, "skill.wasm"));
    let mut writer = File::create(&file)?;
    // Cut here it is a whole module, too.
    writer.write_all(&bytes)?;
    let snapshot = host.reload().await;
    let fault = fault(&snapshot, "skill")?;
    ensure!(fault.reason.contains("being written"), "{}", fault.reason);
    assert_version(&host, TELL, 1).await?;
    drop(writer);
    ensure!(host.reload().await.broken().is_empty());
    assert_version(&host, TELL, 2).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_becomes_a_folder_leaves_nothing_behind() -> Result<()> {
    let (stage, _) = stage()?;
    let host = stage.open().await?;
    let folder = stage.folder("modules/skill")?;
    fs::rename(module(&stage, "skill.wasm"), folder.join("skill.wasm"))?;
    let snapshot = host.reload().await;
    ensure!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
    assert_version(&host, TELL, 1).await?;
    ensure!(Arc::ptr_eq(&snapshot, &host.reload().await));
    Ok(())
}

/// Root reads everything; what this thread starts is no such root.
pub(super) fn give_up_reading_everything() -> Result<()> {
    let all = capabilities(None)?;
    let reading = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(
        None,
        CapabilitySets {
            effective: all.effective - reading,
            permitted: all.permitted - reading,
            inheritable: all.inheritable - reading,
        },
    )?;
    Ok(())
}

#[test]
fn a_permission_that_is_taken_away_and_given_back_makes_no_gap() -> Result<()> {
    let checked = std::thread::spawn(|| {
        give_up_reading_everything()?;
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?
            .block_on(without_permission())
    });
    checked.join().expect("it does not panic")
}

async fn without_permission() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let (folder, file) = (stage.path("modules"), module(&stage, "skill.wasm"));
    replace(&file, &versions.module(2))?;
    for path in [&file, &folder] {
        let kept = path.metadata()?.permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(0o000))?;
        let snapshot = host.reload().await;
        ensure!(!snapshot.broken().is_empty(), "{}", path.display());
        assert_version(&host, TELL, 1).await?;
        assert_healthy(&host).await?;
        fs::set_permissions(path, kept)?;
    }
    ensure!(host.reload().await.broken().is_empty());
    assert_version(&host, TELL, 2).await?;
    // What else claims the name and can not serve makes no difference.
    let other = stage.folder("modules/skill")?.join("skill.wasm");
    fs::write(&other, "broken")?;
    host.reload().await;
    let kept = folder.metadata()?.permissions();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000))?;
    host.reload().await;
    assert_version(&host, TELL, 2).await?;
    fs::set_permissions(&folder, kept)?;
    host.reload().await;
    assert_version(&host, TELL, 2).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fresh_start_in_the_middle_of_a_copy_waits_for_its_end() -> Result<()> {
    let stage = Stage::new()?;
    let bytes = fs::read(guest("sort")?)?;
    let file = module(&stage, "copied.wasm");
    let mut writer = File::create(&file)?;
    std::io::Write::write_all(&mut writer, &bytes)?;
    let host = stage.open().await?;
    let fault = fault(&host.snapshot(), "copied")?;
    ensure!(fault.reason.contains("being written"), "{}", fault.reason);
    drop(writer);
    ensure!(host.reload().await.tool("copied").is_some());
    Ok(())
}
