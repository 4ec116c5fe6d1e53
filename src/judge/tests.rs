//! The matrix as a table, the modifiers in their order, and the laws that hold for all of them.

use super::*;
use crate::contract::Contract;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn agent() -> Actor {
    Actor::Agent {
        name: "claude".to_owned(),
        session: None,
    }
}

fn facts(actor: Actor, effects: Vec<Effect>) -> Facts {
    Facts {
        surface: Surface::AgentHook,
        actor,
        effects,
        coverage: Coverage::NotTaken,
    }
}

fn file(op: FileOp, nature: Nature, state: FileState) -> EffectKind {
    EffectKind::File {
        op,
        place: Place::Workspace,
        nature,
        state,
    }
}

fn at(place: Place) -> EffectKind {
    EffectKind::File {
        op: FileOp::Modify,
        place,
        nature: Nature::Ordinary,
        state: FileState::Unknown,
    }
}

fn git(class: GitClass, lossy: bool) -> EffectKind {
    EffectKind::Git { class, lossy }
}

fn contract(text: &str) -> Policy {
    Policy {
        contract: Some(Contract::parse(text.as_bytes()).expect("a Contract")),
        ..Policy::default()
    }
}

fn level(kind: EffectKind, actor: Actor, policy: &Policy) -> Level {
    judge(&facts(actor, vec![Effect::new(kind, "src/a.rs")]), policy).level
}

/// One action for every rule of the matrix: what an agent does, and the level that follows.
fn table() -> Vec<(RuleId, EffectKind, Level)> {
    use FileState::{Absent, Clean, Ignored, Modified, Own, Untracked};
    use Level::{Autonomous as L0, Confirm as L2, MustAsk as L3, Transparent as L1};
    use Nature::{Auth, Config, Data, Ordinary};
    let rename = || FileOp::Rename {
        from: "src/b.rs".into(),
    };
    let class = |class| EffectKind::Contract { class };
    let package = |class| EffectKind::Package { class };
    let system = |class| EffectKind::System { class };
    let mut rows = vec![
        (RuleId::ReadOnly, EffectKind::Read, L0),
        (
            RuleId::FileCreate,
            file(FileOp::Create, Ordinary, Absent),
            L0,
        ),
        (
            RuleId::FileModify,
            file(FileOp::Modify, Ordinary, Clean),
            L0,
        ),
        (
            RuleId::FileModify,
            file(FileOp::Overwrite, Ordinary, Clean),
            L0,
        ),
        (
            RuleId::FileDelete,
            file(FileOp::Overwrite, Ordinary, Modified),
            L3,
        ),
        (
            RuleId::FileDelete,
            file(FileOp::Overwrite, Ordinary, Untracked),
            L3,
        ),
        (RuleId::FileRename, file(rename(), Ordinary, Clean), L2),
        (RuleId::FileConfig, file(FileOp::Modify, Config, Clean), L2),
        (RuleId::FileAuth, file(FileOp::Modify, Auth, Clean), L3),
        (RuleId::FileAuth, file(FileOp::Create, Auth, Absent), L3),
        (
            RuleId::FileDelete,
            file(FileOp::Delete, Ordinary, Clean),
            L3,
        ),
        (
            RuleId::FileDelete,
            file(FileOp::Delete, Ordinary, Untracked),
            L3,
        ),
        (
            RuleId::FileDelete,
            file(FileOp::Delete, Ordinary, Ignored),
            L1,
        ),
        (RuleId::FileDelete, file(FileOp::Delete, Ordinary, Own), L1),
        (
            RuleId::FileDataDelete,
            file(FileOp::Delete, Data, Ignored),
            L3,
        ),
        (
            RuleId::FileDataDelete,
            file(FileOp::Overwrite, Data, Clean),
            L3,
        ),
        (RuleId::FileOutside, at(Place::Outside), L3),
        (RuleId::FileOutside, at(Place::Unknown), L3),
        (RuleId::FileModify, at(Place::Temporary), L0),
        (RuleId::FileGuard, at(Place::Guard), L3),
        (RuleId::FileGuard, at(Place::GitDir), L3),
        (
            RuleId::FileGuard,
            file(FileOp::Modify, Nature::Policy, Clean),
            L3,
        ),
        (RuleId::FileGuard, EffectKind::Guard, L3),
        (RuleId::ContractCreate, class(ContractClass::Create), L0),
        (RuleId::ContractDetail, class(ContractClass::Detail), L1),
        (
            RuleId::ContractFixConflict,
            class(ContractClass::FixConflict),
            L2,
        ),
        (RuleId::ContractScope, class(ContractClass::Scope), L3),
        (RuleId::ContractRelax, class(ContractClass::Relax), L3),
        (
            RuleId::ContractScope,
            file(FileOp::Modify, Nature::Contract, Clean),
            L3,
        ),
        (
            RuleId::ContractRelax,
            file(FileOp::Delete, Nature::Contract, Clean),
            L3,
        ),
        (RuleId::GitRead, git(GitClass::Read, false), L0),
        (
            RuleId::GitSafetyPoint,
            git(GitClass::SafetyPoint, false),
            L0,
        ),
        (RuleId::GitStage, git(GitClass::Stage, false), L2),
        (RuleId::GitCommit, git(GitClass::Commit, false), L2),
        (RuleId::GitPush, git(GitClass::Push, false), L3),
        (RuleId::GitHistory, git(GitClass::History, true), L3),
        (RuleId::GitHistory, git(GitClass::History, false), L1),
        (RuleId::GitDiscard, git(GitClass::Discard, true), L3),
        (RuleId::GitDiscard, git(GitClass::Discard, false), L1),
        (RuleId::GitBypass, git(GitClass::Bypass, false), L3),
        (RuleId::DepsListed, package(PackageClass::Listed), L1),
        (RuleId::DepsCommon, package(PackageClass::Common), L1),
        (RuleId::DepsNew, package(PackageClass::New), L2),
        (RuleId::DepsUpgrade, package(PackageClass::Upgrade), L3),
        (RuleId::SystemConfig, system(SystemClass::Config), L3),
        (
            RuleId::SystemIrreversible,
            system(SystemClass::Irreversible),
            L3,
        ),
        (
            RuleId::SystemRemoteCode,
            system(SystemClass::RemoteCode),
            L3,
        ),
        (RuleId::SystemOpaque, EffectKind::Opaque { worst: L3 }, L3),
        (RuleId::SystemOpaque, EffectKind::Opaque { worst: L2 }, L2),
    ];
    // State machines class these themselves; the matrix gives their level.
    for rule in MATRIX {
        if matches!(
            rule.id.family(),
            "retry" | "fail" | "fix" | "degrade" | "time" | "stuck" | "intent"
        ) {
            rows.push((rule.id, EffectKind::Ruled { rule: rule.id }, rule.level));
        }
    }
    rows
}

#[test]
fn every_row_of_the_matrix_is_reached_at_its_level() {
    for (rule, kind, expected) in table() {
        let verdict = judge(
            &facts(agent(), vec![Effect::new(kind.clone(), "src/a.rs")]),
            &Policy::default(),
        );
        assert_eq!(verdict.level, expected, "{rule}: {kind:?}");
        assert!(
            verdict.rules().contains(&rule),
            "{rule}: {kind:?}: {verdict:?}"
        );
        assert!(!verdict.reasoning.is_empty() && !verdict.reason().is_empty());
    }
}

#[test]
fn every_rule_has_a_row_or_a_case_of_its_own() {
    let elsewhere = [
        RuleId::FileBulk,
        RuleId::ContractOutOfScope,
        RuleId::ContractMustNotChange,
        RuleId::ContractForbidden,
    ];
    let rows: Vec<RuleId> = table().into_iter().map(|(rule, ..)| rule).collect();
    for rule in MATRIX {
        assert!(
            rows.contains(&rule.id) || elsewhere.contains(&rule.id),
            "{}",
            rule.id
        );
    }
}

#[test]
fn the_contract_holds_what_leaves_it() {
    let policy = contract(
        "### In Scope\n- src/\n## Must-Not-Change\n- src/api.rs\n## Forbidden Patterns\n- /unsafe/\n",
    );
    let modify = |path: &str| {
        let effect = Effect::new(
            file(FileOp::Modify, Nature::Ordinary, FileState::Clean),
            path,
        );
        judge(&facts(agent(), vec![effect]), &policy)
    };
    assert_eq!(modify("src/a.rs").level, Level::Autonomous);
    assert_eq!(modify("docs/a.md").reason(), "out_of_scope");
    assert_eq!(modify("src/api.rs").reason(), "must_not_change");
    let line = Effect::new(
        EffectKind::AddedLine {
            number: 3,
            text: "unsafe {".into(),
        },
        "src/a.rs",
    );
    let verdict = judge(&facts(agent(), vec![line.clone()]), &policy);
    assert_eq!(
        (verdict.reason(), verdict.level),
        ("forbidden_pattern", Level::MustAsk)
    );
    let person = judge(
        &facts(Actor::Person { terminal: true }, vec![line]),
        &policy,
    );
    assert_eq!(person.level, Level::MustAsk);
    let away = Effect::new(
        file(
            FileOp::Rename {
                from: "src/a.rs".into(),
            },
            Nature::Ordinary,
            FileState::Clean,
        ),
        "old/a.rs",
    );
    assert_eq!(
        judge(&facts(agent(), vec![away]), &policy).reason(),
        "out_of_scope"
    );
}

#[test]
fn more_than_a_hundred_files_are_a_bulk_change() {
    let effects = |count: usize| {
        (0..count)
            .map(|index| {
                Effect::new(
                    file(FileOp::Modify, Nature::Ordinary, FileState::Clean),
                    format!("src/{index}"),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        judge(&facts(agent(), effects(100)), &Policy::default()).level,
        Level::Autonomous
    );
    let verdict = judge(&facts(agent(), effects(101)), &Policy::default());
    assert_eq!(
        (verdict.level, verdict.reason()),
        (Level::Confirm, "bulk_change")
    );
}

#[test]
fn a_persons_ordinary_commit_in_scope_is_level_0() {
    let policy = contract("### In Scope\n- src/\n");
    let mut commit = facts(
        Actor::Person { terminal: false },
        vec![
            Effect::new(git(GitClass::Commit, false), "commit"),
            Effect::new(
                file(FileOp::Modify, Nature::Ordinary, FileState::Clean),
                "src/a.rs",
            ),
            Effect::new(
                file(FileOp::Modify, Nature::Config, FileState::Clean),
                "src/Makefile",
            ),
        ],
    );
    commit.surface = Surface::GitHook;
    for context in [
        TaskContext::default(),
        TaskContext {
            priority: Priority::P3,
            risk: Risk::High,
        },
    ] {
        let policy = Policy {
            context,
            ..policy.clone()
        };
        assert_eq!(judge(&commit, &policy).level, Level::Autonomous);
    }
    let mut agents = commit.clone();
    agents.actor = agent();
    assert_eq!(judge(&agents, &policy).level, Level::Confirm);
    commit.effects.push(Effect::new(
        file(FileOp::Delete, Nature::Ordinary, FileState::Clean),
        "src/b.rs",
    ));
    assert_eq!(judge(&commit, &policy).level, Level::MustAsk);
}

#[test]
fn contexts_move_levels_as_the_table_says() {
    use Level::{Autonomous as L0, Confirm as L2, MustAsk as L3, Transparent as L1};
    let kinds = [
        file(FileOp::Create, Nature::Ordinary, FileState::Absent),
        EffectKind::Package {
            class: PackageClass::Listed,
        },
        file(FileOp::Modify, Nature::Config, FileState::Clean),
        git(GitClass::Push, false),
    ];
    for (priority, risk, expected) in [
        (Priority::P0, Risk::Low, [L0, L0, L1, L3]),
        (Priority::P1, Risk::Low, [L0, L1, L2, L3]),
        (Priority::P2, Risk::Medium, [L0, L1, L2, L3]),
        (Priority::P3, Risk::Low, [L1, L2, L2, L3]),
        (Priority::P2, Risk::High, [L3, L3, L3, L3]),
        (Priority::P0, Risk::High, [L3, L3, L3, L3]),
    ] {
        let policy = Policy {
            context: TaskContext { priority, risk },
            ..Policy::default()
        };
        let got = kinds.clone().map(|kind| level(kind, agent(), &policy));
        assert_eq!(got, expected, "{priority:?} {risk:?}");
    }
    let high = Policy {
        context: TaskContext {
            priority: Priority::P3,
            risk: Risk::High,
        },
        ..Policy::default()
    };
    assert_eq!(level(EffectKind::Read, agent(), &high), L0);
}

#[test]
fn modifiers_apply_in_their_order_and_are_recorded() {
    let policy = Policy {
        authority: BTreeMap::from([(RuleId::FileCreate, Level::Confirm)]),
        strictness: Strictness::Relaxed,
        relaxed_session: true,
        context: TaskContext {
            priority: Priority::P3,
            risk: Risk::Low,
        },
        ..Policy::default()
    };
    let kind = file(FileOp::Create, Nature::Ordinary, FileState::Absent);
    let verdict = judge(&facts(agent(), vec![Effect::new(kind, "a")]), &policy);
    let steps: Vec<(&str, u8, u8)> = verdict
        .adjustments
        .iter()
        .map(|step| (step.by.as_str(), step.from.number(), step.to.number()))
        .collect();
    assert_eq!(
        steps,
        [
            ("preferences", 0, 2),
            ("strictness", 2, 1),
            ("session", 1, 0),
            ("context", 0, 1)
        ]
    );
    assert_eq!(verdict.level, Level::Transparent);
}

#[test]
fn strict_lifts_and_preferences_beat_the_default() {
    let config = || file(FileOp::Modify, Nature::Config, FileState::Clean);
    let strict = Policy {
        strictness: Strictness::Strict,
        ..Policy::default()
    };
    assert_eq!(level(config(), agent(), &strict), Level::MustAsk);
    let lowered = Policy {
        authority: BTreeMap::from([(RuleId::FileConfig, Level::Autonomous)]),
        ..strict
    };
    assert_eq!(level(config(), agent(), &lowered), Level::Autonomous);
}

fn discard(coverage: Coverage) -> Facts {
    Facts {
        coverage,
        ..facts(
            agent(),
            vec![Effect::new(
                git(GitClass::Discard, true),
                "git reset --hard",
            )],
        )
    }
}

#[test]
fn a_proven_point_turns_a_discard_into_a_report_where_preferences_say_so() {
    let held = Coverage::Held {
        point: "01POINT".to_owned(),
    };
    let report = Policy {
        recoverable: Recoverable::Report,
        ..Policy::default()
    };
    assert_eq!(
        judge(&discard(held.clone()), &Policy::default()).level,
        Level::MustAsk
    );
    let verdict = judge(&discard(held.clone()), &report);
    assert_eq!(verdict.level, Level::Transparent);
    assert_eq!(
        verdict.findings[0].hint,
        "undo it: holdpoint rollback 01POINT"
    );
    for coverage in [
        Coverage::NotTaken,
        Coverage::Failed {
            why: "full".to_owned(),
        },
        Coverage::Partial {
            point: "01POINT".to_owned(),
            missing: vec!["a".into()],
        },
    ] {
        assert_eq!(judge(&discard(coverage), &report).level, Level::MustAsk);
    }
    for beyond in [
        git(GitClass::Push, false),
        at(Place::Outside),
        EffectKind::Opaque {
            worst: Level::Transparent,
        },
    ] {
        let mut facts = discard(held.clone());
        facts.effects.push(Effect::new(beyond, "x"));
        let verdict = judge(&facts, &report);
        let discard = verdict
            .findings
            .iter()
            .find(|one| one.rule == RuleId::GitDiscard);
        assert_eq!(discard.map(|one| one.level), Some(Level::MustAsk));
    }
}

#[test]
fn an_agents_own_file_is_its_own_even_at_high_risk() {
    let policy = Policy {
        context: TaskContext {
            priority: Priority::P2,
            risk: Risk::High,
        },
        ..Policy::default()
    };
    for op in [FileOp::Delete, FileOp::Overwrite] {
        let own = file(op, Nature::Ordinary, FileState::Own);
        assert_eq!(level(own.clone(), agent(), &policy), Level::Transparent);
        assert_eq!(level(own, agent(), &Policy::default()), Level::Transparent);
    }
}

#[test]
fn a_new_package_in_the_manifest_is_level_3_for_an_agent() {
    let package = EffectKind::Package {
        class: PackageClass::New,
    };
    let manifest = Effect::new(
        file(FileOp::Modify, Nature::Config, FileState::Clean),
        "web/package.json",
    );
    let both = |actor| {
        facts(
            actor,
            vec![Effect::new(package.clone(), "left-pad"), manifest.clone()],
        )
    };
    assert_eq!(
        judge(&both(agent()), &Policy::default()).level,
        Level::MustAsk
    );
    assert_eq!(
        judge(&both(Actor::Person { terminal: true }), &Policy::default()).level,
        Level::Autonomous
    );
}

#[test]
fn a_conflict_names_the_rules_their_priorities_and_the_winner() {
    let policy = contract("### In Scope\n- src/\n");
    let verdict = judge(
        &facts(
            agent(),
            vec![
                Effect::new(
                    file(FileOp::Delete, Nature::Ordinary, FileState::Untracked),
                    "docs/a.md",
                ),
                Effect::new(
                    EffectKind::Ruled {
                        rule: RuleId::RetryTransient,
                    },
                    "retry",
                ),
            ],
        ),
        &policy,
    );
    // Safety decides before the Contract at the same level.
    assert_eq!(verdict.findings[0].rule, RuleId::FileDelete);
    let conflict = &verdict.context["conflict"];
    assert_eq!(conflict["winner"], "file.delete");
    assert_eq!(conflict["rules"][0]["priority"], "safety");
    assert!(conflict["rules"].as_array().is_some_and(|rules| {
        rules
            .iter()
            .any(|side| side["rule"] == "retry.transient" && side["priority"] == "efficiency")
    }));
    let calm = judge(
        &facts(agent(), vec![Effect::new(EffectKind::Read, "a")]),
        &policy,
    );
    assert!(!calm.context.contains_key("conflict"));
}

#[test]
fn a_persons_instruction_comes_before_the_contract_and_never_before_safety() {
    let mut policy = contract(
        "## In Scope\n- src/\n## Must-Not-Change\n- src/api/\n## Forbidden Patterns\n- `unwrap()`\n",
    );
    policy.instructed = vec![
        crate::contract::PathPattern::parse("db/", 0).expect("a pattern"),
        crate::contract::PathPattern::parse("src/api/v2.rs", 0).expect("a pattern"),
    ];
    let judged = |op: FileOp, path: &str| {
        let kind = file(op, Nature::Ordinary, FileState::Clean);
        judge(&facts(agent(), vec![Effect::new(kind, path)]), &policy)
    };
    for (path, expected) in [
        ("db/schema.sql", Level::Transparent),
        ("src/api/v2.rs", Level::Transparent),
        ("src/api/v1.rs", Level::MustAsk),
        ("docs/x.md", Level::MustAsk),
    ] {
        assert_eq!(judged(FileOp::Modify, path).level, expected, "{path}");
    }
    let told = judged(FileOp::Modify, "db/schema.sql");
    assert!(told.reasoning.contains("a person asked for it"));
    assert_eq!(told.context["conflict"]["winner"], "instruction");
    assert_eq!(
        told.context["conflict"]["rules"][1]["rule"],
        "contract.out-of-scope"
    );
    // A deletion is safety's affair, and what is moved out of the frozen is the Contract's.
    assert_eq!(
        judged(FileOp::Delete, "db/schema.sql").level,
        Level::MustAsk
    );
    let from = FileOp::Rename {
        from: "src/api/v1.rs".into(),
    };
    assert_eq!(judged(from, "db/v1.rs").level, Level::MustAsk);
    let line = EffectKind::AddedLine {
        number: 1,
        text: "x.unwrap()".into(),
    };
    let line = judge(&facts(agent(), vec![Effect::new(line, "db/a.rs")]), &policy);
    assert_eq!(line.level, Level::MustAsk);
    policy.context.risk = Risk::High;
    let kind = file(FileOp::Modify, Nature::Ordinary, FileState::Clean);
    let risky = judge(&facts(agent(), vec![Effect::new(kind, "db/x")]), &policy);
    assert_eq!(risky.level, Level::MustAsk);
}

#[test]
fn the_situations_of_the_seeds_quick_reference_come_out_as_it_says() {
    use Level::{Confirm as L2, MustAsk as L3, Transparent as L1};
    for (situation, rule, expected) in [
        (
            "网络超时，第 1 次",
            RuleId::RetryTransient,
            Level::Autonomous,
        ),
        ("网络超时，第 4 次", RuleId::RetryExhausted, L3),
        ("语法错误", RuleId::FixSyntax, L2),
        ("测试失败，置信度高", RuleId::FixTestHigh, L1),
        ("测试失败，置信度低", RuleId::FixTestLow, L3),
        ("Codex API 额度不足", RuleId::DegradePlanned, L1),
        ("需要修改 Contract", RuleId::ContractScope, L3),
    ] {
        assert_eq!(
            level(EffectKind::Ruled { rule }, agent(), &Policy::default()),
            expected,
            "{situation}"
        );
    }
    let pandas = EffectKind::Package {
        class: PackageClass::Listed,
    };
    assert_eq!(level(pandas, agent(), &Policy::default()), L1);
}

fn any_level() -> impl Strategy<Value = Level> {
    prop::sample::select(Level::ALL.to_vec())
}

fn any_kind() -> impl Strategy<Value = EffectKind> {
    let rows: Vec<EffectKind> = table().into_iter().map(|(_, kind, _)| kind).collect();
    prop_oneof![
        8 => prop::sample::select(rows),
        1 => any_level().prop_map(|worst| EffectKind::Opaque { worst }),
        1 => any_level().prop_map(|level| EffectKind::Declared { level }),
    ]
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let subjects = [
        "src/a.rs",
        "docs/x.md",
        "package.json",
        "src/api.rs",
        ".ccg/contract.md",
        "x/",
    ];
    (any_kind(), prop::sample::select(subjects.to_vec()))
        .prop_map(|(kind, subject)| Effect::new(kind, subject))
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let actors = prop::sample::select(vec![
        agent(),
        Actor::Person { terminal: true },
        Actor::Person { terminal: false },
    ]);
    let surfaces = prop::sample::select(vec![
        Surface::AgentHook,
        Surface::GitHook,
        Surface::Run,
        Surface::Check,
    ]);
    let coverage = prop::sample::select(vec![
        Coverage::NotTaken,
        Coverage::Held {
            point: "01".to_owned(),
        },
        Coverage::Partial {
            point: "01".to_owned(),
            missing: vec!["a".into()],
        },
    ]);
    (
        surfaces,
        actors,
        prop::collection::vec(any_effect(), 0..6),
        coverage,
    )
        .prop_map(|(surface, actor, effects, coverage)| Facts {
            surface,
            actor,
            effects,
            coverage,
        })
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let rules: Vec<RuleId> = MATRIX.iter().map(|rule| rule.id).collect();
    (
        prop::collection::btree_map(prop::sample::select(rules), any_level(), 0..8),
        prop::sample::select(vec![
            Strictness::Relaxed,
            Strictness::Normal,
            Strictness::Strict,
        ]),
        any::<bool>(),
        prop::sample::select(vec![Recoverable::Hold, Recoverable::Report]),
        prop::sample::select(vec![Priority::P0, Priority::P1, Priority::P2, Priority::P3]),
        prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High]),
        prop::sample::select(vec![
            "",
            "### In Scope\n- src/\n## Must-Not-Change\n- src/api.rs\n",
        ]),
    )
        .prop_map(
            |(authority, strictness, relaxed_session, recoverable, priority, risk, text)| Policy {
                authority,
                strictness,
                relaxed_session,
                recoverable,
                context: TaskContext { priority, risk },
                ..contract(text)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_an_effect_never_lowers_the_level(facts in any_facts(), more in any_effect(), policy in any_policy()) {
        let before = judge(&facts, &policy).level;
        let mut wider = facts.clone();
        wider.effects.push(more);
        prop_assert!(judge(&wider, &policy).level >= before);
    }

    #[test]
    fn strict_is_at_least_normal_is_at_least_relaxed(facts in any_facts(), policy in any_policy()) {
        let with = |strictness| judge(&facts, &Policy { strictness, ..policy.clone() }).level;
        prop_assert!(with(Strictness::Strict) >= with(Strictness::Normal));
        prop_assert!(with(Strictness::Normal) >= with(Strictness::Relaxed));
    }

    #[test]
    fn no_preference_context_or_relaxation_lowers_level_3(facts in any_facts(), policy in any_policy()) {
        let plain = Policy { contract: policy.contract.clone(), ..Policy::default() };
        let bent = Policy { recoverable: Recoverable::Hold, ..policy };
        if judge(&facts, &plain).level == Level::MustAsk {
            prop_assert_eq!(judge(&facts, &bent).level, Level::MustAsk);
        }
    }

    #[test]
    fn a_person_is_never_asked_more_than_an_agent(facts in any_facts(), policy in any_policy()) {
        let by = |actor| judge(&Facts { actor, ..facts.clone() }, &policy).level;
        let (person, agent) = (by(Actor::Person { terminal: true }), by(agent()));
        prop_assert!(person <= agent);
    }

    #[test]
    fn a_verdict_says_what_decided_it(facts in any_facts(), policy in any_policy()) {
        let verdict = judge(&facts, &policy);
        prop_assert_eq!(verdict.findings.first().map_or(Level::Autonomous, |first| first.level), verdict.level);
        prop_assert!(verdict.findings.windows(2).all(|pair| pair[0].level >= pair[1].level));
        prop_assert_eq!(verdict.decision, Decision::from(verdict.level));
    }
}
