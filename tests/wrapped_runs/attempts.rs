//! Attempts to break out, made by this very test program where it runs confined.
//!
//! Each is ignored, and does nothing unless a test below starts it in a sandbox:
//! it fails where an attempt was not refused.

use super::run_sh;
use super::sandbox::{can_confine, can_mount};
use crate::support::{Ran, Sandbox};
use rustix::process::{Pid, Signal};
use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The variable that tells an attempt what to try.
const AIM: &str = "HOLDPOINT_ATTEMPT";

fn aim() -> Option<String> {
    std::env::var(AIM).ok()
}

/// Starts an attempt by its name in a sandbox.
fn confined(sandbox: &Sandbox, options: &[&str], name: &str, aim: &str) -> Ran {
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "{AIM}='{aim}' exec '{}' --exact wrapped_runs::attempts::{name} --ignored --nocapture",
        program.display()
    );
    let mut all = vec!["--sandbox", "--pass-status", "--accept"];
    all.extend(options);
    let ran = run_sh(sandbox, &all, &script);
    assert!(ran.out.contains("1 passed"), "{}{}", ran.out, ran.err);
    ran
}

fn probe() -> PathBuf {
    Path::new("/var/lib").join(format!("holdpoint-try-{}", std::process::id()))
}

#[test]
#[ignore = "only in a sandbox"]
fn descriptors() {
    let Some(probe) = aim().map(PathBuf::from) else {
        return;
    };
    let config = File::open(".git/config").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&config);
    let absolute = fs::canonicalize(".git/config").unwrap();
    for way in [
        format!("/proc/self/fd/{number}"),
        format!("/dev/fd/{number}"),
        format!("/proc/self/root{}", absolute.display()),
        "/proc/self/cwd/.git/config".to_owned(),
        absolute.display().to_string(),
    ] {
        assert!(OpenOptions::new().write(true).open(&way).is_err(), "{way}");
        assert!(OpenOptions::new().append(true).open(&way).is_err(), "{way}");
    }
    assert!(fs::hard_link(".git/config", "here").is_err());
    assert!(fs::rename("a", ".git/config").is_err());
    assert!(fs::rename(".git/hooks", "hooks").is_err());
    assert!(fs::rename(".git", "git").is_err());
    assert!(fs::remove_file(".git/config").is_err());
    assert!(fs::write(&probe, "x").is_err());
    assert!(fs::create_dir(&probe).is_err());
    assert!(std::os::unix::fs::symlink("/tmp", &probe).is_err());
    // A directory opened for reading gives no way to make a file in it.
    let dir = File::open(probe.parent().unwrap()).unwrap();
    let made = rustix::fs::openat(
        &dir,
        probe.file_name().unwrap(),
        rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY,
        rustix::fs::Mode::RUSR,
    );
    assert!(made.is_err());
}

#[test]
#[ignore = "only in a sandbox"]
fn processes() {
    let Some(bystander) = aim() else { return };
    let parent = |pid: i32| -> i32 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let rest = stat.rsplit(')').next().unwrap();
        rest.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let mut targets = vec![bystander.parse().unwrap()];
    let mut pid = i32::try_from(std::process::id()).unwrap();
    while pid > 1 {
        pid = parent(pid);
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let name = line.split(|byte| *byte == 0).next().unwrap_or_default();
        if name.ends_with(b"holdpoint-run") {
            targets.push(pid);
        }
    }
    assert!(
        targets.len() >= 3,
        "the wrapper's processes are above: {targets:?}"
    );
    for pid in targets {
        for name in ["mem", "oom_score_adj", "comm"] {
            let path = format!("/proc/{pid}/{name}");
            assert!(
                OpenOptions::new().write(true).open(&path).is_err(),
                "{path}"
            );
        }
        for signal in [Signal::STOP, Signal::KILL, Signal::TERM] {
            let pid = Pid::from_raw(pid).unwrap();
            assert!(rustix::process::kill_process(pid, signal).is_err());
        }
    }
}

#[test]
#[ignore = "only in a sandbox"]
fn abstract_sockets() {
    let Some(name) = aim() else { return };
    let address = SocketAddr::from_abstract_name(name).unwrap();
    assert!(UnixStream::connect_addr(&address).is_err());
}

#[test]
#[ignore = "only in a sandbox"]
fn ports() {
    let Some(ports) = aim() else { return };
    let (open, shut) = ports.split_once(',').unwrap();
    let connect = |port: &str| TcpStream::connect(("127.0.0.1", port.parse().unwrap()));
    assert!(connect(open).is_ok());
    assert!(connect(shut).is_err());
}

#[test]
fn descriptors_and_names_do_not_lead_out() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) || !can_mount(&sandbox) {
        return;
    }
    let config = sandbox.read(".git/config");
    let probe = probe();
    confined(&sandbox, &[], "descriptors", &probe.display().to_string()).exits(0);
    assert_eq!(sandbox.read(".git/config"), config);
    assert!(!probe.exists());
}

#[test]
fn processes_outside_are_neither_written_nor_signalled() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    // Landlock scopes signals from its sixth version on; older kernels are told of by `--sandbox` itself.
    if !can_confine(&sandbox) || !scopes_signals(&sandbox) {
        return;
    }
    let mut bystander = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    let ran = confined(&sandbox, &[], "processes", &bystander.id().to_string());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    ran.exits(0);
}

fn scopes_signals(sandbox: &Sandbox) -> bool {
    let ran = run_sh(
        sandbox,
        &["--sandbox", "--pass-status"],
        "kill -0 $PPID 2>/dev/null && exit 3; exit 0",
    );
    ran.code != 3
}

#[test]
fn abstract_sockets_outside_are_not_reached() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) || !scopes_signals(&sandbox) {
        return;
    }
    let name = format!("holdpoint-try-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    confined(&sandbox, &[], "abstract_sockets", &name).exits(0);
    drop(listener);
}

#[test]
fn no_port_but_the_named_ones_is_reached() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    let (open, shut) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        TcpListener::bind("127.0.0.1:0").unwrap(),
    );
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
    let (open, shut) = (port(&open), port(&shut));
    let probed = run_sh(&sandbox, &["--sandbox", "--sandbox-ports", &open], "true");
    if probed.err.contains("cannot confine the network") {
        return;
    }
    let aim = format!("{open},{shut}");
    confined(&sandbox, &["--sandbox-ports", &open], "ports", &aim).exits(0);
}
