//! What `reference-transaction` is told, and what the refs are at that moment.
//!
//! Git's old values cannot be trusted: zeros stand for "not checked" as well as
//! for "was not there" (`branch -D`, `update-ref REF NEW`, `HEAD` in a commit).
//! The ref still has its old value while the transaction is prepared, so it is
//! looked up: in the ref files here, through git for any other backend.

use crate::error::Result;
use crate::repo::{Git, Workspace};
use bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// One line of standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The value before, as git gives it.
    pub old: Value,
    /// The value after.
    pub new: Value,
    /// The full name.
    pub name: BString,
}

/// A value of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// All zeros: not there, or not checked.
    Zero,
    /// An object, as hex.
    Object(String),
    /// Another ref.
    Symbolic(BString),
}

impl Value {
    fn parse(word: &[u8]) -> Self {
        if let Some(target) = word.strip_prefix(b"ref:") {
            Self::Symbolic(target.into())
        } else if word.iter().all(|byte| *byte == b'0') {
            Self::Zero
        } else {
            Self::Object(String::from_utf8_lossy(word).into_owned())
        }
    }
}

/// Reads what git wrote; a line that is not understood is left out by its form only.
#[must_use]
pub fn parse(input: &[u8]) -> Vec<Update> {
    input
        .lines()
        .filter_map(|line| {
            let (old, rest) = line.split_once_str(" ")?;
            let (new, name) = rest.split_once_str(" ")?;
            Some(Update {
                old: Value::parse(old),
                new: Value::parse(new),
                name: name.into(),
            })
        })
        .collect()
}

/// Returns true for a ref whose moves cost nobody anything: remote-tracking
/// refs, and git's own notes of where it is.
#[must_use]
pub fn is_indifferent(name: &[u8]) -> bool {
    const PREFIXES: &[&[u8]] = &[
        b"refs/remotes/",
        b"refs/bisect/",
        b"refs/rewritten/",
        b"refs/worktree/",
        b"refs/prefetch/",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || (name != b"HEAD" && !name.contains(&b'/'))
}

/// The object that a ref names now, through symbolic refs; `None` when it is not there.
///
/// # Errors
/// When git has to be asked and does not answer.
pub fn current(workspace: &Workspace, name: &BStr) -> Result<Option<String>> {
    if let Some(dirs) = FileRefs::of(workspace) {
        return Ok(dirs.current(name));
    }
    let answer = Git::at(workspace)
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(OsStr::from_bytes(name))
        .output()?;
    let oid = answer.stdout.trim();
    Ok((answer.status == Some(0) && !oid.is_empty())
        .then(|| String::from_utf8_lossy(oid).into_owned()))
}

/// The branch that HEAD stands on; `None` when it names a commit itself.
///
/// # Errors
/// When git has to be asked and does not answer.
pub fn branch(workspace: &Workspace) -> Result<Option<BString>> {
    if let Some(refs) = FileRefs::of(workspace) {
        let head = crate::sys::files::read(refs.own.join("HEAD")).unwrap_or_default();
        return Ok(head
            .strip_prefix(b"ref:")
            .map(|target| BString::from(target.trim())));
    }
    let answer = Git::at(workspace)
        .args(["symbolic-ref", "--quiet", "HEAD"])
        .output()?;
    let name = answer.stdout.trim();
    Ok((answer.status == Some(0) && !name.is_empty()).then(|| name.into()))
}

/// The refs of a repository that keeps them in files.
#[derive(Clone, Debug)]
pub struct FileRefs {
    own: PathBuf,
    common: PathBuf,
}

impl FileRefs {
    fn of(workspace: &Workspace) -> Option<Self> {
        Self::with(workspace.git_dir.clone()?, workspace.common_dir.clone()?)
    }

    /// The refs of the git directory that a hook was given; `None` for another backend.
    #[must_use]
    pub fn at(git_dir: &Path) -> Option<Self> {
        let common = match crate::sys::files::read(git_dir.join("commondir")) {
            Ok(bytes) => git_dir.join(OsStr::from_bytes(bytes.trim())),
            Err(_) => git_dir.to_path_buf(),
        };
        Self::with(git_dir.to_path_buf(), common)
    }

    fn with(own: PathBuf, common: PathBuf) -> Option<Self> {
        (!common.join("reftable").is_dir()).then_some(Self { own, common })
    }

    /// The object that a ref names now, through symbolic refs; `None` when it is not there.
    #[must_use]
    pub fn current(&self, name: &BStr) -> Option<String> {
        self.resolve(name, 5)
    }

    /// Returns true where a deletion only drops the loose copy of a packed ref (`pack-refs`, `gc`).
    ///
    /// A real deletion holds `packed-refs.lock` while it is prepared.
    #[must_use]
    pub fn is_prune(&self, update: &Update) -> bool {
        let (Value::Object(old), Value::Zero) = (&update.old, &update.new) else {
            return false;
        };
        !self.common.join("packed-refs.lock").exists()
            && self.packed(update.name.as_ref()).as_deref() == Some(old)
    }

    fn resolve(&self, name: &BStr, depth: u8) -> Option<String> {
        let relative = Path::new(OsStr::from_bytes(name));
        let dir = if name.starts_with(b"refs/") && !name.starts_with(b"refs/worktree/") {
            &self.common
        } else {
            &self.own
        };
        match crate::sys::files::read(dir.join(relative)) {
            Ok(bytes) => match bytes.strip_prefix(b"ref:") {
                Some(target) if depth > 0 => self.resolve(target.trim().as_bstr(), depth - 1),
                Some(_) => None,
                None => Some(String::from_utf8_lossy(bytes.trim()).into_owned()),
            },
            Err(_) => self.packed(name),
        }
    }

    /// Looks a ref up in `packed-refs`, which git writes sorted by name.
    fn packed(&self, name: &BStr) -> Option<String> {
        let mut file = fs::File::open(self.common.join("packed-refs")).ok()?;
        let length = file.metadata().ok()?.len();
        let mut head = [0; 64];
        let read = file.read(&mut head).ok()?;
        let sorted = head.get(..read)?.lines().next()?.contains_str("sorted");
        let bytes = if sorted && length > 1 << 16 {
            near(&mut file, length, name)?
        } else {
            file.rewind().ok()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).ok()?;
            bytes
        };
        bytes.lines().find_map(|line| {
            let (oid, found) = line.split_once_str(" ")?;
            (found == name.as_bytes() && !oid.starts_with(b"#"))
                .then(|| String::from_utf8_lossy(oid).into_owned())
        })
    }
}

/// Reads the part of a large sorted file that holds `name`, by halving.
fn near(file: &mut fs::File, length: u64, name: &BStr) -> Option<Vec<u8>> {
    const PART: u64 = 1 << 12;
    let mut part = vec![0; usize::try_from(PART).ok()? * 2];
    let (mut low, mut high) = (0, length);
    while high - low > PART {
        let middle = low + (high - low) / 2;
        let found = read_at(file, middle, &mut part)?;
        // From the first line that begins in the part and names a ref.
        let first = found
            .lines()
            .skip(1)
            .find(|line| !line.starts_with(b"^") && line.contains(&b' '))
            .and_then(|line| line.split_once_str(" "));
        match first {
            Some((_, at)) if at <= name.as_bytes() => low = middle,
            _ => high = middle,
        }
    }
    let from = low.saturating_sub(PART / 8);
    let mut window = vec![0; usize::try_from(high - from + PART).ok()?];
    Some(read_at(file, from, &mut window)?.to_vec())
}

fn read_at<'b>(file: &mut fs::File, at: u64, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest).ok()? {
            0 => break,
            count => filled += count,
        }
    }
    buffer.get(..filled)
}

#[cfg(test)]
mod tests {
    use super::{FileRefs, Value, is_indifferent, parse};
    use bstr::BString;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    #[test]
    fn lines_are_read_with_names_as_bytes() {
        let input = b"0000000000000000000000000000000000000000 1111111111111111111111111111111111111111 refs/heads/\xffx\nref:refs/heads/a ref:refs/heads/b HEAD\n";
        let updates = parse(input);
        assert_eq!(updates.len(), 2);
        let first = updates.first().expect("two lines");
        assert_eq!(first.old, Value::Zero);
        assert_eq!(first.name, BString::from(&b"refs/heads/\xffx"[..]));
        let second = updates.get(1).expect("two lines");
        assert_eq!(second.new, Value::Symbolic("refs/heads/b".into()));
    }

    #[test]
    fn only_refs_that_hold_somebody_s_work_matter() {
        for (name, indifferent) in [
            ("refs/remotes/origin/main", true),
            ("ORIG_HEAD", true),
            ("AUTO_MERGE", true),
            ("HEAD", false),
            ("refs/heads/main", false),
            ("refs/tags/v1", false),
            ("refs/stash", false),
            ("refs/notes/commits", false),
        ] {
            assert_eq!(is_indifferent(name.as_bytes()), indifferent, "{name}");
        }
    }

    #[test]
    fn every_ref_of_a_large_packed_file_is_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut text = String::from("# pack-refs with: peeled fully-peeled sorted \n");
        for at in 0..5_000 {
            let _ = writeln!(text, "{at:040x} refs/heads/topic-{at:05}");
            if at % 7 == 0 {
                let _ = writeln!(text, "^{at:040x}");
            }
        }
        fs::write(dir.path().join("packed-refs"), &text).expect("written");
        let refs = FileRefs {
            own: Path::new("/nowhere").to_path_buf(),
            common: dir.path().to_path_buf(),
        };
        for at in (0..5_000).step_by(13).chain([0, 1, 4_998, 4_999]) {
            let name = BString::from(format!("refs/heads/topic-{at:05}"));
            assert_eq!(refs.packed(name.as_ref()), Some(format!("{at:040x}")));
        }
        for absent in [
            "refs/heads/a",
            "refs/heads/topic-99999",
            "refs/heads/topic-00001x",
        ] {
            assert_eq!(refs.packed(absent.into()), None, "{absent}");
        }
    }
}
