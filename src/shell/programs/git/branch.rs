//! Subcommands about refs: branch, tag, update-ref, symbolic-ref, reflog, notes, replace, remote.

use super::{Act, Git};
use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::Stream;
use bstr::{BString, ByteSlice as _};

impl Git<'_, '_> {
    pub(super) fn branch(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "u",
                long: &[
                    "set-upstream-to",
                    "contains",
                    "no-contains",
                    "points-at",
                    "sort",
                    "format",
                ],
                ..Spec::default()
            },
        );
        let forced = options.has(&["f", "force"]);
        let lists = options.surely(&[
            "list",
            "l",
            "a",
            "all",
            "show-current",
            "contains",
            "no-contains",
            "merged",
            "no-merged",
            "points-at",
            "v",
            "vv",
            "verbose",
        ]);
        if options.has(&["D"]) || options.has(&["d", "delete"]) {
            self.note(Act::DropBranches {
                names: options.operands.clone(),
                force: options.has(&["D"]) || forced,
                remote: options.has(&["r", "remotes"]),
            });
        } else if options.has(&["M", "C"]) || (forced && options.has(&["m", "c", "move", "copy"])) {
            let Some(name) = options.operands.last().cloned() else {
                return;
            };
            let target = (options.operands.len() > 1)
                .then(|| options.operands.first().cloned())
                .flatten();
            self.note(Act::MoveRef { name, target });
        } else if options.has(&["m", "move"]) {
            self.tells(GitClass::Stage, "a branch is renamed");
        } else if forced {
            let Some(name) = options.operands.first().cloned() else {
                return;
            };
            let target = options.operands.get(1).cloned();
            self.note(Act::MoveRef { name, target });
        } else if options.has(&["u", "set-upstream-to", "unset-upstream", "edit-description"]) {
            self.tells(GitClass::Stage, "a branch's settings change");
        } else if lists || options.operands.is_empty() {
            self.note(Act::Read);
        } else {
            let target = options.operands.get(1).cloned();
            self.make_branch(options.operands.first(), target, false);
        }
    }

    /// Notes that a branch is made.
    pub(super) fn make_branch(
        &mut self,
        name: Option<&Arg>,
        target: Option<Arg>,
        checked_out: bool,
    ) {
        let Some(name) = name else { return };
        let mut text = BString::from("refs/heads/");
        text.extend_from_slice(&name.text);
        self.note(Act::MakeRef {
            name: Arg {
                text,
                ..name.clone()
            },
            target,
            checked_out,
        });
    }

    pub(super) fn tag(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "mFu",
                long: &[
                    "message",
                    "file",
                    "local-user",
                    "cleanup",
                    "contains",
                    "no-contains",
                    "points-at",
                    "sort",
                    "format",
                    "trailer",
                ],
                ..Spec::default()
            },
        );
        let full = |name: &Arg| {
            let mut text = BString::from("refs/tags/");
            text.extend_from_slice(&name.text);
            Arg {
                text,
                ..name.clone()
            }
        };
        if options.has(&["d", "delete"]) {
            self.note(Act::DropRefs {
                names: options.operands.iter().map(full).collect(),
                kind: "tag",
            });
        } else if options.has(&["f", "force"]) && !options.operands.is_empty() {
            let name = options.operands.first().map(full).unwrap_or_default();
            let target = options.operands.get(1).cloned();
            self.note(Act::MoveRef { name, target });
        } else if options.operands.is_empty()
            || options.surely(&["l", "list", "v", "verify", "contains", "n"])
        {
            self.note(Act::Read);
        } else {
            self.note(Act::MakeRef {
                name: options.operands.first().map(full).unwrap_or_default(),
                target: options.operands.get(1).cloned(),
                checked_out: false,
            });
        }
    }

    pub(super) fn update_ref(&mut self, args: &[Arg], input: &Stream) {
        let options = Options::read(
            args,
            &Spec {
                short: "m",
                ..Spec::default()
            },
        );
        if options.has(&["stdin"]) {
            self.ref_commands(input);
        } else if options.has(&["d"]) {
            if let Some(name) = options.operands.first().cloned() {
                self.note(Act::DropRefs {
                    names: vec![name],
                    kind: "ref",
                });
            }
        } else if let Some(name) = options.operands.first().cloned() {
            let target = options.operands.get(1).cloned();
            self.note(Act::MoveRef { name, target });
        }
    }

    /// `update-ref --stdin`: one command a line.
    fn ref_commands(&mut self, input: &Stream) {
        let Stream::Text(text) = input else {
            self.does(GitClass::History, "refs move as standard input says");
            return;
        };
        let text = text.clone();
        for line in text.split(|byte| matches!(byte, b'\n' | 0)) {
            let words: Vec<&[u8]> = line.fields().collect();
            match words.as_slice() {
                [b"delete", name, ..] => self.note(Act::DropRefs {
                    names: vec![Arg::known(*name)],
                    kind: "ref",
                }),
                [b"update", name, to, ..] => self.note(Act::MoveRef {
                    name: Arg::known(*name),
                    target: Some(Arg::known(*to)),
                }),
                [b"symref-update" | b"symref-delete", name, ..] => {
                    let why = format!("{} is changed", name.to_str_lossy());
                    self.does(GitClass::History, why);
                }
                _ => {}
            }
        }
    }

    pub(super) fn symbolic_ref(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "m",
                ..Spec::default()
            },
        );
        if options.has(&["d", "delete"]) {
            self.does(GitClass::History, "a symbolic ref is deleted");
        } else if options.operands.len() > 1 {
            self.does(
                GitClass::History,
                "a symbolic ref points elsewhere, under the files that are checked out",
            );
        } else {
            self.note(Act::Read);
        }
    }

    pub(super) fn reflog(&mut self, args: &[Arg]) {
        let options = Options::read(args.get(1..).unwrap_or_default(), &Spec::default());
        match args.first().map(Arg::word) {
            Some("expire" | "delete" | "drop") => {
                if options.surely(&["n", "dry-run"]) {
                    self.note(Act::Read);
                } else {
                    self.does(
                        GitClass::History,
                        "the record of where refs were is cut, the last way to dropped commits",
                    );
                }
            }
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn notes(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "mFcCs",
                long: &["ref", "message", "file", "strategy"],
                ..Spec::default()
            },
        );
        match options.operands.first().map(Arg::word) {
            Some("remove" | "prune") if !options.surely(&["n", "dry-run"]) => {
                self.does(GitClass::History, "notes are removed");
            }
            Some("add" | "copy" | "edit") if options.has(&["f", "force"]) => {
                self.does(GitClass::History, "a note is replaced");
            }
            Some("add" | "append" | "copy" | "edit" | "merge") => {
                self.does(GitClass::Commit, "a note is written");
            }
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn replace(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        if options.surely(&["l", "list"]) || options.given.is_empty() && options.operands.is_empty()
        {
            self.note(Act::Read);
        } else {
            self.does(
                GitClass::History,
                "objects are shown in place of others, or stop being so",
            );
        }
    }

    pub(super) fn remote(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "tm",
                ..Spec::default()
            },
        );
        match options.operands.first().map(Arg::word) {
            Some("remove" | "rm") => self.does(
                GitClass::History,
                "a remote and all its remote-tracking branches are deleted",
            ),
            Some("prune") if !options.surely(&["n", "dry-run"]) => self.tells(
                GitClass::History,
                "remote-tracking branches that are gone on the remote are deleted",
            ),
            Some("update") if options.surely(&["p", "prune"]) => self.tells(
                GitClass::History,
                "remote-tracking branches that are gone on the remote are deleted",
            ),
            // Nothing is lost by it; what is pushed there is a push of its own.
            Some("set-url") => self.tells(
                GitClass::History,
                "pushes and fetches go to another address",
            ),
            Some("rename" | "set-head" | "set-branches") => {
                self.tells(GitClass::Stage, "a remote's settings change");
            }
            Some("add") => self.tells(GitClass::Stage, "a remote is added"),
            _ => self.note(Act::Read),
        }
    }
}
