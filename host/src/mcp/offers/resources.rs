//! What clients may read: files of folders, and what tools answer under an address.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Map, Value};

use super::arguments::{property, typed};
use super::{File, Files, media};
use crate::config::{ResourceEntry, ResourceSource, Setting};
use crate::file_state::Stamp;
use crate::model::UriTemplate;
use crate::registry::Snapshot;

/// All resources of one configuration.
#[derive(Default)]
pub(in crate::mcp) struct Resources {
    folders: Vec<Folder>,
    answers: Vec<Answer>,
}

/// The files of a folder.
struct Folder {
    words: Words,
    files: Files,
    /// Whether the log knows that they can not be listed.
    has_complained: AtomicBool,
}

/// What a tool answers.
pub(in crate::mcp) struct Answer {
    words: Words,
    pub tool: String,
    pub uri: UriTemplate,
    arguments: Map<String, Value>,
    pub media_type: Option<String>,
}

/// A file as clients list it, and the version of it.
pub(in crate::mcp) struct ListedFile {
    pub listed: Resource,
    pub stamp: Stamp,
}

struct Words {
    name: String,
    title: Option<String>,
    description: Option<String>,
}

/// What is at an address.
pub(in crate::mcp) enum Found<'r> {
    /// A file, if it is there.
    File { files: &'r Files, path: String },
    /// What a tool answers to these arguments, which are texts still.
    Answer {
        answer: &'r Answer,
        values: Vec<(&'r str, String)>,
    },
}

impl Resources {
    pub fn new(entries: &[ResourceEntry]) -> Self {
        let mut resources = Self::default();
        for entry in entries {
            let text = |setting: &Option<Setting<String>>| {
                setting.as_ref().map(|setting| setting.value.clone())
            };
            let words = Words {
                name: entry.name.clone(),
                title: text(&entry.title),
                description: text(&entry.description),
            };
            match &entry.source {
                ResourceSource::Folder {
                    folder,
                    uri,
                    include,
                } => resources.folders.push(Folder {
                    words,
                    files: Files::new(&folder.value, &uri.value, &include.value),
                    has_complained: AtomicBool::new(false),
                }),
                ResourceSource::Tool {
                    tool,
                    uri,
                    arguments,
                    media_type,
                } => resources.answers.push(Answer {
                    words,
                    tool: tool.value.clone(),
                    uri: uri.value.clone(),
                    arguments: arguments.value.clone(),
                    media_type: text(media_type),
                }),
            }
        }
        resources
    }

    /// What is at an address: one that stands as it is, then files, then templates.
    pub fn find(&self, uri: &str) -> Option<Found<'_>> {
        let answers = || self.answers.iter();
        if let Some(answer) = answers().find(|answer| answer.uri.as_str() == uri && answer.is_one())
        {
            let values = Vec::new();
            return Some(Found::Answer { answer, values });
        }
        // A folder means only what it may offer: its addresses may begin as others do.
        let meant = self.folders.iter().filter_map(|folder| {
            let path = folder.files.path(uri)?;
            Some((folder.files.are_meant(uri)?, &folder.files, path))
        });
        if let Some((_, files, path)) = meant.max_by_key(|(length, ..)| *length) {
            return Some(Found::File { files, path });
        }
        answers().find_map(|answer| {
            let values = answer.uri.values(uri)?;
            Some(Found::Answer { answer, values })
        })
    }

    /// Whether there are folders, whose files come and go.
    pub fn has_files(&self) -> bool {
        !self.folders.is_empty()
    }

    /// All files by address. Blocks.
    pub fn files(&self) -> BTreeMap<String, ListedFile> {
        let mut all = BTreeMap::new();
        for folder in &self.folders {
            for (uri, file) in folder.list() {
                let listed = folder.words.of_file(&uri, &file);
                let stamp = file.stamp;
                all.insert(uri, ListedFile { listed, stamp });
            }
        }
        all
    }

    /// As clients list them. Blocks.
    pub fn listed(&self) -> BTreeMap<String, Resource> {
        let files = self.files().into_iter();
        let mut all: BTreeMap<_, _> = files.map(|(uri, file)| (uri, file.listed)).collect();
        all.append(&mut self.listed_answers());
        all
    }

    /// Those of them that are no files.
    pub fn listed_answers(&self) -> BTreeMap<String, Resource> {
        let answers = self.answers.iter().filter(|answer| answer.is_one());
        let answers = answers.map(|answer| {
            let uri = answer.uri.to_string();
            let mut listed = Resource::new(uri.clone(), answer.words.name.clone());
            listed.title.clone_from(&answer.words.title);
            listed.description.clone_from(&answer.words.description);
            listed.mime_type.clone_from(&answer.media_type);
            (uri, listed)
        });
        answers.collect()
    }

    /// The templates as clients list them.
    pub fn templates(&self) -> BTreeMap<String, ResourceTemplate> {
        let templates = self.answers.iter().filter(|answer| !answer.is_one());
        let templates = templates.map(|answer| {
            let uri = answer.uri.to_string();
            let mut listed = ResourceTemplate::new(uri.clone(), answer.words.name.clone());
            listed.title.clone_from(&answer.words.title);
            listed.description.clone_from(&answer.words.description);
            listed.mime_type.clone_from(&answer.media_type);
            (uri, listed)
        });
        templates.collect()
    }

    /// The tool behind a template.
    pub fn template(&self, uri: &str) -> Option<&Answer> {
        self.answers
            .iter()
            .find(|answer| answer.uri.as_str() == uri)
    }
}

impl Words {
    /// A file of a folder that these words are about, as clients list it.
    fn of_file(&self, uri: &str, file: &File) -> Resource {
        let mut listed = Resource::new(uri, file.path.clone());
        listed.mime_type = media::of_name(&file.path).map(str::to_owned);
        listed.size = Some(file.size);
        let title = self.title.as_ref();
        listed.title = title.map(|title| format!("{title}: {}", file.path));
        listed.description.clone_from(&self.description);
        listed
    }
}

impl Folder {
    fn list(&self) -> BTreeMap<String, File> {
        match self.files.list() {
            Ok(files) => {
                self.has_complained.store(false, Ordering::Relaxed);
                files
            }
            Err(error) => {
                if !self.has_complained.swap(true, Ordering::Relaxed) {
                    let name = &self.words.name;
                    tracing::warn!("`serve.resources.{name}.folder` offers no files: {error}");
                }
                BTreeMap::new()
            }
        }
    }
}

impl Answer {
    /// Whether it has one address.
    fn is_one(&self) -> bool {
        self.uri.names().next().is_none()
    }

    /// What the tool is called with.
    pub fn arguments(&self, values: Vec<(&str, String)>, snapshot: &Snapshot) -> String {
        let schema = snapshot
            .tool(&self.tool)
            .map(|tool| &tool.spec().input_schema);
        let mut arguments = self.arguments.clone();
        for (name, text) in values {
            let property = schema.and_then(|schema| property(schema, name));
            arguments.insert(name.to_owned(), typed(property, text));
        }
        Value::Object(arguments).to_string()
    }
}
