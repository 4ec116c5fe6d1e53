//! The git command that calls a hook, read from its own command line.
//!
//! Hooks get no command line, and the same event means different things under
//! different commands: a moved branch under `reset --hard` comes after the files
//! are gone, under `branch -f` before anything is.

use crate::sys::process;
use bstr::{BString, ByteSlice as _};

/// A git command as it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The process.
    pub pid: u32,
    /// The subcommand (`commit`, `reset`, …); empty where there is none.
    pub subcommand: String,
    /// What follows the subcommand.
    pub args: Vec<String>,
    /// The whole command, quoted for a shell.
    pub text: BString,
}

/// The program behind `git submodule`.
const SUBMODULE: &str = "submodule--helper";

/// Global options of git that take the next word.
const WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

impl Caller {
    /// Reads the parent of this process; `None` where it cannot be read or is no git.
    #[must_use]
    pub fn of_hook() -> Option<Self> {
        Self::of(process::parent_pid()?)
    }

    /// Reads a process; `None` where it cannot be read or is no git.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let mut caller = Self::read(&process::argv(pid)?)?;
        caller.pid = pid;
        Some(caller)
    }

    /// Understands an argument list.
    #[must_use]
    pub fn read(argv: &[BString]) -> Option<Self> {
        let (program, rest) = argv.split_first()?;
        let name = program.rsplit_str("/").next()?;
        let mut words = rest
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .peekable();
        let subcommand = if let Some(dashed) = name.strip_prefix(b"git-") {
            String::from_utf8_lossy(dashed).into_owned()
        } else if name == b"git" {
            loop {
                let Some(word) = words.next() else {
                    break String::new();
                };
                if WITH_VALUE.contains(&word.as_str()) {
                    words.next();
                } else if !word.starts_with('-') {
                    break word;
                }
            }
        } else {
            return None;
        };
        // `git submodule` is a script that has its work done by this.
        let helps = subcommand == SUBMODULE;
        let mut text = vec![b"git".to_vec()];
        text.extend(rest.iter().map(|word| match word.as_slice() {
            word if helps && word == SUBMODULE.as_bytes() => b"submodule".to_vec(),
            word => quoted(word),
        }));
        if name != b"git" {
            text.insert(1, subcommand.clone().into_bytes());
        }
        Some(Self {
            pid: 0,
            subcommand: if helps {
                "submodule".to_owned()
            } else {
                subcommand
            },
            args: words.collect(),
            text: bstr::join(" ", text).into(),
        })
    }

    /// Returns true when the subcommand is one of these.
    #[must_use]
    pub fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.subcommand.as_str())
    }

    /// Returns true when an option is given, abbreviated or in a cluster too.
    ///
    /// `short` is one letter; `long` its long form without dashes. Words after `--` do not count.
    #[must_use]
    pub fn has(&self, short: Option<char>, long: &str) -> bool {
        self.args
            .iter()
            .take_while(|word| *word != "--")
            .any(|word| match word.strip_prefix("--") {
                Some(name) => {
                    let name = name.split('=').next().unwrap_or_default();
                    // Git takes a long option by any unambiguous beginning; three letters tell ours.
                    name == long || (name.len() >= 3 && long.starts_with(name))
                }
                None => short.is_some_and(|letter| {
                    word.strip_prefix('-')
                        .is_some_and(|cluster| cluster.contains(letter))
                }),
            })
    }

    /// Returns true where git has already overwritten or removed files when it comes to the refs.
    #[must_use]
    pub fn loss_has_happened(&self) -> bool {
        let aborts = self.has(None, "abort") || self.has(None, "quit") || self.has(None, "skip");
        match self.subcommand.as_str() {
            "reset" => self.has(None, "hard") || self.has(None, "merge") || self.has(None, "keep"),
            "checkout" => self.has(Some('f'), "force"),
            "switch" => self.has(Some('f'), "force") || self.has(None, "discard-changes"),
            "merge" | "rebase" | "cherry-pick" | "revert" | "am" => aborts,
            _ => false,
        }
    }
}

fn quoted(word: &[u8]) -> Vec<u8> {
    let plain = !word.is_empty()
        && word
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./:=@%+,~^".contains(byte));
    if plain {
        word.to_vec()
    } else {
        super::shell_quoted(word)
    }
}

#[cfg(test)]
mod tests {
    use super::Caller;
    use bstr::BString;

    fn caller(command: &str) -> Caller {
        let argv: Vec<BString> = command.split(' ').map(BString::from).collect();
        Caller::read(&argv).expect("a git command")
    }

    #[test]
    fn the_subcommand_is_found_behind_global_options() {
        for (command, subcommand) in [
            ("git commit -m x", "commit"),
            ("git -C dir -c a.b=c --no-pager branch -D x", "branch"),
            ("/usr/lib/git-core/git-receive-pack .", "receive-pack"),
            ("/usr/bin/git --git-dir .git update-ref -d x", "update-ref"),
            ("git --version", ""),
        ] {
            assert_eq!(caller(command).subcommand, subcommand, "{command}");
        }
        assert_eq!(Caller::read(&[BString::from("bash")]), None);
    }

    #[test]
    fn the_helper_behind_git_submodule_is_git_submodule() {
        let caller = caller("git -C x submodule--helper deinit --force -- sub");
        assert_eq!(caller.subcommand, "submodule");
        assert_eq!(caller.text, "git -C x submodule deinit --force -- sub");
    }

    #[test]
    fn options_are_found_in_clusters_and_abbreviated_but_not_behind_two_dashes() {
        assert!(caller("git commit --amend").has(None, "amend"));
        assert!(caller("git commit --ame").has(None, "amend"));
        assert!(caller("git checkout -qf x").has(Some('f'), "force"));
        assert!(!caller("git checkout -- --force").has(Some('f'), "force"));
        assert!(caller("git reset --hard").loss_has_happened());
        assert!(!caller("git reset --soft HEAD~1").loss_has_happened());
        assert!(caller("git merge --abort").loss_has_happened());
        assert!(!caller("git branch -f x y").loss_has_happened());
    }

    #[test]
    fn the_text_is_quoted_for_a_shell() {
        let argv = ["git", "commit", "-m", "a 'b'"].map(BString::from);
        let text = Caller::read(&argv).expect("a git command").text;
        assert_eq!(text, "git commit -m 'a '\\''b'\\'''");
    }
}
