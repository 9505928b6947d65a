//! The files of a folder, as resources.
//!
//! Invariants: nothing is read that lies outside of the folder, whatever links and addresses
//! say, nor what is hidden or no regular file; nobody waits for a pipe; all of it is bounded.
//! Everything here blocks.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::file_state::Stamp;
use crate::model::format_bytes;

/// Bytes of a file that can be read: encoded, they must fit into one message.
const MAX_BYTES: u64 = 1 << 20;
/// Files of a folder that are listed.
const MAX_FILES: usize = 10_000;
/// Entries that are looked at for that.
const MAX_ENTRIES: usize = 100_000;
/// Folders within folders.
const MAX_DEPTH: usize = 32;

/// What a name keeps of itself in an address: the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The files of one folder that are offered.
#[derive(Clone, Debug)]
pub(in crate::mcp) struct Files {
    folder: PathBuf,
    /// What addresses begin with; ends with `/`.
    prefix: String,
    include: GlobSet,
}

/// One file that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mcp) struct File {
    /// Its path in the folder.
    pub path: String,
    pub size: u64,
    pub stamp: Stamp,
}

/// Why a file can not be read. Says nothing of where the folder is.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum FolderError {
    #[error("there is no such file")]
    Missing,
    #[error("it has {}, and up to {} can be read", format_bytes(*.0), format_bytes(MAX_BYTES))]
    TooLarge(u64),
    #[error("the file can not be read: {}", .0.kind())]
    Unreadable(io::Error),
    #[error("its folder can not be opened: {}", .0.kind())]
    NoFolder(io::Error),
}

impl Files {
    /// The files of a folder whose paths match one of the globs.
    pub fn new(folder: &Path, prefix: &str, include: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        for pattern in include {
            // `*` is one name of a path; the configuration has checked them.
            if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
                set.add(glob);
            }
        }
        Self {
            folder: folder.to_owned(),
            prefix: prefix.to_owned(),
            include: set.build().unwrap_or_default(),
        }
    }

    /// Whether an address would be one of its files.
    pub fn are_meant(&self, uri: &str) -> Option<usize> {
        uri.starts_with(&self.prefix).then_some(self.prefix.len())
    }

    /// The address of a file.
    pub fn uri(&self, path: &str) -> String {
        let names = path.split('/');
        let names: Vec<String> = names
            .map(|name| utf8_percent_encode(name, ENCODED).to_string())
            .collect();
        format!("{}{}", self.prefix, names.join("/"))
    }

    /// The path that an address names, if it can be one that is offered.
    pub fn path(&self, uri: &str) -> Option<String> {
        let names = uri.strip_prefix(&self.prefix)?.split('/');
        let names = names.map(|name| {
            let name = percent_decode_str(name).decode_utf8().ok()?;
            let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
            is_name.then(|| name.into_owned())
        });
        let path = names.collect::<Option<Vec<String>>>()?.join("/");
        self.include.is_match(&path).then_some(path)
    }

    fn open(&self) -> Result<Dir, FolderError> {
        Dir::open_ambient_dir(&self.folder, ambient_authority()).map_err(FolderError::NoFolder)
    }

    /// All files by address, as many as are listed.
    pub fn list(&self) -> Result<BTreeMap<String, File>, FolderError> {
        let root = self.open()?;
        let (mut files, mut seen) = (BTreeMap::new(), 0);
        let mut folders = vec![(String::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let at = if folder.is_empty() { "." } else { &folder };
            // What can not be looked into has no files for anybody.
            for entry in root.read_dir(at).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MAX_ENTRIES || files.len() >= MAX_FILES {
                    tracing::warn!(
                        folder = %self.folder.display(),
                        "only the first {} of the files in it are offered", files.len()
                    );
                    return Ok(files);
                }
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
                    continue;
                };
                let path = match folder.as_str() {
                    "" => name.to_owned(),
                    folder => format!("{folder}/{name}"),
                };
                // Links to folders are not gone into: they may go round in a ring.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if depth < MAX_DEPTH {
                        folders.push((path, depth + 1));
                    }
                } else if let Some(file) = self.file(&root, path) {
                    files.insert(self.uri(&file.path), file);
                }
            }
        }
        Ok(files)
    }

    /// A path as a file that is offered.
    fn file(&self, root: &Dir, path: String) -> Option<File> {
        if !self.include.is_match(&path) {
            return None;
        }
        let real = visible(root, &path)?;
        let found = root.metadata(real).ok()?;
        found.is_file().then(|| File {
            path,
            size: found.len(),
            stamp: Stamp::of(&found),
        })
    }

    /// The file of that path as it is now.
    pub fn look(&self, path: &str) -> Option<File> {
        self.file(&self.open().ok()?, path.to_owned())
    }

    /// The bytes of a file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FolderError> {
        let root = self.open()?;
        let real = visible(&root, path).ok_or(FolderError::Missing)?;
        let is_file = |found: io::Result<cap_std::fs::Metadata>| match found {
            Ok(found) if found.is_file() => Ok(found.len()),
            Ok(_) => Err(FolderError::Missing),
            Err(error) => Err(of_system(error)),
        };
        // Opening a device may do something by itself.
        is_file(root.metadata(&real))?;
        let mut how = OpenOptions::new();
        how.read(true).custom_flags(libc::O_NONBLOCK);
        let file = root.open_with(&real, &how).map_err(of_system)?;
        let size = is_file(file.metadata())?;
        if size > MAX_BYTES {
            return Err(FolderError::TooLarge(size));
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(FolderError::Unreadable)?;
        // It may have grown since.
        match bytes.len() as u64 {
            size if size > MAX_BYTES => Err(FolderError::TooLarge(size)),
            _ => Ok(bytes),
        }
    }
}

/// Where a path really leads within the folder; `None`: nowhere, out of it, or to what is
/// hidden.
fn visible(root: &Dir, path: &str) -> Option<PathBuf> {
    let real = root.canonicalize(path).ok()?;
    let hidden = |part: Component<'_>| match part {
        Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
        _ => true,
    };
    (!real.components().any(hidden)).then_some(real)
}

fn of_system(error: io::Error) -> FolderError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FolderError::Missing,
        _ => FolderError::Unreadable(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn files(folder: &Path, include: &str) -> Files {
        Files::new(folder, "docs://x/", &[include.to_owned()])
    }

    #[test]
    fn names_survive_the_way_into_addresses_and_back() {
        let files = files(Path::new("/"), "**");
        for (path, uri) in [
            ("a.md", "docs://x/a.md"),
            ("a b/c%20d.md", "docs://x/a%20b/c%2520d.md"),
            ("gr\u{fc}n?.md", "docs://x/gr%C3%BCn%3F.md"),
            ("a..b", "docs://x/a..b"),
        ] {
            assert_eq!(files.uri(path), uri);
            assert_eq!(files.path(uri).as_deref(), Some(path));
        }
        assert_eq!(
            files.path("docs://x/gr\u{fc}n.md").as_deref(),
            Some("gr\u{fc}n.md")
        );
        for uri in [
            "docs://x/",
            "docs://x/..",
            "docs://x/../a",
            "docs://x/a/%2e%2e/b",
            "docs://x/a%2Fb",
            "docs://x//a",
            "docs://x/.hidden",
            "docs://x/a%00",
            "docs://x/%ff",
            "docs://y/a",
        ] {
            assert_eq!(files.path(uri), None, "{uri}");
        }
    }

    #[test]
    fn globs_choose_and_stars_stay_within_a_name() {
        let all = files(Path::new("/"), "**/*.md");
        assert!(all.path("docs://x/a/b.md").is_some() && all.path("docs://x/b.md").is_some());
        assert!(all.path("docs://x/b.txt").is_none());
        assert!(
            files(Path::new("/"), "*.md")
                .path("docs://x/a/b.md")
                .is_none()
        );
    }

    #[test]
    fn links_are_followed_within_the_folder_only() {
        let stage = tempfile::tempdir().unwrap();
        let root = stage.path().join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(stage.path().join("secret.md"), "secret").unwrap();
        fs::write(root.join("sub/a.md"), "inside").unwrap();
        fs::write(root.join(".hidden.md"), "hidden").unwrap();
        symlink("sub/a.md", root.join("inside.md")).unwrap();
        symlink("../secret.md", root.join("relative.md")).unwrap();
        symlink(stage.path().join("secret.md"), root.join("absolute.md")).unwrap();
        symlink(".hidden.md", root.join("to_hidden.md")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("loop.md", root.join("loop.md")).unwrap();
        let files = files(&root, "**");
        let listed: Vec<String> = files.list().unwrap().into_keys().collect();
        assert_eq!(listed, ["docs://x/inside.md", "docs://x/sub/a.md"]);
        assert_eq!(files.read("inside.md").unwrap(), b"inside");
        for path in [
            "relative.md",
            "absolute.md",
            "to_hidden.md",
            "up/secret.md",
            "loop.md",
            "sub",
            "none.md",
        ] {
            let refused = files.read(path);
            assert!(
                matches!(refused, Err(FolderError::Missing)),
                "{path}: {refused:?}"
            );
        }
    }

    #[test]
    fn pipes_and_giants_keep_nobody() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe.md");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let giant = fs::File::create(root.path().join("giant.md")).unwrap();
        giant.set_len(1 << 40).unwrap();
        let files = files(root.path(), "**");
        assert!(matches!(files.read("pipe.md"), Err(FolderError::Missing)));
        assert!(matches!(
            files.read("giant.md"),
            Err(FolderError::TooLarge(_))
        ));
        assert_eq!(files.list().unwrap().len(), 1);
    }
}
