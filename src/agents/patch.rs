//! The `apply_patch` envelope: which files it touches, and what they would hold.

use bstr::{BString, ByteSlice as _};

/// One file of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// A new file with this content.
    Add {
        /// Which.
        path: BString,
        /// Its content.
        content: BString,
    },
    /// An existing file, changed and perhaps moved.
    Update {
        /// Which.
        path: BString,
        /// In order.
        hunks: Vec<Hunk>,
        /// Its path afterwards.
        moved: Option<BString>,
    },
    /// A file that goes away.
    Delete {
        /// Which.
        path: BString,
    },
}

/// One place of a file where lines change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line after `@@`, by which the place is found; empty where there is none.
    pub anchor: BString,
    /// The lines as they are, context included.
    pub old: Vec<BString>,
    /// The lines as they would be, context included.
    pub new: Vec<BString>,
}

/// Finds every envelope in a text (a patch itself, or a shell command with here-documents).
#[must_use]
pub fn find(text: &[u8]) -> Vec<FileChange> {
    let mut changes = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let word = line.trim();
        if word == b"*** Begin Patch" {
            inside = true;
        } else if word == b"*** End Patch" {
            inside = false;
        } else if inside {
            take(&mut changes, line);
        }
    }
    changes
}

fn take(changes: &mut Vec<FileChange>, line: &[u8]) {
    let named = |prefix: &str| {
        line.trim_start()
            .strip_prefix(prefix.as_bytes())
            .map(|path| BString::from(path.trim()))
    };
    if let Some(path) = named("*** Add File:") {
        changes.push(FileChange::Add {
            path,
            content: BString::default(),
        });
    } else if let Some(path) = named("*** Update File:") {
        changes.push(FileChange::Update {
            path,
            hunks: Vec::new(),
            moved: None,
        });
    } else if let Some(path) = named("*** Delete File:") {
        changes.push(FileChange::Delete { path });
    } else {
        match changes.last_mut() {
            Some(FileChange::Add { content, .. }) => {
                content.extend_from_slice(line.strip_prefix(b"+").unwrap_or(line));
                content.push(b'\n');
            }
            Some(FileChange::Update { hunks, moved, .. }) => {
                if let Some(path) = named("*** Move to:") {
                    *moved = Some(path);
                } else {
                    take_hunk_line(hunks, line);
                }
            }
            Some(FileChange::Delete { .. }) | None => {}
        }
    }
}

fn take_hunk_line(hunks: &mut Vec<Hunk>, line: &[u8]) {
    if let Some(anchor) = line.strip_prefix(b"@@") {
        hunks.push(Hunk {
            anchor: anchor.trim().into(),
            ..Hunk::default()
        });
        return;
    }
    if line.starts_with(b"*** ") {
        return;
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else {
        return;
    };
    match line.split_first() {
        Some((b'-', rest)) => hunk.old.push(rest.into()),
        Some((b'+', rest)) => hunk.new.push(rest.into()),
        Some((b' ', rest)) => {
            hunk.old.push(rest.into());
            hunk.new.push(rest.into());
        }
        // An empty context line may come without its space.
        _ => {
            hunk.old.push(line.into());
            hunk.new.push(line.into());
        }
    }
}

/// Applies hunks in order; `None` where a place is not found.
#[must_use]
pub fn apply(hunks: &[Hunk], content: &[u8]) -> Option<Vec<u8>> {
    let mut lines: Vec<BString> = content.lines().map(BString::from).collect();
    let mut from = 0;
    for hunk in hunks {
        if !hunk.anchor.is_empty() {
            let at = lines
                .iter()
                .skip(from)
                .position(|line| line.trim() == hunk.anchor.trim())?;
            from += at + 1;
        }
        let at = if hunk.old.is_empty() {
            lines.len()
        } else {
            place(&lines, &hunk.old, from)?
        };
        lines.splice(at..at + hunk.old.len(), hunk.new.iter().cloned());
        from = at + hunk.new.len();
    }
    let mut out = Vec::with_capacity(content.len());
    for line in lines {
        out.extend_from_slice(&line);
        out.push(b'\n');
    }
    Some(out)
}

/// Where `old` lies in `lines`, exactly, else apart from the white space at the ends of lines.
fn place(lines: &[BString], old: &[BString], from: usize) -> Option<usize> {
    let found = |same: fn(&BString, &BString) -> bool| {
        lines
            .windows(old.len())
            .enumerate()
            .skip(from)
            .find(|(_, window)| window.iter().zip(old).all(|(a, b)| same(a, b)))
            .map(|(at, _)| at)
    };
    found(|a, b| a == b).or_else(|| found(|a, b| a.trim() == b.trim()))
}

#[cfg(test)]
mod tests {
    use super::{FileChange, apply, find};

    #[test]
    fn an_envelope_names_every_file_it_touches() {
        let text = b"*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n+two\n*** Update File: c.rs\n*** Move to: d.rs\n@@ fn x()\n-old\n+new\n*** Delete File: e\n*** End Patch\n";
        let changes = find(text);
        assert_eq!(changes.len(), 3);
        assert_eq!(
            changes.first(),
            Some(&FileChange::Add {
                path: "a b.txt".into(),
                content: "one\n\ntwo\n".into()
            })
        );
        assert!(matches!(
            changes.get(1),
            Some(FileChange::Update { path, moved: Some(to), hunks }) if path == "c.rs" && to == "d.rs" && hunks.len() == 1
        ));
        assert_eq!(
            changes.get(2),
            Some(&FileChange::Delete { path: "e".into() })
        );
    }

    #[test]
    fn an_envelope_in_a_here_document_is_found_and_prose_is_not() {
        let text = b"apply_patch <<'PATCH'\n*** Begin Patch\n*** Delete File: src/main.rs\n*** End Patch\nPATCH\n";
        assert_eq!(
            find(text),
            [FileChange::Delete {
                path: "src/main.rs".into()
            }]
        );
        assert!(find(b"echo '*** Delete File: x'").is_empty());
    }

    #[test]
    fn hunks_apply_where_their_lines_are_found() {
        let changes =
            find(b"*** Begin Patch\n*** Update File: f\n@@ b\n c\n-d\n+D\n@@\n-f\n*** End Patch");
        let Some(FileChange::Update { hunks, .. }) = changes.first() else {
            panic!("an update: {changes:?}");
        };
        assert_eq!(
            apply(hunks, b"d\nb\nc\nd\ne\nf\n").as_deref(),
            Some(b"d\nb\nc\nD\ne\n".as_slice())
        );
        assert_eq!(apply(hunks, b"nothing like it\n"), None);
    }
}
