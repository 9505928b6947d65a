//! How far a call has come, for a caller that may be waiting. Reports may be dropped
//! when they come too fast, and must never go backwards.
//!
//! ```
//! use prx_skill::prelude::*;
//!
//! progress::fraction(0.25, "read the index");
//! progress::count(3, 12, "pages");
//! progress::count(4, None, None);
//! ```

use crate::host;

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// From 0.0 to 1.0.
    Fraction(f64),
    /// A number of things.
    Count {
        /// How many are done.
        done: u64,
        /// How many there are, if that is known.
        total: Option<u64>,
    },
}

/// Reports a fraction from 0.0 to 1.0, with a message or `None`.
pub fn fraction<'a>(done: f64, message: impl Into<Option<&'a str>>) {
    host::progress_report(Amount::Fraction(done), message.into());
}

/// Reports a number of things, of a total or `None`, with a message or `None`.
pub fn count<'a>(done: u64, total: impl Into<Option<u64>>, message: impl Into<Option<&'a str>>) {
    host::progress_report(
        Amount::Count {
            done,
            total: total.into(),
        },
        message.into(),
    );
}
