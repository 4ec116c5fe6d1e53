//! Tables of what a plan makes of a difference.

use super::*;

fn row(kind: Kind, id: u8) -> Row {
    Row {
        name: "x".into(),
        kind,
        mode: 0o644,
        size: 0,
        id: ContentId([id; 32]),
    }
}

fn plan(now: Option<Row>, then: Option<Row>) -> Plan {
    let mut plan = Plan::default();
    plan.add(
        Side::Work,
        Difference {
            path: "x".into(),
            before: now,
            after: then,
        },
    );
    plan.order();
    plan
}

fn actions(plan: &Plan) -> Vec<Deed> {
    plan.steps.iter().map(|step| step.action.clone()).collect()
}

#[test]
fn what_no_point_holds_is_never_touched() {
    let gaps = [
        Kind::NotHeld(Why::BulkyIgnored),
        Kind::NotHeld(Why::Unreadable),
        Kind::Socket,
        Kind::Device,
    ];
    for gap in gaps {
        for then in [
            None,
            Some(row(Kind::File, 1)),
            Some(row(Kind::Dir, 2)),
            Some(row(Kind::Link, 3)),
        ] {
            assert_eq!(
                plan(Some(row(gap, 0)), then.clone()).steps,
                [],
                "{gap:?} {then:?}"
            );
        }
    }
}

#[test]
fn types_are_swapped_in_two_steps() {
    assert_eq!(
        actions(&plan(Some(row(Kind::Dir, 1)), Some(row(Kind::Link, 2)))),
        [Deed::RemoveDir, Deed::Link(ContentId([2; 32]))]
    );
    assert_eq!(
        actions(&plan(Some(row(Kind::Link, 1)), Some(row(Kind::Dir, 2)))),
        [Deed::Remove, Deed::MakeDir(0o644)]
    );
}

#[test]
fn equal_bytes_only_change_the_mode() {
    let then = Row {
        mode: 0o600,
        ..row(Kind::File, 1)
    };
    assert_eq!(
        actions(&plan(Some(row(Kind::File, 1)), Some(then))),
        [Deed::Mode(0o600)]
    );
}

#[test]
fn newer_objects_of_git_stay() {
    assert_eq!(plan(Some(row(Kind::Object, 1)), None).steps, []);
    assert_eq!(plan(Some(row(Kind::SmallObject, 1)), None).steps, []);
}

#[test]
fn what_is_held_now_stays_below_what_the_point_does_not_hold() {
    let mut plan = Plan::default();
    for (path, before, after) in [
        (
            "out",
            Some(row(Kind::Dir, 1)),
            Some(row(Kind::NotHeld(Why::BulkyIgnored), 0)),
        ),
        ("out/a", Some(row(Kind::File, 2)), None),
        ("out/b/c", Some(row(Kind::File, 3)), None),
        ("outer", Some(row(Kind::File, 4)), None),
    ] {
        plan.add(
            Side::Work,
            Difference {
                path: path.into(),
                before,
                after,
            },
        );
    }
    let paths: Vec<_> = plan.steps.iter().map(|step| step.path.clone()).collect();
    assert_eq!(paths, ["outer"]);
}
