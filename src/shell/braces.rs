//! Brace expansion: `a{b,c}d`, `{1..9}` (bash(1), "Brace Expansion").

use super::syntax::{Part, Word};

/// Most words that one word may become; beyond it the braces are left as they are.
const MOST: usize = 512;

#[derive(Clone)]
enum Token {
    Byte(u8),
    Part(Part),
}

/// Expands the braces of a word; most words have none.
pub(super) fn expand(word: &Word) -> Option<Vec<Word>> {
    let has = word
        .iter()
        .any(|part| matches!(part, Part::Bare(bytes) if bytes.contains(&b'{')));
    if !has {
        return None;
    }
    let mut tokens = Vec::new();
    for part in word {
        match part {
            Part::Bare(bytes) => tokens.extend(bytes.iter().map(|byte| Token::Byte(*byte))),
            part => tokens.push(Token::Part(part.clone())),
        }
    }
    let mut words = Vec::new();
    alternatives(&tokens, &mut words, 0)?;
    (words.len() > 1).then(|| words.into_iter().map(join).collect())
}

/// Adds every expansion; `None` when there would be too many.
fn alternatives(tokens: &[Token], words: &mut Vec<Vec<Token>>, depth: u32) -> Option<()> {
    if words.len() > MOST || depth > 16 {
        return None;
    }
    let Some((open, close, commas)) = group(tokens) else {
        words.push(tokens.to_vec());
        return Some(());
    };
    let before = tokens.get(..open)?;
    let after = tokens.get(close + 1..)?;
    let inside = tokens.get(open + 1..close)?;
    let mut middles: Vec<Vec<Token>> = Vec::new();
    if commas.is_empty() {
        for item in range(inside)? {
            middles.push(item.into_iter().map(Token::Byte).collect());
        }
    } else {
        let mut start = open + 1;
        for comma in commas.iter().copied().chain([close]) {
            middles.push(tokens.get(start..comma)?.to_vec());
            start = comma + 1;
        }
    }
    for middle in middles {
        let mut whole = before.to_vec();
        whole.extend(middle);
        whole.extend_from_slice(after);
        alternatives(&whole, words, depth + 1)?;
    }
    Some(())
}

/// The first group that expands: its braces and the commas directly inside.
fn group(tokens: &[Token]) -> Option<(usize, usize, Vec<usize>)> {
    let mut from = 0;
    loop {
        let open = from
            + tokens
                .get(from..)?
                .iter()
                .position(|token| matches!(token, Token::Byte(b'{')))?;
        let mut depth = 0_u32;
        let mut commas = Vec::new();
        for (offset, token) in tokens.get(open..)?.iter().enumerate() {
            match token {
                Token::Byte(b'{') => depth += 1,
                Token::Byte(b',') if depth == 1 => commas.push(open + offset),
                Token::Byte(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        let close = open + offset;
                        let inside = tokens.get(open + 1..close)?;
                        if !commas.is_empty() || range(inside).is_some() {
                            return Some((open, close, commas));
                        }
                        break;
                    }
                }
                _ => {}
            }
        }
        from = open + 1;
    }
}

/// The items of `1..9`, `a..z`, `01..10..2`.
fn range(inside: &[Token]) -> Option<Vec<Vec<u8>>> {
    let mut text = String::new();
    for token in inside {
        match token {
            Token::Byte(byte) if byte.is_ascii() => text.push(char::from(*byte)),
            _ => return None,
        }
    }
    let mut ends = text.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let (low, high) = (first.min(last), first.max(last));
        if high.checked_sub(low)? > 256 {
            return None;
        }
        return Some((low..=high).map(|n| n.to_string().into_bytes()).collect());
    }
    let (&[first], &[last]) = (first.as_bytes(), last.as_bytes()) else {
        return None;
    };
    if !first.is_ascii_alphabetic() || !last.is_ascii_alphabetic() {
        return None;
    }
    let (low, high) = (first.min(last), first.max(last));
    Some((low..=high).map(|byte| vec![byte]).collect())
}

fn join(tokens: Vec<Token>) -> Word {
    let mut word = Word::new();
    for token in tokens {
        match (token, word.last_mut()) {
            (Token::Byte(byte), Some(Part::Bare(bytes))) => bytes.push(byte),
            (Token::Byte(byte), _) => word.push(Part::Bare(vec![byte].into())),
            (Token::Part(part), _) => word.push(part),
        }
    }
    word
}
