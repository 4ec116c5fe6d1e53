//! What flows between commands.

use crate::shell::arg::Arg;
use bstr::{BString, ByteSlice as _};

/// What flows from one command to the next, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Stream {
    /// Nothing at all.
    #[default]
    Nothing,
    /// This text.
    Text(BString),
    /// Names of files.
    Paths(Vec<Arg>),
    /// What a download answers.
    Remote,
    /// A patch with what the worktree has and git does not.
    Changes,
    /// The same patch turned round: it takes away what git does not have.
    Undoing,
    /// An archive of a tree of the repository at hand.
    Tree(BString),
    /// Something.
    Unknown,
}

impl Stream {
    /// The text as a substitution would give it.
    pub(crate) fn into_arg(self) -> Arg {
        match self {
            Self::Nothing => Arg::default(),
            Self::Text(text) => {
                let end = text.trim_end_with(|c| c == '\n').len();
                Arg::known(text.get(..end).unwrap_or_default())
            }
            Self::Paths(paths) => match <[Arg; 1]>::try_from(paths) {
                Ok([path]) => path,
                Err(_) => Arg::unknown(),
            },
            Self::Remote => Arg {
                remote: true,
                ..Arg::unknown()
            },
            Self::Changes | Self::Undoing | Self::Tree(_) | Self::Unknown => Arg::unknown(),
        }
    }

    /// What two commands write one after the other.
    pub(crate) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (Self::Text(mut a), Self::Text(b)) => {
                a.extend_from_slice(&b);
                Self::Text(a)
            }
            (Self::Paths(mut a), Self::Paths(b)) => {
                a.extend(b);
                Self::Paths(a)
            }
            (Self::Remote, _) | (_, Self::Remote) => Self::Remote,
            _ => Self::Unknown,
        }
    }
}
