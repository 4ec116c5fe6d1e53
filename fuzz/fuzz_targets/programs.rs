//! Gives known programs arbitrary arguments: no panic, and no wrapper hides what the bare command does.
#![no_main]

use bstr::ByteSlice as _;
use holdpoint::shell::{DeedKind, Nothing, Scope, read};
use libfuzzer_sys::fuzz_target;
use std::mem::{Discriminant, discriminant};

const PROGRAMS: &[&str] = &[
    "git", "rm", "mv", "cp", "ln", "dd", "truncate", "shred", "tee", "sed", "perl", "install", "rsync", "tar", "unzip",
    "chmod", "chown", "find", "xargs", "parallel", "ssh", "sh -c", "eval", "python3 -c", "node -e", "ruby -e", "php -r",
    "lua -e", "awk", "vim", "ed", "make", "npm", "docker", "kubectl", "helm", "terraform", "aws", "gcloud", "az", "gsutil",
    "psql -c", "mysql -e", "sqlite3 x.db", "redis-cli", "mongosh --eval", "curl", "wget", "gh", "cargo", "pip", "hg", "svn",
    "jj", "rclone", "restic", "crontab", "systemctl", "patch", "cmake", "gpg", "sort", "7z", "holdpoint", "busybox",
];

const WRAPPERS: &[&str] = &["sudo ", "env A=1 ", "nice -n 5 ", "timeout 5 ", "nohup ", "command ", "time "];

/// Which kinds of deed a script has.
fn kinds(text: &[u8]) -> Vec<Discriminant<DeedKind>> {
    let script = read(text.as_bstr(), &Scope::new("/srv/project"), &Nothing);
    script.deeds.iter().map(|deed| discriminant(&deed.kind)).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let [program, wrapper, rest @ ..] = bytes else {
        return;
    };
    let mut command = PROGRAMS[usize::from(*program) % PROGRAMS.len()].as_bytes().to_vec();
    for word in rest.split(|byte| *byte == b'\n').take(24) {
        command.extend_from_slice(b" '");
        command.extend_from_slice(&word.replace(b"'", b"'\\''"));
        command.push(b'\'');
    }
    let bare = kinds(&command);
    let mut wrapped = WRAPPERS[usize::from(*wrapper) % WRAPPERS.len()].as_bytes().to_vec();
    wrapped.extend_from_slice(&command);
    let wrapped = kinds(&wrapped);
    for kind in bare {
        assert!(wrapped.contains(&kind), "a wrapper hides what {} does", command.as_bstr());
    }
});
