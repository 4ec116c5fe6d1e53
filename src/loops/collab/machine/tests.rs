use super::*;

#[test]
fn only_the_tables_turns_exist() {
    use Event as E;
    use State as S;
    let all = [S::Init, S::Running, S::Success, S::Degraded, S::Failed];
    let events = [
        E::Started,
        E::GateFailed,
        E::AllSucceeded,
        E::OneSucceeded,
        E::NoneSucceeded,
        E::Accepted,
        E::Rejected,
        E::Cancelled,
    ];
    let table = [
        (S::Init, E::Started, S::Running),
        (S::Init, E::GateFailed, S::Failed),
        (S::Init, E::Cancelled, S::Failed),
        (S::Running, E::AllSucceeded, S::Success),
        (S::Running, E::OneSucceeded, S::Degraded),
        (S::Running, E::NoneSucceeded, S::Failed),
        (S::Running, E::Cancelled, S::Failed),
        (S::Degraded, E::Accepted, S::Success),
        (S::Degraded, E::Rejected, S::Failed),
        (S::Degraded, E::Cancelled, S::Failed),
    ];
    for from in all {
        for event in events {
            let expected = table
                .iter()
                .find(|(state, on, _)| *state == from && *on == event)
                .map(|(_, _, to)| *to);
            assert_eq!(next(from, event).ok(), expected, "{from} {event:?}");
        }
    }
}

fn result(backend: Backend, succeeded: bool, session: bool, code: Option<Code>) -> Ended {
    Ended {
        backend,
        succeeded,
        session: session.then(|| "s-1".to_owned()),
        code,
        reason: "why".to_owned(),
    }
}

#[test]
fn results_are_weighed_by_the_seeds_conditions() {
    use Backend::{Codex, Gemini};
    use DegradedLevel::{Acceptable, Unacceptable};
    use Event as E;
    let good = |backend| result(backend, true, true, None);
    let silent = |backend| result(backend, true, false, None);
    let late = |backend| result(backend, false, false, Some(Code::E004));
    let broken = |backend| result(backend, false, true, None);
    for (codex, gemini, role, lite, event, level, code) in [
        (
            good(Codex),
            good(Gemini),
            Role::Analyzer,
            false,
            E::AllSucceeded,
            None,
            None,
        ),
        (
            silent(Codex),
            silent(Gemini),
            Role::Analyzer,
            false,
            E::NoneSucceeded,
            None,
            Some(Code::E006),
        ),
        (
            silent(Codex),
            silent(Gemini),
            Role::Analyzer,
            true,
            E::AllSucceeded,
            None,
            None,
        ),
        (
            good(Codex),
            late(Gemini),
            Role::Architect,
            false,
            E::OneSucceeded,
            Some(Acceptable),
            Some(Code::E004),
        ),
        (
            late(Codex),
            good(Gemini),
            Role::Architect,
            false,
            E::OneSucceeded,
            Some(Unacceptable),
            Some(Code::E004),
        ),
        (
            late(Codex),
            good(Gemini),
            Role::Reviewer,
            false,
            E::OneSucceeded,
            Some(Acceptable),
            Some(Code::E004),
        ),
        (
            good(Codex),
            silent(Gemini),
            Role::Reviewer,
            false,
            E::OneSucceeded,
            Some(Unacceptable),
            Some(Code::E006),
        ),
        (
            good(Codex),
            broken(Gemini),
            Role::Analyzer,
            false,
            E::OneSucceeded,
            Some(Unacceptable),
            None,
        ),
        (
            late(Codex),
            late(Gemini),
            Role::Architect,
            false,
            E::NoneSucceeded,
            None,
            Some(Code::E005),
        ),
        (
            silent(Codex),
            late(Gemini),
            Role::Architect,
            false,
            E::NoneSucceeded,
            None,
            Some(Code::E006),
        ),
        (
            silent(Codex),
            late(Gemini),
            Role::Architect,
            true,
            E::OneSucceeded,
            Some(Acceptable),
            Some(Code::E004),
        ),
    ] {
        let outcome = decide(&[codex.clone(), gemini.clone()], role, lite);
        assert_eq!(
            (outcome.event, outcome.level, outcome.code),
            (event, level, code),
            "{codex:?} {gemini:?} {role:?}"
        );
        assert_eq!(outcome.reason.is_none(), event == E::AllSucceeded);
        assert_eq!(outcome.impact.is_some(), level.is_some());
    }
    let outcome = decide(&[good(Codex), late(Gemini)], Role::Architect, false);
    assert_eq!(outcome.missing, ["frontend"]);
    let alone = decide(&[good(Codex)], Role::Analyzer, false);
    assert_eq!(alone.event, E::AllSucceeded);
    let alone = decide(&[late(Codex)], Role::Analyzer, false);
    assert_eq!(
        (alone.event, alone.code),
        (E::NoneSucceeded, Some(Code::E004))
    );
}
