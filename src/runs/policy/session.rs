//! Session ids, taken from what each agent prints; never invented, never mixed.
//!
//! Source: SPEC §8; measured on the agents' own output (codex 0.169, gemini-cli
//! 0.61, claude-code 2.1, copilot 1.0, opencode 1.18).

use super::outcome::without_controls;
use serde_json::Value;

/// Where one agent prints its session id.
struct Place {
    agent: &'static str,
    /// Key of a JSON object; `type` the object must have, empty for any.
    json: &'static [(&'static str, &'static str)],
    /// Text before the id, lower-case.
    text: &'static [&'static str],
}

const PLACES: &[Place] = &[
    Place {
        agent: "codex",
        json: &[
            ("thread.started", "thread_id"),
            ("session_configured", "session_id"),
        ],
        text: &["session id:"],
    },
    Place {
        agent: "gemini",
        json: &[("init", "session_id"), ("", "session_id")],
        text: &[],
    },
    Place {
        agent: "claude",
        json: &[("", "session_id")],
        text: &[],
    },
    Place {
        agent: "copilot",
        json: &[("result", "sessionId")],
        text: &["copilot --resume="],
    },
    Place {
        agent: "opencode",
        json: &[("", "sessionID")],
        text: &[],
    },
];

/// Text that any program may print on purpose.
const DECLARED: &[&str] = &["session_id:", "session_id="];

/// The agent's canonical name, for which sessions are kept.
#[must_use]
pub fn canonical(agent: &str) -> &str {
    match agent {
        "gemini-cli" => "gemini",
        "claude-code" => "claude",
        other => other,
    }
}

/// Takes the session id from an agent's output; `None` where it printed none.
///
/// `head` and `tail` are the first and last parts of its output: ids stand on
/// the first line (codex, gemini), on every line (claude, opencode) or on the
/// last one (copilot). An unknown agent's id is taken only where it declares
/// one as `SESSION_ID: …`.
#[must_use]
pub fn extract(agent: &str, head: &[u8], tail: &[u8]) -> Option<String> {
    let agent = canonical(agent);
    let place = PLACES.iter().find(|place| place.agent == agent);
    let head = without_controls(&String::from_utf8_lossy(head));
    let tail = without_controls(&String::from_utf8_lossy(tail));
    [&head, &tail].into_iter().find_map(|text| {
        place
            .and_then(|place| in_json(place, text).or_else(|| after(place.text, text)))
            .or_else(|| after(DECLARED, text))
    })
}

fn in_json(place: &Place, text: &str) -> Option<String> {
    for (kind, key) in place.json {
        for line in text.lines().map(str::trim) {
            if !(line.starts_with('{') && line.contains(key)) {
                continue;
            }
            let Ok(Value::Object(object)) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let fits = kind.is_empty() || object.get("type").and_then(Value::as_str) == Some(*kind);
            if let Some(id) = object.get(*key).and_then(Value::as_str)
                && fits
                && is_id(id)
            {
                return Some(id.to_owned());
            }
        }
    }
    // `--output-format json` prints one object over many lines.
    let start = text.find('{')?;
    let object = serde_json::Deserializer::from_str(text.get(start..)?)
        .into_iter::<Value>()
        .next()?
        .ok()?;
    place.json.iter().find_map(|(kind, key)| {
        let fits = kind.is_empty() || object.get("type").and_then(Value::as_str) == Some(*kind);
        object
            .get(*key)
            .and_then(Value::as_str)
            .filter(|id| fits && is_id(id))
            .map(str::to_owned)
    })
}

fn after(marks: &[&str], text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        marks.iter().find_map(|mark| {
            let at = lower.find(mark)?;
            let id: String = line
                .get(at + mark.len()..)?
                .trim_start()
                .trim_start_matches(['"', '\'', '`'])
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
                .collect();
            is_id(&id).then_some(id)
        })
    })
}

/// Ids are one word of reasonable length; an option's look-alike is refused so that it cannot become one.
fn is_id(id: &str) -> bool {
    (4..=128).contains(&id.len())
        && !id.starts_with('-')
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !matches!(id, "null" | "none" | "None" | "undefined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agents_own_place_is_read() {
        let uuid = "0199f3c1-7a55-7d10-8c4e-1f2a3b4c5d6e";
        for (agent, text) in [
            (
                "codex",
                format!(
                    "{{\"type\":\"thread.started\",\"thread_id\":\"{uuid}\"}}\n{{\"type\":\"turn.started\"}}"
                ),
            ),
            (
                "codex",
                format!(
                    "OpenAI Codex v0.169.0\n--------\nworkdir: /w\nsession id: {uuid}\n--------"
                ),
            ),
            (
                "gemini",
                format!("{{\"type\":\"init\",\"session_id\":\"{uuid}\",\"model\":\"m\"}}"),
            ),
            (
                "gemini",
                format!("{{\n  \"session_id\": \"{uuid}\",\n  \"response\": \"ok\"\n}}"),
            ),
            (
                "claude",
                format!("{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{uuid}\"}}"),
            ),
            (
                "claude-code",
                format!("{{\"type\":\"result\",\"session_id\":\"{uuid}\",\"result\":\"x\"}}"),
            ),
            (
                "copilot",
                format!("{{\"type\":\"x\"}}\n{{\"type\":\"result\",\"sessionId\":\"{uuid}\"}}"),
            ),
            ("copilot", format!("Resume        copilot --resume={uuid}")),
            (
                "opencode",
                format!("{{\"type\":\"text\",\"sessionID\":\"{uuid}\",\"part\":{{}}}}"),
            ),
            ("mine", format!("done\nSESSION_ID: {uuid}\n")),
        ] {
            assert_eq!(
                extract(agent, text.as_bytes(), b"").as_deref(),
                Some(uuid),
                "{agent}: {text}"
            );
            assert_eq!(
                extract(agent, b"", text.as_bytes()).as_deref(),
                Some(uuid),
                "{agent}: {text}"
            );
        }
    }

    #[test]
    fn no_agent_takes_anothers_id() {
        let opencode = r#"{"type":"text","sessionID":"ses_12345678"}"#;
        let codex = r#"{"type":"thread.started","thread_id":"0199f3c1-7a55"}"#;
        let copilot = r#"{"type":"other","sessionId":"0199f3c1-7a55"}"#;
        for (agent, text) in [
            ("claude", opencode),
            ("codex", opencode),
            ("claude", codex),
            ("opencode", codex),
            ("copilot", copilot),
            ("make", codex),
        ] {
            assert_eq!(
                extract(agent, text.as_bytes(), b""),
                None,
                "{agent}: {text}"
            );
        }
    }

    #[test]
    fn nothing_is_invented() {
        for text in [
            "",
            "SESSION_ID:",
            "SESSION_ID: --yolo",
            "session_id: null",
            "{\"session_id\":null}",
            "{\"session_id\":\"a b\"}",
            "{\"session_id\":",
        ] {
            assert_eq!(extract("claude", text.as_bytes(), b""), None, "{text}");
        }
    }
}
