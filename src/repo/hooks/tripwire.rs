//! Where the tripwire can be set: nowhere that another file-system monitor is in use.

use crate::error::{Error, ErrorKind, Result};
use crate::repo::{Git, Workspace};

/// The value of `core.fsmonitor` that counts, and its scope; `None` when it is not set.
///
/// # Errors
/// When git does not answer.
pub fn present(workspace: &Workspace) -> Result<Option<(String, String)>> {
    let answer = Git::at(workspace)
        .args([
            "config",
            "--show-scope",
            "--null",
            "--get-all",
            "core.fsmonitor",
        ])
        .output()?;
    let mut words = answer.stdout.split(|byte| *byte == 0);
    let mut last = None;
    while let (Some(scope), Some(value)) = (words.next(), words.next()) {
        // Our own call switches it off, listed with scope `command`.
        if scope != b"command" {
            last = Some((
                String::from_utf8_lossy(scope).into_owned(),
                String::from_utf8_lossy(value).into_owned(),
            ));
        }
    }
    Ok(last)
}

/// Fails where git already has another monitor.
///
/// # Errors
/// [`ErrorKind::Refused`], naming it.
pub fn may_set(workspace: &Workspace) -> Result<()> {
    match present(workspace)? {
        None => Ok(()),
        Some((_, value)) if value.ends_with(super::config::TRIPWIRE) => Ok(()),
        Some((scope, value)) if matches!(value.as_str(), "false" | "no" | "off" | "0" | "") => {
            Err(Error::new(
                ErrorKind::Refused,
                format!("core.fsmonitor is switched off here ({scope}); the tripwire would never be called"),
            )
            .hint(format!("git config --{scope} --unset core.fsmonitor, then: holdpoint init --tripwire")))
        }
        Some((scope, value)) => {
            let whose = if matches!(value.as_str(), "true" | "yes" | "on" | "1") {
                "git's own file-system monitor is".to_owned()
            } else {
                format!("{value} is")
            };
            Err(Error::new(
                ErrorKind::Refused,
                format!("{whose} in use here (core.fsmonitor, {scope}); git can call only one, so the tripwire is not set"),
            )
            .hint(format!("to take the tripwire instead: git config --{scope} --unset core.fsmonitor, then: holdpoint init --tripwire")))
        }
    }
}
