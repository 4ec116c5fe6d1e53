//! The note of what an installation found and did, kept outside the repository.
//!
//! It is written before anything is touched, so that an interrupted
//! installation can be finished or taken back.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::files::{self, Durability};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The format of the note.
const VERSION: u32 = 1;

/// How the hooks were put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A file an event in the hooks directory.
    Files,
    /// Hooks named in git's configuration.
    Config,
}

/// What one installation found and did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The format's version.
    pub version: u32,
    /// How.
    pub mode: Mode,
    /// The program that the hooks call.
    #[serde(with = "path_text")]
    pub program: PathBuf,
    /// The directories that were made for hooks, to be removed when empty.
    #[serde(with = "paths_text", default)]
    pub made_dirs: Vec<PathBuf>,
    /// Hook files put in, oldest first.
    #[serde(default)]
    pub hooks: Vec<HookReceipt>,
    /// Configuration files changed, oldest first.
    #[serde(default)]
    pub configs: Vec<ConfigReceipt>,
}

/// One hook file put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReceipt {
    /// Where it was put.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Where the hook that was there before was moved to; `None` when there was none.
    #[serde(with = "optional_path_text", default)]
    pub prior: Option<PathBuf>,
    /// Hex SHA-256 of the bytes before, or of the target of a link; empty when there was none.
    #[serde(default)]
    pub before: String,
    /// Permission bits before.
    #[serde(default)]
    pub mode: u32,
}

/// One configuration file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigReceipt {
    /// Which file.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The text that was appended.
    pub added: String,
    /// False when the file was made for it.
    pub existed: bool,
    /// Hex SHA-256 of the whole file before.
    pub before: String,
    /// Hex SHA-256 of the whole file after.
    pub after: String,
}

impl Receipt {
    /// Starts an empty note.
    #[must_use]
    pub fn new(mode: Mode, program: PathBuf) -> Self {
        Self {
            version: VERSION,
            mode,
            program,
            made_dirs: Vec::new(),
            hooks: Vec::new(),
            configs: Vec::new(),
        }
    }

    /// Reads the note; `None` when nothing is installed.
    ///
    /// # Errors
    /// When it cannot be read or is of a later version.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(None);
        };
        let receipt: Self = serde_json::from_slice(&bytes).doing(ErrorKind::Damaged, || {
            format!("cannot understand the install note {}", path.display())
        })?;
        if receipt.version > VERSION {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!(
                    "the install note {} is of version {}, this holdpoint knows {VERSION}",
                    path.display(),
                    receipt.version
                ),
            )
            .hint("use the holdpoint that installed the hooks, or a later one"));
        }
        Ok(Some(receipt))
    }

    /// Writes the note.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        if let Some(dir) = path.parent() {
            files::make_private_dir(dir)?;
        }
        let mut bytes = serde_json::to_vec_pretty(self).doing(ErrorKind::Internal, || {
            "cannot word the install note".to_owned()
        })?;
        bytes.push(b'\n');
        files::replace(path, &bytes, 0o600, Durability::Synced)
    }

    /// The newest note about a hook file.
    #[must_use]
    pub fn hook(&self, path: &Path) -> Option<&HookReceipt> {
        self.hooks.iter().rev().find(|hook| hook.path == path)
    }
}

/// Paths as text where they are UTF-8, else as their bytes.
pub(in crate::repo) mod path_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    #[derive(Deserialize)]
    #[serde(untagged)]
    pub(super) enum Either {
        Text(String),
        Bytes(Vec<u8>),
    }

    impl From<Either> for PathBuf {
        fn from(either: Either) -> Self {
            match either {
                Either::Text(text) => Self::from(text),
                Either::Bytes(bytes) => Self::from(OsString::from_vec(bytes)),
            }
        }
    }

    pub(in crate::repo) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => to.serialize_str(text),
            None => to.collect_seq(path.as_os_str().as_bytes()),
        }
    }

    pub(in crate::repo) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<PathBuf, D::Error> {
        Either::deserialize(from).map(PathBuf::from)
    }
}

pub(in crate::repo) mod optional_path_text {
    use super::path_text::{self, Either};
    use serde::{Deserialize, Deserializer, Serializer};
    use std::path::PathBuf;

    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub(in crate::repo) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match path {
            Some(path) => path_text::serialize(path, to),
            None => to.serialize_none(),
        }
    }

    pub(in crate::repo) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Option::<Either>::deserialize(from).map(|path| path.map(PathBuf::from))
    }
}

mod paths_text {
    use super::path_text::Either;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::PathBuf;

    #[derive(Serialize)]
    #[serde(transparent)]
    struct One<'a>(#[serde(with = "super::path_text")] &'a std::path::Path);

    #[expect(clippy::ptr_arg, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(paths: &Vec<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| One(path)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<Either>::deserialize(from)?;
        Ok(paths.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{HookReceipt, Mode, Receipt};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;

    #[test]
    fn a_receipt_keeps_paths_that_are_not_text() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/tmp/\xff hooks/pre-commit"));
        let mut receipt = Receipt::new(Mode::Files, PathBuf::from("/usr/bin/holdpoint-hook"));
        receipt.made_dirs.push(odd.clone());
        receipt.hooks.push(HookReceipt {
            path: odd.clone(),
            prior: Some(odd),
            before: "00".to_owned(),
            mode: 0o755,
        });
        let text = serde_json::to_string(&receipt).expect("a receipt is plain data");
        let read: Receipt = serde_json::from_str(&text).expect("what was written is read");
        assert_eq!(read, receipt);
    }
}
