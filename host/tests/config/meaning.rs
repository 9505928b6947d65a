//! What the keys of a configuration come to mean.

use std::fs;
use std::path::Path;
use std::time::Duration;

use prx_host::config::{
    Config, Environment, PromptSource, Provided, ResourceSource, SandboxBackend, Severity, discover,
};
use prx_host::model::{Access, FolderGrant};

use crate::{FILE, environment, load};

#[test]
fn the_other_engine_loads_with_a_warning() {
    let loaded = load("[runtime.wasm]\nengine = \"wasmer\"\n").unwrap();
    let warning = loaded.warnings.iter().next().unwrap();
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.what.contains("wasmer"));
}

#[test]
fn a_limit_may_stand_under_the_capabilities() {
    let text = include_str!("documented/wasm.toml");
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
        workspace = "project"
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
        "/etc/openprx/project::/workspace",
        "/etc/openprx/project/a::/workspace/a",
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
    let values = config.iter().map(|(name, value)| match value {
        Provided::Value(value) => (name, value),
        elsewhere => panic!("{elsewhere:?}"),
    });
    let values: serde_json::Map<_, _> = values.map(|(n, v)| (n.clone(), v.clone())).collect();
    assert_eq!(
        serde_json::Value::Object(values).to_string(),
        r#"{"z":1,"day":"2024-05-01","a":{"y":[1.5,true],"x":""}}"#
    );
}

#[test]
fn a_value_can_stand_in_a_variable_or_a_file() {
    let text = r#"
        [tools.custom.x]
        command = "x"
        env = { KEY = { env = "THEIR_KEY" }, PLAIN = "text" }
        [tools.custom.y.config]
        token = { file = "token.txt" }
        region = { env = "eu" , file = "no reference, since there are two keys" }
    "#;
    let tools = load(text).unwrap().config.tools;
    let env = &tools["x"].env.value;
    assert_eq!(env["KEY"], Provided::Variable("THEIR_KEY".into()));
    assert_eq!(env["PLAIN"], Provided::Value("text".into()));
    let config = &tools["y"].config;
    let folder = Path::new(FILE).parent().unwrap();
    assert_eq!(config["token"], Provided::File(folder.join("token.txt")));
    assert!(matches!(config["region"], Provided::Value(_)));
}

#[test]
fn a_command_has_groups_of_arguments_and_parameters_in_either_form() {
    let text = r#"
        [tools.custom.short]
        command = "ruff"
        args = ["check", ["--config", "{config}"], "{path}"]
        stdin = "json"
        output = "json"
        success_exit_codes = [0, 1]
        [tools.custom.short.parameters]
        path = { type = "string", required = true }
        config = { type = "string", default = "ruff.toml" }
        [tools.custom.long]
        command = "ruff"
        args = ["{path}"]
        [tools.custom.long.parameters]
        type = "object"
        required = ["path"]
        properties.path.type = "string"
    "#;
    let tools = load(text).unwrap().config.tools;
    let short = &tools["short"];
    let sizes: Vec<usize> = short.args.value.iter().map(|group| group.0.len()).collect();
    assert_eq!(sizes, [1, 2, 1]);
    assert_eq!(short.success_exit_codes.value, [0, 1]);
    for tool in ["short", "long"] {
        let parameters = &tools[tool].parameters.as_ref().unwrap().value;
        assert_eq!(parameters.schema()["required"], serde_json::json!(["path"]));
    }
}

#[test]
fn the_shell_is_off_until_it_is_switched_on() {
    assert!(!load("").unwrap().config.shell.enabled.value);
    let on = load("[tools.shell]\nenabled = true\ntype = \"docker\"\n").unwrap();
    assert!(on.config.shell.enabled.value);
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
    assert_eq!(runtime.workspace.value, Path::new("/srv/project"));
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
    let faults = Config::default_with(&Environment::new("/srv/project")).unwrap_err();
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
    Config::from_toml(text, Path::new(FILE), &Environment::new("/srv/project")).unwrap();
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

#[test]
fn an_agents_own_server_is_not_taken_for_a_slip_of_ours() {
    for table in ["server", "servers", "service", "mcp"] {
        let loaded = load(&format!("[{table}]\nport = 1\n")).unwrap();
        assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    }
    let loaded = load("[servee]\nport = 1\n").unwrap();
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn what_is_served_is_read_with_its_defaults() {
    let text = "[serve.http]\ntoken = { file = \"token\" }\n\
        [serve.resources.docs]\nfolder = \"docs\"\n\
        [serve.prompts.review]\ntext = \"{path} {{x}} {path} {why}\"\n";
    let serve = load(text).unwrap().config.serve;
    assert_eq!(serve.tools.value, ["*"]);
    assert_eq!(serve.http.listen.value.to_string(), "127.0.0.1:8808");
    let token = serve.http.token.unwrap();
    assert_eq!(token.value, Provided::File("/etc/openprx/token".into()));
    assert_eq!(token.place.unwrap().line, 2);
    let ResourceSource::Folder { folder, uri, .. } = &serve.resources["docs"].source else {
        panic!("{:?}", serve.resources)
    };
    assert_eq!(folder.value, Path::new("/etc/openprx/docs"));
    assert_eq!(uri.value, "prx-host://files/docs/");
    let PromptSource::Text { arguments, .. } = &serve.prompts["review"].source else {
        panic!("{:?}", serve.prompts)
    };
    let names: Vec<_> = arguments.value.iter().map(|one| &one.name).collect();
    assert_eq!(names, ["path", "why"]);
    assert!(arguments.value.iter().all(|one| one.required));
}
