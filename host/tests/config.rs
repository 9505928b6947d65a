//! Configuration files as a whole: those that the documents print must load unchanged,
//! faulty ones must say all that is wrong with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use prx_host::config::{Config, Environment, Faults, Loaded, SandboxBackend, Severity, discover};
use prx_host::model::{Access, FolderGrant};

/// Where the configuration pretends to stand, so that messages are the same everywhere.
const FILE: &str = "/etc/openprx/config.toml";

fn environment() -> Environment {
    Environment::new("/work").with("HOME", "/home/ada")
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/config")
        .join(folder);
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    files
}

fn load(text: &str) -> Result<Loaded, Faults> {
    Config::from_toml(text, Path::new(FILE), &environment())
}

#[test]
fn every_documented_example_loads_unchanged() {
    let files = fixtures("documented");
    assert!(files.len() >= 17, "fixtures are missing: {files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if let Err(faults) = load(&text) {
            panic!("{}:\n{}", file.display(), faults.render(false));
        }
    }
}

/// The texts beside the files are what a person sees. `BLESS=1` writes them anew, for
/// review.
#[test]
fn every_faulty_file_is_answered_with_the_expected_text() {
    let bless = std::env::var_os("BLESS").is_some();
    let files = fixtures("faulty");
    assert!(files.len() >= 25, "fixtures are missing: {files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let faults = load(&text).expect_err(&format!("{} loads", file.display()));
        let rendered = faults.render(false) + "\n";
        let expected = file.with_extension("txt");
        if bless {
            fs::write(&expected, rendered).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != rendered {
            wrong.push(format!("{}:\n{rendered}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ten_faults_of_one_file_are_reported_together_in_its_order() {
    let text = include_str!("config/faulty/ten_faults_at_once.toml");
    let faults = load(text).unwrap_err();
    assert_eq!(faults.len(), 10);
    let lines: Vec<usize> = faults
        .iter()
        .map(|fault| fault.place.as_ref().unwrap().line)
        .collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn faults_print_as_error_place_cause_and_help() {
    let faults = load("[runtime.wasm]\ntimout_secs = 1\nmax_memory_mb = 0\n").unwrap_err();
    let expected = "\
error: unknown key `timout_secs` in `[runtime.wasm]`
  --> /etc/openprx/config.toml:2:1
  help: did you mean `timeout_secs`?

error: `runtime.wasm.max_memory_mb` is out of range
  --> /etc/openprx/config.toml:3:17
  cause: 0 is not between 1 and 1048576
  help: write a number of MB from 1 to 1048576";
    assert_eq!(faults.to_string(), expected);
}

#[test]
fn faults_serialise_for_programs() {
    let faults = load("[runtime]\nbackend = \"dokcer\"\n").unwrap_err();
    let expected = serde_json::json!([{
        "severity": "error",
        "place": { "file": FILE, "line": 2, "column": 11 },
        "key": "runtime.backend",
        "what": "`runtime.backend` has an unknown value",
        "cause": "expected `native`, `docker`, `wasm` or `auto`",
        "help": "did you mean `\"docker\"`?",
        "related": null,
    }]);
    assert_eq!(serde_json::to_value(&faults).unwrap(), expected);
}

#[test]
fn colours_appear_only_when_they_are_asked_for() {
    let faults = load("[runtime]\nbackend = 1\n").unwrap_err();
    assert!(!faults.render(false).contains('\u{1b}'));
    assert!(faults.render(true).contains('\u{1b}'));
}

#[test]
fn the_other_engine_loads_with_a_warning() {
    let loaded = load("[runtime.wasm]\nengine = \"wasmer\"\n").unwrap();
    let warning = loaded.warnings.iter().next().unwrap();
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.what.contains("wasmer"));
}

#[test]
fn a_limit_may_stand_under_the_capabilities() {
    let text = include_str!("config/documented/wasm.toml");
    let wasm = load(text).unwrap().config.runtime.wasm;
    assert_eq!(wasm.timeout.value, Some(Duration::from_secs(30)));
    assert_eq!(wasm.timeout.key, "runtime.wasm.capabilities.timeout_secs");
    assert_eq!(wasm.timeout.place.unwrap().line, 19);
    assert_eq!(wasm.max_memory_bytes.value, 128 << 20);
    assert_eq!(
        wasm.module_path.value,
        Path::new("/home/ada/.local/share/openprx/wasm")
    );
}

#[test]
fn the_same_limit_in_both_places_is_fine() {
    let text = "[runtime.wasm]\ntimeout_secs = 30\ncapabilities.timeout_secs = 30.0\n";
    assert_eq!(
        load(text)
            .unwrap()
            .config
            .runtime
            .wasm
            .timeout
            .place
            .unwrap()
            .line,
        2
    );
}

#[test]
fn grants_say_both_sides_their_access_and_their_key() {
    let text = r#"
        [runtime]
        workspace = "work"
        [runtime.wasm.capabilities]
        filesystem_read = ["/workspace", "/workspace/a/", "./docs::/docs", "/usr/share", "~/x"]
        filesystem_write = ["/tmp", "./docs::/docs"]
    "#;
    let capabilities = load(text).unwrap().config.runtime.wasm.capabilities;
    let sides = |grants: &[FolderGrant]| -> Vec<String> {
        let grants = grants.iter();
        grants
            .map(|grant| format!("{}::{}", grant.host.display(), grant.guest))
            .collect()
    };
    let read = &capabilities.filesystem_read.value;
    let expected = [
        "/etc/openprx/work::/workspace",
        "/etc/openprx/work/a::/workspace/a",
        "/etc/openprx/docs::/docs",
        "/usr/share::/usr/share",
        "/home/ada/x::/home/ada/x",
    ];
    assert_eq!(sides(read), expected);
    assert!(read.iter().all(|grant| grant.access == Access::Read));
    let write = &capabilities.filesystem_write.value;
    assert_eq!(sides(write), ["/tmp::/tmp", "/etc/openprx/docs::/docs"]);
    assert!(write.iter().all(|grant| grant.access == Access::Write));
    let granted_by = "runtime.wasm.capabilities.filesystem_read (/etc/openprx/config.toml:5)";
    assert_eq!(read[0].granted_by, granted_by);
}

#[test]
fn a_tool_without_a_command_is_about_the_module_of_its_name() {
    let text = r#"
        [tools.custom.wordcount]
        enabled = false
        [tools.custom.notes]
        type = "wasm"
        [tools.custom.other]
        module = "sub/other.wasm"
        [tools.custom.lint]
        command = "ruff"
    "#;
    let tools = load(text).unwrap().config.tools;
    let modules: Vec<Option<&Path>> = tools
        .values()
        .map(|tool| tool.module.as_ref().map(|module| module.value.as_path()))
        .collect();
    let path = |text| Some(Path::new(text));
    let expected = [
        path("wordcount.wasm"),
        path("notes.wasm"),
        path("sub/other.wasm"),
        None,
    ];
    assert_eq!(modules, expected);
    assert_eq!(
        tools.keys().collect::<Vec<_>>(),
        ["wordcount", "notes", "other", "lint"]
    );
}

#[test]
fn settings_of_a_skill_become_json_in_their_order() {
    let text =
        "[tools.custom.x.config]\nz = 1\nday = 2024-05-01\na = { y = [1.5, true], x = \"\" }\n";
    let config = &load(text).unwrap().config.tools["x"].config;
    let text = serde_json::to_string(config).unwrap();
    assert_eq!(
        text,
        r#"{"z":1,"day":"2024-05-01","a":{"y":[1.5,true],"x":""}}"#
    );
}

#[test]
fn a_sandbox_that_is_not_enabled_is_none() {
    let text = "[security.sandbox]\nbackend = \"bubblewrap\"\nenabled = false\n";
    let backend = load(text).unwrap().config.sandbox.backend;
    assert_eq!(backend.value, Some(SandboxBackend::None));
    assert_eq!(
        backend.origin(),
        "security.sandbox.enabled (/etc/openprx/config.toml:3)"
    );
}

#[test]
fn without_a_file_everything_has_its_default() {
    let environment = environment().with("XDG_CACHE_HOME", "/var/cache/ada");
    let discovered = discover(None, &environment).unwrap();
    let config = Config::load(&discovered, &environment).unwrap().config;
    assert_eq!(config.file, None);
    let (runtime, wasm) = (&config.runtime, &config.runtime.wasm);
    assert_eq!(runtime.workspace.value, Path::new("/work"));
    assert_eq!(
        wasm.module_path.value,
        Path::new("/home/ada/.local/share/openprx/wasm")
    );
    assert_eq!(
        wasm.cache_path.value,
        Path::new("/var/cache/ada/openprx/wasm")
    );
    assert_eq!(
        wasm.state_path.value,
        Path::new("/home/ada/.local/state/openprx/skills")
    );
    assert_eq!(wasm.cache_max_bytes.value, 2048 << 20);
    let capabilities = &wasm.capabilities;
    assert!(capabilities.filesystem_read.value.is_empty());
    assert!(capabilities.filesystem_write.value.is_empty());
    assert!(!capabilities.network.value && capabilities.allowed_hosts.value.is_none());
    assert!(capabilities.env_vars.value.is_empty());
    assert_eq!(capabilities.max_state_bytes.value, 0);
}

#[test]
fn without_a_home_folder_the_keys_that_need_one_are_named() {
    let faults = Config::default_with(&Environment::new("/work")).unwrap_err();
    let keys: Vec<&str> = faults
        .iter()
        .map(|fault| fault.key.as_deref().unwrap())
        .collect();
    let expected = [
        "runtime.wasm.module_path",
        "runtime.wasm.cache_path",
        "runtime.wasm.state_path",
    ];
    assert_eq!(keys, expected);
    let text = "[runtime.wasm]\nmodule_path = \"/m\"\ncache_path = \"/c\"\nstate_path = \"/s\"\n";
    Config::from_toml(text, Path::new(FILE), &Environment::new("/work")).unwrap();
}

#[test]
fn paths_of_a_file_on_disk_start_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, "[runtime.wasm]\nmodule_path = \"modules\"\n").unwrap();
    let discovered = discover(Some(&file), &environment()).unwrap();
    let config = Config::load(&discovered, &environment()).unwrap().config;
    assert_eq!(
        config.runtime.wasm.module_path.value,
        folder.path().join("modules")
    );
    assert_eq!(config.file.as_deref(), Some(file.as_path()));
}

#[test]
fn files_that_are_no_text_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, b"# fine\n# \xff\n").unwrap();
    let faults = Config::load_file(&file, &environment()).unwrap_err();
    let fault = faults.iter().next().unwrap();
    assert!(fault.what.contains("UTF-8"), "{fault}");
    assert_eq!(
        fault.place.as_ref().map(|place| (place.line, place.column)),
        Some((2, 3))
    );

    let faults = Config::load_file(folder.path(), &environment()).unwrap_err();
    assert!(faults.to_string().contains("can not be read"), "{faults}");
    let faults = Config::load_file(Path::new("/dev/zero"), &environment()).unwrap_err();
    assert!(faults.to_string().contains("larger than"), "{faults}");
}

/// Pieces of configuration files, good and bad, in any order.
fn toml_like() -> impl Strategy<Value = String> {
    let pieces: Vec<&'static str> = vec![
        "[runtime]\n",
        "[runtime.wasm]\n",
        "[runtime.wasm.capabilities]\n",
        "[tools.custom.a]\n",
        "[tools.custom.\"\u{e9} b\"]\n",
        "[[tools.custom]]\n",
        "[security.sandbox]\n",
        "[security.",
        "[tools.custom.a.config]\n",
        "[tools]\n",
        "[runtime.docker]\n",
        "[runtim]\r\n",
        "[",
        "]",
        "backend = ",
        "timeout_secs = ",
        "filesystem_read = ",
        "allowed_hosts = ",
        "network = ",
        "type = ",
        "command = ",
        "memory_limit = ",
        "cpu_limit = ",
        "x.y = ",
        "config = ",
        "env = ",
        "module_path = ",
        "max_memory_mb = ",
        "parameters = ",
        "image = ",
        "custom = ",
        "\"wasm\"",
        "\"auto\"\n",
        "\"\u{4f60}::/\u{597d}\"\n",
        "\"a::b\"",
        "\"/workspace/../x\"",
        "\"~\"",
        "\"$XDG_DATA_HOME\"",
        "1\n",
        "-1",
        "0.5\n",
        "nan\n",
        "9e999",
        "true\n",
        "false",
        "2024-01-01\n",
        "{ a = 1, \"\" = [] }\n",
        "{",
        "}",
        "[\"x\", 1]\n",
        "[]\n",
        "'''",
        "\"\"\"",
        "\"",
        "\\u0000",
        "# c\n",
        "\n",
        "\t",
        "\u{feff}",
        "\0",
        "=",
        ".",
        ",",
        " ",
    ];
    prop::collection::vec(
        prop_oneof![
            8 => prop::sample::select(pieces).prop_map(str::to_owned),
            1 => "\\PC{0,6}",
        ],
        0..40,
    )
    .prop_map(|pieces| pieces.concat())
}

fn check_faults(text: &str) -> Result<(), TestCaseError> {
    let faults = match load(text) {
        Ok(loaded) => {
            prop_assert!(!loaded.warnings.has_errors());
            prop_assert!(loaded.config.effective().len() > 30);
            loaded.warnings
        }
        Err(faults) => faults,
    };
    for fault in &faults {
        let place = fault.place.as_ref().unwrap();
        let line = text.split('\n').nth(place.line - 1);
        prop_assert!(line.is_some(), "line {} of {text:?}", place.line);
        let columns = line.unwrap_or_default().chars().count() + 1;
        prop_assert!(
            (1..=columns).contains(&place.column),
            "{place:?} of {text:?}"
        );
        prop_assert!(
            !fault.what.is_empty() && !fault.what.contains('\n'),
            "{}",
            fault.what
        );
    }
    let printed = faults.render(false).len() + faults.render(true).len();
    prop_assert!(printed >= 2 * faults.len() && faults.to_string().len() >= faults.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_answered_with_faults_that_have_a_place(text in toml_like()) {
        check_faults(&text)?;
    }

    #[test]
    fn a_documented_file_with_a_piece_cut_out_never_panics(
        (from, length) in (0_usize..3000, 0_usize..200),
    ) {
        let text = include_str!("config/documented/whole.toml");
        let start = text.floor_char_boundary(from);
        let end = text.floor_char_boundary(start + length);
        check_faults(&format!("{}{}", &text[..start], &text[end..]))?;
    }
}
