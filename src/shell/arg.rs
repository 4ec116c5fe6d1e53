//! A word after expansion: what is known of an argument's text.

use bstr::{BStr, BString, ByteSlice as _};

/// Stands in an argument's text for something that is not known, slashes and all.
pub const UNKNOWN: u8 = 0x1a;

/// Stands for a word that is not known but has no slash and names nothing that is there
/// (a date, a process id, a random number).
pub const TOKEN: u8 = 0x19;

/// One argument, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arg {
    /// The text; [`UNKNOWN`] and [`TOKEN`] stand for what is not known.
    pub text: BString,
    /// Holds characters that the shell or the program matches against names.
    pub glob: bool,
    /// The unknown part is what a download answered.
    pub remote: bool,
}

impl Arg {
    /// An argument whose text is known.
    pub fn known(text: impl Into<BString>) -> Self {
        Self {
            text: text.into(),
            glob: false,
            remote: false,
        }
    }

    /// An argument of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::known(vec![UNKNOWN])
    }

    /// A word made up at run time that names nothing that is there.
    #[must_use]
    pub fn token() -> Self {
        Self::known(vec![TOKEN])
    }

    /// A pattern over names.
    pub fn pattern(text: impl Into<BString>) -> Self {
        Self {
            text: text.into(),
            glob: true,
            remote: false,
        }
    }

    /// Returns true where every byte is known and none is a live pattern character.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        !self.glob && self.is_known()
    }

    /// Returns true where every byte is known, patterns included.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.text.contains(&UNKNOWN) && !self.text.contains(&TOKEN)
    }

    /// Returns true where something of any shape may stand in it.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        self.text.contains(&UNKNOWN)
    }

    /// The text, where all of it is known.
    #[must_use]
    pub fn literal(&self) -> Option<&BStr> {
        self.is_literal().then_some(self.text.as_bstr())
    }

    /// The text as UTF-8, where it is that and known; else empty.
    #[must_use]
    pub fn word(&self) -> &str {
        if self.is_known() {
            self.text.to_str().unwrap_or_default()
        } else {
            ""
        }
    }

    /// The text as people read it: unknown parts as `…`.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut shown = String::new();
        for part in self
            .text
            .split_inclusive(|byte| matches!(*byte, UNKNOWN | TOKEN))
        {
            let known = part
                .strip_suffix(&[UNKNOWN])
                .or_else(|| part.strip_suffix(&[TOKEN]));
            shown.push_str(&known.unwrap_or(part).to_str_lossy());
            if known.is_some() {
                shown.push('…');
            }
        }
        shown
    }

    /// Returns true where the text starts with a dash.
    #[must_use]
    pub fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with(b"-")
    }

    /// The part after the first `=`, with what is known of it.
    #[must_use]
    pub fn after_equals(&self) -> Option<Self> {
        let at = self.text.find_byte(b'=')?;
        Some(self.from(at + 1))
    }

    /// The text from a byte on.
    #[must_use]
    pub fn from(&self, at: usize) -> Self {
        Self {
            text: self.text.get(at..).unwrap_or_default().into(),
            ..*self
        }
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::known(text)
    }
}
