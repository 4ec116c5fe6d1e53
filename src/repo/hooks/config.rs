//! Hooks named in git's configuration, for git 2.54 and later; and edits of configuration files.
//!
//! The configuration gets one `include` of a file in Holdpoint's own directory,
//! beside a copy of our program. Git ignores an include that is not there: where
//! the directory is gone, or the repository is mounted in a container that has
//! none, git goes on without the hooks. A hook's command that is not there would
//! make every change of a ref fail.

use super::receipt::{ConfigReceipt, Receipt};
use super::{Event, PROGRAM, files, shell_quoted};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::env::{self, Env, Settled};
use crate::sys::files::{self as disk, Durability};
use crate::sys::process;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// The name by which git calls the tripwire.
pub const TRIPWIRE: &str = "holdpoint-fsmonitor";

/// The directory of the program's copy, and of the files that git includes.
///
/// Hooks are links to a copy of our program that nobody may write: a hook
/// written through a link (`cat > .git/hooks/pre-commit`) would otherwise replace
/// the program of every repository. The copy also goes on guarding when the
/// program itself is taken away.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The directory.
    pub dir: PathBuf,
    /// Whose state and preferences the copy works on; `None` where everybody's is their own.
    settled: Option<Settled>,
}

impl Programs {
    /// The directory that all repositories of this user share.
    ///
    /// # Errors
    /// When Holdpoint's own state has no place.
    pub fn of_user(env: &Env) -> Result<Self> {
        Ok(Self {
            dir: env.state_home()?.join("program"),
            settled: Settled::of(env).ok(),
        })
    }

    /// The directory below a machine-wide installation.
    #[must_use]
    pub fn below(install: &Path) -> Self {
        Self {
            dir: install.join("program"),
            settled: None,
        }
    }

    /// The copy of the program.
    #[must_use]
    pub fn copy(&self) -> PathBuf {
        self.dir.join(PROGRAM)
    }

    /// The file that git includes for the hooks.
    #[must_use]
    pub fn hooks_config(&self) -> PathBuf {
        self.dir.join("hooks.gitconfig")
    }

    /// The file that git includes for the tripwire.
    #[must_use]
    pub fn tripwire_config(&self) -> PathBuf {
        self.dir.join("tripwire.gitconfig")
    }

    /// The name under which a hook is called.
    #[must_use]
    pub fn called(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Copies the program if the copy is missing or another, and names it for each event.
    ///
    /// Returns true when anything had to be done.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn refresh(&self, program: &Path) -> Result<bool> {
        let doing = || {
            format!(
                "cannot copy {} to {}",
                program.display(),
                self.dir.display()
            )
        };
        super::make_shared_dir(&self.dir)?;
        let mut changed = false;
        if !same_program(program, &self.copy()) {
            self.copy_program(program).doing(ErrorKind::Io, doing)?;
            changed = true;
        }
        let names = Event::ALL.iter().map(|event| event.name());
        let links = names
            .chain([TRIPWIRE])
            .map(|name| (self.called(name), PathBuf::from(PROGRAM)));
        for (link, target) in links {
            if fs::read_link(&link).is_ok_and(|to| to == target) {
                continue;
            }
            let _ = fs::remove_file(&link);
            symlink(target, &link).doing(ErrorKind::Io, doing)?;
            changed = true;
        }
        if let Some(settled) = &self.settled {
            changed |= write_if_other(&self.dir.join(env::PLACES), &settled.to_bytes())?;
        }
        changed |= write_if_other(&self.hooks_config(), &self.hooks_text())?;
        changed |= write_if_other(&self.tripwire_config(), &self.tripwire_text())?;
        Ok(changed)
    }

    fn copy_program(&self, program: &Path) -> std::io::Result<()> {
        let temporary = self
            .dir
            .join(format!("{PROGRAM}.{}.tmp", std::process::id()));
        let _ = fs::remove_file(&temporary);
        // A test's program is large, and each test has a directory of its own.
        if cfg!(debug_assertions) && process::variable("HOLDPOINT_TEST_LINK_PROGRAM").is_some() {
            symlink(program, &temporary)?;
            return fs::rename(&temporary, self.copy());
        }
        fs::copy(program, &temporary)?;
        let file = OpenOptions::new().write(true).open(&temporary)?;
        file.set_modified(fs::metadata(program)?.modified()?)?;
        file.set_permissions(fs::Permissions::from_mode(0o555))?;
        file.sync_all()?;
        fs::rename(&temporary, self.copy())
    }

    fn hooks_text(&self) -> Vec<u8> {
        let mut text = b"# holdpoint: hooks for git 2.54 and later\n".to_vec();
        for event in Event::ALL {
            let command = command_value(&self.called(event.name()));
            text.extend_from_slice(
                format!("[hook \"holdpoint-{event}\"]\n\tcommand = ").as_bytes(),
            );
            text.extend_from_slice(&command);
            // A hook that does not say so keeps the person's own from running side by side.
            text.extend_from_slice(format!("\n\tevent = {event}\n\tparallel = true\n").as_bytes());
        }
        text
    }

    fn tripwire_text(&self) -> Vec<u8> {
        let mut text =
            b"# holdpoint: called by git before it changes files\n[core]\n\tfsmonitor = ".to_vec();
        text.extend_from_slice(&command_value(&self.called(TRIPWIRE)));
        text.extend_from_slice(b"\n\tfsmonitorHookVersion = 2\n");
        text
    }
}

fn write_if_other(path: &Path, text: &[u8]) -> Result<bool> {
    if disk::read_if_there(path)?.as_deref() == Some(text) {
        return Ok(false);
    }
    disk::replace(path, text, 0o644, Durability::Synced)?;
    Ok(true)
}

/// Returns true when the copy has the program's size and time.
#[must_use]
pub fn same_program(program: &Path, copy: &Path) -> bool {
    match (fs::metadata(program), fs::metadata(copy)) {
        (Ok(a), Ok(b)) => a.len() == b.len() && a.modified().ok() == b.modified().ok(),
        _ => false,
    }
}

/// The section that includes `path`.
#[must_use]
pub fn include_of(path: &Path) -> Vec<u8> {
    [
        b"[include]\n\tpath = ".as_slice(),
        &quoted(path.as_os_str().as_bytes()),
        b"\n",
    ]
    .concat()
}

/// A path as the value of a command: git starts a shell only where one of these characters is in it.
fn command_value(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let plain = !bytes
        .iter()
        .any(|byte| b"|&;<>()$`\\\"' \t\n*?[#~=%".contains(byte));
    if plain {
        quoted(bytes)
    } else {
        quoted(&shell_quoted(bytes))
    }
}

/// A value in git's configuration syntax.
#[must_use]
pub fn quoted(value: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in value {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            other => out.push(*other),
        }
    }
    out.push(b'"');
    out
}

/// Appends `text` to a configuration file under git's own lock, noting it in `receipt` first.
///
/// Does nothing when the file has the text already; returns whether it was added.
///
/// # Errors
/// When somebody else holds git's lock, or the file cannot be written.
pub fn append(file: &Path, text: &[u8], receipt: &mut Receipt, note: &Path) -> Result<bool> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let before = disk::read_if_there(&file)?;
    let old = before.clone().unwrap_or_default();
    if memchr::memmem::find(&old, text).is_some() {
        if adopt(&file, &old, text, receipt) {
            receipt.write(note)?;
        }
        return Ok(false);
    }
    let mut added = Vec::new();
    if !old.is_empty() && !old.ends_with(b"\n") {
        added.push(b'\n');
    }
    added.extend_from_slice(text);
    let new = [old.as_slice(), &added].concat();
    receipt.configs.push(ConfigReceipt {
        path: file.clone(),
        added: String::from_utf8_lossy(&added).into_owned(),
        existed: before.is_some(),
        before: files::hex_sha256(&old),
        after: files::hex_sha256(&new),
    });
    receipt.write(note)?;
    write_locked(&file, &new)?;
    Ok(true)
}

/// Notes text of ours in a file where no note knows of it; returns whether there was any.
pub fn adopt(file: &Path, now: &[u8], text: &[u8], receipt: &mut Receipt) -> bool {
    let known = receipt.configs.iter().any(|config| {
        config.path == file && memchr::memmem::find(config.added.as_bytes(), text).is_some()
    });
    if known || memchr::memmem::find(now, text).is_none() {
        return false;
    }
    receipt.configs.push(ConfigReceipt {
        path: file.to_path_buf(),
        added: String::from_utf8_lossy(text).into_owned(),
        existed: true,
        before: String::new(),
        after: String::new(),
    });
    true
}

/// Takes out what [`append`] added and returns what could not be.
///
/// # Errors
/// When somebody else holds git's lock, or the file cannot be written.
pub fn remove(receipt: &Receipt) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for config in receipt.configs.iter().rev() {
        let Some(now) = disk::read_if_there(&config.path)? else {
            continue;
        };
        let added = config.added.as_bytes();
        let section = added.strip_prefix(b"\n").unwrap_or(added);
        let rest = if files::hex_sha256(&now) == config.after {
            now.strip_suffix(added).map(<[u8]>::to_vec)
        } else {
            memchr::memmem::find(&now, section).map(|at| {
                let (head, tail) = now.split_at(at);
                [head, tail.get(section.len()..).unwrap_or_default()].concat()
            })
        };
        let Some(rest) = rest else {
            if !config.added.is_empty() && holds_any_line(&now, section) {
                left.push(format!(
                    "{} has changed since; take this out of it by hand:\n{}",
                    config.path.display(),
                    String::from_utf8_lossy(section).trim_end()
                ));
            }
            continue;
        };
        if rest.is_empty() && !config.existed {
            fs::remove_file(&config.path).doing(ErrorKind::Io, || {
                format!("cannot remove {}", config.path.display())
            })?;
        } else {
            write_locked(&config.path, &rest)?;
        }
    }
    Ok(left)
}

/// Returns true when the value lines of a section are still in the file.
fn holds_any_line(file: &[u8], section: &[u8]) -> bool {
    section
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"\t"))
        .any(|line| memchr::memmem::find(file, line.trim_ascii()).is_some())
}

/// Replaces a configuration file as git does: `NAME.lock`, then rename.
fn write_locked(file: &Path, bytes: &[u8]) -> Result<()> {
    let mode = fs::metadata(file).map_or(0o644, |meta| meta.permissions().mode() & 0o777);
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".lock");
    let lock = file.with_file_name(name);
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&lock);
    let mut held = match opened {
        Ok(held) => held,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Error::new(
                ErrorKind::Busy,
                format!("cannot write {}: another git has it locked", file.display()),
            )
            .hint(format!("if none is running: rm {}", lock.display())));
        }
        Err(error) => {
            return Err(error).doing(ErrorKind::Io, || format!("cannot write {}", file.display()));
        }
    };
    let written = held
        .write_all(bytes)
        .and_then(|()| held.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| held.sync_all())
        .and_then(|()| fs::rename(&lock, file));
    written
        .inspect_err(|_| {
            // The write's own error is the one to report.
            let _ = fs::remove_file(&lock);
        })
        .doing(ErrorKind::Io, || format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::{Programs, command_value, quoted};
    use crate::repo::hooks::Event;
    use std::path::Path;

    #[test]
    fn no_hook_of_ours_keeps_others_from_running_side_by_side() {
        let text = Programs::below(Path::new("/x")).hooks_text();
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.matches("parallel = true").count(), Event::ALL.len());
    }

    #[test]
    fn a_plain_path_needs_no_shell_and_any_other_is_quoted_for_it() {
        assert_eq!(command_value(Path::new("/a/b-c")), b"\"/a/b-c\"");
        assert_eq!(command_value(Path::new("/a b")), b"\"'/a b'\"");
        assert_eq!(quoted(b"a\"b\\"), b"\"a\\\"b\\\\\"");
    }
}
