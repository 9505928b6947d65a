//! Which entries of the configuration speak of a file in the module folder.

use std::path::Path;

use super::folder;
use crate::config::{Config, ToolEntry};
use crate::registry::Entry;
use crate::runtime::module_file;

/// An entry that speaks of a module.
pub(super) struct NamingEntry<'a> {
    pub tool: &'a ToolEntry,
    /// Whether it names it as its command: it is a command of this machine where there is
    /// no such module.
    pub as_command: bool,
}

/// All entries that speak of the module at this path in the module folder, switched off
/// or not, in the order of the file.
pub(super) fn naming<'a>(config: &'a Config, file: &Path) -> Vec<NamingEntry<'a>> {
    let modules = &config.runtime.wasm.module_path.value;
    let is_it = |module: &Path| folder::inside(module, modules).is_some_and(|path| path == file);
    let entries = config.tools.values().filter_map(|tool| {
        let (named, as_command) = match (&tool.module, &tool.backend, &tool.command) {
            (Some(module), ..) => (is_it(&module.value), false),
            (None, None, Some(command)) => (is_it(&module_file(&command.value, modules)), true),
            (None, ..) => (false, false),
        };
        named.then_some(NamingEntry { tool, as_command })
    });
    entries.collect()
}

/// What the configuration says of an entry that was loaded; `None`: it is the shell's, or
/// that of a file.
pub(super) fn described<'a>(config: &'a Config, entry: &Entry) -> Option<&'a ToolEntry> {
    let tool = config.tools.get(entry.name())?;
    // An entry called `shell` does not become the tool of `[tools.shell]` by that.
    (entry.place() == Some(&tool.place)).then_some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    #[test]
    fn entries_name_a_module_in_many_ways() {
        let text = r#"
            [runtime.wasm]
            module_path = "/modules"
            [tools.custom.jq]
            enabled = false
            [tools.custom.dotted]
            module = "./jq.wasm"
            [tools.custom.whole]
            module = "/modules/jq.wasm"
            [tools.custom.command]
            command = "jq"
            [tools.custom.native]
            type = "native"
            command = "jq"
            [tools.custom.elsewhere]
            module = "/other/jq.wasm"
            [tools.custom.other]
            module = "sub/jq.wasm"
        "#;
        let environment = Environment::new("/").with("HOME", "/");
        let loaded = Config::from_toml(text, Path::new("/config.toml"), &environment).unwrap();
        let found: Vec<_> = naming(&loaded.config, Path::new("jq.wasm"))
            .iter()
            .map(|entry| (entry.tool.name.clone(), entry.as_command))
            .collect();
        let expected = [
            ("jq", false),
            ("dotted", false),
            ("whole", false),
            ("command", true),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }
}
