//! A host in the memory of one thread, so that skills run in native tests. It keeps the
//! rules of the real one: key lengths, quota, denial, byte order.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::log::Level;
use crate::progress::Amount;
use crate::state::{Error, Usage};
use crate::testing::{LogEntry, ProgressEntry};

/// Keys may have this many bytes.
const MAX_KEY: usize = 512;
/// A page of keys has at most this many.
const MAX_PAGE: u32 = 1000;

/// Everything that a skill can see or leave behind.
pub(crate) struct Memory {
    pub(crate) config: Vec<(String, String)>,
    pub(crate) state: BTreeMap<String, Vec<u8>>,
    pub(crate) quota: u64,
    pub(crate) outage: Option<String>,
    pub(crate) level: Level,
    pub(crate) log: Vec<LogEntry>,
    pub(crate) progress: Vec<ProgressEntry>,
}

impl Memory {
    pub(crate) const fn new() -> Self {
        Self {
            config: Vec::new(),
            state: BTreeMap::new(),
            quota: 1024 * 1024,
            outage: None,
            level: Level::Trace,
            log: Vec::new(),
            progress: Vec::new(),
        }
    }

    fn usable(&self) -> Result<(), Error> {
        match &self.outage {
            _ if self.quota == 0 => Err(Error::Denied),
            Some(reason) => Err(Error::Unavailable(reason.clone())),
            None => Ok(()),
        }
    }

    fn check(&self, key: &str) -> Result<(), Error> {
        self.usable()?;
        if key.is_empty() || key.len() > MAX_KEY {
            Err(Error::InvalidKey)
        } else {
            Ok(())
        }
    }

    fn used(&self) -> u64 {
        self.state
            .iter()
            .map(|(key, value)| (key.len() + value.len()) as u64)
            .sum()
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        let before = self.state.get(key).map_or(0, |old| key.len() + old.len()) as u64;
        let after = self.used() - before + (key.len() + value.len()) as u64;
        if after > self.quota {
            return Err(Error::QuotaExceeded(after - self.quota));
        }
        self.state.insert(key.to_owned(), value.to_owned());
        Ok(())
    }
}

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory::new()) };
}

pub(crate) fn with<T>(use_memory: impl FnOnce(&mut Memory) -> T) -> T {
    MEMORY.with_borrow_mut(use_memory)
}

pub(crate) fn log_enabled(level: Level) -> bool {
    with(|memory| level >= memory.level)
}

pub(crate) fn log_write(level: Level, message: String, fields: Vec<(String, String)>) {
    with(|memory| {
        memory.log.push(LogEntry {
            level,
            message,
            fields,
        });
    });
}

pub(crate) fn config_get(key: &str) -> Option<String> {
    with(|memory| {
        memory
            .config
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, json)| json.clone())
    })
}

pub(crate) fn config_keys() -> Vec<String> {
    with(|memory| memory.config.iter().map(|(name, _)| name.clone()).collect())
}

pub(crate) fn progress_report(amount: Amount, message: Option<&str>) {
    let message = message.map(str::to_owned);
    with(|memory| {
        memory.progress.push(ProgressEntry { amount, message });
    });
}

pub(crate) fn state_get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    with(|memory| memory.check(key).map(|()| memory.state.get(key).cloned()))
}

pub(crate) fn state_set(key: &str, value: &[u8]) -> Result<(), Error> {
    with(|memory| {
        memory.check(key)?;
        memory.put(key, value)
    })
}

pub(crate) fn state_delete(key: &str) -> Result<bool, Error> {
    with(|memory| {
        memory
            .check(key)
            .map(|()| memory.state.remove(key).is_some())
    })
}

pub(crate) fn state_increment(key: &str, delta: i64) -> Result<i64, Error> {
    with(|memory| {
        memory.check(key)?;
        let old = match memory.state.get(key) {
            None => 0,
            Some(value) => std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse::<i64>().ok())
                .ok_or(Error::NotANumber)?,
        };
        let sum = old.checked_add(delta).ok_or(Error::NotANumber)?;
        memory.put(key, sum.to_string().as_bytes())?;
        Ok(sum)
    })
}

pub(crate) fn state_compare_and_set(
    key: &str,
    expected: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<bool, Error> {
    with(|memory| {
        memory.check(key)?;
        if memory.state.get(key).map(Vec::as_slice) != expected {
            return Ok(false);
        }
        match value {
            Some(value) => memory.put(key, value)?,
            None => drop(memory.state.remove(key)),
        }
        Ok(true)
    })
}

pub(crate) fn state_keys(
    prefix: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<String>, Error> {
    with(|memory| {
        memory.usable()?;
        let keys = memory.state.keys().filter(|key| {
            key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after)
        });
        Ok(keys.take(limit.min(MAX_PAGE) as usize).cloned().collect())
    })
}

pub(crate) fn state_usage() -> Result<Usage, Error> {
    with(|memory| {
        memory.usable()?;
        Ok(Usage {
            used: memory.used(),
            quota: memory.quota,
        })
    })
}
