//! What a commit would change: the index against `HEAD`, path by path.
//!
//! The common repository (SHA-1, ref files) is read in this process, because
//! the pre-commit hook's time is the product: the cache tree in the index names
//! the directories that did not change, so only the others are looked at. Any
//! other repository, and any surprise on the way, goes to git's plumbing.

use super::{Git, Workspace};
use crate::error::{Error, ErrorKind, Result};
use crate::judge::{AddedLine, ChangeOp, PathChange};
use crate::sys::files;
use bstr::{BStr, BString, ByteSlice as _};
use gix_index::entry::{Flags, Mode, Stage};
use gix_index::extension::Tree;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Largest blob, in bytes, in which added lines are looked for.
const MAX_SCANNED: usize = 16 << 20;

/// Returns what the index at `index` changes against `HEAD`, sorted by path.
///
/// During a merge, a path that is as one of the merged commits has it is left
/// out: it was judged when it was committed. `merging` names those commits where
/// git has not written `MERGE_HEAD` yet, as in `pre-merge-commit`.
///
/// # Errors
/// When neither we nor git can read the index or `HEAD`.
pub fn staged(workspace: &Workspace, index: &Path, merging: &[String]) -> Result<Vec<PathChange>> {
    let changes = match read(index).and_then(|state| in_process(workspace, &state)) {
        Some(changes) => changes,
        None => against(workspace, index, None)?,
    };
    not_merged(workspace, index, merging, changes)
}

/// The same for a worktree's own index, which is in memory already.
pub(super) fn staged_in(
    workspace: &Workspace,
    state: &gix_index::State,
) -> Result<Vec<PathChange>> {
    let index = own_index(workspace)?;
    let changes = match in_process(workspace, state) {
        Some(changes) => changes,
        None => against(workspace, &index, None)?,
    };
    not_merged(workspace, &index, &[], changes)
}

fn read(index: &Path) -> Option<gix_index::File> {
    gix_index::File::at(
        index,
        gix_hash::Kind::Sha1,
        true,
        gix_index::decode::Options {
            thread_limit: Some(1),
            ..Default::default()
        },
    )
    .ok()
}

/// Returns what a range of commits changed, sorted by path.
///
/// # Errors
/// When it is no range of two commits that git knows.
pub fn between(workspace: &Workspace, range: &str) -> Result<Vec<PathChange>> {
    if !range.contains("..") || range.starts_with('-') {
        return Err(
            Error::new(ErrorKind::Usage, format!("{range} is no range of commits"))
                .hint("name two of them: holdpoint check range main..HEAD"),
        );
    }
    let raw = Git::at(workspace)
        .args(["diff", "--raw", "-z", "-M", "--no-abbrev"])
        .args(["--no-ext-diff", "--ignore-submodules=none"])
        .arg(range)
        .arg("--")
        .read()?;
    parse_raw(&raw)
}

/// Fills in the lines that each change adds, as bytes, line ends removed.
///
/// A line counts as added when the new content has it more often than the old one,
/// so that moved lines are not added ones.
///
/// # Errors
/// When git cannot give a blob.
pub fn add_lines(workspace: &Workspace, changes: &mut [PathChange]) -> Result<()> {
    let mut wanted = Vec::new();
    for change in changes.iter() {
        for id in [&change.before, &change.after] {
            if !id.is_empty() && !is_gitlink(change) {
                wanted.push(id.clone());
            }
        }
    }
    wanted.sort();
    wanted.dedup();
    let blobs = blobs(workspace, &wanted)?;
    for change in changes.iter_mut().filter(|change| !is_gitlink(change)) {
        let Some(after) = blobs.get(&change.after) else {
            continue;
        };
        let before = blobs.get(&change.before).map_or(&[][..], Vec::as_slice);
        change.added = added_lines(before, after);
    }
    Ok(())
}

fn is_gitlink(change: &PathChange) -> bool {
    change.mode_after == "160000" || change.mode_before == "160000"
}

fn added_lines(before: &[u8], after: &[u8]) -> Vec<AddedLine> {
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for line in before.lines() {
        *known.entry(line).or_default() += 1;
    }
    let mut added = Vec::new();
    for (at, line) in after.lines().enumerate() {
        match known.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => added.push(AddedLine {
                number: at as u64 + 1,
                text: line.into(),
            }),
        }
    }
    added
}

/// Reads blobs with one `cat-file --batch`; the ones above [`MAX_SCANNED`] are left out.
fn blobs(workspace: &Workspace, ids: &[String]) -> Result<HashMap<String, Vec<u8>>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let answer = Git::at(workspace)
        .args(["cat-file", "--batch"])
        .input(ids.join("\n").into_bytes())
        .read()?;
    let damaged = || {
        Error::new(
            ErrorKind::Repository,
            "cannot read what git cat-file answered",
        )
    };
    let mut blobs = HashMap::new();
    let mut rest = answer.as_slice();
    while !rest.is_empty() {
        let (header, after) = rest.split_once_str("\n").ok_or_else(damaged)?;
        let mut words = header.fields();
        let id = words
            .next()
            .ok_or_else(damaged)?
            .to_str_lossy()
            .into_owned();
        let size = match (words.next(), words.next()) {
            (Some(_), Some(size)) => size
                .to_str()
                .ok()
                .and_then(|size| size.parse::<usize>().ok())
                .ok_or_else(damaged)?,
            _ => {
                return Err(
                    Error::new(ErrorKind::Repository, format!("git has no object {id}"))
                        .hint("check the repository: git fsck"),
                );
            }
        };
        let bytes = after.get(..size).ok_or_else(damaged)?;
        if size <= MAX_SCANNED {
            blobs.insert(id, bytes.to_vec());
        }
        rest = after.get(size + 1..).ok_or_else(damaged)?;
    }
    Ok(blobs)
}

/// Drops what is as a commit that is being merged has it.
fn not_merged(
    workspace: &Workspace,
    index: &Path,
    merging: &[String],
    changes: Vec<PathChange>,
) -> Result<Vec<PathChange>> {
    let Some(git_dir) = &workspace.git_dir else {
        return Ok(changes);
    };
    let written = files::read_if_there(&git_dir.join("MERGE_HEAD"))?.unwrap_or_default();
    let heads = written
        .lines()
        .filter(|line| !line.is_empty())
        .map(BStr::new)
        .chain(merging.iter().map(|id| id.as_bytes().as_bstr()));
    let mut kept = changes;
    for head in heads {
        let new: BTreeSet<BString> = against(workspace, index, Some(head))?
            .into_iter()
            .map(|change| change.path)
            .collect();
        kept.retain(|change| new.contains(&change.path));
    }
    Ok(kept)
}

/// Asks git: the index against `HEAD`, or against another commit.
fn against(workspace: &Workspace, index: &Path, commit: Option<&BStr>) -> Result<Vec<PathChange>> {
    let unborn = commit.is_none() && is_unborn(workspace)?;
    let base = if unborn {
        let id = Git::at(workspace)
            .args(["hash-object", "-t", "tree", "--stdin"])
            .read()?;
        String::from_utf8_lossy(id.trim()).into_owned()
    } else {
        commit.map_or_else(|| "HEAD".to_owned(), ToString::to_string)
    };
    let raw = Git::at(workspace)
        .env("GIT_INDEX_FILE", index)
        .args(["diff-index", "--cached", "--raw", "-z", "-M", "--no-abbrev"])
        .args([
            "--no-ext-diff",
            "--ignore-submodules=none",
            "--ita-invisible-in-index",
        ])
        .arg(base)
        .arg("--")
        .read()?;
    parse_raw(&raw)
}

/// Whether the branch has no commit yet; one whose file is there and says nothing is an error.
fn is_unborn(workspace: &Workspace) -> Result<bool> {
    let head = Git::at(workspace)
        .args(["rev-parse", "-q", "--verify", "HEAD"])
        .output()?;
    if head.status == Some(0) {
        return Ok(false);
    }
    let branch = Git::at(workspace)
        .args(["symbolic-ref", "-q", "HEAD"])
        .output()?
        .stdout;
    let path = workspace
        .common_dir
        .as_ref()
        .map(|common| common.join(std::ffi::OsStr::from_bytes(branch.trim())));
    if branch.trim().is_empty() || path.is_some_and(|path| path.is_file()) {
        return Err(
            Error::new(ErrorKind::Repository, "cannot tell which commit HEAD is on")
                .hint("git fsck"),
        );
    }
    Ok(true)
}

/// Reads `git diff-index --raw -z --no-abbrev`.
fn parse_raw(raw: &[u8]) -> Result<Vec<PathChange>> {
    let damaged = || {
        Error::new(
            ErrorKind::Repository,
            "cannot read what git diff-index answered",
        )
    };
    let name = |part: Option<&[u8]>| {
        part.filter(|part| !part.is_empty())
            .map(BString::from)
            .ok_or_else(damaged)
    };
    let mut parts = raw.split_str("\0");
    let mut changes = Vec::new();
    while let Some(head) = parts.next().filter(|part| !part.is_empty()) {
        let words: Vec<&[u8]> = head.trim_start_with(|c| c == ':').fields().collect();
        let [mode_before, mode_after, before, after, status] = words[..] else {
            return Err(damaged());
        };
        let path = name(parts.next())?;
        let text = |bytes: &[u8]| bytes.to_str_lossy().into_owned();
        let id = |bytes: &[u8]| {
            if bytes.iter().all(|&b| b == b'0') {
                String::new()
            } else {
                text(bytes)
            }
        };
        let mode = |bytes: &[u8]| {
            if bytes == b"000000" {
                String::new()
            } else {
                text(bytes)
            }
        };
        let (op, path) = match status.first() {
            Some(b'A') => (ChangeOp::Create, path),
            Some(b'D') => (ChangeOp::Delete, path),
            Some(b'R') => {
                let to = name(parts.next())?;
                (ChangeOp::Rename { from: path }, to)
            }
            Some(_) => (ChangeOp::Modify, path),
            None => return Err(damaged()),
        };
        changes.push(PathChange {
            path,
            op,
            before: id(before),
            after: id(after),
            mode_before: mode(mode_before),
            mode_after: mode(mode_after),
            added: Vec::new(),
        });
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// One path's mode and object id on one side.
type Side = (u32, git2::Oid);

/// Compares without starting git; `None` wherever that might not be right.
fn in_process(workspace: &Workspace, state: &gix_index::State) -> Option<Vec<PathChange>> {
    let common = workspace.common_dir.as_deref()?;
    if !is_plain_format(common) {
        return None;
    }
    let objects = Objects::open(common)?;
    let head = head_tree(workspace, common, &objects)?;
    let mut found = BTreeMap::new();
    let walk = Walk {
        objects: &objects,
        index: state,
    };
    walk.compare(head, state.entries(), state.tree(), b"", &mut found)?;
    let creates = found.values().any(|(before, _)| before.is_none());
    let deletes = found.values().any(|(_, after)| after.is_none());
    // Finding renames is git's own art.
    if creates && deletes {
        return None;
    }
    Some(
        found
            .into_iter()
            .map(|(path, sides)| change(path, sides))
            .collect(),
    )
}

fn change(path: BString, (before, after): (Option<Side>, Option<Side>)) -> PathChange {
    let id = |side: Option<Side>| side.map(|(_, id)| id.to_string()).unwrap_or_default();
    let mode = |side: Option<Side>| {
        side.map(|(mode, _)| format!("{mode:06o}"))
            .unwrap_or_default()
    };
    PathChange {
        path,
        op: match (before, after) {
            (None, _) => ChangeOp::Create,
            (_, None) => ChangeOp::Delete,
            _ => ChangeOp::Modify,
        },
        before: id(before),
        after: id(after),
        mode_before: mode(before),
        mode_after: mode(after),
        added: Vec::new(),
    }
}

/// Returns true for a repository whose format we read: SHA-1 objects, ref files, no replaced objects.
pub(super) fn is_plain_format(common: &Path) -> bool {
    let Ok(config) = files::read(common.join("config")) else {
        return false;
    };
    let config = config.to_ascii_lowercase();
    !config.contains_str("[extensions")
        && !config.contains_str("[include")
        && !common.join("refs/replace").exists()
        && !common.join("info/grafts").exists()
}

/// The object database, opened without its repository.
struct Objects {
    dir: PathBuf,
    packed: git2::Odb<'static>,
}

impl Objects {
    fn open(common: &Path) -> Option<Self> {
        // Git does not hash again what it reads either; `fsck` does.
        git2::opts::strict_hash_verification(false);
        let odb = git2::Odb::new().ok()?;
        let dir = common.join("objects");
        odb.add_disk_alternate(dir.to_str()?).ok()?;
        Some(Self { dir, packed: odb })
    }

    fn read(&self, id: git2::Oid, kind: git2::ObjectType) -> Option<Vec<u8>> {
        let name = id.to_string();
        let (first, rest) = name.split_at_checked(2)?;
        let path = self.dir.join(first).join(rest);
        if path.exists() {
            // From one that is cut short libgit2 never comes back.
            return loose(&path, kind);
        }
        let object = self.packed.read(id).ok()?;
        (object.kind() == kind).then(|| object.data().to_vec())
    }

    /// The entries of a tree object.
    fn tree(&self, id: git2::Oid) -> Option<Vec<(BString, Side)>> {
        let bytes = self.read(id, git2::ObjectType::Tree)?;
        let mut entries = Vec::new();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (mode, after) = rest.split_once_str(" ")?;
            let (name, after) = after.split_once_str("\0")?;
            let id = git2::Oid::from_bytes(after.get(..20)?).ok()?;
            let mode = u32::from_str_radix(mode.to_str().ok()?, 8).ok()?;
            entries.push((name.into(), (mode, id)));
            rest = after.get(20..)?;
        }
        Some(entries)
    }
}

/// The content of a loose object; `None` where it is damaged or of another kind.
fn loose(path: &Path, kind: git2::ObjectType) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(files::open(path).ok()?)
        .read_to_end(&mut bytes)
        .ok()?;
    let end = bytes.find_byte(0)?;
    let header = bytes.get(..end)?;
    let content = bytes.get(end + 1..)?.to_vec();
    (header == format!("{} {}", kind.str(), content.len()).as_bytes()).then_some(content)
}

/// The tree of `HEAD`; `Some(None)` on an unborn branch, `None` when it cannot be told.
#[allow(clippy::option_option, reason = "unborn and unknown are two things")]
fn head_tree(workspace: &Workspace, common: &Path, objects: &Objects) -> Option<Option<git2::Oid>> {
    let head = files::read(workspace.git_dir.as_deref()?.join("HEAD")).ok()?;
    let commit = match head.trim_end().strip_prefix(b"ref: ") {
        None => Some(head.trim_end().to_vec()),
        Some(name) => resolve(common, name.as_bstr())?,
    };
    let Some(commit) = commit else {
        return Some(None);
    };
    let id = git2::Oid::from_str(commit.to_str().ok()?).ok()?;
    let bytes = objects.read(id, git2::ObjectType::Commit)?;
    let tree = bytes.strip_prefix(b"tree ")?.get(..40)?;
    Some(Some(git2::Oid::from_str(tree.to_str().ok()?).ok()?))
}

/// The id that a branch names; `Some(None)` when there is no such branch yet.
#[allow(clippy::option_option, reason = "absent and unknown are two things")]
fn resolve(common: &Path, name: &BStr) -> Option<Option<Vec<u8>>> {
    let path: PathBuf = common.join(name.to_path().ok()?);
    match files::read(&path) {
        Ok(bytes) if bytes.starts_with(b"ref:") => None,
        Ok(bytes) => Some(Some(bytes.trim_end().to_vec())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let packed = files::read_if_there(&common.join("packed-refs")).ok()?;
            Some(packed.and_then(|packed| {
                packed.lines().find_map(|line| {
                    let (id, rest) = line.split_once_str(" ")?;
                    (rest == name.as_bytes()).then(|| id.to_vec())
                })
            }))
        }
        Err(_) => None,
    }
}

struct Walk<'a> {
    objects: &'a Objects,
    index: &'a gix_index::State,
}

type Found = BTreeMap<BString, (Option<Side>, Option<Side>)>;

impl Walk<'_> {
    /// Compares one directory: its tree in `HEAD`, its entries in the index.
    fn compare(
        &self,
        head: Option<git2::Oid>,
        entries: &[gix_index::Entry],
        cached: Option<&Tree>,
        prefix: &[u8],
        found: &mut Found,
    ) -> Option<()> {
        let valid = cached.filter(|tree| {
            tree.num_entries
                .is_some_and(|n| n as usize == entries.len())
        });
        if let (Some(tree), Some(head)) = (valid, head)
            && tree.id.as_slice() == head.as_bytes()
        {
            return Some(());
        }
        let mut before: BTreeMap<BString, Side> = match head {
            Some(id) => self.objects.tree(id)?.into_iter().collect(),
            None => BTreeMap::new(),
        };
        let mut at = 0;
        while let Some(entry) = entries.get(at) {
            let path = entry.path(self.index);
            let below = path.get(prefix.len()..)?;
            if let Some(slash) = below.find_byte(b'/') {
                // A sparse index's directory entry ends with the slash.
                if slash + 1 == below.len() {
                    return None;
                }
                let name = below.get(..slash)?;
                let inside = path.get(..=prefix.len() + slash)?;
                let count = entries
                    .get(at..)?
                    .partition_point(|entry| entry.path(self.index).starts_with(inside));
                let tree = match before.get(name.as_bstr()) {
                    Some((0o40_000, id)) => {
                        let id = *id;
                        before.remove(name.as_bstr());
                        Some(id)
                    }
                    _ => None,
                };
                let child = cached.and_then(|tree| {
                    tree.children
                        .iter()
                        .find(|child| child.name.as_slice() == name)
                });
                self.compare(tree, entries.get(at..at + count)?, child, inside, found)?;
                at += count;
                continue;
            }
            at += 1;
            if entry.stage() != Stage::Unconflicted || entry.mode == Mode::DIR {
                return None;
            }
            if entry.flags.contains(Flags::INTENT_TO_ADD) {
                continue;
            }
            let new = (
                entry.mode.bits(),
                git2::Oid::from_bytes(entry.id.as_slice()).ok()?,
            );
            let old = match before.get(below.as_bstr()) {
                Some((0o40_000, _)) | None => None,
                Some(_) => before.remove(below.as_bstr()),
            };
            if old != Some(new) {
                found.insert(path.to_owned(), (old, Some(new)));
            }
        }
        for (name, side) in before {
            let mut path = BString::from(prefix);
            path.extend_from_slice(&name);
            if side.0 == 0o40_000 {
                path.push(b'/');
                self.compare(Some(side.1), &[], None, &path, found)?;
            } else {
                found.insert(path, (Some(side), None));
            }
        }
        Some(())
    }
}

/// The index that git is committing: `GIT_INDEX_FILE` where git exported it, else the worktree's own.
///
/// # Errors
/// When the workspace has no git directory.
pub fn index_path(env: &crate::sys::env::Env, workspace: &Workspace) -> Result<PathBuf> {
    match env.var("GIT_INDEX_FILE") {
        Some(path) => Ok(env.cwd().join(path)),
        None => own_index(workspace),
    }
}

fn own_index(workspace: &Workspace) -> Result<PathBuf> {
    workspace
        .git_dir
        .as_ref()
        .map(|dir| dir.join("index"))
        .ok_or_else(|| {
            Error::new(
                ErrorKind::Repository,
                format!("{} has no .git any more", workspace.root.display()),
            )
            .hint("put it back: holdpoint rollback")
        })
}

#[cfg(test)]
mod tests;
