//! Why something could not be done to a note, in words that let a model repair its call.

use std::io;

use thiserror::Error;

/// Why something could not be done to a note.
#[derive(Debug, Error)]
pub enum NoteError {
    /// The folder of the grant can not be opened.
    #[error(
        "the folder `{folder}` can not be opened ({why}): the operator grants it with \
         `filesystem_write = [\"./notes::{folder}\"]` in `[tools.custom.<name>.capabilities]`"
    )]
    NotGranted {
        /// The folder.
        folder: String,
        /// What the system said.
        why: io::Error,
    },
    /// The folder may be read and not changed.
    #[error(
        "the note `{name}` can not be {action} ({why}): the operator lets this tool write with \
         `filesystem_write = [\"./notes::{folder}\"]` in `[tools.custom.<name>.capabilities]`"
    )]
    NotWritable {
        /// The name of the note.
        name: String,
        /// What was tried: `written` or `removed`.
        action: &'static str,
        /// The folder.
        folder: String,
        /// What the system said.
        why: io::Error,
    },
    /// The title gives no file name.
    #[error("`{title}` can not name a note: a title needs at least one letter or digit")]
    NoName {
        /// The title.
        title: String,
    },
    /// The title is not one line of ordinary length.
    #[error("the title must be one line of at most {limit} characters")]
    BadTitle {
        /// The limit.
        limit: usize,
    },
    /// The text is too long for one note.
    #[error("the text has {bytes} bytes, and a note may have {limit}: split it")]
    TooLong {
        /// The size of the text.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// There is nothing to search for.
    #[error("`query` is empty: say what to search for")]
    EmptyQuery,
    /// There is no note of that name.
    #[error("there is no note `{name}`: the tool `list` gives the names of all notes")]
    NotFound {
        /// The name.
        name: String,
    },
    /// A note of that name is there already.
    #[error(
        "a note `{name}` exists already: choose another title, or read it and give its \
         `revision` as `replaces` to replace it"
    )]
    Exists {
        /// The name.
        name: String,
        /// The revision that is there.
        revision: String,
    },
    /// The note is not the one that the caller has read.
    #[error("the note `{name}` was changed meanwhile: read it again and decide anew")]
    Changed {
        /// The name.
        name: String,
        /// The revision that is there now.
        revision: String,
    },
    /// The operator's setting can not be used.
    #[error(
        "the setting `extension = \"{extension}\"` of this tool is no file extension: the \
         operator must give 1 to 8 letters or digits, such as `md`"
    )]
    BadExtension {
        /// The setting.
        extension: String,
    },
    /// The system refused.
    #[error("the note `{name}` can not be {action}: {why}")]
    Io {
        /// The name.
        name: String,
        /// What was tried: `read`, `written` or `removed`.
        action: &'static str,
        /// What the system said.
        why: io::Error,
    },
}
