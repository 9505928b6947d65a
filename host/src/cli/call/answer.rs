//! The answer of a call: text as it is, bytes into files, all of it as one JSON object.

use std::fs;
use std::path::{Path, PathBuf};

use prx_host::model::{
    CallReport, Content, Outcome, ResourceBody, Shown as _, ToolOutput, format_bytes,
};
use serde_json::{Value, json};

use super::{Arguments, outcome};
use crate::cli::render::{Failure, Screen};
use crate::cli::{Exit, facts};

/// Prints what came of the call; says how the process ends.
pub fn show(report: &CallReport, arguments: &Arguments, screen: Screen) -> Result<Exit, Failure> {
    let tool = arguments.tool.as_str();
    let failure = outcome::failure(tool, &report.outcome);
    if screen.json() {
        screen.print_json(&json(tool, report, failure.as_ref()))?;
        return Ok(failure.map_or(Exit::Ok, |failure| failure.exit()));
    }
    match (&report.outcome, failure) {
        (_, Some(failure)) => Err(failure),
        (Outcome::Ok(output), None) => show_output(output, arguments, screen),
        (_, None) => Ok(Exit::Ok),
    }
}

fn json(tool: &str, report: &CallReport, failure: Option<&Failure>) -> Value {
    let mut whole = json!({ "tool": tool, "outcome": report.outcome.kind() });
    match (&report.outcome, failure) {
        (Outcome::Ok(output), _) => whole["output"] = json!(output),
        (_, Some(failure)) => whole["error"] = failure.json_error(),
        _ => {}
    }
    whole["duration_ms"] = json!(facts::milliseconds(report.duration));
    whole["snapshot"] = json!(report.snapshot);
    whole
}

/// Bytes that no terminal can show.
struct Binary<'a> {
    bytes: &'a [u8],
    media_type: &'a str,
}

impl<'a> Binary<'a> {
    fn of(content: &'a Content) -> Option<Self> {
        match content {
            Content::Image(media) | Content::Audio(media) => Some(Self {
                bytes: &media.data,
                media_type: &media.media_type,
            }),
            Content::Resource { resource } => match &resource.body {
                ResourceBody::Blob(bytes) => {
                    let media_type = resource.media_type.as_deref();
                    Some(Self {
                        bytes,
                        media_type: media_type.unwrap_or("application/octet-stream"),
                    })
                }
                ResourceBody::Text(_) => None,
            },
            Content::Text { .. } => None,
        }
    }

    fn label(&self) -> String {
        format!(
            "{}, {}",
            self.media_type,
            format_bytes(self.bytes.len() as u64)
        )
    }

    fn extension(&self) -> &'static str {
        let essence = self.media_type.split(';').next().unwrap_or_default().trim();
        match essence {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "image/svg+xml" => "svg",
            "audio/wav" | "audio/x-wav" => "wav",
            "audio/mpeg" => "mp3",
            "audio/ogg" => "ogg",
            "audio/flac" => "flac",
            "application/pdf" => "pdf",
            "application/zip" => "zip",
            _ => "bin",
        }
    }
}

fn show_output(
    output: &ToolOutput,
    arguments: &Arguments,
    screen: Screen,
) -> Result<Exit, Failure> {
    let binaries: Vec<Binary<'_>> = output.contents.iter().filter_map(Binary::of).collect();
    let text = text(output);
    match arguments.output.as_deref() {
        Some(path) if path == Path::new("-") => match binaries.as_slice() {
            [only] => screen.write(only.bytes)?,
            [] => screen.write(text.as_bytes())?,
            _ => return Err(too_many(binaries.len())),
        },
        Some(path) if binaries.is_empty() => {
            save_text(path, &arguments.tool, &text, output, screen)?;
        }
        Some(path) => {
            print_text(&text, screen)?;
            save_all(path, &arguments.tool, &binaries, screen)?;
        }
        None => match binaries.as_slice() {
            [only] if output.contents.len() == 1 && !screen.out_is_terminal() => {
                screen.write(only.bytes)?;
            }
            _ => {
                print_text(&text, screen)?;
                for binary in &binaries {
                    let label = screen.guest_err(&binary.label());
                    screen.note(&format!(
                        "({label}: not shown; save it with `--output PATH`)"
                    ));
                }
            }
        },
    }
    Ok(Exit::Ok)
}

/// The readable part of an answer: its texts, or else its structure.
fn text(output: &ToolOutput) -> String {
    let mut text = String::new();
    for content in &output.contents {
        let part = match content {
            Content::Text { text } => text,
            Content::Resource { resource } => match &resource.body {
                ResourceBody::Text(text) => text,
                ResourceBody::Blob(_) => continue,
            },
            _ => continue,
        };
        text.push_str(part);
        if !part.ends_with('\n') {
            text.push('\n');
        }
    }
    if text.is_empty()
        && let Some(structured) = &output.structured
    {
        text = format!("{structured:#}\n");
    }
    text
}

fn print_text(text: &str, screen: Screen) -> Result<(), Failure> {
    screen.write(screen.guest_out(text).as_bytes())
}

fn too_many(count: usize) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("the answer holds {count} pieces of bytes"),
    )
    .cause("standard output can take one")
    .help("name a folder with `--output`")
}

/// Where pieces go: into a folder under the tool's name, or to the file that is named.
fn target(path: &Path, tool: &str, extension: &str, number: Option<usize>) -> PathBuf {
    let is_folder = path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
    let suffix = number
        .map(|number| format!("-{number}"))
        .unwrap_or_default();
    if is_folder {
        return path.join(format!("{tool}{suffix}.{extension}"));
    }
    if number.is_none() {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map_or_else(|| extension.into(), |own| own.to_string_lossy());
    path.with_file_name(format!("{stem}{suffix}.{extension}"))
}

fn save_all(
    path: &Path,
    tool: &str,
    binaries: &[Binary<'_>],
    screen: Screen,
) -> Result<(), Failure> {
    for (index, binary) in binaries.iter().enumerate() {
        let number = (binaries.len() > 1).then_some(index + 1);
        let file = target(path, tool, binary.extension(), number);
        save(&file, binary.bytes, &binary.label(), screen)?;
    }
    Ok(())
}

fn save_text(
    path: &Path,
    tool: &str,
    text: &str,
    output: &ToolOutput,
    screen: Screen,
) -> Result<(), Failure> {
    let extension = if output.contents.is_empty() {
        "json"
    } else {
        "txt"
    };
    let label = format!("text, {}", format_bytes(text.len() as u64));
    save(
        &target(path, tool, extension, None),
        text.as_bytes(),
        &label,
        screen,
    )
}

fn save(file: &Path, bytes: &[u8], label: &str, screen: Screen) -> Result<(), Failure> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(file, bytes))
        .map_err(|error| {
            Failure::new(
                Exit::Usage,
                format!("`{}` can not be written", file.shown()),
            )
            .cause(error.to_string())
            .help("give another path to `--output`")
        })?;
    if screen.quiet() == 0 {
        screen.note(&format!(
            "saved to `{}` ({})",
            file.shown(),
            screen.guest_err(label)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_pieces_get_numbers_and_one_gets_the_name() {
        for (path, number, expected) in [
            ("code.png", None, "code.png"),
            ("code.png", Some(2), "code-2.png"),
            ("out/code", Some(1), "out/code-1.jpg"),
            ("new/", None, "new/tool.jpg"),
            ("new/", Some(3), "new/tool-3.jpg"),
        ] {
            assert_eq!(
                target(Path::new(path), "tool", "jpg", number),
                Path::new(expected)
            );
        }
    }
}
