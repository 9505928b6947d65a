//! How long a look at files waits for what is not as it should be.

use std::time::Duration;

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// What is away serves on for so long.
    pub away: Duration,
    /// For modules that are being loaded; the rest is told of later. `None`: until all
    /// are.
    pub loading: Option<Duration>,
}

impl Patience {
    /// Everything is as it is, once all is loaded.
    pub const NONE: Self = Self {
        away: Duration::ZERO,
        loading: None,
    };
}
