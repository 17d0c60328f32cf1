//! `make analysis`: what does it cost to look at long runs, at many of them, and at a recording of a month? The released binary over made-up run files of the size
//! that real ones have; processor time, because a busy machine stretches the clock, and the largest memory.

mod logs;
mod month;
mod peers;
pub mod synthesize;

use crate::{Outcome, Settings, cpu, page, say};
use peers::Pair;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stend_base::Bytes;
use synthesize::Shape;

/// Times that each command runs; the middle one counts.
const ROUNDS: usize = 3;
/// Ten hours of 64 jobs in two streams.
const LONG: Shape = Shape { trials: 10, seconds: 3600, hosts: 1, streams: 2, jobs: 32, seed: 1 };
/// One of many.
const SMALL: Shape = Shape { trials: 6, seconds: 3, hosts: 1, streams: 2, jobs: 4, seed: 1 };
/// How many.
const MANY: u64 = 1000;
/// With `ONLY` it is made for a part of this name alone.
const MONTH: &str = "a recording of 30 days";
/// Most that a recording of a month may take.
const MONTH_MAX: Bytes = Bytes(500_000_000);
/// I/Os of a log.
const LOGGED: u64 = 5_000_000;
/// Lines of a log of histograms.
const HISTOGRAMS: u64 = 10_000;
/// A log of I/Os is read at this rate at least, bytes per second of processor time.
const LOG_RATE: f64 = 0.6e9;
/// A day.
const DAY: i64 = 86_400;
/// The run file that an import makes, in the directory of the bench; it must not be there before.
const IMPORTED: &str = "imported.stend";

/// A command and what it may cost.
#[derive(Clone)]
pub struct Row {
    /// What is done, for people.
    what: &'static str,
    /// Another program than Stend.
    program: Option<PathBuf>,
    /// Verb and options; the files come behind.
    arguments: Vec<String>,
    /// Files.
    files: Vec<PathBuf>,
    /// Processor time that it may take.
    goal: Option<Duration>,
    /// Memory that it may take, MiB.
    memory_goal: Option<u64>,
}

impl Row {
    /// Stend with these words and this file, in at most so many seconds of processor time.
    pub fn of_stend(what: &'static str, words: &[&str], files: &[PathBuf], seconds: u64) -> Row {
        Row {
            what,
            program: None,
            arguments: words.iter().map(ToString::to_string).collect(),
            files: files.to_vec(),
            goal: Some(Duration::from_secs(seconds)),
            memory_goal: None,
        }
    }
}

/// What a command took.
pub struct Took {
    /// User and system time.
    cpu: Duration,
    /// By the clock.
    wall: Duration,
    /// Largest resident memory, MiB.
    memory: u64,
}

/// Makes the files, looks at them, and writes the page.
pub fn measure(settings: &Settings) -> Outcome<()> {
    let directory = settings.directory.join(format!("stend-analysis-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| format!("cannot make `{}`: {e}", directory.display()))?;
    let measured = measured(settings, &directory);
    let month = std::fs::metadata(month_in(&directory)).map(|found| found.len());
    std::fs::remove_dir_all(&directory).map_err(|e| format!("cannot remove `{}`: {e}", directory.display()))?;
    let (rows, pairs) = measured?;
    // `ONLY` may leave it out.
    let month = month.map_or(String::new(), of_month);
    let text = text(settings, &rows) + &month + &peers::text(&pairs);
    match settings.only {
        Some(_) => {
            say(&text);
            Ok(())
        }
        None => page::write(&settings.page("analysis.md"), &text),
    }
}

type Measured = (Vec<(Took, Row)>, Vec<(peers::Times, Pair)>);

fn measured(settings: &Settings, directory: &Path) -> Outcome<Measured> {
    let wanted = |what: &str| settings.only.as_ref().is_none_or(|only| what.contains(only));
    let (imports, pairs) = imports(settings, directory)?;
    let rows = rows(settings, directory)?.into_iter().chain(imports).filter(|row| wanted(row.what));
    let rows = rows.map(|row| Ok((took(settings, &row)?, row))).collect::<Outcome<_>>()?;
    let pairs = pairs.into_iter().filter(|pair| wanted(pair.theirs.what));
    let pairs = pairs.map(|pair| Ok((peers::in_turn(settings, &pair)?, pair)));
    Ok((rows, pairs.collect::<Outcome<_>>()?))
}

fn rows(settings: &Settings, directory: &Path) -> Outcome<Vec<Row>> {
    let long = directory.join("long.stend");
    say("making a run of 10 h");
    synthesize::write(&long, LONG, 1_795_296_000)?;
    say(&format!("making {MANY} small runs"));
    let mut many = Vec::new();
    for index in 0..MANY {
        let path = directory.join(format!("small-{index:04}.stend"));
        synthesize::write(&path, Shape { seed: index, ..SMALL }, 1_700_000_000 + index as i64 * DAY)?;
        many.push(path);
    }
    let month = month_in(directory);
    if settings.only.as_ref().is_none_or(|only| MONTH.contains(only.as_str())) {
        say(&format!("making {MONTH}"));
        month::write(&month, 1_795_296_000)?;
    }
    let out = directory.join("out.html").display().to_string();
    let row = |what, words: &[&str], files: &[PathBuf], seconds, memory_goal| Row {
        memory_goal,
        ..Row::of_stend(what, words, files, seconds)
    };
    let (long, month) = (std::slice::from_ref(&long), std::slice::from_ref(&month));
    Ok(vec![
        row("show a run of 10 h, 64 jobs", &["show"], long, 5, Some(500)),
        row("report of a run of 10 h, 64 jobs", &["report", "-o", &out], long, 5, Some(500)),
        row("history of 1000 runs", &["compare", "--history"], &many, 10, None),
        row("a recording of 30 days: show", &["show"], month, 5, Some(500)),
        row("a recording of 30 days: report", &["report", "-o", &out], month, 5, Some(500)),
        row("a recording of 30 days: journal", &["journal"], month, 5, Some(500)),
    ])
}

/// Where the recording of a month lies.
fn month_in(directory: &Path) -> PathBuf {
    directory.join("month.stend")
}

/// Logs of fio, and fio's own scripts beside them if they are there (`FIOLOGPARSER`, `FIOLOGPARSER_HIST`).
fn imports(settings: &Settings, directory: &Path) -> Outcome<(Vec<Row>, Vec<Pair>)> {
    say("making logs");
    let (each, histograms) = (directory.join("made_lat.1.log"), directory.join("made_clat_hist.1.log"));
    let bytes = logs::each_io(&each, LOGGED)?;
    logs::histograms(&histograms, HISTOGRAMS)?;
    let out = directory.join(IMPORTED).display().to_string();
    let import = |what, file: &PathBuf, goal| Row {
        what,
        program: None,
        arguments: ["import", "-o", &out].map(String::from).to_vec(),
        files: vec![file.clone()],
        goal,
        memory_goal: Some(100),
    };
    let goal = Duration::from_secs_f64(bytes as f64 / LOG_RATE);
    let of_each = import("import a log of 5 M I/Os", &each, Some(goal));
    let of_histograms = import("import a log of 10 000 histograms", &histograms, None);
    let peer = |what, script: &PathBuf, options: &[&str], ours: &Row| Row {
        what,
        program: Some(settings.python.clone()),
        arguments: std::iter::once(script.display().to_string())
            .chain(options.iter().map(ToString::to_string))
            .collect(),
        files: ours.files.clone(),
        goal: None,
        memory_goal: None,
    };
    let means = settings.log_parser.as_ref().map(|script| Pair {
        theirs: peer("a log of 5 M I/Os: fiologparser.py -a -i 1000", script, &["-a", "-i", "1000"], &of_each),
        ours: of_each.clone(),
        at_least: 50.0,
    });
    let tails = settings.histogram_parser.as_ref().map(|script| Pair {
        theirs: peer("a log of 10 000 histograms: fiologparser_hist.py", script, &[], &of_histograms),
        ours: of_histograms.clone(),
        at_least: 100.0,
    });
    Ok((vec![of_each, of_histograms], means.into_iter().chain(tails).collect()))
}

/// The command several times; the middle one by processor time.
pub fn took(settings: &Settings, row: &Row) -> Outcome<Took> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        say(row.what);
        rounds.push(once(settings, row)?);
    }
    rounds.sort_by_key(|took| took.cpu);
    Ok(rounds.swap_remove(ROUNDS / 2))
}

fn once(settings: &Settings, row: &Row) -> Outcome<Took> {
    let program = row.program.as_ref().unwrap_or(&settings.stend);
    let cannot = |e: std::io::Error| format!("cannot run `{}`: {e}", program.display());
    if let Some(left) = row.arguments.iter().find(|word| word.ends_with(IMPORTED)) {
        // There is none before the first time.
        drop(std::fs::remove_file(left));
    }
    let (before, begin) = (cpu::of_children()?, Instant::now());
    let mut command = Command::new(program);
    command.args(&row.arguments).args(&row.files).env("LC_ALL", "C").stdout(Stdio::null()).stderr(Stdio::null());
    // An import of a bench belongs in no list of runs.
    command.envs(row.files.first().and_then(|file| file.parent()).map(|place| ("XDG_DATA_HOME", place)));
    let mut child = command.spawn().map_err(cannot)?;
    let mut memory = 0;
    let status = loop {
        // The peak stays readable until the process is waited for; reading it costs it nothing.
        memory = memory.max(peak(child.id()));
        match child.try_wait().map_err(cannot)? {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let wall = begin.elapsed();
    if !status.success() {
        return Err(format!("`{}` of {} files ended with {status}", row.arguments.join(" "), row.files.len()));
    }
    Ok(Took { cpu: cpu::of_children()? - before, wall, memory })
}

/// Largest resident memory so far, MiB (`VmHWM`, proc(5)); 0 if it is gone.
pub fn peak(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn text(settings: &Settings, rows: &[(Took, Row)]) -> String {
    let version = Command::new(&settings.stend).arg("--version").output();
    let version = version.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string()).unwrap_or_default();
    let head = format!(
        "# What looking at runs costs\n\nWritten by `make analysis`; everything above \"Notes\" is replaced by the next run.\n\n\
         {version} over made-up run files as it would have stored them: ten hours of 64 jobs in two streams (ten trials of one hour; counters of each stream \
         every 100 ms, a histogram of each stream every second, one of each job and trial, telemetry every second), and {MANY} runs of six trials. \
         Logs of fio of {LOGGED} I/Os (five columns; the goal is 0.6 GB/s) and of {HISTOGRAMS} histograms are imported with all that follows: run file, analysis, screen. Each command {ROUNDS} times, the middle one. Processor time is user and system time; by the clock it takes longer while others use the machine.\n\n"
    );
    head + &table(rows)
}

/// What each command took, and whether that is little enough.
pub fn table(rows: &[(Took, Row)]) -> String {
    let mut text =
        "| what | CPU time, s | by the clock, s | memory, MiB | goal | reached |\n|---|---|---|---|---|---|\n"
            .to_string();
    for (took, row) in rows {
        let memory = row.memory_goal.map_or(String::new(), |most| format!(", ≤ {most} MiB"));
        let held =
            row.goal.is_none_or(|most| took.cpu <= most) && row.memory_goal.is_none_or(|most| took.memory <= most);
        let (cpu, wall) = (took.cpu.as_secs_f64(), took.wall.as_secs_f64());
        let goal = row.goal.map_or("–".to_string(), |most| format!("≤ {:.2} s", most.as_secs_f64()));
        let reached = match row.goal {
            None => "–",
            Some(_) if held => "yes",
            Some(_) => "**no**",
        };
        let name = row.what;
        text += &format!("| {name} | {cpu:.2} | {wall:.2} | {} | {goal}{memory} | {reached} |\n", took.memory);
    }
    text.push('\n');
    text
}

/// What the recording of a month takes on the disk.
fn of_month(bytes: u64) -> String {
    let reached = if bytes <= MONTH_MAX.0 { "reached" } else { "**not reached**" };
    format!(
        "A recording of 30 days ({} CPUs, {} drives, a sample each second, kept as `stend record` keeps it) takes {:.0} MB of the disk; goal ≤ {:.0} MB: {reached}.\n\n",
        month::CPUS,
        month::DRIVES,
        bytes as f64 / 1e6,
        MONTH_MAX.0 as f64 / 1e6
    )
}
