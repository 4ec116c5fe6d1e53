//! Secrets that stand in an address: signed links, webhooks, bots' tokens.

use std::ops::Range;

/// What comes before a secret that ends its address.
const HOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "hooks.zapier.com/hooks/catch/",
    "maker.ifttt.com/trigger/",
];

/// Parameters whose value lets whoever has it in.
const SIGNATURES: &[&str] = &[
    "sig=",
    "signature=",
    "x-amz-signature=",
    "x-amz-credential=",
    "x-goog-signature=",
    "key=",
    "code=",
];

/// Finds them.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if !text.contains('/') {
        return;
    }
    let lower = text.to_ascii_lowercase();
    let ends = |from: usize, stop: &str| {
        text.get(from..)
            .and_then(|rest| {
                rest.find(|letter: char| {
                    letter.is_whitespace() || "\"'`<>|".contains(letter) || stop.contains(letter)
                })
            })
            .map_or(text.len(), |length| from + length)
    };
    for hook in HOOKS {
        for (at, _) in lower.match_indices(hook) {
            let start = at + hook.len();
            let end = ends(start, "?");
            if end > start {
                found.push(start..end);
            }
        }
    }
    for name in SIGNATURES {
        for (at, _) in lower.match_indices(name) {
            let before = at.checked_sub(1).and_then(|at| lower.as_bytes().get(at));
            let start = at + name.len();
            let end = ends(start, "&;)");
            let long = if matches!(*name, "key=" | "code=") {
                12
            } else {
                4
            };
            if matches!(before, Some(b'?' | b'&')) && end - start >= long {
                found.push(start..end);
            }
        }
    }
    for (at, word) in lower.match_indices("/bot") {
        let start = at + word.len();
        let end = ends(start, "/?");
        let token = text.get(start..end).unwrap_or_default();
        if let Some((id, key)) = token.split_once(':')
            && id.len() >= 6
            && id.bytes().all(|byte| byte.is_ascii_digit())
            && key.len() >= 30
        {
            found.push(start..end);
        }
    }
}

/// A chat service's token: three parts of known lengths.
pub(super) fn parts(text: &str, found: &mut Vec<Range<usize>>) {
    let mut start = 0;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let bytes = text.as_bytes();
    while start < bytes.len() {
        let length = bytes
            .iter()
            .skip(start)
            .take_while(|byte| is_token(**byte))
            .count();
        if length >= 58 {
            let word = text.get(start..start + length).unwrap_or_default();
            let lengths: Vec<usize> = word.split('.').map(str::len).collect();
            if matches!(lengths.as_slice(), [23..=30, 6, last] if *last >= 27) {
                found.push(start..start + length);
            }
        }
        start += length + 1;
    }
}
