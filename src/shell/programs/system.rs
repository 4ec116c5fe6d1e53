//! The machine itself: disks, power, services, processes, users, schedules, firewalls.

use super::tables::Harm;
use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::ByteSlice as _;

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    let note = super::tables::note;
    let words: Vec<&str> = call.args.iter().map(Arg::word).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match call.name {
        name if name.starts_with("mkfs")
            || name == "mke2fs"
            || name == "mkswap"
            || name == "mkntfs" =>
        {
            if !has(&["-n", "-N"]) {
                note(
                    walk,
                    Harm::Destroys,
                    "a file system is made anew, all that is on the device is gone",
                );
            }
        }
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "gparted" => {
            if !has(&[
                "-l", "--list", "print", "-p", "--print", "-d", "--dump", "-i", "--info", "-v",
                "--verify", "-V",
            ]) {
                note(walk, Harm::Destroys, "a disk's partitions change");
            }
        }
        "wipefs" | "blkdiscard" | "hdparm" | "nvme" | "badblocks" | "sg_format" | "scrub"
        | "nwipe" | "dban" => {
            let looks = match call.name {
                "wipefs" => {
                    has(&["-n", "--no-act"])
                        || !has(&["-a", "--all", "-o", "-af", "-fa", "--force", "-f"])
                }
                "hdparm" => !words.iter().any(|word| {
                    word.starts_with("--security")
                        || word.starts_with("--trim")
                        || *word == "--write-sector"
                        || *word == "--make-bad-sector"
                }),
                "nvme" => !has(&[
                    "format",
                    "sanitize",
                    "write",
                    "write-zeroes",
                    "delete-ns",
                    "dsm",
                ]),
                "badblocks" => !has(&["-w", "-n"]),
                _ => false,
            };
            if !looks {
                note(walk, Harm::Destroys, "a device's content is wiped");
            }
        }
        "cryptsetup" => {
            if has(&[
                "luksFormat",
                "erase",
                "luksErase",
                "luksKillSlot",
                "luksRemoveKey",
                "reencrypt",
                "luksHeaderRestore",
                "format",
            ]) {
                note(
                    walk,
                    Harm::Destroys,
                    "an encrypted device loses its keys or content",
                );
            }
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" | "init" | "stop-computer"
        | "restart-computer" => {
            let cancels = has(&["-c", "--help", "-k"]);
            if !cancels
                && (call.name != "init" && call.name != "telinit"
                    || has(&["0", "1", "6", "s", "S"]))
            {
                note(
                    walk,
                    Harm::Configures,
                    "the machine is stopped or restarted",
                );
            }
        }
        "systemctl" | "rc-service" | "service" | "launchctl" | "sv" | "initctl"
        | "supervisorctl" | "rc-update" | "chkconfig" | "update-rc.d" | "sc" | "sc.exe"
        | "stop-service" | "remove-service" => services(walk, call.name, &words),
        "kill" | "pkill" | "killall" | "killall5" | "skill" | "xkill" | "fuser" | "taskkill" => {
            kills(walk, call);
        }
        "crontab" => crontab(walk, call, &words),
        "useradd" | "userdel" | "usermod" | "adduser" | "deluser" | "groupadd" | "groupdel"
        | "groupmod" | "delgroup" | "passwd" | "chpasswd" | "visudo" | "vipw" | "chage"
        | "gpasswd" | "dscl" | "newusers" => {
            let looks =
                has(&["-S", "--status", "-l"]) && call.name != "passwd" && call.name != "usermod"
                    || has(&["-S", "--status"]) && call.name == "passwd"
                    || has(&["-c", "--check"]) && call.name == "visudo"
                    || has(&["-list", "-read", "."])
                        && call.name == "dscl"
                        && !has(&["-delete", "-create", "-append"]);
            if !looks {
                note(walk, Harm::Configures, "users, groups or passwords change");
            }
        }
        "iptables" | "ip6tables" | "nft" | "ufw" | "firewall-cmd" | "pfctl" | "ebtables"
        | "iptables-restore" | "netsh" => {
            let looks = has(&[
                "-L",
                "-S",
                "--list",
                "list",
                "status",
                "--list-all",
                "--state",
                "-nL",
                "-vnL",
                "-nvL",
                "show",
                "-sr",
                "-s",
            ]) || words.iter().any(|word| {
                word.starts_with("--list")
                    || word.starts_with("--get")
                    || word.starts_with("--query")
            });
            if !looks {
                note(walk, Harm::Configures, "the firewall changes");
            }
        }
        "sysctl" => {
            if has(&["-w", "--write", "-p", "--load", "--system"])
                || words.iter().any(|word| word.contains('='))
            {
                note(walk, Harm::Configures, "the kernel's settings change");
            }
        }
        "insmod" | "rmmod" | "modprobe" | "kextload" | "kextunload" => {
            if !has(&["-n", "--dry-run", "--show-depends", "-c", "--showconfig"]) {
                note(
                    walk,
                    Harm::Configures,
                    "a kernel module is loaded or removed",
                );
            }
        }
        "mount" | "umount" | "swapoff" | "swapon" | "losetup" => {
            let looks = call.args.is_empty()
                || has(&["-l", "--show", "-a", "--list"])
                    && call.name != "umount"
                    && call.name != "swapoff"
                || words.iter().all(|word| word.starts_with("-l"));
            if !looks {
                note(
                    walk,
                    Harm::Configures,
                    "file systems are mounted or taken away",
                );
            }
        }
        "setenforce" | "semanage" | "setsebool" | "aa-disable" | "aa-teardown" | "spctl"
        | "csrutil" | "nvram" | "tmutil" | "bless" => {
            let looks = has(&[
                "status",
                "--status",
                "-l",
                "list",
                "-p",
                "listbackups",
                "destinationinfo",
                "--assess",
            ]);
            if !looks {
                note(
                    walk,
                    Harm::Configures,
                    "the machine's protections or backups change",
                );
            }
        }
        "ip" | "ifconfig" | "route" | "nmcli" | "networksetup" => {
            if has(&["del", "delete", "flush", "down", "disconnect", "off"]) {
                note(walk, Harm::Configures, "network settings are removed");
            }
        }
        "ssh-keygen" => ssh_keygen(walk, call),
        "gpg" | "gpg2" => {
            if words.iter().any(|word| word.starts_with("--delete")) {
                note(walk, Harm::Destroys, "keys are deleted");
            } else if let Some(path) = Options::read(
                call.args,
                &Spec {
                    short: "oruR",
                    long: &["output", "recipient"],
                    ..Spec::default()
                },
            )
            .value(&["o", "output"])
            {
                walk.file(crate::shell::deed::PathOp::Replace, &path.clone());
            }
        }
        "journalctl" => {
            if words
                .iter()
                .any(|word| word.starts_with("--vacuum") || *word == "--rotate")
            {
                note(walk, Harm::Destroys, "the machine's logs are deleted");
            }
        }
        "logrotate" => {
            if has(&["-f", "--force"]) {
                walk.mark(Level::Confirm, "logs are rotated by force");
            }
        }
        "date"
        | "timedatectl"
        | "hwclock"
        | "hostname"
        | "hostnamectl"
        | "locale-gen"
        | "update-alternatives"
        | "grub-install"
        | "grub-mkconfig"
        | "efibootmgr"
        | "localectl"
        | "loginctl" => {
            let looks = call.args.is_empty()
                || has(&[
                    "status",
                    "show",
                    "list",
                    "-v",
                    "list-timezones",
                    "list-sessions",
                    "--list",
                    "--display",
                    "-r",
                    "--show",
                    "-f",
                    "-s",
                    "-I",
                    "-i",
                    "--query",
                    "-d",
                    "-u",
                ]) && call.name != "date"
                || words.iter().all(|word| word.starts_with('-'))
                    && matches!(call.name, "hostname" | "efibootmgr");
            if !looks {
                note(walk, Harm::Configures, "a setting of the machine changes");
            }
        }
        "truncate-log" => {}
        "diskutil" => {
            if has(&[
                "eraseDisk",
                "eraseVolume",
                "partitionDisk",
                "zeroDisk",
                "secureErase",
                "reformat",
                "randomDisk",
                "apfs",
            ]) && !has(&["list"])
            {
                note(walk, Harm::Destroys, "a disk is erased");
            }
        }
        "format" | "format-volume" | "clear-disk" | "remove-partition" | "diskpart"
        | "initialize-disk" => {
            note(walk, Harm::Destroys, "a disk is erased");
        }
        "reg" | "remove-itemproperty" | "set-itemproperty" | "bcdedit" | "set-executionpolicy" => {
            if !has(&["query", "export", "/enum"]) {
                note(
                    walk,
                    Harm::Configures,
                    "the registry or boot settings change",
                );
            }
        }
        "vssadmin" | "wbadmin" | "cipher" | "clear-recyclebin" => {
            if words.iter().any(|word| {
                matches!(word.to_ascii_lowercase().as_str(), "delete" | "resize")
                    || word.to_ascii_lowercase().starts_with("/w")
            }) || call.name == "clear-recyclebin"
            {
                note(
                    walk,
                    Harm::Destroys,
                    "backups, shadow copies or deleted files are wiped",
                );
            }
        }
        "schtasks" => {
            if words.iter().any(|word| {
                matches!(
                    word.to_ascii_lowercase().as_str(),
                    "/create" | "/delete" | "/change"
                )
            }) {
                note(walk, Harm::Configures, "scheduled tasks change");
            }
        }
        _ => return None,
    }
    Some(Stream::Unknown)
}

fn services(walk: &mut Walk<'_>, program: &str, words: &[&str]) {
    let verb = match program {
        "service" | "rc-service" | "sv" => words
            .iter()
            .filter(|word| !word.starts_with('-'))
            .nth(usize::from(program != "sv")),
        _ => words.iter().find(|word| !word.starts_with('-')),
    };
    // There the verb follows the service's name.
    let verb = match program {
        "update-rc.d" | "chkconfig" => words
            .iter()
            .find(|word| matches!(**word, "remove" | "disable" | "off" | "del" | "--del"))
            .map(|word| if *word == "--del" { &"del" } else { word })
            .or(verb),
        _ => verb,
    };
    let user = words.contains(&"--user");
    let changes = match verb.copied() {
        Some(
            "stop" | "disable" | "mask" | "kill" | "isolate" | "emergency" | "rescue" | "poweroff"
            | "reboot" | "halt" | "kexec" | "delete" | "remove" | "bootout" | "unload" | "shutdown"
            | "revert" | "set-default" | "edit" | "unmask" | "force-stop" | "down" | "clean"
            | "reset-failed" | "default" | "hibernate" | "suspend" | "exit" | "set-property"
            | "del" | "off",
        ) => true,
        Some(
            "restart" | "start" | "enable" | "reload" | "daemon-reload" | "try-restart" | "load"
            | "bootstrap" | "kickstart" | "up" | "add" | "daemon-reexec" | "link" | "preset"
            | "force-reload",
        ) => {
            walk.mark(
                if user {
                    Level::Transparent
                } else {
                    Level::Confirm
                },
                "a service is started, restarted or enabled",
            );
            false
        }
        _ => matches!(program, "stop-service" | "remove-service"),
    };
    if changes {
        super::tables::note(
            walk,
            Harm::Configures,
            "a service is stopped, disabled or removed",
        );
    }
}

fn kills(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words: Vec<&str> = call.args.iter().map(Arg::word).collect();
    if words
        .iter()
        .any(|word| matches!(*word, "-l" | "-L" | "--list" | "-0"))
    {
        return;
    }
    let everything = match call.name {
        "kill" => {
            words
                .iter()
                .skip(1)
                .any(|word| matches!(*word, "-1" | "1" | "0"))
                && words.len() > 1
        }
        "killall5" => true,
        "xkill" => words.iter().any(|word| matches!(*word, "-a" | "-all")),
        "pkill" | "skill" => {
            words
                .iter()
                .any(|word| matches!(*word, "-u" | "-U" | "." | "-f.*" | "--uid"))
                || words
                    .last()
                    .is_some_and(|word| matches!(*word, ".*" | "." | ""))
        }
        "fuser" => {
            words
                .iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('k'))
                && words.iter().any(|word| {
                    word.starts_with('/') && !word.starts_with("/dev/tty")
                        || word.starts_with('-') && word.contains('m')
                })
        }
        _ => false,
    };
    if everything {
        super::tables::note(
            walk,
            Harm::Configures,
            "every process, or every one of a user, is killed",
        );
    } else if matches!(call.name, "kill" | "fuser" | "xkill") {
        let unnamed = call.name != "kill"
            || call
                .args
                .iter()
                .any(|arg| arg.has_unknown() && !arg.is_option());
        let looks = call.name == "fuser"
            && !words.iter().any(|word| {
                matches!(*word, "--kill") || word.starts_with('-') && word.contains('k')
            });
        if unnamed && !looks {
            walk.mark(
                Level::Transparent,
                "processes are killed whose names are not known here",
            );
        }
    } else if matches!(call.name, "pkill" | "killall" | "skill" | "taskkill") {
        let critical = words.iter().any(|word| {
            matches!(
                *word,
                "systemd"
                    | "init"
                    | "sshd"
                    | "dockerd"
                    | "containerd"
                    | "kubelet"
                    | "postgres"
                    | "mysqld"
                    | "mongod"
                    | "redis-server"
                    | "launchd"
                    | "Finder"
                    | "WindowServer"
            )
        });
        if critical {
            super::tables::note(walk, Harm::Configures, "a service's process is killed");
        } else {
            walk.mark(Level::Transparent, "processes are killed by name");
        }
    }
}

fn crontab(walk: &mut Walk<'_>, call: &Call<'_>, words: &[&str]) {
    if words.contains(&"-l") && !words.contains(&"-r") {
        return;
    }
    if words
        .iter()
        .any(|word| word.starts_with('-') && word.contains('r') && *word != "-u")
    {
        super::tables::note(walk, Harm::Destroys, "every scheduled job is deleted");
        return;
    }
    if let Stream::Text(text) = call.input {
        let text = text.clone();
        for line in text.lines() {
            // The command stands after five fields of time.
            let command = line
                .splitn(6, |byte| *byte == b' ')
                .nth(5)
                .unwrap_or_default();
            let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        }
    }
    super::tables::note(walk, Harm::Configures, "scheduled jobs are replaced");
}

fn ssh_keygen(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "abCDEfFIiJmMNnOPRrSstVWwYZz",
            ..Spec::default()
        },
    );
    if options.has(&["R"]) {
        walk.mark(Level::Transparent, "a known host is forgotten");
    } else if options.has(&["l", "y", "F", "e", "i", "B", "Q"]) {
    } else if let Some(path) = options.value(&["f"]).cloned() {
        walk.file(crate::shell::deed::PathOp::Replace, &path);
    }
}
