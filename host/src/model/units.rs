//! How amounts and moments are written for people.

use std::time::SystemTime;

use serde::Serializer;

/// Bytes with a binary unit: `0 B`, `1023 B`, `1.5 KiB`, `128 MiB`.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut scale = 1_u64;
    while unit + 1 < UNITS.len() && bytes / scale >= 1024 {
        scale *= 1024;
        unit += 1;
    }
    let (whole, tenth) = (bytes / scale, bytes % scale * 10 / scale);
    if tenth == 0 {
        format!("{whole} {}", UNITS[unit])
    } else {
        format!("{whole}.{tenth} {}", UNITS[unit])
    }
}

/// A moment as text, for serde: `2026-11-29T12:00:00Z`.
pub(crate) fn as_rfc3339<S: Serializer>(
    time: &SystemTime,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_rfc3339_seconds(*time))
}

#[cfg(test)]
mod tests {
    use super::format_bytes;

    #[test]
    fn bytes_take_the_largest_fitting_unit() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (128 << 20, "128 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
    }
}
