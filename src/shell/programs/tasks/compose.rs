//! docker compose: a service's command, run over the directories that it mounts.

use super::formats::{block, items, scalar};
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::programs::scripts::project_file;
use crate::shell::programs::tables::containers::composed;
use crate::shell::walk::{Call, Stream, Walk};

/// What the file says of one service.
struct Service {
    /// Directories of ours and named volumes, as `-v` has them.
    mounts: Vec<String>,
    command: Option<String>,
    dir: Option<String>,
}

/// Notes what services of a compose file do to what they mount.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    let args = match call.args.iter().position(|arg| arg.text == "compose") {
        Some(at) if call.name != "docker-compose" && call.name != "podman-compose" => {
            call.args.get(at + 1..).unwrap_or_default()
        }
        None if call.name.ends_with("-compose") => call.args,
        _ => return,
    };
    let options = composed(args);
    let Some((verb, rest)) = options.operands.split_first() else {
        return;
    };
    if !matches!(verb.word(), "run" | "exec" | "up") {
        return;
    }
    let text = match options.value(&["f", "file"]) {
        Some(path) => match walk.read_path(&path.clone()) {
            Stream::Text(text) => Some(text),
            _ => None,
        },
        None => project_file(
            walk,
            None,
            &[
                "compose.yaml",
                "compose.yml",
                "docker-compose.yml",
                "docker-compose.yaml",
            ],
        ),
    };
    let Some(text) = text else { return };
    let text = text.to_string();
    let inner = Options::read(
        rest,
        &Spec {
            short: "euvwlpT",
            long: &[
                "env",
                "user",
                "volume",
                "workdir",
                "name",
                "publish",
                "entrypoint",
                "index",
                "scale",
                "timeout",
                "pull",
            ],
            stops: verb.text != "up",
            ..Spec::default()
        },
    );
    if verb.text == "up" {
        let named: Vec<&str> = inner.operands.iter().map(Arg::word).collect();
        for name in names(&text) {
            if named.is_empty() || named.contains(&name.as_str()) {
                contained(walk, &text, &name, &[]);
            }
        }
    } else if let Some((name, command)) = inner.operands.split_first() {
        contained(walk, &text, name.word(), command);
    }
}

/// Runs a service's command, or the one given, as docker would with its mounts.
fn contained(walk: &mut Walk<'_>, text: &str, name: &str, command: &[Arg]) {
    let Some(service) = service(text, name).filter(|service| !service.mounts.is_empty()) else {
        return;
    };
    let mut words = vec![Arg::known("docker"), Arg::known("run")];
    for mount in &service.mounts {
        words.extend([Arg::known("-v"), Arg::known(mount.as_str())]);
    }
    if let Some(dir) = &service.dir {
        words.extend([Arg::known("-w"), Arg::known(dir.as_str())]);
    }
    words.push(Arg::known("image"));
    match (command, service.command) {
        ([], Some(command)) => {
            words.extend(["sh", "-c"].map(Arg::known));
            words.push(Arg::known(command));
        }
        ([], None) => return,
        (command, _) => words.extend_from_slice(command),
    }
    let _ = walk.run_args(&words, &Stream::Unknown);
}

fn service(text: &str, name: &str) -> Option<Service> {
    let lines: Vec<&str> = text.lines().collect();
    let (_, services) = block(&lines, "services")?;
    let (_, inside) = block(&services, name)?;
    let mounts = block(&inside, "volumes").map_or_else(Vec::new, |(own, lines)| {
        super::formats::literals(&own)
            .into_iter()
            .chain(items(&lines).into_iter().filter_map(|item| scalar(&item)))
            // `type: bind` and the like are the lines of a mount that is spelled out.
            .filter(|mount| mount.contains(':') && !mount.contains(": "))
            .collect()
    });
    let command = block(&inside, "command").and_then(|(own, lines)| {
        if own.starts_with('[') {
            Some(super::formats::literals(&own).join(" "))
        } else if own.starts_with(['|', '>']) {
            Some(lines.join("\n"))
        } else if own.is_empty() {
            let words = items(&lines);
            (!words.is_empty()).then(|| words.join(" "))
        } else {
            scalar(&own)
        }
    });
    let dir = block(&inside, "working_dir").and_then(|(own, _)| scalar(&own));
    Some(Service {
        mounts,
        command,
        dir,
    })
}

/// The services of a file.
fn names(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let Some((_, services)) = block(&lines, "services") else {
        return Vec::new();
    };
    let depth = |line: &str| line.len() - line.trim_start().len();
    let plain = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let outer = services.iter().find(plain).map_or(0, |line| depth(line));
    services
        .iter()
        .filter(plain)
        .filter(|line| depth(line) == outer)
        .filter_map(|line| line.trim().strip_suffix(':'))
        .map(|name| name.trim_matches(['"', '\'']).to_owned())
        .take(32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{names, service};

    #[test]
    fn a_service_has_its_mounts_and_its_command() {
        let text = "services:\n  web:\n    image: x\n    volumes:\n      - .:/app\n      - data:/var\n    command: rm -rf /app/src\n    working_dir: /app\n  db:\n    image: y\n    command: [\"rm\", \"x\"]\nvolumes:\n  data:\n";
        assert_eq!(names(text), ["web", "db"]);
        let web = service(text, "web").expect("a service");
        assert_eq!(web.mounts, [".:/app", "data:/var"]);
        assert_eq!(web.command.as_deref(), Some("rm -rf /app/src"));
        assert_eq!(web.dir.as_deref(), Some("/app"));
        let db = service(text, "db").expect("a service");
        assert!(db.mounts.is_empty());
        assert_eq!(db.command.as_deref(), Some("rm x"));
        assert!(service(text, "none").is_none());
    }
}
