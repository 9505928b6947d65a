//! Walks of real temporary folders.

use super::*;

fn seen(scope: Scope<'_>) -> (Vec<String>, Walked) {
    let mut seen = Vec::new();
    let walked = walk(scope, &mut |entry| {
        seen.push(entry.relative.clone());
        ControlFlow::Continue(())
    });
    (seen, walked.unwrap())
}

fn scope(root: &Path) -> Scope<'_> {
    Scope {
        root,
        path: "",
        hidden: false,
        max_entries: 1000,
    }
}

fn folder_of(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    folder
}

#[test]
fn entries_come_by_name_and_folders_before_what_they_hold() {
    let folder = folder_of(&["b.md", "a/z.md", "a/y/x.md", "c.md"]);
    let (seen, walked) = seen(scope(folder.path()));
    assert_eq!(seen, ["a", "a/y", "a/y/x.md", "a/z.md", "b.md", "c.md"]);
    assert_eq!(walked, Walked::default());
}

#[test]
fn hidden_entries_are_visited_only_when_asked_for() {
    let folder = folder_of(&[".git/config", "a.md", ".env"]);
    assert_eq!(seen(scope(folder.path())).0, ["a.md"]);
    let all = Scope {
        hidden: true,
        ..scope(folder.path())
    };
    assert_eq!(seen(all).0, [".env", ".git", ".git/config", "a.md"]);
}

#[test]
fn a_path_narrows_the_walk_however_it_is_written() {
    let folder = folder_of(&["a/b/c.md", "a/d.md", "e.md"]);
    let root = folder.path().to_str().unwrap();
    for path in ["a/b", &format!("{root}/a/b"), "./a/b/", "a//b"] {
        assert_eq!(
            seen(Scope {
                path,
                ..scope(folder.path())
            })
            .0,
            ["a/b/c.md"],
            "{path}"
        );
    }
    for path in ["", root, &format!("{root}/"), "."] {
        assert_eq!(
            seen(Scope {
                path,
                ..scope(folder.path())
            })
            .0
            .len(),
            5,
            "{path}"
        );
    }
    assert_eq!(
        seen(Scope {
            path: "a/d.md",
            ..scope(folder.path())
        })
        .0,
        ["a/d.md"]
    );
}

#[test]
fn paths_that_lead_out_of_the_folder_are_refused() {
    let folder = folder_of(&["a.md"]);
    let root = folder.path().to_str().unwrap();
    let (beside, above) = (format!("{root}x"), format!("{root}/.."));
    for path in ["..", "a/../../b", "/etc", &beside, &above, "..\\b"] {
        let error = walk(
            Scope {
                path,
                ..scope(folder.path())
            },
            &mut |_| panic!("visited"),
        );
        assert!(
            matches!(error, Err(FindError::Outside { .. })),
            "{path}: {error:?}"
        );
    }
}

#[test]
fn a_missing_path_is_told_apart_from_a_missing_grant() {
    let folder = folder_of(&["a.md"]);
    let missing = Scope {
        path: "nope",
        ..scope(folder.path())
    };
    let error = walk(missing, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, FindError::NotFound { .. }), "{error:?}");
    let nowhere = folder.path().join("nowhere");
    for path in ["", "a"] {
        let ungranted = Scope {
            path,
            ..scope(&nowhere)
        };
        let error = walk(ungranted, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(matches!(error, FindError::NotGranted { .. }), "{error:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_form_a_circle_do_not_keep_the_walk_going() {
    use std::os::unix::fs::symlink;
    let folder = folder_of(&["a/b/file.md"]);
    symlink(folder.path(), folder.path().join("a/b/up")).unwrap();
    symlink("self", folder.path().join("self")).unwrap();
    symlink("a/b/file.md", folder.path().join("linked.md")).unwrap();
    let (seen, walked) = seen(scope(folder.path()));
    assert_eq!(seen, ["a", "a/b", "a/b/file.md", "linked.md"]);
    assert_eq!(walked.links_skipped, 2);
    assert!(walked.notes(1000).is_empty() && walked.remark().is_some());
}

#[test]
fn the_walk_stops_at_its_limit_and_says_so() {
    let folder = folder_of(&["a.md", "b.md", "c.md"]);
    let (found, walked) = seen(Scope {
        max_entries: 2,
        ..scope(folder.path())
    });
    assert_eq!(found, ["a.md", "b.md"]);
    assert!(walked.stopped);
    let exact = seen(Scope {
        max_entries: 3,
        ..scope(folder.path())
    });
    assert!(!exact.1.stopped);
}
