//! Which paths git tracks, read from the raw index: names only.
//!
//! Only asked where an ignored directory or a large ignored file turns up, since
//! git does not ignore what it tracks. Reads versions 2 to 4, both hash lengths
//! and split indexes, and needs to understand no extension but `link`.

use bstr::ByteSlice as _;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The tracked paths of one repository.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    paths: BTreeSet<Vec<u8>>,
    /// True when an index was there and could not be understood: everything may be tracked.
    unknown: bool,
}

impl Tracked {
    /// Reads the index of a git directory.
    pub(super) fn read(git_dir: &Path) -> Self {
        let mut tracked = Self::default();
        let Ok(bytes) = fs::read(git_dir.join("index")) else {
            return tracked;
        };
        let hash = match parse(&bytes, 20) {
            Some(found) => Some((found, 20)),
            None => parse(&bytes, 32).map(|found| (found, 32)),
        };
        let Some((found, hash_len)) = hash else {
            tracked.unknown = true;
            return tracked;
        };
        if let Some(shared) = found.shared {
            let name = format!("sharedindex.{}", hex(&shared));
            match fs::read(git_dir.join(name))
                .ok()
                .and_then(|bytes| parse(&bytes, hash_len))
            {
                Some(base) => tracked.paths.extend(base.paths),
                None => tracked.unknown = true,
            }
        }
        tracked.paths.extend(found.paths);
        tracked
    }

    /// Returns true when git tracks the file.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        self.unknown || self.paths.contains(path)
    }

    /// Returns true when git tracks something below the directory.
    pub(super) fn any_under(&self, dir: &[u8]) -> bool {
        let mut prefix = dir.to_vec();
        prefix.push(b'/');
        self.unknown
            || self
                .paths
                .range(prefix.clone()..)
                .next()
                .is_some_and(|path| path.starts_with(&prefix))
    }
}

struct Found {
    paths: Vec<Vec<u8>>,
    shared: Option<Vec<u8>>,
}

/// Reads names as gitformat-index(5) lays them out; `None` when they do not read so.
fn parse(bytes: &[u8], hash: usize) -> Option<Found> {
    let body = bytes.get(..bytes.len().checked_sub(hash)?)?;
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?))
    };
    if body.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = number(8)?;
    let mut at = 12;
    let mut paths = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        let flags_at = start + 40 + hash;
        let flags = u16::from_be_bytes(body.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let mode = number(start + 24)?;
        // A wrong hash length shows at once: no file has such a mode.
        if ![
            0o100_644, 0o100_755, 0o120_000, 0o160_000, 0o040_000, 0o100_664,
        ]
        .contains(&mode)
        {
            return None;
        }
        let mut name_at = flags_at + 2;
        if flags & 0x4000 != 0 {
            name_at += 2;
        }
        let path = if version == 4 {
            let (strip, used) = offset(body.get(name_at..)?)?;
            name_at += used;
            let rest = body.get(name_at..)?;
            let len = rest.find_byte(0)?;
            at = name_at + len + 1;
            last.truncate(last.len().checked_sub(strip)?);
            last.extend_from_slice(rest.get(..len)?);
            last.clone()
        } else {
            let rest = body.get(name_at..)?;
            let len = rest.find_byte(0)?;
            at = start + ((name_at - start + len + 8) & !7);
            rest.get(..len)?.to_vec()
        };
        paths.push(path);
    }
    let mut shared = None;
    while let Some(signature) = body.get(at..at + 4) {
        let len = number(at + 4)? as usize;
        let content = body.get(at + 8..at + 8 + len)?;
        if signature == b"link" {
            let id = content.get(..hash)?;
            shared = id.iter().any(|byte| *byte != 0).then(|| id.to_vec());
        }
        at += 8 + len;
    }
    (at == body.len()).then_some(Found { paths, shared })
}

/// git's variable-width number: how much of it, and how many bytes it took.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut used = 0;
    let mut byte = *bytes.first()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        used += 1;
        byte = *bytes.get(used)?;
        value = value
            .checked_add(1)?
            .checked_mul(128)?
            .checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, used + 1))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
