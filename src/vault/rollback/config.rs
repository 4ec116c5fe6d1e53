//! Whether git would read the repository otherwise by its configuration than it did.
//!
//! A person adds a remote or an alias and means it; a rollback of files leaves
//! that alone. But a repository that was made bare, or whose worktree was moved,
//! or whose configuration does not parse, is not back while that stands. Pure.

use bstr::ByteSlice as _;
use std::collections::BTreeMap;

/// Keys of `core` by which git finds and reads the worktree and the index.
const CORE: &[&str] = &[
    "autocrlf",
    "bare",
    "eol",
    "filemode",
    "ignorecase",
    "precomposeunicode",
    "repositoryformatversion",
    "sparsecheckout",
    "sparsecheckoutcone",
    "symlinks",
    "worktree",
];

/// Returns true where the configuration has to come back as it was.
pub(super) fn must_return(now: Option<&[u8]>, then: Option<&[u8]>) -> bool {
    let Some(then) = then else {
        return false;
    };
    let Some(now) = now else {
        return true;
    };
    match (reading(now), reading(then)) {
        (Some(now), Some(then)) => now != then,
        (now, then) => now.is_none() && then.is_some(),
    }
}

/// The values that decide how git reads the repository; `None` where the file does not parse.
fn reading(bytes: &[u8]) -> Option<BTreeMap<(String, String), Vec<String>>> {
    let mut values: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (section, key, value) in entries(bytes)? {
        let counts = match section.as_str() {
            "core" => CORE.contains(&key.as_str()),
            _ => section == "extensions" || section.starts_with("submodule."),
        };
        if counts {
            values.entry((section, key)).or_default().push(value);
        }
    }
    Some(values)
}

/// Section, key and value of each line, as git-config(1) lays them out.
pub(in crate::vault) fn entries(bytes: &[u8]) -> Option<Vec<(String, String, String)>> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = text
        .to_str()
        .ok()?
        .replace("\\\r\n", "")
        .replace("\\\n", "");
    if text.contains('\0') {
        return None;
    }
    let mut section: Option<String> = None;
    let mut out = Vec::new();
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (name, rest) = header(rest)?;
            section = Some(name);
            line = rest.trim_start();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let section = section.clone()?;
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), unquoted(value.trim())?),
            None => (line, "true".to_owned()),
        };
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !key.starts_with(|c: char| c.is_ascii_alphabetic()) || !key.chars().all(is_key) {
            return None;
        }
        out.push((section, key.to_ascii_lowercase(), value));
    }
    Some(out)
}

/// The name of a section, its subsection after a dot, and what follows on the line.
fn header(text: &str) -> Option<(String, &str)> {
    let end = text.find([']', '"'])?;
    let (name, rest) = text.split_at(end);
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((name.trim().to_ascii_lowercase(), rest));
    }
    let mut subsection = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => subsection.push(chars.next()?.1),
            '"' => {
                let rest = rest.get(at + 1..)?.trim_start().strip_prefix(']')?;
                let name = name.trim().to_ascii_lowercase();
                return Some((format!("{name}.{subsection}"), rest));
            }
            c => subsection.push(c),
        }
    }
    None
}

/// A value without its quotes, escapes and comment.
fn unquoted(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'b' => out.push('\u{8}'),
                c @ ('"' | '\\') => out.push(c),
                _ => return None,
            },
            '#' | ';' if !quoted => break,
            c => out.push(c),
        }
        if quoted || !c.is_whitespace() {
            kept = out.len();
        }
    }
    out.truncate(kept);
    (!quoted).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

    #[test]
    fn what_git_reads_by_decides() {
        for (now, expected) in [
            (PLAIN.to_owned(), false),
            (format!("{PLAIN}[remote \"o\"]\n\turl = x\n"), false),
            (
                format!("{PLAIN}[alias]\n\tx = \"log # not a comment\"\n"),
                false,
            ),
            (PLAIN.replace("false", "true"), true),
            (format!("{PLAIN}\tworktree = ../x\n"), true),
            (
                format!("{PLAIN}[extensions]\n\tworktreeConfig = true\n"),
                true,
            ),
            (format!("{PLAIN}[submodule \"a.b\"]\n\turl = x\n"), true),
            ("\0\u{1}garbage".to_owned(), true),
            ("[core\n".to_owned(), true),
            (String::new(), true),
        ] {
            assert_eq!(
                must_return(Some(now.as_bytes()), Some(PLAIN.as_bytes())),
                expected,
                "{now}"
            );
        }
        assert!(must_return(None, Some(PLAIN.as_bytes())));
        assert!(!must_return(Some(PLAIN.as_bytes()), None));
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        let text = "[a \"B.c\"] k = v ; comment\n[core] bare\n x-y = \"p q\" r\\\n s # t\n";
        let expected = [
            ("a.B.c", "k", "v"),
            ("core", "bare", "true"),
            ("core", "x-y", "p q r s"),
        ]
        .map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
        assert_eq!(entries(text.as_bytes()), Some(expected.to_vec()));
    }
}
