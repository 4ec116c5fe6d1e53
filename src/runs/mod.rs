//! Wrapped runs: start, supervise, judge the outcome, retry, resume (SPEC §8).
//!
//! [`policy`] holds everything that can be decided from plain data. The other
//! modules own one outside thing each.
//!
//! Two processes share a run. The *drive* ([`drive`]) is what a person
//! started: it takes safety points, leads the task from state to state,
//! judges what the run left behind and reports. The *leash* ([`leash`]) is
//! started by it once an attempt, in a session of its own: it is the agent's
//! parent and subreaper, passes its output on, watches the time, ends the
//! whole tree and writes down how it ended. So a drive that is killed loses
//! nothing: the leash goes on, and `--resume` finds its notes ([`record`]).
//! Loops put their commands on the same leash ([`leashed`]).

pub mod beneath;
pub mod delta;
pub mod drive;
mod forbidden;
pub mod gate;
pub mod gitside;
pub mod leash;
pub mod leashed;
pub mod left;
pub mod notes;
pub mod open;
pub mod policy;
pub mod record;
pub mod report;
pub mod sandbox;
pub mod signals;
pub mod stage;
pub mod stream;
pub mod tail;
pub mod terminal;
pub mod tree;
