//! A JSON value that borrows from the text it was read from.

use std::borrow::Cow;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Json<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// An object: members in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Json<'a>)>,
}

/// A number, exact where 64 bits hold it as an integer.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer that is not negative.
    Natural(u64),
    /// A negative integer.
    Negative(i64),
    /// Anything else; finite.
    Decimal(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Natural(a), Self::Natural(b)) => a == b,
            (Self::Negative(a), Self::Negative(b)) => a == b,
            (a, b) => a.value().total_cmp(&b.value()).is_eq(),
        }
    }
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self::Natural(0);

    /// Reads the text of an integer; `None` where 64 bits do not hold it.
    #[must_use]
    pub fn from_integer(text: &str) -> Option<Self> {
        match text.strip_prefix('-') {
            None => text.parse().ok().map(Self::Natural),
            Some(_) => text.parse().ok().map(Self::Negative),
        }
    }

    /// Reads the text of a decimal number; `None` where no double holds it.
    #[must_use]
    pub fn from_decimal(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        value.is_finite().then_some(Self::Decimal(value))
    }

    /// The value as a double.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "compared with small limits only"
    )]
    pub fn value(self) -> f64 {
        match self {
            Self::Natural(value) => value as f64,
            Self::Negative(value) => value as f64,
            Self::Decimal(value) => value,
        }
    }

    /// Returns true for a whole number, `8.0` included, as JSON Schema counts it.
    #[must_use]
    pub fn is_whole(self) -> bool {
        match self {
            Self::Natural(_) | Self::Negative(_) => true,
            Self::Decimal(value) => value.fract() == 0.0,
        }
    }
}

impl<'a> Object<'a> {
    /// Makes an object of members.
    #[must_use]
    pub fn new(members: Vec<(Cow<'a, str>, Json<'a>)>) -> Self {
        Self { members }
    }

    /// The first member of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.members
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// The first member of a name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json<'a>> {
        self.members
            .iter_mut()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Sets a member, at the end when it is new.
    pub fn set(&mut self, name: &str, value: Json<'a>) {
        match self.get_mut(name) {
            Some(old) => *old = value,
            None => self.members.push((Cow::Owned(name.to_owned()), value)),
        }
    }

    /// Removes the members of a name and returns the first.
    pub fn remove(&mut self, name: &str) -> Option<Json<'a>> {
        let at = self.members.iter().position(|(key, _)| key == name)?;
        Some(self.members.remove(at).1)
    }

    /// All members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.members
            .iter()
            .map(|(key, value)| (key.as_ref(), value))
    }

    /// All members, in order, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json<'a>)> {
        self.members.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// Keeps the members whose name passes.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.members.retain(|(key, _)| keep(key));
    }

    /// Returns true when there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }
}

impl<'a> Json<'a> {
    /// The object, if it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if it is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Json<'a>]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The number's value, if it is one.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.value()),
            _ => None,
        }
    }

    /// Returns true for `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// What sort of value it is, as a person says it.
    #[must_use]
    pub fn sort(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// Copies what a foreign value holds.
    #[must_use]
    pub fn from_value(value: &serde_json::Value) -> Json<'static> {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(flag) => Json::Flag(*flag),
            serde_json::Value::Number(number) => Json::Number(if let Some(n) = number.as_u64() {
                Number::Natural(n)
            } else if let Some(n) = number.as_i64() {
                Number::Negative(n)
            } else {
                Number::Decimal(number.as_f64().unwrap_or_default())
            }),
            serde_json::Value::String(text) => Json::Text(Cow::Owned(text.clone())),
            serde_json::Value::Array(items) => {
                Json::List(items.iter().map(Json::from_value).collect())
            }
            serde_json::Value::Object(members) => Json::Object(Object::new(
                members
                    .iter()
                    .map(|(key, value)| (Cow::Owned(key.clone()), Json::from_value(value)))
                    .collect(),
            )),
        }
    }

    /// The value for writing it out.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Flag(flag) => (*flag).into(),
            Self::Number(Number::Natural(number)) => (*number).into(),
            Self::Number(Number::Negative(number)) => (*number).into(),
            Self::Number(Number::Decimal(number)) => (*number).into(),
            Self::Text(text) => text.as_ref().into(),
            Self::List(items) => items.iter().map(Json::to_value).collect(),
            Self::Object(object) => serde_json::Value::Object(
                object
                    .iter()
                    .map(|(key, value)| (key.to_owned(), value.to_value()))
                    .collect(),
            ),
        }
    }
}
