//! Hooks as files in the hooks directory, for git before 2.54.
//!
//! `reference-transaction`, which git calls several times a command, is a link
//! to our program, which knows its event by the name it was called by: no shell
//! starts, and when the program goes away git finds no hook and goes on. Events
//! that other hook managers install too are a few lines of sh instead: prek
//! reads an existing hook as text and gives up on a program, and the shim says
//! so when ours is gone, and still runs the hook that was there before.

use super::receipt::{HookReceipt, Receipt};
use super::{Event, is_ours, shell_quoted};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::files::{self, Durability};
use sha2::{Digest as _, Sha256};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// What tells a shim of ours from anybody else's file.
pub const MARK: &[u8] = b"# holdpoint-hook shim:";

/// What is appended to the name of a hook that was there before us.
pub const PRIOR: &str = ".holdpoint-prior";

const SHIM: &str = include_str!("../../../hooks/shim.sh");

/// Names under which other hook managers keep a hook that they displaced.
const DISPLACED: &[&str] = &[".legacy", ".old", ".pre-entire", "-user", ".bak"];

/// How many hooks one event may have had moved aside, one after the other.
const LAYERS: usize = 9;

/// What an installation did to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was there already.
    Nothing,
    /// Put in where there was no hook.
    Added,
    /// Put in; the hook that was there runs first.
    Chained,
    /// Ours, but of another place or form; put right.
    Renewed,
}

/// The paths under which hooks displaced by us may lie, first displaced first.
#[must_use]
pub fn prior_paths(hook: &Path) -> Vec<PathBuf> {
    (1..=LAYERS).map(|layer| prior_path(hook, layer)).collect()
}

fn prior_path(hook: &Path, layer: usize) -> PathBuf {
    let mut name = hook.file_name().unwrap_or_default().to_os_string();
    name.push(PRIOR);
    if layer > 1 {
        name.push(format!("-{layer}"));
    }
    hook.with_file_name(name)
}

/// Puts one event's hook into `dir`, noting in `receipt` what was there before it is touched.
///
/// # Errors
/// When the directory cannot be written, or holds something that is no file.
pub fn install(dir: &Path, event: Event, receipt: &mut Receipt, note: &Path) -> Result<Change> {
    let hook = dir.join(event.name());
    let present = fs::symlink_metadata(&hook).ok();
    if present.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(Error::new(
            ErrorKind::Config,
            format!("cannot install a hook: {} is a directory", hook.display()),
        ));
    }
    if !is_ours(&hook)
        && let Some(place) = find_ours(&hook)
    {
        // Another manager has put itself before us; ours comes out from behind it first.
        step_out(&place, &hook, receipt)?;
        receipt.write(note)?;
    }
    let ours = is_ours(&hook);
    if ours {
        adopt(dir, event, receipt)?;
        receipt.write(note)?;
    }
    let aside = prior_paths(&hook);
    let used = aside
        .iter()
        .filter(|path| fs::symlink_metadata(path).is_ok())
        .count();
    if ours {
        let wanted = Form::of(event, used > 0);
        if wanted.matches(&hook, &receipt.program, event) {
            return Ok(Change::Nothing);
        }
        wanted.put(&hook, &receipt.program, event)?;
        return Ok(Change::Renewed);
    }
    let Some(present) = present else {
        // Either nobody's, or an installation was interrupted after the move.
        if receipt.hook(&hook).is_none() {
            receipt.hooks.push(HookReceipt {
                path: hook.clone(),
                prior: None,
                before: String::new(),
                mode: 0,
            });
            receipt.write(note)?;
        }
        Form::of(event, used > 0).put(&hook, &receipt.program, event)?;
        return Ok(Change::Added);
    };
    let prior = aside.into_iter().nth(used).ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            format!(
                "cannot install a hook: {} others are already moved aside from {}",
                LAYERS,
                hook.display()
            ),
        )
        .hint("take them out first: holdpoint uninstall")
    })?;
    receipt.hooks.push(HookReceipt {
        path: hook.clone(),
        prior: Some(prior.clone()),
        before: fingerprint(&hook)?,
        mode: present.permissions().mode() & 0o7777,
    });
    receipt.write(note)?;
    fs::rename(&hook, &prior).doing(ErrorKind::Io, || {
        format!("cannot move aside {}", hook.display())
    })?;
    Form::of(event, true).put(&hook, &receipt.program, event)?;
    Ok(Change::Chained)
}

/// Notes a hook of ours that no note knows: the repository was moved or copied with it.
///
/// # Errors
/// When a hook that was there before it cannot be read.
pub fn adopt(dir: &Path, event: Event, receipt: &mut Receipt) -> Result<()> {
    let hook = dir.join(event.name());
    if find_ours(&hook).is_none() || receipt.hook(&hook).is_some() {
        return Ok(());
    }
    let aside: Vec<PathBuf> = prior_paths(&hook)
        .into_iter()
        .filter(|path| fs::symlink_metadata(path).is_ok())
        .collect();
    if aside.is_empty() {
        receipt.hooks.push(HookReceipt {
            path: hook,
            prior: None,
            before: String::new(),
            mode: 0,
        });
        return Ok(());
    }
    for prior in aside {
        let before = fingerprint(&prior)?;
        let mode = fs::symlink_metadata(&prior).map_or(0o755, |meta| meta.permissions().mode());
        receipt.hooks.push(HookReceipt {
            path: hook.clone(),
            prior: Some(prior),
            before,
            mode: mode & 0o7777,
        });
    }
    Ok(())
}

/// Puts what our displaced hook stood for in its place, and forgets it.
fn step_out(place: &Path, hook: &Path, receipt: &mut Receipt) -> Result<()> {
    let layer = receipt.hooks.iter().rposition(|layer| layer.path == hook);
    let prior = layer
        .map(|at| receipt.hooks.remove(at))
        .and_then(|layer| layer.prior)
        .filter(|prior| fs::symlink_metadata(prior).is_ok());
    match prior {
        Some(prior) => rename(&prior, place),
        None => fs::remove_file(place).doing(ErrorKind::Io, || {
            format!("cannot remove {}", place.display())
        }),
    }
}

/// Takes out what `receipt` says was put in, newest first, and returns what had to be left alone.
///
/// A hook of ours that another manager has displaced since is found under that
/// manager's name and replaced by what it stood for.
///
/// # Errors
/// When a file cannot be moved or removed.
pub fn uninstall(receipt: &Receipt) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for hook in receipt.hooks.iter().rev() {
        let prior = hook
            .prior
            .as_ref()
            .filter(|prior| fs::symlink_metadata(prior).is_ok());
        if let Some(prior) = prior
            && fingerprint(prior)? != hook.before
        {
            left.push(format!(
                "{} has changed since it was moved aside; it goes back as it is now",
                prior.display()
            ));
        }
        match (find_ours(&hook.path), prior) {
            (Some(place), Some(prior)) => rename(prior, &place)?,
            (Some(place), None) => fs::remove_file(&place).doing(ErrorKind::Io, || {
                format!("cannot remove {}", place.display())
            })?,
            (None, Some(prior)) if fs::symlink_metadata(&hook.path).is_err() => {
                rename(prior, &hook.path)?;
            }
            (None, Some(prior)) => left.push(format!(
                "{} was replaced by something else; the hook that was there before us stays at {}",
                hook.path.display(),
                prior.display()
            )),
            (None, None) => {}
        }
        if hook.prior.is_some() && prior.is_none() {
            left.push(format!(
                "the hook that was moved aside from {} is gone",
                hook.path.display()
            ));
        }
    }
    for dir in receipt.made_dirs.iter().rev() {
        // Anything that somebody has put there since keeps it.
        let _ = fs::remove_dir(dir);
    }
    Ok(left)
}

/// Where our hook for this path lies now: at the path, or where another manager moved it.
#[must_use]
pub fn find_ours(hook: &Path) -> Option<PathBuf> {
    if is_ours(hook) {
        return Some(hook.to_path_buf());
    }
    DISPLACED.iter().find_map(|suffix| {
        let mut name = hook.file_name().unwrap_or_default().to_os_string();
        name.push(suffix);
        let path = hook.with_file_name(name);
        is_ours(&path).then_some(path)
    })
}

/// The event's name in the file name of a hook, under whatever suffix it was moved aside.
#[must_use]
pub fn event_of(name: &OsStr) -> Option<&'static str> {
    let bytes = name.as_bytes();
    super::KNOWN
        .iter()
        .filter(|known| {
            bytes.strip_prefix(known.as_bytes()).is_some_and(|rest| {
                rest.is_empty() || DISPLACED.iter().any(|s| rest == s.as_bytes())
            })
        })
        .max_by_key(|known| known.len())
        .copied()
}

/// The hook that was there before ours and has to run before it, for the file our program was called by.
#[must_use]
pub fn prior_of(called_as: &Path) -> Option<PathBuf> {
    let name = called_as.file_name()?;
    let event = event_of(name)?;
    let hook = called_as.with_file_name(event);
    let first = prior_path(&hook, 1);
    fs::symlink_metadata(&first).ok()?;
    if name != OsStr::new(event) {
        // Called under a displaced name: ours is the older layer.
        return Some(first);
    }
    prior_paths(&hook)
        .into_iter()
        .take_while(|path| fs::symlink_metadata(path).is_ok())
        .last()
}

/// Hex SHA-256 of a file's bytes, or of a link's target.
///
/// # Errors
/// When it cannot be read.
pub fn fingerprint(path: &Path) -> Result<String> {
    let doing = || format!("cannot read {}", path.display());
    let meta = fs::symlink_metadata(path).doing(ErrorKind::Io, doing)?;
    let bytes = if meta.is_symlink() {
        let target: OsString = fs::read_link(path).doing(ErrorKind::Io, doing)?.into();
        target.as_bytes().to_vec()
    } else {
        files::read(path).doing(ErrorKind::Io, doing)?
    };
    Ok(hex_sha256(&bytes))
}

/// Hex SHA-256 of bytes.
#[must_use]
pub fn hex_sha256(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Link or shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Link,
    Shim,
}

impl Form {
    fn of(event: Event, chained: bool) -> Self {
        match event {
            Event::ReferenceTransaction | Event::PreAutoGc if !chained => Self::Link,
            _ => Self::Shim,
        }
    }

    fn matches(self, hook: &Path, program: &Path, event: Event) -> bool {
        match self {
            Self::Link => fs::read_link(hook).is_ok_and(|to| to == program),
            Self::Shim => {
                super::is_executable(hook)
                    && files::read(hook).is_ok_and(|bytes| bytes == shim(program, event))
            }
        }
    }

    fn put(self, hook: &Path, program: &Path, event: Event) -> Result<()> {
        match self {
            Self::Shim => {
                files::replace(hook, &shim(program, event), 0o755, Durability::Synced)?;
                // The umask may have taken the execute bits that git asks for.
                fs::set_permissions(hook, fs::Permissions::from_mode(0o755))
                    .doing(ErrorKind::Io, || {
                        format!("cannot make {} executable", hook.display())
                    })
            }
            Self::Link => {
                let mut name = hook.file_name().unwrap_or_default().to_os_string();
                name.push(format!(".{}.tmp", std::process::id()));
                let temporary = hook.with_file_name(name);
                symlink(program, &temporary)
                    .and_then(|()| fs::rename(&temporary, hook))
                    .doing(ErrorKind::Io, || format!("cannot write {}", hook.display()))
            }
        }
    }
}

fn shim(program: &Path, event: Event) -> Vec<u8> {
    let quoted = shell_quoted(program.as_os_str().as_bytes());
    let mut text = SHIM.replace("@EVENT@", event.name());
    if matches!(event, Event::PreCommit | Event::PreMergeCommit) {
        // `prepare-commit-msg` follows, and says it once.
        text = text
            .lines()
            .filter(|line| !line.starts_with("echo "))
            .fold(String::new(), |text, line| text + line + "\n");
    }
    let (before, after) = text.split_once("@PROGRAM@").unwrap_or((&text, ""));
    [before.as_bytes(), &quoted, after.as_bytes()].concat()
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).doing(ErrorKind::Io, || {
        format!("cannot move {} back to {}", from.display(), to.display())
    })
}

#[cfg(test)]
mod tests {
    use super::{event_of, shim};
    use crate::repo::hooks::Event;
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn a_hook_is_known_by_its_file_name_even_when_displaced() {
        for (name, event) in [
            ("pre-commit", Some("pre-commit")),
            ("pre-commit.legacy", Some("pre-commit")),
            ("pre-push.old", Some("pre-push")),
            ("reference-transaction", Some("reference-transaction")),
            ("post-merge-user", Some("post-merge")),
            ("holdpoint-hook", None),
            ("pre-commit.sample", None),
        ] {
            assert_eq!(event_of(OsStr::new(name)), event, "{name}");
        }
    }

    #[test]
    fn a_shim_quotes_a_path_with_a_quote_in_it() {
        let text = shim(Path::new("/o'b/holdpoint-hook"), Event::PreCommit);
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("bin='/o'\\''b/holdpoint-hook'\n"), "{text}");
        assert!(
            text.contains("git --as \"$0\" pre-commit \"$@\"\n"),
            "{text}"
        );
    }
}
