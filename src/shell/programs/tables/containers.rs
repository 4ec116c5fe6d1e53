//! Containers and clusters: docker, podman, compose, kubectl, helm.

use super::{Row, asks, kills, sets, tells};
use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::DeedKind;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

const D: &str = "docker|podman|nerdctl|finch";

/// The rows.
pub(super) const ROWS: &[Row] = &[
    kills(
        D,
        "system prune",
        "unused containers, networks, images and maybe volumes are deleted",
    ),
    kills(
        D,
        "volume prune",
        "volumes that no container uses are deleted with their data",
    ),
    kills(D, "volume rm|remove", "volumes are deleted with their data"),
    kills(
        D,
        "image|images|builder|buildx prune",
        "images or build caches are deleted",
    ),
    kills(
        D,
        "container prune",
        "stopped containers are deleted with what is written in them",
    ),
    kills(D, "network prune", "networks are deleted"),
    tells(D, "push", "an image is published to a registry"),
    kills(
        D,
        "rm",
        "containers are deleted with what is written in them",
    )
    .with("-f --force -v --volumes"),
    kills(
        D,
        "container rm|remove",
        "containers are deleted with what is written in them",
    )
    .with("-f --force -v --volumes"),
    kills(
        D,
        "pod|machine|secret|swarm|stack|service|node|context|config rm|remove|leave",
        "a part of the installation is deleted",
    ),
    kills(
        D,
        "compose down",
        "volumes or images are deleted with the services",
    )
    .with("-v --volumes --rmi"),
    kills(D, "compose rm", "containers are deleted with their volumes").with("-v -f --force"),
    kills(D, "rmi", "images are deleted by force").with("-f --force"),
    kills(D, "image rm|remove", "images are deleted by force").with("-f --force"),
    kills(D, "machine|system reset", "everything is reset"),
    tells(D, "rm", "stopped containers are deleted"),
    tells(D, "container rm|remove", "stopped containers are deleted"),
    tells(
        D,
        "rmi",
        "images are deleted; they can be pulled or built again",
    ),
    tells(
        D,
        "image rm|remove",
        "images are deleted; they can be pulled or built again",
    ),
    asks(D, "network rm|remove", "networks are deleted"),
    tells(D, "kill|stop|restart|pause", "containers are stopped"),
    tells(
        D,
        "compose kill|stop|restart|pause|down",
        "containers are stopped",
    ),
    asks(
        D,
        "service scale|rollback",
        "a service is stopped or rolled back",
    )
    .with("*=0 rollback"),
    asks(
        D,
        "stack deploy",
        "services that the file does not name are removed",
    )
    .with("--prune"),
    asks(D, "service update", "a service is stopped").with("0 --replicas=0"),
    asks(D, "node update", "a node is emptied or loses its rank")
        .with("drain pause --availability=drain --availability=pause worker --role=worker"),
    asks(D, "swarm init", "a cluster is made anew").with("--force-new-cluster"),
    kills(D, "trust revoke", "signatures of an image are deleted"),
    asks(
        D,
        "kube|play down",
        "pods are taken down with what is written in them",
    ),
    asks("crictl", "stop|stopp", "containers or pods are stopped"),
    kills(
        "docker-compose|podman-compose",
        "down",
        "volumes or images are deleted with the services",
    )
    .with("-v --volumes --rmi"),
    kills(
        "docker-compose|podman-compose",
        "rm",
        "containers are deleted with their volumes",
    )
    .with("-v -f --force"),
    kills(
        "ctr|crictl",
        "rm|rmi|rmp|delete|images|containers rm|delete|remove",
        "containers or images are deleted",
    ),
    kills(
        "crictl",
        "rm|rmi|rmp",
        "containers, pods or images are deleted",
    ),
    kills(
        "buildah",
        "rm|rmi|prune",
        "containers or images are deleted",
    ),
    kills("lxc|incus", "delete|rm", "containers are deleted"),
    kills(
        "lxc|incus",
        "storage|image|volume|network|profile|project delete",
        "storage, images or settings are deleted",
    ),
    kills("lxc-destroy", "", "a container is deleted"),
    kills("machinectl", "remove|clean", "machines' images are deleted"),
    kills("vagrant", "destroy", "virtual machines are deleted"),
    kills(
        "vagrant",
        "box|snapshot remove|delete",
        "boxes or snapshots are deleted",
    ),
    kills(
        "virsh",
        "undefine|destroy|vol-delete|pool-delete|snapshot-delete|vol-wipe",
        "virtual machines or their disks are deleted",
    ),
    kills(
        "VBoxManage|vboxmanage",
        "unregistervm|closemedium",
        "virtual machines or disks are deleted",
    )
    .with("--delete"),
    kills(
        "VBoxManage|vboxmanage",
        "snapshot * delete",
        "snapshots are deleted",
    ),
    kills("multipass", "delete|purge", "virtual machines are deleted"),
    kills(
        "limactl|colima|minikube|kind|k3d|orbctl",
        "delete|rm",
        "a virtual machine or cluster is deleted",
    ),
    kills("kind", "delete cluster|clusters", "a cluster is deleted"),
    kills(
        "k3d",
        "cluster|node|registry delete|del|rm",
        "a cluster is deleted",
    ),
    kills(
        "helm",
        "uninstall|delete|del|un",
        "a release is taken down with its objects",
    ),
    tells("helm", "push", "a chart is published to a registry"),
    asks(
        "helm",
        "rollback",
        "a release goes back to an earlier revision",
    ),
    asks("helm", "upgrade", "a release is changed by force").with("--force --reset-values"),
    asks(
        "kubectx|kubens",
        "",
        "a cluster is removed from the settings",
    )
    .with("-d"),
    asks("podman|docker|nerdctl", "rmi", "all images are removed").with("-a --all"),
    kills("helmfile", "destroy|delete", "releases are taken down"),
    asks("helmfile", "sync|apply", "releases are changed"),
    kills("kustomize", "delete", "cluster objects are deleted"),
    kills("flux", "delete|uninstall", "deployments are taken down"),
    kills(
        "argocd",
        "app|appset|cluster|proj|repo delete|rm|remove",
        "an application, cluster or project is deleted",
    ),
    asks(
        "argocd",
        "app rollback",
        "an application goes back to an earlier version",
    ),
    asks("flux", "suspend", "a deployment is no longer kept up"),
    kills(
        "etcdctl|etcdutl",
        "snapshot|member restore|remove",
        "the cluster's own data is replaced, or a member taken out",
    ),
    asks(
        "argocd",
        "app rollback|sync",
        "an application is changed by force or pruned",
    )
    .with("--prune --force --replace"),
    kills("istioctl", "uninstall|x", "the mesh is taken down"),
    kills("linkerd|cilium", "uninstall", "the mesh is taken down"),
    kills(
        "kubeadm",
        "reset",
        "a node leaves its cluster and loses its state",
    ),
    kills("eksctl", "delete", "a cluster or its parts are deleted"),
    kills("kops", "delete", "a cluster is deleted").with("--yes"),
    asks("kops", "delete", "a cluster's deletion is prepared").unless("--yes"),
    kills("rancher", "delete|rm", "objects are deleted"),
    kills("talosctl", "reset|wipe", "a node is wiped"),
    kills(
        "etcdctl",
        "del|defrag|role|user delete|remove",
        "the cluster's own data is deleted",
    ),
    kills("etcdctl", "del", "keys are deleted"),
    kills(
        "zkCli.sh|zkCli|zookeeper-shell|zookeeper-shell.sh",
        "** delete|deleteall|rmr",
        "nodes are deleted",
    ),
    kills("k9s|stern|kubectx", "delete", "a context is deleted"),
    kills("skaffold", "delete", "deployed objects are deleted"),
    kills(
        "tilt|devspace|garden",
        "down|purge|delete",
        "deployed objects are deleted",
    ),
    sets(
        "nomad",
        "node|job|system purge|drain|gc",
        "jobs or nodes are taken down",
    ),
    kills(
        "nomad",
        "job|namespace|volume|var stop|delete|purge|deregister",
        "jobs, volumes or variables are deleted",
    ),
    kills("nomad", "stop", "a job is stopped and purged").with("-purge"),
];

/// docker and podman: the tables, commands run in containers, and mounts of our files.
pub(in crate::shell::programs) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let global = Options::read(
        call.args,
        &Spec {
            short: "cHl",
            long: &[
                "context",
                "host",
                "log-level",
                "config",
                "connection",
                "url",
                "root",
            ],
            stops: true,
            ..Spec::default()
        },
    );
    let mut words = global.operands;
    if words
        .first()
        .is_some_and(|word| word.text == "container" || word.text == "compose")
    {
        let own = composed(words.get(1..).unwrap_or_default());
        let inner = own.operands.first().map(Arg::word);
        if matches!(inner, Some("run" | "exec" | "create")) {
            words = own.operands;
        }
    }
    match words.first().map(Arg::word) {
        Some("run" | "create") => contained(walk, words.get(1..).unwrap_or_default(), true),
        Some("exec") => contained(walk, words.get(1..).unwrap_or_default(), false),
        Some("cp") => {
            let paths: Vec<&Arg> = words
                .iter()
                .skip(1)
                .filter(|arg| !arg.is_option())
                .collect();
            if let [from, to] = paths.as_slice()
                && !to.text.contains(&b':')
                && to.text != "-"
            {
                super::super::copying::into(walk, from, to, false);
            }
        }
        _ => {
            super::run(walk, call);
        }
    }
    Stream::Unknown
}

const RUN: Spec = Spec {
    short: "vepwuhlamcP",
    long: &[
        "volume",
        "mount",
        "env",
        "env-file",
        "publish",
        "workdir",
        "user",
        "name",
        "hostname",
        "label",
        "network",
        "net",
        "memory",
        "cpus",
        "entrypoint",
        "platform",
        "add-host",
        "device",
        "gpus",
        "ipc",
        "pid",
        "pull",
        "restart",
        "runtime",
        "security-opt",
        "shm-size",
        "tmpfs",
        "ulimit",
        "volumes-from",
        "cap-add",
        "cap-drop",
        "expose",
        "log-driver",
        "log-opt",
        "stop-signal",
        "cidfile",
        "dns",
        "group-add",
        "init-path",
        "detach-keys",
        "index",
        "userns",
    ],
    stuck: "",
    stops: true,
    single_dash: false,
};

/// Runs what is run in a container; paths below a mount are our own.
fn contained(walk: &mut Walk<'_>, args: &[Arg], fresh: bool) {
    let spec = if fresh {
        RUN
    } else {
        Spec {
            short: "ewu",
            long: &["env", "env-file", "workdir", "user", "detach-keys", "index"],
            stops: true,
            ..Spec::default()
        }
    };
    let options = Options::read(args, &spec);
    let mut mounts: Vec<(BString, Arg)> = Vec::new();
    let mut volumes: Vec<BString> = Vec::new();
    for volume in options.values(&["v", "volume"]) {
        let parts: Vec<&[u8]> = volume.text.split_str(":").collect();
        if let [from, to, rest @ ..] = parts.as_slice() {
            let reads = rest
                .iter()
                .any(|mode| mode.split_str(",").any(|one| one == b"ro"));
            let ours = from.contains(&b'/')
                || from.starts_with(b".")
                || from.contains(&crate::shell::arg::UNKNOWN);
            if ours && !reads {
                mounts.push(((*to).into(), Arg::known(*from)));
            } else if !ours && !reads {
                volumes.push((*to).into());
            }
        }
    }
    for mount in options.values(&["mount"]) {
        let field = |names: &[&str]| {
            mount.text.split_str(",").find_map(|field| {
                let at = field.find_byte(b'=')?;
                let name = field.get(..at)?.to_str().ok()?;
                names
                    .contains(&name)
                    .then(|| BString::from(field.get(at + 1..).unwrap_or_default()))
            })
        };
        let bound = mount.text.contains_str("type=bind");
        let reads = mount
            .text
            .split_str(",")
            .any(|one| matches!(one, b"ro" | b"readonly" | b"readonly=true"));
        if let (true, false, Some(from), Some(to)) = (
            bound,
            reads,
            field(&["source", "src"]),
            field(&["target", "dst", "destination"]),
        ) {
            mounts.push((to, Arg::known(from)));
        }
    }
    if options.has(&["privileged"]) && mounts.iter().any(|(_, from)| from.text == "/") {
        walk.note(DeedKind::System {
            class: SystemClass::Config,
            why: "a privileged container gets the whole machine".to_owned(),
        });
    }
    let mut words: Vec<Arg> = options.operands.get(1..).unwrap_or_default().to_vec();
    if let Some(entry) = options.value(&["entrypoint"]) {
        words.insert(0, entry.clone());
    }
    if words.is_empty() {
        return;
    }
    let workdir = options
        .value(&["w", "workdir"])
        .map_or_else(|| BString::from("/"), |dir| dir.text.clone());
    let before = walk.script.deeds.len();
    let scope = walk.scope.clone();
    let home = scope.dir.clone();
    walk.scope.dir = crate::shell::scope::Dir::Known(workdir);
    walk.scope.home = Some("/root".into());
    let _ = walk.run_args(&words, &Stream::Unknown);
    walk.scope = scope;
    let deeds: Vec<_> = walk.script.deeds.drain(before..).collect();
    for deed in deeds {
        if empties_volume(&deed, &volumes) {
            walk.note(DeedKind::System {
                class: SystemClass::Irreversible,
                why: "files of a volume are deleted".to_owned(),
            });
        } else {
            inside(walk, deed, &mounts, &home, fresh);
        }
    }
}

/// Whether a deed deletes what a named volume holds.
fn empties_volume(deed: &crate::shell::deed::Deed, volumes: &[BString]) -> bool {
    use crate::shell::deed::PathOp;
    let DeedKind::File { op, path } = &deed.kind else {
        return false;
    };
    let destroys = matches!(op, PathOp::Delete { .. } | PathOp::Empty | PathOp::Mirror);
    let place = deed.dir.join(&Arg::known(path.text.clone()));
    destroys
        && matches!(place, crate::shell::scope::Dir::Known(place) if volumes.iter().any(|volume| {
            let volume = volume.trim_end_with(|c| c == '/');
            place.strip_prefix(volume).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        }))
}

/// Moves a deed out of a container: onto our files, or out of sight.
fn inside(
    walk: &mut Walk<'_>,
    mut deed: crate::shell::deed::Deed,
    mounts: &[(BString, Arg)],
    home: &crate::shell::scope::Dir,
    fresh: bool,
) {
    use crate::shell::deed::PathOp;
    use crate::shell::scope::Dir;
    match &mut deed.kind {
        DeedKind::File { op, path } => {
            let Dir::Known(place) = deed.dir.join(&Arg {
                text: path.text.clone(),
                glob: false,
                remote: false,
            }) else {
                if !mounts.is_empty() || path.has_unknown() {
                    walk.script.deeds.push(deed);
                }
                return;
            };
            for (target, source) in mounts {
                let target = target.trim_end_with(|c| c == '/');
                let below = place
                    .strip_prefix(target)
                    .filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
                let above = target
                    .strip_prefix(place.as_slice())
                    .is_some_and(|rest| rest.starts_with(b"/") || place == "/");
                if let Some(below) = below {
                    let mut text = source.text.clone();
                    text.extend_from_slice(below);
                    deed.kind = DeedKind::File {
                        op: op.clone(),
                        path: Arg {
                            text,
                            glob: path.glob,
                            remote: false,
                        },
                    };
                    deed.dir = home.clone();
                    walk.script.deeds.push(deed);
                    return;
                }
                if above && matches!(op, PathOp::Delete { recursive: true }) {
                    deed.kind = DeedKind::File {
                        op: op.clone(),
                        path: source.clone(),
                    };
                    deed.dir = home.clone();
                    walk.script.deeds.push(deed);
                    return;
                }
            }
            // What a fresh container writes elsewhere goes with it.
            if !fresh
                && matches!(op, PathOp::Delete { .. } | PathOp::Empty | PathOp::Mirror)
                && !place.starts_with(b"/tmp/")
            {
                deed.kind = DeedKind::System {
                    class: SystemClass::Irreversible,
                    why: "files are deleted in a running container".to_owned(),
                };
                walk.script.deeds.push(deed);
            }
        }
        DeedKind::Git(_) => {
            if !mounts.is_empty() {
                deed.dir = home.clone();
                if let DeedKind::Git(git) = &mut deed.kind {
                    git.repo.dir = home.clone();
                }
                walk.script.deeds.push(deed);
            }
        }
        DeedKind::Package { .. } => {}
        _ => walk.script.deeds.push(deed),
    }
}

/// kubectl: verbs on cluster objects, and commands run in a pod.
pub(in crate::shell::programs) fn cluster(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    const KUBECTL: Spec = Spec {
        short: "nfklocp",
        long: &[
            "namespace",
            "context",
            "cluster",
            "kubeconfig",
            "user",
            "as",
            "server",
            "token",
            "filename",
            "kustomize",
            "selector",
            "field-selector",
            "output",
            "container",
            "replicas",
            "timeout",
            "grace-period",
            "cascade",
            "image",
            "patch",
            "type",
            "request-timeout",
            "dry-run-strategy",
            "current-replicas",
            "resource-version",
            "overrides",
            "env",
            "port",
            "restart",
        ],
        stuck: "",
        stops: false,
        single_dash: false,
    };
    let options = Options::read(call.args, &KUBECTL);
    let dry = options.given.iter().any(|given| {
        given.name == "dry-run"
            && given
                .value
                .as_ref()
                .is_none_or(|value| !matches!(value.word(), "none" | "false"))
    });
    if dry {
        return Stream::Unknown;
    }
    let words: Vec<&str> = options.operands.iter().map(Arg::word).collect();
    let destroys = match words.as_slice() {
        ["delete", ..] => Some("cluster objects are deleted"),
        ["drain", ..] => Some("a node is emptied of its pods"),
        ["cordon" | "taint", ..] => {
            walk.mark(Level::Confirm, "a node stops taking pods");
            None
        }
        ["replace", ..] if options.has(&["force"]) => {
            Some("cluster objects are deleted and made anew")
        }
        ["apply", ..] if options.has(&["prune"]) => {
            Some("cluster objects that no file names are deleted")
        }
        ["apply" | "create" | "replace", ..] => {
            walk.mark(Level::Transparent, "cluster objects are written");
            None
        }
        ["scale", ..] => {
            let zero = options
                .value(&["replicas"])
                .is_some_and(|value| value.text == "0");
            if zero {
                Some("all replicas are stopped")
            } else {
                walk.mark(Level::Transparent, "the number of replicas changes");
                None
            }
        }
        ["rollout", "undo", ..] => Some("a deployment goes back to an earlier revision"),
        ["rollout", "restart", ..] => {
            walk.mark(Level::Transparent, "all pods of a deployment are replaced");
            None
        }
        ["config", verb, ..] if verb.starts_with("delete") || *verb == "unset" => {
            Some("a cluster, context or user is removed from the settings")
        }
        [
            "patch" | "edit" | "set" | "label" | "annotate" | "autoscale" | "expose",
            ..,
        ] => {
            let removes = call.args.iter().any(|arg| {
                let flat: Vec<u8> = arg
                    .text
                    .iter()
                    .copied()
                    .filter(|byte| !b" \"'".contains(byte))
                    .collect();
                ["finalizers", "op:remove", "$patch:delete", "replicas:0"]
                    .iter()
                    .any(|part| flat.contains_str(part))
            });
            if removes {
                Some(
                    "replicas, a part of an object or its safeguard against deletion are taken away",
                )
            } else {
                walk.mark(Level::Transparent, "cluster objects change");
                None
            }
        }
        ["auth", "reconcile", ..] => {
            walk.mark(Level::Confirm, "who may do what in the cluster changes");
            None
        }
        ["rollback", ..] => Some("a deployment goes back to an earlier revision"),
        ["cp", _, to, ..] if to.contains(':') => {
            walk.mark(Level::Transparent, "a file in a pod is replaced");
            None
        }
        ["adm", "drain" | "prune" | "reset", ..] | ["certificate", "deny", ..] => {
            Some("a part of the cluster is taken down")
        }
        ["exec" | "debug" | "run", ..] => {
            if let Some(at) = call.args.iter().position(|arg| arg.text == "--") {
                let words = call.args.get(at + 1..).unwrap_or_default();
                let mut text = BString::default();
                for word in words {
                    text.extend_from_slice(&crate::shell::walk::quote(&word.text, word.glob));
                    text.push(b' ');
                }
                let _ = super::super::elsewhere::elsewhere(
                    walk,
                    text.as_bstr(),
                    &Stream::Unknown,
                    "in a pod",
                );
            } else if options.operands.len() > 2 && words.first() == Some(&"exec") {
                let mut text = BString::default();
                for word in options.operands.iter().skip(2) {
                    text.extend_from_slice(&crate::shell::walk::quote(&word.text, word.glob));
                    text.push(b' ');
                }
                let _ = super::super::elsewhere::elsewhere(
                    walk,
                    text.as_bstr(),
                    &Stream::Unknown,
                    "in a pod",
                );
            }
            None
        }
        ["krew", ..] | [] => None,
        _ => None,
    };
    if let Some(why) = destroys {
        walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: why.to_owned(),
        });
    }
    Stream::Unknown
}

/// The options of `docker compose` before its verb, with what stands from the verb on.
pub(in crate::shell::programs) fn composed(args: &[Arg]) -> Options {
    Options::read(
        args,
        &Spec {
            short: "fp",
            long: &[
                "file",
                "project-name",
                "profile",
                "env-file",
                "project-directory",
            ],
            stops: true,
            ..Spec::default()
        },
    )
}
