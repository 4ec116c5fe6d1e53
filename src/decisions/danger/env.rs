//! References to environment variables and secrets in `${…}` and its relatives.
//!
//! A key of the service that a node calls is what the node needs, in the place
//! made for it (scenario 2 of the seed sends `${WEATHER_API_KEY}` as a
//! parameter). Anywhere else a key, and everywhere a password, a token or a
//! private key, would leave the place where it is kept.

use super::{Danger, Scope, url};
use crate::decisions::json::quoted;
use crate::decisions::kind::NodeType;
use crate::decisions::report::Code;

/// What a member is made to carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthSlot {
    /// The key of the service that is called.
    ServiceKey,
    /// A data source's address, with its credentials.
    Connection,
    /// Nothing secret.
    None,
}

impl AuthSlot {
    /// The slot itself, or the other one where it is none.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::None { other } else { self }
    }
}

/// What a member of a node's configuration is made to carry.
pub(super) fn is_auth_slot(node: Option<NodeType>, name: &str) -> AuthSlot {
    let name = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    match (node, name.as_str()) {
        (Some(NodeType::Http) | None, "headers" | "params" | "auth")
        | (Some(NodeType::Http | NodeType::Llm) | None, "api_key" | "apikey") => {
            AuthSlot::ServiceKey
        }
        (
            Some(NodeType::Database) | None,
            "connection" | "connection_string" | "dsn" | "database_url",
        ) => AuthSlot::Connection,
        _ => AuthSlot::None,
    }
}

/// How secret a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrecy {
    /// A password, token, private key or the like.
    Secret,
    /// A service's API key.
    ServiceKey,
    /// An address that holds credentials.
    Connection,
    /// Nothing.
    Open,
}

/// Whose keys belong to which hosts.
const VENDORS: &[(&str, &[&str])] = &[
    ("OPENAI", &["openai"]),
    ("ANTHROPIC", &["anthropic"]),
    ("CLAUDE", &["anthropic"]),
    ("GEMINI", &["google"]),
    ("GOOGLE", &["google"]),
    ("MISTRAL", &["mistral"]),
    ("GROQ", &["groq"]),
    ("DEEPSEEK", &["deepseek"]),
    ("STRIPE", &["stripe"]),
    ("GITHUB", &["github"]),
    ("GITLAB", &["gitlab"]),
    ("SLACK", &["slack"]),
    ("SENDGRID", &["sendgrid"]),
    ("TWILIO", &["twilio"]),
    ("DATADOG", &["datadog"]),
    ("CLOUDFLARE", &["cloudflare"]),
    ("AZURE", &["azure", "microsoft"]),
    ("AWS", &["amazonaws", "aws"]),
    ("NPM", &["npmjs"]),
];

/// Finds references to secrets in a text.
pub(super) fn references(text: &str, slot: AuthSlot, scope: Scope<'_>) -> Vec<Danger> {
    let mut dangers = Vec::new();
    for name in names(text) {
        if scope.known.env.iter().any(|allowed| allowed == name.bare) {
            continue;
        }
        let secrecy = secrecy(&name);
        let harm = match (secrecy, slot) {
            (Secrecy::Open, _) | (Secrecy::Connection, AuthSlot::Connection) => continue,
            (Secrecy::ServiceKey, AuthSlot::ServiceKey) => match misdirected(name.bare, scope) {
                Some(harm) => harm,
                None => continue,
            },
            (Secrecy::ServiceKey, _) => {
                "a service's key belongs in headers, params or auth of the request to that service"
                    .to_owned()
            }
            (Secrecy::Connection, _) => {
                "an address with credentials belongs in a database node's connection".to_owned()
            }
            (Secrecy::Secret, _) => "it is a sensitive environment variable".to_owned(),
        };
        dangers.push(Danger::new(
            Code::DangerEnv,
            format!("reference to {}: {harm}", quoted(name.bare)),
        ));
    }
    dangers
}

/// The danger of setting a variable for a node.
pub(super) fn setting(name: &str) -> Option<Danger> {
    let loads = matches!(
        name,
        "PATH"
            | "PYTHONPATH"
            | "PYTHONSTARTUP"
            | "PYTHONHOME"
            | "NODE_OPTIONS"
            | "PERL5OPT"
            | "PERL5LIB"
            | "RUBYOPT"
            | "BASH_ENV"
            | "ENV"
            | "IFS"
            | "JAVA_TOOL_OPTIONS"
            | "GIT_SSH"
            | "GIT_SSH_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "PROMPT_COMMAND"
    ) || name.starts_with("LD_")
        || name.starts_with("DYLD_");
    loads.then(|| {
        Danger::new(
            Code::DangerEnv,
            format!("setting {name} decides which code every program runs"),
        )
    })
}

/// The danger of reading a variable by its name, as code does.
pub(super) fn reading(name: &str, allowed: &[String]) -> Option<Danger> {
    if allowed.iter().any(|known| known == name) {
        return None;
    }
    let secret = secrecy(&Name {
        bare: name,
        namespace: Namespace::Environment,
    });
    (secret != Secrecy::Open).then(|| {
        Danger::new(
            Code::DangerEnv,
            format!("reads {}, a sensitive environment variable", quoted(name)),
        )
    })
}

/// Why a service's key would go to somebody else.
fn misdirected(name: &str, scope: Scope<'_>) -> Option<String> {
    let url = scope.url?;
    let host = url::host(url)?;
    let local = host == "localhost" || host.starts_with("127.");
    if !local
        && url
            .trim_start()
            .get(..5)
            .is_some_and(|head| head.eq_ignore_ascii_case("http:"))
    {
        return Some(format!(
            "it would be sent to {host} in clear text; use https"
        ));
    }
    let first = name.split('_').next().unwrap_or(name);
    let (_, homes) = VENDORS
        .iter()
        .find(|(vendor, _)| first.eq_ignore_ascii_case(vendor))?;
    (!local && !homes.iter().any(|home| host.contains(home)))
        .then(|| format!("it is another service's key than {host}'s"))
}

/// Where a reference says that its name lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    /// `${env.NAME}` and the like.
    Environment,
    /// `${secrets.NAME}` and the like.
    Secrets,
    /// `${NAME}`: a variable of the workflow or of the environment.
    Unsaid,
}

#[derive(Clone, Copy, Debug)]
struct Name<'t> {
    bare: &'t str,
    namespace: Namespace,
}

/// The names that a text refers to.
fn names(text: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    for (open, close) in [
        ("${", '}'),
        ("{{", '}'),
        ("$(", ')'),
        ("$env:", ' '),
        ("process.env", ' '),
    ] {
        let mut rest = text;
        while let Some(at) = rest.find(open) {
            rest = rest.get(at + open.len()..).unwrap_or_default();
            let inside = match close {
                ' ' => rest,
                close => rest.split(close).next().unwrap_or(rest),
            };
            let explicit = close == ' ';
            if let Some(name) = named(inside, explicit) {
                names.push(name);
            }
        }
    }
    percent_names(text, &mut names);
    dollar_names(text, &mut names);
    names
}

/// `$NAME`, as shells and Python's templates write it; only in capitals, as amounts of money have a `$` too.
fn dollar_names<'t>(text: &'t str, names: &mut Vec<Name<'t>>) {
    for part in text.split('$').skip(1) {
        let end = part
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(part.len());
        let bare = part.get(..end).unwrap_or_default();
        if bare.len() > 2 && bare.bytes().all(is_capital) {
            names.push(Name {
                bare,
                namespace: Namespace::Environment,
            });
        }
    }
}

/// `%NAME%`, as Windows shells write it.
fn percent_names<'t>(text: &'t str, names: &mut Vec<Name<'t>>) {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some(end) = rest.find('%') else { return };
        let inside = rest.get(..end).unwrap_or_default();
        if inside.len() > 2 && inside.bytes().all(is_capital) {
            names.push(Name {
                bare: inside,
                namespace: Namespace::Environment,
            });
        }
    }
}

fn is_capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
}

fn named(inside: &str, explicit: bool) -> Option<Name<'_>> {
    let inside = inside.trim_start_matches([' ', '.', '[', '\'', '"', '#', '!', '^']);
    let end = inside
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '/' | '-')))
        .unwrap_or(inside.len());
    // `${NAME:-default}` and `${NAME:?}` refer to NAME.
    let whole = inside.get(..end).unwrap_or_default();
    let whole = whole.split(":-").next().unwrap_or(whole);
    if whole.is_empty() {
        return None;
    }
    if explicit {
        return Some(Name {
            bare: whole,
            namespace: Namespace::Environment,
        });
    }
    if let Some((head, tail)) = whole.split_once(['.', ':', '/'])
        && !tail.is_empty()
    {
        let namespace = match head.to_ascii_lowercase().as_str() {
            "env" | "environ" | "environment" => Namespace::Environment,
            "secret" | "secrets" | "vault" | "ssm" | "keyring" | "credentials" => {
                Namespace::Secrets
            }
            // `${node_1.output.token}` is data that flows, not a secret that is kept.
            _ => return None,
        };
        return Some(Name {
            bare: tail,
            namespace,
        });
    }
    Some(Name {
        bare: whole.trim_end_matches([':', '.', '/', '-']),
        namespace: Namespace::Unsaid,
    })
}

fn secrecy(name: &Name<'_>) -> Secrecy {
    let upper = name.bare.to_ascii_uppercase();
    let words: Vec<&str> = upper
        .split(['_', '-', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    let pair = |a: &str, b: &str| words.windows(2).any(|two| two == [a, b]);
    if name.namespace == Namespace::Secrets {
        return Secrecy::Secret;
    }
    let strong = has("PASSWORD")
        || has("PASSWD")
        || has("PASSPHRASE")
        || has("SECRET")
        || has("SECRETS")
        || has("CREDENTIAL")
        || has("CREDENTIALS")
        || pair("PRIVATE", "KEY")
        || pair("ACCESS", "KEY")
        || pair("SIGNING", "KEY")
        || pair("ENCRYPTION", "KEY")
        || pair("MASTER", "KEY")
        || pair("ACCESS", "TOKEN")
        || pair("AUTH", "TOKEN")
        || pair("API", "TOKEN")
        || pair("REFRESH", "TOKEN")
        || has("PRIVKEY");
    if strong {
        return Secrecy::Secret;
    }
    // In lower case a name is a variable of the workflow: `${max_tokens}`, `${next_key}`.
    let environment = name.namespace == Namespace::Environment || name.bare.bytes().all(is_capital);
    if !environment {
        return Secrecy::Open;
    }
    if pair("API", "KEY") || has("APIKEY") {
        return Secrecy::ServiceKey;
    }
    let last = words.last().copied().unwrap_or_default();
    if pair("DATABASE", "URL")
        || pair("CONNECTION", "STRING")
        || has("DSN")
        || (matches!(last, "URL" | "URI")
            && [
                "DB",
                "MONGO",
                "MONGODB",
                "REDIS",
                "POSTGRES",
                "POSTGRESQL",
                "MYSQL",
                "AMQP",
            ]
            .iter()
            .any(|word| has(word)))
    {
        return Secrecy::Connection;
    }
    let open_key = [
        "PUBLIC",
        "PRIMARY",
        "FOREIGN",
        "SORT",
        "PARTITION",
        "CACHE",
        "HOT",
    ]
    .iter()
    .any(|word| has(word));
    if has("TOKEN")
        || has("PWD") && words.len() > 1
        || has("PASS")
        || has("COOKIE")
        || has("SSH")
        || has("GPG")
        || has("GNUPGHOME")
        || has("KUBECONFIG")
        || has("NETRC")
        || (last == "KEY" && words.len() > 1 && !open_key)
        || (has("AWS") && !has("REGION"))
    {
        return Secrecy::Secret;
    }
    Secrecy::Open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::known::Known;

    fn found(text: &str, slot: AuthSlot, url: Option<&str>) -> usize {
        let known = Known::default();
        let scope = Scope {
            known: &known,
            node: None,
            url,
        };
        references(text, slot, scope).len()
    }

    #[test]
    fn secrets_are_found_in_every_spelling() {
        for text in [
            "${AWS_SECRET_ACCESS_KEY}",
            "x ${DB_PASSWORD} y",
            "${env.GITHUB_TOKEN}",
            "${env:GITHUB_TOKEN}",
            "{{ env.NPM_TOKEN }}",
            "{{secrets.anything}}",
            "${secrets.deploy}",
            "${db_password}",
            "${GITHUB_TOKEN:-none}",
            "%DB_PASSWORD%",
            "$env:DB_PASSWORD",
            "$DB_PASSWORD",
            "psql://u:$DB_PASSWORD@h",
            "process.env.DB_PASSWORD",
            "process.env['DB_PASSWORD']",
            "${SSH_PRIVATE_KEY}",
            "${OPENAI_API_KEY}",
            "${DATABASE_URL}",
        ] {
            assert_eq!(found(text, AuthSlot::None, None), 1, "{text}");
        }
    }

    #[test]
    fn data_that_flows_is_no_secret() {
        for text in [
            "${input_data}",
            "${node_1.output.token}",
            "${max_tokens}",
            "${HOME}",
            "${PWD}",
            "${AWS_REGION}",
            "{{ user.name }}",
            "${PUBLIC_KEY}",
            "100% of 5%",
            "costs $5 or US$KEY",
            "$HOME/$USER",
            "no reference: AWS_SECRET_ACCESS_KEY",
            "${",
            "${}",
        ] {
            assert_eq!(found(text, AuthSlot::None, None), 0, "{text}");
        }
    }

    #[test]
    fn a_services_key_goes_to_that_service_only() {
        let key = "${WEATHER_API_KEY}";
        let at = |url| found(key, AuthSlot::ServiceKey, Some(url));
        assert_eq!(at("https://api.weather.com/v1"), 0);
        assert_eq!(at("http://api.weather.com/v1"), 1);
        assert_eq!(at("http://localhost:9000/"), 0);
        let openai = |url| found("Bearer ${OPENAI_API_KEY}", AuthSlot::ServiceKey, Some(url));
        assert_eq!(openai("https://api.openai.com/v1"), 0);
        assert_eq!(openai("https://collector.example.org/"), 1);
        assert_eq!(found("${DATABASE_URL}", AuthSlot::Connection, None), 0);
        assert_eq!(found("${DB_PASSWORD}", AuthSlot::Connection, None), 1);
    }
}
