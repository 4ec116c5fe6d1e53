//! Shell text in, what it would do out. Pure: no file, no clock, no environment.
//!
//! [`reader`] turns bytes into a tree, [`walk`] goes through the tree as a
//! shell would, carrying directory, variables, functions and aliases along, and
//! [`programs`] knows what each command does with its arguments. What a script
//! would do comes out as [`Deed`]s; whether that loses anything is for
//! `assess` to find out. Files that a command would run are read through
//! [`Lookup`], which the caller supplies.

mod arg;
mod braces;
mod deed;
mod expand;
mod options;
mod pattern;
pub mod programs;
mod reader;
mod scope;
mod syntax;
mod walk;

pub use arg::{Arg, TOKEN, UNKNOWN};
pub use deed::{Declared, Deed, DeedKind, Lookup, Members, Nothing, PathOp, Script};
pub use pattern::matches;
pub use scope::{Dir, Scope, join};
pub(crate) use walk::quoted;

use bstr::BStr;

/// Reads a script and says what it would do.
///
/// Never fails and never leaves a part out: what cannot be read becomes an
/// opaque deed.
#[must_use]
pub fn read(text: &BStr, scope: &Scope, lookup: &dyn Lookup) -> Script {
    let text = walk::clean(text.to_vec());
    let mut walk = walk::Walk::new(scope.clone(), lookup);
    walk.run_text(text.as_slice().into(), &walk::Stream::Unknown);
    walk.end();
    walk.script
}

#[cfg(test)]
mod tests;
