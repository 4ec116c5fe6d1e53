//! `holdpoint check`: what a command would lose, judged through the real program.

mod corpus;
mod evidence;
mod project;
mod surface;
