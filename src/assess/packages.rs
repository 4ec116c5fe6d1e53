//! Packages against the manifests, the user's own command table, and changes of the Contract.

use super::around::Around;
use crate::judge::{Effect, EffectKind, Level, PackageClass, Place};
use crate::repo::Workspace;
use crate::shell::{self, Arg, Dir};
use crate::sys::env::Env;
use bstr::ByteSlice as _;
use serde::Deserialize;
use std::fs;

/// Manifests in which a package may be listed, by ecosystem.
const MANIFESTS: &[(&str, &[&str])] = &[
    ("npm", &["package.json"]),
    (
        "pip",
        &[
            "requirements.txt",
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "Pipfile",
            "requirements-dev.txt",
        ],
    ),
    ("cargo", &["Cargo.toml"]),
    ("go", &["go.mod"]),
    ("gem", &["Gemfile", "Gemfile.lock"]),
    ("composer", &["composer.json"]),
];

/// Adds the effects of a package manager.
pub(super) fn effects(
    around: &Around<'_>,
    class: PackageClass,
    manager: &str,
    names: &[String],
    machine: bool,
    effects: &mut Vec<Effect>,
) {
    if names.is_empty() {
        effects.push(Effect::new(EffectKind::Package { class }, manager));
        return;
    }
    for name in names.iter().take(50) {
        let bare = bare(name);
        let class = match class {
            PackageClass::New if around.is_common(bare) => PackageClass::Common,
            PackageClass::New if !machine && listed(around, manager, bare) => PackageClass::Listed,
            class => class,
        };
        effects.push(Effect::new(EffectKind::Package { class }, name.as_str()));
    }
}

/// Whether a package manager is at work in a temporary directory, where no project lies.
pub(super) fn elsewhere(around: &Around<'_>, dir: &Dir) -> bool {
    Around::dir(dir).is_some_and(|dir| around.place(&dir).place == Place::Temporary)
}

/// A package's name without its version and extras.
fn bare(name: &str) -> &str {
    let start = usize::from(name.starts_with('@'));
    let end = name
        .get(start..)
        .and_then(|rest| rest.find(['@', '=', '<', '>', '~', '!', '[', ';', ':']))
        .map_or(name.len(), |at| at + start);
    name.get(..end).unwrap_or(name)
}

fn listed(around: &Around<'_>, manager: &str, name: &str) -> bool {
    let Some((_, files)) = MANIFESTS
        .iter()
        .find(|(ecosystem, _)| *ecosystem == manager)
    else {
        return false;
    };
    let mut dirs = vec![around.cwd()];
    if around.cwd() != around.workspace().root {
        dirs.push(&around.workspace().root);
    }
    dirs.iter().any(|dir| {
        files.iter().any(|file| {
            fs::read(dir.join(file)).is_ok_and(|text| mentions(&text.to_ascii_lowercase(), name))
        })
    })
}

/// Whether a name stands in a text as a word of its own.
fn mentions(text: &[u8], name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_./@".contains(byte))
    };
    text.find_iter(&name).any(|at| {
        !part(at.checked_sub(1).and_then(|before| text.get(before)))
            && !part(text.get(at + name.len()))
    })
}

/// A row of the user's own command table.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Declared {
    program: String,
    #[serde(default)]
    words: Vec<String>,
    level: u8,
    #[serde(default)]
    why: String,
    #[serde(skip)]
    agreed: bool,
}

#[derive(Deserialize)]
struct Table {
    #[serde(default)]
    commands: Vec<Declared>,
}

/// Reads the command table, as confirmed and as it is now: a row that an agent
/// takes out goes on counting. A table that cannot be read asks about everything.
pub(super) fn declared(env: &Env, workspace: &Workspace) -> Vec<Declared> {
    let broken = |error: &dyn std::fmt::Display| {
        vec![Declared {
            program: "*".to_owned(),
            words: Vec::new(),
            level: 2,
            agreed: false,
            why: format!("{} cannot be read: {error}", crate::prefs::COMMANDS),
        }]
    };
    let sides = match crate::prefs::sides(env, workspace, crate::prefs::COMMANDS) {
        Ok(sides) => sides,
        Err(error) => return broken(&error),
    };
    let rows = |text: &String, agreed: bool| match serde_json::from_str::<Table>(text) {
        Ok(mut table) => {
            for row in &mut table.commands {
                row.agreed = agreed;
            }
            table.commands
        }
        Err(error) => broken(&error),
    };
    let changed = sides
        .present
        .as_ref()
        .filter(|text| sides.agreed.as_ref() != Some(text));
    let agreed = sides.agreed.iter().flat_map(|text| rows(text, true));
    let present = changed.into_iter().flat_map(|text| rows(text, false));
    agreed.chain(present).collect()
}

/// The strictest row that matches a command.
///
/// It lowers what the tables say only where a person confirmed it and it names its program.
pub(super) fn matching(rows: &[Declared], program: &str, args: &[Arg]) -> Option<shell::Declared> {
    rows.iter()
        .filter(|row| row.program == program || row.program == "*")
        .filter(|row| {
            let mut words = row.words.iter().peekable();
            for arg in args {
                if words.peek().is_some_and(|word| arg.text == word.as_str()) {
                    words.next();
                }
            }
            words.peek().is_none()
        })
        .filter_map(|row| {
            let why = if row.why.is_empty() {
                format!("{} says so", crate::prefs::COMMANDS)
            } else {
                row.why.clone()
            };
            Level::from_number(row.level).map(|level| shell::Declared {
                level,
                why,
                agreed: row.agreed && row.program == program && !row.words.is_empty(),
            })
        })
        .max_by_key(|declared| (declared.level, !declared.agreed))
}
