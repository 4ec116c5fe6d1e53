//! gc, prune, repack, maintenance, rerere.

use super::{Act, Git};
use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};

impl Git<'_, '_> {
    pub(super) fn maintain(&mut self, name: &str, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                long: &[
                    "expire",
                    "schedule",
                    "task",
                    "max-pack-size",
                    "window",
                    "depth",
                    "filter-to",
                ],
                ..Spec::default()
            },
        );
        let soon = |value: Option<&Arg>| {
            value.is_some_and(|value| {
                let text = value.text.as_slice();
                !matches!(text, b"never" | b"false" | b"2.weeks.ago" | b"2.weeks")
            })
        };
        match name {
            "gc" => {
                if soon(options.value(&["prune"])) {
                    self.does(
                        GitClass::History,
                        "objects that nothing reaches are deleted at once, dropped commits with them",
                    );
                } else {
                    self.tells(
                        GitClass::Read,
                        "objects are packed, old unreachable ones expire",
                    );
                }
            }
            "prune" => {
                if options.surely(&["n", "dry-run"]) {
                    self.note(Act::Read);
                } else {
                    self.does(
                        GitClass::History,
                        "objects that nothing reaches are deleted, dropped commits with them",
                    );
                }
            }
            "repack" => {
                if options.has(&["a"]) && options.has(&["d"]) && !options.has(&["k", "A"]) {
                    self.does(
                        GitClass::History,
                        "objects that nothing reaches are left out of the new pack",
                    );
                } else if options.surely(&["cruft-expiration", "filter"]) {
                    self.does(GitClass::History, "objects are left out of the new pack");
                } else {
                    self.note(Act::Read);
                }
            }
            "maintenance" => match args.first().map(Arg::word) {
                Some("start" | "stop" | "register" | "unregister") => self.walk.mark(
                    crate::judge::Level::Transparent,
                    "background maintenance is set up or stopped",
                ),
                _ => self.note(Act::Read),
            },
            _ => self.note(Act::Read),
        }
    }

    pub(super) fn rerere(&mut self, args: &[Arg]) {
        match args.first().map(Arg::word) {
            Some("clear" | "forget") => self.does(
                GitClass::Discard,
                "recorded conflict resolutions are dropped",
            ),
            _ => self.note(Act::Read),
        }
    }
}
