//! `git submodule`, `git lfs`, `git init`.

use super::{Act, Git, Submodules};
use crate::judge::{GitClass, Level};
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::scope::Dir;
use crate::shell::walk::Stream;
use bstr::{BString, ByteSlice as _};

impl Git<'_, '_> {
    pub(super) fn submodule(&mut self, args: &[Arg], input: &Stream) {
        let start = args
            .iter()
            .position(|arg| !arg.is_option())
            .unwrap_or(args.len());
        let rest = args.get(start + 1..).unwrap_or_default();
        let options = Options::read(
            rest,
            &Spec {
                short: "b",
                long: &["branch", "reference", "depth", "jobs", "name"],
                ..Spec::default()
            },
        );
        match args.get(start).map(Arg::word) {
            Some("foreach") => {
                let words: Vec<&Arg> = rest
                    .iter()
                    .skip_while(|arg| matches!(arg.word(), "--recursive" | "-q" | "--quiet"))
                    .collect();
                let mut text = BString::default();
                for (index, word) in words.iter().enumerate() {
                    if index > 0 {
                        text.push(b' ');
                    }
                    // One argument is a script, several are a command's words.
                    if words.len() == 1 {
                        text.extend_from_slice(&word.text);
                    } else {
                        text.extend_from_slice(&crate::shell::walk::quote(&word.text, word.glob));
                    }
                }
                let scope = self.walk.scope.clone();
                self.walk.scope.dir = Dir::Unknown;
                let _ = self.walk.run_text(text.as_bstr(), input);
                self.walk.scope = scope;
                self.note(Act::Read);
            }
            Some("deinit") => self.note(Act::Submodules {
                how: if options.has(&["f", "force"]) {
                    Submodules::Removed
                } else {
                    Submodules::RemovedIfClean
                },
                paths: options.operands,
            }),
            Some("update") => self.note(Act::Submodules {
                how: if options.has(&["f", "force"]) {
                    Submodules::Forced
                } else {
                    Submodules::Updated
                },
                paths: options.operands,
            }),
            Some("add") => self.does(GitClass::Stage, "a submodule is added"),
            Some("set-url" | "set-branch" | "sync" | "init" | "absorbgitdirs") => {
                self.tells(GitClass::Stage, "submodules' settings change");
            }
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn lfs(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        let words: Vec<&str> = options.operands.iter().map(Arg::word).collect();
        match words.as_slice() {
            ["prune", ..] if !options.surely(&["d", "dry-run"]) => self.does(
                GitClass::History,
                "large files' old versions are deleted from local storage",
            ),
            ["migrate", "import" | "export", ..] => self.note(Act::Rewrite {
                since: None,
                why: "commits are rewritten".to_owned(),
            }),
            ["push", ..] => self.does(GitClass::Push, "large files are pushed"),
            ["uninstall", ..] => self.tells(GitClass::Stage, "git-lfs is taken out"),
            ["unlock", ..] if options.has(&["f", "force"]) => {
                self.walk
                    .mark(Level::Confirm, "somebody's file lock is broken");
            }
            ["track" | "untrack" | "install" | "lock" | "unlock", ..] => {
                self.tells(GitClass::Stage, "large file settings change");
            }
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn init(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "b",
                long: &[
                    "initial-branch",
                    "template",
                    "separate-git-dir",
                    "object-format",
                    "ref-format",
                    "shared",
                ],
                ..Spec::default()
            },
        );
        if let Some(path) = options.value(&["separate-git-dir"]).cloned() {
            self.does(GitClass::History, "the git directory is moved");
            self.file(PathOp::Make, &path);
        }
        if let Some(path) = options.operands.first().cloned() {
            self.makes_repository(&path);
            self.file(PathOp::Touch, &path);
        } else {
            self.makes_repository(&Arg::known("."));
            self.note(Act::Read);
        }
    }
}
