//! Settings that the operator wrote into `[tools.custom.<name>.config]`. Read only,
//! and the same during a whole call.
//!
//! ```
//! use prx_skill::prelude::*;
//!
//! fn greeting() -> Result<&'static str, ToolError> {
//!     let locale: String = config::get_or("locale", "en")?;
//!     Ok(if locale == "de" { "Guten Tag" } else { "Good day" })
//! }
//! # assert_eq!(greeting().unwrap(), "Good day");
//! ```

use serde::de::DeserializeOwned;

use crate::error::ToolError;
use crate::host;

/// The value of a setting, or none if the operator did not set it.
///
/// # Errors
///
/// Kind `failed`, naming the setting, when the value is not a `T`.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, ToolError> {
    let Some(json) = host::config_get(key) else {
        return Ok(None);
    };
    serde_json::from_str(&json).map(Some).map_err(|error| {
        let text = error.to_string();
        let what = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(what, _)| what);
        ToolError::failed(format!(
            "the setting `{key}` of this tool does not fit: {what}; the operator can correct it \
             in `[tools.custom.<name>.config]`"
        ))
    })
}

/// The value of a setting, or `default` if the operator did not set it.
///
/// # Errors
///
/// Kind `failed`, naming the setting, when the value is not a `T`.
pub fn get_or<T: DeserializeOwned>(key: &str, default: impl Into<T>) -> Result<T, ToolError> {
    Ok(get(key)?.unwrap_or_else(|| default.into()))
}

/// The value of a setting without which the tool can not work.
///
/// # Errors
///
/// Kind `unavailable`, naming the setting, when it is absent; kind `failed` when the
/// value is not a `T`.
pub fn require<T: DeserializeOwned>(key: &str) -> Result<T, ToolError> {
    get(key)?.ok_or_else(|| {
        ToolError::unavailable(format!(
            "this tool needs the setting `{key}`; the operator can add it to \
             `[tools.custom.<name>.config]`"
        ))
    })
}

/// The names of all settings, in the operator's order.
pub fn keys() -> Vec<String> {
    host::config_keys()
}
