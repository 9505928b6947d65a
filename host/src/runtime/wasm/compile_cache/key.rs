//! What an entry is kept under, and the names of its files. Invariant: keys that differ
//! in anything have different stems and bindings.

use crate::runtime::wasm::module::hex;

/// What a compiled module depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// SHA-256 of the module.
    pub module: [u8; 32],
    /// A hash of all that decides about the code: the engine's version, its settings, the
    /// processor's features. Computed by who compiles.
    pub engine: [u8; 32],
    /// What was made of the module, where one module can be made into several things.
    pub kind: &'static str,
}

/// Letters of the module's hash that begin a stem, so that a person finds its files.
const MODULE_LETTERS: usize = 16;
/// Letters of the binding that follow.
const BINDING_LETTERS: usize = 48;

impl CacheKey {
    /// A hash of the whole key, which goes into the MACs.
    pub(super) fn binding(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("prx-host 2025 compile cache key");
        // The first two have a fixed length, so the whole is read in one way only.
        hasher
            .update(&self.module)
            .update(&self.engine)
            .update(self.kind.as_bytes());
        hasher.finalize().into()
    }

    /// What the names of this key's files begin with.
    pub(super) fn stem(&self) -> String {
        let module = hex(&self.module[..MODULE_LETTERS / 2]);
        let binding = hex(&self.binding()[..BINDING_LETTERS / 2]);
        format!("{module}-{binding}")
    }
}

/// What a file of the cache is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Descriptor,
    Code,
}

/// The name of a stem's descriptor.
pub(super) fn descriptor_name(stem: &str) -> String {
    format!("{stem}.descriptor")
}

/// The name of a stem's code. It depends on the code, so that a descriptor and a code
/// that two processes write at the same time are never taken for a pair.
pub(super) fn code_name(stem: &str, code_mac: &[u8; 32]) -> String {
    format!("{stem}.{}.code", hex(&code_mac[..8]))
}

/// Takes a name apart into stem and kind; `None` for files that are none of ours.
pub(super) fn parse_name(name: &str) -> Option<(&str, FileKind)> {
    let (stem, rest) = name.split_once('.')?;
    let is_hex = |text: &str, length| {
        text.len() == length
            && text
                .bytes()
                .all(|letter| matches!(letter, b'0'..=b'9' | b'a'..=b'f'))
    };
    let (module, binding) = stem.split_once('-')?;
    if !is_hex(module, MODULE_LETTERS) || !is_hex(binding, BINDING_LETTERS) {
        return None;
    }
    match rest.split_once('.') {
        None if rest == "descriptor" => Some((stem, FileKind::Descriptor)),
        Some((mac, "code")) if is_hex(mac, 16) => Some((stem, FileKind::Code)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CacheKey = CacheKey {
        module: [1; 32],
        engine: [2; 32],
        kind: "skill",
    };

    #[test]
    fn keys_that_differ_in_anything_have_different_stems() {
        let mut module = KEY;
        module.module[31] = 0;
        let mut engine = KEY;
        engine.engine[31] = 0;
        let kind = CacheKey {
            kind: "command",
            ..KEY
        };
        let stems = [KEY, module, engine, kind].map(|key| key.stem());
        for (index, stem) in stems.iter().enumerate() {
            assert!(!stems[index + 1..].contains(stem));
        }
    }

    #[test]
    fn names_are_read_as_they_are_written_and_others_are_not_ours() {
        let stem = KEY.stem();
        let descriptor = descriptor_name(&stem);
        let code = code_name(&stem, &[7; 32]);
        assert_eq!(
            parse_name(&descriptor),
            Some((stem.as_str(), FileKind::Descriptor))
        );
        assert_eq!(parse_name(&code), Some((stem.as_str(), FileKind::Code)));
        for name in [
            "secret",
            ".tmp-1",
            "a.descriptor",
            "notes.txt",
            &stem,
            &format!("{code}~"),
        ] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
