//! The code itself: a square of dark and light modules with a light margin around it.

use prx_skill::prelude::*;
use qrcodegen::{QrCode, QrCodeEcc};

use crate::error::DrawError;

/// The widest margin, in modules.
pub const MAX_MARGIN: u32 = 40;

/// How much of the code may be dirty or covered and still be read.
#[data]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ErrorCorrection {
    /// About 7 %.
    Low,
    /// About 15 %.
    #[default]
    Medium,
    /// About 25 %.
    Quartile,
    /// About 30 %.
    High,
}

impl ErrorCorrection {
    /// As callers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::Quartile => "quartile",
            Self::High => "high",
        }
    }
}

/// A code that can be drawn.
pub struct Symbol {
    code: QrCode,
    margin: u32,
}

impl Symbol {
    /// Encodes a text into the smallest code that holds it. The level of error correction
    /// becomes higher than asked for where that costs no room.
    pub fn new(text: &str, level: ErrorCorrection, margin: u32) -> Result<Self, DrawError> {
        if text.is_empty() {
            return Err(DrawError::Empty);
        }
        if margin > MAX_MARGIN {
            return Err(DrawError::TooLarge {
                what: "margin",
                value: margin,
                limit: MAX_MARGIN,
            });
        }
        let level_of_code = match level {
            ErrorCorrection::Low => QrCodeEcc::Low,
            ErrorCorrection::Medium => QrCodeEcc::Medium,
            ErrorCorrection::Quartile => QrCodeEcc::Quartile,
            ErrorCorrection::High => QrCodeEcc::High,
        };
        let code = QrCode::encode_text(text, level_of_code).map_err(|_| DrawError::TooLong {
            bytes: text.len(),
            level: level.as_str(),
        })?;
        Ok(Self { code, margin })
    }

    /// The version, from 1 (21 modules a side) to 40 (177).
    pub fn version(&self) -> u8 {
        self.code.version().value()
    }

    /// Modules on a side, without the margin.
    pub fn modules(&self) -> u32 {
        self.code.size().unsigned_abs()
    }

    /// Modules on a side, with the margin.
    pub fn side(&self) -> u32 {
        self.modules() + 2 * self.margin
    }

    /// The level of error correction that was reached.
    pub fn error_correction(&self) -> ErrorCorrection {
        match self.code.error_correction_level() {
            QrCodeEcc::Low => ErrorCorrection::Low,
            QrCodeEcc::Medium => ErrorCorrection::Medium,
            QrCodeEcc::Quartile => ErrorCorrection::Quartile,
            QrCodeEcc::High => ErrorCorrection::High,
        }
    }

    /// Whether a module is dark, counted from the corner of the margin.
    pub fn is_dark(&self, x: u32, y: u32) -> bool {
        let inner = |place: u32| {
            place
                .checked_sub(self.margin)
                .and_then(|place| i32::try_from(place).ok())
        };
        match (inner(x), inner(y)) {
            (Some(x), Some(y)) => self.code.get_module(x, y),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_get_small_codes_and_long_texts_large_ones() {
        let version = |text: &str| {
            Symbol::new(text, ErrorCorrection::Low, 4)
                .unwrap()
                .version()
        };
        assert_eq!(version("1"), 1);
        assert_eq!(version(&"x".repeat(2953)), 40);
    }

    #[test]
    fn a_text_that_does_not_fit_is_refused_with_a_way_out() {
        let long = "x".repeat(2500);
        let error = Symbol::new(&long, ErrorCorrection::High, 4).err().unwrap();
        assert!(error.to_string().contains("`low`"), "{error}");
        let longer = "x".repeat(2954);
        let error = Symbol::new(&longer, ErrorCorrection::Low, 4).err().unwrap();
        assert!(!error.to_string().contains("or give"), "{error}");
        assert_eq!(
            Symbol::new("", ErrorCorrection::Low, 4).err(),
            Some(DrawError::Empty)
        );
    }

    #[test]
    fn the_margin_is_light_and_counts_to_the_side() {
        let symbol = Symbol::new("x", ErrorCorrection::Medium, 3).unwrap();
        assert_eq!((symbol.modules(), symbol.side()), (21, 27));
        for place in 0..27 {
            assert!(!symbol.is_dark(place, 2) && !symbol.is_dark(24, place));
        }
        // A finder pattern fills each corner but one.
        assert!(symbol.is_dark(3, 3) && symbol.is_dark(23, 3) && symbol.is_dark(3, 23));
        assert!(Symbol::new("x", ErrorCorrection::Medium, 41).is_err());
    }

    #[test]
    fn error_correction_is_never_lower_than_asked_for() {
        for (level, text) in [(ErrorCorrection::High, "x"), (ErrorCorrection::Low, "x")] {
            let symbol = Symbol::new(text, level, 4).unwrap();
            // One letter leaves room for the highest level in the smallest code.
            assert_eq!(symbol.error_correction(), ErrorCorrection::High);
        }
        let full = Symbol::new(&"x".repeat(17), ErrorCorrection::Low, 4).unwrap();
        assert_eq!(full.error_correction(), ErrorCorrection::Low);
    }
}
