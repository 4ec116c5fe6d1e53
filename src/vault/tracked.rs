//! Which paths git tracks, read from the raw index: names only.
//!
//! Only asked where an ignored directory or a large ignored file turns up, since
//! git does not ignore what it tracks. Reads versions 2 to 4, both hash lengths
//! and split indexes, and needs to understand no extension but `link`.

use crate::sys::files;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The tracked paths of one repository.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    lists: Vec<Paths>,
    /// True when an index was there and could not be understood: everything may be tracked.
    unknown: bool,
}

/// Paths in order, one after another, and where each ends.
#[derive(Debug, Default)]
struct Paths {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Paths {
    fn get(&self, at: usize) -> &[u8] {
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.bytes.get(start..end(at)).unwrap_or_default()
    }

    /// The first place whose path is not before `path`.
    fn seek(&self, path: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle) < path {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Adds a path; `None` where it does not come in order, or there are too many.
    fn push(&mut self, path: &[u8]) -> Option<()> {
        let last = self.ends.len().checked_sub(1).map(|at| self.get(at));
        // The sides of a conflict share one path.
        if last.is_some_and(|last| last > path) {
            return None;
        }
        self.bytes.extend_from_slice(path);
        self.ends.push(u32::try_from(self.bytes.len()).ok()?);
        Some(())
    }
}

impl Tracked {
    /// Reads the index of a git directory.
    pub(super) fn read(git_dir: &Path) -> Self {
        let mut tracked = Self::default();
        let path = git_dir.join("index");
        if std::fs::symlink_metadata(&path).is_err() {
            return tracked;
        }
        let found = [20, 32]
            .into_iter()
            .find_map(|hash| Some((parse(&path, hash)?, hash)));
        let Some((found, hash)) = found else {
            tracked.unknown = true;
            return tracked;
        };
        if let Some(shared) = found.shared {
            let name = format!("sharedindex.{}", hex(&shared));
            match parse(&git_dir.join(name), hash) {
                Some(base) => tracked.lists.push(base.paths),
                None => tracked.unknown = true,
            }
        }
        tracked.lists.push(found.paths);
        tracked
    }

    /// Returns true when git tracks the file.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        let has = |paths: &Paths| paths.get(paths.seek(path)) == path;
        self.unknown || (!path.is_empty() && self.lists.iter().any(has))
    }

    /// Returns true when git tracks something below the directory.
    pub(super) fn any_under(&self, dir: &[u8]) -> bool {
        let mut prefix = dir.to_vec();
        prefix.push(b'/');
        let has = |paths: &Paths| paths.get(paths.seek(&prefix)).starts_with(&prefix);
        self.unknown || self.lists.iter().any(has)
    }
}

struct Found {
    paths: Paths,
    shared: Option<Vec<u8>>,
}

/// An index that is read from front to end, so that it is never in memory as a whole.
struct Source {
    file: BufReader<File>,
    at: u64,
    /// Where its checksum starts.
    end: u64,
}

impl Source {
    fn open(path: &Path, hash: u64) -> Option<Self> {
        let file = files::open(path).ok()?;
        let end = file.metadata().ok()?.len().checked_sub(hash)?;
        Some(Self {
            file: BufReader::with_capacity(1 << 16, file),
            at: 0,
            end,
        })
    }

    fn take(&mut self, out: &mut [u8]) -> Option<()> {
        self.at += out.len() as u64;
        if self.at > self.end {
            return None;
        }
        std::io::Read::read_exact(&mut self.file, out).ok()
    }

    fn number(&mut self) -> Option<u32> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Some(u32::from_be_bytes(bytes))
    }

    fn skip(&mut self, mut len: u64) -> Option<()> {
        let mut waste = [0; 512];
        while len > 0 {
            let part = len.min(waste.len() as u64);
            self.take(waste.split_at_mut(usize::try_from(part).ok()?).0)?;
            len -= part;
        }
        Some(())
    }

    /// Adds what comes before the next zero byte to `out`; the zero is read too.
    fn until_zero(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let read = self.file.read_until(0, out).ok()?;
        self.at += read as u64;
        (out.pop() == Some(0) && self.at <= self.end).then_some(())
    }
}

/// Reads names as gitformat-index(5) lays them out; `None` when they do not read so.
fn parse(path: &Path, hash: usize) -> Option<Found> {
    let mut source = Source::open(path, hash as u64)?;
    let mut signature = [0; 4];
    source.take(&mut signature)?;
    let version = source.number()?;
    if signature != *b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let count = source.number()?;
    // The least that an entry takes beside its name; an index of version 4 needs less room than that.
    let fixed = u64::from(count) * (40 + hash as u64 + 2 + 8);
    let room = source.end.saturating_sub(fixed);
    let mut paths = Paths {
        bytes: Vec::with_capacity(usize::try_from(room).ok()?),
        ends: Vec::with_capacity(usize::try_from(u64::from(count).min(source.end / 8)).ok()?),
    };
    let mut path: Vec<u8> = Vec::new();
    let mut entry = vec![0; 40 + hash + 2];
    for _ in 0..count {
        let start = source.at;
        source.take(&mut entry)?;
        let mode = u32::from_be_bytes(entry.get(24..28)?.try_into().ok()?);
        // A wrong hash length shows at once: no file has such a mode.
        if ![
            0o100_644, 0o100_755, 0o120_000, 0o160_000, 0o040_000, 0o100_664,
        ]
        .contains(&mode)
        {
            return None;
        }
        if entry.get(40 + hash)? & 0x40 != 0 {
            source.skip(2)?;
        }
        if version == 4 {
            let strip = strip(&mut source)?;
            path.truncate(path.len().checked_sub(strip)?);
            source.until_zero(&mut path)?;
        } else {
            path.clear();
            source.until_zero(&mut path)?;
            let len = source.at - 1 - start;
            source.skip(((len + 8) & !7) - (len + 1))?;
        }
        paths.push(&path)?;
    }
    let mut shared = None;
    while source.at < source.end {
        source.take(&mut signature)?;
        let len = u64::from(source.number()?);
        if signature == *b"link" {
            let mut id = vec![0; hash];
            source.take(&mut id)?;
            source.skip(len.checked_sub(hash as u64)?)?;
            shared = id.iter().any(|byte| *byte != 0).then_some(id);
        } else {
            source.skip(len)?;
        }
    }
    Some(Found { paths, shared })
}

/// git's variable-width number: how much of the last path goes.
fn strip(source: &mut Source) -> Option<usize> {
    let mut byte = [0; 1];
    source.take(&mut byte)?;
    let mut value = usize::from(byte[0] & 0x7f);
    while byte[0] & 0x80 != 0 {
        source.take(&mut byte)?;
        value = value
            .checked_add(1)?
            .checked_mul(128)?
            .checked_add(usize::from(byte[0] & 0x7f))?;
    }
    Some(value)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
