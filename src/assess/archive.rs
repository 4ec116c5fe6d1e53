//! What an archive holds, by name: read from its own lists, nothing is unpacked.

use crate::sys::files;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a compressed archive's content that are gone through for its names.
const MOST_BYTES: u64 = 96 * 1024 * 1024;

/// The files that an archive would lay down, relative to where it is unpacked.
///
/// `None` where it cannot be read, is of another kind, or holds more than `most`.
pub(super) fn names(path: &Path, most: usize) -> Option<Vec<PathBuf>> {
    let mut file = files::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = [0; 6];
    let read = file.read(&mut head).ok()?;
    file.rewind().ok()?;
    let file = BufReader::new(file);
    match head.get(..read)? {
        [b'P', b'K', 3 | 5, ..] => zipped(file, most),
        [0x1f, 0x8b, ..] => streamed(flate2::read::MultiGzDecoder::new(file), most),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => streamed(zstd::Decoder::with_buffer(file).ok()?, most),
        _ => in_order(tar::Archive::new(file).entries_with_seek().ok()?, most),
    }
}

fn streamed(content: impl Read, most: usize) -> Option<Vec<PathBuf>> {
    let mut content = content.take(MOST_BYTES);
    let names = in_order(tar::Archive::new(&mut content).entries().ok()?, most);
    // What comes after the limit would lie down unseen.
    names.filter(|_| content.limit() > 0)
}

fn in_order<'a, R: Read + 'a>(
    entries: impl Iterator<Item = std::io::Result<tar::Entry<'a, R>>>,
    most: usize,
) -> Option<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.ok()?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let name = entry.path_bytes().into_owned();
        names.extend(inside(Path::new(&std::ffi::OsString::from_vec(name))));
        if names.len() > most {
            return None;
        }
    }
    Some(names)
}

fn zipped(file: BufReader<File>, most: usize) -> Option<Vec<PathBuf>> {
    let archive = zip::ZipArchive::new(file).ok()?;
    if archive.len() > most {
        return None;
    }
    Some(
        archive
            .file_names()
            .map(Result::ok)
            .collect::<Option<Vec<_>>>()?
            .iter()
            .filter(|name| !name.ends_with('/'))
            .filter_map(|name| inside(Path::new(name.as_ref())))
            .collect(),
    )
}

/// A member's name as unpackers take it: never absolute, never upwards.
fn inside(name: &Path) -> Option<PathBuf> {
    let parts: PathBuf = name
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    (!parts.as_os_str().is_empty()).then_some(parts)
}
