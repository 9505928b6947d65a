//! Well behaved: reads what the operator configured.

use prx_guests::{Tool, config, guest, structured};
use serde_json::{Map, Value, json};

guest![
    Tool::new(
        "get",
        "Tells the JSON text of a setting, or null.",
        |arguments| { structured(json!({ "json": config::get(&arguments.text("key")?) })) }
    )
    .takes("key", "string"),
    Tool::new("keys", "Lists the settings in their order.", |_| {
        structured(json!({ "keys": config::keys() }))
    }),
    Tool::new("all", "Tells all settings, parsed.", |_| {
        let parsed =
            |key: &String| config::get(key).and_then(|json| serde_json::from_str(&json).ok());
        let all: Map<String, Value> = config::keys()
            .into_iter()
            .map(|key| {
                let value = parsed(&key).unwrap_or_default();
                (key, value)
            })
            .collect();
        structured(Value::Object(all))
    }),
];
