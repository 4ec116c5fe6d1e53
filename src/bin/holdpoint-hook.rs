//! See `holdpoint::app`.
//!
//! With glibc the program starts at C's `main`: before Rust's, the standard library
//! reads `/proc/self/maps` and sets up a stack to tell of an overflow on, which is a
//! tenth of what an empty program costs, at each of an agent's commands.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[allow(
    unsafe_code,
    reason = "the linker finds the start of a program by its name"
)]
#[unsafe(no_mangle)]
extern "C" fn main() -> std::ffi::c_int {
    holdpoint::sys::start::prepare();
    std::process::exit(holdpoint::app::holdpoint_hook().code().into())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    holdpoint::app::holdpoint_hook().into()
}
