//! Programs that a table describes: which of their subcommands destroy, and which options make them harmless.
//!
//! One file a family; a row names a program, the words of a subcommand in
//! order, and what it does. Words may stand apart where options with values
//! come between.

mod cloud;
pub(super) mod containers;
mod infrastructure;
mod machine;
mod migrations;
mod releases;
mod services;
mod stores;
mod tools;
mod verbs;

use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::DeedKind;
use crate::shell::walk::{Call, Walk};
use bstr::ByteSlice as _;

/// What a row's command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// Destroys data for good.
    Destroys,
    /// Changes configuration, services, users, access.
    Configures,
    /// May miss the person's intent (Level 2).
    Asks,
    /// Reversible; a person should know (Level 1).
    Tells,
}

/// One command of one program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The program, alternatives divided by `|`.
    pub(super) program: &'static str,
    /// The subcommand's words, each with alternatives divided by `|`, or a pattern.
    pub(super) words: &'static str,
    /// Options of which one must be there; empty for none needed.
    pub(super) with: &'static str,
    /// Options that make it harmless.
    pub(super) unless: &'static str,
    /// What it does.
    pub(super) harm: Harm,
    /// Why, as a clause.
    pub(super) why: &'static str,
}

/// A row that destroys.
pub(super) const fn kills(program: &'static str, words: &'static str, why: &'static str) -> Row {
    Row {
        program,
        words,
        with: "",
        unless: "",
        harm: Harm::Destroys,
        why,
    }
}

/// A row that configures.
pub(super) const fn sets(program: &'static str, words: &'static str, why: &'static str) -> Row {
    Row {
        program,
        words,
        with: "",
        unless: "",
        harm: Harm::Configures,
        why,
    }
}

/// A row at Level 2.
pub(super) const fn asks(program: &'static str, words: &'static str, why: &'static str) -> Row {
    Row {
        program,
        words,
        with: "",
        unless: "",
        harm: Harm::Asks,
        why,
    }
}

/// A row at Level 1.
pub(super) const fn tells(program: &'static str, words: &'static str, why: &'static str) -> Row {
    Row {
        program,
        words,
        with: "",
        unless: "",
        harm: Harm::Tells,
        why,
    }
}

impl Row {
    /// Needs one of these options.
    pub(super) const fn with(self, with: &'static str) -> Self {
        Self { with, ..self }
    }

    /// Is harmless with one of these options.
    pub(super) const fn unless(self, unless: &'static str) -> Self {
        Self { unless, ..self }
    }
}

/// The families, in no order that matters; true for those whose programs speak to services.
const FAMILIES: &[(bool, &[Row])] = &[
    (true, containers::ROWS),
    (true, cloud::ROWS),
    (true, infrastructure::ROWS),
    (true, services::ROWS),
    (true, stores::ROWS),
    (true, machine::ROWS),
    (true, migrations::ROWS),
    (true, releases::ROWS),
    (false, tools::ROWS),
];

/// Options that make any program of a table only show what it would do.
const DRY: &[&str] = &[
    "--dry-run",
    "--dryrun",
    "--whatif",
    "-whatif",
    "--what-if",
    "--simulate",
    "--noop",
    "--no-op",
    "--help",
    "--version",
    "--check-only",
    "--plan",
];

/// Judges a command by the tables; false for a program that none describes.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> bool {
    let mut known = false;
    let mut described = false;
    let mut worst: Option<&Row> = None;
    for (services, row) in FAMILIES
        .iter()
        .flat_map(|(services, family)| family.iter().map(move |row| (*services, row)))
    {
        if !any(row.program, call.name) {
            continue;
        }
        // Developers' tools have subcommands of every kind; a row that fits but is excused speaks too.
        described |= !services || !row.words.is_empty() && words_fit(row, call.args);
        known = true;
        if matches(row, call.args) && worst.is_none_or(|held| rank(row.harm) > rank(held.harm)) {
            worst = Some(row);
        }
    }
    walk.set_table(worst.is_some());
    match worst {
        Some(row) => note(walk, row.harm, row.why),
        None if known && !described && !unless("", call.args) => verbs::look(walk, call),
        None => {}
    }
    known
}

/// Judges a program of which nothing is known but its words.
pub(super) fn by_words(walk: &mut Walk<'_>, call: &Call<'_>) {
    if !unless("", call.args) {
        verbs::look(walk, call);
    }
}

/// Notes what a row says.
pub(super) fn note(walk: &mut Walk<'_>, harm: Harm, why: &str) {
    match harm {
        Harm::Destroys => walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: why.to_owned(),
        }),
        Harm::Configures => walk.note(DeedKind::System {
            class: SystemClass::Config,
            why: why.to_owned(),
        }),
        Harm::Asks => walk.mark(Level::Confirm, why),
        Harm::Tells => walk.mark(Level::Transparent, why),
    }
}

fn rank(harm: Harm) -> u8 {
    match harm {
        Harm::Destroys => 3,
        Harm::Configures => 2,
        Harm::Asks => 1,
        Harm::Tells => 0,
    }
}

/// Returns true where one alternative of `words` is `word`; `*` matches within.
fn any(words: &str, word: &str) -> bool {
    words.split('|').any(|one| {
        one == word || (one.contains('*') && crate::shell::matches(one.as_bytes(), word.as_bytes()))
    })
}

/// Returns true where a command line is what a row describes.
fn matches(row: &Row, args: &[Arg]) -> bool {
    words_fit(row, args) && with(row.with, args) && !unless(row.unless, args)
}

/// Returns true where the words of a row stand in a command line.
fn words_fit(row: &Row, args: &[Arg]) -> bool {
    stand(row.words, args)
}

/// Returns true where words, each with alternatives, stand in order among arguments.
pub(super) fn stand(words: &str, args: &[Arg]) -> bool {
    let wanted: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
    let near = args.get(..args.len().min(24)).unwrap_or_default();
    fits(&wanted, near, false, false, 6)
}

/// Whether words stand in order among arguments; a word after an option may be the option's value.
fn fits(wanted: &[&str], args: &[Arg], after_option: bool, anywhere: bool, choices: u8) -> bool {
    let (wanted, anywhere) = match wanted.split_first() {
        Some((&"**", rest)) => (rest, true),
        _ => (wanted, anywhere),
    };
    let Some((want, later)) = wanted.split_first() else {
        return true;
    };
    let Some((arg, rest)) = args.split_first() else {
        return false;
    };
    if arg.is_option() {
        let takes = !arg.text.contains(&b'=');
        return fits(wanted, rest, takes, anywhere, choices);
    }
    let hit = arg.is_known() && any(want, &arg.text.to_str_lossy());
    if hit && (!after_option || choices == 0) {
        return fits(later, rest, false, false, choices);
    }
    if hit && fits(later, rest, false, false, choices - 1) {
        return true;
    }
    (after_option || anywhere) && fits(wanted, rest, false, anywhere, choices.saturating_sub(1))
}

fn with(options: &str, args: &[Arg]) -> bool {
    options.is_empty()
        || args
            .iter()
            .any(|arg| options.split(' ').any(|one| given(arg, one)))
}

fn unless(options: &str, args: &[Arg]) -> bool {
    // `aws s3 rm help` prints a page.
    let asks = args.len() > 1 && args.last().is_some_and(|arg| arg.text == "help");
    let dry = asks
        || args.iter().enumerate().any(|(at, arg)| {
            // `--version 1` names a version of something.
            if arg.text == "--version" && at + 1 < args.len() {
                return false;
            }
            let name = arg.text.split_str("=").next().unwrap_or_default();
            let lower = name.to_ascii_lowercase();
            DRY.iter().any(|one| lower == one.as_bytes())
                && !arg.text.ends_with(b"=none")
                && !arg.text.ends_with(b"=false")
        });
    dry || (!options.is_empty()
        && args
            .iter()
            .any(|arg| options.split(' ').any(|one| given(arg, one))))
}

/// Returns true where an argument is this option: whole, with `=value`, or in a cluster of short ones.
fn given(arg: &Arg, option: &str) -> bool {
    let text = arg.text.as_slice();
    if text == option.as_bytes() {
        return true;
    }
    if let Some(rest) = text.strip_prefix(option.as_bytes())
        && rest.starts_with(b"=")
    {
        return true;
    }
    if option.contains('*') {
        return crate::shell::matches(option.as_bytes(), text);
    }
    match option.as_bytes() {
        [b'-', letter] => {
            text.len() > 2
                && text.starts_with(b"-")
                && !text.starts_with(b"--")
                && text.iter().skip(1).all(u8::is_ascii_alphabetic)
                && text.len() <= 5
                && text.contains(letter)
        }
        _ => false,
    }
}

/// Returns true for a lower-case name of a PowerShell cmdlet or Windows command that we know.
pub(super) fn is_cmdlet(name: &str) -> bool {
    matches!(
        name,
        "remove-item"
            | "clear-content"
            | "set-content"
            | "out-file"
            | "copy-item"
            | "move-item"
            | "get-content"
            | "set-location"
            | "invoke-webrequest"
            | "invoke-restmethod"
            | "invoke-expression"
            | "stop-computer"
            | "restart-computer"
            | "format-volume"
            | "clear-disk"
            | "remove-partition"
            | "stop-service"
            | "remove-service"
            | "del"
            | "erase"
            | "rd"
            | "format"
            | "diskpart"
            | "reg"
            | "vssadmin"
            | "schtasks"
            | "bcdedit"
            | "cipher"
            | "remove-itemproperty"
            | "set-itemproperty"
            | "set-executionpolicy"
            | "clear-recyclebin"
            | "initialize-disk"
            | "remove-vm"
            | "remove-adaccount"
            | "remove-aduser"
    )
}
