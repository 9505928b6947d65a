//! What `config show` has to show.

use std::collections::BTreeMap;

use prx_host::config::EffectiveKey;
use serde_json::json;

use crate::load;

fn effective(text: &str) -> BTreeMap<String, EffectiveKey> {
    let keys = load(text).unwrap().config.effective().into_iter();
    keys.map(|key| (key.key.clone(), key)).collect()
}

#[test]
fn values_are_shown_in_the_terms_of_the_file_with_their_origin() {
    let keys = effective(
        "[runtime]\ndefault_timeout_secs = 0.5\n\
         [runtime.docker]\nmemory_limit = \"1.5g\"\ncpu_limit = \"0.25\"\n\
         [runtime.wasm.capabilities]\nmax_memory_mb = 64\n\
         filesystem_read = [\"/workspace/docs\", \"/usr/share\"]\n",
    );
    for (key, value, origin) in [
        (
            "runtime.default_timeout_secs",
            json!(0.5),
            "/etc/openprx/config.toml:2",
        ),
        (
            "runtime.docker.memory_limit",
            json!("1536m"),
            "/etc/openprx/config.toml:4",
        ),
        (
            "runtime.docker.cpu_limit",
            json!("0.25"),
            "/etc/openprx/config.toml:5",
        ),
        (
            "runtime.wasm.capabilities.max_memory_mb",
            json!(64),
            "/etc/openprx/config.toml:7",
        ),
        (
            "runtime.wasm.capabilities.filesystem_read",
            json!(["/srv/project/docs::/workspace/docs", "/usr/share"]),
            "/etc/openprx/config.toml:8",
        ),
        ("runtime.backend", json!("auto"), "default"),
        ("runtime.workspace", json!("/srv/project"), "default"),
    ] {
        let shown = &keys[key];
        assert_eq!(
            (&shown.value, shown.origin.to_string()),
            (&value, origin.to_owned())
        );
    }
}

#[test]
fn what_is_shown_can_be_serialised() {
    let keys = effective("[runtime]\nbackend = \"wasm\"\n");
    let shown = serde_json::to_value(&keys["runtime.backend"]).unwrap();
    let expected = json!({ "key": "runtime.backend", "value": "wasm", "origin": "/etc/openprx/config.toml:2" });
    assert_eq!(shown, expected);
}

#[test]
fn secrets_of_tools_are_not_shown() {
    let keys = effective(
        "[runtime.native.env]\nGITHUB_TOKEN = \"hunter2\"\nLANG = \"C\"\n\
         [tools.custom.mail]\ncommand = \"mail\"\nenv = { SMTP_PASSWORD = \"hunter2\" }\n\
         [tools.custom.notes.config]\napi_key = \"hunter2\"\nlocale = \"de\"\n\
         servers = [{ url = \"https://ada:hunter2@example.com/\", token = \"hunter2\" }]\n",
    );
    let shown = serde_json::to_string(&keys.values().collect::<Vec<_>>()).unwrap();
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(keys["runtime.native.env"].value["LANG"], "C");
    assert_eq!(keys["tools.custom.notes.config.locale"].value, "de");
}
