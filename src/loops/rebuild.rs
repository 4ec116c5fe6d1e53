//! Puts a damaged state together again from what is left, and names what is lost. Pure.
//!
//! For each part, the best source that can be read: the damaged file's own
//! part, Holdpoint's record of what it wrote last (API fields), the progress
//! file of the phase, the task list. What none of them holds is named.

use super::progress;
use super::state::{
    Debug, Develop, ErrorNote, LoopState, Mode, SkillState, Status, Task, Validate, inconsistencies,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Everything that a state can be rebuilt from.
#[derive(Debug, Default)]
pub struct Sources {
    /// The damaged file's text.
    pub damaged: Option<Vec<u8>>,
    /// The API fields as Holdpoint wrote them last.
    pub record: Option<Value>,
    /// `develop.md`.
    pub develop: Option<String>,
    /// `debug.md`.
    pub debug: Option<String>,
    /// `validate.md`.
    pub validate: Option<String>,
    /// `ID.tasks.jsonl`.
    pub tasks: Option<String>,
}

/// A state put together again.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebuilt {
    /// The state.
    pub state: LoopState,
    /// Where each part came from.
    pub found: Vec<String>,
    /// What could not be rebuilt, and what stands there now.
    pub lost: Vec<String>,
}

/// Reads a state file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(bytes: &[u8], id: &str) -> Result<LoopState, Vec<String>> {
    if bytes.trim_ascii().is_empty() {
        return Err(vec!["the file is empty".to_owned()]);
    }
    let state: LoopState =
        serde_json::from_slice(bytes).map_err(|error| vec![error.to_string()])?;
    let wrong = inconsistencies(&state, id);
    if wrong.is_empty() {
        Ok(state)
    } else {
        Err(wrong)
    }
}

/// Rebuilds a state; `now` (RFC 3339) stands where no time is left.
#[must_use]
pub fn rebuild(id: &str, sources: &Sources, now: &str) -> Rebuilt {
    let damaged = sources
        .damaged
        .as_deref()
        .and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok());
    let mut work = Work {
        damaged: damaged.unwrap_or(Value::Null),
        record: sources.record.clone().unwrap_or(Value::Null),
        found: Vec::new(),
        lost: Vec::new(),
    };
    let skill = work.skill(sources);
    let mut state = work.api(id, now, skill.is_some());
    if let Some((_, iteration)) = &skill
        && state.current_iteration < *iteration
    {
        // The progress files are written before the state.
        state.current_iteration = *iteration;
    }
    state.skill_state = skill.map(|(skill, _)| skill);
    settle(&mut state, &mut work.lost);
    Rebuilt {
        state,
        found: work.found,
        lost: work.lost,
    }
}

/// Makes the parts agree with each other.
fn settle(state: &mut LoopState, lost: &mut Vec<String>) {
    if let Some(skill) = &mut state.skill_state {
        skill.recount();
        for (name, rate) in [
            ("validate.pass_rate", &mut skill.validate.pass_rate),
            ("validate.coverage", &mut skill.validate.coverage),
        ] {
            if !rate
                .as_f64()
                .is_some_and(|rate| (0.0..=100.0).contains(&rate))
            {
                lost.push(format!("{name}: it was {rate}; now 0"));
                *rate = 0.into();
            }
        }
    }
    if state.description.trim().is_empty() {
        lost.push("description: it was empty; now the title".to_owned());
        state.description.clone_from(&state.title);
    }
    let passed = state
        .skill_state
        .as_ref()
        .is_some_and(|skill| skill.validate.passed);
    if state.status == Status::Completed && !passed {
        lost.push("status: it was completed without a passed validation; now paused".to_owned());
        state.status = Status::Paused;
        state.completed_at = None;
    }
    if state.status == Status::Created && state.skill_state.is_some() {
        state.status = Status::Paused;
        lost.push("status: it was created although actions were taken; now paused".to_owned());
    }
}

struct Work {
    damaged: Value,
    record: Value,
    found: Vec<String>,
    lost: Vec<String>,
}

impl Work {
    /// A field from the damaged file, else from the record.
    fn field<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let read = |value: &Value| {
            value
                .get(name)
                .and_then(|value| serde_json::from_value::<T>(value.clone()).ok())
        };
        if let Some(value) = read(&self.damaged) {
            return Some(value);
        }
        let value = read(&self.record)?;
        self.found
            .push(format!("{name} from Holdpoint's own record"));
        Some(value)
    }

    fn field_or<T: DeserializeOwned>(&mut self, name: &str, shown: &str, default: T) -> T {
        self.field(name).unwrap_or_else(|| {
            self.lost.push(format!("{name}: now {shown}"));
            default
        })
    }

    fn api(&mut self, id: &str, now: &str, acted: bool) -> LoopState {
        let title = self.field_or("title", "the loop's id", id.to_owned());
        let status = self.field("status").unwrap_or_else(|| {
            self.lost.push("status: now paused".to_owned());
            Status::Paused
        });
        let iteration: Option<u64> = self.field("current_iteration");
        if iteration.is_none() && !acted {
            self.lost.push("current_iteration: now 0".to_owned());
        }
        LoopState {
            loop_id: id.to_owned(),
            description: self.field_or("description", "the title", title.clone()),
            title,
            max_iterations: self.field_or("max_iterations", "10", 10),
            status,
            current_iteration: iteration.unwrap_or_default(),
            created_at: self.field_or("created_at", "the time of the rebuild", now.to_owned()),
            updated_at: now.to_owned(),
            completed_at: self.field("completed_at"),
            failure_reason: self.field("failure_reason"),
            skill_state: None,
            extra: self.unknown(),
        }
    }

    /// Fields that the schema does not name: of the damaged file, or of the record where that is no object at all.
    fn unknown(&self) -> Map<String, Value> {
        const KNOWN: &[&str] = &[
            "loop_id",
            "title",
            "description",
            "max_iterations",
            "status",
            "current_iteration",
            "created_at",
            "updated_at",
            "completed_at",
            "failure_reason",
            "skill_state",
            "acted",
        ];
        self.damaged
            .as_object()
            .or_else(|| self.record.as_object())
            .into_iter()
            .flatten()
            .filter(|(name, _)| !KNOWN.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The agent's side and the iterations done by it; `None` where no action left a trace.
    fn skill(&mut self, sources: &Sources) -> Option<(SkillState, u64)> {
        let old = self
            .damaged
            .get("skill_state")
            .cloned()
            .unwrap_or(Value::Null);
        if let Ok(skill) = serde_json::from_value::<SkillState>(old.clone()) {
            return Some((skill, 0));
        }
        let develop = page(sources.develop.as_deref(), progress::read_develop);
        let debug = page(sources.debug.as_deref(), progress::read_debug);
        let validate = page(sources.validate.as_deref(), progress::read_validate);
        if old.is_null() && develop.is_none() && debug.is_none() && validate.is_none() {
            if sources.record.as_ref().and_then(|r| r.get("acted")) == Some(&Value::Bool(true)) {
                self.lost.push(
                    "skill_state: neither the file nor a progress file holds it; the loop begins again"
                        .to_owned(),
                );
            }
            return None;
        }
        let mut skill = SkillState::new(Mode::Auto);
        let mut iteration = 0;
        if let Some(Ok(front)) = &develop {
            skill = front.skill.clone();
            iteration = front.iteration;
        }
        skill.develop = self
            .part::<Develop>(
                &old,
                "develop",
                develop.map(|read| read.map(|f| f.skill.develop)),
            )
            .unwrap_or_else(|| self.tasks(sources.tasks.as_deref()));
        self.short_of(
            "develop.md",
            "task",
            (skill.develop.total, skill.develop.tasks.len()),
        );
        let (phase, errors) = match debug {
            Some(Ok((phase, errors))) => (Some(Ok(phase)), Some(errors)),
            Some(Err(why)) => (Some(Err(why)), None),
            None => (None, None),
        };
        skill.debug = self.part::<Debug>(&old, "debug", phase).unwrap_or_default();
        self.short_of(
            "debug.md",
            "hypothesis",
            (skill.debug.hypotheses_count, skill.debug.hypotheses.len()),
        );
        skill.validate = self
            .part::<Validate>(&old, "validate", validate)
            .unwrap_or_default();
        let own = |name: &str| old.get(name).cloned().unwrap_or(Value::Null);
        if let Ok(own) = serde_json::from_value::<Vec<ErrorNote>>(own("errors")) {
            skill.errors = own;
        } else if let Some(errors) = errors {
            skill.errors = errors;
        } else {
            self.lost.push("skill_state.errors: now none".to_owned());
        }
        for name in ["current_action", "last_action"] {
            if let Some(text) = own(name).as_str() {
                let place = if name == "last_action" {
                    &mut skill.last_action
                } else {
                    &mut skill.current_action
                };
                *place = Some(text.to_owned());
            }
        }
        if let Ok(actions) = serde_json::from_value(own("completed_actions")) {
            skill.completed_actions = actions;
        }
        if let Ok(mode) = serde_json::from_value(own("mode")) {
            skill.mode = mode;
        }
        Some((skill, iteration))
    }

    /// A phase from the damaged file, else from its progress file; what is lost is noted.
    fn part<T: DeserializeOwned>(
        &mut self,
        old: &Value,
        name: &str,
        page: Option<Result<T, String>>,
    ) -> Option<T> {
        if let Some(Ok(part)) = old
            .get(name)
            .map(|part| serde_json::from_value::<T>(part.clone()))
        {
            self.found
                .push(format!("skill_state.{name} from the damaged file"));
            return Some(part);
        }
        match page {
            Some(Ok(part)) => {
                self.found
                    .push(format!("skill_state.{name} from {name}.md"));
                Some(part)
            }
            Some(Err(why)) => {
                self.lost.push(format!(
                    "skill_state.{name}: {name}.md cannot be read: {why}"
                ));
                None
            }
            None => {
                self.lost
                    .push(format!("skill_state.{name}: there is no {name}.md"));
                None
            }
        }
    }

    /// Names rows that a list should hold and does not: a page may have been cut off.
    fn short_of(&mut self, page: &str, what: &str, (counted, listed): (u64, usize)) {
        if counted > listed as u64 {
            self.lost.push(format!(
                "{what} {} to {counted}: the count says so, and neither the file nor {page} lists it",
                listed + 1
            ));
        }
    }

    /// The development phase from the task list alone.
    fn tasks(&mut self, text: Option<&str>) -> Develop {
        let (tasks, skipped) = tasks(text.unwrap_or_default());
        if !tasks.is_empty() {
            self.found.push(format!(
                "skill_state.develop.tasks from the task list ({} tasks)",
                tasks.len()
            ));
        }
        for line in skipped {
            self.lost
                .push(format!("line {line} of the task list cannot be read"));
        }
        Develop {
            tasks,
            ..Develop::default()
        }
    }
}

fn page<T>(
    text: Option<&str>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<Result<T, String>> {
    text.map(read)
}

/// Reads a task list, one JSON object a line; the numbers of lines that cannot be read come second.
#[must_use]
pub fn tasks(text: &str) -> (Vec<Task>, Vec<usize>) {
    let mut tasks = Vec::new();
    let mut skipped = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match task(line, tasks.len() + 1) {
            Some(task) => tasks.push(task),
            None => skipped.push(number + 1),
        }
    }
    (tasks, skipped)
}

/// A line of the task list: a whole task, or as little as a description.
fn task(line: &str, number: usize) -> Option<Task> {
    let mut value: Value = serde_json::from_str(line).ok()?;
    let object = value.as_object_mut()?;
    object.get("description")?.as_str()?;
    if !object.contains_key("id") {
        object.insert("id".to_owned(), format!("task-{number:03}").into());
    }
    if !object.contains_key("status") {
        object.insert("status".to_owned(), "pending".into());
    }
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests;
