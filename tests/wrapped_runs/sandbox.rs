//! `--sandbox`: attempts to break out.

#![expect(clippy::print_stderr, reason = "a test that cannot run says so loudly")]

use super::run_sh;
use crate::support::Sandbox;
use std::fs;

/// Whether the kernel can confine; says so where it cannot.
pub(super) fn can_confine(sandbox: &Sandbox) -> bool {
    let ran = run_sh(sandbox, &["--sandbox"], "true");
    if ran.code == 2 && ran.err.contains("no Landlock") {
        eprintln!("SKIPPED: this kernel has no Landlock");
        return false;
    }
    ran.exits(0);
    true
}

/// Whether paths inside the workspace can be protected too.
pub(super) fn can_mount(sandbox: &Sandbox) -> bool {
    let ran = run_sh(sandbox, &["--sandbox"], "true");
    if ran.err.contains("no mount namespace") {
        eprintln!("SKIPPED: no mount namespace here");
        return false;
    }
    true
}

#[test]
fn the_workspace_is_writable_and_the_machine_is_not() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    let target = std::path::Path::new("/var/lib");
    let probe = target.join(format!("holdpoint-probe-{}", std::process::id()));
    let script = format!(
        "echo more >> a || exit 1; echo t > \"$TMPDIR/t\" || exit 2; echo d > /dev/null || exit 8; echo o > /dev/stderr || exit 9; \
         (echo x > {p}) 2>/dev/null && exit 3; (ln a {p}) 2>/dev/null && exit 4; (cp a b; mv b {p}) 2>/dev/null && exit 5; rm -f b; \
         ln -s {d} way; (echo x > way/probe) 2>/dev/null && exit 6; rm way; \
         exec 9< {d}; (echo x > /proc/self/fd/9/probe) 2>/dev/null && exit 7; exit 0",
        p = probe.display(),
        d = target.display()
    );
    run_sh(&sandbox, &["--sandbox", "--pass-status"], &script).exits(0);
    assert!(!probe.exists());
    assert_eq!(sandbox.read("a"), "a\nmore\n");
}

#[test]
fn hooks_configuration_and_state_cannot_be_edited() {
    let sandbox = Sandbox::with_files(&[("a", "a\n"), (".claude/settings.json", "{}\n")]);
    if !can_confine(&sandbox) || !can_mount(&sandbox) {
        return;
    }
    let state = sandbox.path("state/holdpoint");
    let script = format!(
        "(echo x > .git/hooks/pre-commit) 2>/dev/null && exit 3; \
         (git config core.hooksPath /dev/null) 2>/dev/null && exit 4; \
         (echo x >> .git/config) 2>/dev/null && exit 5; \
         (mv .git/hooks .git/h2) 2>/dev/null && exit 6; \
         (mv .git .git2) 2>/dev/null && exit 7; \
         (rm .git/config) 2>/dev/null && exit 8; \
         (cp a new; mv new .git/config) 2>/dev/null && exit 9; \
         (ln -f a .git/config) 2>/dev/null && exit 10; \
         (umount .git/config) 2>/dev/null && exit 11; \
         (mount -o remount,rw .git/config) 2>/dev/null && exit 12; \
         (echo x > .claude/settings.json) 2>/dev/null && exit 13; \
         (mv .claude .c2) 2>/dev/null && exit 14; \
         (find {s} -type f -exec rm {{}} +) 2>/dev/null; \
         rm -f new; git status >/dev/null || exit 15; echo b >> a; exit 0",
        s = state.display()
    );
    let config = fs::read(sandbox.work().join(".git/config")).unwrap();
    run_sh(&sandbox, &["--sandbox", "--pass-status"], &script).exits(0);
    assert_eq!(
        fs::read(sandbox.work().join(".git/config")).unwrap(),
        config
    );
    assert!(!sandbox.work().join(".git/hooks/pre-commit").exists());
    assert_eq!(sandbox.read("a"), "a\nb\n");
}

#[test]
fn the_wrapper_cannot_be_killed_from_inside() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    if !can_confine(&sandbox) {
        return;
    }
    let ran = run_sh(
        &sandbox,
        &["--sandbox", "--pass-status"],
        "kill -9 $PPID 2>/dev/null && exit 3; setsid sleep 600 & exit 0",
    );
    if ran.code == 3 {
        eprintln!("SKIPPED: this kernel's Landlock does not scope signals");
        return;
    }
    ran.exits(0);
}
