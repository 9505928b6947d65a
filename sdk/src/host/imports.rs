//! The imports of the component, in this crate's types. A function that is not called
//! leaves no import behind.

use crate::bindings::prx::skill::{config, log, progress, state};
use crate::log::Level;
use crate::progress::Amount;
use crate::state::{Error, Usage};

fn level(level: Level) -> log::Level {
    match level {
        Level::Trace => log::Level::Trace,
        Level::Debug => log::Level::Debug,
        Level::Info => log::Level::Info,
        Level::Warn => log::Level::Warn,
        Level::Error => log::Level::Error,
    }
}

pub(crate) fn log_enabled(at: Level) -> bool {
    log::enabled(level(at))
}

#[allow(clippy::needless_pass_by_value, reason = "the other side keeps them")]
pub(crate) fn log_write(at: Level, message: String, fields: Vec<(String, String)>) {
    log::write(level(at), &message, &fields);
}

pub(crate) fn config_get(key: &str) -> Option<String> {
    config::get(key)
}

pub(crate) fn config_keys() -> Vec<String> {
    config::keys()
}

pub(crate) fn progress_report(amount: Amount, message: Option<&str>) {
    let amount = match amount {
        Amount::Fraction(done) => progress::Amount::Fraction(done),
        Amount::Count { done, total } => progress::Amount::Count(progress::Count { done, total }),
    };
    progress::report(amount, message);
}

impl From<state::Error> for Error {
    fn from(error: state::Error) -> Self {
        match error {
            state::Error::Denied => Self::Denied,
            state::Error::InvalidKey => Self::InvalidKey,
            state::Error::QuotaExceeded(missing) => Self::QuotaExceeded(missing),
            state::Error::NotANumber => Self::NotANumber,
            state::Error::Unavailable(reason) => Self::Unavailable(reason),
        }
    }
}

pub(crate) fn state_get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(state::get(key)?)
}

pub(crate) fn state_set(key: &str, value: &[u8]) -> Result<(), Error> {
    Ok(state::set(key, value)?)
}

pub(crate) fn state_delete(key: &str) -> Result<bool, Error> {
    Ok(state::delete(key)?)
}

pub(crate) fn state_increment(key: &str, delta: i64) -> Result<i64, Error> {
    Ok(state::increment(key, delta)?)
}

pub(crate) fn state_compare_and_set(
    key: &str,
    expected: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<bool, Error> {
    Ok(state::compare_and_set(key, expected, value)?)
}

pub(crate) fn state_keys(
    prefix: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<String>, Error> {
    Ok(state::keys(prefix, after, limit)?)
}

pub(crate) fn state_usage() -> Result<Usage, Error> {
    let usage = state::usage()?;
    Ok(Usage {
        used: usage.used,
        quota: usage.quota,
    })
}
