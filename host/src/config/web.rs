//! Names by which a server is reached, and pages that may ask it: what the headers `Host`
//! and `Origin` of a request are compared with.

/// Whether a text is the origin of web pages: `https://app.example.com:443`, without a
/// path. `*` as its port is any port; `null` is none, since every page can be that.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence.
pub fn check_origin(text: &str) -> Result<(), &'static str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err("it has no scheme such as `https://`");
    };
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(letter) {
        return Err("it has no scheme such as `https://`");
    }
    if rest.contains(['/', '?', '#']) {
        return Err("an origin has no path, and no `/` at its end");
    }
    let (host, port) = split_port(rest);
    if port.is_some_and(|port| port != "*" && port.parse::<u16>().is_err()) {
        return Err("its port is no number up to 65535");
    }
    check_name(host)
}

/// An origin with the port that its scheme implies, where it has none: one without a port
/// is not that of all ports.
#[cfg(feature = "mcp")]
pub(crate) fn with_port(origin: &str) -> String {
    let implied = match origin.split_once("://") {
        Some((scheme, rest)) if split_port(rest).1.is_none() => {
            match scheme.to_ascii_lowercase().as_str() {
                "http" => ":80",
                "https" => ":443",
                _ => "",
            }
        }
        _ => "",
    };
    format!("{origin}{implied}")
}

/// Whether a page of an origin, as a browser sends it, is one of those that an origin allows.
#[cfg(feature = "mcp")]
pub(crate) fn allows_origin(allowed: &str, sent: &str) -> bool {
    let parts = |origin: &str| {
        let origin = with_port(&origin.to_ascii_lowercase());
        let (scheme, rest) = origin.split_once("://")?;
        let (host, port) = split_port(rest);
        let port = port.map(str::to_owned);
        Some((scheme.to_owned(), host.to_owned(), port))
    };
    if check_origin(sent).is_err() {
        return false;
    }
    let (Some(allowed), Some(sent)) = (parts(allowed), parts(sent)) else {
        return false;
    };
    let is_page = (&allowed.0, &allowed.1) == (&sent.0, &sent.1);
    let is_any_port = allowed.2.as_deref() == Some("*");
    is_page && sent.2.as_deref() != Some("*") && (is_any_port || allowed.2 == sent.2)
}

/// Whether a text is a name or an address by which a server is reached, without a scheme
/// and without a port.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence.
pub fn check_host(text: &str) -> Result<(), &'static str> {
    if text.contains('/') {
        return Err("a host has no scheme and no path");
    }
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(());
    }
    if split_port(text).1.is_some() {
        return Err("a host has no port: all of its ports are meant");
    }
    check_name(text)
}

/// An IPv6 address has colons of its own, in brackets.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn check_name(host: &str) -> Result<(), &'static str> {
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').unwrap_or_default();
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return is_address.then_some(()).ok_or("its address is none");
    }
    if host.contains('*') {
        return Err("`*` does not stand for other names: each is allowed by its own");
    }
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if host.is_empty() || !host.chars().all(letter) {
        return Err("it has no name of a host (names with other letters are written as `xn--…`)");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_told_from_addresses_of_pages() {
        for good in [
            "https://app.example.com",
            "https://app.example.com:443",
            "http://localhost:*",
            "http://[::1]:3000",
            "vscode-webview://abc",
        ] {
            assert_eq!(check_origin(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "null",
            "*",
            "app.example.com",
            "https://",
            "https://app.example.com/",
            "https://*.example.com",
            "https://app.example.com:99999",
            "https://ada@example.com",
            "https://\u{e4}.example",
            "http://[::1",
        ] {
            assert!(check_origin(bad).is_err(), "{bad}");
        }
    }

    #[cfg(feature = "mcp")]
    #[test]
    fn an_origin_without_a_port_has_that_of_its_scheme() {
        for (origin, whole) in [
            ("https://a.example", "https://a.example:443"),
            ("http://[::1]", "http://[::1]:80"),
            ("http://a:3000", "http://a:3000"),
            ("http://a:*", "http://a:*"),
            ("vscode-webview://a", "vscode-webview://a"),
        ] {
            assert_eq!(with_port(origin), whole);
        }
    }

    #[cfg(feature = "mcp")]
    #[test]
    fn a_page_is_the_same_by_scheme_name_and_port() {
        for (allowed, sent, is_allowed) in [
            ("https://a.example", "https://a.example", true),
            ("https://a.example:443", "https://A.example", true),
            ("https://a.example", "https://a.example:443", true),
            ("https://a.example", "https://a.example:8443", false),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "https://b.a.example", false),
            ("https://a.example", "https://a.example/", false),
            ("https://a.example", "https://ada@a.example", false),
            ("http://a:*", "http://a:3000", true),
            ("http://a:*", "http://a", true),
            ("http://a:*", "http://a:*", false),
            ("http://[::1]:80", "http://[::1]", true),
            ("vscode-webview://a", "vscode-webview://a", true),
            ("vscode-webview://a", "null", false),
            ("null", "null", false),
            ("http://a", "", false),
        ] {
            let found = allows_origin(allowed, sent);
            assert_eq!(found, is_allowed, "{sent} against {allowed}");
        }
    }

    #[test]
    fn hosts_are_names_alone() {
        for good in ["tools.example.com", "10.0.0.7", "::1", "[::1]", "nas"] {
            assert_eq!(check_host(good), Ok(()), "{good}");
        }
        for bad in ["", "https://x", "x:80", "x/", "*", "a b"] {
            assert!(check_host(bad).is_err(), "{bad}");
        }
    }
}
