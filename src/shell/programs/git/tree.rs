//! Subcommands that write the worktree: checkout, switch, restore, reset, clean, sparse-checkout, worktree.

use super::{Act, Git, Ignored, Submodules};
use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};

/// Pathspecs that mean everything.
pub(super) fn everything() -> Vec<Arg> {
    vec![Arg::known(":/")]
}

impl Git<'_, '_> {
    pub(super) fn checkout(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "bBU",
                long: &[
                    "orphan",
                    "conflict",
                    "pathspec-from-file",
                    "unified",
                    "inter-hunk-context",
                ],
                ..Spec::default()
            },
        );
        if let Some(name) = options.value(&["B"]).cloned() {
            let target = options.operands.first().cloned();
            self.note(Act::MoveRef { name, target });
        }
        let forced = options.has(&["f", "force"]);
        if forced {
            self.forces_submodules(&options);
        }
        if options.surely(&["p", "patch"]) {
            self.does(
                GitClass::Discard,
                "hunks of local changes are dropped by choice",
            );
            return;
        }
        if options.has(&["pathspec-from-file"]) {
            self.note(Act::Restore {
                paths: vec![Arg::unknown()],
                source: options.operands.first().cloned(),
                index: true,
                worktree: true,
            });
            return;
        }
        let made = options.value(&["b", "B", "orphan"]).is_some();
        if made {
            if forced {
                self.note(Act::ResetTree {
                    target: options.operands.first().cloned(),
                    moves_branch: false,
                    careful: false,
                });
            } else if let Some(name) = options.value(&["b"]).cloned() {
                self.make_branch(Some(&name), options.operands.first().cloned(), true);
            } else {
                self.visit(&options);
            }
            return;
        }
        let sides = options.has(&["ours", "theirs", "merge"]);
        match options.dashes {
            Some(before) if options.operands.len() > before => {
                let paths = options.operands.get(before..).unwrap_or_default().to_vec();
                let source = options
                    .operands
                    .get(..before)
                    .and_then(<[_]>::first)
                    .cloned();
                self.note(Act::Restore {
                    paths,
                    index: source.is_some(),
                    source,
                    worktree: true,
                });
                return;
            }
            _ => {}
        }
        match options.operands.as_slice() {
            [] if forced => self.note(Act::ResetTree {
                target: None,
                moves_branch: false,
                careful: false,
            }),
            [] => self.note(Act::Read),
            [word] if forced => {
                if is_path(word) {
                    self.note(Act::Restore {
                        paths: vec![word.clone()],
                        source: None,
                        index: false,
                        worktree: true,
                    });
                } else {
                    self.note(Act::ResetTree {
                        target: Some(word.clone()),
                        moves_branch: false,
                        careful: false,
                    });
                }
            }
            [_] if keeps_ignored(&options) => self.visit(&options),
            [word] if is_path(word) || sides => self.note(Act::Restore {
                paths: vec![word.clone()],
                source: None,
                index: false,
                worktree: true,
            }),
            [word] => self.note(Act::Checkout { word: word.clone() }),
            [first, rest @ ..] => {
                if is_path(first) || sides {
                    self.note(Act::Restore {
                        paths: options.operands.clone(),
                        source: None,
                        index: false,
                        worktree: true,
                    });
                } else {
                    self.note(Act::Restore {
                        paths: rest.to_vec(),
                        source: Some(first.clone()),
                        index: true,
                        worktree: true,
                    });
                }
            }
        }
    }

    pub(super) fn switch(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "cC",
                long: &["create", "force-create", "orphan", "conflict"],
                ..Spec::default()
            },
        );
        if let Some(name) = options.value(&["C", "force-create"]).cloned() {
            let target = options.operands.first().cloned();
            self.note(Act::MoveRef { name, target });
        }
        let made = options
            .value(&["c", "C", "create", "force-create", "orphan"])
            .is_some();
        if options.has(&["f", "force", "discard-changes"]) {
            self.forces_submodules(&options);
            self.note(Act::ResetTree {
                target: options.operands.first().cloned(),
                moves_branch: false,
                careful: false,
            });
        } else if let Some(name) = options.value(&["c", "create"]).cloned() {
            self.make_branch(Some(&name), options.operands.first().cloned(), true);
        } else if let (false, false, [target]) =
            (made, keeps_ignored(&options), options.operands.as_slice())
        {
            self.note(Act::Switch {
                target: target.clone(),
            });
        } else {
            self.visit(&options);
        }
    }

    /// A branch is made and checked out, from the commit that is named or the present one.
    fn visit(&mut self, options: &Options) {
        if keeps_ignored(options) {
            self.tells(
                GitClass::Read,
                "another branch is checked out, local changes are kept",
            );
        } else {
            self.note(Act::Visit {
                target: options.operands.first().cloned(),
            });
        }
    }

    /// Notes that submodules are checked out by force too, where that is asked for.
    fn forces_submodules(&mut self, options: &Options) {
        if options.has(&["recurse-submodules"]) {
            self.note(Act::Submodules {
                paths: Vec::new(),
                how: Submodules::Along,
            });
        }
    }

    pub(super) fn restore(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "sU",
                long: &["source", "conflict", "pathspec-from-file", "unified"],
                ..Spec::default()
            },
        );
        let staged = options.surely(&["S", "staged"]);
        let worktree = options.has(&["W", "worktree"]) || !staged;
        if options.surely(&["p", "patch"]) {
            self.does(
                GitClass::Discard,
                "hunks of local changes are dropped by choice",
            );
            return;
        }
        let paths = if options.has(&["pathspec-from-file"]) {
            vec![Arg::unknown()]
        } else {
            options.operands.clone()
        };
        if paths.is_empty() {
            self.note(Act::Read);
            return;
        }
        if staged && !worktree {
            self.note(Act::Unstage { paths });
            return;
        }
        self.note(Act::Restore {
            paths,
            source: options.value(&["s", "source"]).cloned(),
            index: staged,
            worktree,
        });
    }

    pub(super) fn reset(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "U",
                long: &["pathspec-from-file", "unified"],
                ..Spec::default()
            },
        );
        // Everything after `--`, or after a word that names a commit, is a path.
        let target = match options.dashes {
            Some(0) => None,
            _ => options.operands.first(),
        }
        .cloned();
        let several = options.operands.len() > usize::from(target.is_some());
        let paths = options.operands.clone();
        if options.has(&["hard", "merge", "keep"]) {
            self.forces_submodules(&options);
        }
        if options.has(&["hard"]) {
            self.note(Act::ResetTree {
                target,
                moves_branch: true,
                careful: false,
            });
        } else if options.has(&["merge"]) {
            self.note(Act::ResetTree {
                target,
                moves_branch: true,
                careful: false,
            });
        } else if options.has(&["keep"]) {
            self.note(Act::ResetTree {
                target,
                moves_branch: true,
                careful: true,
            });
        } else if several {
            self.note(Act::Unstage { paths });
        } else if options.surely(&["p", "patch"]) || options.has(&["pathspec-from-file"]) {
            self.note(Act::Unstage { paths: Vec::new() });
        } else {
            let soft = options.surely(&["soft"]);
            self.note(Act::MoveHead { target });
            if !soft {
                self.note(Act::Unstage { paths });
            }
        }
    }

    pub(super) fn clean(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "e",
                long: &["exclude"],
                ..Spec::default()
            },
        );
        if options.surely(&["n", "dry-run"]) {
            self.note(Act::Read);
            return;
        }
        let forced = options.has(&["f", "force"])
            || options.has(&["i", "interactive"])
            || self.is_off("clean.requireforce");
        if !forced {
            self.tells(GitClass::Discard, "git refuses to clean without -f");
            return;
        }
        let ignored = if options.has(&["x"]) {
            Ignored::Too
        } else if options.has(&["X"]) {
            Ignored::Only
        } else {
            Ignored::Kept
        };
        self.note(Act::Clean {
            directories: options.has(&["d"]) || !options.operands.is_empty(),
            ignored,
            paths: options.operands,
        });
    }

    /// Whether a setting is switched off, on the command line or in the configuration.
    fn is_off(&self, key: &str) -> bool {
        let off = |value: &[u8]| {
            matches!(
                value.to_ascii_lowercase().as_slice(),
                b"false" | b"0" | b"no" | b"off" | b""
            )
        };
        match self.settings.iter().rev().find(|(name, _)| name == key) {
            Some((_, value)) => off(&value.text) || value.has_unknown(),
            None => match self.walk.git_setting(key) {
                Some(value) => off(&value.text) || value.has_unknown(),
                None => self
                    .walk
                    .lookup
                    .git_setting(&self.place.dir, key)
                    .is_some_and(|value| off(&value)),
            },
        }
    }

    pub(super) fn sparse(&mut self, args: &[Arg]) {
        let rest = args.get(1..).unwrap_or_default();
        let options = Options::read(rest, &Spec::default());
        let cone = match (options.has(&["cone"]), options.has(&["no-cone"])) {
            (_, true) => Some(false),
            (true, false) => Some(true),
            (false, false) => None,
        };
        match args.first().map(Arg::word) {
            Some("set") => self.note(Act::Sparse {
                dirs: Some(options.operands),
                cone,
            }),
            Some("add" | "reapply" | "init") => self.note(Act::Sparse { dirs: None, cone }),
            Some("disable") => self.tells(GitClass::Read, "all files come into the worktree"),
            Some("clean")
                if !args
                    .iter()
                    .any(|arg| arg.text == "-n" || arg.text == "--dry-run") =>
            {
                self.does(
                    GitClass::Discard,
                    "files outside the sparse definition are deleted",
                );
            }
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn worktree(&mut self, args: &[Arg]) {
        let rest = args.get(1..).unwrap_or_default();
        let options = Options::read(
            rest,
            &Spec {
                short: "bB",
                long: &["reason", "expire"],
                ..Spec::default()
            },
        );
        match args.first().map(Arg::word) {
            Some("remove") => {
                for path in options.operands.clone() {
                    self.note(Act::RemoveWorktree {
                        path,
                        force: options.has(&["f", "force"]),
                    });
                }
            }
            Some("add") => {
                if let Some(name) = options.value(&["B"]).cloned() {
                    let target = options.operands.get(1).cloned();
                    self.note(Act::MoveRef { name, target });
                }
                if let Some(path) = options.operands.first() {
                    // A directory that nobody has yet; what is there already makes git refuse.
                    self.file(PathOp::Touch, path);
                }
                if options.has(&["f", "force"]) {
                    self.tells(
                        GitClass::Stage,
                        "a worktree is added though its branch is in use",
                    );
                }
            }
            Some("prune") if !options.surely(&["n", "dry-run"]) => {
                self.note(Act::PruneWorktrees);
            }
            Some("move") => {
                if let [from, to] = options.operands.as_slice() {
                    self.file(PathOp::Move { to: to.clone() }, from);
                }
            }
            _ => self.note(Act::Read),
        }
    }
}

/// Returns true where git is told to refuse rather than overwrite an ignored file.
fn keeps_ignored(options: &Options) -> bool {
    options.surely(&["no-overwrite-ignore"])
}

/// Returns true for a word that can only be a path.
fn is_path(word: &Arg) -> bool {
    let text = word.text.as_slice();
    word.glob
        || text == b"."
        || text == b".."
        || text.starts_with(b"./")
        || text.starts_with(b"../")
        || text.starts_with(b"/")
        || text.starts_with(b":")
        || text.ends_with(b"/")
}
