//! `holdpoint prefs`: shows, sets and confirms preferences.

use super::contract::confirm_policy;
use super::holds::json;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::holds;
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{Level, RuleId};
use crate::prefs::{self, Layers, Origin, Target};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{actor, out};
use serde_json::Value;

/// Arguments of `holdpoint prefs`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Shows the preferences that count.
    Show {
        /// Shows which file each comes from.
        #[arg(long)]
        origin: bool,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Prints one preference.
    Get {
        /// Its key, such as timeouts.coder_max or decision_authority.git.commit.
        key: String,
    },
    /// Sets one preference; a looser one only by a person at a terminal.
    Set {
        /// Its key.
        key: String,
        /// Its value, JSON or a bare word.
        value: String,
        /// In the person's own file instead of the repository's.
        #[arg(long)]
        user: bool,
    },
    /// Makes the repository's preferences as they are now the ones that count. Only a person can.
    Confirm,
    /// Prints the JSON Schema of a preferences file.
    Schema,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    match &args.command {
        Sub::Schema => {
            out::line(json(&prefs::schema())?);
            Ok(ExitStatus::Passed)
        }
        Sub::Show { origin, json } => show(env, *origin, *json),
        Sub::Get { key } => get(env, key),
        Sub::Set { key, value, user } => {
            let target = if *user {
                Target::User
            } else {
                Target::Repository
            };
            set(env, key, value, target)
        }
        Sub::Confirm => confirm_policy(
            env,
            &Workspace::discover(env)?,
            &[prefs::FILE, prefs::COMMANDS, prefs::DECISIONS],
        ),
    }
}

fn show(env: &Env, origin: bool, as_json: bool) -> Result<ExitStatus> {
    let layers = Layers::read(env, &Workspace::discover(env)?)?;
    let settings = layers.settings();
    if as_json {
        out::line(json(&settings)?);
        return Ok(ExitStatus::Passed);
    }
    for setting in &settings {
        if origin {
            let from = match setting.origin {
                Origin::Default => "default",
                Origin::User => "user",
                Origin::Repository => "repository",
                Origin::Unconfirmed => "repository, not confirmed but stricter",
            };
            out::line(format!("{} = {}  ({from})", setting.key, setting.value));
        } else {
            out::line(format!("{} = {}", setting.key, setting.value));
        }
    }
    for warning in layers.warnings() {
        out::note(format!("warning: {}: {}", warning.pointer, warning.what));
    }
    if layers.worktree.is_some() {
        out::note(format!(
            "note: {} is not as a person confirmed it; only what is stricter counts. See: holdpoint contract diff, holdpoint prefs confirm",
            prefs::FILE
        ));
    }
    Ok(ExitStatus::Passed)
}

fn get(env: &Env, key: &str) -> Result<ExitStatus> {
    let layers = Layers::read(env, &Workspace::discover(env)?)?;
    if let Some(rule) = key
        .strip_prefix("decision_authority.")
        .and_then(RuleId::parse)
    {
        let level = layers
            .authority()
            .get(&rule)
            .map_or(rule.rule().level, |(level, _)| *level);
        out::line(level.word());
        return Ok(ExitStatus::Passed);
    }
    match layers
        .settings()
        .into_iter()
        .find(|setting| setting.key == key)
    {
        Some(setting) => {
            out::line(match setting.value {
                Value::String(text) => text,
                other => other.to_string(),
            });
            Ok(ExitStatus::Passed)
        }
        None => Err(
            Error::new(ErrorKind::Usage, format!("the key {key} is not known"))
                .hint("see them all: holdpoint prefs show"),
        ),
    }
}

fn set(env: &Env, key: &str, text: &str, target: Target) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    let value: Value =
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let layers = Layers::read(env, &workspace)?;
    prefs::check(key, &value)?;
    refuse_lowering(key, &value)?;
    if !is_stricter(&layers, key, &value) {
        let terminal = holds::person(env, &workspace, "loosen a preference", None)?;
        if !terminal.agrees(&format!("Set {key} to {value}?"))? {
            return Err(Error::new(ErrorKind::Cancelled, "not set"));
        }
    }
    prefs::set(env, &workspace, target, key, value.clone())?;
    let entry = LogEntry::new("preference")
        .reason("preference_set")
        .reasoning(format!("{key} is set to {value}"))
        .context("key", key)
        .context("value", &value)
        .outcome(Outcome::Success)
        .actor(&actor::detect(env));
    journal::append(env, &workspace, entry)?;
    out::line(format!("{key} = {value}"));
    Ok(ExitStatus::Passed)
}

/// Refuses to lower a Level 3 rule: it would have no effect.
fn refuse_lowering(key: &str, value: &Value) -> Result<()> {
    let rules = key
        .strip_prefix("decision_authority.")
        .map(prefs::aliases)
        .unwrap_or_default();
    let fixed = rules
        .iter()
        .find(|rule| rule.rule().level == Level::MustAsk && *value != "level_3");
    match fixed {
        Some(rule) => Err(Error::new(
            ErrorKind::Usage,
            format!("{rule} is Level 3, which no preference lowers"),
        )
        .hint(format!("holdpoint explain {rule}"))),
        None => Ok(()),
    }
}

/// Returns true where a new value only tightens what counts now.
fn is_stricter(layers: &Layers, key: &str, value: &Value) -> bool {
    if let Some(name) = key.strip_prefix("decision_authority.") {
        let level = Level::ALL.into_iter().find(|level| *value == level.word());
        let levels = layers.authority();
        return prefs::aliases(name).iter().all(|rule| {
            let now = levels
                .get(rule)
                .map_or(rule.rule().level, |(level, _)| *level);
            level.is_some_and(|level| level >= now)
        });
    }
    let Some(key) = prefs::key(key) else {
        // An unknown key is refused when it is set.
        return true;
    };
    layers
        .settings()
        .iter()
        .find(|setting| setting.key == key.path)
        .is_some_and(|setting| {
            setting.value == *value
                || (key.kind.accepts(value) && key.is_stricter(value, &setting.value))
        })
}
