//! Which values are probably secrets, by their names; rather one too many than one too
//! few.

use serde_json::Value;

const HIDDEN: &str = "(hidden)";

/// Found anywhere in a name.
const FRAGMENTS: [&str; 8] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "apikey",
    "private",
    "cookie",
];
/// Found as a word of a name: `api_key` and `apiKey`, not `keyboard`.
const WORDS: [&str; 9] = [
    "pat",
    "key",
    "keys",
    "pass",
    "pwd",
    "pin",
    "auth",
    "authorization",
    "dsn",
];

/// The value, or what stands for it.
pub(super) fn redacted(name: &str, value: &Value) -> Value {
    if is_secret(name) {
        return Value::from(HIDDEN);
    }
    match value {
        Value::String(text) if has_password(text) => Value::from(HIDDEN),
        Value::Array(items) => items.iter().map(|item| redacted(name, item)).collect(),
        Value::Object(values) => {
            let values = values.iter();
            values
                .map(|(name, value)| (name.clone(), redacted(name, value)))
                .collect()
        }
        value => value.clone(),
    }
}

fn is_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    FRAGMENTS.iter().any(|fragment| lower.contains(fragment))
        || words(name)
            .iter()
            .any(|word| WORDS.contains(&word.as_str()))
}

/// The words of `snake_case`, `kebab-case` and `camelCase` names, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    words
}

/// Whether a text is an address with a password in it: `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised() {
        for name in [
            "GITHUB_TOKEN",
            "api_key",
            "apiKey",
            "client-secret",
            "PASSWORD",
            "db_passwd",
            "AUTH",
            "AWS_SECRET_ACCESS_KEY",
            "credentials",
            "sessionCookie",
            "SSH_PRIVATE",
            "keys",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "LANG",
            "keyboard",
            "monkey",
            "author",
            "path",
            "passenger_count",
            "locale",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn addresses_with_a_password_are_recognised() {
        assert!(has_password("postgres://ada:pw@db.example/x"));
        for text in [
            "https://example.com/a:b@c",
            "ada:pw@host",
            "https://ada@example.com",
        ] {
            assert!(!has_password(text), "{text}");
        }
    }
}
