//! Why each rule has its level, what is safe instead, and where it comes from.

use super::rule::RuleId;

/// What `holdpoint explain` says of a rule beside its row in the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Why it has this level.
    pub why: &'static str,
    /// What is safe instead.
    pub instead: &'static str,
    /// The seed document and heading, or the section of the specification.
    pub source: &'static str,
}

const fn new(why: &'static str, instead: &'static str, source: &'static str) -> Explanation {
    Explanation {
        why,
        instead,
        source,
    }
}

/// The decision framework's list of what may be decided alone.
const ALONE: &str = "decision_framework.md, 可以自主决策的场景";
/// Its list of what is reported.
const REPORT: &str = "decision_framework.md, 需要向用户报告但可继续的场景";
/// Its list of what must be asked.
const ASK: &str = "decision_framework.md, 必须询问用户的场景";
/// Its principles.
const PRINCIPLES: &str = "decision_framework.md, 核心决策原则";
/// Its table of retries.
const RETRIES: &str = "decision_framework.md, 重试策略决策矩阵";
/// Its tree of test fixes.
const FIXES: &str = "decision_framework.md, 测试失败修复决策树";
/// Its tree of errors.
const ERRORS: &str = "decision_framework.md, 错误处理决策树";
/// Its tree of fallbacks.
const FALLBACKS: &str = "decision_framework.md, 自动降级决策树";
/// Its table of code or Contract.
const CONTRACT: &str = "decision_framework.md, Contract vs Code 修复决策";
/// The guardrails' time limits.
const LIMITS: &str = "timeout_guardrails.md, 任务级超时机制";
/// The guardrails against loops.
const LOOPS: &str = "timeout_guardrails.md, 决策级超时机制";
/// The authority matrix of the specification.
const MATRIX: &str = "SPEC §2, the authority matrix";
/// The decision payloads.
const PAYLOADS: &str = "decision_payload_mapping.md, request_clarification";

/// Explains a rule.
#[must_use]
pub fn explain(rule: RuleId) -> Explanation {
    match rule {
        RuleId::ReadOnly => new(
            "reading changes nothing, so there is nothing to confirm",
            "go on",
            PRINCIPLES,
        ),
        RuleId::FileCreate => new(
            "a new file inside what was agreed takes nothing away",
            "go on; a rollback removes it again",
            PRINCIPLES,
        ),
        RuleId::FileModify => new(
            "the old bytes are in git or in a safety point",
            "go on; holdpoint rollback brings them back",
            PRINCIPLES,
        ),
        RuleId::FileRename => new(
            "others refer to the old name: imports, scripts, people",
            "keep the name, or let a person confirm the move",
            MATRIX,
        ),
        RuleId::FileConfig => new(
            "a line of configuration changes how everything is built, checked or run",
            "change the code instead, or show the person the diff first",
            MATRIX,
        ),
        RuleId::FileAuth => new(
            "it decides who may do what; a mistake opens or closes doors",
            "ask a person to make this change",
            ASK,
        ),
        RuleId::FileDelete => new(
            "a deleted file that git does not have is gone",
            "keep the file, empty what uses it, or let a person confirm",
            ASK,
        ),
        RuleId::FileDataDelete => new(
            "data cannot be written again from the source",
            "move it aside, or work on a copy",
            ASK,
        ),
        RuleId::FileBulk => new(
            "nobody reads a change of more than 100 files closely",
            "split the change",
            MATRIX,
        ),
        RuleId::FileOutside => new(
            "what lies outside the workspace belongs to other work, and no safety point holds it",
            "write inside the workspace or in a temporary directory",
            MATRIX,
        ),
        RuleId::FileGuard => new(
            "whoever can change the guard is not guarded",
            "leave it alone; a person uses holdpoint or git",
            MATRIX,
        ),
        RuleId::ContractCreate => new(
            "where there was no Contract, one can only narrow what may change",
            "go on; a person confirms it with holdpoint contract confirm",
            MATRIX,
        ),
        RuleId::ContractDetail => new(
            "more detail or a narrower scope allows nothing new",
            "go on",
            REPORT,
        ),
        RuleId::ContractFixConflict => new(
            "which of two contradicting parts is meant is the person's to say",
            "show both parts and ask",
            CONTRACT,
        ),
        RuleId::ContractScope => new(
            "the scope is the agreement itself",
            "stay inside it, or ask the person to widen it: holdpoint contract confirm",
            ASK,
        ),
        RuleId::ContractRelax => new(
            "a constraint was agreed for a reason",
            "keep it, or ask the person to lift it: holdpoint contract confirm",
            ASK,
        ),
        RuleId::ContractOutOfScope => new(
            "the person agreed to changes elsewhere",
            "change only what is in scope; fix the code, not the Contract",
            CONTRACT,
        ),
        RuleId::ContractMustNotChange => new(
            "the Contract freezes it",
            "leave it as it is; fix the code around it",
            CONTRACT,
        ),
        RuleId::ContractForbidden => new(
            "the Contract forbids such lines",
            "write the line without the pattern",
            CONTRACT,
        ),
        RuleId::GitRead => new("git only reads here", "go on", PRINCIPLES),
        RuleId::GitSafetyPoint => new("a safety point only adds", "go on", ALONE),
        RuleId::GitStage => new(
            "what an agent stages is what a person commits unread",
            "let the person stage, or set decision_authority.git.stage",
            MATRIX,
        ),
        RuleId::GitCommit => new(
            "history is the person's; their own commit at a terminal passes unasked",
            "show the diff and let the person commit, or set decision_authority.git.commit",
            MATRIX,
        ),
        RuleId::GitPush => new(
            "what is pushed cannot be called back from others",
            "commit, and ask a person to push",
            ASK,
        ),
        RuleId::GitHistory => new(
            "commits that no ref reaches are easily lost, and others may have them",
            "commit on top, or make a branch first",
            ASK,
        ),
        RuleId::GitDiscard => new(
            "work that was never committed exists nowhere else",
            "commit it, stash it, or holdpoint save",
            ASK,
        ),
        RuleId::GitBypass => new(
            "a hook that is skipped protects nobody",
            "let the hooks run and mend what they report",
            MATRIX,
        ),
        RuleId::DepsListed => new(
            "the manifest lists it, so it was agreed",
            "go on; the person is told",
            ALONE,
        ),
        RuleId::DepsCommon => new(
            "a common tool from a safe registry is easily removed again",
            "go on; the person is told",
            ALONE,
        ),
        RuleId::DepsNew => new(
            "a new package runs other people's code from then on",
            "use what is there, or ask for the package by name",
            ASK,
        ),
        RuleId::DepsUpgrade => new(
            "another version may behave differently everywhere",
            "keep the version, or ask",
            MATRIX,
        ),
        RuleId::SystemConfig => new(
            "the machine is not part of the workspace, and no rollback reaches it",
            "tell the person which command to run",
            ASK,
        ),
        RuleId::SystemIrreversible => new(
            "what it destroys cannot be brought back from here",
            "make a copy, work on a copy, or let the person run it",
            ASK,
        ),
        RuleId::SystemRemoteCode => new(
            "nobody has read what it would run",
            "download it to a file, read it, then run it",
            MATRIX,
        ),
        RuleId::SystemOpaque => new(
            "what cannot be read is judged by the worst it could plausibly do",
            "write the command out plainly: no unknown variable, no encoded script",
            "SPEC §7, unparseable or opaque text",
        ),
        RuleId::RetryTransient => new(
            "a network timeout passes by itself",
            "wait and try again, at most three times",
            RETRIES,
        ),
        RuleId::RetryRateLimit => new(
            "the service says to wait",
            "wait longer each time, at most five times",
            RETRIES,
        ),
        RuleId::RetryUnavailable => new(
            "the service may come back",
            "try again, at most three times, then fall back",
            RETRIES,
        ),
        RuleId::RetryExhausted => new(
            "one more try would only repeat what has failed",
            "stop and report what was tried",
            RETRIES,
        ),
        RuleId::FailAuth => new(
            "a wrong key does not become right by trying again",
            "ask the person to sign in",
            RETRIES,
        ),
        RuleId::FailPermission => new(
            "permission is the person's to give",
            "ask the person for it",
            RETRIES,
        ),
        RuleId::FixSyntax => new(
            "a clear syntax error has one right fix, but it is still a change",
            "suggest the fix",
            ERRORS,
        ),
        RuleId::FixType => new(
            "a clear type error has few right fixes",
            "suggest the fix",
            ERRORS,
        ),
        RuleId::FixImport => new(
            "a missing import is easily named, and easily the wrong one",
            "suggest the fix",
            ERRORS,
        ),
        RuleId::FixLogic => new(
            "what the code should do is the person's to say",
            "describe the fault and ask",
            ERRORS,
        ),
        RuleId::FixRefactor => new(
            "restructuring reaches further than the fault",
            "describe the change and ask",
            ERRORS,
        ),
        RuleId::FixTestHigh => new(
            "the cause is clear and the fix small",
            "fix it and report",
            REPORT,
        ),
        RuleId::FixTestMedium => new(
            "the cause is likely but not sure",
            "show the fix first",
            FIXES,
        ),
        RuleId::FixTestLow => new(
            "a third try, or a guess, does more harm than good",
            "stop and report what was tried",
            ASK,
        ),
        RuleId::DegradePlanned => new(
            "the fallback was agreed beforehand",
            "go on with the lower standard and say so",
            REPORT,
        ),
        RuleId::DegradeUnplanned => new(
            "nobody agreed to this fallback",
            "ask whether the main agent should take over",
            FALLBACKS,
        ),
        RuleId::DegradeNone => new(
            "nothing is left that could do the task",
            "stop and report",
            FALLBACKS,
        ),
        RuleId::TimeOverExpected => new(
            "it takes longer than it should",
            "go on; the person is told",
            REPORT,
        ),
        RuleId::TimeNearLimit => new(
            "it will be killed at the maximum",
            "extend it, stop it, or look at its output: holdpoint logs",
            LIMITS,
        ),
        RuleId::TimeOverLimit => new(
            "what runs past its maximum is stuck or too large",
            "split the task, or raise the limit",
            LIMITS,
        ),
        RuleId::StuckRereads => new(
            "what was not found in five reads is not there",
            "search for it, or ask",
            LOOPS,
        ),
        RuleId::StuckSearches => new(
            "so many searches find nothing new",
            "widen the search or ask where to look",
            LOOPS,
        ),
        RuleId::StuckFailures => new(
            "the same failure three times shows that the approach is wrong",
            "stop, read the error again, ask",
            LOOPS,
        ),
        RuleId::StuckNoProgress => new(
            "nothing has moved for a long time",
            "report where it stands, split the task",
            LOOPS,
        ),
        RuleId::IntentUnclear => new("guessing what was meant wastes the work", "ask", ASK),
        RuleId::IntentTradeoff => new(
            "which of two goods counts more is the person's to say",
            "lay out both sides and ask",
            PAYLOADS,
        ),
        RuleId::IntentTechnology => new(
            "a technology stays for years",
            "propose one, with reasons, and ask",
            PAYLOADS,
        ),
        RuleId::IntentOptions => new(
            "several ways work, and the person may prefer one",
            "name them with a recommendation",
            PAYLOADS,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::MATRIX;

    #[test]
    fn every_rule_is_explained_in_its_own_words() {
        let mut seen = std::collections::HashSet::new();
        for rule in MATRIX {
            let told = explain(rule.id);
            assert!(told.why.len() > 15, "{}", rule.id);
            assert!(!told.instead.is_empty(), "{}", rule.id);
            assert!(
                told.source.contains(".md, ") || told.source.starts_with("SPEC §"),
                "{}",
                rule.id
            );
            assert!(
                seen.insert(told.why),
                "{} says what another rule says",
                rule.id
            );
        }
    }
}
