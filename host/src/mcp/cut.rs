//! Texts that are longer than a model gets to see.

/// A text of at most so many characters, with a note where it was cut.
pub(super) fn cut(text: String, most: usize) -> String {
    // As many bytes are never more characters.
    if text.len() <= most {
        return text;
    }
    let all = text.chars().count();
    if all <= most {
        return text;
    }
    let end = text
        .char_indices()
        .nth(most)
        .map_or(text.len(), |(end, _)| end);
    let shown = &text[..end];
    format!(
        "{shown}\n\n[The host cut this: {most} of {all} characters. Ask for a part to see the rest.]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_say_so() {
        assert_eq!(cut("\u{e9}\u{e9}".into(), 2), "\u{e9}\u{e9}");
        let shown = cut("\u{e9}\u{e9}\u{e9}".into(), 2);
        assert!(
            shown.starts_with("\u{e9}\u{e9}\n\n[The host cut this: 2 of 3"),
            "{shown}"
        );
    }
}
