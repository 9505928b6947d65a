//! Doc comments as texts for models.

use syn::{Attribute, Error, Expr, ExprLit, Lit, Meta, Result};

/// The text of the doc comments among `attributes`, without the comments' indentation;
/// `None` if there is none, or only space.
pub fn text(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut lines = Vec::new();
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
    {
        // `#[doc(hidden)]` and its like are no text.
        let Meta::NameValue(meta) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &meta.value
        else {
            return Err(Error::new_spanned(
                &meta.value,
                "the description of a tool must stand here as text, not as an expression",
            ));
        };
        lines.extend(text.value().lines().map(|line| line.trim_end().to_owned()));
        if text.value().is_empty() {
            lines.push(String::new());
        }
    }
    let indentation = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let unindented: Vec<&str> = lines
        .iter()
        .map(|line| line.get(indentation..).unwrap_or_default())
        .collect();
    let text = unwrapped(&unindented).trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}

/// Joins the lines of a paragraph: where an editor wrapped them means nothing to a model.
/// What Markdown keeps apart stays apart: lists, tables, quotes, headings, code.
fn unwrapped(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut in_code = false;
    let mut joins = false;
    for line in lines {
        let is_fence = line.starts_with("```");
        if joins && !in_code && !is_fence && continues(line) {
            text.push(' ');
        } else if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        in_code ^= is_fence;
        joins = !line.is_empty() && !is_fence && !line.starts_with(['#', '|', ' ']);
    }
    text
}

/// Whether a line can go on where the line before it ended.
fn continues(line: &str) -> bool {
    let is_numbered = line.split_once(['.', ')']).is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    !line.is_empty()
        && !is_numbered
        && !line.starts_with([' ', '#', '|', '>'])
        && !["- ", "* ", "+ "]
            .iter()
            .any(|bullet| line.starts_with(bullet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_paragraph_are_joined() {
        let lines = ["Counts words", "and lines.", "", "Second", "paragraph."];
        assert_eq!(
            unwrapped(&lines),
            "Counts words and lines.\n\nSecond paragraph."
        );
    }

    #[test]
    fn what_markdown_keeps_apart_stays_apart() {
        for lines in [
            &["One of:", "- a", "- b"][..],
            &["1. first", "2. second"],
            &["# Title", "text"],
            &["| a | b |", "|---|---|", "| 1 | 2 |"],
            &["Code:", "```", "a", "b", "```", "after"],
            &["Code:", "", "    a", "    b"],
            &["> quote", "> goes on"],
        ] {
            assert_eq!(unwrapped(lines), lines.join("\n"));
        }
    }
}
