//! What a patch would do to files: read from its headers alone.

use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BStr, BString, ByteSlice as _};

/// Most files of one patch that are named one by one.
const MOST: usize = 400;

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Its lines change.
    Change(BString),
    /// It is made.
    Make(BString),
    /// It is deleted.
    Delete(BString),
    /// It gets another name.
    Rename { from: BString, to: BString },
}

/// How a program takes a patch's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Leading parts of a name that are taken away; `None` for all but the last.
    pub strip: Option<usize>,
    /// New becomes old.
    pub reverse: bool,
}

/// One file's part of a patch, as its headers say.
#[derive(Default)]
struct Headers {
    git: bool,
    old: Option<BString>,
    new: Option<BString>,
    from: Option<BString>,
    to: Option<BString>,
    named: Option<(BString, BString)>,
    kind: Kind,
}

/// What git's own header lines say of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unsaid,
    Added,
    Deleted,
    Copied,
}

/// Whether a patch, applied this way round, takes away what git does not have.
pub(super) fn takes_back(text: &Stream, reverse: bool) -> bool {
    match text {
        Stream::Changes => reverse,
        Stream::Undoing => !reverse,
        _ => false,
    }
}

/// The files that a patch touches, in its order; `None` where it is no patch, or too long a one.
pub(super) fn touched(text: &BStr, reading: Reading) -> Option<Vec<Touch>> {
    let mut touches = Vec::new();
    let mut file = Headers::default();
    let mut lines = text.lines().peekable();
    // Lines that a hunk still owes: what looks like a header in there is content.
    let (mut old_left, mut new_left) = (0_u64, 0_u64);
    while let Some(line) = lines.next() {
        if old_left > 0 || new_left > 0 {
            match line.first() {
                Some(b'-') => old_left = old_left.saturating_sub(1),
                Some(b'+') => new_left = new_left.saturating_sub(1),
                Some(b'\\') => {}
                _ => {
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
            }
            continue;
        }
        if let Some((old, new)) = hunk(line) {
            (old_left, new_left) = (old, new);
        } else if let Some(names) = line.strip_prefix(b"diff --git ") {
            finish(&mut file, reading, &mut touches);
            file.git = true;
            file.named = same_names(names);
        } else if let Some(name) = line.strip_prefix(b"--- ")
            && lines.peek().is_some_and(|next| next.starts_with(b"+++ "))
        {
            if !file.git || file.old.is_some() {
                finish(&mut file, reading, &mut touches);
            }
            file.old = Some(unquoted(name));
        } else if let Some(name) = line.strip_prefix(b"+++ ")
            && file.old.is_some()
        {
            file.new = Some(unquoted(name));
        } else if file.git {
            extended(&mut file, line);
        }
        if touches.len() > MOST {
            return None;
        }
    }
    finish(&mut file, reading, &mut touches);
    (!touches.is_empty() && touches.len() <= MOST).then_some(touches)
}

/// The two line counts of a hunk's header.
fn hunk(line: &[u8]) -> Option<(u64, u64)> {
    let ranges = line.strip_prefix(b"@@ -")?;
    let (ranges, _) = ranges.split_once_str(" @@")?;
    let (old, new) = ranges.split_once_str(" +")?;
    let count = |range: &[u8]| match range.split_once_str(",") {
        Some((_, count)) => count.to_str().ok()?.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

fn extended(file: &mut Headers, line: &[u8]) {
    if let Some(name) = line.strip_prefix(b"rename from ") {
        file.from = Some(unquoted(name));
    } else if let Some(name) = line.strip_prefix(b"rename to ") {
        file.to = Some(unquoted(name));
    } else if let Some(name) = line.strip_prefix(b"copy to ") {
        file.to = Some(unquoted(name));
        file.kind = Kind::Copied;
    } else if line.starts_with(b"deleted file mode ") {
        file.kind = Kind::Deleted;
    } else if line.starts_with(b"new file mode ") {
        file.kind = Kind::Added;
    }
}

/// Both names of `diff --git a/x b/x`, which are the same but for their first part.
fn same_names(names: &[u8]) -> Option<(BString, BString)> {
    if names.starts_with(b"\"") {
        let end = names.get(1..)?.find("\" ").map(|at| at + 2)?;
        return Some((unquoted(names.get(..end)?), unquoted(names.get(end + 1..)?)));
    }
    let middle = names.len() / 2;
    (names.get(middle) == Some(&b' ')).then(|| {
        (
            names.get(..middle).unwrap_or_default().into(),
            names.get(middle + 1..).unwrap_or_default().into(),
        )
    })
}

/// A header's name without its quotes, and without the time behind a tab.
fn unquoted(name: &[u8]) -> BString {
    let name = name.strip_suffix(b"\r").unwrap_or(name);
    let Some(quoted) = name.strip_prefix(b"\"") else {
        return name.split_str("\t").next().unwrap_or_default().into();
    };
    let mut plain = BString::default();
    let mut bytes = quoted.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'"' {
            break;
        }
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => plain.push(b'\n'),
            Some(b't') => plain.push(b'\t'),
            Some(digit @ b'0'..=b'3') => {
                let mut value = digit - b'0';
                for _ in 0..2 {
                    if let Some(next @ b'0'..=b'7') = bytes.peek().copied() {
                        value = value << 3 | (next - b'0');
                        bytes.next();
                    }
                }
                plain.push(value);
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}

/// Adds what a file's headers say, and forgets them.
fn finish(file: &mut Headers, reading: Reading, touches: &mut Vec<Touch>) {
    let file = std::mem::take(file);
    let strip = |name: &BString| stripped(name, reading.strip);
    if let (Some(from), Some(to)) = (&file.from, &file.to) {
        // These two lines carry no prefix, so that nothing is stripped from them but what `-p` takes more than one.
        let less = reading.strip.map(|strip| strip.saturating_sub(1));
        let (from, to) = (stripped(from, less), stripped(to, less));
        if let (Some(from), Some(to)) = (from, to) {
            let (from, to) = if reading.reverse {
                (to, from)
            } else {
                (from, to)
            };
            touches.push(Touch::Rename { from, to });
        }
        return;
    }
    if file.kind == Kind::Copied
        && let Some(to) = file
            .to
            .as_ref()
            .and_then(|to| stripped(to, reading.strip.map(|strip| strip.saturating_sub(1))))
    {
        touches.push(if reading.reverse {
            Touch::Delete(to)
        } else {
            Touch::Make(to)
        });
        return;
    }
    let (named_old, named_new) = file.named.unzip();
    let old = file.old.or(named_old);
    let new = file.new.or(named_new);
    let nothing = |name: &Option<BString>| name.as_ref().is_some_and(|name| name == "/dev/null");
    let added = file.kind == Kind::Added || nothing(&old);
    let deleted = file.kind == Kind::Deleted || nothing(&new);
    let name = if nothing(&new) { &old } else { &new };
    let Some(name) = name.as_ref().and_then(strip) else {
        return;
    };
    touches.push(match (added, deleted, reading.reverse) {
        (true, false, false) | (false, true, true) => Touch::Make(name),
        (false, true, false) | (true, false, true) => Touch::Delete(name),
        _ => Touch::Change(name),
    });
}

fn stripped(name: &BString, strip: Option<usize>) -> Option<BString> {
    let Some(strip) = strip else {
        let last = name.rsplit_str("/").next().filter(|last| !last.is_empty());
        return last.map(BString::from);
    };
    let mut rest = name.as_bytes();
    for _ in 0..strip {
        let slash = rest.find_byte(b'/')?;
        rest = rest.get(slash..)?.trim_start_with(|c| c == '/');
    }
    (!rest.is_empty()).then(|| rest.into())
}

/// Notes what a patch does to the files below `base`.
pub(super) fn apply(walk: &mut Walk<'_>, touches: &[Touch], base: &BStr) {
    let at = |name: &BString| {
        if base.is_empty() {
            return Arg::known(name.clone());
        }
        let mut path = BString::from(base);
        path.push(b'/');
        path.extend_from_slice(name);
        Arg::known(path)
    };
    for touch in touches {
        match touch {
            Touch::Change(name) => walk.file(PathOp::Change, &at(name)),
            Touch::Make(name) => walk.file(PathOp::Make, &at(name)),
            Touch::Delete(name) => walk.file(PathOp::Delete { recursive: false }, &at(name)),
            Touch::Rename { from, to } => {
                walk.file(PathOp::Move { to: at(to) }, &at(from));
            }
        }
    }
}

/// Runs `patch`.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    matches!(call.name, "patch" | "gpatch").then(|| {
        patch(walk, call);
        Stream::Nothing
    })
}

fn patch(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "pdioBDFVYzgr",
            long: &[
                "strip",
                "directory",
                "input",
                "output",
                "prefix",
                "ifdef",
                "fuzz",
                "suffix",
                "reject-file",
            ],
            ..Spec::default()
        },
    );
    if options.surely(&["dry-run", "C", "check"]) {
        return;
    }
    if let Some(path) = options.value(&["o", "output"]).cloned() {
        if path.text != "-" {
            walk.file(PathOp::Replace, &path);
        }
        return;
    }
    if let Some(path) = options.operands.first() {
        walk.file(PathOp::Change, path);
        return;
    }
    let reverse = options.surely(&["R", "reverse"]);
    let text = match options
        .value(&["i", "input"])
        .or_else(|| options.operands.get(1))
        .cloned()
    {
        Some(path) => walk.read_path(&path),
        None => call.input.clone(),
    };
    if takes_back(&text, reverse) {
        // What the difference says is nowhere else.
        let _ = walk.run_child("git restore :/".into(), &Stream::Nothing);
        return;
    }
    let strip = options
        .value(&["p", "strip"])
        .map(|value| value.word().parse::<usize>());
    let touches = match (&text, strip) {
        (Stream::Text(_), Some(Err(_))) => None,
        (Stream::Text(text), strip) => {
            let strip = strip.and_then(Result::ok);
            touched(text.as_bstr(), Reading { strip, reverse })
        }
        _ => None,
    };
    let base = options
        .value(&["d", "directory"])
        .cloned()
        .unwrap_or_default();
    match touches {
        Some(touches) if base.is_known() => apply(walk, &touches, base.text.as_bstr()),
        _ => walk.mark(
            Level::Transparent,
            "a patch that was not read changes files",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Touch, touched};
    use bstr::{BString, ByteSlice as _};

    fn read(text: &str, strip: Option<usize>, reverse: bool) -> Option<Vec<Touch>> {
        touched(text.as_bytes().as_bstr(), Reading { strip, reverse })
    }

    #[test]
    fn headers_tell_what_a_patch_does() {
        let change = |name: &str| Touch::Change(BString::from(name));
        let make = |name: &str| Touch::Make(BString::from(name));
        let delete = |name: &str| Touch::Delete(BString::from(name));
        let git = "diff --git a/src/x b/src/x\nindex 1..2 100644\n--- a/src/x\n+++ b/src/x\n@@ -1,2 +1,2 @@\n-a\n--- a/no\n+b\n+++ b/no\n";
        let new = "diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n";
        let gone = "diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let empty = "diff --git a/e b/e\nnew file mode 100644\nindex 0..e69de29\n";
        let moved = "diff --git a/d/old b/d/new\nsimilarity index 100%\nrename from d/old\nrename to d/new\n";
        let quoted =
            "--- \"a/caf\\303\\251\"\t2026\n+++ \"b/caf\\303\\251\"\t2026\n@@ -1 +1 @@\n-x\n+y\n";
        for (text, strip, reverse, expected) in [
            (git, Some(1), false, change("src/x")),
            (git, Some(2), false, change("x")),
            (git, None, false, change("x")),
            (git, Some(1), true, change("src/x")),
            (new, Some(1), false, make("n")),
            (new, Some(1), true, delete("n")),
            (gone, Some(1), false, delete("g")),
            (gone, Some(1), true, make("g")),
            (empty, Some(1), false, make("e")),
            (quoted, Some(1), false, change("café")),
            (
                moved,
                Some(1),
                true,
                Touch::Rename {
                    from: "d/new".into(),
                    to: "d/old".into(),
                },
            ),
        ] {
            assert_eq!(read(text, strip, reverse), Some(vec![expected]), "{text}");
        }
        let all = format!("From: a mail\n\n{git}{new}{gone}");
        assert_eq!(
            read(&all, Some(1), false),
            Some(vec![change("src/x"), make("n"), delete("g")])
        );
        for text in ["", "hello\n", "--- a\n", "@@ -1 +1 @@\n"] {
            assert_eq!(read(text, Some(1), false), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_lines_are_read_without_a_panic(
            parts in proptest::collection::vec(
                proptest::prop_oneof![
                    proptest::strategy::Just("diff --git "),
                    proptest::strategy::Just("--- "),
                    proptest::strategy::Just("+++ "),
                    proptest::strategy::Just("@@ -1,9 +1 @@"),
                    proptest::strategy::Just("rename from "),
                    proptest::strategy::Just("copy to "),
                    proptest::strategy::Just("/dev/null"),
                    proptest::strategy::Just("\"a/\\303\\"),
                    proptest::strategy::Just("a/b"),
                    proptest::strategy::Just("\t"),
                    proptest::strategy::Just("\n"),
                ],
                0..40,
            ),
            strip in proptest::option::of(0_usize..4),
            reverse: bool,
        ) {
            for touch in read(&parts.concat(), strip, reverse).unwrap_or_default() {
                let (Touch::Change(name) | Touch::Make(name) | Touch::Delete(name)) = touch else {
                    continue;
                };
                proptest::prop_assert!(!name.is_empty());
            }
        }
    }
}
