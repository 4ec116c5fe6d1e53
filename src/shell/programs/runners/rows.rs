//! Programs that run a command given to them, and how they are given it.

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On this machine, in this directory.
    Here,
    /// Somewhere that no safety point reaches.
    Elsewhere,
}

/// How a program is given a command.
pub(super) struct Runner {
    /// Names, parted by `|`.
    pub(super) names: &'static str,
    /// Words that come first, each with alternatives parted by `|`.
    pub(super) words: &'static str,
    /// Operands of its own before the command.
    pub(super) skip: usize,
    /// Options with a value that may come before the command.
    pub(super) values: &'static str,
    /// Options whose value is a command line.
    pub(super) texts: &'static str,
    /// Where it runs.
    pub(super) place: Place,
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

/// The runners.
pub(super) const RUNNERS: &[Runner] = &[
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
        "colima|minikube|orb",
        "ssh",
        0,
        "-p --profile -n --node",
        "",
    ),
    there("docker-machine", "ssh", 1, "", ""),
    there("podman", "machine ssh", 0, "", ""),
    here("launchctl", "submit", 9, "", ""),
    there("nomad", "alloc exec", 1, "-task -namespace", ""),
    there(
        "nomad",
        "exec|alloc",
        1,
        "-task -job-id -namespace -region",
        "",
    ),
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
        "eatmydata|systemd-cat|ssh-agent|dbus-launch|heaptrack|numactl|softlimit|chpst|daemonize|rlwrap|runcon|bwrap|cgexec|scl|primusrun|optirun|prime-run|gamemoderun|mangohud|torify|trickle|samply|flamegraph|uftrace|rr|mpirun|mpiexec|srun|orterun|torchrun|schedtool|ifne|pee|setlock|s6-setuidgid|s6-envdir|catatonit|run-one|nq|tsp|gdbserver|qemu-*|ld.so|ld-linux*|ld-musl*",
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
