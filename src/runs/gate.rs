//! The start gate: what must hold before anything is started (E001 to E003).
//!
//! Source: the state machine's "start gate" and error codes.

use super::policy::template::{self, Values};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::env::Env;
use bstr::{BStr, BString};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A command that may be started.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its words, rendered.
    pub argv: Vec<BString>,
    /// Its program, found.
    pub program: PathBuf,
}

/// Checks a command and its directory.
///
/// # Errors
/// `E001` when the program is missing or not executable, `E002` when a
/// placeholder has no value, `E003` when the directory is not accessible.
pub fn check(env: &Env, words: &[BString], values: &Values<'_>, cwd: &Path) -> Result<Ready> {
    let argv = template::render(words, values).doing(ErrorKind::Usage, || {
        "E002: cannot render the command".to_owned()
    })?;
    // Entering is what counts; reading is not needed.
    rustix::fs::access(cwd, rustix::fs::Access::EXEC_OK)
        .map_err(std::io::Error::from)
        .doing(ErrorKind::Guarded, || {
            format!("E003: cannot enter {}", cwd.display())
        })?;
    if !cwd.is_dir() {
        return Err(Error::new(
            ErrorKind::Guarded,
            format!("E003: {} is not a directory", cwd.display()),
        ));
    }
    let name = argv
        .first()
        .map(|word| BStr::new(word.as_slice()))
        .unwrap_or_default();
    let program = find(env, name, cwd)?;
    Ok(Ready { argv, program })
}

/// Finds a program as a shell would.
///
/// # Errors
/// `E001` when there is none, or it cannot be run.
pub fn find(env: &Env, name: &BStr, cwd: &Path) -> Result<PathBuf> {
    let os = OsStr::from_bytes(name);
    let mut there = None;
    let candidates: Vec<PathBuf> = if name.contains(&b'/') {
        vec![cwd.join(os)]
    } else {
        std::env::split_paths(env.var("PATH").unwrap_or_default())
            .map(|dir| cwd.join(dir).join(os))
            .collect()
    };
    for path in candidates {
        if !path.is_file() {
            continue;
        }
        if rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok() {
            return Ok(path);
        }
        there.get_or_insert(path);
    }
    Err(match there {
        Some(path) => Error::new(
            ErrorKind::Guarded,
            format!("E001: {} is not executable", path.display()),
        )
        .hint(format!("chmod +x {}", path.display())),
        None => Error::new(
            ErrorKind::Guarded,
            format!("E001: there is no program {name}"),
        )
        .hint("check where it is installed, and PATH"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_in(words: &[&str], cwd: &Path) -> Result<Ready> {
        let env = Env::from_parts(
            [("PATH".into(), "/nowhere:/usr/bin:/bin".into())],
            cwd.to_path_buf(),
        );
        let words: Vec<BString> = words.iter().map(|word| BString::from(*word)).collect();
        check(
            &env,
            &words,
            &Values {
                session: None,
                task: None,
                attempt: 1,
            },
            cwd,
        )
    }

    #[test]
    fn the_gate_names_what_is_missing() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("plain"), "x").expect("a file");
        for (words, cwd, code) in [
            (
                &["no-such-program"][..],
                dir.path(),
                "E001: there is no program no-such-program",
            ),
            (&["./plain"][..], dir.path(), "is not executable"),
            (&["./none"][..], dir.path(), "E001"),
            (&["sh", "{task}"][..], dir.path(), "E002"),
            (&["sh"][..], Path::new("/no/such/dir"), "E003"),
        ] {
            let error = check_in(words, cwd).expect_err("the gate is shut");
            assert!(error.to_string().contains(code), "{error}");
        }
        let ready = check_in(&["sh", "-c", "true"], dir.path()).expect("sh is there");
        assert!(ready.program.ends_with("sh"));
    }
}
