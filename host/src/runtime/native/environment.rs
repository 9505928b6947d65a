//! The variables of a command: those of the host that are listed by name, those of
//! `[runtime.native.env]`, and the call's own; nothing else.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};

use crate::config::{Environment, Runtime};
use crate::runtime::{Result, RuntimeError};

/// Variables by name.
#[derive(Clone)]
pub(super) struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// Those that every command gets. A listed name is a name, never a pattern, and one
    /// that is not set stays unset.
    pub(super) fn of(runtime: &Runtime, environment: &Environment) -> Result<Self> {
        let listed = runtime.env_whitelist.value.iter();
        let mut variables: BTreeMap<OsString, OsString> = listed
            .filter_map(|name| Some((name.into(), environment.variable(name)?.to_owned())))
            .collect();
        for (name, value) in &runtime.native.env.value {
            check(name, value)?;
            variables.insert(name.into(), value.into());
        }
        Ok(Self(variables))
    }

    pub(super) fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with those of one call on top.
    pub(super) fn with(&self, own: &HashMap<String, String>) -> Result<Self> {
        let mut variables = self.0.clone();
        for (name, value) in own {
            check(name, value)?;
            variables.insert(name.into(), value.into());
        }
        Ok(Self(variables))
    }

    pub(super) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }
}

/// Values may be secrets: only the names are printed.
impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Refuses what an environment can not hold. A value is never part of the message.
fn check(name: &str, value: &str) -> Result<()> {
    let reason = if name.is_empty() {
        "its name is empty"
    } else if name.contains('=') {
        "its name contains `=`"
    } else if name.contains('\0') || value.contains('\0') {
        "it contains a NUL character"
    } else {
        return Ok(());
    };
    Err(RuntimeError::InvalidInput {
        what: format!("the variable `{}`", name.escape_debug()),
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_listed_name_is_never_a_pattern_and_one_that_is_not_set_stays_unset() {
        let environment = Environment::new("/")
            .with("HOME", "/home/ada")
            .with("AWS_SECRET", "secret")
            .with("EMPTY", "");
        let mut runtime = Config::default_with(&environment).unwrap().config.runtime;
        let listed = ["*", "AWS_*", "AWS", "H", "", "UNSET", "EMPTY"];
        runtime.env_whitelist.value = listed.map(str::to_owned).into();
        let variables = Variables::of(&runtime, &environment).unwrap();
        let seen: Vec<_> = variables.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(seen, ["EMPTY"]);
    }

    #[test]
    fn a_call_wins_over_the_configuration_and_that_over_the_host() {
        let environment = Environment::new("/")
            .with("HOME", "host")
            .with("TERM", "host");
        let mut runtime = Config::default_with(&environment.clone().with("HOME", "/home/ada"))
            .unwrap()
            .config
            .runtime;
        let configured = [("HOME", "configured"), ("USER", "configured")];
        let configured = configured.map(|(name, value)| (name.to_owned(), value.to_owned()));
        runtime.native.env.value = configured.into_iter().collect();
        let variables = Variables::of(&runtime, &environment).unwrap();
        let own = HashMap::from([("USER".to_owned(), "own".to_owned())]);
        let variables = variables.with(&own).unwrap();
        let value = |name| variables.get(name).and_then(OsStr::to_str);
        assert_eq!(value("TERM"), Some("host"));
        assert_eq!(value("HOME"), Some("configured"));
        assert_eq!(value("USER"), Some("own"));
    }

    #[test]
    fn names_and_values_that_no_environment_holds_are_refused_without_the_value() {
        for (name, value) in [
            ("", "secret"),
            ("A=B", "secret"),
            ("A\0", "secret"),
            ("A", "secret\0"),
        ] {
            let error = check(name, value).unwrap_err();
            assert!(matches!(error, RuntimeError::InvalidInput { .. }));
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
