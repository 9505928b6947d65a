//! Texts that are longer than a model gets to see.

use rmcp::model::Resource;

use super::offers::kept::Kept;

/// How much of an answer a client gets, and where the whole is kept for it.
pub(super) struct Room<'a> {
    /// Characters of one text.
    pub most: usize,
    /// Characters that are left for the next one.
    rest: usize,
    /// `None`: the client could not find what is kept.
    kept: Option<&'a Kept>,
    /// Whether structure is there whatever its length.
    pub keeps_structure: bool,
    /// Whether something was cut.
    pub has_cut: bool,
    /// Where the whole of what was cut is.
    pub links: Vec<Resource>,
}

impl<'a> Room<'a> {
    /// Room for so many characters.
    pub fn new(most: usize, kept: Option<&'a Kept>) -> Self {
        Self {
            most,
            rest: most,
            kept,
            keeps_structure: false,
            has_cut: false,
            links: Vec::new(),
        }
    }

    /// A text that fits into the room, with a note where it was cut.
    pub fn fit(&mut self, text: String) -> String {
        let shown = self.cut(text, self.rest);
        self.rest = self.rest.saturating_sub(shown.chars().count());
        shown
    }

    /// A text of at most so many characters, with a note where it was cut.
    pub fn cut(&mut self, text: String, most: usize) -> String {
        // As many bytes are never more characters.
        if text.len() <= most {
            return text;
        }
        let all = text.chars().count();
        if all <= most {
            return text;
        }
        self.has_cut = true;
        let end = text
            .char_indices()
            .nth(most)
            .map_or(text.len(), |(end, _)| end);
        let rest = match self.kept.and_then(|kept| kept.keep(&text)) {
            Some(uri) => {
                let note = format!("Read the resource {uri} to see the whole.");
                let link = Resource::new(uri, "the whole answer").with_mime_type("text/plain");
                self.links.push(link.with_size(text.len() as u64));
                note
            }
            None => "Ask for a part to see the rest.".to_owned(),
        };
        let shown = &text[..end];
        format!("{shown}\n\n[The host cut this: {most} of {all} characters. {rest}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_say_so() {
        let mut room = Room::new(2, None);
        assert_eq!(room.cut("\u{e9}\u{e9}".into(), 2), "\u{e9}\u{e9}");
        let shown = room.cut("\u{e9}\u{e9}\u{e9}".into(), 2);
        assert!(
            shown.starts_with("\u{e9}\u{e9}\n\n[The host cut this: 2 of 3"),
            "{shown}"
        );
        assert!(room.links.is_empty());
    }

    #[test]
    fn the_whole_of_what_was_cut_is_kept_where_the_note_says() {
        let kept = Kept::default();
        let mut room = Room::new(3, Some(&kept));
        assert_eq!(room.fit("ab".into()), "ab");
        let shown = room.fit("cdef".into());
        let [link] = room.links.as_slice() else {
            panic!("{:?}", room.links)
        };
        assert!(
            shown.starts_with("c\n") && shown.contains(&link.uri),
            "{shown}"
        );
        assert_eq!(kept.read(&link.uri).as_deref(), Some("cdef"));
    }
}
