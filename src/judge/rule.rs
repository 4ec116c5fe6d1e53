//! The authority matrix: every rule's stable id and its default level (SPEC §2).

use super::level::Level;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One row of the authority matrix.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its stable id.
    pub id: RuleId,
    /// Its level where nothing modifies it.
    pub level: Level,
    /// When it applies, as a clause.
    pub when: &'static str,
}

macro_rules! rules {
    ($($variant:ident $word:literal $level:ident $when:literal;)*) => {
        /// The stable name of a rule, as written in logs, preferences and `explain`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the matrix gives each variant's meaning in `when`")]
        pub enum RuleId {
            $(#[serde(rename = $word)] $variant,)*
        }

        /// The matrix, in the order of the specification.
        pub const MATRIX: &[Rule] = &[
            $(Rule { id: RuleId::$variant, level: Level::$level, when: $when },)*
        ];

        impl RuleId {
            /// The id as it is written.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

rules! {
    ReadOnly "read.only" Autonomous "nothing is written";
    FileCreate "file.create" Autonomous "a new file inside the workspace and the Contract";
    FileModify "file.modify" Autonomous "an existing file inside the Contract changes, with a safety point";
    FileRename "file.rename" Confirm "a file or directory is renamed or moved";
    FileConfig "file.config" Confirm "a configuration file changes (build, CI, lint, container, environment, editor or agent settings)";
    FileAuth "file.auth" MustAsk "authentication or permission configuration changes";
    FileDelete "file.delete" MustAsk "a file is deleted";
    FileDataDelete "file.data-delete" MustAsk "a database or data file is deleted or truncated";
    FileBulk "file.bulk" Confirm "more than 100 files change in one action";
    FileOutside "file.outside" MustAsk "a write outside the workspace";
    FileGuard "file.guard" MustAsk "a write to Holdpoint's own files, or to .git by hand";
    ContractCreate "contract.create" Autonomous "a Contract is written where there was none";
    ContractDetail "contract.detail" Transparent "detail is added to the Contract, scope unchanged or narrower";
    ContractFixConflict "contract.fix-conflict" Confirm "a contradiction between the Contract's parts is resolved";
    ContractScope "contract.scope" MustAsk "the Contract's scope is widened or moved";
    ContractRelax "contract.relax" MustAsk "a freeze, forbidden pattern or constraint is removed or weakened";
    ContractOutOfScope "contract.out-of-scope" MustAsk "a change outside the Contract's scope";
    ContractMustNotChange "contract.must-not-change" MustAsk "a change to what the Contract freezes";
    ContractForbidden "contract.forbidden" MustAsk "an added line matches a forbidden pattern";
    GitRead "git.read" Autonomous "git only reads";
    GitSafetyPoint "git.safety-point" Autonomous "a safety point is taken";
    GitStage "git.stage" Confirm "changes are staged";
    GitCommit "git.commit" Confirm "a commit is made";
    GitPush "git.push" MustAsk "commits are pushed";
    GitHistory "git.history" MustAsk "refs move or commits are dropped";
    GitDiscard "git.discard" MustAsk "working-tree, index or stash content is dropped";
    GitBypass "git.bypass" MustAsk "hooks are skipped or disarmed";
    DepsListed "deps.listed" Transparent "a package that the manifest lists is installed";
    DepsCommon "deps.common" Transparent "a common tool of the ecosystem is installed";
    DepsNew "deps.new" Confirm "a package that no manifest lists is installed";
    DepsUpgrade "deps.upgrade" MustAsk "a package's version is raised or lowered";
    SystemConfig "system.config" MustAsk "system configuration, services, users, permissions or devices change";
    SystemIrreversible "system.irreversible" MustAsk "a disk, database, cloud, container or cluster operation destroys data";
    SystemRemoteCode "system.remote-code" MustAsk "a download is run";
    SystemOpaque "system.opaque" MustAsk "what would happen cannot be told";
    RetryTransient "retry.transient" Autonomous "a network timeout is tried again";
    RetryRateLimit "retry.rate-limit" Transparent "a rate limit is waited for";
    RetryUnavailable "retry.unavailable" Transparent "an unavailable service is tried again";
    RetryExhausted "retry.exhausted" MustAsk "one attempt more than allowed";
    FailAuth "fail.auth" MustAsk "authentication failed";
    FailPermission "fail.permission" MustAsk "permission was refused";
    FixSyntax "fix.syntax" Confirm "a clear syntax error is fixed";
    FixType "fix.type" Confirm "a clear type error is fixed";
    FixImport "fix.import" Confirm "a clear import error is fixed";
    FixLogic "fix.logic" MustAsk "a logic error is fixed";
    FixRefactor "fix.refactor" MustAsk "code is restructured";
    FixTestHigh "fix.test-high" Transparent "a first test failure is fixed with confidence of 0.8 or more";
    FixTestMedium "fix.test-medium" Confirm "a first test failure at 0.5 to 0.8, or any second failure";
    FixTestLow "fix.test-low" MustAsk "confidence below 0.5, a third failure, or new failures after a fix";
    DegradePlanned "degrade.planned" Transparent "a configured fallback takes over";
    DegradeUnplanned "degrade.unplanned" Confirm "no fallback is configured, the main agent could take over";
    DegradeNone "degrade.none" MustAsk "nothing is left to fall back to";
    TimeOverExpected "time.over-expected" Transparent "half as long again as expected";
    TimeNearLimit "time.near-limit" Confirm "past the default time, before the maximum";
    TimeOverLimit "time.over-limit" MustAsk "past the maximum time";
    StuckRereads "stuck.rereads" Confirm "the same file is read again and again";
    StuckSearches "stuck.searches" Confirm "too many searches";
    StuckFailures "stuck.failures" MustAsk "the same tool fails three times in a row with the same error";
    StuckNoProgress "stuck.no-progress" Confirm "nothing has moved for a long time";
    IntentUnclear "intent.unclear" MustAsk "the request can be read in several ways";
    IntentTradeoff "intent.tradeoff" MustAsk "a trade-off only a person can make";
    IntentTechnology "intent.technology" MustAsk "a choice of technology";
    IntentOptions "intent.options" Confirm "several workable options";
}

impl RuleId {
    /// The rule's row in the matrix.
    #[must_use]
    pub fn rule(self) -> &'static Rule {
        &MATRIX[self as usize]
    }

    /// The rule with this id, if there is one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        MATRIX
            .iter()
            .map(|rule| rule.id)
            .find(|id| id.word() == word)
    }

    /// The family: the part before the dot.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.word().split_once('.').map_or("", |(family, _)| family)
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
