//! Links the programs at a fixed address.
//!
//! A static program that can lie anywhere relocates itself at each start:
//! 13,000 pointers, and a private copy of every page that holds one, which is
//! two thirds of what a hook costs that has nothing to say, and half a millisecond
//! of each `holdpoint save`. Git, agents and scripts start them for every command,
//! so they are linked for one address and give up the randomised one.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let is_static = set("CARGO_CFG_TARGET_FEATURE")
        .split(',')
        .any(|feature| feature == "crt-static");
    if is_static && set("CARGO_CFG_TARGET_OS") == "linux" && set("CARGO_CFG_TARGET_ENV") == "gnu" {
        for argument in ["-no-pie", "-static"] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
