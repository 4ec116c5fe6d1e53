//! git: options before the subcommand, aliases, configuration on the command line, subcommands.
//!
//! From `git(1)` and the manual page of each subcommand, 2.39 to 2.55.

mod act;
mod branch;
mod builtins;
mod config;
mod contrib;
mod history;
mod index;
mod maintenance;
mod push;
mod stash;
mod submodule;
mod tree;

pub use act::{Act, Bring, GitDeed, Ignored, Place, Submodules};

use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::deed::DeedKind;
use crate::shell::options::{Options, Spec};
use crate::shell::scope::{Dir, Value};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};
use builtins::is_builtin;

/// A git command after its global options.
struct Git<'w, 'a> {
    walk: &'w mut Walk<'a>,
    place: Place,
    settings: Vec<(String, Arg)>,
    depth: u8,
}

const GLOBAL: Spec = Spec {
    short: "Cc",
    long: &[
        "git-dir",
        "work-tree",
        "namespace",
        "config-env",
        "super-prefix",
        "attr-source",
    ],
    stuck: "",
    stops: true,
    single_dash: false,
};

/// Runs git.
pub(crate) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    git(walk, call.args, call.input, Vec::new(), 0)
}

fn git(
    walk: &mut Walk<'_>,
    args: &[Arg],
    input: &Stream,
    mut settings: Vec<(String, Arg)>,
    depth: u8,
) -> Stream {
    let global = Options::read(args, &GLOBAL);
    let mut place = Place {
        dir: walk.scope.dir.clone(),
        git_dir: setting_of(walk, "GIT_DIR"),
        work_tree: setting_of(walk, "GIT_WORK_TREE"),
    };
    for given in &global.given {
        let Some(value) = &given.value else { continue };
        match (given.long, given.name.as_str()) {
            (false, "C") => place.dir = place.dir.join(value),
            (false, "c") => settings.push(split_setting(value)),
            (true, "config-env") => {
                if let Some(at) = value.text.find_byte(b'=') {
                    let key = value.text.get(..at).unwrap_or_default();
                    let variable: BString = value.text.get(at + 1..).unwrap_or_default().into();
                    let held = held_variable(walk, &variable);
                    settings.push((key.to_str_lossy().to_lowercase(), held));
                }
            }
            (true, "git-dir") => place.git_dir = Some(value.clone()),
            (true, "work-tree") => place.work_tree = Some(value.clone()),
            (true, "exec-path") => walk.note(DeedKind::Bypass {
                why: "git's own programs are taken from elsewhere".to_owned(),
            }),
            _ => {}
        }
    }
    let mut git = Git {
        walk,
        place,
        settings,
        depth,
    };
    let asked = global.given.iter().any(|given| {
        matches!(
            given.name.as_str(),
            "help" | "version" | "exec-path" | "html-path" | "man-path" | "info-path" | "h" | "v"
        ) && given.value.is_none()
    });
    let Some(command) = global.operands.first().filter(|_| !asked) else {
        return Stream::Unknown;
    };
    let rest = global.operands.get(1..).unwrap_or_default();
    git.command(command, rest, input)
}

/// A variable that git reads, from the command's own environment or the shell's.
fn setting_of(walk: &Walk<'_>, name: &str) -> Option<Arg> {
    walk.env
        .iter()
        .rev()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.clone())
        .or_else(|| match walk.scope.vars.get(name.as_bytes().as_bstr()) {
            Some(Value::One(arg)) => Some(arg.clone()),
            _ => None,
        })
}

fn held_variable(walk: &Walk<'_>, name: &BString) -> Arg {
    setting_of(walk, name.to_str().unwrap_or_default()).unwrap_or_else(Arg::unknown)
}

fn split_setting(value: &Arg) -> (String, Arg) {
    match value.text.find_byte(b'=') {
        Some(at) => (
            value
                .text
                .get(..at)
                .unwrap_or_default()
                .to_str_lossy()
                .to_lowercase(),
            value.from(at + 1),
        ),
        None => (value.text.to_str_lossy().to_lowercase(), Arg::known("true")),
    }
}

impl Git<'_, '_> {
    fn note(&mut self, act: Act) {
        let dir = self.place.dir.clone();
        let deed = GitDeed {
            repo: self.place.clone(),
            made: self.made_here(),
            act,
        };
        self.walk.note_in(dir, DeedKind::Git(Box::new(deed)));
    }

    /// Whether the script itself has made the repository at hand.
    fn made_here(&self) -> bool {
        match &self.place {
            Place {
                dir: Dir::Known(dir),
                git_dir: None,
                work_tree: None,
            } => self.walk.has_made(dir),
            _ => false,
        }
    }

    /// Remembers that a repository is made at a path of the directory at hand.
    fn makes_repository(&mut self, path: &Arg) {
        if let Dir::Known(dir) = self.place.dir.join(path) {
            self.walk.makes_repository(dir);
        }
    }

    fn does(&mut self, class: GitClass, why: impl Into<String>) {
        self.note(Act::Does {
            class,
            why: why.into(),
        });
    }

    fn tells(&mut self, class: GitClass, why: impl Into<String>) {
        self.note(Act::Tells {
            class,
            why: why.into(),
        });
    }

    fn bypass(&mut self, why: impl Into<String>) {
        self.walk.note(DeedKind::Bypass { why: why.into() });
    }

    /// Notes what happens to a path of the repository's directory.
    fn file(&mut self, op: crate::shell::deed::PathOp, path: &Arg) {
        let dir = self.place.dir.clone();
        self.walk.note_in(
            dir,
            DeedKind::File {
                op,
                path: path.clone(),
            },
        );
    }

    fn command(&mut self, command: &Arg, args: &[Arg], input: &Stream) -> Stream {
        let usage = matches!(args, [only] if only.text == "-h");
        if usage || crate::shell::options::asks_help(args) {
            return Stream::Unknown;
        }
        let Some(name) = command.literal().and_then(|name| name.to_str().ok()) else {
            self.walk.opaque(
                crate::judge::Level::MustAsk,
                "a git command that is not known",
            );
            return Stream::Unknown;
        };
        let name = name.to_owned();
        if let Some(stream) = self.configured_alias(&name, args, input) {
            return stream;
        }
        if let Some(transport) = args.iter().find_map(|arg| arg.text.strip_prefix(b"ext::")) {
            // `%` and a letter stand for what git fills in; `% ` is a blank.
            let text = BString::from(transport.replace("% ", "\\ "));
            let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
            self.walk.opaque(
                crate::judge::Level::Confirm,
                "a transport that runs a command of its own",
            );
        }
        let before = self.walk.script.deeds.len();
        let stream = self.subcommand(&name, args, input);
        let reads = self.walk.script.deeds.len() == before
            || self
                .walk
                .script
                .deeds
                .iter()
                .skip(before)
                .all(|deed| matches!(&deed.kind, DeedKind::Git(git) if git.act == Act::Read));
        self.settings_used(reads);
        stream
    }

    /// Runs an alias given by `-c alias.NAME=…`, which wins over nothing that git has itself.
    fn configured_alias(&mut self, name: &str, args: &[Arg], input: &Stream) -> Option<Stream> {
        if is_builtin(name) || self.depth > 8 {
            return None;
        }
        let key = format!("alias.{}", name.to_lowercase());
        let value = self
            .settings
            .iter()
            .rev()
            .find(|(setting, _)| *setting == key)
            .map(|(_, value)| value.clone())
            .or_else(|| {
                self.walk
                    .lookup
                    .git_alias(&self.place.dir, name.as_bytes())
                    .map(Arg::known)
            })?;
        if value.has_unknown() {
            self.walk.opaque(
                crate::judge::Level::MustAsk,
                "a git alias whose text is not known",
            );
            return Some(Stream::Unknown);
        }
        let mut text = value.text.clone();
        let shell = text.starts_with(b"!");
        if shell {
            text.remove(0);
        }
        for arg in args {
            text.push(b' ');
            text.extend_from_slice(&crate::shell::walk::quote(&arg.text, arg.glob));
        }
        if shell {
            let scope = self.walk.scope.clone();
            let here = self.place.dir.clone();
            if let Some(top) = self.walk.lookup.toplevel(&here) {
                self.walk.scope.dir = Dir::Known(top);
            } else {
                self.walk.scope.dir = here;
            }
            let stream = self.walk.run_child(text.as_bstr(), input);
            self.walk.scope = scope;
            return Some(stream);
        }
        let words = words_of(&text);
        let mut all = Vec::new();
        all.extend(words);
        let settings = self.settings.clone();
        let scope = self.walk.scope.clone();
        self.walk.scope.dir = self.place.dir.clone();
        let stream = git(self.walk, &all, input, settings, self.depth + 1);
        self.walk.scope = scope;
        Some(stream)
    }

    fn subcommand(&mut self, name: &str, args: &[Arg], input: &Stream) -> Stream {
        match name {
            "add" | "stage" => self.add(args),
            "am" | "apply" => self.apply(name, args, input),
            "archive" => {
                self.output_option(args, &["o", "output"], "o");
                return archived(args);
            }
            "bisect" => self.bisect(args),
            "branch" => self.branch(args),
            "bundle" => self.bundle(args),
            "checkout" => self.checkout(args),
            "checkout-index" => self.checkout_index(args),
            "cherry-pick" | "revert" | "merge" => self.combine(name, args),
            "clean" => self.clean(args),
            "clone" => self.clone_repository(args),
            "commit" => self.commit(args),
            "config" => self.config(args),
            "credential" | "credential-cache" | "credential-store" => self.credential(args),
            "difftool" | "mergetool" => self.difftool(args),
            "diff" | "log" | "show" | "format-patch" | "shortlog" => {
                self.output_option(args, &["o", "output", "output-directory"], "oSGLUn");
                if name == "diff" && of_the_worktree(args) {
                    return if args.iter().any(|arg| arg.text == "-R") {
                        Stream::Undoing
                    } else {
                        Stream::Changes
                    };
                }
            }
            "fast-import" => self.fast_import(args),
            "fetch" => self.fetch(args),
            "filter-branch" => self.filter_branch(args),
            "filter-repo" => self.filter_repo(args),
            "gc" | "prune" | "maintenance" | "repack" | "prune-packed" => {
                self.maintain(name, args);
            }
            "init" => self.init(args),
            "lfs" => self.lfs(args),
            "merge-file" => self.merge_file(args),
            "mv" => self.mv(args),
            "notes" => self.notes(args),
            "pack-refs" | "update-server-info" | "commit-graph" | "multi-pack-index" => {
                self.note(Act::Read);
            }
            "p4" | "svn" | "cvsimport" | "cvsexportcommit" => self.foreign(name, args),
            "pull" => self.pull(args),
            "push" | "send-pack" => self.push(args),
            "read-tree" => self.read_tree(args),
            "rebase" => self.rebase(args, input),
            "reflog" => self.reflog(args),
            "remote" => self.remote(args),
            "replace" => self.replace(args),
            "rerere" => self.rerere(args),
            "reset" => self.reset(args),
            "restore" => self.restore(args),
            "rm" => self.rm(args),
            "send-email" => self.does(GitClass::Push, "patches are sent by mail"),
            "sparse-checkout" => self.sparse(args),
            "stash" => self.stash(args),
            "submodule" => self.submodule(args, input),
            "switch" => self.switch(args),
            "annex" => self.annex(args),
            "subtree" => self.subtree(args),
            "symbolic-ref" => self.symbolic_ref(args),
            "tag" => self.tag(args),
            "update-index" => self.update_index(args),
            "update-ref" => self.update_ref(args, input),
            "worktree" => self.worktree(args),
            "rev-parse" => return self.rev_parse(args),
            "ls-files" | "ls-tree" => return self.ls_files(args),
            "for-each-repo" => self.for_each_repo(args, input),
            "grep" => self.grep(args),
            "daemon" | "http-backend" | "instaweb" => {
                self.tells(GitClass::Stage, "a server is started");
            }
            name if is_builtin(name) => self.note(Act::Read),
            _ => self.foreign_command(name, args),
        }
        Stream::Unknown
    }

    fn rev_parse(&mut self, args: &[Arg]) -> Stream {
        self.note(Act::Read);
        let dir = self.place.dir.clone();
        match args {
            [only] if only.text == "--show-toplevel" => match self.walk.lookup.toplevel(&dir) {
                Some(top) => Stream::Text(top),
                None => Stream::Unknown,
            },
            [only] if only.text == "--git-dir" => Stream::Text(".git".into()),
            [only] if only.text == "--absolute-git-dir" => match self.walk.lookup.toplevel(&dir) {
                Some(mut top) => {
                    top.extend_from_slice(b"/.git");
                    Stream::Text(top)
                }
                None => Stream::Unknown,
            },
            _ => Stream::Unknown,
        }
    }

    /// Lists files: what may come out are names below the directory.
    fn ls_files(&mut self, args: &[Arg]) -> Stream {
        self.note(Act::Read);
        let options = Options::read(
            args,
            &Spec {
                short: "xX",
                long: &["exclude", "exclude-from", "exclude-per-directory", "format"],
                ..Spec::default()
            },
        );
        let mut paths: Vec<Arg> = options
            .operands
            .iter()
            .filter(|arg| !arg.text.starts_with(b":"))
            .cloned()
            .collect();
        if paths.is_empty() {
            paths.push(Arg::pattern("./*"));
        }
        Stream::Paths(paths)
    }

    fn grep(&mut self, args: &[Arg]) {
        self.note(Act::Read);
        for arg in args {
            if let Some(text) = arg.text.strip_prefix(b"--open-files-in-pager=") {
                let text: BString = text.into();
                let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
        }
    }

    /// A command that only reads, unless it writes its answer to a file.
    fn output_option(&mut self, args: &[Arg], names: &[&str], short: &'static str) {
        self.note(Act::Read);
        let options = Options::read(
            args,
            &Spec {
                short,
                long: &["output", "output-directory"],
                ..Spec::default()
            },
        );
        if let Some(path) = options.value(names).cloned() {
            // Shorter than this it is `--output`, which names a file.
            let directory = options
                .given
                .iter()
                .any(|given| given.long && given.name.starts_with("output-"));
            self.file(
                if directory {
                    crate::shell::deed::PathOp::Make
                } else {
                    crate::shell::deed::PathOp::Replace
                },
                &path,
            );
        }
    }
}

/// What `git archive` writes, where it is the whole of one tree of this repository.
fn archived(args: &[Arg]) -> Stream {
    let elsewhere = args.iter().any(|arg| {
        ["--remote", "--prefix", "-o", "--output", "-l", "--list"]
            .iter()
            .any(|option| arg.text.starts_with(option.as_bytes()))
    });
    let mut words = args.iter().filter(|arg| !arg.is_option());
    match words.next() {
        Some(tree) if !elsewhere && tree.is_literal() => Stream::Tree(tree.text.clone()),
        _ => Stream::Unknown,
    }
}

/// Returns true for a `git diff` that writes out what only the worktree has.
fn of_the_worktree(args: &[Arg]) -> bool {
    let before = args.iter().take_while(|arg| arg.text != "--");
    let mut commits = 0;
    for arg in before {
        let word = arg.word();
        if matches!(
            word,
            "--cached" | "--staged" | "--no-index" | "--stat" | "--numstat" | "--shortstat"
        ) || word.starts_with("--name-")
            || word.contains("..")
        {
            return false;
        }
        if !arg.is_option() {
            commits += 1;
        }
    }
    // Two words may be two commits, one is a commit or a path.
    commits < 2
}

/// Splits an alias as git does: blanks, quotes, backslashes.
fn words_of(text: &[u8]) -> Vec<Arg> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(end), byte) if byte == end => quote = None,
            (Some(b'\''), byte) => word.get_or_insert_default().push(byte),
            (_, b'\\') => {
                if let Some(next) = bytes.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (Some(_), byte) => word.get_or_insert_default().push(byte),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, byte) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(Arg::known));
            }
            (None, byte) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(Arg::known));
    words
}
