//! Ignored means what git means: git itself is asked.
//!
//! Every ignored file above a tiny limit is named as not held, so a point's list
//! shows what the walk took for ignored. `PROPTEST_CASES=2000` for a long run.

use super::save;
use crate::support::Sandbox;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

const NAMES: &[&str] = &[
    "a", "b", "ab", "B", "foo", "x y", "#h", "!n", "d", "z.o", "\\e", "[q]",
];

const PIECES: &[&str] = &[
    "a",
    "b",
    "ab",
    "B",
    "foo",
    "x y",
    "x\\ y",
    "\\#h",
    "#h",
    "\\!n",
    "d",
    "*",
    "?",
    "*.o",
    "[ab]",
    "[!a]",
    "**",
    "f*",
    "a?",
    "z.[a-o]",
    "\\\\e",
    "[q]",
    "\\[q]",
    "a*b",
    "[[:alpha:]]",
];

/// One line of an ignore file.
fn line() -> impl Strategy<Value = String> {
    let piece = (0..PIECES.len()).prop_map(|at| PIECES[at]);
    (
        prop::bool::weighted(0.25),
        prop::bool::weighted(0.3),
        prop::collection::vec(piece, 1..4),
        prop::bool::weighted(0.3),
        prop_oneof![8 => Just(""), 1 => Just(" "), 1 => Just("  "), 1 => Just("\\ "), 1 => Just("\r")],
    )
        .prop_map(|(not, rooted, pieces, dir, end)| {
            format!(
                "{}{}{}{}{end}",
                if not { "!" } else { "" },
                if rooted { "/" } else { "" },
                pieces.join("/"),
                if dir { "/" } else { "" },
            )
        })
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 0..5)
}

/// Makes files three levels deep, a random choice of them.
fn fill(sandbox: &Sandbox, choice: &[(usize, usize, usize)]) {
    for (a, b, c) in choice {
        let dir = sandbox.work().join(NAMES[*a]).join(NAMES[*b]);
        // Where a file is in the way there is enough else.
        if fs::create_dir_all(&dir).is_ok() {
            let _ = fs::write(dir.join(NAMES[*c]), "content\n");
            let _ = fs::write(sandbox.work().join(NAMES[*c]), "content\n");
            let _ = fs::write(dir.join("..").join(NAMES[*c]), "content\n");
        }
    }
}

fn limited() -> Sandbox {
    let sandbox = Sandbox::new();
    let dir = sandbox.path("config/holdpoint");
    fs::create_dir_all(&dir).unwrap();
    fs::write(
        dir.join("preferences.json"),
        r#"{"safety": {"max_ignored": 1, "include_ignored": []}}"#,
    )
    .unwrap();
    sandbox
}

fn by_git(sandbox: &Sandbox) -> BTreeSet<String> {
    let args = [
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "-z",
    ];
    sandbox
        .git(args)
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect()
}

fn by_us(sandbox: &Sandbox) -> BTreeSet<String> {
    save(sandbox)["not_held"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gap| gap["path"].as_str().unwrap().to_owned())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12),
        failure_persistence: None,
        max_shrink_iters: 200,
        .. ProptestConfig::default()
    })]

    #[test]
    fn ignored_means_what_git_means(
        choice in prop::collection::vec((0..NAMES.len(), 0..NAMES.len(), 0..NAMES.len()), 1..20),
        top in lines(),
        nested in lines(),
        exclude in lines(),
        global in lines(),
        fold in prop::bool::weighted(0.2),
    ) {
        let sandbox = limited();
        fill(&sandbox, &choice);
        sandbox.write(".gitignore", top.join("\n"));
        let _ = fs::create_dir_all(sandbox.work().join("a"));
        if sandbox.work().join("a").is_dir() {
            sandbox.write("a/.gitignore", nested.join("\n") + "\n");
        }
        fs::write(sandbox.work().join(".git/info/exclude"), exclude.join("\n")).unwrap();
        fs::create_dir_all(sandbox.path("config/git")).unwrap();
        fs::write(sandbox.path("config/git/ignore"), global.join("\n")).unwrap();
        if fold {
            sandbox.git(["config", "core.ignoreCase", "true"]);
        }
        // The ignore files themselves may be smaller than any limit.
        let others = |paths: BTreeSet<String>| -> Vec<String> {
            paths.into_iter().filter(|path| !path.ends_with(".gitignore")).collect()
        };
        prop_assert_eq!(others(by_us(&sandbox)), others(by_git(&sandbox)));
    }
}

#[test]
fn the_excludes_file_may_come_by_any_include() {
    for (name, condition) in [
        ("plain", "[include]\n\tpath = more"),
        (
            "gitdir",
            "[includeIf \"gitdir:**/work/.git\"]\n\tpath = more",
        ),
        (
            "gitdir below",
            "[includeIf \"gitdir:work/\"]\n\tpath = more",
        ),
        ("branch", "[includeIf \"onbranch:ma*\"]\n\tpath = more"),
        ("no", "[includeIf \"gitdir:/elsewhere/\"]\n\tpath = more"),
        ("no branch", "[includeIf \"onbranch:other\"]\n\tpath = more"),
    ] {
        let sandbox = limited();
        let config = fs::read_to_string(sandbox.path("home/.gitconfig")).unwrap();
        fs::write(
            sandbox.path("home/.gitconfig"),
            format!("{config}{condition}\n"),
        )
        .unwrap();
        fs::write(
            sandbox.path("home/more"),
            "[core]\n\texcludesFile = \"~/my ignores\" ; mine\n",
        )
        .unwrap();
        fs::write(sandbox.path("home/my ignores"), "secret\n").unwrap();
        sandbox.write("secret", "secret\n");
        sandbox.write("open", "open\n");
        assert_eq!(by_us(&sandbox), by_git(&sandbox), "{name}");
        assert_eq!(
            by_us(&sandbox).len(),
            usize::from(!name.starts_with("no")),
            "{name}"
        );
    }
}
