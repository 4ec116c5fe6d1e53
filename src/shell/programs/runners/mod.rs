//! Programs that run a command given to them: on another machine, in another environment, again and again.
//!
//! A row says which words come before the command and how it is given. What
//! runs elsewhere cannot be had back from here; what runs here is judged as if
//! it stood alone. A program that no row names is still believed to run what
//! plainly is a command among its arguments.

mod rows;

use super::elsewhere::elsewhere;
use crate::shell::arg::Arg;
use crate::shell::walk::{Call, Stream, Walk, quote};
use bstr::{BString, ByteSlice as _};
use rows::{Place, RUNNERS, Runner};

/// Notes what a command that another program is given would do.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    if matches!(call.name, "concurrently" | "conc") {
        for arg in call.args.iter().filter(|arg| !arg.is_option()) {
            let line = arg.text.clone();
            let _ = walk.run_child(line.as_bstr(), &Stream::Unknown);
        }
        return;
    }
    if call.name == "start-stop-daemon" {
        return daemon(walk, call);
    }
    for runner in RUNNERS {
        let named = runner.names.split('|').any(|name| {
            name == call.name
                || name.contains('*')
                    && crate::shell::matches(name.as_bytes(), call.name.as_bytes())
        });
        if named && super::tables::stand(runner.words, call.args) {
            given(walk, runner, call);
            return;
        }
    }
}

/// `start-stop-daemon --start --exec PROGRAM -- ARGUMENTS`.
fn daemon(walk: &mut Walk<'_>, call: &Call<'_>) {
    let own = call.args.split(|arg| arg.text == "--").next();
    let own = own.unwrap_or_default();
    let program = own.iter().enumerate().find_map(|(at, arg)| {
        let stem = arg.text.split_str("=").next().unwrap_or_default();
        matches!(stem, b"-x" | b"--exec" | b"-a" | b"--startas")
            .then(|| arg.after_equals().or_else(|| own.get(at + 1).cloned()))
            .flatten()
    });
    let starts = own
        .iter()
        .any(|arg| matches!(arg.word(), "-S" | "--start") || arg.word().starts_with("-S"));
    if let Some(program) = program.filter(|_| starts) {
        let mut words = vec![program];
        words.extend(call.args.iter().skip(own.len() + 1).cloned());
        let _ = walk.run_args(&words, &Stream::Unknown);
    }
}

/// Runs the command that a runner is given, if any.
fn given(walk: &mut Walk<'_>, runner: &Runner, call: &Call<'_>) {
    let mut told = false;
    let mut rest = call.args.iter();
    while let Some(arg) = rest.next() {
        if arg.text == "--" {
            break;
        }
        let stem = arg.text.split_str("=").next().unwrap_or_default();
        if runner
            .texts
            .split(' ')
            .any(|one| !one.is_empty() && stem == one.as_bytes())
        {
            let value = arg.after_equals().or_else(|| rest.next().cloned());
            if let Some(value) = value {
                told = true;
                text(walk, runner, &value);
            }
        }
    }
    if told {
        return;
    }
    let dashes = call.args.iter().position(|arg| arg.text == "--");
    let plain = after_operands(runner, call.args);
    let Some(at) = dashes else {
        return command(walk, runner, plain, call.input);
    };
    let behind = call.args.get(at + 1..).unwrap_or_default();
    // A command that begins before the dashes has them among its own words; what begins there may
    // also be an operand of the runner's.
    let before = !plain.is_empty() && plain.len() + at > call.args.len();
    if before {
        command(walk, runner, plain, call.input);
    }
    let own = before && plain.first().is_some_and(is_command);
    if !own && !behind.first().is_some_and(Arg::is_option) {
        command(walk, runner, behind, call.input);
    }
}

fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    word.starts_with("lts/")
        || number.starts_with(|letter: char| letter.is_ascii_digit())
            && number
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == '.')
}

/// Whether a word names a program whose name is a command wherever it stands.
fn is_command(word: &Arg) -> bool {
    let base = word.text.rsplit_str("/").next().unwrap_or_default();
    base.to_str().is_ok_and(|base| COMMANDS.contains(&base))
}

/// Runs the words of a command.
fn command(walk: &mut Walk<'_>, runner: &Runner, words: &[Arg], input: &Stream) {
    // `nvm exec 20 npm test`
    let words = match words {
        [first, rest @ ..] if is_version(first.word()) && !rest.is_empty() => rest,
        words => words,
    };
    match words {
        [] => {}
        [only] if only.text.contains(&b' ') => text(walk, runner, only),
        words => {
            let mut line = BString::default();
            for word in words {
                line.extend_from_slice(&quote(&word.text, word.glob));
                line.push(b' ');
            }
            match runner.place {
                Place::Here => {
                    let _ = walk.run_args(words, input);
                }
                Place::Elsewhere => {
                    let _ = elsewhere(walk, line.as_bstr(), &Stream::Unknown, "on another machine");
                }
            }
        }
    }
}

/// A command line given as one word; `commands='rm -rf x'` among parameters too.
fn text(walk: &mut Walk<'_>, runner: &Runner, value: &Arg) {
    let text = match value.text.split_once_str("=") {
        Some((b"command" | b"commands", rest)) => {
            BString::from(rest.trim_with(|c| matches!(c, '[' | ']' | '"')))
        }
        _ => value.text.clone(),
    };
    let _ = match runner.place {
        Place::Here => walk.run_child(text.as_bstr(), &Stream::Unknown),
        Place::Elsewhere => elsewhere(walk, text.as_bstr(), &Stream::Unknown, "on another machine"),
    };
}

/// The words after a runner's own words, options and operands.
fn after_operands<'a>(runner: &Runner, args: &'a [Arg]) -> &'a [Arg] {
    let own = runner
        .words
        .split(' ')
        .filter(|word| !word.is_empty())
        .count();
    let mut left = own + runner.skip;
    // Without `--`, only a known number of words comes first.
    if runner.skip >= 9 {
        let at = args
            .iter()
            .position(|arg| matches!(arg.word(), "-c" | "--command" | "-x"));
        let rest = at.and_then(|at| args.get(at + 1..)).unwrap_or_default();
        return rest;
    }
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if arg.is_option() {
            let takes = runner
                .values
                .split(' ')
                .any(|one| arg.text == one.as_bytes());
            at += 1 + usize::from(takes);
        } else if arg.text.contains(&b'=') && !arg.text.contains(&b' ') {
            at += 1;
        } else if left == 0 {
            break;
        } else {
            left -= 1;
            at += 1;
        }
    }
    args.get(at..).unwrap_or_default()
}

/// Programs whose name among the arguments of an unknown program, with options after it, is a command.
const COMMANDS: &[&str] = &[
    "rm", "shred", "dd", "truncate", "unlink", "find", "xargs", "bash", "sh", "zsh", "dash",
    "sudo", "git", "mkfs", "wipefs", "chmod", "chown", "mv", "rsync", "env", "psql", "mysql",
];

/// Notes what an unknown program would run, where a command plainly stands among its arguments.
pub(super) fn embedded(walk: &mut Walk<'_>, call: &Call<'_>) {
    if RUNNERS
        .iter()
        .any(|runner| runner.names.split('|').any(|name| name == call.name))
    {
        return;
    }
    for (at, arg) in call.args.iter().enumerate() {
        let base = arg.text.rsplit_str("/").next().unwrap_or_default();
        let rest = call.args.get(at + 1..).unwrap_or_default();
        let command = base.to_str().is_ok_and(|base| COMMANDS.contains(&base));
        // A word with options of its own, or one after `--`.
        let dashed = at > 0
            && call
                .args
                .get(at - 1)
                .is_some_and(|before| before.text == "--");
        // GNU's rm takes its options after its operands too.
        let forced = base == b"rm"
            && rest.iter().any(|arg| {
                arg.is_option() && arg.text.iter().skip(1).all(|byte| b"rRfv".contains(byte))
            });
        let plain = dashed && !rest.is_empty() || rest.first().is_some_and(Arg::is_option);
        if command && (plain || forced) {
            let words = call.args.get(at..).unwrap_or_default().to_vec();
            let _ = walk.run_args(&words, call.input);
            return;
        }
        let told = matches!(
            arg.word(),
            "-c" | "--command" | "--cmd" | "--exec" | "--shell-command" | "--run"
        );
        if told
            && let [text, ..] = rest
            && text.text.contains(&b' ')
            && let Some(first) = text.text.fields().next()
            && first.to_str().is_ok_and(|first| COMMANDS.contains(&first))
        {
            let text = text.text.clone();
            let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            return;
        }
    }
}
