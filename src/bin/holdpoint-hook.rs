//! See `holdpoint::app`.

fn main() -> std::process::ExitCode {
    holdpoint::app::holdpoint_hook()
}
