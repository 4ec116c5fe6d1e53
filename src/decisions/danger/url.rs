//! What a node's URL would reach.

use super::Danger;
use super::path;
use crate::decisions::json::quoted;
use crate::decisions::known::Known;
use crate::decisions::report::Code;

/// Hosts that hand out a machine's credentials to whoever asks from inside.
const METADATA: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "fd00:ec2::254",
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
];

/// Returns true for a URL of the local file system.
pub(super) fn is_file_url(text: &str) -> bool {
    text.trim_start()
        .get(..5)
        .is_some_and(|head| head.eq_ignore_ascii_case("file:"))
}

/// The host of a URL, in lower case and without port; `None` where it is a template or there is none.
pub(super) fn host(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once(':')?;
    // Clients take `http:\\host`, `http:/host` and `http:///host` for `http://host`.
    let web = ["http", "https", "ws", "wss", "ftp"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let rest = if web {
        rest.trim_start_matches(['/', '\\'])
    } else {
        rest.strip_prefix("//")?
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    if host.contains(['$', '{']) {
        return None;
    }
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

/// What is dangerous about a URL.
pub(super) fn dangers(url: &str, known: &Known) -> Vec<Danger> {
    let url = url.trim();
    if url.is_empty() || url.starts_with('/') || url.starts_with("${") || url.starts_with("{{") {
        return path::whole(url).into_iter().collect();
    }
    let Some((scheme, rest)) = url.split_once(':') else {
        return Vec::new();
    };
    let mut dangers = Vec::new();
    match scheme.to_ascii_lowercase().as_str() {
        "file" => {
            dangers.push(Danger::new(
                Code::DangerFile,
                format!("{} reads the machine's own files", quoted(url)),
            ));
            return dangers;
        }
        "gopher" | "dict" | "ldap" | "ldaps" | "jar" | "netdoc" | "tftp" | "data"
        | "javascript" | "expect" | "php" | "phar" => {
            dangers.push(Danger::new(
                Code::DangerUrl,
                format!("the scheme {scheme}: is a way around HTTP; use http or https"),
            ));
        }
        _ => {}
    }
    let Some(host) = host(url) else {
        return dangers;
    };
    let mapped = host
        .rsplit_once("ffff:")
        .map_or(host.as_str(), |(_, v4)| v4);
    if METADATA.contains(&mapped) || is_metadata_number(mapped) || mapped == "a9fe:a9fe" {
        dangers.push(Danger::new(
            Code::DangerUrl,
            format!("{host} hands out this machine's credentials"),
        ));
    }
    let authority = rest
        .trim_start_matches(['/', '\\'])
        .split(['/', '\\'])
        .next()
        .unwrap_or("");
    if authority.ends_with(":2375") || authority.ends_with(":2376") {
        dangers.push(Danger::new(
            Code::DangerUrl,
            "the port is the container engine's, which commands the whole machine",
        ));
    }
    if let Some((user, _)) = authority.rsplit_once('@')
        && let Some((_, password)) = user.split_once(':')
        && !password.is_empty()
    {
        dangers.push(Danger::new(
            Code::DangerUrl,
            "a password stands in the URL; refer to a stored one instead",
        ));
    }
    if let Some(allowed) = &known.domains
        && !allowed.iter().any(|domain| is_under(&host, domain))
    {
        dangers.push(Danger::new(
            Code::PolicyDomain,
            format!("{host} is not among the allowed domains"),
        ));
    }
    dangers
}

/// Returns true for a domain itself and what lies under it.
fn is_under(host: &str, domain: &str) -> bool {
    let domain = domain.trim_start_matches("*.").to_ascii_lowercase();
    host == domain
        || host
            .strip_suffix(&domain)
            .is_some_and(|head| head.ends_with('.'))
}

/// Returns true for the metadata address written as one number, in hex or in octal.
fn is_metadata_number(host: &str) -> bool {
    let part = |text: &str| -> Option<u64> {
        if let Some(hex) = text.strip_prefix("0x") {
            u64::from_str_radix(hex, 16).ok()
        } else if text.len() > 1 && text.starts_with('0') {
            u64::from_str_radix(text, 8).ok()
        } else {
            text.parse().ok()
        }
    };
    let parts: Option<Vec<u64>> = host.split('.').map(part).collect();
    let address = match parts.as_deref() {
        Some([a]) => *a,
        Some([a, b]) => (a << 24) | b,
        Some([a, b, c]) => (a << 24) | (b << 16) | c,
        Some([a, b, c, d]) => (a << 24) | (b << 16) | (c << 8) | d,
        _ => return false,
    };
    address == 0xa9fe_a9fe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_judged_by_what_it_reaches() {
        let known = Known::default();
        for (url, codes) in [
            ("https://api.weather.com/v1/current", vec![]),
            ("http://localhost:8080/health", vec![]),
            ("${BASE}/x", vec![]),
            ("/v1/current", vec![]),
            ("file:///etc/passwd", vec![Code::DangerFile]),
            ("FILE:/etc/passwd", vec![Code::DangerFile]),
            ("gopher://x/1", vec![Code::DangerUrl]),
            (
                "http://169.254.169.254/latest/meta-data/",
                vec![Code::DangerUrl],
            ),
            ("http://0xa9fea9fe/", vec![Code::DangerUrl]),
            ("http://[::ffff:169.254.169.254]/", vec![Code::DangerUrl]),
            ("http://[::ffff:a9fe:a9fe]/", vec![Code::DangerUrl]),
            ("http:\\\\169.254.169.254\\x", vec![Code::DangerUrl]),
            ("http:///169.254.169.254/", vec![Code::DangerUrl]),
            (
                "http://localhost:2375/containers/json",
                vec![Code::DangerUrl],
            ),
            ("https://example.org:8443/a:2375", vec![]),
            ("mailto:ada@example.org", vec![]),
            ("http://2852039166/", vec![Code::DangerUrl]),
            ("http://0251.0376.0251.0376/", vec![Code::DangerUrl]),
            ("http://Metadata.Google.Internal./x", vec![Code::DangerUrl]),
            ("https://ada:pw@example.org/", vec![Code::DangerUrl]),
            ("https://ada@example.org/", vec![]),
        ] {
            let found: Vec<Code> = dangers(url, &known)
                .iter()
                .map(|danger| danger.code)
                .collect();
            assert_eq!(found, codes, "{url}");
        }
    }

    #[test]
    fn a_list_of_domains_is_a_fence() {
        let known = Known {
            domains: Some(vec!["weather.com".to_owned()]),
            ..Known::default()
        };
        assert!(dangers("https://api.weather.com/x", &known).is_empty());
        assert_eq!(dangers("https://evilweather.com/x", &known).len(), 1);
        assert_eq!(dangers("https://weather.com.evil.org/x", &known).len(), 1);
    }
}
