//! Defaults, the person's file, the confirmed file, and what the worktree makes stricter.

use super::confirmed::{Confirmed, Texts, texts_in};
use super::document::{Document, Warning};
use super::keys::KEYS;
use super::policy;
use super::typed::Preferences;
use super::{FILE, user_file};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::{Level, MATRIX, RuleId};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Where a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Built in.
    Default,
    /// The person's own file.
    User,
    /// The repository's file, as a person confirmed it.
    Repository,
    /// The repository's file as it is now, because it is stricter there.
    Unconfirmed,
}

/// One setting that counts.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Setting {
    /// Its key.
    pub key: String,
    /// What counts.
    pub value: Value,
    /// Where from.
    pub origin: Origin,
}

/// All layers, read.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The person's own file.
    pub user: Document,
    /// The repository's file as confirmed.
    pub confirmed: Document,
    /// The repository's file as it is now; `None` where it is as confirmed.
    pub worktree: Option<Document>,
}

impl Layers {
    /// Reads the layers that count in a workspace.
    ///
    /// # Errors
    /// When a file cannot be read or holds a bad value.
    pub fn read(env: &Env, workspace: &Workspace) -> Result<Self> {
        let worktree = texts_in(workspace.main_root())?;
        let confirmed = match Confirmed::read(env, workspace)? {
            Some(confirmed) => confirmed.files,
            None => policy::first_sight(env, workspace, &worktree)?,
        };
        Self::of(env, &confirmed, &worktree)
    }

    pub(super) fn of(env: &Env, confirmed: &Texts, worktree: &Texts) -> Result<Self> {
        let user = match user_file(env) {
            Ok(path) => match files::read_if_there(&path)? {
                Some(bytes) => Document::parse(
                    &String::from_utf8_lossy(&bytes),
                    &path.display().to_string(),
                )?,
                None => Document::default(),
            },
            // Without a home there is no file of the person's.
            Err(_) => Document::default(),
        };
        let agreed = confirmed.get(FILE).map(String::as_str);
        let present = worktree.get(FILE).map(String::as_str);
        Ok(Self {
            user,
            confirmed: Document::parse(agreed.unwrap_or_default(), FILE)?,
            worktree: match present {
                Some(text) if agreed != Some(text) => Some(Document::parse(text, FILE)?),
                _ => None,
            },
        })
    }

    /// The settings that count, in the order of the keys; rules that nobody set are left out.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let defaults = serde_json::to_value(Preferences::default()).unwrap_or_default();
        let mut settings = Vec::new();
        for (rule, (level, origin)) in self.authority() {
            settings.push(Setting {
                key: format!("decision_authority.{rule}"),
                value: level.word().into(),
                origin,
            });
        }
        for key in KEYS {
            let default = defaults
                .pointer(&format!("/{}", key.path.replace('.', "/")))
                .cloned()
                .unwrap_or_default();
            let mut setting = Setting {
                key: key.path.to_owned(),
                value: default,
                origin: Origin::Default,
            };
            for (document, origin) in [
                (&self.user, Origin::User),
                (&self.confirmed, Origin::Repository),
            ] {
                if let Some(value) = document.values.get(key.path) {
                    setting.value = value.clone();
                    setting.origin = origin;
                }
            }
            let present = self
                .worktree
                .as_ref()
                .and_then(|document| document.values.get(key.path));
            if let Some(value) = present.filter(|value| key.is_stricter(value, &setting.value)) {
                setting.value = value.clone();
                setting.origin = Origin::Unconfirmed;
            }
            settings.push(setting);
        }
        settings
    }

    /// The levels that count for single rules.
    #[must_use]
    pub fn authority(&self) -> BTreeMap<RuleId, (Level, Origin)> {
        let mut levels = BTreeMap::new();
        for (document, origin) in [
            (&self.user, Origin::User),
            (&self.confirmed, Origin::Repository),
        ] {
            for (rule, level) in &document.authority {
                levels.insert(*rule, (*level, origin));
            }
        }
        for (rule, level) in self
            .worktree
            .iter()
            .flat_map(|document| &document.authority)
        {
            let counted = levels
                .get(rule)
                .map_or(MATRIX[*rule as usize].level, |(level, _)| *level);
            if *level > counted {
                levels.insert(*rule, (*level, Origin::Unconfirmed));
            }
        }
        levels
    }

    /// What is wrong with the files without being an error.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        [
            Some(&self.user),
            Some(&self.confirmed),
            self.worktree.as_ref(),
        ]
        .into_iter()
        .flatten()
        .flat_map(|document| document.warnings.iter().cloned())
        .collect()
    }

    /// Returns true where no file sets anything.
    #[must_use]
    pub fn is_default(&self) -> bool {
        let empty =
            |document: &Document| document.values.is_empty() && document.authority.is_empty();
        empty(&self.user) && empty(&self.confirmed) && self.worktree.as_ref().is_none_or(empty)
    }

    /// The preferences that count, typed.
    ///
    /// # Errors
    /// When a value has a form that validation should have refused.
    pub fn preferences(&self) -> Result<Preferences> {
        if self.is_default() {
            return Ok(Preferences::default());
        }
        let mut tree = Map::new();
        for setting in self.settings() {
            if setting.key.starts_with("decision_authority.") {
                continue;
            }
            match setting.key.split_once('.') {
                None => {
                    tree.insert(setting.key, setting.value);
                }
                Some((group, name)) => {
                    if let Some(members) = tree
                        .entry(group)
                        .or_insert_with(|| Value::Object(Map::new()))
                        .as_object_mut()
                    {
                        members.insert(name.to_owned(), setting.value);
                    }
                }
            }
        }
        let levels = self
            .authority()
            .into_iter()
            .map(|(rule, (level, _))| (rule.word().to_owned(), Value::from(level.word())));
        tree.insert(
            "decision_authority".to_owned(),
            Value::Object(levels.collect()),
        );
        serde_json::from_value(Value::Object(tree)).doing(ErrorKind::Config, || {
            "cannot read the preferences".to_owned()
        })
    }
}
