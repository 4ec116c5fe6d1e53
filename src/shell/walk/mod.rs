//! Walks through a script as a shell would, without doing anything, and notes what it would do.

mod commands;
mod nodes;
mod stream;
mod text;

pub(crate) use stream::Stream;
pub(crate) use text::{clean, quote, quoted};

use super::arg::Arg;
use super::deed::{Deed, DeedKind, Lookup, PathOp, Script};
use super::reader;
use super::scope::{Dir, Scope};
use crate::judge::Level;
use bstr::{BStr, BString, ByteSlice as _};

/// Commands after which a script counts as too long to judge.
const FUEL: u32 = 120_000;

/// Nesting of wrappers, functions and scripts in scripts beyond which text counts as opaque.
const DEPTH: u16 = 24;

/// Script files that are read because commands run them, scripts in scripts included.
const SCRIPTS: u16 = 48;

/// A line of a file shorter than this may stand in other text by chance.
const SHORTEST_SECRET: usize = 6;

/// Names under which the shell would pass a process substitution.
const STREAMS: &[u8] = b"/dev/fd/holdpoint-";

/// One command as a program gets it.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// The program's name without its directory.
    pub(crate) name: &'c str,
    /// Its arguments.
    pub(crate) args: &'c [Arg],
    /// Its standard input.
    pub(crate) input: &'c Stream,
}

/// A shell that only notes.
pub(crate) struct Walk<'a> {
    /// The shell's state.
    pub(crate) scope: Scope,
    /// The files around.
    pub(crate) lookup: &'a dyn Lookup,
    /// What was noted.
    pub(crate) script: Script,
    /// Variables set for the command at hand only.
    pub(crate) env: Vec<(BString, Arg)>,
    fuel: u32,
    depth: u16,
    streams: Vec<Stream>,
    piped: bool,
    downloads: Vec<BString>,
    written: Vec<(BString, BString)>,
    table: bool,
    traps: Vec<BString>,
    scripts: u16,
    /// Functions and aliases being run, against endless recursion.
    running: Vec<BString>,
    /// git's settings that this script changes.
    settings: Vec<(String, Arg)>,
    /// Files whose content this script has read into a stream or variable.
    read: Vec<Arg>,
    /// Repositories that this script makes where nothing is.
    repositories: Vec<BString>,
    /// This script looks for the guard's processes.
    pub(crate) seeks_guard: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(scope: Scope, lookup: &'a dyn Lookup) -> Self {
        Self {
            scope,
            lookup,
            script: Script::default(),
            env: Vec::new(),
            fuel: FUEL,
            depth: 0,
            streams: Vec::new(),
            piped: false,
            downloads: Vec::new(),
            written: Vec::new(),
            table: false,
            traps: Vec::new(),
            scripts: SCRIPTS,
            running: Vec::new(),
            settings: Vec::new(),
            read: Vec::new(),
            repositories: Vec::new(),
            seeks_guard: false,
        }
    }

    /// Notes a deed in the present directory.
    pub(crate) fn note(&mut self, kind: DeedKind) {
        self.note_in(self.scope.dir.clone(), kind);
    }

    /// Notes a deed in another directory.
    pub(crate) fn note_in(&mut self, dir: Dir, kind: DeedKind) {
        let here = matches!(
            kind,
            DeedKind::File { .. } | DeedKind::Git(_) | DeedKind::Package { .. }
        );
        if let (Some(stay), true) = (&self.scope.stay, here)
            && dir == self.scope.dir
        {
            let mut kind = kind.clone();
            if let DeedKind::Git(git) = &mut kind {
                git.repo.dir = stay.clone();
                git.made = false;
            }
            self.script.deeds.push(Deed {
                kind,
                dir: stay.clone(),
                command: String::new(),
            });
        }
        self.script.deeds.push(Deed {
            kind,
            dir,
            command: String::new(),
        });
    }

    /// Remembers a repository that the script makes in a temporary directory where nothing is.
    ///
    /// A link or a mount that the script puts there, or above, leads to something that was before.
    pub(crate) fn makes_repository(&mut self, dir: BString) {
        let temporary = dir.starts_with(b"/tmp/") || dir.starts_with(b"/var/tmp/");
        if !temporary || self.scope.stay.is_some() || self.lookup.exists(&dir) != Some(false) {
            return;
        }
        if !self.leads_away(&dir) && self.repositories.len() < 16 {
            self.repositories.push(dir);
        }
    }

    /// Whether a directory is one of a repository that the script makes.
    pub(crate) fn has_made(&self, dir: &BString) -> bool {
        self.repositories.iter().any(|made| below(dir, made)) && !self.leads_away(dir)
    }

    /// Whether the script may have put a link or a mount at a path or above it.
    fn leads_away(&self, dir: &BString) -> bool {
        let at = |deed: &Deed, path: &Arg| match deed.dir.join(path) {
            Dir::Known(path) => below(dir, &path),
            Dir::Unknown | Dir::Elsewhere => true,
        };
        self.script.deeds.iter().any(|deed| match &deed.kind {
            DeedKind::File { op, path } => match op {
                PathOp::Move { to } => at(deed, to),
                PathOp::Into { name, .. } if path.text.ends_with(b"/") => {
                    let mut inner = path.clone();
                    inner.text.extend_from_slice(name);
                    at(deed, &inner)
                }
                PathOp::Make
                | PathOp::Replace
                | PathOp::Into { .. }
                | PathOp::Unpack
                | PathOp::Extract(_)
                | PathOp::Lay { .. } => at(deed, path),
                _ => false,
            },
            DeedKind::System { .. } | DeedKind::Opaque { .. } => true,
            _ => false,
        })
    }

    /// Notes that something happens to a path.
    pub(crate) fn file(&mut self, op: PathOp, path: &Arg) {
        self.note(DeedKind::File {
            op,
            path: path.clone(),
        });
    }

    /// Notes something that cannot be told.
    pub(crate) fn opaque(&mut self, worst: Level, why: impl Into<String>) {
        self.note(DeedKind::Opaque {
            worst,
            why: why.into(),
        });
    }

    /// Notes a finding at a level of its own.
    pub(crate) fn mark(&mut self, level: Level, why: impl Into<String>) {
        self.note(DeedKind::Marked {
            level,
            why: why.into(),
        });
    }

    /// Whether the command at hand reads what another one writes.
    pub(crate) fn piped(&self) -> bool {
        self.piped
    }

    /// Notes that a download is written to a path.
    pub(crate) fn download_to(&mut self, path: &Arg) {
        self.downloads.push(plain_path(path));
    }

    /// Whether this script downloads what lies at a path.
    pub(crate) fn downloaded(&self, path: &Arg) -> bool {
        self.downloads.contains(&plain_path(path))
    }

    /// Whether this script itself writes a path, so that what is there now says nothing.
    pub(crate) fn comes_later(&self, path: &Arg) -> bool {
        self.downloaded(path)
            || self.script.deeds.iter().any(
                |deed| matches!(&deed.kind, DeedKind::File { path: known, .. } if known.text == path.text),
            )
    }

    /// Remembers text that this script writes to a path.
    pub(crate) fn write_to(&mut self, path: &Arg, text: &[u8], append: bool) {
        let mut whole = if append {
            self.written(path).unwrap_or_default()
        } else {
            BString::default()
        };
        if whole.len() + text.len() > 256 * 1024 || self.written.len() > 256 {
            return;
        }
        whole.extend_from_slice(text);
        self.written.push((plain_path(path), whole));
    }

    /// The text that this script itself writes to a path.
    pub(crate) fn written(&self, path: &Arg) -> Option<BString> {
        let path = plain_path(path);
        self.written
            .iter()
            .rev()
            .find(|(known, _)| *known == path)
            .map(|(_, text)| text.clone())
    }

    /// Remembers that a file's content is at hand from now on.
    pub(crate) fn has_read(&mut self, path: &Arg) {
        if self.read.len() < 64 && !path.text.is_empty() {
            self.read.push(path.clone());
        }
    }

    /// Notes that what was read so far may leave for another machine.
    pub(crate) fn sends_what_was_read(&mut self) {
        for path in std::mem::take(&mut self.read) {
            self.file(PathOp::Send, &path);
        }
    }

    /// Notes the files that were read and whose lines stand in text that leaves the machine.
    pub(crate) fn sends_text(&mut self, text: &[u8]) {
        let quoting: Vec<Arg> = self
            .read
            .iter()
            .filter(|path| match self.read_path(path) {
                Stream::Text(held) => held
                    .lines()
                    .map(<[u8]>::trim_ascii)
                    .any(|line| line.len() >= SHORTEST_SECRET && text.contains_str(line)),
                _ => text.contains(&super::arg::UNKNOWN),
            })
            .cloned()
            .collect();
        for path in quoting {
            self.file(PathOp::Send, &path);
        }
    }

    /// Remembers a git setting that this script changes.
    pub(crate) fn set_git_setting(&mut self, key: &str, value: Arg) {
        if self.settings.len() < 64 {
            self.settings.push((key.to_owned(), value));
        }
    }

    /// A git setting as this script left it.
    pub(crate) fn git_setting(&self, key: &str) -> Option<&Arg> {
        self.settings
            .iter()
            .rev()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }

    /// Remembers whether a table's row matched.
    pub(crate) fn set_table(&mut self, matched: bool) {
        self.table = matched;
    }

    /// Whether the last table asked had a row that matched.
    pub(crate) fn noted_by_table(&self) -> bool {
        self.table
    }

    /// Keeps a stream under a name that a program may open.
    pub(crate) fn keep_stream(&mut self, stream: Stream) -> Vec<u8> {
        let mut name = STREAMS.to_vec();
        name.extend_from_slice(self.streams.len().to_string().as_bytes());
        self.streams.push(stream);
        name
    }

    /// What a program would read from a path.
    pub(crate) fn read_path(&self, path: &Arg) -> Stream {
        if let Some(index) = path.text.strip_prefix(STREAMS) {
            return index
                .to_str()
                .ok()
                .and_then(|digits| digits.parse::<usize>().ok())
                .and_then(|index| self.streams.get(index).cloned())
                .unwrap_or(Stream::Unknown);
        }
        if path.remote {
            return Stream::Remote;
        }
        if path.text == "/dev/null" {
            return Stream::Nothing;
        }
        if let Some(text) = self.written(path) {
            return Stream::Text(text);
        }
        if self.downloaded(path) {
            return Stream::Remote;
        }
        let Some(path) = path.literal() else {
            return Stream::Unknown;
        };
        match self.scope.dir.join(&Arg::known(path)) {
            Dir::Known(path) => self
                .lookup
                .file(&path)
                .map_or(Stream::Unknown, |text| Stream::Text(clean(text).into())),
            Dir::Unknown | Dir::Elsewhere => Stream::Unknown,
        }
    }

    /// Whether a file is not there and nothing in this script makes it.
    pub(crate) fn is_missing(&self, path: &Arg) -> bool {
        path.literal()
            .is_some_and(|_| match self.scope.dir.join(path) {
                Dir::Known(full) => self.lookup.exists(&full) == Some(false),
                Dir::Unknown | Dir::Elsewhere => false,
            })
            && !self.comes_later(path)
    }

    /// The text of a script file that a command would run.
    pub(crate) fn read_script(&mut self, path: &Arg) -> Stream {
        match self.read_path(path) {
            Stream::Text(_) if self.scripts == 0 => {
                self.opaque(Level::Confirm, "more scripts than are read call each other");
                Stream::Unknown
            }
            Stream::Text(text) => {
                self.scripts -= 1;
                Stream::Text(text)
            }
            other => other,
        }
    }

    /// Runs text as a script of its own in this shell's state.
    pub(crate) fn run_text(&mut self, text: &BStr, input: &Stream) -> Stream {
        if !self.deeper() {
            return Stream::Unknown;
        }
        let nodes = reader::read(text);
        let stream = self.nodes(&nodes, input);
        self.depth -= 1;
        stream
    }

    /// Keeps text that runs when the shell ends, with the variables that it has by then.
    pub(crate) fn at_end(&mut self, text: &BString) {
        if self.traps.len() < 16 {
            self.traps.push(text.clone());
        } else {
            self.opaque(Level::Confirm, "more traps than are followed");
        }
    }

    /// Runs what was kept for the end.
    pub(crate) fn end(&mut self) {
        // A trap may set traps; each is run once.
        for _ in 0..16 {
            let Some(text) = self.traps.pop() else { return };
            let _ = self.run_child(text.as_bstr(), &Stream::Unknown);
        }
    }

    /// Runs text as another shell would: what it changes of the state is gone afterwards.
    pub(crate) fn run_child(&mut self, text: &BStr, input: &Stream) -> Stream {
        let scope = self.scope.clone();
        let traps = std::mem::take(&mut self.traps);
        let stream = self.run_text(text, input);
        self.end();
        self.traps = traps;
        self.scope = scope;
        stream
    }

    fn deeper(&mut self) -> bool {
        if self.depth >= DEPTH {
            self.opaque(Level::MustAsk, "commands nested too deeply to be read");
            return false;
        }
        self.depth += 1;
        true
    }
}

/// Whether a path is another one or lies below it.
fn below(path: &BString, above: &BString) -> bool {
    path.strip_prefix(above.as_slice())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn plain_path(path: &Arg) -> BString {
    let text = path.text.strip_prefix(b"./").unwrap_or(&path.text);
    text.into()
}
