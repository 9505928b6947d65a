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
    let text = unindented.join("\n").trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}
