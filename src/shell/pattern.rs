//! Shell patterns: `*`, `?`, `[…]`.

/// Returns true where `pattern` matches all of `text`; `*` does not stop at slashes.
///
/// Time is bounded by the product of both lengths.
#[must_use]
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            back = Some((p, t));
            p += 1;
            continue;
        }
        if let Some(next) = one(pattern, p, text.get(t).copied().unwrap_or_default()) {
            p = next;
            t += 1;
            continue;
        }
        let Some((star, from)) = back else {
            return false;
        };
        back = Some((star, from + 1));
        p = star + 1;
        t = from + 1;
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// Returns true where text holds characters that the shell matches against names.
#[must_use]
pub(crate) fn is_live(text: &[u8]) -> bool {
    text.iter().enumerate().any(|(at, byte)| match byte {
        b'*' | b'?' => true,
        b'[' => text.get(at + 2..).is_some_and(|rest| rest.contains(&b']')),
        _ => false,
    })
}

/// Matches one byte and returns where the pattern goes on.
fn one(pattern: &[u8], at: usize, byte: u8) -> Option<usize> {
    match pattern.get(at)? {
        b'?' => Some(at + 1),
        b'[' => match class(pattern, at, byte) {
            Some((true, next)) => Some(next),
            Some((false, _)) => None,
            None => (byte == b'[').then_some(at + 1),
        },
        b'\\' => (pattern.get(at + 1) == Some(&byte)).then_some(at + 2),
        literal => (*literal == byte).then_some(at + 1),
    }
}

/// Matches a bracket expression; `None` where it is not closed.
fn class(pattern: &[u8], at: usize, byte: u8) -> Option<(bool, usize)> {
    let mut next = at + 1;
    let negated = matches!(pattern.get(next), Some(b'!' | b'^'));
    if negated {
        next += 1;
    }
    let start = next;
    let mut found = false;
    loop {
        let low = *pattern.get(next)?;
        if low == b']' && next > start {
            return Some((found != negated, next + 1));
        }
        if pattern.get(next + 1) == Some(&b'-') && pattern.get(next + 2).is_some_and(|b| *b != b']')
        {
            let high = *pattern.get(next + 2)?;
            found |= (low..=high).contains(&byte);
            next += 3;
        } else {
            found |= low == byte;
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_a_shell_does() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rsx", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[", "[", true),
            ("a*b*c", "aXXbYYc", true),
            ("a*b*c", "aXXbYY", false),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }
}
