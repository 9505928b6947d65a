//! Messages for the operator and the author, not for the caller.
//!
//! ```
//! use prx_skill::prelude::*;
//!
//! log::info("read the table");
//! log::field("rows", 12).field("file", "a.csv").info("read the table");
//! // Put together only if somebody listens at this level:
//! log::debug(format_args!("{:?}", vec![1, 2, 3]));
//! ```
//!
//! Never put secrets into a message. Messages over the host's limit for one call are
//! counted and dropped.

use std::fmt::{Debug, Display};

use crate::host;

/// From the finest to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every step.
    Trace,
    /// What helps to find a fault.
    Debug,
    /// What an operator may want to know.
    Info,
    /// Something looks wrong, the call goes on.
    Warn,
    /// Something went wrong.
    Error,
}

/// Whether somebody listens at this level. The functions of this module ask by
/// themselves before they put a message together.
pub fn enabled(level: Level) -> bool {
    host::log_enabled(level)
}

/// Writes a message at a level that is known only at run time.
pub fn write(level: Level, message: impl Display) {
    Fields::default().write(level, message);
}

/// Writes a message: every step.
pub fn trace(message: impl Display) {
    write(Level::Trace, message);
}

/// Writes a message: what helps to find a fault.
pub fn debug(message: impl Display) {
    write(Level::Debug, message);
}

/// Writes a message: what an operator may want to know.
pub fn info(message: impl Display) {
    write(Level::Info, message);
}

/// Writes a message: something looks wrong, the call goes on.
pub fn warn(message: impl Display) {
    write(Level::Warn, message);
}

/// Writes a message: something went wrong.
pub fn error(message: impl Display) {
    write(Level::Error, message);
}

/// Begins a message that has named values.
pub fn field(name: &str, value: impl Display) -> Fields {
    Fields::default().field(name, value)
}

/// Named values that wait for their message.
#[derive(Clone, Debug, Default)]
#[must_use = "fields are written with a message: end with `.info(…)` or another level"]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Adds a value.
    pub fn field(mut self, name: &str, value: impl Display) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds a value as `{:?}` shows it.
    pub fn debug_field(self, name: &str, value: impl Debug) -> Self {
        self.field(name, format_args!("{value:?}"))
    }

    /// Writes the message at a level that is known only at run time.
    pub fn write(self, level: Level, message: impl Display) {
        if enabled(level) {
            host::log_write(level, message.to_string(), self.0);
        }
    }

    /// Writes the message: every step.
    pub fn trace(self, message: impl Display) {
        self.write(Level::Trace, message);
    }

    /// Writes the message: what helps to find a fault.
    pub fn debug(self, message: impl Display) {
        self.write(Level::Debug, message);
    }

    /// Writes the message: what an operator may want to know.
    pub fn info(self, message: impl Display) {
        self.write(Level::Info, message);
    }

    /// Writes the message: something looks wrong, the call goes on.
    pub fn warn(self, message: impl Display) {
        self.write(Level::Warn, message);
    }

    /// Writes the message: something went wrong.
    pub fn error(self, message: impl Display) {
        self.write(Level::Error, message);
    }
}
