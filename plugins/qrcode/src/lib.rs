//! The skill `qrcode`: one pure tool that answers with a picture. Its answer is put together
//! by hand: a text, an image as bytes, a document that travels with them.

pub mod error;
pub mod picture;
pub mod symbol;

use prx_skill::prelude::*;

use crate::error::DrawError;
use crate::symbol::{ErrorCorrection, Symbol};

/// What is drawn.
#[data]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Picture {
    /// A PNG image.
    #[default]
    Png,
    /// An SVG document, which can be scaled and printed.
    Svg,
    /// Both.
    Both,
}

/// Draw a QR code that scanners and phones read as the given text, as a PNG image or an SVG
/// document.
///
/// For a web address give it whole (`https://example.com`); for a wireless network give
/// `WIFI:T:WPA;S:name;P:password;;`.
#[tool(
    title = "QR code",
    read_only,
    destructive = false,
    idempotent,
    open_world = false
)]
fn qrcode(
    /// What scanners shall read; up to 2,953 bytes.
    #[schemars(length(min = 1, max = 7089))]
    text: &str,
    /// The width and height of the picture, in pixels.
    #[default(300)]
    #[schemars(range(min = 21, max = 2048))]
    size: u32,
    /// How much of the code may be dirty or covered: `low` (7 %), `medium` (15 %), `quartile`
    /// (25 %) or `high` (30 %). More makes a larger code.
    #[default]
    error_correction: ErrorCorrection,
    /// The width of the light border, in modules. Scanners expect 4.
    #[default(4)]
    #[schemars(range(max = 40))]
    margin: u32,
    /// What to draw: `png`, `svg` or `both`.
    #[default]
    format: Picture,
) -> Result<Output, ToolError> {
    let symbol = Symbol::new(text, error_correction, margin).map_err(|error| tool_error(&error))?;
    let mut output = Output::new().text(format!(
        "QR code of {} bytes: version {}, {modules} x {modules} modules, error correction {}, \
         {size} x {size} pixels",
        text.len(),
        symbol.version(),
        symbol.error_correction().as_str(),
        modules = symbol.modules(),
    ));
    if format != Picture::Svg {
        let png = picture::to_png(&symbol, size).map_err(|error| tool_error(&error))?;
        output = output.image(png, "image/png");
    }
    if format != Picture::Png {
        let svg = picture::to_svg(&symbol, size);
        let document = Resource::text("qrcode:code.svg", svg).media_type("image/svg+xml");
        output = output.resource(document);
    }
    Ok(output)
}

fn tool_error(error: &DrawError) -> ToolError {
    let message = error.to_string();
    match error {
        DrawError::Encoding { .. } => ToolError::failed(message),
        DrawError::Empty
        | DrawError::TooLong { .. }
        | DrawError::TooSmall { .. }
        | DrawError::TooLarge { .. } => ToolError::invalid_arguments(message),
    }
}

prx_skill::skill!(qrcode);

#[cfg(test)]
mod tests {
    use prx_skill::serde_json::{Value, json};
    use prx_skill::testing;
    use prx_skill::{ErrorKind, ResourceBody};

    use super::*;

    fn call(arguments: Value) -> Result<Vec<Content>, ToolError> {
        testing::call(&SKILL, "qrcode", arguments).map(|output| output.contents)
    }

    #[test]
    fn the_text_alone_gives_a_png_and_a_sentence_about_it() {
        let contents = call(json!({"text": "https://example.com"})).unwrap();
        let [Content::Text(text), Content::Image(image)] = &contents[..] else {
            panic!("{contents:?}");
        };
        assert_eq!(image.media_type, "image/png");
        assert!(image.data.starts_with(b"\x89PNG\r\n\x1a\n"));
        assert!(text.contains("version 2, 25 x 25 modules"), "{text}");
        assert!(text.contains("300 x 300 pixels"), "{text}");
    }

    #[test]
    fn an_svg_travels_as_a_document() {
        let contents = call(json!({"text": "x", "format": "svg"})).unwrap();
        let [Content::Text(_), Content::Resource(document)] = &contents[..] else {
            panic!("{contents:?}");
        };
        assert_eq!(document.media_type.as_deref(), Some("image/svg+xml"));
        assert!(matches!(&document.body, ResourceBody::Text(svg) if svg.starts_with("<svg ")));
        assert_eq!(
            call(json!({"text": "x", "format": "both"})).unwrap().len(),
            3
        );
    }

    #[test]
    fn more_error_correction_makes_a_larger_code() {
        let text = "https://example.com/a/rather/long/path?with=a&query=of&some=length";
        let modules = |level: &str| {
            let contents = call(json!({"text": text, "error_correction": level})).unwrap();
            let Content::Text(text) = &contents[0] else {
                panic!("{contents:?}")
            };
            let version = text
                .split("version ")
                .nth(1)
                .unwrap()
                .split(',')
                .next()
                .unwrap();
            version.parse::<u8>().unwrap()
        };
        assert!(modules("low") < modules("high"));
    }

    #[test]
    fn errors_say_which_argument_to_change() {
        for (arguments, word) in [
            (json!({"text": ""}), "`text`"),
            (json!({"text": "x".repeat(3000)}), "3000 bytes"),
            (json!({"text": "x", "size": 21}), "at least 29 pixels"),
            (json!({"text": "x", "size": 5000}), "`size`"),
            (json!({"text": "x", "margin": 99}), "`margin`"),
            (json!({"text": "x", "error_correction": "huge"}), "quartile"),
        ] {
            let error = call(arguments).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{error}");
            assert!(error.message().contains(word), "{error}");
        }
    }

    #[test]
    fn the_tool_describes_itself_fully() {
        let tools = SKILL.describe();
        let [tool] = &tools[..] else {
            panic!("{tools:?}")
        };
        assert!(tool.requests.is_empty() && tool.output_schema.is_none());
        let schema = tool.input_schema.as_value();
        assert_eq!(schema["required"], json!(["text"]));
        assert_eq!(
            schema["properties"]["error_correction"]["default"],
            "medium"
        );
        assert_eq!(schema["properties"]["size"]["maximum"], 2048);
    }
}
