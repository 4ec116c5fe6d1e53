//! git commands that live beside git: subtree, annex, and those of which only the name is known.

use super::Git;
use crate::judge::{GitClass, Level};
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream};

impl Git<'_, '_> {
    /// `git subtree`, whose `push` is a push and whose other verbs commit.
    pub(super) fn subtree(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "Pmb",
                long: &["prefix", "message", "branch", "annotate", "onto"],
                ..Spec::default()
            },
        );
        match options.operands.first().map(Arg::word) {
            Some("push") => self.does(
                GitClass::Push,
                "a directory's history is sent to another repository",
            ),
            Some("add" | "merge" | "pull") => {
                self.does(GitClass::Commit, "git subtree makes commits");
            }
            _ => self.note(super::Act::Read),
        }
    }

    /// `git annex`, which keeps the content of large files apart from git.
    pub(super) fn annex(&mut self, args: &[Arg]) {
        let options = Options::read(args, &Spec::default());
        let forced = options.has(&["force"]);
        match options.operands.first().map(Arg::word) {
            Some("drop" | "dropkey" | "dropunused" | "move" | "mirror") if forced => self.does(
                GitClass::Discard,
                "content is dropped though no other copy is known",
            ),
            Some("drop" | "dropunused" | "dropkey" | "move") => self.tells(
                GitClass::Discard,
                "content is dropped where another copy is known",
            ),
            Some("uninit" | "unannex" | "dead" | "forget" | "reinit") => self.does(
                GitClass::History,
                "git-annex forgets content or where it lies",
            ),
            Some("add" | "import" | "addurl") => {
                self.tells(GitClass::Stage, "files are added to the annex");
            }
            Some("sync" | "assist" | "push") => {
                self.does(GitClass::Push, "git annex pushes to every remote");
            }
            _ => self.note(super::Act::Read),
        }
    }

    /// A command that is not git's own: what its name and words say is believed.
    pub(super) fn foreign_command(&mut self, name: &str, args: &[Arg]) {
        const DROPS: &[&str] = &[
            "clear",
            "clear-soft",
            "discard",
            "kill",
            "nuke",
            "obliterate",
            "purge",
            "reset-file",
            "sweep",
            "trim",
            "undo",
            "unwip",
            "wipe",
        ];
        let asks_only = args
            .iter()
            .any(|arg| matches!(arg.word(), "-n" | "--dry-run"));
        if asks_only {
            self.note(super::Act::Read);
        } else if DROPS.contains(&name) || name.starts_with("delete-") {
            self.walk.mark(
                Level::Confirm,
                format!("git {name} is not git's own, and says that it drops something"),
            );
        } else {
            self.tells(GitClass::Stage, format!("git {name} is not known"));
            crate::shell::programs::tables::by_words(
                self.walk,
                &Call {
                    name,
                    args,
                    input: &Stream::Unknown,
                },
            );
        }
    }
}
