//! Searches all notes for a text.

use prx_skill::prelude::*;

use crate::error::NoteError;
use crate::folder::Folder;

/// Characters of a line that are shown.
const MAX_LINE_CHARACTERS: usize = 200;

/// The notes that hold a text.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hits {
    /// The notes, by alphabet.
    pub notes: Vec<Hit>,
    /// How many notes hold the text in all.
    pub total: usize,
}

/// A note that holds the text.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The name by which the other tools take it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The first line of the text that holds what was searched for; the title, if it does.
    pub line: String,
}

/// Finds up to `limit` notes with `query` in their title or text, upper and lower case
/// taken as one. Tells `progress` how many of how many notes were read.
pub fn search(
    folder: &Folder,
    query: &str,
    limit: usize,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Hits, NoteError> {
    let query = query.trim().to_lowercase();
    if query.is_empty() {
        return Err(NoteError::EmptyQuery);
    }
    let names = folder.names()?;
    let mut hits = Hits {
        notes: Vec::new(),
        total: 0,
    };
    for (index, name) in names.iter().enumerate() {
        progress(index as u64 + 1, names.len() as u64);
        // A note that was removed meanwhile does not hold the text.
        let Ok(note) = folder.read(name) else {
            continue;
        };
        let mut lines = std::iter::once(note.title.as_str()).chain(note.text.lines());
        let Some(line) = lines.find(|line| line.to_lowercase().contains(&query)) else {
            continue;
        };
        hits.total += 1;
        if hits.notes.len() < limit {
            let line = line.trim().chars().take(MAX_LINE_CHARACTERS).collect();
            hits.notes.push(Hit {
                name: note.name,
                title: note.title,
                line,
            });
        }
    }
    Ok(hits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::open(root.path(), "md").unwrap();
        folder
            .add("Shopping", "milk\nEggs and bread", None)
            .unwrap();
        folder.add("Eggs", "how to boil", None).unwrap();
        folder.add("Other", "nothing here", None).unwrap();
        (root, folder)
    }

    #[test]
    fn titles_and_texts_are_searched_without_regard_to_case() {
        let (_root, folder) = folder();
        let hits = search(&folder, "EGGS", 10, &mut |_, _| {}).unwrap();
        let found: Vec<_> = hits
            .notes
            .iter()
            .map(|hit| (&*hit.name, &*hit.line))
            .collect();
        assert_eq!(found, [("eggs", "Eggs"), ("shopping", "Eggs and bread")]);
        assert_eq!(hits.total, 2);
    }

    #[test]
    fn notes_beyond_the_limit_are_counted() {
        let (_root, folder) = folder();
        let hits = search(&folder, "eggs", 1, &mut |_, _| {}).unwrap();
        assert_eq!((hits.notes.len(), hits.total), (1, 2));
        assert_eq!(
            search(&folder, "absent", 1, &mut |_, _| {}).unwrap().total,
            0
        );
    }

    #[test]
    fn progress_goes_through_all_notes() {
        let (_root, folder) = folder();
        let mut heard = Vec::new();
        search(&folder, "x", 1, &mut |done, total| {
            heard.push((done, total));
        })
        .unwrap();
        assert_eq!(heard, [(1, 3), (2, 3), (3, 3)]);
    }

    #[test]
    fn an_empty_query_is_refused() {
        let (_root, folder) = folder();
        let error = search(&folder, "  ", 1, &mut |_, _| {}).unwrap_err();
        assert!(matches!(error, NoteError::EmptyQuery), "{error}");
    }
}
