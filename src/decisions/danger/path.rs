//! Which paths are the system's or hold secrets.

use super::Danger;
use crate::decisions::json::quoted;
use crate::decisions::report::Code;

/// What touching a path would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarded {
    /// It holds secrets: reading it is as bad as writing it.
    Secret,
    /// It belongs to the system: it may be read.
    System,
}

/// Directories that belong to the system.
const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/boot",
    "/sys",
    "/proc",
    "/dev",
    "/root",
    "/var/lib",
    "/var/spool",
    "/var/run",
    "/run",
    "/System",
    "/Library",
    "/private/etc",
];

/// Parts of paths that hold secrets, wherever they lie.
const SECRET_PARTS: &[&str] = &[
    "/.ssh",
    "/.gnupg",
    "/.aws",
    "/.azure",
    "/.kube",
    "/.docker/config.json",
    "/.netrc",
    "/.git-credentials",
    "/.config/gcloud",
    "/.pgpass",
    "/.npmrc",
    "/.pypirc",
];

/// System files that hold secrets.
const SECRET_FILES: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/passwd",
    "/etc/sudoers",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/root",
    "/proc/kcore",
    "/dev/mem",
    "/dev/kmem",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/var/run/secrets",
    "/run/secrets",
];

/// Devices that anyone may write to.
const HARMLESS: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/urandom",
    "/dev/random",
    "/dev/shm",
    "/dev/fd",
    "/usr/local",
    "/var/run/user",
    "/run/user",
];

/// What a path is, where it is guarded at all.
pub(super) fn guarded(path: &str) -> Option<Guarded> {
    let path = normal(path.trim());
    if !path.starts_with('/') {
        return windows(&path);
    }
    let under = |dir: &str| {
        path.strip_prefix(dir)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if SECRET_FILES.iter().copied().any(under)
        || SECRET_PARTS.iter().any(|part| path.contains(part))
    {
        return Some(Guarded::Secret);
    }
    if path.starts_with("/proc/") && (path.ends_with("/environ") || path.ends_with("/mem")) {
        return Some(Guarded::Secret);
    }
    if HARMLESS.iter().copied().any(under) {
        return None;
    }
    (path == "/" || SYSTEM.iter().copied().any(under)).then_some(Guarded::System)
}

/// Returns the danger of a value that is, as a whole, a guarded path.
pub(super) fn whole(text: &str) -> Option<Danger> {
    let shown = text.trim();
    // A lone `/` is a separator or a route far more often than the root directory.
    if shown.len() < 2 || shown.len() > 4096 || shown.contains(['\n', ' ']) {
        return None;
    }
    guarded(shown).map(|_| {
        Danger::new(
            Code::DangerFile,
            format!(
                "{} is a system file or holds secrets; a node may not touch it",
                quoted(shown)
            ),
        )
    })
}

/// Expands what stands for the home directory, drops `.`, doubled slashes and `..`.
fn normal(path: &str) -> String {
    let path = path
        .strip_prefix("~/")
        .or_else(|| path.strip_prefix("$HOME/"))
        .or_else(|| path.strip_prefix("${HOME}/"))
        .map_or_else(|| path.to_owned(), |rest| format!("/home/user/{rest}"));
    if !path.starts_with('/') {
        // Climbing out of the working directory ends up at an absolute path.
        if let Some(at) = path.find("../") {
            let rest = path.get(at..).unwrap_or_default().trim_start_matches("../");
            if SYSTEM
                .iter()
                .any(|dir| rest.starts_with(dir.trim_start_matches('/')))
            {
                return normal(&format!("/{rest}"));
            }
        }
        return path;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn windows(path: &str) -> Option<Guarded> {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let rest = path.get(1..).filter(|rest| rest.starts_with(":/"))?;
    let rest = rest.get(1..)?;
    if rest.starts_with("/windows") || rest.starts_with("/program files") {
        return Some(Guarded::System);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_known_through_dots_and_homes() {
        for (path, expected) in [
            ("/etc/passwd", Some(Guarded::Secret)),
            ("/etc//./shadow", Some(Guarded::Secret)),
            ("/tmp/../etc/hosts", Some(Guarded::System)),
            ("../../../etc/hosts", Some(Guarded::System)),
            ("~/.ssh/id_ed25519", Some(Guarded::Secret)),
            ("$HOME/.aws/credentials", Some(Guarded::Secret)),
            ("/proc/self/environ", Some(Guarded::Secret)),
            ("/usr/bin/env", Some(Guarded::System)),
            (
                "C:\\Windows\\System32\\drivers\\etc\\hosts",
                Some(Guarded::System),
            ),
            ("/dev/null", None),
            ("/usr/local/share/x", None),
            ("/tmp/x", None),
            ("/home/ada/report.csv", None),
            ("trend.png", None),
            ("/v1/current", None),
            ("/etcetera", None),
        ] {
            assert_eq!(guarded(path), expected, "{path}");
        }
    }
}
