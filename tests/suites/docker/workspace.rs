//! The workspace in a container: where it is, who owns what is written, what is refused.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

use anyhow::{Result, ensure};
use prx_host::config::{Config, Environment};
use prx_host::{DockerAdapter, RuntimeAdapter as _, RuntimeError};
use prx_tests::containers::{Kind, LONG, Yard, printed};

#[tokio::test]
async fn a_command_starts_in_the_workspace_and_writes_it() -> Result<()> {
    let yard = Yard::new()?;
    fs::write(yard.workspace().join("given"), "given")?;
    let output = yard.shell("pwd; cat given; printf made > made").await?;
    assert_eq!(printed(&output)?, "/workspace\ngiven");
    assert_eq!(fs::read_to_string(yard.workspace().join("made"))?, "made");
    let made = fs::metadata(yard.workspace().join("made"))?;
    let own = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    assert_eq!(
        (made.uid(), made.gid()),
        own,
        "it belongs to the user of the host"
    );
    Ok(())
}

#[tokio::test]
async fn for_a_host_that_is_root_files_belong_to_the_owner_of_the_workspace() -> Result<()> {
    if Kind::given()?.is_rootless() {
        return Ok(()); // This host is an ordinary user.
    }
    let yard = Yard::new()?;
    chown(yard.workspace(), Some(4321), Some(4322))?;
    let output = yard
        .shell("id -u; id -g; mkdir -p a/b; echo x > a/b/made; cat /etc/shadow; true")
        .await?;
    assert_eq!(printed(&output)?, "4321\n4322\n");
    let made = fs::metadata(yard.workspace().join("a/b/made"))?;
    assert_eq!((made.uid(), made.gid()), (4321, 4322));
    Ok(())
}

#[tokio::test]
async fn a_root_without_capabilities_obeys_permissions() -> Result<()> {
    let yard = Yard::new()?;
    let closed = yard.workspace().join("closed");
    fs::write(&closed, "secret")?;
    let only_of_others = !Kind::given()?.is_rootless();
    let mode = if only_of_others { 0o600 } else { 0 };
    fs::set_permissions(&closed, fs::Permissions::from_mode(mode))?;
    if only_of_others {
        chown(&closed, Some(4321), Some(4322))?;
    }
    let owner = fs::metadata(&closed)?.uid();
    let output = yard
        .shell("id -u; cat closed; chown 1:1 closed; true")
        .await?;
    assert_eq!(printed(&output)?, "0\n");
    assert_eq!(fs::metadata(&closed)?.uid(), owner);
    Ok(())
}

#[tokio::test]
async fn a_folder_in_the_workspace_can_be_the_working_folder_and_no_other() -> Result<()> {
    let yard = Yard::with("workspace_mount_path = \"/srv/project\"\n")?;
    fs::create_dir_all(yard.workspace().join("a b/c"))?;
    fs::create_dir(yard.beside("outside"))?;
    symlink(yard.beside("outside"), yard.workspace().join("link"))?;
    fs::write(yard.workspace().join("file"), "")?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let at = |path| {
        let (adapter, none) = (&adapter, &none);
        async move { adapter.execute("pwd", &[], none, Some(path), LONG).await }
    };
    let folder = yard.workspace().join("a b/c");
    assert_eq!(
        printed(&at(folder.as_path()).await?)?,
        "/srv/project/a b/c\n"
    );
    let wrong_ones = [
        yard.beside("outside"),
        yard.workspace().join("link"),
        yard.workspace().join(".."),
        yard.workspace().join("file"),
        yard.workspace().join("missing"),
    ];
    for wrong in &wrong_ones {
        let error = at(wrong.as_path()).await.expect_err("refused");
        ensure!(
            matches!(error, RuntimeError::WorkingDirectory { .. }),
            "{error:?}"
        );
    }
    assert!(
        !yard.workspace().join("missing").exists(),
        "nobody makes it"
    );
    Ok(())
}

#[tokio::test]
async fn a_link_in_the_workspace_leads_nowhere_on_this_machine() -> Result<()> {
    let yard = Yard::new()?;
    fs::write(yard.beside("secret"), "secret")?;
    symlink(yard.beside("secret"), yard.workspace().join("absolute"))?;
    symlink("../secret", yard.workspace().join("relative"))?;
    let output = yard.shell("cat absolute relative; true").await?;
    assert_eq!(printed(&output)?, "");
    Ok(())
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_an_error_until_it_is_back() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    fs::remove_dir(yard.workspace())?;
    let none = HashMap::new();
    let error = adapter
        .execute("true", &[], &none, None, LONG)
        .await
        .expect_err("gone");
    ensure!(
        matches!(error, RuntimeError::WorkingDirectory { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("runtime.workspace"), "{error}");
    assert!(!yard.workspace().exists(), "nobody makes it");
    fs::create_dir(yard.workspace())?;
    assert!(
        adapter
            .execute("true", &[], &none, None, LONG)
            .await?
            .is_success()
    );
    Ok(())
}

#[tokio::test]
async fn the_whole_machine_is_never_mounted() -> Result<()> {
    let yard = Yard::new()?;
    symlink("/", yard.beside("link"))?;
    for workspace in ["/", "/proc/self/root", "link", "/usr/.."] {
        let text = format!(
            "[runtime]\nworkspace = {workspace:?}\n[runtime.docker]\nsocket = {:?}\nimage = {:?}\n",
            yard.socket.display().to_string(),
            yard.image
        );
        let environment = yard.environment();
        let config = config(&text, &yard, &environment)?;
        let adapter = DockerAdapter::connect(&config, &environment).await?;
        let none = HashMap::new();
        let error = adapter
            .execute("true", &[], &none, None, LONG)
            .await
            .expect_err("refused");
        ensure!(matches!(error, RuntimeError::Folder { .. }), "{error:?}");
        assert!(error.to_string().contains("whole machine"), "{error}");
    }
    Ok(())
}

fn config(text: &str, yard: &Yard, environment: &Environment) -> Result<Config> {
    Config::from_toml(text, &yard.beside("config.toml"), environment)
        .map(|loaded| loaded.config)
        .map_err(|faults| anyhow::anyhow!("{faults}"))
}

#[tokio::test]
async fn what_tells_the_host_what_to_do_can_not_be_changed_in_a_container() -> Result<()> {
    let yard = Yard::new()?;
    let folder = yard.workspace().join("settings");
    fs::create_dir_all(folder.join("modules"))?;
    fs::write(folder.join("modules/given.wasm"), "given")?;
    let text = format!(
        "[runtime]\nworkspace = {:?}\n[runtime.wasm]\nmodule_path = {:?}\n\
         [runtime.docker]\nsocket = {:?}\nimage = {:?}\n",
        yard.workspace(),
        folder.join("modules"),
        yard.socket,
        yard.image
    );
    let file = folder.join("config.toml");
    fs::write(&file, &text)?;
    let environment = yard.environment();
    let config = Config::from_toml(&text, &file, &environment)
        .map_err(|faults| anyhow::anyhow!("{faults}"))?
        .config;
    let adapter = DockerAdapter::connect(&config, &environment).await?;
    let line = "cd settings; exec 2>&1; echo x >> config.toml; rm config.toml; \
                echo x > other; mv other config.toml; mv modules old; echo x > modules/new.wasm; \
                rm modules/given.wasm; cd ..; mv settings old; cat settings/config.toml; \
                echo x > made && echo x > settings/made && echo written";
    let none = HashMap::new();
    let args = ["-c".to_owned(), line.to_owned()];
    let output = adapter.execute("sh", &args, &none, None, LONG).await?;
    let said = printed(&output)?;
    assert!(said.contains("[runtime.wasm]"), "it can be read: {said}");
    assert!(said.ends_with("written\n"), "all else is free: {said}");
    assert_eq!(fs::read_to_string(&file)?, text);
    assert_eq!(fs::read_dir(folder.join("modules"))?.count(), 1);
    assert_eq!(
        fs::read_to_string(folder.join("modules/given.wasm"))?,
        "given"
    );
    assert!(yard.workspace().join("made").exists() && folder.join("made").exists());
    Ok(())
}

#[tokio::test]
async fn without_a_mount_nothing_of_this_machine_is_there_and_nobody_runs() -> Result<()> {
    let yard = Yard::with("mount_workspace = false\n")?;
    let output = yard.shell("id -u; ls /workspace; pwd").await?;
    assert_eq!(printed(&output)?, "65534\n/\n");
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let workspace = yard.workspace();
    let error = adapter
        .execute("pwd", &[], &none, Some(&workspace), LONG)
        .await;
    let error = error.expect_err("there is no such folder there");
    assert!(error.to_string().contains("mount_workspace"), "{error}");
    Ok(())
}
