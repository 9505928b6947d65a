//! The cache of compiled modules: what is known is not compiled again, and whatever else
//! lies there is never believed.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use prx_host::{Host, LoadEvent};
use prx_tests::calls::{assert_healthy, structured};
use prx_tests::{Stage, guest, process};
use serde_json::json;

/// Opens a host and tells which modules it had from the cache, by their file stems.
async fn open(stage: &Stage) -> Result<(Host, BTreeMap<String, bool>)> {
    let loaded = Arc::new(Mutex::new(BTreeMap::new()));
    let writer = Arc::clone(&loaded);
    let host = stage.host()?.on_load(Arc::new(move |event| {
        if let LoadEvent::Loaded {
            module,
            ok,
            from_cache,
        } = event
        {
            assert!(ok, "{}", module.display());
            let stem = module.file_stem().unwrap_or_default();
            let stem = stem.to_string_lossy().into_owned();
            writer
                .lock()
                .expect("no listener panics")
                .insert(stem, from_cache);
        }
    }));
    let host = host.open().await?;
    let loaded = std::mem::take(&mut *loaded.lock().expect("no listener panics"));
    ensure!(loaded.len() == 2, "{loaded:?}");
    Ok((host, loaded))
}

/// The files of a folder, with what changes when one is written.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, (u64, i64, i64)>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let about = fs::metadata(&path)?;
        files.insert(path, (about.ino(), about.mtime(), about.mtime_nsec()));
    }
    Ok(files)
}

/// The files of the cache of that kind: `code` or `descriptor`.
fn of_kind(stage: &Stage, kind: &str) -> Result<Vec<PathBuf>> {
    let all = files(&stage.path("cache"))?.into_keys();
    let found: Vec<PathBuf> = all
        .filter(|path| path.extension() == Some(kind.as_ref()))
        .collect();
    ensure!(found.len() == 2, "{kind}: {found:?}");
    Ok(found)
}

async fn filled() -> Result<Stage> {
    let stage = Stage::new()?.own_cache();
    let (host, loaded) = open(&stage).await?;
    ensure!(loaded.values().all(|from_cache| !from_cache), "{loaded:?}");
    assert_healthy(&host).await?;
    Ok(stage)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_host_compiles_nothing_and_writes_nothing() -> Result<()> {
    let stage = filled().await?;
    let before = files(&stage.path("cache"))?;
    for _ in 0..3 {
        let (host, loaded) = open(&stage).await?;
        ensure!(loaded.values().all(|from_cache| *from_cache), "{loaded:?}");
        assert_eq!(host.cache_problem(), None);
        assert_healthy(&host).await?;
    }
    let after: Vec<PathBuf> = files(&stage.path("cache"))?.into_keys().collect();
    assert_eq!(after, before.keys().cloned().collect::<Vec<_>>());
    for (path, about) in files(&stage.path("cache"))? {
        assert_eq!(
            about.0,
            before[&path].0,
            "{} was written anew",
            path.display()
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_module_is_compiled_and_the_old_one_is_not_served() -> Result<()> {
    let stage = filled().await?;
    fs::copy(guest("instance_state")?, stage.path("modules/trivial.wasm"))?;
    let (host, loaded) = open(&stage).await?;
    assert!(loaded["echo"] && !loaded["trivial"], "{loaded:?}");
    let count = structured(&host, "trivial", json!({})).await?;
    assert_eq!(count, json!({ "calls": 1 }));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_module_under_another_name_is_known() -> Result<()> {
    let stage = filled().await?;
    fs::rename(
        stage.path("modules/echo.wasm"),
        stage.path("modules/echo2.wasm"),
    )?;
    let (_, loaded) = open(&stage).await?;
    assert!(loaded["echo2"]);
    fs::rename(
        stage.path("modules/echo2.wasm"),
        stage.path("modules/echo.wasm"),
    )?;
    Ok(())
}

/// A way to spoil a file of the cache.
type Spoil = fn(&Path) -> std::io::Result<()>;

const WAYS: [(&str, Spoil); 9] = [
    ("a bit is flipped", |path| {
        let mut bytes = fs::read(path)?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes)
    }),
    ("the end is cut", |path| {
        let bytes = fs::read(path)?;
        fs::write(path, &bytes[..bytes.len() - 1])
    }),
    ("half is cut", |path| {
        let bytes = fs::read(path)?;
        fs::write(path, &bytes[..bytes.len() / 2])
    }),
    ("all is cut", |path| fs::write(path, "")),
    ("all is zero", |path| {
        fs::write(path, vec![0; fs::read(path)?.len()])
    }),
    ("a byte is added", |path| {
        let mut bytes = fs::read(path)?;
        bytes.push(0);
        fs::write(path, bytes)
    }),
    ("it is gone", |path| fs::remove_file(path)),
    ("it is a folder", |path| {
        fs::remove_file(path)?;
        fs::create_dir(path)
    }),
    ("others may write it", |path| {
        fs::set_permissions(path, Permissions::from_mode(0o666))
    }),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spoilt_entry_is_made_anew_and_the_answers_are_right() -> Result<()> {
    for kind in ["code", "descriptor"] {
        for (what, spoil) in WAYS {
            let stage = filled().await?;
            for path in of_kind(&stage, kind)? {
                spoil(&path)?;
            }
            let (host, loaded) = open(&stage).await?;
            if kind == "descriptor" {
                let all_anew = loaded.values().all(|from_cache| !from_cache);
                ensure!(all_anew, "{kind}: {what}: {loaded:?}");
            }
            assert_healthy(&host).await?;
            drop(host);
            // Now it is whole again.
            let (host, loaded) = open(&stage).await?;
            let known = loaded.values().all(|from_cache| *from_cache);
            ensure!(known, "{kind}: {what}: {loaded:?}");
            assert_healthy(&host).await?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_of_another_cache_or_module_is_not_believed() -> Result<()> {
    let (stage, foreign) = (filled().await?, filled().await?);
    for path in files(&foreign.path("cache"))?.into_keys() {
        let name = path.file_name().unwrap_or_default();
        if path.extension().is_some() {
            fs::copy(&path, stage.path("cache").join(name))?;
        }
    }
    let (host, loaded) = open(&stage).await?;
    ensure!(loaded.values().all(|from_cache| !from_cache), "{loaded:?}");
    assert_healthy(&host).await?;
    drop(host);

    // The code of one module in the place of the other's, and the other way round.
    let stage = filled().await?;
    for kind in ["code", "descriptor"] {
        let [one, two] = &of_kind(&stage, kind)?[..] else {
            anyhow::bail!("not two");
        };
        let aside = stage.path("aside");
        fs::rename(one, &aside)?;
        fs::rename(two, one)?;
        fs::rename(&aside, two)?;
        let (host, _) = open(&stage).await?;
        assert_healthy(&host).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_usable_folder_all_is_compiled_and_the_reason_is_told() -> Result<()> {
    let stage = Stage::new()?;
    let file = stage.path("file");
    fs::write(&file, "not a folder")?;
    let open_to_all = stage.folder("open_to_all")?;
    fs::set_permissions(&open_to_all, Permissions::from_mode(0o777))?;
    let stage = stage.cache_in(&file.join("cache"));
    for folder in [file.join("cache"), open_to_all] {
        let stage = Stage::new()?.cache_in(&folder);
        for _ in 0..2 {
            let (host, loaded) = open(&stage).await?;
            ensure!(loaded.values().all(|from_cache| !from_cache), "{loaded:?}");
            let problem = host.cache_problem().unwrap_or_default().to_owned();
            ensure!(problem.contains(&folder.display().to_string()), "{problem}");
            ensure!(problem.contains("runtime.wasm.cache_path"), "{problem}");
            assert_healthy(&host).await?;
        }
    }
    drop(stage);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cache_that_is_removed_under_a_host_is_no_loss() -> Result<()> {
    let stage = filled().await?;
    let (host, loaded) = open(&stage).await?;
    ensure!(loaded.values().all(|from_cache| *from_cache), "{loaded:?}");
    // The code is not loaded before somebody calls.
    fs::remove_dir_all(stage.path("cache"))?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_hosts_fill_one_cache_at_the_same_time() -> Result<()> {
    if let Some(root) = process::role() {
        let stage = Stage::at(Path::new(&root))?.own_cache();
        let (one, two) = tokio::join!(open(&stage), open(&stage));
        assert_healthy(&one?.0).await?;
        return assert_healthy(&two?.0).await;
    }
    let stage = Stage::new()?.own_cache();
    let test = several_hosts_fill_one_cache_at_the_same_time;
    process::several(&test, 3, stage.root())?;
    let (host, loaded) = open(&stage).await?;
    ensure!(loaded.values().all(|from_cache| *from_cache), "{loaded:?}");
    assert_healthy(&host).await
}
