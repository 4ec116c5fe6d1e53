//! What Python makes of the text before it means anything: letters folded, literals joined.

use super::tokens::Token;
use std::borrow::Cow;

/// Letters as Python reads names: those that only look different are the same (NFKC).
///
/// Full-width letters and the mathematical alphabets are the ones that can spell a name of ASCII.
pub(super) fn folded(code: &str) -> Cow<'_, str> {
    if code.is_ascii() || !code.chars().any(|c| plain(c).is_some()) {
        return Cow::Borrowed(code);
    }
    Cow::Owned(code.chars().map(|c| plain(c).unwrap_or(c)).collect())
}

fn plain(c: char) -> Option<char> {
    let code = u32::from(c);
    match code {
        0xff21..=0xff3a | 0xff41..=0xff5a | 0xff10..=0xff19 | 0xff3f => {
            char::from_u32(code - 0xfee0)
        }
        0x1d400..=0x1d6a3 => {
            let place = u8::try_from((code - 0x1d400) % 52).ok()?;
            Some(char::from(if place < 26 {
                b'A' + place
            } else {
                b'a' + place - 26
            }))
        }
        _ => None,
    }
}

/// The text that a literal and those added to it spell, escapes taken for what they stand for.
///
/// `None` where that is the literal's own text.
pub(super) fn joined(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let Some(Token::Text { body, .. }) = tokens.get(at) else {
        return None;
    };
    let mut whole = unescaped(body);
    let mut at = at + 1;
    loop {
        let next = match (tokens.get(at), tokens.get(at + 1)) {
            (Some(Token::Text { body, .. }), _) => {
                at += 1;
                body
            }
            (Some(Token::Sign(b'+')), Some(Token::Text { body, .. })) => {
                at += 2;
                body
            }
            _ => break,
        };
        whole.push_str(&unescaped(next));
    }
    (whole != **body).then_some(whole)
}

/// Replaces `\x2f`, `\57` and `\u002f`; other escapes stay as they are.
fn unescaped(body: &str) -> String {
    let mut parts = body.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (skip, digits, radix) = match part.bytes().next() {
            Some(b'x') => (1, 2, 16),
            Some(b'u') => (1, 4, 16),
            Some(b'0'..=b'7') => {
                let digits = part
                    .bytes()
                    .take(3)
                    .take_while(|b| (b'0'..=b'7').contains(b));
                (0, digits.count(), 8)
            }
            _ => {
                text.push('\\');
                text.push_str(part);
                continue;
            }
        };
        let read = part
            .get(skip..skip + digits)
            .and_then(|digits| u32::from_str_radix(digits, radix).ok())
            .and_then(char::from_u32);
        if let Some(c) = read {
            text.push(c);
            text.push_str(part.get(skip + digits..).unwrap_or_default());
        } else {
            text.push('\\');
            text.push_str(part);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_look_alikes_are_read_as_python_reads_them() {
        assert_eq!(unescaped(r"\x2fetc\57shadow\u002f"), "/etc/shadow/");
        assert_eq!(unescaped(r"C:\new\q\x2"), r"C:\new\q\x2");
        assert_eq!(folded("ｅｖａｌ(1)"), "eval(1)");
        assert_eq!(folded("𝐞𝑣𝖺𝗅"), "eval");
        assert_eq!(folded("数据"), "数据");
    }
}
