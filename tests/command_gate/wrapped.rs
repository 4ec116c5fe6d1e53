//! A wrapper around a command of the corpus never makes it milder.

use super::corpus::{Case, cases, judge, repository};
use std::fmt::Write as _;

/// Ways to run one command by way of another; `{}` is the command, `[]` the command in quotes.
const WRAPPERS: &[&str] = &[
    "sh -c []",
    "bash -lc []",
    "zsh -ec []",
    "eval []",
    "env A=1 sh -c []",
    "env -i PATH=/bin bash -c []",
    "sudo sh -c []",
    "sudo -u root -- bash -c []",
    "doas sh -c []",
    "su -c []",
    "nice -n 5 sh -c []",
    "nohup bash -c [] &",
    "timeout -k 5 60 sh -c []",
    "time bash -c []",
    "setsid -f sh -c []",
    "stdbuf -oL sh -c []",
    "flock /tmp/lock -c []",
    "watch -n1 []",
    "script -qec [] /dev/null",
    "busybox sh -c []",
    "xargs -I@ sh -c [] < list",
    "find . -maxdepth 0 -exec sh -c [] \\;",
    "parallel ::: []",
    "bash <<< []",
    "bash -s <<'END'\n{}\nEND",
    "printf '%s\\n' [] | sh",
    "echo [] | bash -x",
    "python3 -c \"import os; os.system('''[]''')\"",
    "git -c alias.z=![] z",
    "tmux new-session -d []",
    "screen -dm sh -c []",
    "strace -f -o /tmp/trace sh -c []",
    "trap [] EXIT",
    "{\n{}\n}",
    "(\n{}\n)",
    "if true; then\n{}\nfi",
    "while true; do\n{}\ndone",
    "for i in 1; do\n{}\ndone",
    "f() {\n{}\n}; f",
    "case x in x)\n{}\n;; esac",
    "ls\n{}",
    "! {}",
    "x=$(\n{}\n)",
    "cat <(\n{}\n)",
    "set -euo pipefail\n{}",
];

fn wrapped(wrapper: &str, command: &str) -> String {
    let quoted = format!("'{}'", command.replace('\'', "'\\''"));
    if wrapper.contains("'''[]'''") {
        return wrapper.replace("[]", command);
    }
    if wrapper.contains("{}") {
        wrapper.replace("{}", command)
    } else {
        wrapper.replace("[]", &quoted)
    }
}

/// What a wrapper's own syntax would change of a command.
fn fits(wrapper: &str, command: &str) -> bool {
    let here = command.contains("<<") || command.contains('\n') || command.ends_with('&');
    let python = wrapper.contains("'''");
    // The shell of another user, another environment or a later time has other names and places.
    let names = command.contains('$') || command.contains('~') || command.contains('`');
    // `! ! x`, and words that begin a definition.
    let opens = wrapper == "! {}" && command.starts_with(['!', '{', '(', ':'])
        || wrapper.contains("{}") && command.starts_with("function");
    let odd = python && command.contains(['"', '\\', '\'', '$', '`']);
    // find puts a path in the place of braces, wherever they stand.
    let filled = wrapper.starts_with("find ") && command.contains("{}");
    !(here || names || opens || odd || filled || command.contains("exec "))
}

/// Wrapped lines of the corpus that come out milder than they are bare.
fn milder(pick: impl Fn(usize, usize) -> bool) -> (usize, String) {
    let cases = cases();
    let mut text = String::new();
    let mut count = 0;
    for setup in ["none", "project", "desk"] {
        let sandbox = repository(setup);
        let bare: Vec<&Case> = cases
            .iter()
            .filter(|case| case.setup == setup && case.level >= 2)
            .collect();
        let mut made = Vec::new();
        for (at, case) in bare.iter().enumerate() {
            for (index, wrapper) in WRAPPERS.iter().enumerate() {
                if pick(at, index) && fits(wrapper, &case.command) {
                    made.push(Case {
                        command: wrapped(wrapper, &case.command),
                        ..(*case).clone()
                    });
                }
            }
        }
        count += made.len();
        let made: Vec<&Case> = made.iter().collect();
        for (case, verdict) in made.iter().zip(judge(&sandbox, &made)) {
            let found = verdict["level"].as_u64().unwrap_or(0);
            if found < case.level {
                writeln!(
                    text,
                    "{}:{} found {found}: {}",
                    case.file, case.line, case.command
                )
                .unwrap();
            }
        }
    }
    (count, text)
}

#[test]
fn a_wrapper_never_makes_a_command_of_the_corpus_milder() {
    // Each command in two wrappers, each wrapper around a twentieth of the commands.
    let (count, text) = milder(|at, index| {
        let turn = at % WRAPPERS.len();
        index == turn || index == (turn + 17) % WRAPPERS.len()
    });
    assert!(count > 500, "{count} were tried");
    assert!(text.is_empty(), "{text}");
}

#[test]
#[ignore = "the whole product takes minutes; run by hand"]
fn no_wrapper_makes_any_command_of_the_corpus_milder() {
    let (count, text) = milder(|_, _| true);
    assert!(text.is_empty(), "of {count}:\n{text}");
}
