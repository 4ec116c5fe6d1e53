//! Python code as tokens.

/// One token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'c> {
    Name(&'c str),
    Text { body: &'c str, formatted: bool },
    Sign(u8),
    Line,
}

/// Splits code into tokens, comments left out.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        if byte == b'#' {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if byte == b'\n' || byte == b';' {
            tokens.push(Token::Line);
            at += 1;
        } else if matches!(byte, b'"' | b'\'') {
            let (body, end) = string(code, at);
            tokens.push(Token::Text {
                body,
                formatted: false,
            });
            at = end;
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            let end = at
                + rest
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || **b >= 0x80)
                    .count();
            let word = code.get(at..end).unwrap_or_default();
            let quote = bytes.get(end).copied();
            if word.len() <= 2
                && matches!(quote, Some(b'"' | b'\''))
                && word.bytes().all(|b| b"rRbBuUfF".contains(&b))
            {
                let (body, after) = string(code, end);
                tokens.push(Token::Text {
                    body,
                    formatted: word.contains(['f', 'F']),
                });
                at = after;
            } else {
                tokens.push(Token::Name(word));
                at = end;
            }
        } else {
            if byte == b'\\' && bytes.get(at + 1) == Some(&b'\n') {
                at += 1;
            } else if !byte.is_ascii_whitespace() {
                tokens.push(Token::Sign(byte));
            }
            at += 1;
        }
    }
    tokens
}

/// The body of the string that begins at `start`, and where it ends.
fn string(code: &str, start: usize) -> (&str, usize) {
    let bytes = code.as_bytes();
    let quote = bytes.get(start).copied().unwrap_or_default();
    let triple = bytes
        .get(start..start + 3)
        .is_some_and(|three| three.iter().all(|b| *b == quote));
    let width = if triple { 3 } else { 1 };
    let from = start + width;
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' {
            at += 2;
        } else if !triple && byte == b'\n' {
            break;
        } else if byte == quote
            && (!triple
                || bytes
                    .get(at..at + 3)
                    .is_some_and(|three| three.iter().all(|b| *b == quote)))
        {
            return (code.get(from..at).unwrap_or_default(), at + width);
        } else {
            at += 1;
        }
    }
    let at = at.min(bytes.len());
    (code.get(from..at).unwrap_or_default(), at)
}
