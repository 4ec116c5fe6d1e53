//! Conditions of statements: which of them narrow anything.

/// The words outside of brackets, up to the bracket that closes around them, with their places.
pub(super) fn top_level<'w>(words: &'w [&'w str]) -> impl Iterator<Item = (usize, &'w str)> {
    let mut open = 0_i32;
    words
        .iter()
        .copied()
        .enumerate()
        .take_while(move |(_, word)| {
            match *word {
                "(" => open += 1,
                ")" => open -= 1,
                _ => {}
            }
            open >= 0
        })
        .scan(0_i32, |open, (at, word)| {
            let before = *open;
            match word {
                "(" => *open += 1,
                ")" => *open -= 1,
                _ => {}
            }
            Some((before == 0).then_some((at, word)))
        })
        .flatten()
}

/// Returns true where no `WHERE` narrows, or one that is always true does.
pub(super) fn trivially(rest: &[&str]) -> bool {
    let limited = top_level(rest).any(|(_, word)| matches!(word, "limit" | "using"));
    let Some((at, _)) = top_level(rest).find(|(_, word)| *word == "where") else {
        return !limited;
    };
    let condition = rest.get(at + 1..).unwrap_or_default();
    let end = top_level(condition)
        .find(|(_, word)| matches!(*word, "returning" | "order" | "limit" | "allow" | "if"))
        .map(|(at, _)| at)
        .or_else(|| {
            let mut open = 0_i32;
            condition.iter().position(|word| {
                match *word {
                    "(" => open += 1,
                    ")" => open -= 1,
                    _ => {}
                }
                open < 0
            })
        })
        .unwrap_or(condition.len());
    !limited && always(condition.get(..end).unwrap_or_default(), 8)
}

/// Returns true for a condition that every row meets.
fn always(condition: &[&str], depth: u8) -> bool {
    if depth == 0 {
        return false;
    }
    parted(condition, "or").any(|either| {
        parted(either, "and").all(|both| match both {
            ["(", inner @ .., ")"] if top_level(both).count() == 1 => always(inner, depth - 1),
            _ => holds(both),
        })
    })
}

/// The parts between one word at the top level.
fn parted<'w>(words: &'w [&'w str], by: &'static str) -> impl Iterator<Item = &'w [&'w str]> {
    let mut ends: Vec<usize> = top_level(words)
        .filter(|(_, word)| *word == by)
        .map(|(at, _)| at)
        .collect();
    ends.push(words.len());
    let mut start = 0;
    ends.into_iter().map(move |end| {
        let part = words.get(start..end).unwrap_or_default();
        start = end + 1;
        part
    })
}

/// Returns true for a comparison that every row meets.
fn holds(comparison: &[&str]) -> bool {
    let number = |word: &str| word.parse::<i64>().ok();
    match comparison {
        ["true" | "'t" | "'true"] => true,
        [word] => number(word).is_some_and(|number| number != 0),
        ["not", "false" | "0"] | ["not", "(", "false" | "0", ")"] => true,
        [key, "is", "not", "null"] => {
            let name = key.rsplit('.').next().unwrap_or(key);
            matches!(name, "id" | "uuid" | "rowid" | "_id" | "ctid") || name.ends_with("_id")
        }
        [_, "like" | "ilike", literal] => {
            literal.len() > 1 && literal.bytes().skip(1).all(|byte| byte == b'%')
        }
        [left, "=", right] => left == right,
        [left, "<" | ">", "=", right] if left == right => true,
        [left, op @ ("<" | ">" | "!"), rest @ ..] => {
            let equal = matches!(rest, ["=", _]);
            let (Some(left), Some(right)) =
                (number(left), rest.last().and_then(|word| number(word)))
            else {
                return false;
            };
            match (*op, rest) {
                ("!", ["=", _]) | ("<", [">", _]) => left != right,
                ("<", _) => left < right || equal && left == right,
                _ => left > right || equal && left == right,
            }
        }
        _ => false,
    }
}
