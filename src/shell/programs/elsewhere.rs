//! Commands that run where no safety point reaches: ssh, another root.

use super::carriers::join;
use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::scope::Dir;
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

pub(super) fn ssh(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    if call.name == "sshpass" {
        let options = Options::read(
            call.args,
            &Spec {
                short: "fdpP",
                stops: true,
                ..Spec::default()
            },
        );
        return walk.run_args(&options.operands, call.input);
    }
    let options = Options::read(
        call.args,
        &Spec {
            short: "BbcDEeFIiJLlmOopPQRSWw",
            long: &["ssh", "port"],
            stops: true,
            ..Spec::default()
        },
    );
    for value in options.values(&["o"]) {
        let lower = value.text.to_ascii_lowercase();
        for key in ["proxycommand=", "localcommand="] {
            if let Some(at) = lower.find(key) {
                let text = value.from(at + key.len());
                let _ = walk.run_child(text.text.as_bstr(), &Stream::Unknown);
            }
        }
    }
    let words = match options.operands.get(1..).unwrap_or_default() {
        [dashes, rest @ ..] if dashes.text == "--" => rest,
        words => words,
    };
    let mut input = Stream::Unknown;
    let text = if words.is_empty() {
        match call.input {
            Stream::Text(text) => text.clone(),
            Stream::Remote => {
                walk.note(DeedKind::System {
                    class: SystemClass::RemoteCode,
                    why: "a download is run on another machine".to_owned(),
                });
                return Stream::Unknown;
            }
            _ => return Stream::Unknown,
        }
    } else {
        input = call.input.clone();
        join(words)
    };
    elsewhere(walk, text.as_bstr(), &input, "on another machine")
}

/// Runs text where none of our files are: what it destroys there cannot be had back from here.
pub(super) fn elsewhere(
    walk: &mut Walk<'_>,
    text: &bstr::BStr,
    input: &Stream,
    place: &str,
) -> Stream {
    let scope = walk.scope.clone();
    walk.scope.dir = Dir::Elsewhere;
    walk.scope.home = Some("/root".into());
    let before = walk.script.deeds.len();
    let stream = walk.run_text(text, input);
    walk.scope = scope;
    for deed in walk.script.deeds.iter_mut().skip(before) {
        moved(deed, place);
    }
    stream
}

/// Turns a deed that happens elsewhere into what it is from here.
fn moved(deed: &mut crate::shell::deed::Deed, place: &str) {
    use super::git::Act;
    let level = match &deed.kind {
        DeedKind::File { op, path } => {
            let temporary = path.text.starts_with(b"/tmp/") || path.text.starts_with(b"/var/tmp/");
            match op {
                _ if temporary => Level::Autonomous,
                PathOp::Delete { .. } | PathOp::Empty | PathOp::Mirror => Level::MustAsk,
                PathOp::Permissions {
                    recursive: true, ..
                } => Level::MustAsk,
                PathOp::Replace
                | PathOp::Into { .. }
                | PathOp::Unpack
                | PathOp::Extract(_)
                | PathOp::Move { .. } => {
                    if path.text.starts_with(b"/dev/null") {
                        Level::Autonomous
                    } else if path.text.starts_with(b"/etc") || path.text.starts_with(b"/dev/") {
                        Level::MustAsk
                    } else {
                        Level::Transparent
                    }
                }
                _ => Level::Transparent,
            }
        }
        DeedKind::Git(git) => match &git.act {
            Act::Read | Act::Tells { .. } | Act::MakeRef { .. } => Level::Autonomous,
            Act::Does { class, .. } => match class {
                crate::judge::GitClass::History
                | crate::judge::GitClass::Discard
                | crate::judge::GitClass::Bypass => Level::MustAsk,
                _ => Level::Transparent,
            },
            Act::MoveHead { .. }
            | Act::Checkout { .. }
            | Act::Switch { .. }
            | Act::Abandon { .. } => Level::Transparent,
            _ => Level::MustAsk,
        },
        DeedKind::Package { .. } => Level::Transparent,
        _ => return,
    };
    deed.kind = if level == Level::MustAsk {
        DeedKind::System {
            class: SystemClass::Irreversible,
            why: format!("this happens {place}, where no safety point reaches"),
        }
    } else {
        DeedKind::Marked {
            level,
            why: format!("this happens {place}"),
        }
    };
}

pub(super) fn other_root(walk: &mut Walk<'_>, args: &[Arg], skip: usize) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: if skip == 0 { "tSGW" } else { "" },
            long: &["userspec", "groups", "target", "wd", "setuid", "setgid"],
            stops: true,
            ..Spec::default()
        },
    );
    let words = options.operands.get(skip..).unwrap_or_default().to_vec();
    if words.is_empty() {
        return Stream::Unknown;
    }
    let mut text = BString::default();
    for word in &words {
        text.extend_from_slice(&crate::shell::walk::quote(&word.text, word.glob));
        text.push(b' ');
    }
    elsewhere(
        walk,
        text.as_bstr(),
        &Stream::Unknown,
        "in another root or namespace",
    )
}
