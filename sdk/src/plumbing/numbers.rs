//! Whole numbers that are written with a fraction or an exponent: JSON Schema calls `100.0`
//! and `1e2` integers, a parser for `u32` does not. Works on the text, so it is exact.

/// The largest integer up to which 64-bit floats have every one (RFC 7493, section 2.2).
/// Beyond it, who wrote a fraction or an exponent may have rounded before.
pub const EXACT: u64 = 1 << 53;

/// The text of an object with such numbers as plain integers: those in the value of that
/// argument, or all. `None` if there is none. The text must be valid JSON.
pub fn with_integers(text: &str, argument: Option<&str>) -> Option<String> {
    let bytes = text.as_bytes();
    let mut written = String::new();
    let (mut at, mut copied, mut depth) = (0, 0, 0_usize);
    let (mut key_is_next, mut wanted) = (false, argument.is_none());
    while let Some(byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                if key_is_next {
                    let name = serde_json::from_str::<String>(&text[begin..at]).ok();
                    wanted = argument.is_none() || argument == name.as_deref();
                    key_is_next = false;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                key_is_next = depth == 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => key_is_next = depth == 1,
            b'-' | b'0'..=b'9' => {
                at += bytes[at..]
                    .iter()
                    .take_while(|byte| is_of_number(**byte))
                    .count();
                if let Some(integer) = as_integer(&text[begin..at]).filter(|_| wanted) {
                    written.push_str(&text[copied..begin]);
                    written.push_str(&integer);
                    copied = at;
                }
            }
            _ => {}
        }
    }
    if copied == 0 {
        return None;
    }
    written.push_str(&text[copied..]);
    Some(written)
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// The integer that a number is, if it is one and not written as one.
fn as_integer(number: &str) -> Option<String> {
    // A parser takes `-0` for a float, because there is no such integer.
    if number != "-0" && !number.contains(['.', 'e', 'E']) {
        return None;
    }
    let decimal = Decimal::of(number);
    let integer = decimal.magnitude().filter(|value| *value <= EXACT.into())?;
    let sign = if decimal.is_negative && integer != 0 {
        "-"
    } else {
        ""
    };
    Some(format!("{sign}{integer}"))
}

/// A number as it is written: digits without zeros around them, times a power of ten. No
/// float, so nothing is rounded, and no module gets larger by a parser of floats.
struct Decimal {
    is_negative: bool,
    digits: String,
    power: i64,
}

impl Decimal {
    fn of(number: &str) -> Self {
        let magnitude = number.trim_start_matches('-');
        let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_end_matches('0');
        // One with more digits is as good as without end, either way.
        let endless = if exponent.starts_with('-') {
            i32::MIN
        } else {
            i32::MAX
        };
        let power = i64::from(exponent.parse::<i32>().unwrap_or(endless));
        // The point goes to the right end of the digits. A text has no more than fit.
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX / 4);
        let power = power - length(fraction) + length(&all) - length(digits);
        Self {
            is_negative: magnitude.len() < number.len(),
            digits: digits.trim_start_matches('0').to_owned(),
            power,
        }
    }

    fn has_fraction(&self) -> bool {
        self.power < 0 && !self.digits.is_empty()
    }

    /// Without its sign; `None` for a fraction, and for what is far beyond every integer.
    fn magnitude(&self) -> Option<u128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let factor = 10_u128.checked_pow(u32::try_from(self.power).ok()?)?;
        self.digits.parse::<u128>().ok()?.checked_mul(factor)
    }
}

/// What is wrong with a number where an integer was wanted, from the decoder's words about
/// it; `None` if they are about something else.
pub fn no_integer(text: &str) -> Option<String> {
    let (number, expected) = text
        .strip_prefix("invalid type: floating point `")?
        .split_once("`, expected ")?;
    let integer = expected.rsplit(' ').next()?;
    let size = integer.strip_prefix(['i', 'u'])?;
    if !["8", "16", "32", "64", "128", "size"].contains(&size) {
        return None;
    }
    let decimal = Decimal::of(number);
    let is_in_range = decimal.magnitude().is_some_and(|value| {
        value
            < if decimal.is_negative {
                1 << 63
            } else {
                1 << 64
            }
    });
    Some(if decimal.has_fraction() {
        format!("`{number}` is no whole number, expected {expected}")
    } else if is_in_range {
        format!(
            "`{number}` may have been rounded, expected {expected}: beyond {EXACT}, write a \
             whole number with digits only"
        )
    } else {
        format!("`{number}` is out of range, expected {expected}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_argument_that_is_named_is_written_anew() {
        let text = r#"{"a\"1.0": 1.0, "b": {"a\"1.0": [2.0, "3.0"]}, "c": 4.0}"#;
        assert_eq!(
            with_integers(text, Some("a\"1.0")).as_deref(),
            Some(r#"{"a\"1.0": 1, "b": {"a\"1.0": [2.0, "3.0"]}, "c": 4.0}"#)
        );
        assert_eq!(
            with_integers(text, Some("b")).as_deref(),
            Some(r#"{"a\"1.0": 1.0, "b": {"a\"1.0": [2, "3.0"]}, "c": 4.0}"#)
        );
        assert_eq!(
            with_integers(text, None).as_deref(),
            Some(r#"{"a\"1.0": 1, "b": {"a\"1.0": [2, "3.0"]}, "c": 4}"#)
        );
        assert_eq!(with_integers(text, Some("d")), None);
        assert_eq!(
            with_integers(r#"{"a": [1, 2.5, -3, "\\", 1e-7]}"#, None),
            None
        );
    }

    #[test]
    fn a_number_is_an_integer_exactly_or_not_at_all() {
        for (number, integer) in [
            ("100.0", "100"),
            ("1e2", "100"),
            ("1.50E+1", "15"),
            ("1200e-2", "12"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e999999999999999999999999", "0"),
            ("-7.000", "-7"),
            ("9007199254740992.0", "9007199254740992"),
            ("-9007199254740992e0", "-9007199254740992"),
        ] {
            assert_eq!(as_integer(number).as_deref(), Some(integer), "{number}");
        }
        for number in [
            "1",
            "-1",
            "0",
            "100.5",
            "1e-1",
            "1.00000000000000000000000001",
            "9007199254740993.0",
            "1e16",
            "1e300",
            "1e-99999999999999",
            "1e99999999999999",
            "123456789012345678901234567890e-20",
        ] {
            assert_eq!(as_integer(number), None, "{number}");
        }
    }
}
