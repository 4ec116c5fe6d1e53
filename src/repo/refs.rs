//! All refs of a repository, read as they lie in files: two processes fewer a run.

use crate::repo::Workspace;
use crate::sys::files;
use bstr::ByteSlice as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Longest chain of symbolic refs that is followed, as in git.
const DEEPEST: usize = 5;

/// Ref names with the object each points to, and what `HEAD` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// Full names, each with an object id in hex.
    pub all: BTreeMap<String, String>,
    /// The branch that `HEAD` names; empty where it is detached.
    pub head: String,
    /// The commit that `HEAD` leads to; `None` on an unborn branch.
    pub start: Option<String>,
}

/// Reads all refs; `None` where they are not plain files that this reader is sure of.
///
/// Whoever gets `None` asks git: reftable, a link in the place of `HEAD`,
/// anything that git itself would call broken.
#[must_use]
pub fn list(workspace: &Workspace) -> Option<Refs> {
    let (common, private) = (
        workspace.common_dir.as_deref()?,
        workspace.git_dir.as_deref()?,
    );
    if common.join("reftable").exists() || private.join("HEAD").is_symlink() {
        return None;
    }
    let mut values = BTreeMap::new();
    packed(common, &mut values)?;
    loose(common, "refs", &mut values)?;
    if private != common {
        values.retain(|name, _| !is_private(name));
        loose(private, "refs", &mut values)?;
    }
    let head = fs::read_to_string(private.join("HEAD")).ok()?;
    let head = value(head.as_bytes())?;
    let all: BTreeMap<String, String> = values
        .keys()
        .filter_map(|name| Some((name.clone(), resolve(&values, name)?)))
        .collect();
    Some(match head {
        Value::Object(id) => Refs {
            all,
            head: String::new(),
            start: Some(id),
        },
        Value::Symbolic(name) => Refs {
            start: all.get(&name).cloned(),
            all,
            head: name,
        },
    })
}

#[derive(Clone, Debug)]
enum Value {
    Object(String),
    Symbolic(String),
}

fn value(bytes: &[u8]) -> Option<Value> {
    let text = bytes.to_str().ok()?.trim_end();
    if let Some(name) = text.strip_prefix("ref:") {
        return Some(Value::Symbolic(name.trim_start().to_owned()));
    }
    is_id(text).then(|| Value::Object(text.to_owned()))
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte != b'0')
}

fn resolve(values: &BTreeMap<String, Value>, name: &str) -> Option<String> {
    let mut name = name;
    for _ in 0..DEEPEST {
        match values.get(name)? {
            Value::Object(id) => return Some(id.clone()),
            Value::Symbolic(to) => name = to,
        }
    }
    None
}

/// Refs that each worktree has of its own.
fn is_private(name: &str) -> bool {
    ["refs/bisect/", "refs/worktree/", "refs/rewritten/"]
        .iter()
        .any(|space| name.starts_with(space))
}

fn packed(common: &Path, values: &mut BTreeMap<String, Value>) -> Option<()> {
    let text = match files::read(common.join("packed-refs")) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for line in text
        .lines()
        .filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"))
    {
        let (id, name) = line.to_str().ok()?.split_once(' ')?;
        if !is_id(id) {
            return None;
        }
        values.insert(name.to_owned(), Value::Object(id.to_owned()));
    }
    Some(())
}

fn loose(root: &Path, below: &str, values: &mut BTreeMap<String, Value>) -> Option<()> {
    let entries = match fs::read_dir(root.join(below)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        // Git takes no file that begins with a dot for a ref.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let name = format!("{below}/{}", entry.file_name().to_str()?);
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            loose(root, &name, values)?;
        } else if !kind.is_file() {
            return None;
        } else if Path::new(&name).extension().is_none_or(|end| end != "lock") {
            values.insert(name, value(&files::read(entry.path()).ok()?)?);
        }
    }
    Some(())
}
