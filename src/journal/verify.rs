//! Checks a log's chain and compares it with its mirror; sets a torn last line aside.

use super::heal;
use super::store::{Log, copy_path, hex, lines_path, lock, mirror_path};
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::files;
use bstr::ByteSlice as _;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// Where and how a log is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Break {
    /// Line in the file, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

/// What a check of one log found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file that was checked.
    pub file: PathBuf,
    /// Lines in it.
    pub lines: u64,
    /// Lines that are part of the chain; the others are of the seed format.
    pub chained: u64,
    /// The first broken line.
    pub broken: Option<Break>,
    /// The first line at which file and mirror differ.
    pub differs: Option<Break>,
}

impl Report {
    /// Returns true when nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.broken.is_none() && self.differs.is_none()
    }
}

#[derive(Deserialize)]
struct Links {
    prev: Option<String>,
    hash: Option<String>,
}

/// Checks the chain of the log that people read, and compares it with its mirror.
///
/// # Errors
/// When a file is there and cannot be read.
pub fn verify(workspace: &Workspace, log: Log) -> Result<Report> {
    let file = lines_path(workspace, log);
    let mut report = Report {
        file: file.clone(),
        lines: 0,
        chained: 0,
        broken: None,
        differs: None,
    };
    if let Some(reader) = reader(&file)? {
        chain(reader, &file, &mut report)?;
    }
    if copy_path(workspace, log).is_some() {
        report.differs = compare(&file, &mirror_path(workspace, log))?;
    }
    Ok(report)
}

fn reader(path: &Path) -> Result<Option<BufReader<File>>> {
    match File::open(path) {
        Ok(file) if file.metadata().is_ok_and(|meta| meta.is_dir()) => {
            Err(crate::error::Error::new(
                ErrorKind::Io,
                format!("cannot read {}: it is a directory", path.display()),
            )
            .hint("what was there is written again from the mirror: holdpoint log --repair"))
        }
        Ok(file) => Ok(Some(BufReader::with_capacity(1 << 18, file))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).doing(ErrorKind::Io, || format!("cannot read {}", path.display())),
    }
}

fn read_line(reader: &mut BufReader<File>, path: &Path, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    reader
        .read_until(b'\n', line)
        .map(|read| read > 0)
        .doing(ErrorKind::Io, || format!("cannot read {}", path.display()))
}

fn chain(mut reader: BufReader<File>, path: &Path, report: &mut Report) -> Result<()> {
    let mut line = Vec::new();
    let mut prev = String::new();
    while read_line(&mut reader, path, &mut line)? {
        report.lines += 1;
        let Some(body) = line.strip_suffix(b"\n") else {
            report.broken.get_or_insert(Break {
                line: report.lines,
                why: "the line is torn; holdpoint log --repair sets it aside".to_owned(),
            });
            return Ok(());
        };
        match link(body, &prev) {
            Ok(true) => report.chained += 1,
            Ok(false) => {}
            Err(why) => {
                report.broken.get_or_insert(Break {
                    line: report.lines,
                    why,
                });
            }
        }
        prev = hex(body);
    }
    Ok(())
}

/// Checks one line against the one before; false for a line outside the chain.
fn link(body: &[u8], prev: &str) -> Result<bool, String> {
    let links: Links =
        serde_json::from_slice(body).map_err(|error| format!("it is no JSON object: {error}"))?;
    let Some(hash) = links.hash else {
        return Ok(false);
    };
    let member = format!(r#","hash":"{hash}""#);
    let bare = match body.find(&member) {
        Some(at) => [&body[..at], &body[at + member.len()..]].concat(),
        None => return Err("its hash is not where it was written".to_owned()),
    };
    if hex(&bare) != hash {
        return Err("its content does not fit its hash".to_owned());
    }
    if links.prev.as_deref() != Some(prev) {
        return Err("it does not follow the line before it".to_owned());
    }
    Ok(true)
}

/// Returns the first line at which a log and its mirror differ.
fn compare(copy: &Path, mirror: &Path) -> Result<Option<Break>> {
    let Some(mut ours) = reader(mirror)? else {
        // Nothing was written through Holdpoint yet.
        return Ok(None);
    };
    let Some(mut theirs) = reader(copy)? else {
        return Ok(Some(Break {
            line: 1,
            why: format!("the log is gone; the mirror {} has it", mirror.display()),
        }));
    };
    let (mut own, mut other) = (Vec::new(), Vec::new());
    let mut line = 0;
    loop {
        line += 1;
        let own_left = read_line(&mut ours, mirror, &mut own)?;
        let other_left = read_line(&mut theirs, copy, &mut other)?;
        let why = match (own_left, other_left) {
            (false, false) => return Ok(None),
            (true, true) if own == other => continue,
            (true, true) => "the line is not the one that was written",
            (true, false) => "the log ends here; the mirror goes on",
            (false, true) => "the line was added by somebody else",
        };
        return Ok(Some(Break {
            line,
            why: format!("{why} ({})", mirror.display()),
        }));
    }
}

/// Sets torn last lines aside and writes the copy again where it is behind; says what was done.
///
/// # Errors
/// When a file cannot be read or written.
pub fn repair(workspace: &Workspace, log: Log) -> Result<Vec<String>> {
    let _lock = lock(workspace)?;
    let mut done = Vec::new();
    let open = |path: &Path| {
        OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .doing(ErrorKind::Io, || format!("cannot open {}", path.display()))
    };
    let mirror_path = mirror_path(workspace, log);
    if files::read_if_there(&mirror_path)?.is_none() {
        // Only a file of the seed format, if any: there is nothing to bring together.
        let path = lines_path(workspace, log);
        if path.is_file()
            && let Some(aside) = heal::torn(&open(&path)?, &path)?
        {
            done.push(format!("a torn last line is kept in {}", aside.display()));
        }
        return Ok(done);
    }
    let mirror = open(&mirror_path)?;
    if let Some(aside) = heal::torn(&mirror, &mirror_path)? {
        done.push(format!("a torn last line is kept in {}", aside.display()));
    }
    if let Some(copy) = copy_path(workspace, log) {
        let length = |path: &Path| {
            path.symlink_metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)
                .map(|meta| meta.len())
        };
        let before = length(&copy);
        heal::copy(workspace, &mirror, &copy, heal::Care::Whole, &mut done)?;
        let after = length(&copy);
        if before != after && done.is_empty() {
            done.push(format!("{} was brought up to date", copy.display()));
        }
    }
    Ok(done)
}
