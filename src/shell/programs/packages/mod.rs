//! Package managers: what is installed, raised, removed, published, and the scripts they run.

mod managers;

use super::tables::Harm;
use crate::judge::{Level, PackageClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use managers::Verb::{Cache, Execute, Install, Publish, Remove, Script, Unpublish, Upgrade};
use managers::{MANAGERS, Manager};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "npx" | "bunx" | "pnpx" | "uvx" => return Some(execute(walk, call.args, call.input)),
        "pacman" | "yay" | "paru" => return Some(pacman(walk, call.args)),
        "rpm" | "dpkg" => return Some(direct(walk, call)),
        "twine" => {
            if call.args.iter().any(|arg| arg.text == "upload") {
                note(walk, Harm::Destroys, "a package is published for the world");
            }
            return Some(Stream::Unknown);
        }
        "nix-env" | "nix-collect-garbage" | "nix-store" | "nix" => {
            super::tables::run(walk, call);
            return Some(Stream::Unknown);
        }
        _ => {}
    }
    let manager = MANAGERS
        .iter()
        .find(|manager| manager.names.contains(&call.name))?;
    // What a manager's verb is not in this table for may be in the others.
    if super::tables::run(walk, call) && walk.noted_by_table() {
        return Some(Stream::Unknown);
    }
    Some(manage(walk, manager, call))
}

/// Notes that packages of a language go.
pub(super) fn removed(walk: &mut Walk<'_>, manager: &str, names: Vec<String>, machine: bool) {
    walk.note(DeedKind::Package {
        class: PackageClass::New,
        manager: manager.to_owned(),
        names,
        machine,
    });
}

fn note(walk: &mut Walk<'_>, harm: Harm, why: &str) {
    super::tables::note(walk, harm, why);
}

const OPTIONS: Spec = Spec {
    short: "rctpjnZC",
    long: &[
        "requirement",
        "constraint",
        "target",
        "prefix",
        "index-url",
        "extra-index-url",
        "registry",
        "features",
        "package",
        "manifest-path",
        "git",
        "path",
        "branch",
        "tag",
        "rev",
        "version",
        "root",
        "cwd",
        "dir",
        "filter",
        "workspace",
        "group",
        "python",
        "with",
        "channel",
        "name",
        "file",
        "project",
        "directory",
        "otp",
        "userconfig",
        "cache",
        "find-links",
        "env-file",
        "extra",
    ],
    stuck: "",
    stops: false,
    single_dash: false,
};

fn manage(walk: &mut Walk<'_>, manager: &Manager, call: &Call<'_>) -> Stream {
    let spec = if manager.ecosystem == "npm" {
        // There `-r` is "in every package", not "from this file".
        Spec {
            short: "CF",
            ..OPTIONS
        }
    } else {
        OPTIONS
    };
    let options = Options::read(call.args, &spec);
    let dry = options.surely(&[
        "dry-run",
        "simulate",
        "just-print",
        "download-only",
        "s",
        "no-act",
        "assumeno",
    ]) && !matches!(call.name, "pip" | "brew")
        || options.surely(&["dry-run", "simulate"]);
    let mut words = options.operands.as_slice();
    // `yarn global add`, `yarn workspace x add`, `uv pip install`, `go mod tidy`.
    let mut machine = manager.machine
        || options.has(&["global", "system"])
        || options
            .given
            .iter()
            .any(|given| !given.long && given.name == "g");
    while let Some(first) = words.first() {
        match first.word() {
            "global" => {
                machine = true;
                words = words.get(1..).unwrap_or_default();
            }
            "pip" | "tool" | "self" | "cask" | "env" => words = words.get(1..).unwrap_or_default(),
            "workspace" if call.name == "yarn" => words = words.get(2..).unwrap_or_default(),
            _ => break,
        }
    }
    if matches!(call.name, "pipx" | "cargo")
        && words.first().is_some_and(|word| word.text == "install")
    {
        machine = true;
    }
    let Some(word) = words.first() else {
        if call.name == "yarn" && !dry {
            package(walk, manager, PackageClass::Listed, &[], machine);
        }
        return Stream::Unknown;
    };
    let verb = manager
        .verbs
        .iter()
        .find(|(name, _)| word.text == *name)
        .map(|(_, verb)| *verb);
    let rest = words.get(1..).unwrap_or_default();
    let repairs = word.text == "audit" && rest.first().is_some_and(|word| word.text == "fix");
    if repairs && !dry {
        package(walk, manager, PackageClass::Upgrade, &[], machine);
        return Stream::Unknown;
    }
    // `-s` and `-n` of `uv run truncate -s 0 x` are that command's own.
    if dry && !matches!(verb, Some(Execute | Script)) {
        return Stream::Unknown;
    }
    let raises =
        !rest.is_empty() || options.has(&["major", "minor", "patch", "new-version", "prerelease"]);
    if word.text == "version" && manager.ecosystem == "npm" && raises {
        walk.mark(Level::Transparent, "the project gets another version");
        if !options.surely(&["no-git-tag-version"]) {
            // The manager commits the new version and tags it.
            let _ = walk.run_child("git commit -m version".into(), call.input);
        }
        return Stream::Unknown;
    }
    if word.text == "pkg"
        && manager.ecosystem == "npm"
        && rest
            .first()
            .is_some_and(|verb| matches!(verb.word(), "set" | "delete" | "fix"))
    {
        walk.file(PathOp::Change, &Arg::known("package.json"));
        return Stream::Unknown;
    }
    match verb {
        Some(Script) => {
            let (name, rest) = match word.word() {
                "run" | "run-script" | "rum" => (
                    rest.first().map(Arg::word).unwrap_or_default().to_owned(),
                    rest.get(1..).unwrap_or_default(),
                ),
                "t" => ("test".to_owned(), rest),
                name => (name.to_owned(), rest),
            };
            if !name.is_empty() && !super::scripts::package_script(walk, &name, rest) {
                bin(walk, &name, rest);
            }
        }
        Some(Execute) => {
            let at = call.args.iter().position(|arg| arg == word).unwrap_or(0);
            return execute(
                walk,
                call.args.get(at + 1..).unwrap_or_default(),
                call.input,
            );
        }
        Some(Install) => install(walk, manager, &options, rest, machine),
        Some(Upgrade) => package(walk, manager, PackageClass::Upgrade, &names(rest), machine),
        Some(Remove) => {
            if manager.machine {
                note(
                    walk,
                    Harm::Configures,
                    "programs are removed from the machine",
                );
            } else {
                package(walk, manager, PackageClass::New, &names(rest), machine);
            }
        }
        Some(Publish) => note(walk, Harm::Destroys, "a package is published for the world"),
        Some(Unpublish) => note(walk, Harm::Destroys, "a published package is taken back"),
        Some(Cache) => walk.mark(
            Level::Transparent,
            "downloaded packages are deleted; they can be had again",
        ),
        None => {
            // `yarn build`, `pnpm lint`, `bun dev`.
            if matches!(call.name, "yarn" | "pnpm" | "bun") {
                let name = word.word().to_owned();
                if !super::scripts::package_script(walk, &name, rest) {
                    let at = call.args.iter().position(|arg| arg == word).unwrap_or(0);
                    bin(walk, &name, call.args.get(at + 1..).unwrap_or_default());
                }
            }
        }
    }
    Stream::Unknown
}

/// Programs of packages that `yarn NAME` and a script of the same name run.
const BINS: &[&str] = &[
    "cdk",
    "changeset",
    "convex",
    "del-cli",
    "drizzle-kit",
    "firebase",
    "knex",
    "lerna",
    "mikro-orm",
    "netlify",
    "np",
    "nx",
    "prisma",
    "rimraf",
    "semantic-release",
    "sequelize",
    "sequelize-cli",
    "serverless",
    "shx",
    "sls",
    "sst",
    "supabase",
    "trash",
    "typeorm",
    "typeorm-ts-node-commonjs",
    "typeorm-ts-node-esm",
    "vercel",
    "wrangler",
];

/// Runs a package's own program where no script has its name.
fn bin(walk: &mut Walk<'_>, name: &str, rest: &[Arg]) {
    if BINS.contains(&name) {
        let mut words = vec![Arg::known(name)];
        words.extend(rest.iter().filter(|arg| arg.text != "--").cloned());
        let _ = walk.run_args(&words, &Stream::Unknown);
    }
}

fn install(walk: &mut Walk<'_>, manager: &Manager, options: &Options, rest: &[Arg], machine: bool) {
    let from_file = !options.values(&["r", "requirement"]).is_empty();
    let local = |arg: &Arg| {
        let text = arg.text.as_slice();
        text == b"."
            || text.starts_with(b"./")
            || text.starts_with(b"../")
            || text.starts_with(b".[")
            || text.starts_with(b"/")
    };
    let wanted: Vec<Arg> = rest.iter().filter(|arg| !local(arg)).cloned().collect();
    let raises = match manager.ecosystem {
        "pip" => options.surely(&["upgrade", "U"]) && !wanted.is_empty(),
        "go" => options.has(&["u"]),
        _ => false,
    };
    if raises
        && (wanted.is_empty()
            || !wanted
                .iter()
                .all(|arg| matches!(arg.word(), "pip" | "setuptools" | "wheel" | "uv")))
    {
        package(
            walk,
            manager,
            PackageClass::Upgrade,
            &names(&wanted),
            machine,
        );
    } else if wanted.is_empty() || from_file && wanted.is_empty() {
        package(walk, manager, PackageClass::Listed, &[], machine);
    } else {
        package(walk, manager, PackageClass::New, &names(&wanted), machine);
    }
}

fn package(
    walk: &mut Walk<'_>,
    manager: &Manager,
    class: PackageClass,
    names: &[String],
    machine: bool,
) {
    walk.note(DeedKind::Package {
        class,
        manager: manager.ecosystem.to_owned(),
        names: names.to_vec(),
        machine,
    });
}

fn names(args: &[Arg]) -> Vec<String> {
    args.iter().map(Arg::shown).collect()
}

/// Runs a package's program: `npx rimraf dist`, `uv run pytest`, `bundle exec rake`.
fn execute(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "pcn",
            long: &[
                "package",
                "call",
                "with",
                "from",
                "python",
                "env-file",
                "project",
                "directory",
                "group",
                "extra",
                "prefix",
                "name",
            ],
            stops: true,
            ..Spec::default()
        },
    );
    if let Some(text) = options.value(&["c", "call"]) {
        let text = text.text.clone();
        return walk.run_child(text.as_slice().into(), input);
    }
    let mut words = options.operands;
    if let Some(first) = words.first_mut() {
        // `npx rimraf@5 dist`.
        if let Some(at) = first.text.iter().skip(1).position(|byte| *byte == b'@') {
            first.text.truncate(at + 1);
        }
    }
    let Some(first) = words.first() else {
        return Stream::Unknown;
    };
    // `uv run x.py`, `uv run -`
    if first.text == "-" || first.text.ends_with(b".py") && !first.text.contains(&b'/') {
        words.insert(0, Arg::known("python3"));
    }
    walk.run_args(&words, input)
}

fn pacman(walk: &mut Walk<'_>, args: &[Arg]) -> Stream {
    let verb = args
        .iter()
        .find(|arg| arg.is_option())
        .map(Arg::word)
        .unwrap_or_default()
        .to_owned();
    let rest: Vec<Arg> = args
        .iter()
        .filter(|arg| !arg.is_option())
        .cloned()
        .collect();
    let cluster = verb
        .strip_prefix('-')
        .is_some_and(|rest| !rest.starts_with('-') && rest.contains('R'));
    if cluster || verb == "--remove" {
        note(
            walk,
            Harm::Configures,
            "programs are removed from the machine",
        );
    } else if verb.starts_with("-S") && verb.contains('c') {
        walk.mark(Level::Transparent, "downloaded packages are deleted");
    } else if verb.starts_with("-S") && verb.contains('u') {
        note(walk, Harm::Configures, "the machine's programs are raised");
    } else if verb.starts_with("-S")
        && !verb.contains('s')
        && !verb.contains('i')
        && !rest.is_empty()
    {
        walk.note(DeedKind::Package {
            class: PackageClass::New,
            manager: "system".to_owned(),
            names: names(&rest),
            machine: true,
        });
    }
    Stream::Unknown
}

fn direct(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let removes = call.args.iter().any(|arg| {
        matches!(
            arg.word(),
            "-r" | "-P"
                | "--purge"
                | "--remove"
                | "-e"
                | "--erase"
                | "--force-all"
                | "--force-remove-reinstreq"
        )
    });
    let installs = call.args.iter().any(|arg| {
        matches!(
            arg.word(),
            "-i" | "-U" | "-ivh" | "-Uvh" | "--install" | "--upgrade"
        )
    });
    if removes {
        note(
            walk,
            Harm::Configures,
            "programs are removed from the machine",
        );
    } else if installs {
        walk.mark(Level::Confirm, "a package is installed on the machine");
    }
    for arg in call.args {
        if arg.text.starts_with(b"--root=/") {
            walk.file(PathOp::Change, &arg.from(7));
        }
    }
    Stream::Unknown
}
