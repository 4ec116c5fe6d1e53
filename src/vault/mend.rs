//! Sets damaged packs and links aside, so that what they held can be held anew.
//!
//! While a damaged pack is there its contents count as held, and nobody stores
//! them again. What reads well goes into a pack of its own; the damaged one keeps
//! its bytes under another name, for whoever knows how to read them.

use super::cache::Cache;
use super::layout::Vault;
use super::pack::{Encoding, Pack, PackWriter};
use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::{clock, files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Sets packs and links to git's files aside and returns their new names.
pub(super) fn set_aside(
    vault: &Vault,
    packs: &[PathBuf],
    links: &[PathBuf],
) -> Result<Vec<PathBuf>> {
    let _alone = vault.own_contents()?;
    let _name = vault.publish()?;
    let dir = vault.store.dir();
    let name = clock::id();
    let writer = PackWriter::new(dir.join(format!("tmp-{name}.pack")));
    for path in packs {
        // Of one that cannot be opened nothing can be read.
        if let Ok(Some(pack)) = Pack::open(path) {
            copy_sound(&pack, &writer)?;
        }
    }
    if let Some(finished) = writer.finish()? {
        finished.sync()?;
        rename(&finished.path, &dir.join(format!("{name}.pack")))?;
    }
    let mut aside = Vec::new();
    for path in packs {
        let to = path.with_extension("pack.damaged");
        rename(path, &to)?;
        aside.push(to);
    }
    for path in links {
        let to = path.with_extension("damaged");
        match fs::rename(path, &to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => {
                renamed
                    .and_then(|()| files::sync_parent(&to))
                    .doing(ErrorKind::Io, || cannot_move(path, &to))?;
                aside.push(to);
            }
        }
    }
    if !links.is_empty() {
        // A stat cache says that the vault has them.
        forget_caches(vault)?;
    }
    vault.store.refresh();
    Ok(aside)
}

fn copy_sound(pack: &Pack, writer: &PackWriter) -> Result<()> {
    for entry in pack.all()? {
        // A list of chunks is held against its id when it is read through.
        let is_sound = entry.encoding == Encoding::Chunks || pack.check(&entry).is_ok();
        if is_sound && let Ok(payload) = pack.payload(&entry) {
            writer.add(entry.id, entry.raw, entry.encoding, &payload)?;
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to)
        .and_then(|()| files::sync_parent(to))
        .doing(ErrorKind::Io, || cannot_move(from, to))
}

fn cannot_move(from: &Path, to: &Path) -> String {
    format!("cannot move {} to {}", from.display(), to.display())
}

fn forget_caches(vault: &Vault) -> Result<()> {
    let dir = vault.dir.join("cache");
    let doing = || format!("cannot list {}", dir.display());
    for entry in fs::read_dir(&dir).doing(ErrorKind::Io, doing)? {
        let path = entry.doing(ErrorKind::Io, doing)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "base")
        {
            Cache::forget(&path)?;
        }
    }
    Ok(())
}
