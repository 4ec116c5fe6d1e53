//! Subcommands that write the index, and files by way of it: add, rm, mv, apply, read-tree, ….

use super::tree::everything;
use super::{Act, Git};
use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::programs::patches::{self, Reading};
use crate::shell::scope::Dir;
use crate::shell::walk::Stream;
use bstr::ByteSlice as _;

impl Git<'_, '_> {
    pub(super) fn add(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        if options.surely(&["n", "dry-run"]) {
            self.note(Act::Read);
        } else {
            self.does(GitClass::Stage, "changes are staged");
        }
    }

    pub(super) fn rm(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                long: &["pathspec-from-file"],
                ..Spec::default()
            },
        );
        if options.surely(&["n", "dry-run"]) {
            self.note(Act::Read);
            return;
        }
        if options.surely(&["cached"]) {
            self.does(GitClass::Stage, "files leave the index and stay on disk");
            self.note(Act::Unstage {
                paths: if options.has(&["pathspec-from-file"]) {
                    Vec::new()
                } else {
                    options.operands
                },
            });
            return;
        }
        let recursive = options.has(&["r"]);
        if options.has(&["pathspec-from-file"]) {
            self.file(PathOp::Delete { recursive: true }, &Arg::unknown());
        }
        for path in &options.operands {
            self.file(PathOp::Delete { recursive }, path);
        }
    }

    pub(super) fn mv(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        if options.surely(&["n", "dry-run"]) {
            self.note(Act::Read);
            return;
        }
        let Some((to, from)) = options.operands.split_last() else {
            return;
        };
        let forced = options.has(&["f", "force"]);
        for path in from {
            self.file(PathOp::Move { to: to.clone() }, path);
        }
        if forced && from.len() == 1 {
            self.file(PathOp::Replace, to);
        }
    }

    pub(super) fn apply(&mut self, name: &str, args: &[Arg], input: &Stream) {
        let options = Options::read(
            args,
            &Spec {
                short: "Cp",
                long: &[
                    "directory",
                    "exclude",
                    "include",
                    "whitespace",
                    "build-fake-ancestor",
                ],
                ..Spec::default()
            },
        );
        if name == "am" {
            if options.has(&["abort", "skip"]) {
                self.note(Act::Abandon { what: "am" });
            } else if options.surely(&["show-current-patch"]) {
                self.note(Act::Read);
            } else if options.has(&["quit"]) {
                self.tells(
                    GitClass::Discard,
                    "patches in progress are left as they are",
                );
            } else {
                self.does(GitClass::Commit, "patches become commits");
            }
            return;
        }
        let looks = options.surely(&["check", "stat", "numstat", "summary"]);
        if looks && !options.surely(&["apply"]) {
            self.note(Act::Read);
        } else if options.surely(&["cached"]) {
            self.does(GitClass::Stage, "a patch is put into the index");
        } else {
            self.patched(&options, input);
        }
    }

    /// A patch that does not fit is refused whole, so that only what it says is overwritten.
    fn patched(&mut self, options: &Options, input: &Stream) {
        let reverse = options.surely(&["R", "reverse"]);
        let strip = match options.value(&["p"]) {
            Some(value) => value.word().parse().ok(),
            None => Some(1),
        };
        let from_input =
            options.operands.is_empty() || options.operands.iter().any(|path| path.text == "-");
        let mut texts = Vec::new();
        if from_input {
            texts.push(input.clone());
        }
        for path in options.operands.iter().filter(|path| path.text != "-") {
            // The path is one of git's directory, which need not be the shell's.
            let path = match self.place.dir.join(path) {
                _ if self.place.dir == self.walk.scope.dir => path.clone(),
                Dir::Known(full) => Arg::known(full),
                Dir::Unknown | Dir::Elsewhere => Arg::unknown(),
            };
            texts.push(self.walk.read_path(&path));
        }
        if texts.iter().any(|text| patches::takes_back(text, reverse)) {
            // What the difference says is nowhere else.
            self.note(Act::Restore {
                paths: everything(),
                source: None,
                index: false,
                worktree: true,
            });
            return;
        }
        let under = options.value(&["directory"]).map(|dir| dir.text.clone());
        let top = self.walk.lookup.toplevel(&self.place.dir);
        for text in texts {
            let touches = match (&text, strip) {
                (Stream::Text(text), Some(strip)) => {
                    let reading = Reading {
                        strip: Some(strip),
                        reverse,
                    };
                    patches::touched(text.as_bstr(), reading)
                }
                _ => None,
            };
            let (Some(touches), Some(mut base)) = (touches, top.clone()) else {
                self.tells(GitClass::Read, "a patch changes files");
                continue;
            };
            if let Some(under) = &under {
                base.push(b'/');
                base.extend_from_slice(under);
            }
            self.note(Act::Read);
            patches::apply(self.walk, &touches, base.as_bstr());
        }
    }

    pub(super) fn read_tree(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                long: &["prefix", "exclude-per-directory", "index-output"],
                ..Spec::default()
            },
        );
        if options.surely(&["n", "dry-run"]) {
            self.note(Act::Read);
        } else if options.has(&["reset"]) && options.has(&["u"]) {
            self.note(Act::ResetTree {
                target: options.operands.first().cloned(),
                moves_branch: false,
                careful: false,
            });
        } else if options.has(&["m"]) && options.has(&["u"]) {
            match options.operands.last().cloned() {
                Some(target) => self.note(Act::Visit {
                    target: Some(target),
                }),
                None => self.note(Act::Read),
            }
        } else if options.has(&["empty", "reset"]) || !options.has(&["m", "prefix"]) {
            self.does(
                GitClass::Discard,
                "the index is replaced, with what is staged in it",
            );
        } else {
            self.does(GitClass::Stage, "a tree is read into the index");
        }
    }

    /// Merges two files into a third, in its place.
    pub(super) fn merge_file(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "L",
                long: &["marker-size", "diff-algorithm"],
                ..Spec::default()
            },
        );
        self.note(Act::Read);
        if !options.surely(&["p", "stdout", "object-id"])
            && let Some(path) = options.operands.first()
        {
            self.file(PathOp::Change, path);
        }
    }

    pub(super) fn checkout_index(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                long: &["prefix", "stage"],
                ..Spec::default()
            },
        );
        if let Some(prefix) = options.value(&["prefix"]).cloned() {
            self.tells(
                GitClass::Read,
                "tracked files are written to another directory",
            );
            if options.has(&["f", "force"]) {
                self.file(PathOp::Unpack, &prefix);
            }
        } else if options.has(&["f", "force"]) {
            let paths = if options.has(&["a", "all"]) {
                everything()
            } else if options.has(&["stdin"]) {
                vec![Arg::unknown()]
            } else {
                options.operands
            };
            self.note(Act::Restore {
                paths,
                source: None,
                index: false,
                worktree: true,
            });
        } else {
            self.tells(GitClass::Read, "missing files are written from the index");
        }
    }

    pub(super) fn update_index(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        if options.has(&["assume-unchanged", "skip-worktree"]) {
            self.tells(GitClass::Stage, "git stops seeing changes of these files");
        } else if options.surely(&[
            "refresh",
            "really-refresh",
            "q",
            "fsmonitor",
            "untracked-cache",
        ]) && options.operands.is_empty()
        {
            self.note(Act::Read);
        } else {
            self.does(GitClass::Stage, "the index changes");
        }
    }
}
