//! Puts our hooks into agents' own settings files, and takes them out again.
//!
//! A settings file that nobody has touched since goes back byte for byte; one
//! that was changed loses only our entries.

use crate::agents::Agent;
use crate::agents::wiring::{self, Whose};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::hooks::config;
use crate::repo::hooks::files::hex_sha256;
use crate::repo::hooks::{Mode, Receipt};
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use crate::sys::rewrite;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The format of the note.
const VERSION: u32 = 1;

/// What was done to agents' settings, kept outside the repository.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    version: u32,
    files: Vec<Wired>,
}

/// One settings file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wired {
    agent: String,
    /// Absolute; settings files have names that are text.
    path: String,
    existed: bool,
    /// Hex SHA-256 before and after.
    before: String,
    after: String,
}

/// Where the notes of a wiring are kept, and what its paths are relative to.
#[derive(Clone, Debug)]
pub(super) struct Wiring {
    whose: Whose,
    base: PathBuf,
    install: PathBuf,
}

/// What wiring one agent did.
#[derive(Debug)]
pub(super) struct Done {
    /// The settings file.
    pub(super) path: PathBuf,
    /// False when everything was there already.
    pub(super) changed: bool,
    /// What a person still has to do, if anything.
    pub(super) todo: Vec<String>,
}

impl Wiring {
    /// The wiring of one repository.
    pub(super) fn repository(root: &Path, state: &Path) -> Self {
        Self {
            whose: Whose::Repository,
            base: root.to_path_buf(),
            install: state.join("install"),
        }
    }

    /// The wiring of the user's own settings.
    ///
    /// # Errors
    /// When there is no home directory.
    pub(super) fn user(env: &Env) -> Result<Self> {
        Ok(Self {
            whose: Whose::User,
            base: home(env)?,
            install: env.state_home()?.join("machine"),
        })
    }

    /// The settings file of an agent.
    pub(super) fn path(&self, env: &Env, agent: Agent) -> PathBuf {
        let place = agent.place(self.whose);
        match place.home_var {
            Some((name, rest)) => match env.var(name) {
                Some(dir) => PathBuf::from(dir).join(rest),
                None => self.base.join(place.path),
            },
            None => self.base.join(place.path),
        }
    }

    /// Refuses settings that [`Wiring::put`] could not change, before anything is touched.
    ///
    /// # Errors
    /// When they cannot be understood, or nobody may write them.
    pub(super) fn check(&self, env: &Env, agent: Agent) -> Result<()> {
        let path = self.path(env, agent);
        let before = files::read_if_there(&path)?;
        let changes = match agent.plugin() {
            Some(text) => before.as_deref() != Some(text.as_bytes()),
            None => before != Some(merged(agent, &path, before.as_deref())?),
        };
        if changes {
            rewrite::check(&path)?;
        }
        Ok(())
    }

    /// Puts our hooks into an agent's settings.
    ///
    /// # Errors
    /// When the settings cannot be understood or written.
    pub(super) fn put(&self, env: &Env, agent: Agent) -> Result<Done> {
        let path = self.path(env, agent);
        let before = files::read_if_there(&path)?;
        let after = match agent.plugin() {
            Some(text) => text.as_bytes().to_vec(),
            None => merged(agent, &path, before.as_deref())?,
        };
        let changed = before.as_deref() != Some(after.as_slice());
        if changed {
            self.remember(agent, &path, before.as_deref(), &after)?;
            rewrite::rewrite(&path, &after, 0o644)?;
        }
        let mut todo = Vec::new();
        let mut trusted = false;
        if agent == Agent::Codex {
            (trusted, todo) = self.trust(env, &path, &after)?;
        }
        Ok(Done {
            path,
            changed: changed || trusted,
            todo,
        })
    }

    /// Takes our hooks out of every settings file that was wired; returns what was done or left.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn take_out(&self, env: &Env, only: Option<Agent>) -> Result<Vec<String>> {
        let mut said = Vec::new();
        let mut kept = Vec::new();
        let noted = self.note()?.files;
        for agent in Agent::ALL {
            let path = self.path(env, agent);
            let known = noted.iter().any(|wired| Path::new(&wired.path) == path);
            if !known && only.is_none_or(|only| only == agent) {
                said.extend(unnoted(agent, &path, &self.base)?);
            }
        }
        for wired in noted {
            if only.is_some_and(|agent| agent.name() != wired.agent) {
                kept.push(wired);
                continue;
            }
            said.extend(self.restore(&wired)?);
        }
        self.write_note(kept)?;
        if only.is_none_or(|agent| agent == Agent::Codex) {
            let trust = self.trust_note();
            if let Some(receipt) = Receipt::read(&trust)? {
                said.extend(config::remove(&receipt)?);
                fs::remove_file(&trust).doing(ErrorKind::Io, || {
                    format!("cannot remove {}", trust.display())
                })?;
            }
        }
        Ok(said)
    }

    fn restore(&self, wired: &Wired) -> Result<Option<String>> {
        let path = PathBuf::from(&wired.path);
        let Some(now) = files::read_if_there(&path)? else {
            return Ok(None);
        };
        if hex_sha256(&now) == wired.after {
            if wired.existed {
                let original = fs::read(self.original(&wired.before))
                    .doing(ErrorKind::Io, || {
                        format!("cannot read what {} was before", path.display())
                    })?;
                rewrite::rewrite(&path, &original, 0o644)?;
            } else {
                // A link that was there stays, and leads to nothing again.
                let place = rewrite::check(&path)?;
                remove_with_dirs(&place, &self.base)?;
            }
            return Ok(Some(format!("{} is as it was before", path.display())));
        }
        let Ok(mut document) = serde_json::from_slice::<Value>(&now) else {
            return Ok(Some(format!(
                "left alone: {} has changed and cannot be understood; take out what calls holdpoint-hook by hand",
                path.display()
            )));
        };
        if wiring::unwire(&mut document) {
            let text = rendered(&document, &String::from_utf8_lossy(&now))?;
            rewrite::rewrite(&path, text.as_bytes(), 0o644)?;
        }
        Ok(Some(format!(
            "{} has changed since; only our hooks were taken out",
            path.display()
        )))
    }

    fn remember(
        &self,
        agent: Agent,
        path: &Path,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> Result<()> {
        let text = path.to_str().ok_or_else(|| {
            Error::new(
                ErrorKind::Config,
                format!("cannot note {}: its name is not UTF-8", path.display()),
            )
        })?;
        let bytes = before.unwrap_or_default();
        let id = hex_sha256(bytes);
        files::make_private_dir(&self.install.join("originals"))?;
        files::replace(&self.original(&id), bytes, 0o600, Durability::Synced)?;
        let mut all = self.note()?.files;
        // What was there before our first visit is what uninstall goes back to.
        let first = all.iter().find(|wired| wired.path == text).cloned();
        all.retain(|wired| wired.path != text);
        let untouched = first.filter(|first| first.after == id);
        all.push(Wired {
            agent: agent.name().to_owned(),
            path: text.to_owned(),
            existed: untouched
                .as_ref()
                .map_or(before.is_some(), |first| first.existed),
            before: untouched.map_or(id, |first| first.before),
            after: hex_sha256(after),
        });
        self.write_note(all)
    }

    /// Writes the hashes by which Codex trusts these very hooks into the user's own configuration.
    fn trust(&self, env: &Env, path: &Path, settings: &[u8]) -> Result<(bool, Vec<String>)> {
        let config_file = codex_home(env)?.join("config.toml");
        let document: Value = serde_json::from_slice(settings)
            .doing(ErrorKind::Internal, || {
                "cannot read the settings that were just written".to_owned()
            })?;
        let now = files::read_if_there(&config_file)?.unwrap_or_default();
        let mut text = String::new();
        for (key, hash) in trusted_hashes(path, &document) {
            let table = format!("[hooks.state.{}]", Value::from(key));
            let block = format!("{table}\ntrusted_hash = \"{hash}\"\n");
            if memchr::memmem::find(&now, block.as_bytes()).is_some() {
                continue;
            }
            if memchr::memmem::find(&now, table.as_bytes()).is_some() {
                return Ok((
                    false,
                    vec![format!(
                        "Codex trusts another version of these hooks: remove {table} from {} and run this again, or trust them with /hooks",
                        config_file.display()
                    )],
                ));
            }
            text.push_str(&block);
        }
        let mut changed = false;
        if !text.is_empty() {
            if let Some(dir) = config_file.parent() {
                fs::create_dir_all(dir)
                    .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
            }
            let note = self.trust_note();
            let mut receipt = Receipt::read(&note)?
                .unwrap_or_else(|| Receipt::new(Mode::Config, config_file.clone()));
            changed = config::append(&config_file, text.as_bytes(), &mut receipt, &note)?;
        }
        let mut todo = Vec::new();
        if self.whose == Whose::Repository && !trusts_project(&now, &self.base) {
            todo.push(format!(
                "Codex loads a repository's hooks only where it trusts the repository: start codex here once and agree, or add [projects.{}] trust_level = \"trusted\" to {}",
                Value::from(self.base.to_string_lossy()),
                config_file.display()
            ));
        }
        Ok((changed, todo))
    }

    fn note_path(&self) -> PathBuf {
        self.install.join("agents.json")
    }

    fn trust_note(&self) -> PathBuf {
        self.install.join("codex-trust.json")
    }

    fn original(&self, id: &str) -> PathBuf {
        self.install.join("originals").join(id)
    }

    fn note(&self) -> Result<Note> {
        let path = self.note_path();
        match files::read_if_there(&path)? {
            None => Ok(Note {
                version: VERSION,
                files: Vec::new(),
            }),
            Some(bytes) => {
                let note: Note = serde_json::from_slice(&bytes)
                    .doing(ErrorKind::Damaged, || {
                        format!("cannot understand {}", path.display())
                    })?;
                if note.version > VERSION {
                    return Err(Error::new(
                        ErrorKind::Damaged,
                        format!("{} was written by a later holdpoint", path.display()),
                    )
                    .hint("use that one, or a later one"));
                }
                Ok(note)
            }
        }
    }

    fn write_note(&self, wired: Vec<Wired>) -> Result<()> {
        let path = self.note_path();
        if wired.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
                    .doing(ErrorKind::Io, || {
                        format!("cannot remove {}", path.display())
                    }),
                _ => Ok(()),
            };
        }
        files::make_private_dir(&self.install)?;
        let note = Note {
            version: VERSION,
            files: wired,
        };
        let bytes = serde_json::to_vec_pretty(&note)
            .doing(ErrorKind::Internal, || "cannot word a note".to_owned())?;
        files::replace(&path, &bytes, 0o600, Durability::Synced)
    }
}

/// The hashes by which Codex knows our hooks in a settings document, with their keys.
pub(super) fn trusted_hashes(path: &Path, document: &Value) -> Vec<(String, String)> {
    let mut hashes = Vec::new();
    let Some(hooks) = document.get("hooks").and_then(Value::as_object) else {
        return hashes;
    };
    for (event, groups) in hooks {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            if !wiring::is_ours(group) {
                continue;
            }
            if let Some(text) = wiring::codex_trusted_text(event, group) {
                hashes.push((
                    format!("{}:{}:{at}:0", path.display(), wiring::snake_case(event)),
                    format!("sha256:{}", hex_sha256(text.as_bytes())),
                ));
            }
        }
    }
    hashes
}

/// Where Codex keeps the user's configuration.
///
/// # Errors
/// When there is no home directory.
pub(super) fn codex_home(env: &Env) -> Result<PathBuf> {
    match env.var("CODEX_HOME") {
        Some(dir) => Ok(PathBuf::from(dir)),
        None => Ok(home(env)?.join(".codex")),
    }
}

/// Returns true when Codex's configuration trusts a project.
pub(super) fn trusts_project(configuration: &[u8], root: &Path) -> bool {
    let table = format!("[projects.{}]", Value::from(root.to_string_lossy()));
    memchr::memmem::find(configuration, table.as_bytes()).is_some_and(|at| {
        configuration
            .get(at + table.len()..)
            .unwrap_or_default()
            .split(|byte| *byte == b'\n')
            .skip(1)
            .take_while(|line| !line.starts_with(b"["))
            .any(|line| {
                line.starts_with(b"trust_level")
                    && memchr::memmem::find(line, b"\"trusted\"").is_some()
            })
    })
}

fn home(env: &Env) -> Result<PathBuf> {
    env.home().ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            "cannot find the user's settings: HOME is not set",
        )
    })
}

fn merged(agent: Agent, path: &Path, before: Option<&[u8]>) -> Result<Vec<u8>> {
    let text = String::from_utf8_lossy(before.unwrap_or(b"{}"));
    let text = if text.trim().is_empty() {
        "{}".into()
    } else {
        text
    };
    let mut document: Value = serde_json::from_str(&text).map_err(|error| {
        Error::new(
            ErrorKind::Config,
            format!("cannot understand {}", path.display()),
        )
        .because(error)
        .hint("put it right, or take comments out of it; then run this again")
    })?;
    let changed = agent.wire(&mut document).map_err(|why| {
        Error::new(
            ErrorKind::Config,
            format!("cannot add hooks to {}: {why}", path.display()),
        )
    })?;
    match before {
        Some(before) if !changed => Ok(before.to_vec()),
        _ => rendered(&document, &text).map(String::into_bytes),
    }
}

/// A document as text, indented as `like` is.
fn rendered(document: &Value, like: &str) -> Result<String> {
    let indent = wiring::indentation(like);
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, format);
    document
        .serialize(&mut serializer)
        .doing(ErrorKind::Internal, || {
            "cannot word the settings".to_owned()
        })?;
    bytes.push(b'\n');
    String::from_utf8(bytes).doing(ErrorKind::Internal, || {
        "the settings are no text".to_owned()
    })
}

/// Takes our hooks out of settings that came here with them, and says so.
fn unnoted(agent: Agent, path: &Path, base: &Path) -> Result<Option<String>> {
    let Some(now) = files::read_if_there(path)? else {
        return Ok(None);
    };
    let gone = format!(
        "{} is removed: it held nothing but our hooks",
        path.display()
    );
    if let Some(text) = agent.plugin() {
        if now != text.as_bytes() {
            return Ok(None);
        }
        remove_with_dirs(&rewrite::check(path)?, base)?;
        return Ok(Some(gone));
    }
    let Ok(mut document) = serde_json::from_slice::<Value>(&now) else {
        return Ok(None);
    };
    if !wiring::unwire(&mut document) {
        return Ok(None);
    }
    let empty = document
        .as_object()
        .is_some_and(|rest| rest.keys().all(|key| key == "version"));
    if empty {
        remove_with_dirs(&rewrite::check(path)?, base)?;
        return Ok(Some(gone));
    }
    let text = rendered(&document, &String::from_utf8_lossy(&now))?;
    rewrite::rewrite(path, text.as_bytes(), 0o644)?;
    Ok(Some(format!(
        "our hooks were taken out of {}; what it was before is not noted here",
        path.display()
    )))
}

/// Removes a file and the directories above it, below `base`, that are empty then.
fn remove_with_dirs(path: &Path, base: &Path) -> Result<()> {
    fs::remove_file(path).doing(ErrorKind::Io, || {
        format!("cannot remove {}", path.display())
    })?;
    for dir in path.ancestors().skip(1) {
        if dir == base || !dir.starts_with(base) || fs::remove_dir(dir).is_err() {
            break;
        }
    }
    Ok(())
}
