//! Amounts that are written as text, the way Docker does: memory and processors.

const MIB: u64 = 1 << 20;
/// Docker itself refuses less.
const LEAST_MEMORY: u64 = 6 * MIB;
const MOST_MEMORY: u64 = MIB * MIB;

/// `256m`, `1g`, `512MiB`, `1.5 GB`: bytes. All units are binary, as in Docker.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale: u32 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        other => {
            return Err(format!(
                "`{other}` is not one of the units b, k, m, g and t"
            ));
        }
    };
    let bytes = scaled(number, 1 << scale)?;
    if (LEAST_MEMORY..=MOST_MEMORY).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(format!("`{text}` is not within 6m and 1t"))
    }
}

/// `1.0`, `0.5`: thousandths of a processor.
pub(super) fn processors(text: &str) -> Result<u64, String> {
    let millis = scaled(text.trim(), 1000)?;
    if (10..=1_024_000).contains(&millis) {
        Ok(millis)
    } else {
        Err(format!("`{text}` is not within 0.01 and 1024"))
    }
}

/// A decimal number times `scale`, exact, rounded down.
fn scaled(number: &str, scale: u64) -> Result<u64, String> {
    let wrong = || format!("`{number}` is not a decimal number");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || whole.is_empty() || number.ends_with('.') {
        return Err(wrong());
    }
    let too_large = || format!("`{number}` is too large");
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let whole = whole.checked_mul(scale).ok_or_else(too_large)?;
    // Twelve digits are finer than a byte of a tebibyte.
    let fraction = &fraction[..fraction.len().min(12)];
    let unit = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or_default());
    let part = fraction.parse::<u128>().unwrap_or_default() * u128::from(scale) / unit;
    let part = u64::try_from(part).map_err(|_| too_large())?;
    whole.checked_add(part).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_docker_reads_it() {
        for (text, bytes) in [
            ("256m", 256 * MIB),
            ("1g", 1024 * MIB),
            ("512MiB", 512 * MIB),
            ("512MB", 512 * MIB),
            ("1.5 GB", 1536 * MIB),
            ("8192k", 8 * MIB),
            ("268435456", 256 * MIB),
            ("1t", MOST_MEMORY),
        ] {
            assert_eq!(memory(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_amount_of_memory_are_refused() {
        for text in [
            "",
            "m",
            "-1m",
            "1e3m",
            "256 q",
            "1..5g",
            "1.g",
            ".5g",
            "5m",
            "2t",
            "99999999999999999999g",
            "0",
        ] {
            assert!(memory(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn processors_are_counted_in_thousandths() {
        for (text, millis) in [("1.0", 1000), ("0.5", 500), ("2", 2000), ("0.0125", 12)] {
            assert_eq!(processors(text), Ok(millis), "{text}");
        }
        for text in ["", "0", "-1", "one", "1e3", "2000", "0.001"] {
            assert!(processors(text).is_err(), "{text:?}");
        }
    }
}
