//! Commands that leave a program open whose input no hook sees.
//!
//! What is typed into an open shell, debugger or editor later passes no hook.
//! The command is read word by word as a shell would, without knowing what it
//! does: a program that takes its orders from an input that nobody has given it
//! is refused, whatever stands before its name.

use bstr::{BStr, ByteSlice as _};

/// Programs that read commands or code from their input when they get nothing to run.
const SHELLS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "fish", "ksh", "mksh", "ash", "tcsh", "csh", "nu", "pwsh",
    "python", "python2", "python3", "ipython", "bpython", "node", "deno", "bun", "perl", "ruby",
    "irb", "pry", "lua", "luajit", "php", "ghci", "ocaml", "utop", "julia", "iex", "erl", "scala",
    "jshell", "tclsh", "guile", "sbcl", "clojure", "octave",
];

/// Programs that are open whatever their arguments, unless these only ask for a version or help.
const OPEN: &[&str] = &[
    "tmux", "screen", "script", "nsenter", "su", "login", "gdb", "lldb", "vi", "vim", "nvim",
    "nano", "emacs", "ed", "ex", "less", "ftp", "sftp", "telnet", "nc", "ncat", "socat", "expect",
    "minicom",
];

/// Clients whose first operand is a place, and whose second is what they run there.
const CLIENTS: &[&str] = &[
    "ssh",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "redis-cli",
    "mongosh",
    "mongo",
    "duckdb",
];

/// Words before a program that leave it the same program, with the operands each takes first.
const BEFORE: &[(&str, usize)] = &[
    ("exec", 0),
    ("command", 0),
    ("builtin", 0),
    ("env", 0),
    ("nohup", 0),
    ("nice", 0),
    ("ionice", 0),
    ("time", 0),
    ("stdbuf", 0),
    ("unbuffer", 0),
    ("setsid", 0),
    ("unshare", 0),
    ("timeout", 0),
    ("chroot", 1),
    ("busybox", 0),
    ("strace", 0),
    ("rlwrap", 0),
    ("!", 0),
    ("if", 0),
    ("then", 0),
    ("else", 0),
    ("do", 0),
    ("while", 0),
    ("until", 0),
];

/// Deepest `-c` in a `-c` that is followed.
const DEPTH: u8 = 4;

/// Returns true where a part of the command starts a program that then waits for orders.
pub(super) fn is_interactive(command: &[u8]) -> bool {
    opens(command, DEPTH)
}

fn opens(command: &[u8], depth: u8) -> bool {
    simple_commands(&without_documents(command))
        .iter()
        .filter(|simple| !simple.fed)
        .any(|simple| is_open(&simple.words, depth))
}

/// A program with its words, as far as a shell would take them apart.
#[derive(Default)]
struct Simple {
    words: Vec<String>,
    /// Its input comes from a pipe, a file or the command itself.
    fed: bool,
}

/// The command without its here-documents, which are input and no commands.
fn without_documents(command: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(command.len());
    let mut ends: Vec<Vec<u8>> = Vec::new();
    for line in command.lines_with_terminator() {
        if let Some(end) = ends.first() {
            if line.trim() == end.as_slice() {
                ends.remove(0);
            }
            continue;
        }
        out.extend_from_slice(line);
        let mut rest = line;
        while let Some(at) = rest.find("<<") {
            rest = rest.get(at + 2..).unwrap_or_default();
            if rest.first() == Some(&b'<') {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let word = rest.trim_start_with(|c| c == '-' || c == ' ');
            let end: Vec<u8> = word
                .iter()
                .copied()
                .take_while(|byte| !b" \t\n;|&<>()".contains(byte))
                .filter(|byte| !b"'\"\\".contains(byte))
                .collect();
            if !end.is_empty() {
                ends.push(end);
            }
        }
    }
    out
}

/// Takes a command apart at operators; quotes are taken off, expansions are left as they are.
fn simple_commands(command: &[u8]) -> Vec<Simple> {
    let mut all = vec![Simple::default()];
    let mut rest = command.as_bstr();
    let mut word: Option<String> = None;
    let mut redirects = None;
    while let Some(first) = rest.first().copied() {
        let mut taken = 1;
        match first {
            b'\'' | b'"' => {
                let (text, length) = quoted(rest, first);
                word.get_or_insert_default().push_str(&text);
                taken = length;
            }
            b'\\' => {
                if let Some(next) = rest.get(1) {
                    word.get_or_insert_default().push(char::from(*next));
                }
                taken = 2;
            }
            b'#' if word.is_none() => {
                taken = rest.find_byte(b'\n').unwrap_or(rest.len());
            }
            b' ' | b'\t' => put(&mut all, &mut word, &mut redirects),
            b'<' | b'>' => {
                // A number before it is the descriptor, no word.
                if word
                    .as_ref()
                    .is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
                {
                    word = None;
                }
                put(&mut all, &mut word, &mut redirects);
                taken = rest
                    .iter()
                    .take_while(|b| b"<>&|".contains(b))
                    .count()
                    .max(1);
                let operator = rest.get(..taken).unwrap_or_default();
                if operator.starts_with(b"<<") {
                    feed(&mut all);
                }
                redirects = Some(first == b'<' && operator == b"<");
            }
            b'{' | b'}' if word.is_some() => word.get_or_insert_default().push(char::from(first)),
            b'|' | b'&' | b';' | b'\n' | b'(' | b')' | b'{' | b'}' => {
                put(&mut all, &mut word, &mut redirects);
                redirects = None;
                let groups = matches!(first, b'(' | b'{')
                    && all
                        .last()
                        .is_some_and(|last| last.words.is_empty() && last.fed);
                let piped = groups || (first == b'|' && rest.get(1) != Some(&b'|'));
                taken = 1 + usize::from(rest.get(1) == Some(&first) && first != b'\n');
                all.push(Simple {
                    fed: piped,
                    ..Simple::default()
                });
            }
            byte => word.get_or_insert_default().push(char::from(byte)),
        }
        rest = rest.get(taken..).unwrap_or_default().as_bstr();
    }
    put(&mut all, &mut word, &mut redirects);
    all
}

/// Ends a word: it belongs to the command, or is where a redirection leads.
fn put(all: &mut [Simple], word: &mut Option<String>, redirects: &mut Option<bool>) {
    let Some(word) = word.take() else {
        return;
    };
    match redirects.take() {
        Some(true) if !is_terminal(&word) => feed(all),
        Some(_) => {}
        None => {
            if let Some(last) = all.last_mut() {
                last.words.push(word);
            }
        }
    }
}

fn feed(all: &mut [Simple]) {
    if let Some(last) = all.last_mut() {
        last.fed = true;
    }
}

/// Returns true for a name of the input that is there anyway.
fn is_terminal(path: &str) -> bool {
    matches!(
        path,
        "/dev/stdin" | "/dev/tty" | "/dev/fd/0" | "/proc/self/fd/0" | "/dev/console"
    ) || path.starts_with("/dev/pts/")
}

/// The text between quotes, and the length with them.
fn quoted(text: &BStr, quote: u8) -> (String, usize) {
    let mut out = String::new();
    let mut at = 1;
    while let Some(byte) = text.get(at).copied() {
        if byte == quote {
            return (out, at + 1);
        }
        if byte == b'\\' && quote == b'"' {
            at += 1;
        }
        out.push(char::from(text.get(at).copied().unwrap_or_default()));
        at += 1;
    }
    (out, at)
}

fn is_open(words: &[String], depth: u8) -> bool {
    let mut words = words;
    loop {
        let Some((word, rest)) = words.split_first() else {
            return false;
        };
        let name = word.rsplit('/').next().unwrap_or_default();
        if word.contains('=') || word.starts_with('-') {
            words = rest;
        } else if name == "sudo" || name == "doas" {
            let (opens, program) = of_sudo(rest);
            if opens && program.is_empty() {
                return true;
            }
            words = program;
        } else if let Some((_, operands)) = BEFORE.iter().find(|(before, _)| *before == name) {
            let rest = past_options(rest);
            words = rest.get(*operands..).unwrap_or_default();
        } else {
            return is_open_program(name, rest, depth);
        }
    }
}

/// What follows the options of such a word, with their values and with a number or a time.
fn past_options(mut rest: &[String]) -> &[String] {
    let is_time = |word: &str| {
        let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
        !number.is_empty()
            && number
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    while let Some((word, after)) = rest.split_first() {
        let takes_next = matches!(word.as_str(), "-u" | "-C" | "--chdir" | "--unset");
        if takes_next {
            rest = after.get(1..).unwrap_or_default();
        } else if word.starts_with('-') || is_time(word) {
            rest = after;
        } else {
            break;
        }
    }
    rest
}

/// Whether the options ask for a shell, and the program behind them.
fn of_sudo(rest: &[String]) -> (bool, &[String]) {
    let mut opens = false;
    let mut at = 0;
    while let Some(option) = rest.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if let Some(long) = option.strip_prefix("--") {
            opens |= matches!(long, "login" | "shell");
        } else {
            opens |= option.contains(['i', 's']);
            let takes_next =
                option.ends_with(['u', 'g', 'C', 'h', 'p', 'r', 't', 'T', 'U', 'D', 'R']);
            at += usize::from(takes_next);
        }
    }
    (opens, rest.get(at..).unwrap_or_default())
}

fn is_open_program(name: &str, rest: &[String], depth: u8) -> bool {
    let asks = |word: &String| matches!(word.as_str(), "--version" | "--help" | "-V" | "-h");
    let operands = rest.iter().filter(|word| !word.starts_with('-')).count();
    let gives = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.as_str()));
    let versioned = |stem: &str| {
        name.strip_prefix(stem)
            .is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()))
    };
    match name {
        _ if rest.iter().any(asks) => false,
        _ if CLIENTS.contains(&name) => {
            operands < 2
                && !gives(&[
                    "-c",
                    "-e",
                    "-f",
                    "--command",
                    "--execute",
                    "--file",
                    "--eval",
                ])
        }
        "su" if gives(&["-c", "--command"]) => false,
        "docker" | "podman" | "kubectl" | "nerdctl" => is_attached(rest),
        "xargs" | "parallel" => !gives(&["-a", "--arg-file", ":::", "::::"]),
        _ if OPEN.contains(&name) => true,
        "deno" | "bun" => rest.is_empty() || rest.first().is_some_and(|word| word == "repl"),
        _ if SHELLS.contains(&name)
            || versioned("python")
            || versioned("php")
            || versioned("lua") =>
        {
            if let Some(text) = after_c(rest) {
                return depth > 0 && opens(text.as_bytes(), depth - 1);
            }
            // `-i` leaves a session open behind a script.
            let stays = !matches!(name, "perl" | "ruby")
                && rest
                    .iter()
                    .any(|word| word == "-i" || word == "--interactive");
            stays || rest.iter().all(|word| leaves_it_open(word))
        }
        _ => false,
    }
}

/// The text that a shell is given with `-c`, alone or at the end of a cluster.
fn after_c(rest: &[String]) -> Option<&str> {
    let at = rest.iter().position(|word| {
        word.strip_prefix('-')
            .is_some_and(|cluster| !cluster.starts_with('-') && cluster.ends_with('c'))
    })?;
    rest.get(at + 1).map(String::as_str)
}

/// Returns true for a container's program that keeps our input: `exec -it`, `run --interactive`.
fn is_attached(rest: &[String]) -> bool {
    let runs = rest
        .first()
        .is_some_and(|word| matches!(word.as_str(), "exec" | "run" | "attach"));
    let keeps = rest.iter().any(|word| {
        matches!(word.as_str(), "--interactive" | "--stdin" | "--tty")
            || word
                .strip_prefix('-')
                .is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains('i'))
    });
    runs && (keeps || rest.first().is_some_and(|word| word == "attach"))
}

/// Returns true for an option that gives a shell nothing to run.
fn leaves_it_open(word: &str) -> bool {
    let gives = match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or_default();
            matches!(
                name,
                "version" | "help" | "eval" | "print" | "run" | "execute" | "check"
            )
        }
        None => {
            word.ends_with('c')
                || [
                    "-e", "-E", "-p", "-m", "-n", "-r", "-v", "-V", "-h", "-pe", "-ne",
                ]
                .contains(&word)
        }
    };
    word.starts_with('-') && !gives
}

#[cfg(test)]
mod tests {
    use super::is_interactive;

    #[test]
    fn a_program_that_waits_for_orders_is_open_whatever_stands_around_it() {
        for command in [
            "bash",
            "bash -i",
            "/bin/sh",
            "exec zsh -l",
            "env FOO=1 bash",
            "env -i bash",
            "sudo bash",
            "sudo -i",
            "sudo -s",
            "sudo -u root -s",
            "su",
            "su - postgres",
            "python3",
            "python3 -",
            "python3.12 -i",
            "python3 -i x.py",
            "node",
            "perl",
            "ruby",
            "php -a",
            "lua5.4",
            "bun repl",
            "cd x && bash",
            "ssh host",
            "bash --norc",
            "bash -s",
            "(bash)",
            "{ bash; }",
            "bash &",
            "bash 2>&1",
            "bash >out 2>err",
            "'bash'",
            "b\"as\"h",
            "\\bash",
            "/usr/bin/env bash",
            "timeout 100 bash",
            "timeout -k 5 100 bash",
            "timeout --signal=KILL 1.5m bash",
            "nice -n 5 bash",
            "env -u A B=c bash",
            "setsid bash",
            "bash -c bash",
            "bash -lc 'exec sh'",
            "bash </dev/stdin",
            "bash < /dev/tty",
            "sh < /dev/pts/3",
            "if true; then bash; fi",
            "while true; do sh; done",
            "bash | tee log",
            "docker exec -it box bash",
            "docker run -ti image",
            "kubectl exec -i pod -- sh",
            "vim a",
            "ed a",
            "gdb prog",
            "sqlite3 x.db",
            "psql",
            "xargs rm",
            "busybox sh",
            "script -q /dev/null",
        ] {
            assert!(is_interactive(command.as_bytes()), "{command}");
        }
    }

    #[test]
    fn a_program_with_something_to_run_is_not_open() {
        for command in [
            "bash build.sh",
            "bash -c 'ls'",
            "bash -lc ls",
            "bash -c 'echo bash'",
            "echo hi | sh",
            "ls | xargs rm",
            "find . -print0 | xargs -0 ls",
            "python3 x.py",
            "python3 -c 'print(1)'",
            "python3 - <<'E'\nprint(1)\nE",
            "cat <<'E' | python3\nprint(1)\nE",
            "node --version",
            "node -e 1",
            "node x.js",
            "perl -pe 's/a/b/' f",
            "perl -ne 'print' f",
            "ruby x.rb",
            "php artisan migrate",
            "bun run test",
            "deno test",
            "ssh host ls",
            "ls",
            "sh < script",
            "",
            "echo bash",
            "echo 'run bash'",
            "git commit -m 'open a shell: bash'",
            "grep -rn bash .",
            "which bash",
            "bash --version",
            "python -m pytest",
            "sudo ls",
            "sudo -u ada ls -i",
            "timeout 5 ls",
            "docker exec box ls",
            "docker run --rm image make",
            "sqlite3 x.db 'select 1'",
            "su -c ls ada",
            "# bash",
            "${python} x.py",
            "echo x | (bash)",
            "cat > notes <<'E'\nbash\npython3\nE",
            "cp a.{sh,bash} b",
            "perl -i -pe s/a/b/ f",
            "parallel echo ::: a b",
            "man bash | head",
            "make bash",
        ] {
            assert!(!is_interactive(command.as_bytes()), "{command}");
        }
    }
}
