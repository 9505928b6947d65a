//! What is in force of `[serve]`.

use serde_json::{Map, Value, json};

use super::{Keys, path, provided, seconds};
use crate::config::{
    PromptEntry, PromptParameter, PromptSource, ResourceEntry, ResourceSource, Serve, ServeHttp,
    redact,
};

impl Keys {
    pub(super) fn serve(&mut self, serve: &Serve) {
        self.add(&serve.tools, |globs| json!(globs));
        self.add(&serve.deny, |globs| json!(globs));
        self.add(&serve.read_only, |read_only| json!(read_only));
        self.add(&serve.page_size, |size| json!(size));
        self.add(&serve.max_result_chars, |most| json!(most));
        self.add(&serve.max_calls, |most| json!(most));
        self.add_written(serve.instructions.as_ref(), |text| json!(text));
        self.serve_http(&serve.http);
        for resource in serve.resources.values() {
            self.resource(resource);
        }
        for prompt in serve.prompts.values() {
            self.prompt(prompt);
        }
    }

    fn serve_http(&mut self, http: &ServeHttp) {
        self.add(&http.listen, |address| json!(address.to_string()));
        self.add_written(http.token.as_ref(), |token| {
            provided("token", token, |text| json!(text))
        });
        self.add_written(http.tls_cert.as_ref(), |written| path(written));
        self.add_written(http.tls_key.as_ref(), |written| path(written));
        self.add(&http.allowed_hosts, |hosts| json!(hosts));
        self.add(&http.allowed_origins, |origins| json!(origins));
        self.add(&http.max_body_bytes, |bytes| json!(bytes));
        self.add(&http.max_sessions, |most| json!(most));
        self.add(&http.last_calls, seconds);
    }

    fn resource(&mut self, resource: &ResourceEntry) {
        match &resource.source {
            ResourceSource::Folder {
                folder,
                uri,
                include,
            } => {
                self.add(folder, |written| path(written));
                self.add(uri, |uri| json!(uri));
                self.add(include, |globs| json!(globs));
            }
            ResourceSource::Tool {
                tool,
                uri,
                arguments,
                media_type,
            } => {
                self.add(tool, |tool| json!(tool));
                self.add(uri, |uri| json!(uri.as_str()));
                self.add(arguments, |arguments| {
                    redact::redacted("arguments", &json!(arguments))
                });
                self.add_written(media_type.as_ref(), |kind| json!(kind));
            }
        }
        self.add_written(resource.title.as_ref(), |title| json!(title));
        self.add_written(resource.description.as_ref(), |words| json!(words));
    }

    fn prompt(&mut self, prompt: &PromptEntry) {
        match &prompt.source {
            PromptSource::Text { text, arguments } => {
                self.add(text, |text| json!(text.to_string()));
                self.add(arguments, |parameters| {
                    parameters
                        .iter()
                        .map(|one| (one.name.clone(), written(one)))
                        .collect()
                });
            }
            PromptSource::Tool { tool } => self.add(tool, |tool| json!(tool)),
        }
        self.add_written(prompt.title.as_ref(), |title| json!(title));
        self.add_written(prompt.description.as_ref(), |words| json!(words));
    }
}

/// An argument of a prompt, as it could have been written.
fn written(parameter: &PromptParameter) -> Value {
    let mut keys = Map::new();
    keys.insert("required".into(), json!(parameter.required));
    let texts = [
        ("title", &parameter.title),
        ("description", &parameter.description),
        ("default", &parameter.default),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            keys.insert(key.into(), json!(text));
        }
    }
    if !parameter.choices.is_empty() {
        keys.insert("enum".into(), json!(parameter.choices));
    }
    keys.into()
}
