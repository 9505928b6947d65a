//! The steps of a storm: one thing that somebody does to files, chosen at random.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use rustix::fs::{CWD, Mode, mkfifoat};
use tokio::process::Command;

use super::contents::spoiled;
use super::scene::{FLEETING, LINKED, Scene};
use super::writers::{self, Way, run};

impl Scene {
    /// Does one thing.
    pub async fn step(&mut self) -> Result<()> {
        if self.held.is_some() && self.random.once_in(3) {
            return self.finish_held().await;
        }
        match self.random.below(24) {
            0..=6 => self.renew().await,
            7..=9 => self.spoil().await,
            10 => self.cut_in_place(),
            11 => self.touch(),
            12 => self.litter(),
            13 => self.hold(),
            14 => self.swap_links().await,
            15 | 16 => self.twins().await,
            17 | 18 => self.configure().await,
            19 => self.forbid().await,
            20 => self.move_everything().await,
            21 => self.move_own().await,
            22 => self.vanish().await,
            _ => self.strangers(),
        }
    }

    /// Another version.
    async fn renew(&mut self) -> Result<()> {
        let (target, version) = (self.target(), self.version());
        let way = self.random.one_of(&Way::ALL);
        self.note(&format!("{} by {way:?}: {version}", target.file));
        self.put(way, target, &self.versions.module(version))
            .await?;
        if self.random.once_in(2) {
            self.served(target.tool, version).await?;
        }
        Ok(())
    }

    /// What can not serve, or a cut that took nothing that matters.
    async fn spoil(&mut self) -> Result<()> {
        let (target, version) = (self.target(), self.version());
        let way = self.random.one_of(&Way::ALL);
        let (what, bytes) = spoiled(&self.versions.module(version), &mut self.random)?;
        self.note(&format!("{} by {way:?}: {what}", target.file));
        self.put(way, target, &bytes).await
    }

    /// `truncate -s`.
    fn cut_in_place(&mut self) -> Result<()> {
        let target = self.target();
        let path = self.stage.path(target.file);
        if let Ok(file) = File::options().write(true).open(path) {
            let length = self.random.below(70_000);
            self.note(&format!("{} is cut to {length} bytes", target.file));
            file.set_len(length as u64)?;
        }
        Ok(())
    }

    /// Times and modes that change, and nothing else.
    fn touch(&mut self) -> Result<()> {
        let target = self.target();
        let path = self.stage.path(target.file);
        if let Ok(file) = File::open(&path) {
            self.note(&format!("{} is touched", target.file));
            let ago = Duration::from_secs(self.random.below(100_000) as u64);
            let time = SystemTime::now() - ago;
            file.set_times(FileTimes::new().set_modified(time))?;
            let mode = self.random.one_of(&[0o644, 0o755, 0o600]);
            fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// What editors and copies leave beside a file.
    fn litter(&mut self) -> Result<()> {
        let target = self.target();
        let path = self.stage.path(target.file);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let all = [
            format!("{name}~"),
            format!(".{name}.swp"),
            "4913".to_owned(),
            format!("#{name}#"),
            format!("{name}.bak"),
            format!("{name}.part"),
            format!(".{name}.x7Yz3q"),
            ".hidden.wasm".to_owned(),
            "README.md".to_owned(),
        ];
        let litter = path.with_file_name(self.random.one_of(&all));
        self.note(&format!("{} comes and goes", litter.display()));
        fs::write(&litter, self.versions.module(1))?;
        if self.random.once_in(2) {
            fs::remove_file(litter)?;
        }
        Ok(())
    }

    /// `..data` is made to lead to a new folder, as Kubernetes does it.
    async fn swap_links(&mut self) -> Result<()> {
        let version = self.version();
        self.used += 1;
        self.note(&format!("..data leads to ..{}: {version}", self.used));
        let (data, link) = (
            self.stage.path("modules/..data"),
            format!("..{}", self.used),
        );
        let before = fs::read_link(&data)?;
        let folder = self.stage.folder(&format!("modules/{link}"))?;
        fs::write(folder.join("linked.wasm"), self.versions.module(version))?;
        let temporary = self.stage.path("modules/..data_tmp");
        symlink(link, &temporary)?;
        fs::rename(temporary, data)?;
        if self.random.once_in(2) {
            fs::remove_dir_all(self.stage.path("modules").join(before))?;
        }
        self.served(LINKED.tool, version).await
    }

    /// The configuration: another, a bad one, none for a while.
    async fn configure(&mut self) -> Result<()> {
        let (path, good) = (self.config_path(), self.stage.text());
        let way = self.random.one_of(&Way::ALL);
        let seconds = 20 + self.random.below(10);
        let other = good.replace("timeout_secs = 29", &format!("timeout_secs = {seconds}"));
        let (what, text) = match self.random.below(7) {
            0 => ("no TOML", "[runtime\n".to_owned()),
            1 => ("an unknown key", good + "[runtime.wasm.x]\ny = 1\n"),
            2 => ("empty", String::new()),
            3 => {
                self.note("the configuration goes and comes back");
                fs::remove_file(&path)?;
                if self.random.once_in(2) {
                    self.said_to_be_broken("(configuration)", true).await?;
                }
                ("the one before", good)
            }
            _ => ("another", other),
        };
        self.note(&format!("the configuration by {way:?}: {what}"));
        writers::put(way, &path, text.as_bytes(), &mut self.random).await?;
        if self.random.once_in(2) {
            let is_bad = !matches!(what, "another" | "the one before");
            self.said_to_be_broken("(configuration)", is_bad).await?;
        }
        Ok(())
    }

    /// A file, or a folder, that may not be read for a while.
    async fn forbid(&mut self) -> Result<()> {
        let target = self.target();
        let file = self.random.one_of(&[target.file, "modules", "modules/own"]);
        let path = self.stage.path(file);
        let Ok(data) = path.metadata() else {
            return Ok(());
        };
        self.note(&format!("{file} may not be read for a while"));
        fs::set_permissions(&path, Permissions::from_mode(0o0))?;
        if self.random.once_in(2) {
            let pause = self.random.below(150);
            tokio::time::sleep(Duration::from_millis(pause as u64)).await;
        }
        fs::set_permissions(&path, data.permissions())?;
        Ok(())
    }

    /// The whole module folder is moved away, and a copy of it takes its place.
    async fn move_everything(&mut self) -> Result<()> {
        if self.held.is_some() {
            // The copy would never be complete.
            return Ok(());
        }
        self.note("the module folder is another");
        let [now, next, before] = ["modules", "next", "before"].map(|name| self.stage.path(name));
        run(Command::new("cp").arg("-a").arg(&now).arg(&next)).await?;
        let started = Instant::now();
        replace_folder(&now, &next, &before)?;
        self.folder_was_away(started, started.elapsed());
        fs::remove_dir_all(before)?;
        Ok(())
    }

    /// The folder of a skill is replaced by another.
    async fn move_own(&mut self) -> Result<()> {
        let is_held = |held: &super::held::Held| held.target.tool == "own_tell";
        if self.held.as_ref().is_some_and(is_held) {
            return Ok(());
        }
        let version = self.version();
        self.note(&format!("the folder own is another: {version}"));
        let next = self.stage.folder("next-own")?;
        fs::write(next.join("skill.wasm"), self.versions.module(version))?;
        let (own, before) = (
            self.stage.path("modules/own"),
            self.stage.path("before-own"),
        );
        let started = Instant::now();
        replace_folder(&own, &next, &before)?;
        self.was_away(&["own_tell"], started, started.elapsed());
        fs::remove_dir_all(before)?;
        self.served("own_tell", version).await
    }

    /// A file that is gone for good, or for a while.
    pub async fn vanish(&mut self) -> Result<()> {
        if self
            .held
            .as_ref()
            .is_some_and(|held| held.target == FLEETING)
        {
            return Ok(());
        }
        self.note(&format!("{} goes", FLEETING.file));
        self.witness.may_be_missed(FLEETING.tool, Instant::now());
        writers::remove(&self.stage.path(FLEETING.file))?;
        if self.random.once_in(2) {
            super::agreement::until(&self.host, "it is gone", |snapshot| {
                snapshot.tool(FLEETING.tool).is_none()
            })
            .await?;
        }
        Ok(())
    }

    /// Things of other kinds that have a module's name, and modules that nobody calls.
    fn strangers(&mut self) -> Result<()> {
        self.used += 1;
        let used = self.used;
        let path = |name: &str| self.stage.path(&format!("modules/{name}-{used}.wasm"));
        let what = match self.random.below(6) {
            0 => {
                mkfifoat(CWD, path("pipe"), Mode::from_raw_mode(0o644))?;
                "a pipe"
            }
            1 => {
                symlink("nowhere.wasm", path("dangling"))?;
                "a link that leads nowhere"
            }
            2 => {
                let path = path("loop");
                symlink(path.file_name().unwrap_or_default(), &path)?;
                "a link that leads to itself"
            }
            3 => {
                fs::create_dir(path("folder"))?;
                "a folder"
            }
            4 => {
                fs::copy(self.stage.path("modules/echo.wasm"), path("more"))?;
                "one more module"
            }
            _ => {
                fs::write(path("a bad.name"), self.versions.module(1))?;
                "a name that can not be"
            }
        };
        self.note(what);
        Ok(())
    }
}

/// Moves a folder away and another in its place.
fn replace_folder(now: &Path, next: &Path, before: &Path) -> Result<()> {
    fs::rename(now, before)?;
    fs::rename(next, now)?;
    Ok(())
}
