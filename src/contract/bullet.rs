//! Which paths a bullet of a Contract names.
//!
//! Spans in backticks, or else bare words that can only be meant as paths.
//! Those behind "except" are taken out again, as gitignore's `!` does.

/// The paths of a bullet, in the order that gitignore semantics need.
pub(super) fn paths(text: &str) -> Vec<String> {
    let mut reader = Named {
        by: if !backticked(text).is_empty() {
            By::Spans
        } else if text.split_whitespace().count() == 1 {
            By::OneWord
        } else {
            By::Words
        },
        ..Named::default()
    };
    for piece in pieces(text) {
        reader.piece(piece);
    }
    reader.done()
}

/// By what a bullet names paths.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum By {
    /// By spans in backticks; bare words are prose.
    Spans,
    /// It is one word.
    OneWord,
    /// By bare words.
    #[default]
    Words,
}

/// How much was said to be meant before an exception.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Meant {
    /// What is named.
    #[default]
    Named,
    /// "Everything".
    All,
    /// "Nothing".
    Nothing,
}

/// A part of a bullet.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Span(&'a str),
    Word(&'a str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, span, behind)) = first_span(rest) {
        pieces.extend(words(before));
        pieces.push(Piece::Span(span));
        rest = behind;
    }
    pieces.extend(words(rest));
    pieces
}

fn words(text: &str) -> impl Iterator<Item = Piece<'_>> {
    text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '、' | '，' | '；'))
        .filter(|word| !word.is_empty())
        .map(Piece::Word)
}

/// Reads a bullet word by word.
#[derive(Default)]
struct Named {
    by: By,
    /// Words of prose came before.
    prose: bool,
    /// What comes now is an exception.
    except: bool,
    meant: Meant,
    last: String,
    paths: Vec<String>,
    exceptions: Vec<String>,
}

impl Named {
    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Span(span) => self.path(span),
            Piece::Word(word) => self.word(word),
        }
    }

    fn word(&mut self, word: &str) {
        if matches!(word, "and" | "or" | "&" | "和" | "及" | "与") {
            return;
        }
        let bare = word.trim_end_matches(':').trim_end_matches('：');
        let named = self.by != By::Spans
            && if self.prose {
                !self.refers() && is_path_in_prose(trimmed(word))
            } else {
                is_path(bare) || (self.by == By::OneWord && is_name(bare))
            };
        if named {
            let path = if self.prose { trimmed(word) } else { bare };
            self.path(path.trim_matches(['"', '\'']));
        } else {
            self.prose = true;
            self.said(trimmed(word));
        }
        if word.ends_with([')', '）', '.']) {
            self.except = false;
        }
        self.last = trimmed(word).to_ascii_lowercase();
    }

    /// Takes note of the words that turn a list around.
    fn said(&mut self, word: &str) {
        let word = word.to_ascii_lowercase();
        match (self.last.as_str(), word.as_str()) {
            (
                _,
                "except" | "excepting" | "excluding" | "excludes" | "除" | "除了" | "不包括"
                | "不含",
            )
            | ("but", "not")
            | ("apart", "from")
            | ("other", "than") => self.except = true,
            (_, "all" | "everything" | "anything" | "every" | "any" | "所有" | "全部" | "一切") =>
            {
                self.meant = Meant::All;
            }
            (_, "nothing" | "none" | "no") => self.meant = Meant::Nothing,
            _ => {}
        }
    }

    /// Returns true where the word before points elsewhere: "see docs/x.md".
    fn refers(&self) -> bool {
        matches!(
            self.last.as_str(),
            "see" | "cf" | "per" | "like" | "e.g" | "参见" | "见"
        )
    }

    fn path(&mut self, path: &str) {
        if self.except && self.meant != Meant::Nothing {
            let path = path.strip_prefix('!').unwrap_or(path);
            self.exceptions.push(format!("!{path}"));
        } else {
            self.paths.push(path.to_owned());
        }
    }

    fn done(mut self) -> Vec<String> {
        if self.meant == Meant::All && self.paths.is_empty() && !self.exceptions.is_empty() {
            self.paths.push("**".to_owned());
        }
        self.paths.append(&mut self.exceptions);
        self.paths
    }
}

/// A word without the punctuation of the sentence around it.
fn trimmed(word: &str) -> &str {
    word.trim_start_matches(['(', '"', '\'', '“', '（', '['])
        .trim_end_matches([
            ')', ']', '"', '\'', '”', '）', '.', ':', '!', '?', '。', '：',
        ])
}

/// Returns true for a word at the beginning of a bullet that can only be meant as a path or glob.
fn is_path(word: &str) -> bool {
    let body = word.trim_matches(['"', '\'']).trim_start_matches('!');
    if body.contains("://") || matches!(body, "" | "/" | "e.g." | "i.e." | "and/or" | "n/a" | "N/A")
    {
        return matches!(body, "/");
    }
    if body.contains(['/', '*', '[']) || body == "." {
        return true;
    }
    // `Cargo.toml`, `.env`, `a.b.c`; not `end.` and not `2.0`.
    match body.rsplit_once('.') {
        Some((stem, extension)) => {
            (1..=12).contains(&extension.len())
                && extension.chars().all(|c| c.is_ascii_alphanumeric())
                && extension.chars().any(|c| c.is_ascii_alphabetic())
                && stem
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-+@".contains(c))
        }
        None => false,
    }
}

/// Returns true for a word inside a sentence that can only be meant as a path.
///
/// Stricter than at the beginning: sentences have "client/server" and "Node.js".
fn is_path_in_prose(word: &str) -> bool {
    // Directories that no pair of alternatives is called by.
    const ROOTS: &[&str] = &[
        "cmd",
        "crates",
        "docs",
        "examples",
        "internal",
        "lib",
        "libs",
        "migrations",
        "packages",
        "pkg",
        "scripts",
        "spec",
        "src",
        "tests",
    ];
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || "._-+@*?{}[]".contains(c))
    };
    let emphasised = word.len() > 1 && word.starts_with('*') && word.ends_with('*');
    if word.starts_with('/') || word.contains("//") || emphasised {
        return false;
    }
    let dir = word.strip_suffix('/');
    let body = dir.unwrap_or(word);
    let body = body.strip_prefix("./").unwrap_or(body);
    let parts: Vec<&str> = body.split('/').collect();
    if !parts.iter().all(|part| plain(part)) || !body.contains(|c: char| c.is_alphanumeric()) {
        return false;
    }
    let last = parts.last().copied().unwrap_or_default();
    if dir.is_some() || (body.contains('*') && body.contains(['/', '.'])) {
        return true;
    }
    if parts.len() == 1 {
        return is_file_name(last);
    }
    let extension = last.rsplit_once('.').map_or("", |(_, extension)| extension);
    let lettered = extension.contains(|c: char| c.is_ascii_alphabetic());
    lettered || parts[0].starts_with('.') || ROOTS.contains(&parts[0])
}

/// Returns true for a word in a sentence that is a file's name: `Cargo.toml`, `.env`; not `Node.js`.
fn is_file_name(word: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "env", "ex", "exs", "go", "gradle",
        "h", "hpp", "hs", "html", "ini", "ipynb", "java", "js", "json", "jsx", "kt", "lock", "lua",
        "md", "mjs", "mod", "php", "proto", "py", "rb", "rs", "scss", "sh", "sql", "sum", "svelte",
        "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
    ];
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return false;
    };
    if stem.is_empty() {
        return extension.len() >= 3 && extension.chars().all(|c| c.is_ascii_lowercase());
    }
    // `Node.js`, `Next.js`: a capitalised word and `js` is a product.
    let product = extension == "js"
        && stem.starts_with(|c: char| c.is_ascii_uppercase())
        && stem.chars().skip(1).all(|c| c.is_ascii_lowercase());
    !product && (EXTENSIONS.contains(&extension) || stem == ".env")
}

/// Returns true for a lone word that names a file or directory: `src`, `Makefile`.
fn is_name(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "Brewfile",
        "CHANGELOG",
        "CODEOWNERS",
        "Containerfile",
        "Dockerfile",
        "Gemfile",
        "Jenkinsfile",
        "Justfile",
        "LICENSE",
        "Makefile",
        "NOTICE",
        "Pipfile",
        "Podfile",
        "Procfile",
        "README",
        "Rakefile",
        "Vagrantfile",
    ];
    let body = word.trim_start_matches('!');
    NAMES.contains(&body)
        || (!is_none(body)
            && body
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
            && body.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Returns true for a bullet that says that there is nothing to list.
pub(super) fn is_none(text: &str) -> bool {
    matches!(
        text.trim_matches(['(', ')', '.', '_', '*'])
            .to_ascii_lowercase()
            .as_str(),
        "" | "none" | "nothing" | "n/a" | "-" | "tbd" | "无"
    )
}

/// The texts between backticks, single or double.
pub(super) fn backticked(text: &str) -> Vec<&str> {
    pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Span(span) => Some(span),
            Piece::Word(_) => None,
        })
        .collect()
}

/// The first span in backticks that is not empty, with what is before and behind it.
fn first_span(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find('`')?;
        let ticks = text[start..].bytes().take_while(|b| *b == b'`').count();
        let inner = start + ticks;
        let end = inner + text[inner..].find(&text[start..inner])?;
        let span = text[inner..end].trim();
        if !span.is_empty() {
            return Some((&text[..start], span, &text[end + ticks..]));
        }
        from = end + ticks;
    }
}
