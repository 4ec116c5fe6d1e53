//! What git does itself where a repository's own hook of a name is not there, or not executable.
//!
//! A machine-wide directory of hooks has to have a hook of every name, or a
//! repository's own would never run; where the repository has none, this takes
//! git's part.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Brings a pushed branch into its worktree as `receive.denyCurrentBranch=updateInstead` does.
///
/// The environment is the one that git gave the hook: `GIT_DIR` and `GIT_WORK_TREE`.
///
/// # Errors
/// With git's own words of why it is not done.
pub fn push_to_checkout(new: &OsStr) -> Result<(), &'static str> {
    let steps: [(&[&str], &str); 2] = [
        (
            &["update-index", "-q", "--ignore-submodules", "--refresh"],
            "Up-to-date check failed",
        ),
        (
            &["diff-files", "--quiet", "--ignore-submodules", "--"],
            "Working directory has unstaged changes",
        ),
    ];
    for (args, why) in steps {
        if !run(git().args(args)) {
            return Err(why);
        }
    }
    let base = if run(git().args(["rev-parse", "--quiet", "--verify", "HEAD"])) {
        "HEAD".to_owned()
    } else {
        empty_tree().ok_or("Up-to-date check failed")?
    };
    let staged = ["diff-index", "--quiet", "--cached", "--ignore-submodules"];
    if !run(git().args(staged).args([base.as_str(), "--"])) {
        return Err("Working directory has staged changes");
    }
    if !run(git().args(["read-tree", "-u", "-m"]).arg(new)) {
        return Err("Could not update working tree to new HEAD");
    }
    Ok(())
}

/// Declines every ref that was to go to `proc-receive`, in the words of a git that finds no such hook.
///
/// # Errors
/// As the pipes to git.
pub fn decline_proc_receive(git: &mut dyn Read, reply: &mut dyn Write) -> std::io::Result<()> {
    while packet(git)?.is_some() {}
    send(reply, b"version=1\n")?;
    reply.write_all(FLUSH)?;
    reply.flush()?;
    let mut declined = Vec::new();
    while let Some(line) = packet(git)? {
        // `OLD NEW REF`
        if let Some(name) = line.trim_ascii_end().splitn(3, |byte| *byte == b' ').nth(2) {
            declined.push(name.to_vec());
        }
    }
    for name in declined {
        send(
            reply,
            &[b"ng ", name.as_slice(), b" fail to run proc-receive hook\n"].concat(),
        )?;
    }
    reply.write_all(FLUSH)?;
    reply.flush()
}

/// The end of a list of packets.
const FLUSH: &[u8] = b"0000";

/// Reads one packet; `None` at the end of a list.
fn packet(from: &mut dyn Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = std::str::from_utf8(&length)
        .ok()
        .and_then(|digits| usize::from_str_radix(digits, 16).ok())
        .ok_or_else(|| std::io::Error::other("git sent no packet"))?;
    let Some(length) = length.checked_sub(4) else {
        return Ok(None);
    };
    let mut line = vec![0; length];
    from.read_exact(&mut line)?;
    Ok(Some(line))
}

fn send(to: &mut dyn Write, line: &[u8]) -> std::io::Result<()> {
    write!(to, "{:04x}", line.len() + 4)?;
    to.write_all(line)
}

/// The hint that git gives of a hook which it passes over; `None` where a person switched it off.
#[must_use]
pub fn hint_of_ignored(hook: &Path) -> Option<String> {
    let mut asked = Command::new("git");
    asked.args(["config", "--type=bool", "--get", "advice.ignoredHook"]);
    let answer = asked.stdin(Stdio::null()).output().ok()?;
    (answer.stdout.trim_ascii() != b"false").then(|| {
        format!(
            "hint: The '{}' hook was ignored because it's not set as executable.\n\
             hint: You can disable this warning with `git config set advice.ignoredHook false`.",
            hook.display()
        )
    })
}

fn empty_tree() -> Option<String> {
    let output = git()
        .args(["hash-object", "-t", "tree", "/dev/null"])
        .output()
        .ok()?;
    let id = String::from_utf8(output.stdout).ok()?;
    Some(id.trim().to_owned())
}

/// Git as the hook's environment has it, in the worktree.
fn git() -> Command {
    let mut git = Command::new("git");
    if let Some(root) = crate::sys::process::variable("GIT_WORK_TREE") {
        git.current_dir(root);
    }
    git.stdin(Stdio::null());
    git
}

/// Runs a step, whose output belongs on standard error, and returns whether it succeeded.
fn run(step: &mut Command) -> bool {
    step.stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::decline_proc_receive;

    #[test]
    fn every_ref_that_git_asks_for_is_declined() {
        let sent = b"001aversion=1\0push-options00000017old new refs/for/x\n00000000";
        let mut reply = Vec::new();
        decline_proc_receive(&mut &sent[..], &mut reply).expect("packets");
        let reply = String::from_utf8(reply).expect("text");
        assert!(reply.starts_with("000eversion=1\n0000"), "{reply}");
        assert!(
            reply.ends_with("ng refs/for/x fail to run proc-receive hook\n0000"),
            "{reply}"
        );
        assert!(decline_proc_receive(&mut &b""[..], &mut Vec::new()).is_err());
    }
}
