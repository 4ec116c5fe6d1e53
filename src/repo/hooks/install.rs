//! Puts the hooks of one repository in, and takes them out again.

use super::config::{self, Programs};
use super::files::{self, Change};
use super::place::{self, HooksDir, SetBy};
use super::receipt::{Mode, Receipt};
use super::version::{self, GitVersion};
use super::{Event, machine, make_shared_dir};
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files as disk;
use crate::sys::lock::Lock;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The first version that takes `core.hooksPath` into account in every command.
const HOOKS_PATH_EVERYWHERE: GitVersion = GitVersion {
    major: 2,
    minor: 49,
};

/// What an installation did.
#[derive(Clone, Debug, Default)]
pub struct Installed {
    /// Where git takes the hooks from.
    pub place: PathBuf,
    /// Events whose hook was put in.
    pub added: Vec<Event>,
    /// Events whose hook was put in before somebody else's, which runs first.
    pub chained: Vec<Event>,
    /// True when anything of ours was put right.
    pub renewed: bool,
    /// True where an installation for the whole machine does it already.
    pub machine_wide: bool,
}

impl Installed {
    /// Returns true when everything was there already.
    #[must_use]
    pub fn nothing_done(&self) -> bool {
        self.added.is_empty() && self.chained.is_empty() && !self.renewed
    }
}

/// The note of this repository's hooks.
#[must_use]
pub fn note(workspace: &Workspace) -> PathBuf {
    workspace.state.join("install/git.json")
}

/// Puts the hooks in, in the way that suits the oldest git on PATH.
///
/// # Errors
/// [`ErrorKind::Refused`] where the hooks directory is not ours to add to; otherwise when something cannot be written.
pub fn install(env: &Env, workspace: &Workspace, program: &Path) -> Result<Installed> {
    let git = version::oldest(env)?;
    let wanted = if git >= GitVersion::CONFIG_HOOKS {
        Mode::Config
    } else {
        Mode::Files
    };
    let _lock = lock(workspace)?;
    let note = note(workspace);
    let mut receipt = Receipt::read(&note)?;
    if receipt
        .as_ref()
        .is_some_and(|receipt| receipt.mode != wanted)
    {
        // Git was exchanged for one that reads hooks elsewhere; never both at once.
        take_out(workspace)?;
        receipt = None;
    }
    let mut receipt = receipt.unwrap_or_else(|| Receipt::new(wanted, program.to_path_buf()));
    let programs = Programs::of_user(env)?;
    let renewed = programs.refresh(program)?;
    receipt.program = programs.copy();
    let mut installed = match wanted {
        Mode::Config => by_config(workspace, &programs, &mut receipt, &note),
        Mode::Files => by_files(workspace, git, &mut receipt, &note),
    }?;
    installed.renewed |= renewed && !installed.machine_wide && installed.added.is_empty();
    Ok(installed)
}

fn by_config(
    workspace: &Workspace,
    programs: &Programs,
    receipt: &mut Receipt,
    note: &Path,
) -> Result<Installed> {
    let file = place::common_dir(workspace)?.join("config");
    let include = config::include_of(&programs.hooks_config());
    let added = config::append(&file, &include, receipt, note)?;
    receipt.write(note)?;
    Ok(Installed {
        place: file,
        added: if added {
            Event::ALL.to_vec()
        } else {
            Vec::new()
        },
        ..Installed::default()
    })
}

fn by_files(
    workspace: &Workspace,
    git: GitVersion,
    receipt: &mut Receipt,
    note: &Path,
) -> Result<Installed> {
    let effective = place::effective(workspace)?;
    if is_machine_wide(&effective) {
        return Ok(Installed {
            place: effective.path,
            machine_wide: true,
            ..Installed::default()
        });
    }
    let dir = place::to_install(workspace)?;
    let mut installed = Installed {
        place: dir.path.clone(),
        ..Installed::default()
    };
    make_hooks_dir(&dir.path, receipt, note)?;
    for event in Event::ALL {
        match files::install(&dir.path, event, receipt, note)? {
            Change::Nothing => {}
            Change::Added => installed.added.push(event),
            Change::Chained => installed.chained.push(event),
            Change::Renewed => installed.renewed = true,
        }
    }
    if dir.set_by != SetBy::Default && git < HOOKS_PATH_EVERYWHERE {
        // `remote remove` and the end of a bisect look here whatever the setting says.
        let own = place::common_dir(workspace)?.join("hooks");
        make_hooks_dir(&own, receipt, note)?;
        files::install(&own, Event::ReferenceTransaction, receipt, note)?;
    }
    receipt.write(note)?;
    Ok(installed)
}

fn make_hooks_dir(dir: &Path, receipt: &mut Receipt, note: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if !receipt.made_dirs.iter().any(|made| made == dir) {
        receipt.made_dirs.push(dir.to_path_buf());
        receipt.write(note)?;
    }
    make_shared_dir(dir)
}

/// Returns true when git takes hooks from an installation of ours for the whole machine.
#[must_use]
pub fn is_machine_wide(dir: &HooksDir) -> bool {
    dir.path.file_name() == Some(OsStr::new(machine::DIRECTORY))
}

/// Sets the tripwire; returns whether anything had to be done.
///
/// # Errors
/// [`ErrorKind::Refused`] where another file-system monitor is in use.
pub fn install_tripwire(env: &Env, workspace: &Workspace, program: &Path) -> Result<bool> {
    super::tripwire::may_set(workspace)?;
    let _lock = lock(workspace)?;
    let note = note(workspace);
    let mut receipt =
        Receipt::read(&note)?.unwrap_or_else(|| Receipt::new(Mode::Files, program.to_path_buf()));
    let programs = Programs::of_user(env)?;
    let renewed = programs.refresh(program)?;
    let file = place::common_dir(workspace)?.join("config");
    let include = config::include_of(&programs.tripwire_config());
    let added = config::append(&file, &include, &mut receipt, &note)?;
    Ok(renewed || added)
}

/// Takes everything out; returns what had to be left alone, or `None` when nothing was installed.
///
/// # Errors
/// When a file cannot be moved, removed or written.
pub fn uninstall(env: &Env, workspace: &Workspace) -> Result<Option<Vec<String>>> {
    let note = note(workspace);
    if Receipt::read(&note)?.is_none() {
        let Some(found) = unnoted(env, workspace)? else {
            return Ok(None);
        };
        let _lock = lock(workspace)?;
        found.write(&note)?;
        return take_out(workspace);
    }
    let _lock = lock(workspace)?;
    take_out(workspace)
}

/// An installation that no note knows: the repository was moved or copied, or the notes are gone.
///
/// A hooks directory outside the repository may serve others, so what lies there is not taken for this one's.
///
/// # Errors
/// When git does not answer, or a hook cannot be read.
pub fn unnoted(env: &Env, workspace: &Workspace) -> Result<Option<Receipt>> {
    let common = place::common_dir(workspace)?;
    let effective = place::effective(workspace)?;
    let programs = Programs::of_user(env)?;
    let mut receipt = Receipt::new(Mode::Files, programs.copy());
    let own = common.join("hooks");
    let inside = effective.path.starts_with(&common) || effective.path.starts_with(&workspace.root);
    for event in Event::ALL {
        files::adopt(&own, event, &mut receipt)?;
        if inside && effective.path != own {
            files::adopt(&effective.path, event, &mut receipt)?;
        }
    }
    let file = common.join("config");
    let file = fs::canonicalize(&file).unwrap_or(file);
    let now = disk::read_if_there(&file)?.unwrap_or_default();
    let hooks = config::include_of(&programs.hooks_config());
    if config::adopt(&file, &now, &hooks, &mut receipt) {
        receipt.mode = Mode::Config;
    }
    let tripwire = config::include_of(&programs.tripwire_config());
    config::adopt(&file, &now, &tripwire, &mut receipt);
    let none = receipt.hooks.is_empty() && receipt.configs.is_empty();
    Ok((!none).then_some(receipt))
}

fn take_out(workspace: &Workspace) -> Result<Option<Vec<String>>> {
    let note = note(workspace);
    let Some(receipt) = Receipt::read(&note)? else {
        return Ok(None);
    };
    // The configuration first: a hook's command that is gone stops git.
    let mut left = config::remove(&receipt)?;
    left.extend(files::uninstall(&receipt)?);
    fs::remove_file(&note).doing(ErrorKind::Io, || {
        format!("cannot remove {}", note.display())
    })?;
    Ok(Some(left))
}

fn lock(workspace: &Workspace) -> Result<Lock> {
    let dir = workspace.state.join("install");
    disk::make_private_dir(&dir)?;
    Lock::wait(&dir.join("lock"))
}
