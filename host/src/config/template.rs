//! The file that `config init` writes: every key with its default and its reason, most of
//! it commented out.

/// The text of a first `config.toml`. It loads as it is, with each of its keys
/// uncommented (those of an example tool together), and with all of them.
pub fn template() -> &'static str {
    include_str!("template.toml")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::config::{Config, Environment, Loaded, Origin};

    /// The template with those of its keys and headers uncommented that are wanted.
    fn uncommented(wanted: impl Fn(usize) -> bool) -> String {
        let lines = template().lines().enumerate();
        let lines = lines.map(|(index, line)| match key(line) {
            Some(key) if wanted(index) => key,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What a line has behind its `#`, unless it is prose.
    fn key(line: &str) -> Option<&str> {
        let key = line.strip_prefix('#')?;
        key.starts_with(|c: char| c == '[' || c.is_alphabetic())
            .then_some(key)
    }

    fn load(text: &str) -> Loaded {
        // The workspace of the template is the current folder.
        let environment = Environment::new("/etc/openprx").with("HOME", "/home/ada");
        let loaded = Config::from_toml(text, Path::new("/etc/openprx/config.toml"), &environment);
        let loaded = loaded.unwrap_or_else(|faults| panic!("{}", faults.render(false)));
        assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
        loaded
    }

    fn values(config: &Config) -> BTreeMap<String, Value> {
        let keys = config.effective().into_iter();
        keys.map(|key| (key.key, key.value)).collect()
    }

    #[test]
    fn the_template_loads_and_changes_no_default() {
        let environment = Environment::new("/etc/openprx").with("HOME", "/home/ada");
        let defaults = Config::default_with(&environment).unwrap();
        assert_eq!(values(&load(template()).config), values(&defaults.config));
    }

    #[test]
    fn each_key_can_be_uncommented_alone() {
        let lines: Vec<&str> = template().lines().collect();
        let mut tried = 0;
        for (index, line) in lines.iter().enumerate() {
            let header = lines[..index]
                .iter()
                .rev()
                .find(|line| key(line).unwrap_or(line).starts_with('['));
            let in_active_table = header.is_some_and(|header| header.starts_with('['));
            if in_active_table && key(line).is_some_and(|key| !key.starts_with('[')) {
                load(&uncommented(|one| one == index));
                tried += 1;
            }
        }
        assert!(tried > 40, "only {tried} keys were found");
    }

    #[test]
    fn uncommented_it_writes_every_key() {
        let loaded = load(&uncommented(|_| true));
        let unwritten: Vec<String> = loaded
            .config
            .effective()
            .into_iter()
            .filter(|key| key.origin == Origin::Default)
            .map(|key| key.key)
            .collect();
        // The hosts need `network = true`, which is no default. A skill and a command
        // differ in the keys that fit them.
        let expected = [
            "runtime.wasm.capabilities.allowed_hosts",
            "tools.custom.example.args",
            "tools.custom.example.env",
            "tools.custom.lint.enabled",
        ];
        assert_eq!(unwritten, expected);
    }

    #[test]
    fn the_values_it_shows_are_the_defaults() {
        let environment = Environment::new("/etc/openprx").with("HOME", "/home/ada");
        let defaults = values(&Config::default_with(&environment).unwrap().config);
        let shown = values(&load(&uncommented(|_| true)).config);
        let differing: Vec<&str> = defaults
            .iter()
            .filter(|(key, value)| shown[*key] != **value)
            .map(|(key, _)| key.as_str())
            .collect();
        // Tables of one's own names are shown with an example; the time of skills is that
        // of all tools.
        let expected = [
            "runtime.docker.tool_images",
            "runtime.native.env",
            "runtime.wasm.timeout_secs",
        ];
        assert_eq!(differing, expected);
    }

    #[test]
    fn every_key_that_can_be_written_is_in_it() {
        let text = uncommented(|_| true);
        let known = crate::config::check::known_keys();
        assert!(known.len() > 60, "only {} keys are known", known.len());
        for key in known {
            let name = key.rsplit('.').next().unwrap_or_default();
            let written = text.lines().any(|line| {
                line.trim_start().starts_with(&format!("{name} ="))
                    || line.starts_with('[') && line.trim_end_matches(']').ends_with(name)
                    // Tables of tables that have names of their own.
                    || line.starts_with(&format!("[{key}."))
            });
            // Keys that only old files have, or that are another spelling of one shown.
            let left_out = [
                "enabled",
                "bubblewrap",
                "memory_monitoring",
                "max_cpu_percent",
            ]
            .contains(&name);
            assert!(written || left_out, "`{key}` is not in the template");
        }
    }
}
