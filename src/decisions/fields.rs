//! The words in which payloads are described: fields, kinds, ranges.
//!
//! One table ([`super::shapes`]) is read three ways: by the validator, by the
//! corrector and by the JSON Schema writer, so that they cannot drift apart.

/// Whether a member has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// It has to.
    Required,
    /// It may be absent.
    Optional,
    /// It may be absent or `null`.
    Nullable,
}

/// A range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// The least value.
    pub(super) least: f64,
    /// Whether the least value itself is out.
    pub(super) above: Bound,
    /// The greatest value, where there is one.
    pub(super) most: Option<f64>,
}

/// Whether a bound belongs to its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// It does.
    Included,
    /// It does not.
    Excluded,
}

impl Range {
    /// From `least` to `most`, both included.
    pub(super) const fn of(least: f64, most: f64) -> Self {
        Self {
            least,
            above: Bound::Included,
            most: Some(most),
        }
    }

    /// From `least`, without an end.
    pub(super) const fn from(least: f64) -> Self {
        Self {
            least,
            above: Bound::Included,
            most: None,
        }
    }

    /// Above zero and at most `most`.
    pub(super) const fn above_zero(most: Option<f64>) -> Self {
        Self {
            least: 0.0,
            above: Bound::Excluded,
            most,
        }
    }

    /// Returns true where the value lies in the range.
    pub(super) fn holds(self, value: f64) -> bool {
        let low = match self.above {
            Bound::Included => value >= self.least,
            Bound::Excluded => value > self.least,
        };
        low && self.most.is_none_or(|most| value <= most)
    }

    /// The nearest value of the range, where there is a nearest one.
    pub(super) fn clamp(self, value: f64) -> Option<f64> {
        match self.most {
            Some(most) if value > most => Some(most),
            _ if value < self.least && self.above == Bound::Included => Some(self.least),
            _ => None,
        }
    }

    /// The range in words.
    pub(super) fn words(self) -> String {
        match (self.above, self.most) {
            (Bound::Included, Some(most)) => format!("from {} to {most}", self.least),
            (Bound::Included, None) => format!("{} or more", self.least),
            (Bound::Excluded, Some(most)) => format!("above {} and at most {most}", self.least),
            (Bound::Excluded, None) => format!("above {}", self.least),
        }
    }
}

/// What a member holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A string that is not blank.
    Filled,
    /// A string that names a field: a letter or `_`, then letters, digits, `_`, `.`, `-`.
    FieldName,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An HTTP method, in any case, or a template.
    Method,
    /// A number.
    Number(Range),
    /// A whole number.
    Whole(Range),
    /// A boolean.
    Flag,
    /// An object.
    Object,
    /// A string that is not blank, or an object with a member at least.
    Query,
    /// A list of at least `least` items.
    List {
        /// How many there must be.
        least: usize,
        /// How many there may be, where that is limited.
        most: Option<usize>,
        /// What each is.
        each: &'static Kind,
    },
    /// An object of a shape.
    Shaped(&'static Shape),
    /// The configuration of the node whose type stands beside it.
    NodeConfig {
        /// The member that holds the type.
        beside: &'static str,
    },
    /// New values for fields of a node, at least one, each a field that nodes have.
    Updates,
    /// New values for fields of a node, of whatever names.
    Modifications,
}

/// What a missing or unusable value is replaced with by a correction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Default {
    /// Nothing: it cannot be invented.
    None,
    /// A word.
    Text(&'static str),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// An empty object.
    Object,
    /// An empty list.
    List,
    /// The value of the member beside it.
    Beside(&'static str),
}

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether it has to be there.
    pub(super) need: Need,
    /// What it holds.
    pub(super) kind: Kind,
    /// What a correction fills in.
    pub(super) default: Default,
}

/// What becomes of members that a shape does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// They are faults.
    Refused,
    /// They are left alone.
    Kept,
}

/// A rule that ties members together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tie {
    /// At least one of these has to be there.
    AnyOf(&'static [&'static str]),
    /// Where `field` holds `word`, `needs` has to be there and not be `null`.
    When {
        /// The member that decides.
        field: &'static str,
        /// Its deciding word.
        word: &'static str,
        /// The member that is then needed.
        needs: &'static str,
        /// What a correction fills in.
        default: Default,
    },
    /// The object tells of a failure: see [`super::shapes::FAILURE_KEYS`].
    TellsOfFailure,
}

/// The members of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The members it names.
    pub(super) fields: &'static [Field],
    /// What becomes of others.
    pub(super) others: Others,
    /// Rules over several members.
    pub(super) ties: &'static [Tie],
}

impl Shape {
    /// The field of a name.
    pub(super) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// A member that has to be there.
pub(super) const fn needed(name: &'static str, kind: Kind) -> Field {
    needed_or(name, kind, Default::None)
}

/// A member that has to be there and that a correction can fill in.
pub(super) const fn needed_or(name: &'static str, kind: Kind, default: Default) -> Field {
    Field {
        name,
        need: Need::Required,
        kind,
        default,
    }
}

/// A member that may be absent.
pub(super) const fn optional(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        need: Need::Optional,
        kind,
        default: Default::None,
    }
}

/// A member that may be absent or `null`.
pub(super) const fn nullable(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        need: Need::Nullable,
        kind,
        default: Default::None,
    }
}
