//! Subcommands that talk to other repositories: push, fetch, pull, clone, bundle.

use super::{Act, Git};
use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use bstr::{BString, ByteSlice as _};

impl Git<'_, '_> {
    pub(super) fn push(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "o",
                long: &[
                    "push-option",
                    "repo",
                    "receive-pack",
                    "exec",
                    "recurse-submodules",
                ],
                ..Spec::default()
            },
        );
        if options.surely(&["n", "dry-run"]) {
            self.note(Act::Read);
            return;
        }
        if options.has(&["no-verify"]) {
            self.bypass("git push skips its hooks");
        }
        for command in options.values(&["receive-pack", "exec"]) {
            let text = command.text.clone();
            let _ = self
                .walk
                .run_child(text.as_bstr(), &crate::shell::walk::Stream::Unknown);
        }
        let refspecs = options.operands.get(1..).unwrap_or_default();
        let leased = options
            .given
            .iter()
            .any(|given| given.long && given.name.starts_with("force-"));
        let forced = options.has(&["f"])
            || options.given.iter().any(|given| {
                given.long && given.name.len() >= 3 && "force".starts_with(&given.name)
            });
        let plus = refspecs.iter().find(|spec| spec.text.starts_with(b"+"));
        let deletes = refspecs
            .iter()
            .find(|spec| spec.text.starts_with(b":") && spec.text.len() > 1);
        if options.has(&["delete", "d"]) || deletes.is_some() {
            self.does(GitClass::History, "refs are deleted on the remote");
        }
        if options.has(&["mirror"]) {
            self.does(
                GitClass::History,
                "the remote becomes a mirror: refs that are not here are deleted there",
            );
        }
        if options.has(&["prune"]) {
            self.does(
                GitClass::History,
                "remote branches without a local one are deleted",
            );
        }
        if forced || plus.is_some() {
            self.does(
                GitClass::History,
                "commits on the remote are dropped by force",
            );
        } else if leased {
            self.tells(
                GitClass::History,
                "the remote branch is replaced, if it is still what was last fetched",
            );
        }
        self.does(GitClass::Push, "commits are pushed");
    }

    pub(super) fn fetch(&mut self, args: &[Arg]) {
        let options = fetch_options(args);
        if options.surely(&["dry-run"]) {
            self.note(Act::Read);
            return;
        }
        self.upload_pack(&options);
        let refspecs = options.operands.get(1..).unwrap_or_default();
        let forced = options.has(&["f", "force"]);
        let into = |spec: &Arg| -> Option<Arg> {
            let at = spec.text.find_byte(b':')?;
            let to = spec.from(at + 1);
            (!to.text.is_empty() && !to.text.starts_with(b"refs/remotes/")).then_some(to)
        };
        for spec in refspecs {
            let Some(to) = into(spec) else { continue };
            if forced || spec.text.starts_with(b"+") {
                self.note(Act::MoveRef {
                    name: to,
                    target: Some(Arg::unknown()),
                });
            }
        }
        if options.surely(&["p", "prune", "P", "prune-tags"]) {
            let tags = options
                .given
                .iter()
                .any(|given| given.name == "P" || given.name.starts_with("prune-"));
            if tags {
                self.does(
                    GitClass::History,
                    "local tags that the remote lacks are deleted",
                );
            } else {
                self.tells(
                    GitClass::Read,
                    "remote-tracking branches that are gone on the remote are deleted",
                );
            }
        }
        self.note(Act::Read);
    }

    pub(super) fn pull(&mut self, args: &[Arg]) {
        let options = fetch_options(args);
        if options.surely(&["dry-run"]) {
            self.note(Act::Read);
            return;
        }
        self.upload_pack(&options);
        if options.has(&["no-verify"]) {
            self.bypass("git pull skips its hooks");
        }
        if options.has(&["f", "force"]) {
            self.does(GitClass::History, "local refs are replaced by the remote's");
        }
        let rebases = options
            .given
            .iter()
            .any(|given| match (given.long, given.name.as_str()) {
                (false, "r") => true,
                (true, "rebase") => given
                    .value
                    .as_ref()
                    .is_none_or(|value| value.text != "false"),
                _ => false,
            });
        self.note(Act::Pull {
            from: options.operands.clone(),
        });
        if rebases {
            self.tells(
                GitClass::History,
                "local commits are rebased onto what is fetched",
            );
        } else {
            self.tells(GitClass::Commit, "what is fetched is merged");
        }
    }

    fn upload_pack(&mut self, options: &Options) {
        for command in options.values(&["upload-pack", "exec"]) {
            let text = command.text.clone();
            let _ = self
                .walk
                .run_child(text.as_bstr(), &crate::shell::walk::Stream::Unknown);
        }
    }

    pub(super) fn clone_repository(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "objcu",
                long: &[
                    "origin",
                    "branch",
                    "revision",
                    "upload-pack",
                    "reference",
                    "reference-if-able",
                    "separate-git-dir",
                    "depth",
                    "config",
                    "jobs",
                    "filter",
                    "template",
                    "shallow-since",
                    "shallow-exclude",
                    "server-option",
                    "bundle-uri",
                ],
                ..Spec::default()
            },
        );
        self.upload_pack(&options);
        let target = options.operands.get(1).cloned().or_else(|| {
            let source = options.operands.first()?;
            let text = source.text.trim_end_with(|c| c == '/');
            let name = text.rsplit_str("/").next()?;
            let name = name.rsplit_str(":").next()?;
            let name = name.strip_suffix(b".git").unwrap_or(name);
            Some(Arg {
                text: BString::from(name),
                ..source.clone()
            })
        });
        if let Some(target) = target {
            // git refuses a directory that holds anything.
            self.makes_repository(&target);
            self.file(PathOp::Touch, &target);
        }
    }

    pub(super) fn bundle(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        match options.operands.first().map(Arg::word) {
            Some("create") => {
                if let Some(path) = options.operands.get(1).cloned() {
                    self.file(PathOp::Replace, &path);
                }
            }
            _ => self.note(Act::Read),
        }
    }
}

fn fetch_options(args: &[Arg]) -> Options {
    Options::read(
        args,
        &Spec {
            short: "josX",
            long: &[
                "depth",
                "deepen",
                "shallow-since",
                "shallow-exclude",
                "jobs",
                "refmap",
                "server-option",
                "upload-pack",
                "negotiation-tip",
                "filter",
                "strategy",
                "strategy-option",
            ],
            ..Spec::default()
        },
    )
}
