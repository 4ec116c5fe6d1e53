//! JSON pointers (RFC 6901), built only when something is wrong.

/// One step into a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Segment<'k> {
    /// A member of an object.
    Key(&'k str),
    /// An item of a list.
    Index(usize),
}

/// A place in a value: a chain on the stack that costs nothing until it is named.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'p> {
    parent: Option<&'p At<'p>>,
    segment: Segment<'p>,
}

impl At<'_> {
    /// The whole value.
    pub(super) const ROOT: At<'static> = At {
        parent: None,
        segment: Segment::Key(""),
    };

    /// The place one step further in.
    pub(super) fn then<'q>(&'q self, segment: Segment<'q>) -> At<'q> {
        At {
            parent: Some(self),
            segment,
        }
    }

    /// The place of a member.
    pub(super) fn key<'q>(&'q self, name: &'q str) -> At<'q> {
        self.then(Segment::Key(name))
    }

    /// The place of an item.
    pub(super) fn index(&self, index: usize) -> At<'_> {
        self.then(Segment::Index(index))
    }

    /// The pointer as text; empty for the whole value.
    pub(super) fn pointer(&self) -> String {
        let mut segments = Vec::new();
        let mut next = Some(self);
        while let Some(at) = next {
            if at.parent.is_some() {
                segments.push(at.segment);
            }
            next = at.parent;
        }
        let mut text = String::new();
        for segment in segments.iter().rev() {
            text.push('/');
            match segment {
                Segment::Key(key) => text.push_str(&escaped(key)),
                Segment::Index(index) => text.push_str(&index.to_string()),
            }
        }
        text
    }

    /// The first step of the place, for messages about a place too deep to spell.
    pub(super) fn root_word(&self) -> String {
        let mut at = self;
        while let Some(parent) = at.parent {
            if parent.parent.is_none() {
                return match at.segment {
                    Segment::Key(key) => super::json::quoted(key),
                    Segment::Index(index) => format!("item {index}"),
                };
            }
            at = parent;
        }
        "the value itself".to_owned()
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
