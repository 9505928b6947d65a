//! What the demo shows: its calls, its configuration, and the documents that its
//! search finds. Everything here may be edited without touching the rest.

/// One call of the demo.
pub struct Call {
    /// What it shows.
    pub title: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments, as JSON.
    pub arguments: &'static str,
}

/// The calls, in order.
pub const CALLS: &[Call] = &[
    Call {
        title: "A pure skill: it sees its arguments and nothing else",
        tool: "textstats",
        arguments: r#"{"text":"The quick brown fox jumps over the lazy dog. It was not amused.","top":2}"#,
    },
    Call {
        title: "A skill that may read one folder, `documents`, which it sees as `/docs`",
        tool: "find_text",
        arguments: r#"{"query":"sandbox"}"#,
    },
    Call {
        title: "A skill that keeps a number between calls, and nothing else",
        tool: "counter_increment",
        arguments: r#"{"name":"demo"}"#,
    },
];

/// Commands to try next, each after the program and its `--config`.
pub const NEXT: &[(&str, &str)] = &[
    (
        "inspect find_text",
        "what a skill asks for, and what it was granted",
    ),
    ("check", "every fault of the configuration and the modules"),
    ("call --help", "other ways to give arguments"),
];

/// `config.toml`. Its paths are relative to the file.
pub const CONFIG: &str = r#"# Written by `cargo xtask demo`. Change it as you like: once you did, it stays yours.

[runtime.wasm]
module_path = "skills"   # every .wasm file in this folder becomes a tool
cache_path = "cache"     # compiled modules
state_path = "state"     # what skills keep between calls

# Nothing is granted to all skills. Each grant below is for one skill only.

[tools.custom.find]
type = "wasm"
module = "find.wasm"
[tools.custom.find.capabilities]
filesystem_read = ["documents::/docs"]   # host::guest

[tools.custom.notes]
type = "wasm"
module = "notes.wasm"
[tools.custom.notes.capabilities]
filesystem_write = ["notes::/notes"]

[tools.custom.counter]
type = "wasm"
module = "counter.wasm"
[tools.custom.counter.capabilities]
max_state_kb = 64
"#;

/// Folders that grants name: a granted folder must exist.
pub const FOLDERS: &[&str] = &["documents", "notes"];

/// Files in `documents`, written where they are missing.
pub const DOCUMENTS: &[(&str, &str)] = &[
    ("sandbox.md", include_str!("documents/sandbox.md")),
    ("garden.md", include_str!("documents/garden.md")),
    ("planets.csv", include_str!("documents/planets.csv")),
];
