//! `prx:skill/log`: a guest's messages, to the caller's listener and to the host's log.

use crate::model::{Event, LogLevel};
use crate::runtime::wasm::abi::skill::bindings::log::{Host, Level};
use crate::runtime::wasm::call_state::CallState;

/// Messages of one call that are passed on.
const MAX_MESSAGES: u32 = 10_000;
/// Bytes of messages and fields of one call that are passed on.
const MAX_BYTES: usize = 1 << 20;

/// What a call has spent.
#[derive(Debug, Default)]
pub struct Budget {
    messages: u32,
    bytes: usize,
    /// Messages over the limit.
    pub dropped: u64,
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> bool {
        if self.messages >= MAX_MESSAGES || self.bytes.saturating_add(bytes) > MAX_BYTES {
            self.dropped += 1;
            return false;
        }
        self.messages += 1;
        self.bytes += bytes;
        true
    }
}

impl Host for CallState {
    fn enabled(&mut self, _level: Level) -> wasmtime::Result<bool> {
        Ok(self.services.events.is_some() && self.services.log.messages < MAX_MESSAGES)
    }

    fn write(
        &mut self,
        level: Level,
        message: String,
        fields: Vec<(String, String)>,
    ) -> wasmtime::Result<()> {
        let size = fields.iter().fold(message.len(), |sum, (key, value)| {
            sum.saturating_add(key.len()).saturating_add(value.len())
        });
        if !self.services.log.spend(size) {
            return Ok(());
        }
        if let Some(events) = &self.services.events {
            events(Event::Log {
                level: level.into(),
                message: &message,
                fields: &fields,
            });
        }
        Ok(())
    }
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Trace => Self::Trace,
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}
