//! `holdpoint check`: what a command would lose, judged through the real program.

mod evidence;
mod surface;
