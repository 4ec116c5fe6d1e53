//! The state file of the old place, `.workflow/.loop/SESSION/state.json`, moved forward. Pure.
//!
//! It had other names: `session_id`, `task_description`, `status: pending`,
//! `develop.total_count`, `develop.completed_count`, and the phases beside the
//! other fields instead of under `skill_state`.

use super::state::{LoopState, SkillState, Status};
use serde_json::{Map, Value, json};

/// Reads an old state as a new one.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn forward(id: &str, bytes: &[u8], now: &str) -> Result<LoopState, String> {
    let mut old: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let text = |old: &mut Map<String, Value>, name: &str| {
        old.remove(name)
            .and_then(|value| value.as_str().map(str::to_owned))
    };
    old.remove("session_id");
    let description = text(&mut old, "task_description")
        .or_else(|| text(&mut old, "description"))
        .filter(|text| !text.trim().is_empty())
        .ok_or("it has no task_description")?;
    let skill = skill(&mut old)?;
    let status = match text(&mut old, "status").as_deref() {
        Some("running" | "in_progress" | "initialized") => Status::Running,
        Some("completed") if skill.as_ref().is_some_and(|skill| skill.validate.passed) => {
            Status::Completed
        }
        Some("failed") => Status::Failed,
        Some("pending" | "created") | None if skill.is_none() => Status::Created,
        _ => Status::Paused,
    };
    let number = |old: &mut Map<String, Value>, name: &str| {
        old.remove(name).and_then(|value| value.as_u64())
    };
    let state = LoopState {
        loop_id: id.to_owned(),
        title: text(&mut old, "title").unwrap_or_else(|| description.chars().take(60).collect()),
        description,
        max_iterations: number(&mut old, "max_iterations").unwrap_or(10),
        status,
        current_iteration: number(&mut old, "current_iteration")
            .or_else(|| number(&mut old, "iteration_count"))
            .unwrap_or_default(),
        created_at: text(&mut old, "created_at").unwrap_or_else(|| now.to_owned()),
        updated_at: now.to_owned(),
        completed_at: text(&mut old, "completed_at"),
        failure_reason: text(&mut old, "failure_reason"),
        skill_state: skill,
        extra: old,
    };
    Ok(state)
}

/// The agent's side; `None` where nothing was done yet.
fn skill(old: &mut Map<String, Value>) -> Result<Option<SkillState>, String> {
    let initialized = old.remove("initialized") == Some(Value::Bool(true));
    let mut value = match old.remove("skill_state") {
        Some(Value::Object(skill)) => skill,
        _ => Map::new(),
    };
    for name in [
        "current_action",
        "last_action",
        "completed_actions",
        "mode",
        "develop",
        "debug",
        "validate",
        "errors",
    ] {
        if let Some(part) = old.remove(name) {
            value.insert(name.to_owned(), part);
        }
    }
    if value.is_empty() && !initialized {
        return Ok(None);
    }
    let mut whole = serde_json::to_value(SkillState::new(super::state::Mode::Auto))
        .map_err(|error| error.to_string())?;
    for (name, part) in value {
        let part = renamed(&name, part);
        match (whole.get_mut(&name), part) {
            (Some(Value::Object(fields)), Value::Object(part)) => fields.extend(part),
            (_, Value::Null) => {}
            (_, part) => {
                if let Some(whole) = whole.as_object_mut() {
                    whole.insert(name, part);
                }
            }
        }
    }
    let mut skill: SkillState = serde_json::from_value(whole).map_err(|error| error.to_string())?;
    skill.recount();
    Ok(Some(skill))
}

fn renamed(name: &str, mut part: Value) -> Value {
    if let (true, Some(fields)) = (name == "develop", part.as_object_mut()) {
        for (old, new) in [("total_count", "total"), ("completed_count", "completed")] {
            if let Some(value) = fields.remove(old) {
                fields.insert(new.to_owned(), value);
            }
        }
        fields.entry("tasks").or_insert_with(|| json!([]));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::state::inconsistencies;

    const NOW: &str = "2026-11-20T00:00:00.000Z";

    #[test]
    fn the_old_names_are_moved_forward() {
        let old = json!({
            "session_id": "s-1", "task_description": "Add login", "status": "running",
            "initialized": true, "theme": "dark",
            "develop": {"total_count": 9, "completed_count": 9, "tasks": [{"id": "t", "description": "d", "status": "completed"}]},
            "debug": {"hypotheses": [], "hypotheses_count": 0, "iteration": 2},
        });
        let state = forward("s-1", old.to_string().as_bytes(), NOW).expect("moved");
        assert_eq!(state.status, Status::Running);
        assert_eq!(state.description, "Add login");
        assert_eq!(state.extra["theme"], "dark");
        assert_eq!(inconsistencies(&state, "s-1"), Vec::<String>::new());
        let skill = state.skill_state.expect("actions");
        assert_eq!((skill.develop.total, skill.develop.completed), (1, 1));
        assert_eq!(skill.debug.iteration, 2);
    }

    #[test]
    fn an_old_loop_that_never_ran_is_created() {
        let old =
            json!({"session_id": "s-1", "task_description": "Add login", "status": "pending"});
        let state = forward("s-1", old.to_string().as_bytes(), NOW).expect("moved");
        assert_eq!(state.status, Status::Created);
        assert_eq!(inconsistencies(&state, "s-1"), Vec::<String>::new());
        assert!(forward("s-1", b"{}", NOW).is_err());
        assert!(forward("s-1", b"torn", NOW).is_err());
    }
}
