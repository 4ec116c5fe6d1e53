//! `git stash`.

use super::{Act, Bring, Git};
use crate::judge::GitClass;
use crate::shell::arg::Arg;

impl Git<'_, '_> {
    pub(super) fn stash(&mut self, args: &[Arg]) {
        let rest = args.get(1..).unwrap_or_default();
        let which = rest.iter().find(|arg| !arg.is_option()).cloned();
        match args.first().map(Arg::word) {
            Some("drop") => self.note(Act::DropStash { which }),
            Some("clear") => self.note(Act::ClearStash),
            // The entry goes only if it applied, and its content is then in the worktree.
            Some("pop" | "apply") => self.note(Act::Bring {
                how: Bring::Stash,
                commits: vec![which.unwrap_or_else(|| Arg::known("stash@{0}"))],
            }),
            Some("list" | "show" | "create" | "export") => self.note(Act::Read),
            Some("store" | "import") => self.tells(GitClass::Read, "a stash entry is written"),
            Some("branch") => {
                let entry = rest.iter().filter(|arg| !arg.is_option()).nth(1).cloned();
                self.note(Act::Bring {
                    how: Bring::Stash,
                    commits: vec![entry.unwrap_or_else(|| Arg::known("stash@{0}"))],
                });
            }
            _ => self.tells(
                GitClass::Read,
                "local changes are put on the stash, from which they can be had back",
            ),
        }
    }
}
