//! Why a code could not be drawn, in words that let a model repair its call.

use thiserror::Error;

/// Why a code could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DrawError {
    /// There is nothing to encode.
    #[error("`text` is empty: give what a scanner shall read, such as a web address")]
    Empty,
    /// The text does not fit into the largest code.
    #[error(
        "the text has {bytes} bytes, too many for a QR code with `error_correction` \
         `{level}`: shorten it{}",
        if *level == "low" { "" } else { ", or give `low` (up to 2,953 bytes)" }
    )]
    TooLong {
        /// The size of the text.
        bytes: usize,
        /// The level that was asked for.
        level: &'static str,
    },
    /// The modules would be smaller than pixels.
    #[error(
        "`size` {size} is too small: this code needs at least {least} pixels, and about {good} \
         to be scanned with ease"
    )]
    TooSmall {
        /// The size asked for.
        size: u32,
        /// The least size that can show the code.
        least: u32,
        /// A size that phones like.
        good: u32,
    },
    /// The picture would be too large.
    #[error("`{what}` {value} is too large: at most {limit}")]
    TooLarge {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The limit.
        limit: u32,
    },
    /// The picture could not be encoded.
    #[error("the PNG could not be encoded: {why}")]
    Encoding {
        /// What the encoder said.
        why: String,
    },
}
