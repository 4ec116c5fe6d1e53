//! `--sandbox`: more attempts to break out, each by a program that tries in earnest.
//!
//! Every attempt is a script that leaves with 0 only when it was refused, so
//! that a test cannot pass because the attempt was never made.

use super::sandbox::{can_confine, can_mount};
use super::{lives, pids, run_sh, until};
use crate::support::{Ran, Sandbox};
use std::fs;
use std::io::Write as _;
use std::os::unix::net::UnixListener;

const SANDBOXED: &[&str] = &["--sandbox", "--pass-status", "--accept"];

/// Runs an attempt in Python; skipped loudly where there is none.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so loudly")]
fn attempt(sandbox: &Sandbox, program: &str) -> Option<Ran> {
    sandbox.write("attempt.py", program);
    let ran = run_sh(
        sandbox,
        SANDBOXED,
        "command -v python3 >/dev/null || exit 77; exec python3 attempt.py",
    );
    if ran.code == 77 {
        eprintln!("SKIPPED: no python3 here");
        return None;
    }
    Some(ran)
}

fn outside(sandbox: &Sandbox) -> std::path::PathBuf {
    // The sandbox's own directory lies in a temporary directory, which a run may write.
    let _ = sandbox;
    let base = std::path::Path::new("/var/lib");
    base.join(format!("holdpoint-probe-{}", std::process::id()))
}

#[test]
fn a_namespace_of_its_own_opens_nothing() {
    let sandbox = Sandbox::with_files(&[("a", "a\n"), (".claude/settings.json", "{}\n")]);
    if !can_confine(&sandbox) || !can_mount(&sandbox) {
        return;
    }
    let hook = sandbox.work().join(".git/hooks");
    fs::create_dir_all(&hook).unwrap();
    let script = "for how in 'unshare -m' 'unshare -Urm' 'unshare -Um --map-current-user'; do \
           $how sh -c 'mount -o remount,bind,rw .git/config && echo x >> .git/config' 2>/dev/null && exit 3; \
           $how sh -c 'umount -l .git/config && echo x >> .git/config' 2>/dev/null && exit 4; \
           $how sh -c 'mount --bind /tmp .git/hooks && echo x > .git/hooks/pre-commit' 2>/dev/null && exit 5; \
           $how sh -c 'mount -t tmpfs none .git/hooks' 2>/dev/null && exit 6; \
           $how sh -c 'mount --bind / /mnt && echo x >> /mnt'$PWD'/.git/config' 2>/dev/null && exit 7; \
           $how sh -c 'mount --move .git/config a' 2>/dev/null && exit 8; \
           $how sh -c 'echo x >> .git/config' 2>/dev/null && exit 9; \
           $how sh -c 'echo x > .claude/settings.json' 2>/dev/null && exit 10; \
         done; \
         (chroot / sh -c 'echo x >> '$PWD/.git/config) 2>/dev/null && exit 11; \
         (nsenter -t 1 -m sh -c 'echo x >> '$PWD/.git/config) 2>/dev/null && exit 12; \
         exit 0";
    let config = sandbox.read(".git/config");
    run_sh(&sandbox, SANDBOXED, script).exits(0);
    assert_eq!(sandbox.read(".git/config"), config);
    assert_eq!(sandbox.read(".claude/settings.json"), "{}\n");
    assert!(!hook.join("pre-commit").exists());
}

#[test]
fn an_open_descriptor_does_not_lead_out() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) || !can_mount(&sandbox) {
        return;
    }
    let program = format!(
        r#"
import os, sys
probe = {probe:?}
# A directory opened for reading gives no way to make a file in it.
fd = os.open(os.path.dirname(probe), os.O_RDONLY)
for name in (os.path.basename(probe), "../lib/" + os.path.basename(probe)):
    try:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=fd)); sys.exit(3)
    except OSError: pass
# A file opened for reading cannot be opened again for writing through /proc.
fd = os.open(".git/config", os.O_RDONLY)
for way in ("/proc/self/fd/%d" % fd, "/dev/fd/%d" % fd, "/proc/%d/fd/%d" % (os.getppid(), fd), "/proc/self/root" + os.path.abspath(".git/config"), "/proc/self/cwd/.git/config", "/proc/1/root" + os.path.abspath(".git/config")):
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
        try:
            os.close(os.open(way, flags)); sys.exit(4)
        except OSError: pass
for change in (lambda: os.truncate(".git/config", 0), lambda: os.ftruncate(fd, 0), lambda: os.link(".git/config", "here"), lambda: os.rename("a", ".git/config"), lambda: os.replace(".git/hooks", "hooks"), lambda: os.unlink(".git/config"), lambda: os.rename(".git", "git"), lambda: os.symlink("/tmp", probe), lambda: os.mkdir(probe), lambda: os.mkfifo(probe), lambda: os.chmod(".git/config", 0o777), lambda: os.setxattr(".git/config", "user.x", b"1"), lambda: os.utime(".git/config")):
    try:
        change(); sys.exit(5)
    except OSError: pass
# What it inherited is its own output and nothing that can be written outside.
for fd in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink("/proc/self/fd/" + fd)
        flags = int(open("/proc/self/fdinfo/" + fd).read().split("flags:")[1].split()[0], 8)
    except (OSError, IndexError): continue
    if flags & 3 and not target.startswith(("pipe:", "/dev/", "socket:")) and not target.endswith((".pipe", "attempt.py")):
        print("inherited", target); sys.exit(6)
sys.exit(0)
"#,
        probe = outside(&sandbox).display().to_string()
    );
    let config = sandbox.read(".git/config");
    if let Some(ran) = attempt(&sandbox, &program) {
        ran.exits(0);
        assert_eq!(sandbox.read(".git/config"), config);
        assert!(!outside(&sandbox).exists());
    }
}

#[test]
fn other_processes_cannot_be_traced_written_or_signalled() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    // The wrapper's processes, and one of the person's that has nothing to do with the run.
    let mut bystander = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    let program = format!(
        r#"
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
leash = int(os.popen("ps -o ppid= -p %d" % os.getppid()).read() or os.getppid()) if False else os.getppid()
def parent(pid):
    return int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[1])
watchers, pid = [], os.getpid()
while pid > 1:
    pid = parent(pid)
    line = open("/proc/%d/cmdline" % pid, "rb").read()
    if b"holdpoint-run" in line.split(b"\0")[0]: watchers.append(pid)
if len(watchers) < 2: print("watchers", watchers); sys.exit(9)
for pid in watchers + [{bystander}]:
    if libc.ptrace(16, pid, 0, 0) == 0: sys.exit(3)
    if libc.ptrace(0x4206, pid, 0, 0) == 0: sys.exit(4)
    for name in ("mem", "oom_score_adj", "coredump_filter", "comm"):
        try:
            os.close(os.open("/proc/%d/%s" % (pid, name), os.O_WRONLY)); sys.exit(5)
        except OSError: pass
    buf = ctypes.create_string_buffer(8)
    class Iov(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
    local, remote = Iov(ctypes.addressof(buf), 8), Iov(0x400000, 8)
    if libc.process_vm_writev(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0: sys.exit(6)
    for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM):
        try:
            os.kill(pid, number); print("signalled", pid); sys.exit(7)
        except PermissionError: pass
sys.exit(0)
"#,
        bystander = bystander.id()
    );
    let ran = attempt(&sandbox, &program);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    if let Some(ran) = ran {
        ran.exits(0);
    }
}

#[test]
fn sockets_do_not_reach_helpers_outside() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    // A helper of the person's that would write whatever it is told to: by name, and by an abstract name.
    let name = format!("holdpoint-test-{}", std::process::id());
    let path = sandbox.path("helper.sock");
    let by_path = UnixListener::bind(&path).unwrap();
    let address =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
            &name,
        )
        .unwrap();
    let abstracted = UnixListener::bind_addr(&address).unwrap();
    let program = format!(
        r#"
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\0" + {name:?}); sys.exit(3)
except PermissionError: pass
sys.exit(0)
"#
    );
    let ran = attempt(&sandbox, &program);
    drop((by_path, abstracted));
    if let Some(ran) = ran {
        ran.exits(0);
    }
}

#[test]
fn the_persons_home_and_the_machines_tables_stay_as_they_are() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    // A home outside every temporary directory, as people have it.
    let home =
        std::path::Path::new("/var/lib").join(format!("holdpoint-home-{}", std::process::id()));
    if fs::create_dir(&home).is_err() {
        // An ordinary user has no other place of their own: the real home is not to be played with.
        return;
    }
    fs::create_dir(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/authorized_keys"), "key\n").unwrap();
    fs::write(home.join(".gitconfig"), "[user]\n\tname = Ada\n").unwrap();
    fs::write(home.join(".bashrc"), "# mine\n").unwrap();
    let script = format!(
        "export HOME={home}; \
         git config --global core.hooksPath /tmp/x 2>/dev/null && exit 3; \
         git config --global alias.st '!sh' 2>/dev/null && exit 4; \
         (echo k >> ~/.ssh/authorized_keys) 2>/dev/null && exit 5; \
         (echo evil >> ~/.bashrc) 2>/dev/null && exit 6; \
         (mkdir -p ~/.config/systemd/user) 2>/dev/null && exit 7; \
         for dir in /etc/cron.d /etc/cron.daily /var/spool/cron /var/spool/cron/crontabs /var/spool/cron/atjobs /etc/systemd/system /etc/profile.d /usr/local/bin /etc/sudoers.d; do \
           [ -d $dir ] || continue; (echo x > $dir/holdpoint-probe) 2>/dev/null && exit 8; \
         done; \
         (echo '* * * * * touch /tmp/x' | crontab -) 2>/dev/null && exit 9; \
         (echo 'touch /tmp/x' | at now) 2>/dev/null && exit 10; \
         (echo /tmp/evil.so > /etc/ld.so.preload) 2>/dev/null && exit 11; \
         (echo x > /etc/passwd.new; mv /etc/passwd.new /etc/passwd) 2>/dev/null && exit 12; \
         (echo x > /proc/sys/kernel/core_pattern) 2>/dev/null && exit 13; \
         (echo x > /sys/kernel/uevent_helper) 2>/dev/null && exit 14; \
         (echo c > /proc/sysrq-trigger) 2>/dev/null && exit 15; \
         (mknod /tmp/hp-disk-$$ b 8 0 && rm -f /tmp/hp-disk-$$ && exit 16) 2>/dev/null; \
         exit 0",
        home = home.display()
    );
    // A device node is refused as well: Landlock has an access right for making one.
    let ran = run_sh(&sandbox, SANDBOXED, &script);
    let seen = (
        fs::read_to_string(home.join(".gitconfig")).unwrap(),
        fs::read_to_string(home.join(".ssh/authorized_keys")).unwrap(),
        fs::read_to_string(home.join(".bashrc")).unwrap(),
    );
    fs::remove_dir_all(&home).unwrap();
    ran.exits(0);
    assert_eq!(seen.0, "[user]\n\tname = Ada\n");
    assert_eq!(seen.1, "key\n");
    assert_eq!(seen.2, "# mine\n");
}

#[test]
fn a_library_in_the_workspace_is_not_loaded_by_the_wrapper() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    // Even where the agent sets LD_PRELOAD for all that it starts, the check after it runs outside.
    let script = "printf 'not a library' > evil.so; export LD_PRELOAD=$PWD/evil.so GIT_DIR=/nowhere GIT_CONFIG_GLOBAL=$PWD/evil.so; true; exit 0";
    let ran = run_sh(&sandbox, SANDBOXED, script).exits(0);
    assert!(
        !ran.err.contains(
            "evil.so' from LD_PRELOAD cannot be preloaded (invalid ELF header): ignored.\nholdpoint"
        ),
        "{}",
        ran.err
    );
}

#[test]
fn a_helper_left_behind_in_the_sandbox_is_ended_and_never_free() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    // It leaves its session and its parents, wipes its environment, and waits to write outside.
    let script = format!(
        "setsid env -i PATH=\"$PATH\" sh -c '(setsid sh -c \"echo \\$\\$ > {pids}; while :; do (echo x > {probe}) 2>/dev/null; sleep 0.05; done\" >/dev/null 2>&1 &)' </dev/null >/dev/null 2>&1 & \
         until [ -s {pids} ]; do sleep 0.02; done; exit 0",
        pids = sandbox.work().join("pids").display(),
        probe = outside(&sandbox).display()
    );
    run_sh(&sandbox, SANDBOXED, &script).exits(0);
    let pid: i32 = sandbox.read("pids").trim().parse().unwrap();
    until("the helper is gone", || !lives(pid));
    assert!(!outside(&sandbox).exists());
    assert!(pids(&sandbox, "none").is_empty());
}

#[test]
fn a_further_directory_is_writable_and_nothing_beside_it() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    let base = outside(&sandbox).with_extension("write");
    if fs::create_dir(&base).is_err() {
        return;
    }
    for name in ["cache", "beside"] {
        fs::create_dir(base.join(name)).unwrap();
    }
    let script = format!(
        "echo x > {b}/cache/x || exit 3; (echo x > {b}/beside/x) 2>/dev/null && exit 4; (echo x > {b}/x) 2>/dev/null && exit 5; \
         (mv {b}/cache/x {b}/beside/x) 2>/dev/null && exit 6; (mv {b}/cache {b}/gone) 2>/dev/null && exit 7; exit 0",
        b = base.display()
    );
    let cache = base.join("cache");
    let mut options = SANDBOXED.to_vec();
    options.extend(["--sandbox-write", cache.to_str().unwrap()]);
    let ran = run_sh(&sandbox, &options, &script);
    let written = cache.join("x").exists();
    // A directory that is not there is an error, not a run without it.
    let missing = base.join("missing");
    let mut options = SANDBOXED.to_vec();
    options.extend(["--sandbox-write", missing.to_str().unwrap()]);
    let refused = run_sh(&sandbox, &options, "echo started > started");
    fs::remove_dir_all(&base).unwrap();
    ran.exits(0);
    assert!(written);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("missing"), "{}", refused.err);
    assert!(!sandbox.work().join("started").exists());
}

#[test]
fn only_the_ports_that_were_named_can_be_reached() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    let open = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let shut = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = |listener: &std::net::TcpListener| listener.local_addr().unwrap().port();
    sandbox.write(
        "attempt.py",
        format!(
            "import socket, sys\nsocket.create_connection(('127.0.0.1', {}))\ntry:\n    socket.create_connection(('127.0.0.1', {})); sys.exit(3)\nexcept PermissionError: pass\n",
            port(&open),
            port(&shut)
        ),
    );
    let named = port(&open).to_string();
    let mut options = SANDBOXED.to_vec();
    options.extend(["--sandbox-ports", &named]);
    let script = "command -v python3 >/dev/null || exit 0; exec python3 attempt.py";
    let ran = run_sh(&sandbox, &options, script);
    if ran.err.contains("cannot confine the network") {
        return;
    }
    ran.exits(0);
}

#[test]
fn keys_cannot_be_put_into_the_persons_terminal() {
    use super::terminal::start_with;
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    let mut file = fs::File::create(sandbox.work().join("type.py")).unwrap();
    file.write_all(
        b"import fcntl, os, sys\n\
          done = 0\n\
          for name in ['/dev/tty'] + ['/dev/pts/' + n for n in os.listdir('/dev/pts') if n.isdigit()]:\n\
          \x20   try:\n\
          \x20       fd = os.open(name, os.O_RDWR | os.O_NOCTTY)\n\
          \x20       mine = os.fstat(fd).st_rdev == os.fstat(1).st_rdev or name == '/dev/tty'\n\
          \x20       for key in 'EVIL\\n':\n\
          \x20           fcntl.ioctl(fd, 0x5412, key)\n\
          \x20       if not mine: print('typed into', name); done = 1\n\
          \x20   except OSError: pass\n\
          print('tried', done)\n",
    )
    .unwrap();
    // A second terminal of the person's, where a shell would wait for keys.
    let mut on = start_with(
        &sandbox,
        &["--sandbox", "--accept"],
        "command -v python3 >/dev/null && python3 type.py </dev/tty || echo tried 0",
    );
    on.read_until("tried 0");
    on.read_until("is done");
}
