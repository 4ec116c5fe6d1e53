//! Programs that run a command given to them: on another machine, in another environment, again and again.
//!
//! A row says which words come before the command and how it is given. What
//! runs elsewhere cannot be had back from here; what runs here is judged as if
//! it stood alone. A program that no row names is still believed to run what
//! plainly is a command among its arguments.

use super::elsewhere::elsewhere;
use crate::shell::arg::Arg;
use crate::shell::walk::{Call, Stream, Walk, quote};
use bstr::{BString, ByteSlice as _};

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On this machine, in this directory.
    Here,
    /// Somewhere that no safety point reaches.
    Elsewhere,
}

/// How a program is given a command.
struct Runner {
    /// Names, parted by `|`.
    names: &'static str,
    /// Words that come first, each with alternatives parted by `|`.
    words: &'static str,
    /// Operands of its own before the command.
    skip: usize,
    /// Options with a value that may come before the command.
    values: &'static str,
    /// Options whose value is a command line.
    texts: &'static str,
    /// Where it runs.
    place: Place,
}

const fn there(
    names: &'static str,
    words: &'static str,
    skip: usize,
    values: &'static str,
    texts: &'static str,
) -> Runner {
    Runner {
        names,
        words,
        skip,
        values,
        texts,
        place: Place::Elsewhere,
    }
}

const fn here(
    names: &'static str,
    words: &'static str,
    skip: usize,
    values: &'static str,
    texts: &'static str,
) -> Runner {
    Runner {
        names,
        words,
        skip,
        values,
        texts,
        place: Place::Here,
    }
}

const RUNNERS: &[Runner] = &[
    there(
        "heroku",
        "run|run:detached",
        0,
        "-a --app -r --remote -s --size -e --env --type",
        "",
    ),
    there("fly|flyctl", "ssh console", 9, "", "-C --command"),
    there(
        "fly|flyctl",
        "machine|machines|m exec|run",
        1,
        "-a --app",
        "",
    ),
    there("gcloud", "** ssh", 9, "", "--command"),
    there(
        "az",
        "** invoke|ssh|exec|vm|run-command|create|execute",
        9,
        "",
        "--scripts --command --exec-command",
    ),
    there("doctl", "compute ssh", 9, "", "--ssh-command"),
    there("vagrant", "ssh|winrm|powershell", 9, "", "-c --command"),
    there("multipass", "exec", 1, "-d --working-directory", ""),
    there(
        "lxc|incus",
        "exec",
        1,
        "--cwd --env --user --group --mode",
        "",
    ),
    there("lxc-attach", "", 9, "", ""),
    there("limactl", "shell", 1, "--workdir --shell", ""),
    there("lima|nerdctl.lima", "", 0, "", ""),
    there(
        "colima|minikube|docker-machine|orb",
        "ssh",
        0,
        "-p --profile -n --node",
        "",
    ),
    there("docker-machine", "ssh", 1, "", ""),
    there("podman", "machine ssh", 0, "", ""),
    there(
        "nomad",
        "exec|alloc",
        1,
        "-task -job-id -namespace -region",
        "",
    ),
    there("nomad", "alloc exec", 1, "-task -namespace", ""),
    there("adb", "shell|exec-out", 0, "-s -t", ""),
    there(
        "systemd-nspawn",
        "",
        0,
        "-D --directory -M --machine -u --user -i --image --bind --setenv -E",
        "",
    ),
    there("machinectl", "shell", 1, "--uid --setenv -E", ""),
    there("pct", "exec", 1, "", ""),
    there("qm", "guest exec", 1, "--timeout", ""),
    there(
        "pdsh|clush|pssh|parallel-ssh|dsh",
        "",
        0,
        "-w -x -l -h -H -g -p -t -o -e -u -m -f -R -O",
        "",
    ),
    there("eb", "ssh", 9, "", "-c --command"),
    there("cf", "ssh", 9, "", "-c --command"),
    there("dokku", "run|run:detached|enter", 1, "", ""),
    there(
        "kamal",
        "app|server|accessory exec",
        0,
        "-h --hosts -r --roles -d -v --version",
        "",
    ),
    there("oc|kubectl", "rsh", 1, "-c --container -n --namespace", ""),
    there(
        "ctr",
        "tasks|task|t exec",
        1,
        "--exec-id --user --cwd -n --namespace",
        "",
    ),
    there("aws", "ecs execute-command", 9, "", "--command"),
    there("aws", "ssm", 9, "", "--parameters"),
    there("tsh|tailscale", "ssh", 1, "-l --login -p --port", ""),
    there("mssh|rsh|rlogin", "", 1, "-l -p -i", ""),
    there(
        "jexec|bastille|iocage|ezjail-admin",
        "cmd|exec|console",
        1,
        "",
        "",
    ),
    there("jexec", "", 1, "-u -U", ""),
    there(
        "railway|koyeb",
        "ssh|exec",
        0,
        "-s --service -e --environment -p --project",
        "",
    ),
    there("fab|fabric", "", 9, "", ""),
    here(
        "railway|chamber|envconsul|teller|vals|summon|sops",
        "run|exec|exec-env",
        0,
        "-s --service -e --environment -p --project -c --config",
        "",
    ),
    here(
        "nix-shell",
        "",
        9,
        "-p -I --arg --argstr -A",
        "--run --command",
    ),
    here("nix", "develop|shell|run|dev-shell", 9, "", ""),
    here("guix", "shell|environment|time-machine", 9, "", ""),
    here(
        "devbox|pixi|hatch|tox|nox|rye|pdm|flox|devenv|rtx",
        "run|exec|e|shell",
        0,
        "-e --environment -c --config --env",
        "",
    ),
    here(
        "rbenv|pyenv|asdf|nodenv|goenv|jenv|plenv|nvm|fnm|volta|rvm",
        "exec|run|do",
        0,
        "--using",
        "",
    ),
    here("fnm|nvm|rvm", "exec|do", 1, "--using", ""),
    here("cargo", "watch", 9, "-w -i -d", "-s --shell"),
    here(
        "watchexec|watchman-make|wgo|gow|reflex|modd|air|onchange|when-changed",
        "",
        0,
        "-e -w -i -f -o -p -d --exts --watch --ignore -r -s -g -R -G -t",
        "-c --cmd --command -build.cmd --build.cmd --exec -x --shell-command",
    ),
    here(
        "nodemon|chokidar|supervisor|tsc-watch",
        "",
        9,
        "-w -e -i --ext --watch",
        "-c --command --exec -x --onSuccess",
    ),
    here(
        "lerna|nx|turbo|rush|moon",
        "exec|run|run-commands",
        0,
        "--scope --ignore --filter -c",
        "--command",
    ),
    here(
        "cross-env|cross-env-shell|env-cmd|envdir|with-env|godotenv|shdotenv",
        "",
        0,
        "-f -e -r",
        "",
    ),
    here("envdir|faketime|setuidgid|runuid", "", 1, "", ""),
    here(
        "eatmydata|systemd-cat|ssh-agent|dbus-launch|heaptrack|numactl|softlimit|chpst|daemonize|rlwrap|runcon|bwrap|start-stop-daemon|cgexec|scl|primusrun|optirun|prime-run|gamemoderun|mangohud|torify|trickle|samply|flamegraph|uftrace|rr|mpirun|mpiexec|srun|orterun|torchrun|schedtool|ifne|pee|setlock|s6-setuidgid|s6-envdir|catatonit|run-one|nq|tsp|gdbserver|qemu-*|ld.so|ld-linux*|ld-musl*",
        "",
        0,
        "-t -p -N -m -C -i -c -g -u -U -b -e -n -w -s -o -l -r -a",
        "",
    ),
    here(
        "distrobox|toolbox|devcontainer|apptainer|singularity",
        "enter|ephemeral|run|exec|--host",
        0,
        "-n --name -c --container --workspace-folder --root -r --additional-flags",
        "",
    ),
    here("flatpak-spawn", "", 0, "", ""),
    here("sg|newgrp", "", 9, "", "-c"),
    here("just", "", 9, "", ""),
    here("tox|nox|invoke|task|mask", "exec", 0, "-e", ""),
];

/// Notes what a command that another program is given would do.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    if matches!(call.name, "concurrently" | "conc") {
        for arg in call.args.iter().filter(|arg| !arg.is_option()) {
            let line = arg.text.clone();
            let _ = walk.run_child(line.as_bstr(), &Stream::Unknown);
        }
        return;
    }
    for runner in RUNNERS {
        let named = runner.names.split('|').any(|name| {
            name == call.name
                || name.contains('*')
                    && crate::shell::matches(name.as_bytes(), call.name.as_bytes())
        });
        if named && super::tables::stand(runner.words, call.args) {
            given(walk, runner, call);
            return;
        }
    }
}

/// Runs the command that a runner is given, if any.
fn given(walk: &mut Walk<'_>, runner: &Runner, call: &Call<'_>) {
    let mut told = false;
    let mut rest = call.args.iter();
    while let Some(arg) = rest.next() {
        if arg.text == "--" {
            break;
        }
        let stem = arg.text.split_str("=").next().unwrap_or_default();
        if runner
            .texts
            .split(' ')
            .any(|one| !one.is_empty() && stem == one.as_bytes())
        {
            let value = arg.after_equals().or_else(|| rest.next().cloned());
            if let Some(value) = value {
                told = true;
                text(walk, runner, &value);
            }
        }
    }
    if told {
        return;
    }
    let dashes = call.args.iter().position(|arg| arg.text == "--");
    let words = match dashes {
        Some(at) => call.args.get(at + 1..).unwrap_or_default(),
        None => after_operands(runner, call.args),
    };
    match words {
        [] => {}
        [only] if only.text.contains(&b' ') => text(walk, runner, only),
        words => {
            let mut line = BString::default();
            for word in words {
                line.extend_from_slice(&quote(&word.text, word.glob));
                line.push(b' ');
            }
            match runner.place {
                Place::Here => {
                    let _ = walk.run_args(words, call.input);
                }
                Place::Elsewhere => {
                    let _ = elsewhere(walk, line.as_bstr(), &Stream::Unknown, "on another machine");
                }
            }
        }
    }
}

/// A command line given as one word; `commands='rm -rf x'` among parameters too.
fn text(walk: &mut Walk<'_>, runner: &Runner, value: &Arg) {
    let text = match value.text.split_once_str("=") {
        Some((b"command" | b"commands", rest)) => {
            BString::from(rest.trim_with(|c| matches!(c, '[' | ']' | '"')))
        }
        _ => value.text.clone(),
    };
    let _ = match runner.place {
        Place::Here => walk.run_child(text.as_bstr(), &Stream::Unknown),
        Place::Elsewhere => elsewhere(walk, text.as_bstr(), &Stream::Unknown, "on another machine"),
    };
}

/// The words after a runner's own words, options and operands.
fn after_operands<'a>(runner: &Runner, args: &'a [Arg]) -> &'a [Arg] {
    let own = runner
        .words
        .split(' ')
        .filter(|word| !word.is_empty())
        .count();
    let mut left = own + runner.skip;
    // Without `--`, only a known number of words comes first.
    if runner.skip >= 9 {
        let at = args
            .iter()
            .position(|arg| matches!(arg.word(), "-c" | "--command" | "-x"));
        let rest = at.and_then(|at| args.get(at + 1..)).unwrap_or_default();
        return rest;
    }
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if arg.is_option() {
            let takes = runner
                .values
                .split(' ')
                .any(|one| arg.text == one.as_bytes());
            at += 1 + usize::from(takes);
        } else if arg.text.contains(&b'=') && !arg.text.contains(&b' ') {
            at += 1;
        } else if left == 0 {
            break;
        } else {
            left -= 1;
            at += 1;
        }
    }
    args.get(at..).unwrap_or_default()
}

/// Programs whose name among the arguments of an unknown program, with options after it, is a command.
const COMMANDS: &[&str] = &[
    "rm", "shred", "dd", "truncate", "unlink", "find", "xargs", "bash", "sh", "zsh", "dash",
    "sudo", "git", "mkfs", "wipefs", "chmod", "chown", "mv", "rsync", "env", "psql", "mysql",
];

/// Notes what an unknown program would run, where a command plainly stands among its arguments.
pub(super) fn embedded(walk: &mut Walk<'_>, call: &Call<'_>) {
    if RUNNERS
        .iter()
        .any(|runner| runner.names.split('|').any(|name| name == call.name))
    {
        return;
    }
    for (at, arg) in call.args.iter().enumerate() {
        let base = arg.text.rsplit_str("/").next().unwrap_or_default();
        let rest = call.args.get(at + 1..).unwrap_or_default();
        let command = base.to_str().is_ok_and(|base| COMMANDS.contains(&base));
        // A word with options of its own, or one after `--`.
        let dashed = at > 0
            && call
                .args
                .get(at - 1)
                .is_some_and(|before| before.text == "--");
        if command && (dashed && !rest.is_empty() || rest.first().is_some_and(Arg::is_option)) {
            let words = call.args.get(at..).unwrap_or_default().to_vec();
            let _ = walk.run_args(&words, call.input);
            return;
        }
        let told = matches!(
            arg.word(),
            "-c" | "--command" | "--cmd" | "--exec" | "--shell-command" | "--run"
        );
        if told
            && let [text, ..] = rest
            && text.text.contains(&b' ')
            && let Some(first) = text.text.fields().next()
            && first.to_str().is_ok_and(|first| COMMANDS.contains(&first))
        {
            let text = text.text.clone();
            let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            return;
        }
    }
}
