//! The stash of a reftable repository, whose refs are not files that could be taken apart.
//!
//! The point's tables are laid out as a repository of their own beside the vault,
//! its objects those of the person's; git reads the list there and stores it anew.

use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::{Git, Kind, Workspace};
use crate::sys::files;
use crate::vault::diff::{Trees, no_trees};
use crate::vault::layout::Vault;
use crate::vault::point::SafetyPoint;
use crate::vault::tree::Kind as Entry;
use bstr::ByteSlice as _;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Commit and message of each stash, the newest first.
type List = Vec<(String, String)>;

/// Puts the list of stashes back as the point has it; its commits are there already.
pub(super) fn put_back(vault: &Vault, workspace: &Workspace, target: &SafetyPoint) -> Result<()> {
    let place = vault
        .dir
        .join("staging")
        .join(format!("stash-{}", target.id));
    let then = lay_out(vault, workspace, target, &place).and_then(|there| list(&there));
    // Nothing in it is needed any more; a later prune removes it otherwise.
    let _ = fs::remove_dir_all(&place);
    let then = then?;
    let now = list(workspace)?;
    if now == then {
        return Ok(());
    }
    if !now.is_empty() {
        Git::at(workspace).args(["stash", "clear"]).read()?;
    }
    for (commit, message) in then.iter().rev() {
        Git::at(workspace)
            .args([
                "-c",
                "user.name=holdpoint",
                "-c",
                "user.email=holdpoint@localhost",
            ])
            .args(["stash", "store", "-q", "-m", message, commit])
            .read()?;
    }
    Ok(())
}

fn list(workspace: &Workspace) -> Result<List> {
    let known = Git::at(workspace)
        .args(["rev-parse", "-q", "--verify", "refs/stash"])
        .output()?;
    if known.status != Some(0) {
        return Ok(List::new());
    }
    let out = Git::at(workspace)
        .args(["log", "-g", "-z", "--format=%H %gs", "refs/stash", "--"])
        .read()?;
    Ok(out
        .split(|byte| *byte == 0)
        .filter_map(|line| line.split_once_str(" "))
        .map(|(commit, message)| {
            let text = |bytes: &[u8]| bytes.to_str_lossy().into_owned();
            (text(commit), text(message))
        })
        .collect())
}

/// Makes a bare repository of the point's refs in `place`.
fn lay_out(
    vault: &Vault,
    workspace: &Workspace,
    target: &SafetyPoint,
    place: &Path,
) -> Result<Workspace> {
    let doing = || format!("cannot write {}", place.display());
    let trees = Trees {
        store: &vault.store,
        fresh: &no_trees(),
    };
    for dir in ["reftable", "refs/heads", "objects/info"] {
        files::make_private_dir(&place.join(dir))?;
    }
    let Some(git) = target.git else {
        return Ok(workspace.clone());
    };
    let write =
        |name: &Path, bytes: &[u8]| fs::write(place.join(name), bytes).doing(ErrorKind::Io, doing);
    write(Path::new("HEAD"), b"ref: refs/heads/.invalid\n")?;
    if let Some(row) = trees.find(&git.tree, b"config")?
        && row.kind == Entry::File
    {
        write(Path::new("config"), &trees.store.read(&row.id)?)?;
    }
    if let Some(dir) = trees.find(&git.tree, b"reftable")? {
        for row in trees.get(&dir.id)?.rows {
            if row.kind == Entry::File {
                let name = Path::new("reftable").join(OsStr::from_bytes(&row.name));
                write(&name, &trees.store.read(&row.id)?)?;
            }
        }
    }
    if let Some(common) = &workspace.common_dir {
        let mut objects = common.join("objects").as_os_str().as_bytes().to_vec();
        objects.push(b'\n');
        write(Path::new("objects/info/alternates"), &objects)?;
    }
    Ok(Workspace {
        root: place.to_path_buf(),
        kind: Kind::Bare,
        git_dir: Some(place.to_path_buf()),
        common_dir: Some(place.to_path_buf()),
        state: workspace.state.clone(),
    })
}
