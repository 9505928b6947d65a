//! What `[serve]` names and is not there: tools behind resources and prompts, and folders.

use prx_host::Snapshot;
use prx_host::config::{Config, Place, PromptSource, ResourceSource, Setting};
use prx_host::model::Shown as _;

use crate::cli::render::Line;

/// What is wrong, in one line, and what belongs to it.
pub type Unserved = (String, Vec<Line>);

/// Everything that could not be served now.
pub fn unserved(config: &Config, snapshot: &Snapshot) -> Vec<Unserved> {
    let mut all = Vec::new();
    for resource in config.serve.resources.values() {
        let what = format!("the resource `{}`", resource.name);
        match &resource.source {
            ResourceSource::Folder { folder, .. } if !folder.value.is_dir() => {
                let path = folder.value.shown();
                let lines = vec![
                    ("cause", format!("`{path}` is no folder")),
                    ("key", folder.origin()),
                    ("help", "make the folder, or correct the key".to_owned()),
                ];
                all.push((format!("{what} has no files"), lines));
            }
            ResourceSource::Tool { tool, .. } => {
                all.extend(without_tool(&what, tool, &resource.place, snapshot));
            }
            ResourceSource::Folder { .. } => {}
        }
    }
    for prompt in config.serve.prompts.values() {
        if let PromptSource::Tool { tool } = &prompt.source {
            let what = format!("the prompt `{}`", prompt.name);
            all.extend(without_tool(&what, tool, &prompt.place, snapshot));
        }
    }
    all
}

fn without_tool(
    what: &str,
    tool: &Setting<String>,
    place: &Place,
    snapshot: &Snapshot,
) -> Option<Unserved> {
    let name = &tool.value;
    if snapshot.tool(name).is_some() {
        return None;
    }
    let help = match snapshot.nearest(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`prx-host list` has the names of all tools".to_owned(),
    };
    let lines = vec![
        ("cause", format!("the tool `{name}` can not be called")),
        ("entry", place.to_string()),
        ("help", help),
    ];
    Some((format!("{what} answers nothing"), lines))
}
