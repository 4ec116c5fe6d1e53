//! A hold: a blocked action that waits for a person.

use crate::judge::{Action, Actor, Level, Losses, Pending, RuleId, Surface, Verdict};
use crate::repo::Workspace;
use crate::sys::clock;
use crate::sys::seal::Seal;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::os::unix::ffi::OsStrExt as _;

/// Version of the file format.
pub(super) const VERSION: u32 = 1;

/// Where a hold stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for a person.
    #[default]
    Pending,
    /// A person agreed; the same action passes once.
    Confirmed,
    /// A person refused.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// It was confirmed and has passed.
    Used,
}

/// A blocked action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Version of the file format.
    pub version: u32,
    /// ULID.
    pub id: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it, or its confirmation, ends.
    pub expires: Timestamp,
    /// The verdict's level.
    pub level: Level,
    /// The rules that matched, strictest first.
    pub rules: Vec<RuleId>,
    /// The deciding rule's machine word.
    pub reason: String,
    /// The verdict in one sentence.
    pub reasoning: String,
    /// The way out that the deciding rule names; empty where there is none.
    pub hint: String,
    /// What would be done, in one line.
    pub summary: String,
    /// The action itself.
    pub action: Action,
    /// The digest of the action, to which a confirmation is bound.
    pub action_hash: String,
    /// What would be gone that exists nowhere else.
    pub loses: Losses,
    /// What speaks for the verdict, a line each.
    pub evidence: Vec<String>,
    /// The safety point taken before it.
    pub safety_point: Option<String>,
    /// Who was about to act.
    pub actor: Actor,
    /// Who asked.
    pub surface: Surface,
    /// The session in which it came up.
    pub session: Option<String>,
    /// The wrapped run in which it came up.
    pub run: Option<String>,
    /// The top of the main worktree.
    pub workspace: String,
    /// What its maker needs to carry it out on confirmation; null where the action is simply repeated.
    pub payload: Value,
    /// Where it stands.
    #[serde(default)]
    pub state: State,
    /// Why a person refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The person's agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// The seal over everything but state, refusal and confirmation.
    #[serde(default)]
    pub seal: String,
}

/// A person's agreement to one hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// A number used once.
    pub nonce: String,
    /// When.
    pub at: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
    /// The SSH signature over [`Hold::statement`], where one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The seal over the statement.
    pub seal: String,
}

/// What a hold is made from.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The verdict that holds it.
    pub verdict: Verdict,
    /// The action.
    pub action: Action,
    /// Who was about to act.
    pub actor: Actor,
    /// Who asked.
    pub surface: Surface,
    /// The safety point taken before it.
    pub safety_point: Option<String>,
    /// More lines of evidence than the verdict's findings.
    pub evidence: Vec<String>,
    /// The session in which it came up.
    pub session: Option<String>,
    /// The wrapped run in which it came up.
    pub run: Option<String>,
    /// What the maker needs to carry it out on confirmation.
    pub payload: Value,
}

impl Draft {
    /// Starts a draft with nothing but what every hold has.
    #[must_use]
    pub fn new(verdict: Verdict, action: Action, actor: Actor, surface: Surface) -> Self {
        Self {
            verdict,
            action,
            actor,
            surface,
            safety_point: None,
            evidence: Vec::new(),
            session: None,
            run: None,
            payload: Value::Null,
        }
    }

    pub(super) fn hold(self, workspace: &Workspace, seconds: u64) -> Hold {
        let created = clock::now();
        let first = self.verdict.findings.first();
        let mut evidence: Vec<String> = self
            .verdict
            .findings
            .iter()
            .filter(|finding| finding.level.needs_person())
            .take(50)
            .map(|finding| format!("{}: {}", finding.rule, finding.harm))
            .collect();
        evidence.extend(self.evidence);
        Hold {
            version: VERSION,
            id: clock::id(),
            created,
            expires: after(created, seconds),
            level: self.verdict.level,
            rules: self.verdict.rules(),
            reason: self.verdict.reason().to_owned(),
            hint: first.map_or_else(String::new, |finding| finding.hint.clone()),
            reasoning: self.verdict.reasoning,
            summary: self.action.summary(),
            action_hash: self.action.digest(),
            action: self.action,
            loses: self.verdict.loses,
            evidence,
            safety_point: self.safety_point,
            actor: self.actor,
            surface: self.surface,
            session: self.session,
            run: self.run,
            workspace: workspace.main_root().to_string_lossy().into_owned(),
            payload: self.payload,
            state: State::Pending,
            why: None,
            confirmation: None,
            seal: String::new(),
        }
    }
}

pub(super) fn after(start: Timestamp, seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    start
        .checked_add(jiff::SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX)
}

impl Hold {
    /// Where it stands now: what nobody answered in time has expired.
    #[must_use]
    pub fn state_now(&self) -> State {
        let ends = self
            .confirmation
            .as_ref()
            .map_or(self.expires, |confirmation| confirmation.expires);
        match self.state {
            State::Pending | State::Confirmed if ends <= clock::now() => State::Expired,
            state => state,
        }
    }

    /// Returns true for what is confirmed one by one only: deletions and what cannot be undone (SPEC §2).
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        self.rules.iter().any(|rule| {
            matches!(
                rule,
                RuleId::FileDelete
                    | RuleId::FileDataDelete
                    | RuleId::GitPush
                    | RuleId::GitHistory
                    | RuleId::GitDiscard
                    | RuleId::SystemIrreversible
                    | RuleId::SystemRemoteCode
                    | RuleId::SystemOpaque
                    | RuleId::FileOutside
            )
        })
    }

    /// What batches look at; `None` for a hold without a rule.
    #[must_use]
    pub fn as_pending(&self) -> Option<Pending> {
        Some(Pending {
            id: self.id.clone(),
            level: self.level,
            rule: *self.rules.first()?,
            subject: self.summary.clone(),
            remedy: self.hint.clone(),
            at: self.created,
            alone: self.stands_alone(),
        })
    }

    /// The text that a person's agreement is bound to, and that an SSH key signs.
    #[must_use]
    pub fn statement(&self, nonce: &str, expires: Timestamp) -> String {
        format!(
            "holdpoint confirms\nhold {}\naction {}\nlevel {}\nworkspace {}\nexpires {expires}\nnonce {nonce}\n",
            self.id,
            self.action_hash,
            self.level.number(),
            self.workspace,
        )
    }

    pub(super) fn seal_with(&self, seal: &Seal, workspace: &Workspace) -> String {
        seal.of("hold", &[&self.body(), root(workspace)])
    }

    /// Returns true when the hold is as it was made, and was made here.
    pub(super) fn is_sealed(&self, seal: &Seal, workspace: &Workspace) -> bool {
        self.version == VERSION
            && self.action_hash == self.action.digest()
            && seal.fits(&self.seal, "hold", &[&self.body(), root(workspace)])
    }

    fn body(&self) -> Vec<u8> {
        let body = Self {
            state: State::Pending,
            why: None,
            confirmation: None,
            seal: String::new(),
            ..self.clone()
        };
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// Returns true when the confirmation was given to this hold, here.
    pub(super) fn is_confirmed(&self, seal: &Seal, workspace: &Workspace) -> bool {
        self.confirmation.as_ref().is_some_and(|confirmation| {
            let statement = self.statement(&confirmation.nonce, confirmation.expires);
            let signature = confirmation.signature.as_deref().unwrap_or_default();
            seal.fits(
                &confirmation.seal,
                "confirmation",
                &[statement.as_bytes(), signature.as_bytes(), root(workspace)],
            )
        })
    }

    pub(super) fn confirmed(
        &mut self,
        seal: &Seal,
        workspace: &Workspace,
        seconds: u64,
        signature: Option<(String, Timestamp, String)>,
    ) {
        let at = clock::now();
        let (nonce, expires, signature) = match signature {
            Some((nonce, expires, signature)) => (nonce, expires, Some(signature)),
            None => (clock::id(), after(at, seconds), None),
        };
        let statement = self.statement(&nonce, expires);
        let mark = seal.of(
            "confirmation",
            &[
                statement.as_bytes(),
                signature.as_deref().unwrap_or_default().as_bytes(),
                root(workspace),
            ],
        );
        self.state = State::Confirmed;
        self.confirmation = Some(Confirmation {
            nonce,
            at,
            expires,
            signature,
            seal: mark,
        });
    }
}

fn root(workspace: &Workspace) -> &[u8] {
    workspace.main_root().as_os_str().as_bytes()
}
