//! Uses files as an ordinary program does, through the standard library. Errors are
//! told with their number in `data.errno`.

use std::fs;

use prx_guests::{Arguments, Tool, from_io, guest, structured, text};
use serde_json::json;

fn symlink(arguments: &Arguments) -> prx_guests::Answer {
    let (target, link) = (arguments.text("target")?, arguments.text("link")?);
    #[allow(deprecated, reason = "its successors are not stable for this target")]
    fs::soft_link(&target, &link).map_err(from_io)?;
    text(format!("`{link}` now points to `{target}`"))
}

guest![
    Tool::new("read", "Reads a file.", |arguments| {
        text(fs::read_to_string(arguments.text("path")?).map_err(from_io)?)
    })
    .takes("path", "string"),
    Tool::new("write", "Creates or replaces a file.", |arguments| {
        let contents = arguments.text("contents")?;
        fs::write(arguments.text("path")?, &contents).map_err(from_io)?;
        text(format!("wrote {} bytes", contents.len()))
    })
    .takes("path", "string")
    .takes("contents", "string"),
    Tool::new("list", "Lists a folder, sorted.", |arguments| {
        let mut names = Vec::new();
        for entry in fs::read_dir(arguments.text("path")?).map_err(from_io)? {
            names.push(
                entry
                    .map_err(from_io)?
                    .file_name()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        names.sort();
        structured(json!({ "names": names }))
    })
    .takes("path", "string"),
    Tool::new(
        "stat",
        "Tells what is at a path, following symbolic links.",
        |arguments| {
            let found = fs::metadata(arguments.text("path")?).map_err(from_io)?;
            structured(json!({
                "file": found.is_file(), "folder": found.is_dir(), "bytes": found.len()
            }))
        }
    )
    .takes("path", "string"),
    Tool::new("symlink", "Creates a symbolic link.", |arguments| symlink(
        &arguments
    ))
    .takes("target", "string")
    .takes("link", "string"),
    Tool::new(
        "read_link",
        "Tells where a symbolic link points to.",
        |arguments| {
            let target = fs::read_link(arguments.text("path")?).map_err(from_io)?;
            text(target.to_string_lossy())
        }
    )
    .takes("path", "string"),
    Tool::new(
        "hard_link",
        "Creates a second name for a file.",
        |arguments| {
            fs::hard_link(arguments.text("from")?, arguments.text("to")?).map_err(from_io)?;
            text("linked")
        }
    )
    .takes("from", "string")
    .takes("to", "string"),
    Tool::new("rename", "Moves a file or folder.", |arguments| {
        fs::rename(arguments.text("from")?, arguments.text("to")?).map_err(from_io)?;
        text("renamed")
    })
    .takes("from", "string")
    .takes("to", "string"),
    Tool::new("remove", "Removes a file.", |arguments| {
        fs::remove_file(arguments.text("path")?).map_err(from_io)?;
        text("removed")
    })
    .takes("path", "string"),
    Tool::new("create_folder", "Creates a folder.", |arguments| {
        fs::create_dir(arguments.text("path")?).map_err(from_io)?;
        text("created")
    })
    .takes("path", "string"),
];
