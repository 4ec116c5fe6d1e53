//! What a shell knows while it runs a script: directory, variables, functions, aliases.

use super::arg::Arg;
use super::syntax::Node;
use bstr::{BStr, BString, ByteSlice as _};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A directory, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dir {
    /// An absolute path, not resolved.
    Known(BString),
    /// Somewhere.
    Unknown,
    /// On another machine or in another root.
    Elsewhere,
}

impl Dir {
    /// The directory that a path leads to from here.
    #[must_use]
    pub fn join(&self, path: &Arg) -> Self {
        if path.has_unknown() || path.glob || path.text.contains(&super::arg::TOKEN) {
            return match self {
                Self::Elsewhere => Self::Elsewhere,
                _ => Self::Unknown,
            };
        }
        match self {
            Self::Known(base) => Self::Known(join(base.as_bstr(), path.text.as_bstr())),
            Self::Unknown if path.text.starts_with(b"/") => Self::Known(path.text.clone()),
            other => other.clone(),
        }
    }
}

/// Joins a path to a directory and resolves `.` and `..` by the text alone, as `cd` does.
#[must_use]
pub fn join(base: &BStr, path: &BStr) -> BString {
    let mut parts: Vec<&[u8]> = Vec::new();
    let roots: [&[u8]; 2] = if path.starts_with(b"/") {
        [b"", path]
    } else {
        [base, path]
    };
    for part in roots.iter().flat_map(|text| text.split_str("/")) {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut joined = BString::from("/");
    joined.extend_from_slice(&bstr::join("/", parts));
    joined
}

/// A variable's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// One word.
    One(Arg),
    /// An array.
    Many(Vec<Arg>),
}

/// The state that is carried from command to command.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The working directory.
    pub dir: Dir,
    /// The home directory.
    pub home: Option<BString>,
    /// The user's name.
    pub user: BString,
    pub(crate) vars: BTreeMap<BString, Value>,
    pub(crate) unset: BTreeSet<BString>,
    /// Names that the script itself gave a value.
    pub(crate) assigned: BTreeSet<BString>,
    pub(crate) functions: BTreeMap<BString, Rc<Node>>,
    pub(crate) aliases: BTreeMap<BString, BString>,
    pub(crate) positional: Vec<Arg>,
    pub(crate) positional_known: bool,
    /// Where a failed `cd` would leave the shell.
    pub(crate) stay: Option<Dir>,
}

impl Scope {
    /// A shell that starts in `dir`, with nothing else known.
    #[must_use]
    pub fn new(dir: impl Into<BString>) -> Self {
        Self {
            dir: Dir::Known(dir.into()),
            home: None,
            user: BString::from("user"),
            vars: BTreeMap::new(),
            unset: BTreeSet::new(),
            assigned: BTreeSet::new(),
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            positional: Vec::new(),
            positional_known: false,
            stay: None,
        }
    }

    /// Sets a variable whose value is known beforehand.
    pub fn set(&mut self, name: &str, value: impl Into<BString>) {
        self.vars.insert(name.into(), Value::One(Arg::known(value)));
    }

    pub(crate) fn assign(&mut self, name: &BStr, value: Value) {
        self.unset.remove(name.as_bytes().as_bstr());
        self.assigned.insert(name.into());
        self.vars.insert(name.into(), value);
    }

    pub(crate) fn forget(&mut self, name: &BStr) {
        self.vars.remove(name);
        self.unset.insert(name.into());
    }

    /// Moves, remembering where the shell was.
    pub(crate) fn enter(&mut self, dir: Dir) {
        self.vars.insert(
            "OLDPWD".into(),
            match &self.dir {
                Dir::Known(path) => Value::One(Arg::known(path.clone())),
                _ => Value::One(Arg::unknown()),
            },
        );
        self.dir = dir;
    }
}
