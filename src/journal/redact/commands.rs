//! Passwords that only their program knows for such: `mysql -pX`, `curl -u a:X`, `echo X | sudo -S`.

use super::is_reference;
use std::ops::Range;

/// Where a program takes a password.
enum Holds {
    /// In the word after the option.
    Next(&'static [&'static str]),
    /// Stuck to the option, or in the word after it.
    StuckOrNext(&'static str),
    /// Stuck to the option only.
    Stuck(&'static str),
    /// Behind a mark in the option's value: `-u user:X`.
    Behind(&'static [&'static str], char),
    /// Behind a file and a user, where an option is given: `htpasswd -b file user X`.
    Third(&'static str),
}

/// Programs, whether a further word must stand with them, and where they take a password.
const PROGRAMS: &[(&[&str], &str, Holds)] = &[
    (
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mycli",
        ],
        "",
        Holds::Stuck("-p"),
    ),
    (
        &["redis-cli", "valkey-cli", "keydb-cli"],
        "",
        Holds::Next(&["-a", "--pass"]),
    ),
    (&["sshpass"], "", Holds::StuckOrNext("-p")),
    (
        &[
            "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "regctl",
            "oc", "cf", "az", "twine",
        ],
        "login",
        Holds::Next(&["-p"]),
    ),
    (&["twine"], "", Holds::Next(&["-p"])),
    (
        &["sqlcmd", "osql", "bcp", "isql", "tsql"],
        "",
        Holds::StuckOrNext("-P"),
    ),
    (&["zip", "unzip", "zipcloak"], "", Holds::StuckOrNext("-P")),
    (
        &["7z", "7za", "7zz", "7zr", "rar", "unrar"],
        "",
        Holds::Stuck("-p"),
    ),
    (
        &[
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "cqlsh",
            "influx",
        ],
        "",
        Holds::Next(&["-p"]),
    ),
    (
        &[
            "ldapsearch",
            "ldapmodify",
            "ldapadd",
            "ldapdelete",
            "ldappasswd",
            "ldapwhoami",
            "ldapcompare",
        ],
        "",
        Holds::StuckOrNext("-w"),
    ),
    (
        &["curl", "curlie", "http", "https", "xh", "ab", "siege"],
        "",
        Holds::Behind(
            &[
                "-u",
                "--user",
                "-U",
                "--proxy-user",
                "-a",
                "--auth",
                "-A",
                "-P",
            ],
            ':',
        ),
    ),
    (
        &["curl", "curlie"],
        "",
        Holds::Behind(&["-b", "--cookie"], '='),
    ),
    (
        &["smbclient", "rpcclient", "net", "smbget", "mount.cifs"],
        "",
        Holds::Behind(&["-U", "--user"], '%'),
    ),
    (&["htpasswd"], "", Holds::Third("-b")),
    (
        &["snmpget", "snmpwalk"],
        "",
        Holds::Next(&["-A", "-X", "-c"]),
    ),
];

/// What reads a password from its standard input: a program, and a word that tells it to.
const READERS: &[(&str, &str)] = &[
    ("chpasswd", ""),
    ("passwd", "--stdin"),
    ("sudo", "-S"),
    ("sudo", "-kS"),
    ("sudo", "--stdin"),
    ("docker", "--password-stdin"),
    ("podman", "--password-stdin"),
    ("helm", "--password-stdin"),
    ("gh", "--with-token"),
    ("glab", "--stdin"),
    ("gpg", "--passphrase-fd"),
    ("cryptsetup", ""),
    ("vault", "login"),
    ("kinit", ""),
    ("ssh-add", "-"),
    ("smbpasswd", "-s"),
];

/// Finds the passwords of known programs.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    // Most texts of a log are no command with options.
    if ![" -", "|", "<<<", "machine "]
        .iter()
        .any(|mark| text.contains(mark))
    {
        return;
    }
    let words = words(text);
    for (at, word) in words.iter().enumerate() {
        if !word.first {
            continue;
        }
        let rest = of_command(&words, at + 1);
        let name = base(word.text);
        for (names, with, holds) in PROGRAMS {
            let stands = with.is_empty() || rest.iter().any(|word| word.text == *with);
            if names.contains(&name) && stands {
                held(holds, rest, found);
            }
        }
        let reads = READERS.iter().any(|(reader, option)| {
            *reader == name && (option.is_empty() || rest.iter().any(|word| word.text == *option))
        });
        if reads {
            read(&words, at, rest, found);
        }
    }
    netrc(&words, found);
}

/// A word of a command line, without its quotes.
struct Word<'t> {
    text: &'t str,
    range: Range<usize>,
    /// It begins a command.
    first: bool,
    /// A bar stands before it.
    piped: bool,
}

/// Splits as a shell would, roughly: blanks part words, quotes hold them together.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let (mut first, mut piped) = (true, false);
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        if letter.is_whitespace() {
            first |= letter == '\n';
            continue;
        }
        if matches!(letter, ';' | '|' | '&' | '(' | '{') {
            first = true;
            piped = letter == '|' && !matches!(letters.peek(), Some((_, '|')));
            continue;
        }
        let quote = matches!(letter, '"' | '\'').then_some(letter);
        let begin = start + quote.map_or(0, char::len_utf8);
        let mut end = text.len();
        let mut open = quote;
        if quote.is_none() {
            end = start + letter.len_utf8();
        }
        while let Some((at, next)) = letters.peek().copied() {
            match open {
                Some(mark) if next == mark => {
                    open = None;
                    if quote.is_some() {
                        end = at;
                        letters.next();
                        break;
                    }
                }
                None if next.is_whitespace() || matches!(next, ';' | '|' | '&') => break,
                None if matches!(next, '"' | '\'') => open = Some(next),
                _ => {}
            }
            letters.next();
            end = at + next.len_utf8();
        }
        let Some(inner) = text.get(begin..end) else {
            continue;
        };
        let assigns = first && inner.contains('=') && quote.is_none();
        let carries = first
            && matches!(
                base(inner),
                "sudo" | "env" | "time" | "exec" | "command" | "nohup"
            );
        let option = inner.starts_with('-');
        words.push(Word {
            text: inner,
            range: begin..end,
            first: first && !option,
            piped,
        });
        first &= assigns || carries || option;
        piped &= first;
    }
    words
}

/// The words of a command up to the next one.
fn of_command<'w, 't>(words: &'w [Word<'t>], from: usize) -> &'w [Word<'t>] {
    let rest = words.get(from..).unwrap_or_default();
    let end = rest
        .iter()
        .position(|word| word.first)
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn held(holds: &Holds, rest: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let mut hide = |word: &Word<'_>, skip: usize| {
        let range = word.range.start + skip..word.range.end;
        if word
            .text
            .get(skip..)
            .is_some_and(|value| !value.is_empty() && !is_reference(value))
        {
            found.push(range);
        }
    };
    for (at, word) in rest.iter().enumerate() {
        let next = rest.get(at + 1);
        match holds {
            Holds::Next(options) => {
                if let (true, Some(next)) = (options.contains(&word.text), next) {
                    hide(next, 0);
                }
            }
            Holds::Stuck(option) => {
                if word.text.len() > option.len() && word.text.starts_with(option) {
                    hide(word, option.len());
                }
            }
            Holds::StuckOrNext(option) => {
                if word.text == *option
                    && let Some(next) = next
                {
                    hide(next, 0);
                } else if word.text.starts_with(option) {
                    hide(word, option.len());
                }
            }
            Holds::Behind(options, mark) => {
                let (value, skip) = match (options.contains(&word.text), word.text.split_once('='))
                {
                    (true, _) => (next, 0),
                    (false, Some((name, _))) if options.contains(&name) => {
                        (Some(word), name.len() + 1)
                    }
                    _ => (None, 0),
                };
                if let Some(value) = value
                    && let Some(mark) = value.text.get(skip..).and_then(|text| text.find(*mark))
                {
                    hide(value, skip + mark + 1);
                }
            }
            Holds::Third(option) => {
                let given = word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && option
                        .get(1..)
                        .is_some_and(|letter| word.text.contains(letter));
                let printed = given && word.text.contains('n');
                let operand = rest
                    .iter()
                    .filter(|word| !word.text.starts_with('-'))
                    .nth(if printed { 1 } else { 2 });
                if let (true, Some(operand)) = (given, operand) {
                    hide(operand, 0);
                }
            }
        }
    }
}

/// Hides what is written into a program that reads a password.
fn read(words: &[Word<'_>], at: usize, rest: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let mut hide = |word: &Word<'_>| {
        if !is_reference(word.text) {
            found.push(word.range.clone());
        }
    };
    for pair in rest.windows(2) {
        if let [mark, value] = pair
            && mark.text == "<<<"
        {
            hide(value);
        }
    }
    let piped = words.get(at).is_some_and(|word| word.piped);
    let writer = words
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rposition(|word| word.first);
    if let (true, Some(writer)) = (piped, writer)
        && words
            .get(writer)
            .is_some_and(|word| matches!(base(word.text), "echo" | "printf"))
    {
        words
            .get(writer + 1..at)
            .unwrap_or_default()
            .iter()
            .filter(|word| !word.text.starts_with('-') && !word.text.starts_with('%'))
            .for_each(hide);
    }
}

/// `machine HOST login USER password X`, in one quoted word or in several.
fn netrc(words: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    for (at, word) in words.iter().enumerate() {
        let before = words.get(at.saturating_sub(4)..at).unwrap_or_default();
        if word.text == "password"
            && before
                .iter()
                .any(|word| matches!(word.text, "login" | "machine" | "default"))
            && let Some(value) = words.get(at + 1)
        {
            found.push(value.range.clone());
        }
        if let Some(machine) = word.text.find("machine ")
            && let Some(start) = word
                .text
                .get(machine..)
                .and_then(|text| text.find(" password "))
                .map(|found| machine + found + " password ".len())
        {
            let end = word
                .text
                .get(start..)
                .and_then(|text| text.find(char::is_whitespace))
                .map_or(word.text.len(), |length| start + length);
            found.push(word.range.start + start..word.range.start + end);
        }
    }
}
