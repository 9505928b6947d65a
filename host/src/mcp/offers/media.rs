//! What kind of file one is, by its name and its bytes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::model::ResourceContents;

/// Kinds that other programs have for names that mean texts of programmers.
const TEXTS: [(&str, &str); 6] = [
    ("ts", "text/plain"),
    ("mts", "text/plain"),
    ("cts", "text/plain"),
    ("rs", "text/plain"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];
/// Kinds of texts that are not called so.
const TEXTUAL: [&str; 10] = [
    "application/json",
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/xml",
    "application/toml",
    "application/yaml",
    "application/sql",
    "application/x-sh",
    "application/x-tex",
];
const BYTES: &str = "application/octet-stream";

/// The media type of a file of that name; `None`: its name says nothing.
pub(super) fn of_name(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let text = TEXTS.iter().find(|(known, _)| *known == extension);
    text.map(|(_, kind)| *kind)
        .or_else(|| mime_guess::from_ext(&extension).first_raw())
}

/// A file as clients read it: text where it is text by its kind and its bytes.
pub(in crate::mcp) fn contents(uri: &str, path: &str, bytes: Vec<u8>) -> ResourceContents {
    let kind = of_name(path);
    if kind.is_none_or(is_text) {
        match String::from_utf8(bytes) {
            Ok(text) if kind.is_some() || !text.contains('\0') => {
                let kind = kind.unwrap_or("text/plain");
                return ResourceContents::text(text, uri).with_mime_type(kind);
            }
            Ok(text) => return blob(uri, BYTES, text.as_bytes()),
            Err(error) => return blob(uri, BYTES, error.as_bytes()),
        }
    }
    blob(uri, kind.unwrap_or(BYTES), &bytes)
}

fn blob(uri: &str, kind: &str, bytes: &[u8]) -> ResourceContents {
    ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(kind)
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || TEXTUAL.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_text_where_its_name_and_its_bytes_say_so() {
        for (path, bytes, kind, is_text) in [
            ("a/b.md", &b"# x"[..], "text/markdown", true),
            ("x.JSON", b"{}", "application/json", true),
            ("x.svg", b"<svg/>", "image/svg+xml", true),
            ("x.ts", b"let x", "text/plain", true),
            ("README", b"words", "text/plain", true),
            ("README", b"a\0b", BYTES, false),
            ("x.md", b"\xff\xfe", BYTES, false),
            ("x.png", b"text after all", "image/png", false),
        ] {
            let contents = contents("u:x", path, bytes.to_vec());
            let contents = serde_json::to_value(contents).unwrap();
            assert_eq!(contents["mimeType"], kind, "{path}");
            assert_eq!(contents["text"].is_string(), is_text, "{path}");
            assert_eq!(contents["blob"].is_string(), !is_text, "{path}");
        }
    }
}
