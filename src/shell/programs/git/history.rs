//! Subcommands that make or rewrite commits: commit, rebase, merge, filter-branch, bisect, ….

use super::{Act, Bring, Git};
use crate::judge::{GitClass, Level};
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::Stream;
use bstr::ByteSlice as _;

impl Git<'_, '_> {
    pub(super) fn commit(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "mFcCt",
                stuck: "uS",
                long: &[
                    "message",
                    "file",
                    "author",
                    "date",
                    "template",
                    "cleanup",
                    "fixup",
                    "squash",
                    "reuse-message",
                    "reedit-message",
                    "trailer",
                    "pathspec-from-file",
                ],
                ..Spec::default()
            },
        );
        if options.surely(&["dry-run"]) {
            self.note(Act::Read);
            return;
        }
        if options.has(&["n", "no-verify"]) {
            self.bypass("git commit skips its hooks");
        }
        if options.has(&["amend"]) {
            self.note(Act::Rewrite {
                since: Some(Arg::known("HEAD~1")),
                why: "the last commit is replaced".to_owned(),
            });
        }
        self.does(GitClass::Commit, "a commit is made");
    }

    pub(super) fn rebase(&mut self, args: &[Arg], input: &Stream) {
        let options = Options::read(
            args,
            &Spec {
                short: "xsX",
                stuck: "CS",
                long: &[
                    "exec",
                    "onto",
                    "strategy",
                    "strategy-option",
                    "whitespace",
                    "empty",
                ],
                ..Spec::default()
            },
        );
        for command in options.values(&["x", "exec"]) {
            let text = command.text.clone();
            let _ = self.walk.run_child(text.as_bstr(), input);
        }
        if options.surely(&["show-current-patch"]) {
            self.note(Act::Read);
        } else if options.has(&["abort"]) {
            self.note(Act::Abandon { what: "rebase" });
        } else if options.has(&["skip"]) {
            self.does(GitClass::History, "a commit is left out of the rebase");
        } else if options.surely(&["continue", "edit-todo"]) {
            self.tells(GitClass::Commit, "a rebase in progress goes on");
        } else if options.has(&["quit"]) {
            self.tells(GitClass::History, "a rebase in progress is left as it is");
        } else {
            if options.has(&["no-verify"]) {
                self.bypass("git rebase skips its hooks");
            }
            let since = options
                .value(&["onto"])
                .or_else(|| options.operands.first())
                .cloned();
            self.note(Act::Rewrite {
                since,
                why: "commits are replaced by rebased ones".to_owned(),
            });
        }
    }

    /// merge, cherry-pick, revert.
    pub(super) fn combine(&mut self, name: &str, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "mFsX",
                stuck: "S",
                long: &[
                    "message",
                    "file",
                    "strategy",
                    "strategy-option",
                    "mainline",
                    "cleanup",
                ],
                ..Spec::default()
            },
        );
        if options.has(&["no-verify"]) {
            self.bypass(format!("git {name} skips its hooks"));
        }
        let (what, how) = match name {
            "merge" => ("merge", Bring::Merge),
            "revert" => ("revert", Bring::Revert),
            _ => ("cherry-pick", Bring::Pick),
        };
        if options.has(&["abort", "skip"]) {
            self.note(Act::Abandon { what });
        } else if options.has(&["quit"]) {
            self.tells(
                GitClass::Discard,
                "an operation in progress is left as it is",
            );
        } else {
            let uncommitted = options.surely(&["no-commit", "squash"])
                || name != "merge" && options.surely(&["n"]);
            if uncommitted {
                self.tells(GitClass::Read, "the changes are left uncommitted");
            } else if name == "merge" && options.has(&["ff-only"]) {
                self.tells(GitClass::Commit, "the branch only moves forward");
            } else {
                self.does(GitClass::Commit, format!("git {name} makes commits"));
            }
            if !options.operands.is_empty() {
                self.note(Act::Bring {
                    how,
                    commits: options.operands,
                });
            }
        }
    }

    pub(super) fn filter_branch(&mut self, args: &[Arg]) {
        let filters = [
            "setup",
            "subdirectory-filter",
            "env-filter",
            "tree-filter",
            "index-filter",
            "parent-filter",
            "msg-filter",
            "commit-filter",
            "tag-name-filter",
            "original",
        ];
        let options = Options::read(
            args,
            &Spec {
                short: "d",
                long: &[
                    "setup",
                    "subdirectory-filter",
                    "env-filter",
                    "tree-filter",
                    "index-filter",
                    "parent-filter",
                    "msg-filter",
                    "commit-filter",
                    "tag-name-filter",
                    "original",
                    "state-branch",
                ],
                ..Spec::default()
            },
        );
        for filter in filters {
            for text in options.values(&[filter]) {
                let text = text.text.clone();
                let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
        }
        self.note(Act::Rewrite {
            since: None,
            why: "every commit of a branch is rewritten".to_owned(),
        });
    }

    pub(super) fn filter_repo(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        if options.surely(&["analyze", "dry-run"]) {
            self.note(Act::Read);
        } else {
            self.note(Act::Rewrite {
                since: None,
                why: "the whole history is rewritten, and old objects are pruned".to_owned(),
            });
        }
    }

    pub(super) fn fast_import(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        if options.has(&["force"]) {
            self.does(GitClass::History, "branches are replaced by imported ones");
        } else {
            self.does(GitClass::Commit, "commits are imported");
        }
    }

    pub(super) fn bisect(&mut self, args: &[Arg]) {
        match args.first().map(Arg::word) {
            Some("run") => {
                self.tells(GitClass::Read, "commits are checked out one after another");
                let rest: Vec<Arg> = args.get(1..).unwrap_or_default().to_vec();
                let scope = self.walk.scope.clone();
                let _ = self.walk.run_args(&rest, &Stream::Unknown);
                self.walk.scope = scope;
            }
            Some("log" | "visualize" | "view" | "terms" | "help") | None => self.note(Act::Read),
            Some("reset") => self.note(Act::LeaveBisect {
                target: args.get(1).cloned(),
            }),
            _ => self.tells(
                GitClass::Read,
                "another commit is checked out, changes are kept",
            ),
        }
    }

    pub(super) fn difftool(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "xt",
                long: &["extcmd", "tool"],
                ..Spec::default()
            },
        );
        self.note(Act::Read);
        if let Some(command) = options.value(&["x", "extcmd"]) {
            // git adds two names; against the worktree, the second is the file itself.
            let mut text = command.text.clone();
            let cached = options.has(&["cached", "staged"]);
            if !cached && options.operands.len() < 2 {
                text.extend_from_slice(b" /tmp/left ./*");
            }
            let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
        }
    }

    pub(super) fn for_each_repo(&mut self, args: &[Arg], input: &Stream) {
        let options = Options::read(
            args,
            &Spec {
                long: &["config"],
                stops: true,
                ..Spec::default()
            },
        );
        let mut all = vec![Arg::known("git")];
        all.extend(options.operands);
        let scope = self.walk.scope.clone();
        self.walk.scope.dir = crate::shell::scope::Dir::Unknown;
        let _ = self.walk.run_args(&all, input);
        self.walk.scope = scope;
    }

    pub(super) fn foreign(&mut self, name: &str, args: &[Arg]) {
        match (name, args.first().map(Arg::word)) {
            ("svn", Some("dcommit" | "set-tree" | "branch" | "tag")) | ("p4", Some("submit")) => {
                self.does(
                    GitClass::History,
                    "commits are sent to another server and rewritten",
                );
            }
            ("svn", Some("reset" | "gc")) => {
                self.does(GitClass::History, "fetched revisions are undone");
            }
            ("svn" | "p4", Some("rebase")) => self.note(Act::Rewrite {
                since: None,
                why: "commits are replaced by rebased ones".to_owned(),
            }),
            ("cvsexportcommit", _) => {
                self.does(GitClass::Push, "commits are sent to another server");
            }
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn credential(&mut self, args: &[Arg]) {
        match args.iter().find(|arg| !arg.is_option()).map(Arg::word) {
            Some("reject" | "erase" | "exit") => {
                self.walk
                    .mark(Level::MustAsk, "stored credentials are erased");
            }
            Some("fill" | "get") => {
                self.walk
                    .mark(Level::Confirm, "a stored password is printed");
            }
            Some("approve" | "store") => {
                self.walk.mark(Level::Confirm, "a password is stored");
            }
            _ => self.note(Act::Read),
        }
    }
}
