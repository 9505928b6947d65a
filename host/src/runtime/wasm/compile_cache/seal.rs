//! The MACs of an entry and the format of a descriptor file. Invariant: bytes that were
//! not sealed with this cache's secret for this very key never come out of `unseal`.

use std::io::{self, Read};

/// Begins every descriptor file, with the version of its format.
const MAGIC: &[u8; 8] = b"prxcch01";
const MAC: usize = 32;
const HEADER: usize = MAGIC.len() + 8 + MAC;

/// Derived from the secret, one key per purpose.
pub(super) struct Seal {
    descriptor: [u8; 32],
    code: [u8; 32],
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

/// What a descriptor file says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) code_length: u64,
    pub(super) code_mac: [u8; 32],
    pub(super) payload: Vec<u8>,
}

impl Seal {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        Self {
            descriptor: blake3::derive_key("prx-host 2025 compile cache descriptor", secret),
            code: blake3::derive_key("prx-host 2025 compile cache code", secret),
        }
    }

    /// The MAC of code, read to its end.
    pub(super) fn code_mac(&self, binding: &[u8; 32], code: impl Read) -> io::Result<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_keyed(&self.code);
        hasher.update(binding).update_reader(code)?;
        Ok(hasher.finalize().into())
    }

    /// A descriptor file: magic, length of the code, MAC of the code, payload, MAC of all.
    pub(super) fn seal(&self, binding: &[u8; 32], descriptor: &Descriptor) -> Vec<u8> {
        let mut file = Vec::with_capacity(HEADER + descriptor.payload.len() + MAC);
        file.extend_from_slice(MAGIC);
        file.extend_from_slice(&descriptor.code_length.to_le_bytes());
        file.extend_from_slice(&descriptor.code_mac);
        file.extend_from_slice(&descriptor.payload);
        let mac = self.descriptor_mac(binding, &file);
        file.extend_from_slice(mac.as_bytes());
        file
    }

    /// The descriptor in a file, if it was sealed here and for this key.
    pub(super) fn unseal(&self, binding: &[u8; 32], file: &[u8]) -> Option<Descriptor> {
        let (sealed, mac) = file.split_last_chunk::<MAC>()?;
        // `blake3::Hash` compares in constant time.
        if self.descriptor_mac(binding, sealed) != *mac {
            return None;
        }
        let (magic, rest) = sealed.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (code_mac, payload) = rest.split_first_chunk::<MAC>()?;
        (magic == MAGIC).then(|| Descriptor {
            code_length: u64::from_le_bytes(*length),
            code_mac: *code_mac,
            payload: payload.to_vec(),
        })
    }

    fn descriptor_mac(&self, binding: &[u8; 32], sealed: &[u8]) -> blake3::Hash {
        blake3::Hasher::new_keyed(&self.descriptor)
            .update(binding)
            .update(sealed)
            .finalize()
    }
}

/// Compares two MACs in constant time.
pub(super) fn is_same(left: [u8; 32], right: [u8; 32]) -> bool {
    blake3::Hash::from(left) == blake3::Hash::from(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINDING: [u8; 32] = [1; 32];
    const OTHER: [u8; 32] = [2; 32];

    fn sample() -> Descriptor {
        Descriptor {
            code_length: 4,
            code_mac: [3; 32],
            payload: b"payload".to_vec(),
        }
    }

    #[test]
    fn a_descriptor_opens_with_its_secret_and_key_and_with_no_other() {
        let seal = Seal::new(&[9; 32]);
        let file = seal.seal(&BINDING, &sample());
        assert_eq!(seal.unseal(&BINDING, &file), Some(sample()));
        assert_eq!(seal.unseal(&OTHER, &file), None);
        assert_eq!(Seal::new(&[8; 32]).unseal(&BINDING, &file), None);
    }

    #[test]
    fn the_same_code_has_another_mac_under_another_key_and_secret() {
        let seal = Seal::new(&[9; 32]);
        let mac = |seal: &Seal, binding| seal.code_mac(binding, &b"code"[..]).unwrap();
        let own = mac(&seal, &BINDING);
        assert!(is_same(own, mac(&seal, &BINDING)));
        assert!(!is_same(own, mac(&seal, &OTHER)));
        assert!(!is_same(own, mac(&Seal::new(&[8; 32]), &BINDING)));
    }

    #[test]
    fn sealed_bytes_of_another_format_are_refused() {
        let seal = Seal::new(&[9; 32]);
        for content in [&b""[..], b"prxcch01", &[7; 48], b"prxcch02\0\0\0\0\0\0\0\0"] {
            let mut file = content.to_vec();
            file.extend_from_slice(seal.descriptor_mac(&BINDING, content).as_bytes());
            assert_eq!(seal.unseal(&BINDING, &file), None);
        }
    }
}
