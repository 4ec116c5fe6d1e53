//! Consoles of frameworks: code and statements run with the application's database at hand.

use super::code::{self, Language};
use crate::judge::SystemClass;
use crate::shell::arg::Arg;
use crate::shell::deed::DeedKind;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Endings of an expression that empty a whole table or database.
const EMPTIES: &[&str] = &[
    ".delete_all",
    ".destroy_all",
    ".truncate",
    ".objects.all().delete()",
    ".query.delete()",
    "::truncate()",
    "->truncate()",
    "::query()->delete()",
    "::all()->each->delete()",
    ".drop_all(",
    ".drop_table",
    ".dropall(",
    "sync({force:true})",
    "sync(force:true)",
    ".drop_database",
    "connection.drop",
];

/// Runs a framework's console; false where the command is none.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> bool {
    let options = Options::read(
        call.args,
        &Spec {
            short: "ce",
            long: &["command", "execute", "environment", "settings"],
            ..Spec::default()
        },
    );
    let words: Vec<&str> = options.operands.iter().map(Arg::word).collect();
    let given = |names: &[&str]| options.value(names).map(|arg| arg.text.clone());
    let (language, text) = match (call.name, words.as_slice()) {
        ("rails", ["runner" | "r", ..]) => {
            let text = options.operands.get(1).map(|arg| arg.text.clone());
            (Language::Ruby, text)
        }
        ("rails", ["console" | "c", ..]) => (Language::Ruby, None),
        ("manage.py" | "django-admin", ["shell" | "shell_plus", ..]) => {
            (Language::Python, given(&["c", "command"]))
        }
        ("flask", ["shell", ..]) => (Language::Python, None),
        ("artisan", ["tinker", ..]) => (Language::Php, given(&["execute"])),
        ("rails", ["dbconsole" | "db", ..])
        | ("manage.py" | "django-admin", ["dbshell", ..])
        | ("artisan", ["db", ..]) => {
            if let Stream::Text(text) = call.input {
                super::sql::statements(walk, &text.clone());
            }
            return true;
        }
        _ => return false,
    };
    let text = text.or_else(|| match call.input {
        Stream::Text(text) => Some(text.clone()),
        _ => None,
    });
    if let Some(text) = text {
        code::read(walk, language, &text);
        if empties(&text) {
            walk.note(DeedKind::System {
                class: SystemClass::Irreversible,
                why: "every row of a table is deleted, or the table".to_owned(),
            });
        }
    }
    true
}

fn empties(text: &BString) -> bool {
    let flat: String = text
        .to_str_lossy()
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    EMPTIES.iter().any(|end| flat.contains(end))
}
