//! `git config`, and what settings given on the command line or in the environment do.

use super::{Act, Git, setting_of};
use crate::judge::{GitClass, Level};
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::scope::Value;
use crate::shell::walk::Stream;
use bstr::{BString, ByteSlice as _};

/// Variables that hold a command which git runs.
const COMMANDS: &[&str] = &[
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
];

/// Returns true for a setting whose value git runs.
fn runs(key: &str) -> bool {
    matches!(
        key,
        "core.pager"
            | "core.editor"
            | "sequence.editor"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "core.askpass"
            | "core.gitproxy"
            | "core.alternaterefscommand"
            | "diff.external"
            | "interactive.difffilter"
            | "gpg.program"
            | "gpg.ssh.program"
            | "gpg.ssh.defaultkeycommand"
            | "uploadpack.packobjectshook"
            | "web.browser"
            | "man.viewer"
    ) || key.starts_with("pager.")
        || (key.starts_with("diff.") && (key.ends_with(".command") || key.ends_with(".textconv")))
        || (key.starts_with("filter.")
            && ([".clean", ".smudge", ".process"]
                .iter()
                .any(|end| key.ends_with(end))))
        || (key.starts_with("merge.") && key.ends_with(".driver"))
        || (key.starts_with("difftool.") || key.starts_with("mergetool."))
            && key.strip_suffix(".cmd").is_some()
}

/// Returns true for a setting that decides whether hooks run, or makes git read other settings.
fn disarms(key: &str) -> bool {
    key == "core.hookspath" || key.starts_with("hook.") || key == "core.fsmonitor"
}

impl Git<'_, '_> {
    /// Judges settings that came with the command, once it is known whether the command only reads.
    pub(super) fn settings_used(&mut self, reads: bool) {
        for (key, value) in self.settings.clone() {
            if key == "diff.external" || key.starts_with("diff.") && key.ends_with(".command") {
                self.run_with_paths(&value);
            } else if runs(&key)
                || key.starts_with("credential.")
                    && key.ends_with("helper")
                    && value.text.starts_with(b"!")
            {
                self.run_setting(&value);
            }
            if disarms(&key) && key != "core.fsmonitor" && !reads {
                self.bypass(format!("{key} is overridden for this command"));
            }
            if key == "include.path" || key.starts_with("includeif.") {
                self.walk
                    .opaque(Level::Confirm, "settings come from another file");
            }
        }
        for name in COMMANDS {
            if let Some(value) = setting_of(self.walk, name) {
                if *name == "GIT_EXTERNAL_DIFF" {
                    self.run_with_paths(&value);
                } else {
                    self.run_setting(&value);
                }
            }
        }
        if reads {
            return;
        }
        let mut keys: Vec<(BString, Arg)> = self.walk.env.clone();
        // What the script has exported counts as well as what stands before the command.
        let scope = &self.walk.scope;
        for name in &scope.assigned {
            let moves = name.starts_with(b"GIT_CONFIG")
                || matches!(
                    name.as_slice(),
                    b"GIT_EXEC_PATH" | b"HOME" | b"XDG_CONFIG_HOME" | b"XDG_STATE_HOME"
                );
            if let (true, Some(Value::One(value))) = (moves, scope.vars.get(name))
                && scope.home.as_ref() != Some(&value.text)
            {
                keys.push((name.clone(), value.clone()));
            }
        }
        for (name, value) in keys {
            let overrides = name.starts_with(b"GIT_CONFIG_KEY_")
                && disarms(&value.text.to_str_lossy().to_lowercase())
                || name == "GIT_CONFIG_PARAMETERS"
                    && (value.has_unknown()
                        || value.text.to_str_lossy().to_lowercase().contains("hook"))
                || matches!(
                    name.as_slice(),
                    b"GIT_CONFIG_GLOBAL"
                        | b"GIT_CONFIG_SYSTEM"
                        | b"GIT_CONFIG"
                        | b"GIT_CONFIG_NOSYSTEM"
                        | b"GIT_EXEC_PATH"
                        // Where git's and Holdpoint's own settings are looked for.
                        | b"HOME"
                        | b"XDG_CONFIG_HOME"
                        | b"XDG_STATE_HOME"
                );
            if overrides {
                self.bypass(format!("{name} overrides settings for this command"));
            }
        }
    }

    /// A command that git gives the paths of what differs.
    fn run_with_paths(&mut self, value: &Arg) {
        let mut text = value.text.clone();
        text.extend_from_slice(b" \x1a");
        let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
    }

    fn run_setting(&mut self, value: &Arg) {
        if matches!(
            value.text.as_slice(),
            b"" | b"true" | b"false" | b":" | b"cat"
        ) {
            return;
        }
        let mut text = value.text.clone();
        if text.starts_with(b"!") {
            text.remove(0);
        }
        let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
    }

    pub(super) fn config(&mut self, args: &[Arg]) {
        let options = Options::read(
            args,
            &Spec {
                short: "f",
                long: &["file", "blob", "type", "default", "comment", "value", "url"],
                ..Spec::default()
            },
        );
        if options.surely(&[
            "get",
            "get-all",
            "get-regexp",
            "get-urlmatch",
            "get-color",
            "get-colorbool",
            "list",
            "l",
            "name-only",
        ]) {
            self.note(Act::Read);
            return;
        }
        let mut words: Vec<Arg> = options.operands.clone();
        let verb = words.first().map(Arg::word).unwrap_or_default().to_owned();
        let writes = match verb.as_str() {
            "list" | "get" => false,
            "set" | "unset" | "rename-section" | "remove-section" | "edit" => {
                words.remove(0);
                true
            }
            _ => {
                words.len() > 1
                    || options.has(&[
                        "unset",
                        "unset-all",
                        "e",
                        "edit",
                        "rename-section",
                        "remove-section",
                        "add",
                        "replace-all",
                    ])
            }
        };
        if !writes {
            self.note(Act::Read);
            return;
        }
        let removes = verb == "unset"
            || verb == "remove-section"
            || options.has(&["unset", "unset-all", "remove-section"]);
        let machine = options.has(&["system"]);
        let key = words
            .first()
            .map(|word| word.text.to_str_lossy().to_lowercase())
            .unwrap_or_default();
        let section_hook = removes && (key == "core" || key == "hook" || key.starts_with("hook."));
        if key == "clean.requireforce" && !removes {
            // What follows in the same script cleans without -f.
            let value = words.get(1).cloned().unwrap_or_else(|| Arg::known("true"));
            self.walk.set_git_setting(&key, value);
        }
        if disarms(&key) || section_hook {
            self.bypass(format!("the setting {key} decides which hooks run"));
        } else if machine {
            self.walk.note(crate::shell::deed::DeedKind::System {
                class: crate::judge::SystemClass::Config,
                why: "git's settings for the whole machine change".to_owned(),
            });
        } else if key.starts_with("credential.")
            || key.starts_with("url.")
            || key == "core.sshcommand"
            || key.starts_with("http.") && key.ends_with("sslverify")
            || key.starts_with("safe.")
        {
            self.walk.mark(
                Level::Confirm,
                format!("the setting {key} decides who is trusted"),
            );
        } else if key == "core.worktree" || key == "core.bare" || key.starts_with("extensions.") {
            self.does(
                GitClass::History,
                format!("the setting {key} changes what the repository is"),
            );
        } else if key.starts_with("alias.") || runs(&key) {
            if let Some(value) = words.get(1).cloned() {
                if value.text.starts_with(b"!") || runs(&key) {
                    self.run_setting(&value);
                } else if key.starts_with("alias.") {
                    let mut text = BString::from("git ");
                    text.extend_from_slice(&value.text);
                    let _ = self.walk.run_child(text.as_bstr(), &Stream::Unknown);
                }
            }
            self.walk
                .mark(Level::Transparent, format!("git's setting {key} changes"));
        } else if section_of(removes, &verb, &options)
            || removes && (key.starts_with("remote.") || key.starts_with("branch."))
        {
            self.walk.mark(
                Level::Confirm,
                format!("git forgets {key}, and no commit holds it"),
            );
        } else if verb == "edit" || options.has(&["e", "edit"]) {
            self.walk
                .mark(Level::Confirm, "git's settings are edited by hand");
        } else {
            self.walk
                .mark(Level::Transparent, format!("git's setting {key} changes"));
        }
    }
}

/// Whether a whole section of the settings goes or gets another name.
fn section_of(removes: bool, verb: &str, options: &Options) -> bool {
    matches!(verb, "remove-section" | "rename-section")
        || removes && options.has(&["remove-section"])
        || options.has(&["rename-section"])
}
