//! `make fuzz`: searches for bytes that a parser cannot take, target after target, and keeps what it did in docs/bench/fuzz.md. Every
//! target gets a slice of time in turn until each has had what was asked for, those of earlier calls included; so it can be ended at any
//! time and goes on where it was. What is found is mended by people.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program for the command line")]

mod page;

use page::{Page, Row};
use std::fmt::Display;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use stend_untrusted::{TARGETS, Target, made};

/// Where the search lies, and where its program is built.
const FUZZ: &str = "fuzz";
const PROGRAM: &str = "fuzz/target/x86_64-unknown-linux-gnu/release/any";
/// Seconds that a target gets in a row.
const SLICE: u64 = 120;
/// Seconds in which a target must be done with its bytes: what takes one outside is slower here, and may have to wait for a CPU.
const TIMEOUT: u64 = 10;
/// MiB that a target may have in all, and in one piece: the largest frame, and as much again.
const MEMORY: u64 = 1024;
const PIECE: u64 = 64;
/// CPU time in the kernel's table of processes is counted in hundredths of a second.
const TICKS: u64 = 100;

type Outcome<T> = Result<T, String>;

fn main() -> ExitCode {
    match search() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(found) => {
            eprintln!(
                "{found} inputs in {FUZZ}/artifacts are not mended; name one as the argument of {PROGRAM} to see it again"
            );
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Searches until every target has had its time; how many inputs are left that are not mended.
fn search() -> Outcome<usize> {
    let setting = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let number = |name: &str, default| match setting(name) {
        Some(text) => text.parse().map_err(|_| format!("{name}={text} is not a number of seconds")),
        None => Ok(default),
    };
    let (goal, slice): (u64, u64) = (number("TIME", 3600)?, number("SLICE", SLICE)?);
    let only = setting("ONLY");
    let chosen: Vec<&Target> =
        TARGETS.iter().filter(|t| only.as_deref().is_none_or(|only| t.name.contains(only))).collect();
    if chosen.is_empty() {
        return Err(format!("no target has `{}` in its name", only.unwrap_or_default()));
    }
    let path = PathBuf::from("docs/bench/fuzz.md");
    build()?;
    chosen.iter().try_for_each(|target| begin(target))?;
    loop {
        let page = Page::read(&path)?;
        // The one that had the least, so that an end at any time leaves all alike.
        let next = chosen.iter().map(|target| (page.row(target.name).seconds, target));
        let Some((had, target)) = next.filter(|(had, _)| *had < goal).min_by_key(|(had, _)| *had) else { break };
        let done = run(target, slice.min(goal - had))?;
        println!("{}: {} executions in {} s, coverage {}", target.name, done.executions, done.seconds, done.coverage);
        let mut page = Page::read(&path)?;
        page.add(target, &done);
        page.write(&path)?;
    }
    Ok(TARGETS.iter().map(artifacts).sum())
}

fn build() -> Outcome<()> {
    let built = Command::new("nice")
        .args(["-n", "19", "cargo", "+nightly", "fuzz", "build", "any"])
        .args(["--fuzz-dir", FUZZ])
        .status();
    match built {
        Ok(status) if status.success() => Ok(()),
        _ => Err("cannot build it: it takes nightly Rust (`rustup toolchain install nightly`) and cargo-fuzz (`cargo install cargo-fuzz`)".into()),
    }
}

/// Gives a target its seeds, if it has none of an earlier search.
fn begin(target: &Target) -> Outcome<()> {
    let corpus = corpus(target);
    let artifacts = artifact_directory(target);
    for directory in [&corpus, &artifacts] {
        fs::create_dir_all(directory).map_err(|e| at(directory, e))?;
    }
    let of_target = made::all().into_iter().filter(|(of, _)| *of == target.name);
    for ((_, bytes), index) in of_target.zip(0..) {
        let path = corpus.join(format!("made-{index}"));
        fs::write(&path, bytes).map_err(|e| at(&path, e))?;
    }
    Ok(())
}

/// Directories of seeds that are read and never written.
fn seeds(target: &Target) -> Vec<String> {
    let own = format!("untrusted/corpus/{}", target.name);
    let all = std::iter::once(own).chain(target.beside.iter().map(|directory| directory.to_string()));
    all.filter(|directory| Path::new(directory).is_dir()).collect()
}

fn corpus(target: &Target) -> PathBuf {
    Path::new(FUZZ).join("corpus").join(target.name)
}

fn artifact_directory(target: &Target) -> PathBuf {
    Path::new(FUZZ).join("artifacts").join(target.name)
}

/// Inputs of a target that are not mended. Slow ones that were done in time are none.
fn artifacts(target: &Target) -> usize {
    let names = fs::read_dir(artifact_directory(target)).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| !name.to_string_lossy().starts_with("slow-unit")).count()
}

/// One slice.
fn run(target: &Target, seconds: u64) -> Outcome<Row> {
    let mut command = Command::new("nice");
    command.args(["-n", "19", PROGRAM]).arg(corpus(target)).args(seeds(target)).env("STEND_TARGET", target.name);
    let prefix = format!("{}/", artifact_directory(target).display());
    let options: [(&str, &dyn Display); 9] = [
        ("max_total_time", &seconds),
        ("max_len", &target.largest),
        ("timeout", &TIMEOUT),
        ("rss_limit_mb", &MEMORY),
        ("malloc_limit_mb", &PIECE),
        ("print_final_stats", &1),
        ("reload", &0),
        ("use_value_profile", &1),
        ("artifact_prefix", &prefix),
    ];
    command.args(options.iter().map(|(name, value)| format!("-{name}={value}")));
    let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = child.map_err(|e| at(Path::new(PROGRAM), e))?;
    let mut row = Row { name: target.name.into(), ..Row::default() };
    let mut last = Vec::new();
    for line in BufReader::new(child.stderr.take().ok_or("no pipe")?).split(b'\n') {
        let line = String::from_utf8_lossy(&line.map_err(|e| e.to_string())?).into_owned();
        row.seconds = cpu_seconds(&child).unwrap_or(row.seconds);
        if let Some(coverage) = told(&line, "cov: ") {
            (row.coverage, row.inputs) = (coverage, told(&line, "corp: ").unwrap_or(row.inputs));
        }
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            row.executions = count.trim().parse().unwrap_or(0);
        }
        last.push(line);
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    // What ended early had its time all the same: else it would be the next again.
    row.seconds = if status.success() { row.seconds } else { row.seconds.max(seconds) };
    if !status.success() {
        let shown = last
            .iter()
            .filter(|line| line.contains("panicked") || line.contains("ERROR") || line.contains("Test unit"));
        shown.for_each(|line| eprintln!("{}: {line}", target.name));
        std::thread::sleep(Duration::from_secs(1));
    }
    row.open = artifacts(target);
    Ok(row)
}

/// The number behind these words.
fn told(line: &str, words: &str) -> Option<u64> {
    let digits = line.split_once(words)?.1;
    digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

/// CPU time of a process so far (proc_pid_stat(5), fields 14 and 15).
fn cpu_seconds(child: &Child) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some((ticks(14)? + ticks(15)?) / TICKS)
}

fn at(path: &Path, why: impl Display) -> String {
    format!("{}: {why}", path.display())
}
