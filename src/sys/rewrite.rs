//! Files that are somebody else's: changed where they really lie, with the mode and owner they have.

use super::files::{self, Durability};
use crate::error::{Context as _, Error, ErrorKind, Result};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Links that are followed before somebody must have made a circle.
const LINKS: usize = 40;

/// Refuses what [`rewrite`] would refuse, before anything is touched.
///
/// # Errors
/// When the file cannot be found through its links, or nobody may write it.
pub fn check(path: &Path) -> Result<PathBuf> {
    let place = behind_links(path)?;
    if let Ok(meta) = fs::metadata(&place)
        && meta.permissions().readonly()
    {
        return Err(Error::new(
            ErrorKind::Io,
            format!("cannot change {}: it is read-only", place.display()),
        )
        .hint(format!(
            "to let it be changed: chmod u+w {}",
            place.display()
        )));
    }
    Ok(place)
}

/// Replaces a file's bytes and makes the directories that it lacks.
///
/// A link stays a link; a file that is there keeps its mode and owner, and a
/// new one gets `mode`.
///
/// # Errors
/// As [`check`], and when it cannot be written.
pub fn rewrite(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let place = check(path)?;
    if let Some(dir) = place.parent() {
        fs::create_dir_all(dir)
            .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
    }
    let present = fs::metadata(&place).ok();
    let mode = present.as_ref().map_or(mode, |meta| meta.mode() & 0o7777);
    files::replace(&place, bytes, mode, Durability::Synced)?;
    let Some(present) = present else {
        return Ok(());
    };
    let keep = || -> std::io::Result<()> {
        let now = fs::metadata(&place)?;
        if (now.uid(), now.gid()) != (present.uid(), present.gid()) {
            std::os::unix::fs::chown(&place, Some(present.uid()), Some(present.gid()))?;
        }
        // The process's mask may have taken bits away.
        if now.mode() & 0o7777 != mode {
            fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    };
    keep().doing(ErrorKind::Io, || {
        format!("cannot keep the owner and mode of {}", place.display())
    })
}

/// Where a path leads in the end; what it leads to need not be there.
fn behind_links(path: &Path) -> Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&place) {
            Ok(target) => {
                place = place.parent().unwrap_or(Path::new("/")).join(target);
            }
            Err(_) => return Ok(place),
        }
    }
    Err(Error::new(
        ErrorKind::Io,
        format!(
            "cannot change {}: its links lead in a circle",
            path.display()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::{check, rewrite};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn links_stay_and_modes_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let real = dir.path().join("dotfiles/settings.json");
        let link = dir.path().join("settings.json");
        symlink("dotfiles/settings.json", &link).expect("a link");
        rewrite(&link, b"new", 0o600).expect("made behind the link");
        assert_eq!(fs::read(&real).expect("there"), b"new");
        for mode in [0o600, 0o644, 0o664] {
            fs::set_permissions(&real, fs::Permissions::from_mode(mode)).expect("set");
            rewrite(&link, b"newer", 0o644).expect("written");
            let now = fs::metadata(&real).expect("there").permissions().mode();
            assert_eq!(now & 0o777, mode);
            let kind = fs::symlink_metadata(&link).expect("there").file_type();
            assert!(kind.is_symlink());
        }
    }

    #[test]
    fn what_nobody_may_write_and_what_leads_nowhere_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        fs::write(&file, "x").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("set");
        assert!(check(&file).is_err());
        assert!(rewrite(&file, b"y", 0o644).is_err());
        assert_eq!(fs::read(&file).expect("there"), b"x");
        let circle = dir.path().join("circle");
        symlink("circle", &circle).expect("a link");
        assert!(check(&circle).is_err());
    }
}
