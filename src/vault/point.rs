//! A safety point's own record: one JSON file, written last.

use super::cache::Root;
use super::id::ContentId;
use super::tree::Why;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::judge::Actor;
use crate::repo::{Kind, Workspace};
use crate::sys::files;
use bstr::{BStr, BString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fs;
use std::path::Path;

const VERSION: u32 = 1;

/// A safety point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafetyPoint {
    version: u32,
    /// Its name: a ULID; later points sort after earlier ones.
    pub id: String,
    /// When it was taken: RFC 3339, UTC, milliseconds.
    pub created: String,
    /// Why it was taken: a short word such as `manual` or `before-rollback`.
    pub reason: String,
    /// What the person or the caller said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Who acted.
    pub actor: Actor,
    /// The session in which it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The wrapped run in which it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The worktree's top.
    #[serde(with = "text")]
    pub worktree: BString,
    /// The shared git directory; empty where there was none.
    #[serde(with = "text", default)]
    pub git_dir: BString,
    /// This worktree's own part of the git directory, relative to it; empty for the main worktree.
    #[serde(with = "text", default)]
    pub(super) private: BString,
    /// True for a linked worktree, a submodule or a bare repository: `.git` is not a directory in it.
    #[serde(default)]
    pub(super) detached_git: bool,
    /// The commit that was checked out, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The branch that was checked out, full name.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "optional_text"
    )]
    pub branch: Option<BString>,
    /// How many paths differ from the point before.
    pub changed: usize,
    /// How many bytes the point added to the vault.
    pub bytes: u64,
    /// What it does not hold.
    pub not_held: Vec<NotHeld>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) work: Option<TreeRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<TreeRef>,
    /// When the index was last written, seconds and nanoseconds: git takes entries
    /// that are not older for racy, and must go on doing so after a rollback.
    #[serde(default)]
    pub(super) index_mtime: (i64, u32),
}

/// A path that a point does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotHeld {
    /// The path, relative to the worktree; of a git directory's file it starts with `.git/`.
    #[serde(with = "text")]
    pub path: BString,
    /// Why.
    pub why: Why,
    /// How many paths it stands for: more than one where the path is the directory of many.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

/// One tree of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeRef {
    /// Its top directory.
    pub(super) tree: ContentId,
    /// The top directory's permission bits.
    pub(super) mode: u32,
}

impl From<Root> for TreeRef {
    fn from(root: Root) -> Self {
        Self {
            tree: root.tree,
            mode: root.mode,
        }
    }
}

impl Serialize for TreeRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.tree.hex(), self.mode).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TreeRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (hex, mode) = <(String, u32)>::deserialize(deserializer)?;
        let tree = ContentId::from_hex(&hex)
            .ok_or_else(|| serde::de::Error::custom("a tree's id is 64 hex digits"))?;
        Ok(Self { tree, mode })
    }
}

/// What a point says of itself before its picture is known.
#[derive(Clone, Debug)]
pub(super) struct About<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) reason: &'a str,
    pub(super) message: Option<&'a str>,
    pub(super) actor: &'a Actor,
    pub(super) session: Option<&'a str>,
    pub(super) run: Option<&'a str>,
}

impl SafetyPoint {
    /// Starts a record; the picture is filled in by the caller.
    pub(super) fn about(id: String, created: String, about: &About<'_>) -> Self {
        use std::os::unix::ffi::OsStrExt as _;
        let bytes = |path: &Path| BString::from(path.as_os_str().as_bytes());
        let workspace = about.workspace;
        let private = match (&workspace.git_dir, &workspace.common_dir) {
            (Some(own), Some(common)) => own.strip_prefix(common).map(bytes).unwrap_or_default(),
            _ => BString::default(),
        };
        Self {
            version: VERSION,
            id,
            created,
            reason: about.reason.to_owned(),
            message: about.message.map(str::to_owned),
            actor: about.actor.clone(),
            session: about.session.map(str::to_owned),
            run: about.run.map(str::to_owned),
            worktree: bytes(&workspace.root),
            git_dir: workspace
                .common_dir
                .as_deref()
                .map(bytes)
                .unwrap_or_default(),
            private,
            detached_git: !matches!(workspace.kind, Kind::Main | Kind::Plain),
            head: None,
            branch: None,
            changed: 0,
            bytes: 0,
            not_held: Vec::new(),
            work: None,
            git: None,
            index_mtime: (1, 0),
        }
    }

    /// Returns true when the point is of the worktree at `root`.
    #[must_use]
    pub fn is_of(&self, workspace: &Workspace) -> bool {
        use std::os::unix::ffi::OsStrExt as _;
        self.worktree == workspace.root.as_os_str().as_bytes()
    }

    /// What is not held although nobody would expect it: unreadable, unsettled, too large.
    pub fn surprises(&self) -> impl Iterator<Item = &NotHeld> {
        self.not_held
            .iter()
            .filter(|gap| !matches!(gap.why, Why::BulkyIgnored | Why::LargeIgnored))
    }

    /// Reads a record; `None` when it is gone.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(None);
        };
        let doing = || format!("cannot read the safety point {}", path.display());
        let point: Self = serde_json::from_slice(&bytes).doing(ErrorKind::Damaged, doing)?;
        if point.version > VERSION {
            return Err(Error::new(ErrorKind::Damaged, doing())
                .because("it was written by a newer holdpoint")
                .hint("use that version"));
        }
        Ok(Some(point))
    }

    /// The same; a record that is damaged counts as gone, and so hides no other.
    pub(super) fn read_sound(path: &Path) -> Result<Option<Self>> {
        match Self::read(path) {
            Err(error) if error.kind() == ErrorKind::Damaged => Ok(None),
            read => read,
        }
    }

    /// Writes the record; the point is there when it is given its name.
    pub(super) fn stage(&self, dir: &Path) -> Result<files::Staged> {
        let mut json = serde_json::to_vec_pretty(self).doing(ErrorKind::Internal, || {
            "cannot write a safety point as JSON".to_owned()
        })?;
        json.push(b'\n');
        let path = dir.join(format!("{}.json", self.id));
        files::stage(&path, &json, 0o600)
    }
}

/// The ids of all points in `dir`, oldest first.
pub(super) fn ids(dir: &Path) -> Result<Vec<String>> {
    let doing = || format!("cannot list {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).doing(ErrorKind::Io, doing),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.doing(ErrorKind::Io, doing)?.file_name();
        if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")) {
            ids.push(id.to_owned());
        }
    }
    ids.sort_unstable();
    Ok(ids)
}

/// Bytes as text where they are UTF-8, else as a list of numbers.
pub(super) mod text {
    use super::{BStr, BString, Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(in crate::vault) fn serialize<S: Serializer>(
        bytes: &BString,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes: &BStr = bytes.as_ref();
        match std::str::from_utf8(bytes) {
            Ok(text) => text.serialize(serializer),
            Err(_) => bytes.to_vec().serialize(serializer),
        }
    }

    pub(in crate::vault) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BString, D::Error> {
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => text.into(),
            Either::Bytes(bytes) => bytes.into(),
        })
    }
}

/// The same for what may be absent.
mod optional_text {
    use super::{BString, Deserialize, Deserializer, Serialize, Serializer, text};

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "text")] BString);

    #[expect(clippy::ref_option, reason = "serde passes the field as it is")]
    pub(super) fn serialize<S: Serializer>(
        bytes: &Option<BString>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        bytes.clone().map(Wrapped).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<BString>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
    }
}
