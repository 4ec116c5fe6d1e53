//! The syntax tree of a shell script, as far as judging it needs one.

use bstr::BString;
use std::rc::Rc;

/// A piece of a word before expansion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Unquoted bytes: globs, braces and word splitting apply.
    Bare(BString),
    /// Bytes that mean themselves.
    Quoted(BString),
    /// `$name`, `${name…}`.
    Param(Box<Param>),
    /// `$(…)` or backquotes.
    Command {
        /// What runs.
        body: Rc<Vec<Node>>,
        /// Inside double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// What runs.
        body: Rc<Vec<Node>>,
    },
    /// `$((…))`; only the commands inside matter.
    Arithmetic(Vec<Part>),
    /// `~` or `~user` at the start of a word.
    Tilde(BString),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Param {
    /// Name, digit, or special character.
    pub(crate) name: BString,
    /// The operator after the name (`:-`, `#`, …); empty where there is none.
    pub(crate) operator: BString,
    /// The operator's word.
    pub(crate) word: Vec<Part>,
    /// Inside double quotes.
    pub(crate) quoted: bool,
    /// `${!name}`, `${#name}` or an array subscript: the value is computed.
    pub(crate) computed: bool,
    /// The array subscript's parts.
    pub(crate) subscript: Vec<Part>,
}

/// A word: its parts in order.
pub(crate) type Word = Vec<Part>;

/// How a redirection works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectOp {
    /// `<`
    Read,
    /// `>`, `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`, `>&FILE`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `N>&M`, `N<&M`
    Duplicate,
    /// `<<`, `<<-`, `<<<`: the text itself.
    Here,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Redirect {
    /// The file descriptor, where one is given.
    pub(crate) descriptor: Option<u32>,
    /// How.
    pub(crate) op: RedirectOp,
    /// File name or text; for a here-document filled in when its body is read.
    pub(crate) target: Word,
    /// Index of the here-document whose body belongs here.
    pub(crate) document: Option<usize>,
}

/// `NAME=value` before a command or on its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assignment {
    /// The variable.
    pub(crate) name: BString,
    /// Its value; several for an array.
    pub(crate) values: Vec<Word>,
    /// `(…)` was given.
    pub(crate) array: bool,
    /// `+=`.
    pub(crate) append: bool,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Simple {
    /// Assignments before it.
    pub(crate) assignments: Vec<Assignment>,
    /// The command and its arguments.
    pub(crate) words: Vec<Word>,
    /// Its redirections.
    pub(crate) redirects: Vec<Redirect>,
}

/// How a command hangs on the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// `;`, newline, `&`, or the first one.
    Always,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// A command of any kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A simple command.
    Simple(Simple),
    /// `a | b | c`.
    Pipe(Vec<Node>),
    /// Commands in order.
    List(Vec<(Join, Node)>),
    /// `( … )`.
    Subshell(Rc<Vec<Node>>),
    /// `{ … }`, and the branches of `if`, `while`, `case`: run in this shell.
    Group(Rc<Vec<Node>>),
    /// `for`, `select`.
    For {
        /// The loop's variable.
        name: BString,
        /// What it runs over; `None` for the positional parameters.
        words: Option<Vec<Word>>,
        /// The body.
        body: Rc<Vec<Node>>,
    },
    /// `while`, `until`: condition and body.
    While {
        /// What is tested.
        condition: Rc<Vec<Node>>,
        /// The body.
        body: Rc<Vec<Node>>,
    },
    /// `if`, `case`: alternatives of which any may run.
    Branches(Vec<Rc<Vec<Node>>>),
    /// Words that are only looked at (`[[ … ]]`, `(( … ))`, a `case` subject).
    Words(Vec<Word>),
    /// A function's definition.
    Function {
        /// Its name.
        name: BString,
        /// Its body.
        body: Rc<Node>,
    },
    /// A command with redirections after its end.
    Redirected(Box<Node>, Vec<Redirect>),
    /// `command &`.
    Background(Box<Node>),
    /// Text that could not be read.
    Broken(&'static str),
}
