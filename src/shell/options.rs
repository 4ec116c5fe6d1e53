//! Options as programs read them: clustered, abbreviated, with values, up to `--`.

use super::arg::Arg;
use bstr::ByteSlice as _;

/// What a program's options look like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spec {
    /// Short options that take a value.
    pub(crate) short: &'static str,
    /// Short options whose value, if any, is stuck to them.
    pub(crate) stuck: &'static str,
    /// Long options that take a value, also in the next argument.
    pub(crate) long: &'static [&'static str],
    /// The first operand ends the options.
    pub(crate) stops: bool,
    /// Long options begin with one dash (`find`, `terraform`, Java's).
    pub(crate) single_dash: bool,
}

/// One option that was given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// Without its dashes; one letter for a short one.
    pub(crate) name: String,
    /// With two dashes (or a whole word after one).
    pub(crate) long: bool,
    /// Its value.
    pub(crate) value: Option<Arg>,
}

/// A command line taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// In order.
    pub(crate) given: Vec<Given>,
    /// What is no option.
    pub(crate) operands: Vec<Arg>,
    /// How many operands came before a `--`; `None` without one.
    pub(crate) dashes: Option<usize>,
    /// Long options begin with one dash, and are never cut short.
    whole: bool,
}

impl Options {
    /// Reads a command line.
    pub(crate) fn read(args: &[Arg], spec: &Spec) -> Self {
        let mut options = Self {
            whole: spec.single_dash,
            ..Self::default()
        };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.text.as_slice();
            if options.dashes.is_some() || !arg.is_option() {
                options.operands.push(arg.clone());
                if spec.stops {
                    options.operands.extend(rest.cloned());
                    break;
                }
            } else if text == b"--" {
                options.dashes = Some(options.operands.len());
                if spec.stops {
                    options.operands.extend(rest.cloned());
                    break;
                }
            } else if text.starts_with(b"--") || spec.single_dash {
                let body = arg.from(if text.starts_with(b"--") { 2 } else { 1 });
                let (name, value) = match body.text.find_byte(b'=') {
                    Some(at) => (
                        body.text
                            .get(..at)
                            .unwrap_or_default()
                            .to_str_lossy()
                            .into_owned(),
                        Some(body.from(at + 1)),
                    ),
                    None => (body.text.to_str_lossy().into_owned(), None),
                };
                let takes = value.is_none()
                    && (spec.long.contains(&name.as_str())
                        || (name.len() > 3
                            && !spec.single_dash
                            && spec.long.iter().any(|long| long.starts_with(&name))));
                let value = if takes { rest.next().cloned() } else { value };
                options.given.push(Given {
                    name,
                    long: true,
                    value,
                });
            } else {
                options.cluster(arg, spec, &mut rest);
            }
        }
        options
    }

    fn cluster(&mut self, arg: &Arg, spec: &Spec, rest: &mut std::slice::Iter<'_, Arg>) {
        let mut at = 1;
        while let Some(byte) = arg.text.get(at) {
            let letter = char::from(*byte);
            at += 1;
            let mut value = None;
            if spec.short.contains(letter) {
                value = if at < arg.text.len() {
                    Some(arg.from(at))
                } else {
                    rest.next().cloned()
                };
                at = arg.text.len();
            } else if spec.stuck.contains(letter) && at < arg.text.len() {
                value = Some(arg.from(at));
                at = arg.text.len();
            }
            self.given.push(Given {
                name: letter.to_string(),
                long: false,
                value,
            });
        }
    }

    /// Returns true where one of these was given: one letter is short, more is long.
    ///
    /// A long option counts when it is abbreviated to at least `least` letters.
    fn find(&self, names: &[&str], least: usize) -> Option<&Given> {
        self.given.iter().rev().find(|given| {
            names.iter().any(|name| {
                if name.len() == 1 {
                    !given.long && given.name == *name
                } else {
                    given.long
                        && (given.name == *name
                            || (given.name.len() >= least && name.starts_with(&given.name)))
                }
            })
        })
    }

    /// Returns true where an option that makes things worse may be meant.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.find(names, self.least()).is_some()
    }

    /// Letters to which an option may be cut that makes things worse: git takes any that is unique.
    fn least(&self) -> usize {
        if self.whole { 3 } else { 1 }
    }

    /// Returns true where an option that makes things harmless is certainly meant.
    pub(crate) fn surely(&self, names: &[&str]) -> bool {
        self.find(names, 4).is_some()
    }

    /// The value of the last of these options.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Arg> {
        self.find(names, 3).and_then(|given| given.value.as_ref())
    }

    /// All values of these options.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<&Arg> {
        self.given
            .iter()
            .filter(|given| {
                names.iter().any(|name| {
                    if name.len() == 1 {
                        !given.long && given.name == *name
                    } else {
                        given.long
                            && (given.name == *name
                                || (given.name.len() >= 3 && name.starts_with(&given.name)))
                    }
                })
            })
            .filter_map(|given| given.value.as_ref())
            .collect()
    }
}

/// Returns true where a program was only asked about itself.
pub(crate) fn asks_help(args: &[Arg]) -> bool {
    args.first().is_some_and(|arg| arg.text == "--version")
        || args
            .iter()
            .take_while(|arg| arg.text != "--")
            .any(|arg| arg.text == "--help")
}
