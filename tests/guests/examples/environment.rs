//! Tells everything that it can see of its surroundings without asking for a name.

use prx_guests::wasi::cli::environment;
use prx_guests::wasi::filesystem::preopens;
use prx_guests::{Tool, guest, structured};
use serde_json::{Map, Value, json};

guest![Tool::new(
    "environment",
    "Tells variables, arguments and folders.",
    |_| {
        let variables: Map<String, Value> = environment::get_environment()
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        let folders: Vec<String> = preopens::get_directories()
            .into_iter()
            .map(|(_, path)| path)
            .collect();
        structured(json!({
            "variables": variables,
            "arguments": environment::get_arguments(),
            "initial_cwd": environment::initial_cwd(),
            "folders": folders,
        }))
    }
)];
