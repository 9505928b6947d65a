//! Uses files without the standard library: hands any path to the host as it is, on
//! the granted folder with the number `folder` (from 0). Errors are told by their WASI
//! name in `data.code`.

use prx_guests::tools::{Error, ErrorKind};
use prx_guests::wasi::filesystem::preopens;
use prx_guests::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags,
};
use prx_guests::{Arguments, Tool, fail, guest, structured, text};
use serde_json::json;

#[allow(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn refused(code: ErrorCode) -> Error {
    let data = json!({ "code": code.name() }).to_string();
    Error {
        kind: ErrorKind::Failed,
        message: code.message().to_owned(),
        data: Some(data),
    }
}

fn folder(arguments: &Arguments, parameter: &str) -> Result<Descriptor, Error> {
    let number = arguments.size(parameter)?;
    let mut folders = preopens::get_directories();
    if number < folders.len() {
        return Ok(folders.swap_remove(number).0);
    }
    Err(fail(
        ErrorKind::Denied,
        format!("{} folders are granted", folders.len()),
    ))
}

fn follow(arguments: &Arguments) -> PathFlags {
    match arguments.optional_number("follow") {
        Some(0) => PathFlags::empty(),
        _ => PathFlags::SYMLINK_FOLLOW,
    }
}

guest![
    Tool::new(
        "folders",
        "Lists the granted folders by their guest paths.",
        |_| {
            let folders: Vec<String> = preopens::get_directories()
                .into_iter()
                .map(|(_, path)| path)
                .collect();
            structured(json!({ "folders": folders }))
        }
    ),
    Tool::new(
        "read",
        "Opens a path and reads it; `follow` is 0 or 1.",
        |arguments| {
            let file = folder(&arguments, "folder")?
                .open_at(
                    follow(&arguments),
                    &arguments.text("path")?,
                    OpenFlags::empty(),
                    DescriptorFlags::READ,
                )
                .map_err(refused)?;
            let (bytes, _) = file.read(1 << 16, 0).map_err(refused)?;
            text(String::from_utf8_lossy(&bytes))
        }
    )
    .takes("folder", "integer")
    .takes("path", "string")
    .may_take("follow", "integer"),
    Tool::new(
        "write",
        "Opens a path, created if need be, and writes to it.",
        |arguments| {
            let file = folder(&arguments, "folder")?
                .open_at(
                    follow(&arguments),
                    &arguments.text("path")?,
                    OpenFlags::CREATE,
                    DescriptorFlags::WRITE | DescriptorFlags::READ,
                )
                .map_err(refused)?;
            let written = file
                .write(arguments.text("contents")?.as_bytes(), 0)
                .map_err(refused)?;
            text(format!("wrote {written} bytes"))
        }
    )
    .takes("folder", "integer")
    .takes("path", "string")
    .takes("contents", "string")
    .may_take("follow", "integer"),
    Tool::new(
        "symlink",
        "Creates a symbolic link to any target.",
        |arguments| {
            folder(&arguments, "folder")?
                .symlink_at(&arguments.text("target")?, &arguments.text("path")?)
                .map_err(refused)?;
            text("linked")
        }
    )
    .takes("folder", "integer")
    .takes("target", "string")
    .takes("path", "string"),
    Tool::new(
        "hard_link",
        "Links a path of one folder into another.",
        |arguments| {
            let to = folder(&arguments, "to_folder")?;
            folder(&arguments, "folder")?
                .link_at(
                    PathFlags::empty(),
                    &arguments.text("path")?,
                    &to,
                    &arguments.text("to")?,
                )
                .map_err(refused)?;
            text("linked")
        }
    )
    .takes("folder", "integer")
    .takes("path", "string")
    .takes("to_folder", "integer")
    .takes("to", "string"),
    Tool::new(
        "rename",
        "Moves a path of one folder into another.",
        |arguments| {
            let to = folder(&arguments, "to_folder")?;
            folder(&arguments, "folder")?
                .rename_at(&arguments.text("path")?, &to, &arguments.text("to")?)
                .map_err(refused)?;
            text("renamed")
        }
    )
    .takes("folder", "integer")
    .takes("path", "string")
    .takes("to_folder", "integer")
    .takes("to", "string"),
];
