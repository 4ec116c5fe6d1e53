//! Whole processes measured in turn (A B C, A B C, …), their medians and ratios.

#![allow(
    unsafe_code,
    reason = "the processor time of children is had from getrusage alone"
)]
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of it"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One thing to measure.
pub struct Contender<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// Puts the stage in order before each run; not measured.
    pub before: Box<dyn FnMut() + 'a>,
    /// Makes the command to measure.
    pub command: Box<dyn FnMut() -> Command + 'a>,
}

/// Medians of one contender.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// Wall time.
    pub wall: Duration,
    /// Processor time, user and system, of the process and its children.
    pub cpu: Duration,
}

/// Runs every contender once a round, order rotated, and returns the medians.
///
/// # Panics
/// When a command cannot be started or fails.
pub fn measure(contenders: &mut [Contender<'_>], rounds: usize) -> Vec<Figure> {
    let count = contenders.len();
    let mut wall = vec![Vec::new(); count];
    let mut cpu = vec![Vec::new(); count];
    for round in 0..=rounds {
        for turn in 0..count {
            let at = (turn + round) % count;
            let contender = &mut contenders[at];
            (contender.before)();
            let mut command = (contender.command)();
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let cpu_before = children_cpu();
            let start = Instant::now();
            let status = command.status().expect("start");
            let took = start.elapsed();
            assert!(status.success(), "{} failed: {status}", contender.name);
            // The first round warms the caches.
            if round > 0 {
                wall[at].push(took);
                cpu[at].push(children_cpu().saturating_sub(cpu_before));
            }
        }
    }
    contenders
        .iter()
        .enumerate()
        .map(|(at, contender)| Figure {
            name: contender.name.to_owned(),
            wall: median(&mut wall[at]),
            cpu: median(&mut cpu[at]),
        })
        .collect()
}

/// Prints a table; ratios are against the contender named `base`.
pub fn print(title: &str, figures: &[Figure], base: &str) {
    println!("\n{title}");
    let base = figures
        .iter()
        .find(|figure| figure.name == base)
        .expect("base");
    println!(
        "{:<34} {:>9} {:>7} {:>9} {:>7}",
        "", "wall ms", "ratio", "cpu ms", "ratio"
    );
    for figure in figures {
        println!(
            "{:<34} {:>9.2} {:>7.2} {:>9.2} {:>7.2}",
            figure.name,
            figure.wall.as_secs_f64() * 1e3,
            figure.wall.as_secs_f64() / base.wall.as_secs_f64(),
            figure.cpu.as_secs_f64() * 1e3,
            figure.cpu.as_secs_f64() / base.cpu.as_secs_f64(),
        );
    }
}

fn median(values: &mut [Duration]) -> Duration {
    values.sort();
    values[values.len() / 2]
}

/// Processor time of all children that were waited for.
pub fn children_cpu() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct it is given.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec.unsigned_abs())
            + Duration::from_micros(t.tv_usec.unsigned_abs())
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Compiles a static program that reads its standard input and leaves; the floor of every hook.
///
/// # Panics
/// When rustc cannot build it.
pub fn empty_program(dir: &Path) -> PathBuf {
    let source = dir.join("empty.rs");
    std::fs::write(
        &source,
        "fn main() { let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink()); }\n",
    )
    .expect("write");
    let program = dir.join("empty");
    let status = Command::new("rustc")
        .args([
            "-O",
            "-C",
            "target-feature=+crt-static",
            "-C",
            "panic=abort",
            "-C",
            "strip=symbols",
            "-o",
        ])
        .arg(&program)
        .arg(&source)
        .status()
        .expect("rustc");
    assert!(status.success());
    program
}

/// Runs a command of the scenery.
///
/// # Panics
/// When it fails.
pub fn run(command: &mut Command) {
    let output = command.output().expect("start");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
