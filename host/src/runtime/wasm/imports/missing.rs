//! What is wrong with an import that nobody here serves, before the linker says it in
//! its own way. Invariant: what is right here, the linker links.

use super::{OFFERED, preview1};
use crate::runtime::wasm::shape::{ExternName, WasmEncoding};

/// What is wrong with an import, if something is.
pub(in crate::runtime::wasm) fn missing(
    encoding: WasmEncoding,
    import: &ExternName,
) -> Option<String> {
    match encoding {
        WasmEncoding::Component => of_component(import),
        WasmEncoding::Core if preview1::offered(import).is_some() => None,
        WasmEncoding::Core => Some(format!("`{import}`")),
    }
}

fn of_component(import: &ExternName) -> Option<String> {
    let Some((_, offered)) = OFFERED.iter().find(|(name, _)| *name == import.name) else {
        return Some(format!("`{import}`"));
    };
    let asked = import.version.as_deref().unwrap_or(offered);
    if is_compatible(asked, offered) {
        return None;
    }
    Some(format!(
        "`{}` in version {asked} (offered: {offered})",
        import.name
    ))
}

/// Semantic versioning, as the component linker applies it.
fn is_compatible(asked: &str, offered: &str) -> bool {
    let (Ok(asked), Ok(offered)) = (
        asked.parse::<semver::Version>(),
        offered.parse::<semver::Version>(),
    ) else {
        return asked == offered;
    };
    if asked.pre.is_empty() && offered.major == asked.major {
        offered.major > 0
            || (offered.minor == asked.minor && (offered.minor > 0 || asked == offered))
    } else {
        asked == offered
    }
}
