//! `holdpoint contract`: writes, shows, checks, compares and confirms the Contract.

use super::holds::json;
use crate::contract::{self, Change, Contract, PLACES, PathPattern, Placement, TEMPLATE};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::holds;
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{Actor, ContractClass, Level};
use crate::prefs::confirmed::{self, Confirmed, Texts};
use crate::prefs::{self, contract_fault};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;
use crate::sys::{files, out, paths};
use bstr::{BString, ByteSlice as _};
use serde_json::{Value, json as value};
use similar::TextDiff;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Arguments of `holdpoint contract`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Writes a template to .ccg/contract.md; it restricts nothing until it is filled in.
    Init,
    /// Shows what is enforced, and what is for people only.
    Show {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Says where paths stand, or what a range of commits changes out of scope.
    Check {
        /// Paths, relative to the working directory.
        paths: Vec<PathBuf>,
        /// A range of commits, A..B.
        #[arg(long, value_name = "A..B", conflicts_with = "paths")]
        range: Option<String>,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compares the Contract as it is with the one a person last confirmed.
    Diff {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Makes the Contract as it is now the one that counts. Only a person can.
    Confirm,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    match &args.command {
        Sub::Init => init(env, &workspace),
        Sub::Show { json } => show(env, &workspace, *json),
        Sub::Check { paths, range, json } => check(env, &workspace, paths, range.as_deref(), *json),
        Sub::Diff { json } => diff(env, &workspace, *json),
        Sub::Confirm => confirm_policy(env, &workspace, PLACES),
    }
}

fn init(env: &Env, workspace: &Workspace) -> Result<ExitStatus> {
    let root = workspace.main_root();
    if let Some(place) = PLACES.iter().find(|place| root.join(place).exists()) {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("there is a Contract already: {place}"),
        )
        .hint("see what it enforces: holdpoint contract show"));
    }
    prefs::baseline(env, workspace)?;
    let place = PLACES.first().copied().unwrap_or_default();
    let path = root.join(place);
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)
            .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
    }
    files::replace(&path, TEMPLATE.as_bytes(), 0o644, files::Durability::Synced)?;
    out::line(format!(
        "Wrote {place}. Fill it in, look at it with holdpoint contract show, then: holdpoint contract confirm"
    ));
    Ok(ExitStatus::Passed)
}

/// The Contract in the worktree, with its name.
fn present(workspace: &Workspace) -> Result<Option<(&'static str, Contract)>> {
    let texts = confirmed::texts_in(workspace.main_root())?;
    parsed(&texts)
}

fn parsed(texts: &Texts) -> Result<Option<(&'static str, Contract)>> {
    PLACES
        .iter()
        .find_map(|place| Some((*place, texts.get(*place)?)))
        .map(|(place, text)| {
            let contract = Contract::parse(text.as_bytes())
                .and_then(|contract| contract.verify().map(|()| contract))
                .map_err(|fault| contract_fault(place, &fault))?;
            Ok((place, contract))
        })
        .transpose()
}

fn show(env: &Env, workspace: &Workspace, as_json: bool) -> Result<ExitStatus> {
    let Some((place, contract)) = present(workspace)? else {
        if as_json {
            out::line("null");
        } else {
            out::line(
                "There is no Contract, so nothing is out of scope. Write one: holdpoint contract init",
            );
        }
        return Ok(ExitStatus::Passed);
    };
    let pending = changes(env, workspace)?;
    if as_json {
        out::line(json(&described(place, &contract, pending.is_empty()))?);
        return Ok(ExitStatus::Passed);
    }
    out::line(format!("Contract {place}"));
    for (title, patterns) in [
        ("In Scope", &contract.in_scope),
        ("Out of Scope", &contract.out_of_scope),
        ("Must-Not-Change", &contract.frozen),
    ] {
        for pattern in patterns {
            out::line(format!("  {title:<19} {}", pattern.text));
        }
    }
    if contract.in_scope.is_empty() {
        out::line("  In Scope            everything (no path is named)");
    }
    for forbidden in &contract.forbidden {
        out::line(format!("  {:<19} {}", "Forbidden Patterns", forbidden.text));
    }
    if let Some(expires) = contract.expires {
        out::line(format!("  {:<19} {expires}", "Expires"));
    }
    if contract.priority.is_some() || contract.risk.is_some() {
        out::line(format!(
            "  {:<19} {:?}, risk {:?}",
            "Priority",
            contract.priority.unwrap_or_default(),
            contract.risk.unwrap_or_default()
        ));
    }
    if !contract.notes.is_empty() {
        out::line("  For people only, not enforced:");
        for note in &contract.notes {
            out::line(format!(
                "    line {}, {}: {}",
                note.line,
                note.section.heading(),
                note.text
            ));
        }
    }
    if !pending.is_empty() {
        out::line("  Not confirmed: only what is stricter counts. See: holdpoint contract diff");
    }
    Ok(ExitStatus::Passed)
}

fn described(place: &str, contract: &Contract, confirmed: bool) -> Value {
    let paths = |patterns: &[PathPattern]| -> Vec<Value> {
        patterns
            .iter()
            .map(|pattern| value!({"pattern": pattern.text, "line": pattern.line}))
            .collect()
    };
    let forbidden: Vec<Value> = contract
        .forbidden
        .iter()
        .map(|forbidden| value!({"pattern": forbidden.text, "line": forbidden.line}))
        .collect();
    value!({
        "file": place,
        "confirmed": confirmed,
        "in_scope": paths(&contract.in_scope),
        "out_of_scope": paths(&contract.out_of_scope),
        "must_not_change": paths(&contract.frozen),
        "forbidden_patterns": forbidden,
        "not_enforced": contract.notes,
        "priority": contract.priority,
        "risk": contract.risk,
        "expires": contract.expires,
    })
}

fn check(
    env: &Env,
    workspace: &Workspace,
    paths: &[PathBuf],
    range: Option<&str>,
    as_json: bool,
) -> Result<ExitStatus> {
    let Some(contract) = prefs::policy(env, workspace)?.contract else {
        out::line(if as_json {
            "[]"
        } else {
            "There is no Contract, so nothing is out of scope."
        });
        return Ok(ExitStatus::Passed);
    };
    let mut results = Vec::new();
    if let Some(range) = range {
        in_range(workspace, &contract, range, &mut results)?;
    } else {
        if paths.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "nothing to check")
                .hint("holdpoint contract check PATH…, or --range A..B"));
        }
        for path in paths {
            let relative = relative(env, workspace, path)?;
            results.push(stands(&contract, &relative));
        }
    }
    let bad = results.iter().any(|result| result["stands"] != "in_scope");
    if as_json {
        out::line(json(&results)?);
    } else {
        for result in results
            .iter()
            .filter(|result| range.is_none() || result["stands"] != "in_scope")
        {
            out::line(format!(
                "{}: {}{}",
                text(&result["path"]),
                text(&result["stands"]).replace('_', " "),
                result
                    .get("why")
                    .map_or_else(String::new, |why| format!(", {}", text(why)))
            ));
        }
        if bad {
            out::line(format!(
                "→ {}",
                contract::advise(contract::Remedy::ScopeExceeded).line()
            ));
        } else if range.is_some() {
            out::line("Nothing in the range leaves the Contract.");
        }
    }
    Ok(if bad {
        ExitStatus::Held
    } else {
        ExitStatus::Passed
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn stands(contract: &Contract, path: &BString) -> Value {
    match contract.place(path.as_bstr()) {
        Placement::InScope => value!({"path": path.to_string(), "stands": "in_scope"}),
        Placement::OutOfScope { why } => {
            value!({"path": path.to_string(), "stands": "out_of_scope", "why": why})
        }
        Placement::Frozen { by } => {
            value!({"path": path.to_string(), "stands": "must_not_change", "why": format!("frozen by {by}")})
        }
    }
}

/// A path as the Contract names it. The file need not be there.
fn relative(env: &Env, workspace: &Workspace, path: &Path) -> Result<BString> {
    let absolute = paths::plain(&env.cwd().join(path));
    let inside = absolute.strip_prefix(&workspace.root).map_err(|_| {
        Error::new(
            ErrorKind::Usage,
            format!("{} is outside the workspace", path.display()),
        )
    })?;
    let mut relative = BString::from(inside.as_os_str().as_bytes());
    if path.as_os_str().as_bytes().ends_with(b"/") || absolute.is_dir() {
        relative.push(b'/');
    }
    Ok(relative)
}

fn in_range(
    workspace: &Workspace,
    contract: &Contract,
    range: &str,
    results: &mut Vec<Value>,
) -> Result<()> {
    let names = Git::at(workspace)
        .args(["diff", "--name-only", "--no-renames", "-z", range, "--"])
        .read()?;
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        results.push(stands(contract, &name.into()));
    }
    if !contract.has_forbidden() {
        return Ok(());
    }
    let patch = Git::at(workspace)
        .args([
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "-U0",
            "--no-renames",
            range,
            "--",
        ])
        .read()?;
    let (mut file, mut number) = (String::new(), 0_u64);
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix(b"+++ b/") {
            file = name.to_str_lossy().into_owned();
        } else if line.starts_with(b"@@ ") {
            number = line
                .find(b"+")
                .and_then(|at| {
                    line[at + 1..]
                        .to_str()
                        .ok()?
                        .split([',', ' '])
                        .next()?
                        .parse()
                        .ok()
                })
                .unwrap_or(1);
        } else if let Some(added) = line
            .strip_prefix(b"+")
            .filter(|_| !line.starts_with(b"+++ "))
        {
            if let Some(pattern) = contract.forbids(added.as_bstr()) {
                results.push(value!({
                    "path": format!("{file}:{number}"),
                    "stands": "forbidden",
                    "why": format!("matches {pattern}"),
                }));
            }
            number += 1;
        }
    }
    Ok(())
}

/// The confirmed files, or none where nothing was settled or what was settled is damaged.
fn agreed(env: &Env, workspace: &Workspace) -> Result<Texts> {
    match Confirmed::read(env, workspace) {
        Ok(confirmed) => Ok(confirmed
            .map(|confirmed| confirmed.files)
            .unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::Damaged => {
            out::note(format!("warning: {error}"));
            Ok(Texts::new())
        }
        Err(error) => Err(error),
    }
}

/// What the worktree's Contract changes against the confirmed one.
fn changes(env: &Env, workspace: &Workspace) -> Result<Vec<Change>> {
    let before = parsed(&agreed(env, workspace)?)?.map(|(_, contract)| contract);
    let after = present(workspace)?.map(|(_, contract)| contract);
    Ok(contract::classify(before.as_ref(), after.as_ref()))
}

fn diff(env: &Env, workspace: &Workspace, as_json: bool) -> Result<ExitStatus> {
    let before = agreed(env, workspace)?;
    let after = confirmed::texts_in(workspace.main_root())?;
    let changes = changes(env, workspace)?;
    if as_json {
        let changes: Vec<Value> = changes
            .iter()
            .map(|change| value!({"rule": rule(change.class), "level": level(change.class).number(), "what": change.what}))
            .collect();
        out::line(json(&changes)?);
        return Ok(ExitStatus::Passed);
    }
    let shown = compared(&before, &after, &confirmed::policy_files());
    if shown.is_empty() {
        out::line("Contract, preferences and command table are as a person last confirmed them.");
        return Ok(ExitStatus::Passed);
    }
    out::line(shown.trim_end());
    for change in &changes {
        out::line(format!(
            "{}  {}: {}",
            level(change.class),
            rule(change.class),
            change.what
        ));
    }
    out::line(
        "Until a person confirms, only what is stricter counts: holdpoint contract confirm, holdpoint prefs confirm",
    );
    Ok(ExitStatus::Passed)
}

fn rule(class: ContractClass) -> &'static str {
    match class {
        ContractClass::Create => "contract.create",
        ContractClass::Detail => "contract.detail",
        ContractClass::FixConflict => "contract.fix-conflict",
        ContractClass::Scope => "contract.scope",
        ContractClass::Relax => "contract.relax",
    }
}

fn level(class: ContractClass) -> Level {
    crate::judge::RuleId::parse(rule(class)).map_or(Level::MustAsk, |rule| rule.rule().level)
}

fn compared(before: &Texts, after: &Texts, names: &[&str]) -> String {
    let mut shown = String::new();
    for name in names {
        let old = before.get(*name).map(String::as_str).unwrap_or_default();
        let new = after.get(*name).map(String::as_str).unwrap_or_default();
        if old != new || before.contains_key(*name) != after.contains_key(*name) {
            let diff = TextDiff::from_lines(old, new)
                .unified_diff()
                .header(&format!("confirmed/{name}"), &format!("now/{name}"))
                .to_string();
            shown.push_str(&diff);
        }
    }
    shown
}

/// Makes some policy files as they are now the ones that count, once a person at the terminal agrees.
pub(super) fn confirm_policy(
    env: &Env,
    workspace: &Workspace,
    names: &[&str],
) -> Result<ExitStatus> {
    // Where the record is damaged nothing of it counts: all files are settled anew.
    let all = confirmed::policy_files();
    let names = match Confirmed::read(env, workspace) {
        Err(error) if error.kind() == ErrorKind::Damaged => all.as_slice(),
        _ => names,
    };
    let mut before = agreed(env, workspace)?;
    let after = confirmed::texts_in(workspace.main_root())?;
    // What does not parse is not agreed to.
    parsed(&after)?;
    for name in names {
        if let Some(text) = after
            .get(*name)
            .filter(|_| name.ends_with("preferences.json"))
        {
            prefs::Document::parse(text, name)?;
        }
    }
    let shown = compared(&before, &after, names);
    let settled = Confirmed::read(env, workspace).is_ok_and(|confirmed| confirmed.is_some());
    if shown.is_empty() && settled {
        out::line("Nothing has changed since it was last confirmed.");
        return Ok(ExitStatus::Passed);
    }
    let terminal = holds::person(env, workspace, "confirm the policy", None)?;
    terminal.say(shown.trim_end())?;
    let changes = if names.contains(&PLACES[0]) {
        changes(env, workspace)?
    } else {
        Vec::new()
    };
    for change in &changes {
        terminal.say(&format!("{}  {}", level(change.class), change.what))?;
    }
    let agreed = if changes
        .iter()
        .any(|change| level(change.class) == Level::MustAsk)
        || !names.contains(&PLACES[0])
    {
        terminal.types_code("This changes what the gate lets pass.")?
    } else {
        terminal.agrees("Let this count from now on?")?
    };
    if !agreed {
        return Err(Error::new(
            ErrorKind::Cancelled,
            "not confirmed; the last confirmed version goes on counting",
        ));
    }
    for name in names {
        match after.get(*name) {
            Some(text) => before.insert((*name).to_owned(), text.clone()),
            None => before.remove(*name),
        };
    }
    confirmed::adopt(env, workspace, before, "terminal")?;
    let what: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    let entry = LogEntry::new("confirm")
        .reason("policy_confirmed")
        .reasoning(format!(
            "a person made {} the policy that counts",
            names.join(", ")
        ))
        .context("changes", what)
        .outcome(Outcome::Success)
        .overridden()
        .actor(&Actor::Person { terminal: true });
    journal::append(env, workspace, entry)?;
    out::line("Confirmed. It counts from now on.");
    Ok(ExitStatus::Passed)
}
