//! One preferences file: JSON, with comments, validated against the known keys.

use super::keys::{self, KEYS, LEVELS, aliases};
use crate::error::{Error, ErrorKind, Result};
use crate::judge::{Level, RuleId};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Something in a file that does not do what it seems to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// JSON pointer.
    pub pointer: String,
    /// What is wrong.
    pub what: String,
}

/// A file's settings, flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// By the key's path.
    pub values: BTreeMap<&'static str, Value>,
    /// Levels of single rules.
    pub authority: BTreeMap<RuleId, Level>,
    /// Unknown keys and settings without effect.
    pub warnings: Vec<Warning>,
}

impl Document {
    /// Reads a file's text; `file` is named in errors.
    ///
    /// # Errors
    /// When it is no JSON object, or a known key has a value that is not accepted.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let plain = without_comments(text);
        if plain.trim().is_empty() {
            return Ok(Self::default());
        }
        let value: Value = serde_json::from_str(&plain).map_err(|error| {
            Error::new(ErrorKind::Config, format!("cannot read {file}"))
                .because(error)
                .hint(format!("mend {file}, or look at: holdpoint prefs schema"))
        })?;
        let Value::Object(members) = value else {
            return Err(bad(file, "", "a JSON object"));
        };
        let mut document = Self::default();
        document.members(file, "", &members)?;
        Ok(document)
    }

    fn members(&mut self, file: &str, path: &str, members: &Map<String, Value>) -> Result<()> {
        for (name, value) in members {
            if name.starts_with("//") || (path.is_empty() && name == "$schema") {
                continue;
            }
            if path.is_empty() && name == "version" {
                continue;
            }
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            self.member(file, &path, value)?;
        }
        Ok(())
    }

    fn member(&mut self, file: &str, path: &str, value: &Value) -> Result<()> {
        if path == "decision_authority" {
            let Value::Object(rules) = value else {
                return Err(bad(file, path, "an object of rules and levels"));
            };
            return rules
                .iter()
                .filter(|(name, _)| !name.starts_with("//"))
                .try_for_each(|(name, value)| self.rule(file, name, value));
        }
        if let Some(key) = keys::key(path) {
            if !key.kind.accepts(value) {
                return Err(bad(file, path, &key.kind.accepted()));
            }
            self.values.insert(key.path, value.clone());
            return Ok(());
        }
        let is_group = KEYS.iter().any(|key| {
            key.path
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('.'))
        });
        match value {
            Value::Object(members) if is_group => self.members(file, path, members),
            _ if is_group => Err(bad(file, path, "an object")),
            _ => {
                self.unknown(path);
                Ok(())
            }
        }
    }

    fn rule(&mut self, file: &str, name: &str, value: &Value) -> Result<()> {
        let path = format!("decision_authority.{name}");
        let Some(level) = keys::level(value) else {
            return Err(bad(file, &path, &keys::Kind::Choice(LEVELS).accepted()));
        };
        let rules = aliases(name);
        if rules.is_empty() {
            self.unknown(&path);
        }
        for rule in rules {
            if rule.rule().level == Level::MustAsk && level < Level::MustAsk {
                self.warnings.push(Warning {
                    pointer: pointer(&path),
                    what: format!("{rule} is Level 3, which no preference lowers"),
                });
            } else {
                self.authority.insert(rule, level);
            }
        }
        Ok(())
    }

    fn unknown(&mut self, path: &str) {
        let nearest =
            keys::nearest(path).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        self.warnings.push(Warning {
            pointer: pointer(path),
            what: format!("the key is not known{nearest}"),
        });
    }
}

fn bad(file: &str, path: &str, accepted: &str) -> Error {
    Error::new(
        ErrorKind::Config,
        format!("{file}: the value at {} is not accepted", pointer(path)),
    )
    .hint(format!("accepted: {accepted}"))
}

/// The JSON pointer of a path; a rule's id keeps its dot.
pub(super) fn pointer(path: &str) -> String {
    if path.is_empty() {
        return "/".to_owned();
    }
    let parts: Vec<&str> = match path.strip_prefix("decision_authority.") {
        Some(rule) => vec!["decision_authority", rule],
        None => path.split('.').collect(),
    };
    parts.iter().fold(String::new(), |pointer, part| {
        format!("{pointer}/{}", part.replace('~', "~0").replace('/', "~1"))
    })
}

/// The members of a file that [`Document::parse`] has accepted; its comments outside texts are gone.
pub(super) fn read_object(text: &str) -> Map<String, Value> {
    serde_json::from_str(&without_comments(text)).unwrap_or_default()
}

/// Blanks `// …` and `/* … */` outside texts, and commas before a closing bracket; lines stay where they are.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut inside = false;
    while let Some(c) = chars.next() {
        if inside {
            plain.push(c);
            if c == '\\' {
                plain.extend(chars.next());
            } else if c == '"' {
                inside = false;
            }
            continue;
        }
        match (c, chars.peek()) {
            ('"', _) => {
                inside = true;
                plain.push(c);
            }
            ('/', Some('/')) => while chars.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => {
                let mut before = ' ';
                for c in chars.by_ref().skip(1) {
                    if c == '\n' {
                        plain.push(c);
                    }
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            ('}' | ']', _) => {
                let end = plain.trim_end().len();
                if plain[..end].ends_with(',') {
                    plain.replace_range(end - 1..end, " ");
                }
                plain.push(c);
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Document {
        Document::parse(text, "prefs.json").expect("a document")
    }

    #[test]
    fn the_seeds_example_is_read_with_its_comments() {
        let document = read(
            r#"{
              "// note": "a comment key",
              "timeouts": {
                "coder_default": 120,      // 秒（2 分钟）
                "coder_max": 600, /* ten
                                     minutes */
              },
              "guardrails": { "max_same_file_reads": 5, "search_window": 600 }
            }"#,
        );
        assert_eq!(document.values["timeouts.coder_max"], 600);
        assert_eq!(document.values["guardrails.search_window"], 600);
        assert!(document.warnings.is_empty(), "{:?}", document.warnings);
    }

    #[test]
    fn slashes_inside_texts_are_no_comments() {
        let document =
            read(r#"{"safety": {"store": "/a//b", "include_ignored": ["*/*", "\"//,]"]}}"#);
        assert_eq!(document.values["safety.store"], "/a//b");
        assert_eq!(document.values["safety.include_ignored"][1], "\"//,]");
    }

    #[test]
    fn seed_names_and_rule_ids_set_levels() {
        let document = read(
            r#"{"decision_authority": {"auto_git_commit": "level_0", "file.config": "level_1", "auto_retry": "level_1"}}"#,
        );
        assert_eq!(document.authority[&RuleId::GitCommit], Level::Autonomous);
        assert_eq!(document.authority[&RuleId::FileConfig], Level::Transparent);
        assert_eq!(
            document.authority[&RuleId::RetryTransient],
            Level::Transparent
        );
    }

    #[test]
    fn a_level_3_rule_is_not_lowered_and_that_is_said() {
        let document =
            read(r#"{"decision_authority": {"git.push": "level_0", "file.create": "level_3"}}"#);
        assert_eq!(document.authority.get(&RuleId::GitPush), None);
        assert_eq!(document.authority[&RuleId::FileCreate], Level::MustAsk);
        assert_eq!(document.warnings[0].pointer, "/decision_authority/git.push");
    }

    #[test]
    fn an_unknown_key_is_reported_with_the_nearest_known_one() {
        for (text, nearest) in [
            (
                r#"{"timeouts": {"coder_defualt": 1}}"#,
                "timeouts.coder_default",
            ),
            (r#"{"global_strictnes": "strict"}"#, "global_strictness"),
            (
                r#"{"decision_authority": {"git.comit": "level_1"}}"#,
                "decision_authority.git.commit",
            ),
            (r#"{"coder_max": 3}"#, "timeouts.coder_max"),
        ] {
            let document = read(text);
            assert!(
                document.warnings[0].what.contains(nearest),
                "{text}: {:?}",
                document.warnings
            );
        }
        assert!(!read(r#"{"zzz": 1}"#).warnings[0].what.contains("mean"));
    }

    #[test]
    fn a_bad_value_is_an_error_with_pointer_file_and_what_is_accepted() {
        for (text, pointer, accepted) in [
            (
                r#"{"global_strictness": "harsh"}"#,
                "/global_strictness",
                "\"strict\"",
            ),
            (
                r#"{"timeouts": {"coder_max": "ten"}}"#,
                "/timeouts/coder_max",
                "whole number",
            ),
            (
                r#"{"timeouts": {"coder_max": -1}}"#,
                "/timeouts/coder_max",
                "whole number",
            ),
            (r#"{"timeouts": 3}"#, "/timeouts", "an object"),
            (
                r#"{"decision_authority": {"git.commit": 2}}"#,
                "/decision_authority/git.commit",
                "level_2",
            ),
            (
                r#"{"test_fix": {"high_confidence": 1.5}}"#,
                "/test_fix/high_confidence",
                "from 0 to 1",
            ),
            ("[]", "/", "a JSON object"),
        ] {
            let error = Document::parse(text, "prefs.json")
                .expect_err(text)
                .to_string();
            assert!(
                error.contains(pointer) && error.contains(accepted) && error.contains("prefs.json"),
                "{error}"
            );
        }
        assert!(Document::parse("{", "prefs.json").is_err());
    }
}
