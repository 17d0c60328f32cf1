//! `make serve-bench`: what does a server cost that knows 10,000 runs, and how long do its readers wait? The released binary over made-up run
//! files, asked over the loopback interface.

mod client;

use crate::analysis::synthesize::{self, Shape};
use crate::{Outcome, Settings, cpu, machine, page, say};
use client::{Address, Connection};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Runs that the server knows.
const RUNS: u64 = 10_000;
/// What each of them is.
const SMALL: Shape = Shape { trials: 2, seconds: 2, hosts: 1, streams: 2, jobs: 2, seed: 1 };
/// Clients that ask at the same time, each for the next answer as soon as it has one.
const CLIENTS: usize = 50;
/// How long they ask.
const ASKING: Duration = Duration::from_secs(5);
/// Clients that follow one run.
const FOLLOWERS: usize = 200;
/// How long they follow, and how long an idle server is looked at.
const LOOKING: Duration = Duration::from_secs(10);
/// A first start and a first page are timed so often, each with a new process; the middle one counts.
const STARTS: usize = 5;
/// A run that goes on while it is followed. It writes to `/dev/null`, little, so that it leaves the server its CPU.
const LIVE: &str = "suite: live
defaults: {ramp: 0s, trial: 60s, direct: false}
fill: {size: 16MiB}
repeats: {blocks: 1}
cases:
  - name: write
    streams: [{op: write, pattern: random, block_size: 4KiB, jobs: 2, rate: 500/s}]
";

/// A number of the page.
struct Row {
    what: String,
    value: f64,
    unit: &'static str,
    /// The most that it may be.
    goal: Option<f64>,
}

fn row(what: &str, value: f64, unit: &'static str, goal: Option<f64>) -> Row {
    Row { what: what.into(), value, unit, goal }
}

/// Makes the runs, asks the server, and writes the page.
pub fn measure(settings: &Settings) -> Outcome<()> {
    let place = tempfile::tempdir_in(&settings.directory).map_err(|e| format!("cannot make a directory: {e}"))?;
    let runs = place.path().join("stend/runs");
    std::fs::create_dir_all(&runs).map_err(|e| format!("cannot make `{}`: {e}", runs.display()))?;
    say(&format!("making {RUNS} runs"));
    for index in 0..RUNS {
        let began = 1_700_000_000 + index as i64 * 3600;
        synthesize::write(&runs.join(name(index)), Shape { seed: index, ..SMALL }, began)?;
    }
    let mut rows = starts(settings, place.path())?;
    let mut server = Server::start(settings, place.path())?;
    server.first_page()?;
    rows.extend(idle(&server, "after its first page")?);
    rows.extend(asked(&server)?);
    rows.push(followed(settings, place.path(), &server)?);
    rows.extend(idle(&server, "after all of that")?);
    server.end()?;
    let text = text(settings, &rows);
    if settings.only.is_some() {
        say(&text);
        return Ok(());
    }
    page::write(&settings.page("serve.md"), &text)
}

/// The name of a run file: that of a run that began at its time.
fn name(index: u64) -> String {
    let (day, second) = (index / 24, index % 24 * 3600);
    let (year, month, date) = (2020 + day / 336, day % 336 / 28 + 1, day % 28 + 1);
    format!("R-{year}{month:02}{date:02}T{:02}0000Z-{index:04x}.stend", second / 3600)
}

/// A running server.
struct Server {
    child: Child,
    address: Address,
    /// From its start until it printed its address.
    started: Duration,
}

impl Server {
    fn start(settings: &Settings, data: &Path) -> Outcome<Server> {
        let begin = Instant::now();
        let mut command = Command::new(&settings.stend);
        command.args(["serve", "--listen", "127.0.0.1:0", "--new-token", "--json"]).env("XDG_DATA_HOME", data);
        command.env("LC_ALL", "C").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| format!("cannot run `{}`: {e}", settings.stend.display()))?;
        let mut printed = String::new();
        let mut stdout = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        while !printed.ends_with("}\n") {
            let more =
                stdout.read_line(&mut printed).map_err(|e| format!("cannot read what the server prints: {e}"))?;
            if more == 0 {
                return Err(format!("the server ended: {printed}"));
            }
        }
        let started = begin.elapsed();
        let told: serde_json::Value = serde_json::from_str(&printed).map_err(|e| format!("{e}: {printed}"))?;
        let word = |key: &str| told[key].as_str().ok_or(format!("the server prints no `{key}`: {printed}"));
        let address = Address::new(word("url")?, word("token")?);
        Ok(Server { child, address, started })
    }

    /// Asks for the first page of runs; how long that took.
    fn first_page(&self) -> Outcome<Duration> {
        let begin = Instant::now();
        let text = Connection::open(&self.address)?.get("/api/v1/runs?limit=50")?;
        let took = begin.elapsed();
        let list: serde_json::Value = serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
        match list["runs"].as_array().map(Vec::len) {
            Some(50) => Ok(took),
            count => Err(format!("the first page has {count:?} runs, not 50")),
        }
    }

    /// Resident memory, MiB (`VmRSS`, proc(5)).
    fn memory(&self) -> Outcome<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        kib.map(|kib| kib / 1024.0).ok_or(format!("`{path}` has no VmRSS"))
    }

    /// Part of a core, %, that the server took while `work` was done.
    fn share<T>(&self, work: impl FnOnce() -> Outcome<T>) -> Outcome<f64> {
        let (before, begin) = (cpu::of_process(self.child.id())?, Instant::now());
        work()?;
        let took = cpu::of_process(self.child.id())?.saturating_sub(before);
        Ok(100.0 * took.as_secs_f64() / begin.elapsed().as_secs_f64())
    }

    fn end(&mut self) -> Outcome<()> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|e| format!("cannot end the server: {e}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already unless something went wrong.
        drop(self.end());
    }
}

/// Starts, each of a new process that remembers nothing.
fn starts(settings: &Settings, data: &Path) -> Outcome<Vec<Row>> {
    let (mut started, mut first) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let server = Server::start(settings, data)?;
        started.push(server.started.as_secs_f64());
        first.push(server.first_page()?.as_secs_f64());
    }
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[STARTS / 2]
    };
    Ok(vec![
        row("start, until the address is printed", middle(started), "s", Some(0.3)),
        row("first page of 50 runs after a start", middle(first), "s", Some(1.0)),
    ])
}

/// What a server takes that is asked nothing.
fn idle(server: &Server, when: &str) -> Outcome<Vec<Row>> {
    let share = server.share(|| {
        std::thread::sleep(LOOKING);
        Ok(())
    })?;
    let memory = server.memory()?;
    Ok(vec![
        row(&format!("memory of an idle server {when}"), memory, "MiB", Some(40.0)),
        row(&format!("CPU time of an idle server {when}"), share, "% of a core", None),
    ])
}

/// Waiting times of clients that ask without a pause.
fn asked(server: &Server) -> Outcome<Vec<Row>> {
    let run = name(RUNS / 2).trim_end_matches(".stend").to_string();
    let asked = [
        ("health".to_string(), "/api/v1/health".to_string()),
        ("a page of 50 runs".into(), "/api/v1/runs?limit=50".into()),
        ("a later page of 50 runs".into(), format!("/api/v1/runs?limit=50&cursor={run}")),
        ("a summary".into(), format!("/api/v1/runs/{run}/summary")),
        ("a whole result".into(), format!("/api/v1/runs/{run}")),
    ];
    let mut rows = Vec::new();
    for (what, path) in asked {
        say(&what);
        let mut waits = waits(&server.address, &path)?;
        waits.sort();
        let p99 = waits[(waits.len() * 99 / 100).min(waits.len() - 1)];
        let rate = waits.len() as f64 / ASKING.as_secs_f64();
        rows.push(row(&format!("p99 of {what}, {CLIENTS} clients"), p99.as_secs_f64() * 1e3, "ms", Some(50.0)));
        rows.push(row(&format!("answers: {what}, {CLIENTS} clients"), rate, "per second", None));
    }
    Ok(rows)
}

fn waits(address: &Address, path: &str) -> Outcome<Vec<Duration>> {
    let end = Instant::now() + ASKING;
    std::thread::scope(|scope| {
        let one = || -> Outcome<Vec<Duration>> {
            let (mut connection, mut waits) = (Connection::open(address)?, Vec::new());
            while Instant::now() < end {
                let begin = Instant::now();
                connection.get(path)?;
                waits.push(begin.elapsed());
            }
            Ok(waits)
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(one)).collect();
        let all = clients.into_iter().map(|client| client.join().map_err(|_| "a client ended early".to_string())?);
        all.collect::<Outcome<Vec<_>>>().map(|all| all.concat())
    })
}

/// What it costs that many follow one run.
fn followed(settings: &Settings, data: &Path, server: &Server) -> Outcome<Row> {
    let suite = data.join("live.yaml");
    std::fs::write(&suite, LIVE).map_err(|e| format!("cannot write `{}`: {e}", suite.display()))?;
    let mut command = Command::new(&settings.stend);
    command.arg("run").arg(&suite).args(["--on", "/dev/null"]).env("XDG_DATA_HOME", data);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|e| format!("no run: {e}"))?;
    let share = follow(server);
    // It would go on for a minute. SIGKILL leaves its file as it is.
    let ended = run.kill().and_then(|()| run.wait());
    ended.map_err(|e| format!("cannot end the run: {e}"))?;
    Ok(row(&format!("{FOLLOWERS} clients follow a run that goes on"), share?, "% of a core", Some(10.0)))
}

fn follow(server: &Server) -> Outcome<f64> {
    let run = live(&server.address)?;
    let path = format!("/api/v1/runs/{run}/events");
    let events = AtomicU64::new(0);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let mut streams = Vec::new();
        for _ in 0..FOLLOWERS {
            streams.push(Connection::open(&server.address)?.stream(&path)?);
        }
        for mut stream in streams {
            let events = &events;
            scope.spawn(move || {
                let mut piece = [0; 4096];
                // It ends with the time, or a limit of the socket.
                while begin.elapsed() < 2 * LOOKING {
                    let Ok(count @ 1..) = stream.read(&mut piece) else { break };
                    events.fetch_add(
                        piece[..count].windows(2).filter(|two| two == b"\n\n").count() as u64,
                        Ordering::Relaxed,
                    );
                }
            });
        }
        // What they had to catch up with.
        std::thread::sleep(LOOKING / 5);
        let caught_up = events.load(Ordering::Relaxed);
        let share = server.share(|| {
            std::thread::sleep(LOOKING);
            Ok(())
        })?;
        let each = (events.load(Ordering::Relaxed) - caught_up) as f64 / FOLLOWERS as f64 / LOOKING.as_secs_f64();
        match each {
            0.5.. => Ok(share),
            _ => Err(format!("each client got {each:.2} events per second only, so nothing was measured")),
        }
    })
}

/// The run that goes on, as soon as the server lists it.
fn live(address: &Address) -> Outcome<String> {
    for _ in 0..100 {
        let text = Connection::open(address)?.get("/api/v1/runs?limit=1&state=running")?;
        let list: serde_json::Value = serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
        if let Some(name) = list["runs"][0]["name"].as_str() {
            return Ok(name.to_string());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err("the run that is to be followed is not listed after 10 s".into())
}

fn text(settings: &Settings, rows: &[Row]) -> String {
    let mut text = format!(
        "# What a server costs\n\nWritten by `make serve-bench`; everything above \"Notes\" is replaced by the next run.\n\n\
         `stend serve` over {RUNS} made-up run files of {} trials, asked over the loopback interface. {CLIENTS} clients ask for {} s, each for the \
         next answer as soon as it has one, so that they wait for each other, too. Of starts the middle one of {STARTS} counts; the page cache is warm.\n\n| | |\n|---|---|\n",
        SMALL.trials,
        ASKING.as_secs(),
    );
    machine::of_host(settings).iter().for_each(|(name, value)| text += &format!("| {name} | {value} |\n"));
    text += "\n| what | measured | goal | reached |\n|---|--:|--:|---|\n";
    for row in rows {
        let (goal, reached) = match row.goal {
            None => ("–".to_string(), "–"),
            Some(goal) => (format!("≤ {goal} {}", row.unit), if row.value <= goal { "yes" } else { "**no**" }),
        };
        text += &format!("| {} | {:.2} {} | {goal} | {reached} |\n", row.what, row.value, row.unit);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_a_name_of_its_own_in_the_order_of_time() {
        let names: Vec<String> = (0..RUNS).map(name).collect();
        assert!(names.is_sorted() && names.windows(2).all(|two| two[0] != two[1]));
        assert_eq!(names[0], "R-20200101T000000Z-0000.stend");
    }

    #[test]
    fn a_goal_that_is_missed_stands_out() {
        let settings = Settings { stend: "true".into(), ..Settings::from_environment().unwrap() };
        let text =
            text(&settings, &[row("a", 2.0, "s", Some(1.0)), row("b", 1.0, "s", Some(1.0)), row("c", 1.0, "s", None)]);
        let ends: Vec<&str> = text.lines().filter(|line| line.ends_with(" |")).rev().take(3).collect();
        assert_eq!(ends, ["| c | 1.00 s | – | – |", "| b | 1.00 s | ≤ 1 s | yes |", "| a | 2.00 s | ≤ 1 s | **no** |"]);
    }
}
