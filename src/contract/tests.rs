use super::*;
use crate::judge::ContractClass;
use bstr::B;

fn read(text: &str) -> Contract {
    Contract::parse(text.as_bytes()).expect("a Contract that parses")
}

fn stands(contract: &Contract, path: &str) -> &'static str {
    match contract.place(B(path).as_bstr()) {
        Placement::InScope => "in",
        Placement::OutOfScope { .. } => "out",
        Placement::Frozen { .. } => "frozen",
    }
}

#[test]
fn an_empty_contract_lets_everything_pass() {
    let contract = read("# Contract\n\nprose\n");
    assert_eq!(stands(&contract, "any/where"), "in");
    assert!(contract.enforces_nothing());
}

#[test]
fn the_template_restricts_nothing() {
    let contract = read(TEMPLATE);
    assert!(contract.enforces_nothing());
    assert!(contract.notes.is_empty());
}

#[test]
fn paths_are_read_bare_and_in_backticks_and_several_in_a_bullet() {
    let contract = read(
        "## Scope\n### In Scope\n- src/auth/, tests/auth/ (login only)\n* `src/my file.rs` and `*.md`\n1. Cargo.toml\n- [ ] docs\n### Out of Scope\n- `src/auth/legacy/`\n",
    );
    for (path, expected) in [
        ("src/auth/login.rs", "in"),
        ("src/auth/deep/er/x.rs", "in"),
        ("tests/auth/t.rs", "in"),
        ("src/my file.rs", "in"),
        ("README.md", "in"),
        ("docs/a/b.md", "in"),
        ("docs/x.txt", "in"),
        ("Cargo.toml", "in"),
        ("src/auth/legacy/old.rs", "out"),
        ("src/billing/x.rs", "out"),
        ("src/authx/login.rs", "out"),
    ] {
        assert_eq!(stands(&contract, path), expected, "{path}");
    }
}

#[test]
fn gitignore_semantics_hold() {
    let contract = read(
        "### In Scope\n- `/only-top.txt`\n- `src/**/gen/*.rs`\n- `build/`\n- `lib`\n- `!lib/vendor/`\n- `f[0-9].txt`\n",
    );
    for (path, expected) in [
        ("only-top.txt", "in"),
        ("sub/only-top.txt", "out"),
        ("src/gen/a.rs", "in"),
        ("src/x/y/gen/a.rs", "in"),
        ("src/x/gen/deeper/a.rs", "out"),
        ("build/a/b", "in"),
        ("build", "out"),
        ("x/build/y", "in"),
        ("lib/a.rs", "in"),
        ("lib/vendor/a.rs", "out"),
        ("f7.txt", "in"),
        ("fx.txt", "out"),
    ] {
        assert_eq!(stands(&contract, path), expected, "{path}");
    }
}

#[test]
fn a_directory_stands_where_the_strictest_below_it_stands() {
    let contract = read("### In Scope\n- src/\n## Must-Not-Change\n- src/api/v1.rs\n- `*.lock`\n");
    assert_eq!(stands(&contract, "src/api/"), "frozen");
    assert_eq!(stands(&contract, "src/"), "frozen");
    assert_eq!(stands(&contract, "src/api/v2.rs"), "in");
    assert_eq!(stands(&contract, "src/x.lock"), "frozen");
}

#[test]
fn crlf_bom_fences_and_comments_are_read_past() {
    let contract = read(
        "\u{feff}---\r\npriority: p0\r\nrisk: HIGH\r\nexpires: 2030-01-31\r\n---\r\n# C\r\n## In-Scope:\r\n```\r\n- not/this\r\n```\r\n<!-- - nor/this\r\n- nor/that -->\r\n- src/ <!-- the core -->\r\n",
    );
    assert_eq!(contract.in_scope.len(), 1);
    assert_eq!(contract.in_scope[0].text, "src/");
    assert_eq!(contract.priority, Some(Priority::P0));
    assert_eq!(contract.risk, Some(Risk::High));
    assert_eq!(
        contract.expires.map(|at| at.to_string()).as_deref(),
        Some("2030-02-01T00:00:00Z")
    );
}

#[test]
fn text_bullets_are_kept_for_people_and_not_enforced() {
    let contract = read(
        "## Scope\n- Everything about the login form\n- see https://example.org/x\n## Constraints\n- No new threads\n## Other\n- src/ignored/\n",
    );
    assert!(contract.in_scope.is_empty());
    assert_eq!(contract.notes.len(), 3);
    assert_eq!(contract.notes[0].line, 2);
}

#[test]
fn paths_inside_a_sentence_are_enforced_and_words_with_slashes_are_not() {
    let contract = read(
        "## Must-Not-Change\n- The public API in src/api/ and the schema (db/schema.sql).\n- Keep Cargo.toml as it is\n- The client/server protocol, read/write/execute rights, Node.js and I/O\n- Whatever the pipeline under .github/workflows does\n- Rules as in the report, see docs/adr/0004.md\n- POST /v1/users keeps its shape, **really**, v2.0 too\n",
    );
    let texts: Vec<&str> = contract.frozen.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "src/api/",
            "db/schema.sql",
            "Cargo.toml",
            ".github/workflows"
        ]
    );
    let scope = read("## In Scope\n- Add a limiter to src/limit.rs, with tests in tests/limit\n");
    assert_eq!(stands(&scope, "src/limit.rs"), "in");
    assert_eq!(stands(&scope, "tests/limit/a.rs"), "in");
    assert_eq!(stands(&scope, "src/other.rs"), "out");
}

#[test]
fn what_a_bullet_excepts_is_taken_out_again() {
    for (text, path, expected) in [
        (
            "## In Scope\n- `src/` except `src/gen/`\n",
            "src/gen/a.rs",
            "out",
        ),
        (
            "## In Scope\n- `src/` except `src/gen/`\n",
            "src/a.rs",
            "in",
        ),
        (
            "## In Scope\n- src/ (excluding src/gen/), tests/\n",
            "tests/a.rs",
            "in",
        ),
        (
            "## In Scope\n- src/ (excluding src/gen/), tests/\n",
            "src/gen/a.rs",
            "out",
        ),
        (
            "## In Scope\n- Everything except infra/\n",
            "infra/a.tf",
            "out",
        ),
        (
            "## In Scope\n- Everything except infra/\n",
            "src/a.rs",
            "in",
        ),
        (
            "## In Scope\n- Nothing except `src/x/`\n",
            "src/x/a.rs",
            "in",
        ),
        (
            "## In Scope\n- Nothing except `src/x/`\n",
            "src/y.rs",
            "out",
        ),
        (
            "## Must-Not-Change\n- 除了 `docs/` 之外的 所有 文件\n",
            "docs/a.md",
            "in",
        ),
        (
            "## Must-Not-Change\n- 除了 `docs/` 之外的 所有 文件\n",
            "src/a.rs",
            "frozen",
        ),
        (
            "## Must-Not-Change\n- Do not touch `src/core`\n",
            "src/core/a.rs",
            "frozen",
        ),
        (
            "## Must-Not-Change\n- all of `src/api/` but not `src/api/internal/`\n",
            "src/api/internal/a.rs",
            "in",
        ),
        (
            "## Out of Scope\n- anything other than `src/`\n",
            "README.md",
            "out",
        ),
        (
            "## Out of Scope\n- anything other than `src/`\n",
            "src/a.rs",
            "in",
        ),
    ] {
        assert_eq!(stands(&read(text), path), expected, "{text} {path}");
    }
}

#[test]
fn setext_and_bold_headings_open_sections() {
    let contract = read("Out of Scope\n------------\n- a/\n\n**Must-Not-Change:**\n- b/\n");
    assert_eq!(stands(&contract, "a/x"), "out");
    assert_eq!(stands(&contract, "b/x"), "frozen");
}

#[test]
fn forbidden_patterns_match_added_lines() {
    let contract = read(
        "## Forbidden Patterns\n- /\\beval\\(/ no eval\n- `/todo/i`\n- `unwrap()`\n- /a\\/b/\n- be careful\n",
    );
    for (line, expected) in [
        ("x = eval(y)", Some("/\\beval\\(/")),
        ("// TODO later", Some("/todo/i")),
        ("a.unwrap()", Some("unwrap()")),
        ("see a/b", Some("/a/b/")),
        ("medieval(1)", None),
    ] {
        assert_eq!(contract.forbids(B(line).as_bstr()), expected, "{line}");
    }
    assert_eq!(contract.notes.len(), 1);
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_line() {
    for (text, line) in [
        ("## In Scope\n- ok/\n- `src/[abc`\n", 3),
        ("## In Scope\n- ../outside\n", 2),
        ("---\npriority: P9\n---\n", 2),
        ("---\nrisk: extreme\n---\n", 2),
        ("---\nexpires: soon\n---\n", 2),
    ] {
        let fault = Contract::parse(text.as_bytes()).expect_err(text);
        assert_eq!(fault.line, line, "{text}");
        assert!(!fault.accepted.is_empty(), "{text}");
    }
    let broken = read("## Forbidden Patterns\n\n- /(unclosed/\n");
    assert_eq!(broken.verify().expect_err("broken").line, 3);
    assert!(broken.forbids(B("anything").as_bstr()).is_some());
}

#[test]
fn an_expired_contract_lets_nothing_pass() {
    let mut contract = read("## In Scope\n- src/\n");
    contract.expired = true;
    assert_eq!(stands(&contract, "src/a"), "out");
}

#[test]
fn two_versions_pass_only_what_both_let_pass() {
    let both = read("## In Scope\n- src/\n").and(read(
        "## In Scope\n- src/\n- docs/\n## Must-Not-Change\n- src/a.rs\n",
    ));
    assert_eq!(stands(&both, "docs/x"), "out");
    assert_eq!(stands(&both, "src/a.rs"), "frozen");
    assert_eq!(stands(&both, "src/b.rs"), "in");
}

fn classes(before: &str, after: &str) -> Vec<ContractClass> {
    let mut classes: Vec<_> = classify(Some(&read(before)), Some(&read(after)))
        .into_iter()
        .map(|change| change.class)
        .collect();
    classes.dedup();
    classes
}

#[test]
fn changes_are_classed() {
    use ContractClass::{Create, Detail, FixConflict, Relax, Scope};
    let cases: &[(&str, &str, &[ContractClass])] = &[
        ("## In Scope\n- a/\n", "## In Scope\n- a/\n", &[]),
        ("## In Scope\n- a/\n", "## In Scope\n- a/\n- b/\n", &[Scope]),
        (
            "## In Scope\n- a/\n- b/\n",
            "## In Scope\n- a/\n",
            &[Detail],
        ),
        (
            "## In Scope\n- a/\n",
            "## In Scope\n- a/x.rs\n- a/\n",
            &[Detail],
        ),
        (
            "## In Scope\n- a/\n",
            "## In Scope\n- b/\n",
            &[Scope, Detail],
        ),
        ("## In Scope\n- a/\n", "", &[Scope]),
        ("", "## In Scope\n- a/\n", &[Detail]),
        ("## Out of Scope\n- a/\n", "", &[Scope]),
        ("## Must-Not-Change\n- a/\n", "", &[Relax]),
        (
            "## Must-Not-Change\n- a/\n",
            "## Must-Not-Change\n- a/\n- `!a/b`\n",
            &[Relax],
        ),
        (
            "## Must-Not-Change\n- a/b\n",
            "## Must-Not-Change\n- a/\n",
            &[Detail],
        ),
        (
            "## Forbidden Patterns\n- /x/\n",
            "## Forbidden Patterns\n- /y/\n",
            &[Relax, Detail],
        ),
        ("## Constraints\n- No threads\n", "", &[Relax]),
        ("", "## Constraints\n- No threads\n", &[Detail]),
        (
            "## In Scope\n- a/\n- c/\n## Out of Scope\n- a/\n",
            "## In Scope\n- c/\n## Out of Scope\n- a/\n",
            &[FixConflict],
        ),
        (
            "## In Scope\n- a/\n## Out of Scope\n- a/\n",
            "## In Scope\n- a/\n",
            &[FixConflict],
        ),
        ("", "---\npriority: P0\n---\n", &[Relax]),
        ("---\nrisk: high\n---\n", "", &[Relax]),
        (
            "---\nexpires: 2030-01-01\n---\n",
            "---\nexpires: 2029-01-01\n---\n",
            &[Detail],
        ),
        ("---\nexpires: 2030-01-01\n---\n", "", &[Relax]),
    ];
    for (before, after, expected) in cases {
        assert_eq!(classes(before, after), *expected, "{before} -> {after}");
    }
    assert_eq!(classify(None, Some(&read("")))[0].class, Create);
    assert_eq!(
        classify(Some(&read("## In Scope\n- a/\n")), None)[0].class,
        Relax
    );
}

mod laws {
    use super::*;
    use proptest::prelude::*;

    fn any_text() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "## In Scope",
            "### Out of Scope",
            "## Must-Not-Change",
            "## Forbidden Patterns",
            "\n",
            "\n",
            "- ",
            "* ",
            "`",
            "``",
            "src/",
            "!",
            "**",
            "[",
            "]",
            "\\",
            "/",
            "/x/i",
            "<!--",
            "-->",
            "```",
            "~~~",
            "---",
            "priority: P0",
            "é",
            "、",
            "**Scope**",
            " ",
            ":",
            "a.rs",
            "1. ",
            "../",
        ]);
        prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
    }

    fn any_path() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "src/a.rs", "src/", "a.rs", "x/y/z", "", "/", "é/a", "src//a",
        ])
        .prop_map(str::to_owned)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_read_or_refused_and_any_path_is_placed(text in any_text(), path in any_path(), line in "\\PC{0,40}") {
            if let Ok(contract) = Contract::parse(text.as_bytes()) {
                let _ = contract.verify();
                let _ = contract.place(path.as_bytes().as_bstr());
                let _ = contract.forbids(line.as_bytes().as_bstr());
                prop_assert!(classify(Some(&contract), Some(&contract)).is_empty());
            }
        }

        #[test]
        fn a_version_beside_only_ever_takes_away(one in any_text(), other in any_text(), path in any_path()) {
            let (Ok(one), Ok(other)) = (Contract::parse(one.as_bytes()), Contract::parse(other.as_bytes())) else {
                return Ok(());
            };
            let path = path.as_bytes().as_bstr();
            let both = one.clone().and(other.clone());
            let passes = both.place(path) == Placement::InScope;
            prop_assert_eq!(passes, one.place(path) == Placement::InScope && other.place(path) == Placement::InScope);
        }
    }
}
