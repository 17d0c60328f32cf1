//! `kill -9` at random moments: the file opens, and everything older than a second is in it.
//!
//! A child (this test binary, told by its environment) appends events and logs each one after the
//! append returned; the parent kills it and compares.

use super::*;
use crate::event::{Event, EventKind};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use stend_base::Nanos;
use stend_base::random::Random;

/// The most that a kill may cost.
const LOSS_MAX: Nanos = Nanos::secs(1);
/// Kills per mode.
const KILLS: u32 = 20;
/// Names the directory of the child; its presence makes the child.
const CHILD: &str = "STEND_TEST_KILLED_CHILD";

fn now() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Not a test of its own: does nothing unless the parent started it.
#[test]
fn the_child_appends_until_it_is_killed() {
    let Some(directory) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let options = if directory.ends_with("spooled") { SPOOLED } else { PLAIN };
    let file = directory.join("R-1.stend");
    let writer = create_with(&file, &samples::header(), options, None, &directory).unwrap();
    let mut log = std::fs::File::create(directory.join("log")).unwrap();
    // Half of the children are killed near an edge, the others live on commits and the spool alone.
    let edges = directory
        .parent()
        .and_then(|number| number.to_str())
        .is_some_and(|number| number.ends_with(['0', '2', '4', '6', '8']));
    // More than any parent waits: the child must not outlive a parent that panics.
    for n in 0..4000u32 {
        let at = now();
        writer.append(Entry::Event(Event::new(at, EventKind::Note { text: n.to_string() })));
        log.write_all(&at.0.to_le_bytes()).unwrap();
        match n % 40 {
            0 if edges => writer.edge(),
            10 => writer.window(true),
            35 => writer.window(false),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills the child on every path out of the test.
struct Victim {
    child: Child,
    directory: PathBuf,
    alive: Duration,
}

impl Drop for Victim {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn start(place: &Path, n: u32, mode: &str, random: &mut Random) -> Victim {
    let directory = place.join(n.to_string()).join(mode);
    std::fs::create_dir_all(&directory).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::tests::killed::the_child_appends_until_it_is_killed"])
        .env(CHILD, &directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Victim { child, directory, alive: Duration::from_millis(random.below(1800)) }
}

/// What the child logged, and what the run file holds of it.
fn check(victim: &mut Victim, killed_at: Nanos) {
    let logged = std::fs::read(victim.directory.join("log")).unwrap();
    let logged: Vec<Nanos> = logged.as_chunks::<8>().0.iter().map(|at| Nanos(u64::from_le_bytes(*at))).collect();
    let record = crate::store::read(&victim.directory.join("R-1.stend")).unwrap();
    assert_eq!(record.state, RunState::Open);
    let texts = record.events.iter().map(|event| match &event.kind {
        EventKind::Note { text } => text.parse::<usize>().unwrap(),
        other => panic!("{other:?}"),
    });
    assert!(texts.eq(0..record.events.len()), "events are missing or out of order: {record:?}");
    let due = logged.iter().filter(|at| **at + LOSS_MAX < killed_at).count();
    assert!(record.events.len() >= due, "{} of {due} events", record.events.len());
}

#[test]
fn a_kill_costs_at_most_the_last_second() {
    let seed = now().0;
    let mut random = Random::new(seed);
    // On tmpfs where there is one: dozens of writers on one disk would measure the disk.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let modes = ["plain", "spooled"].into_iter().flat_map(|mode| (0..KILLS).map(move |n| (mode, n)));
    let mut victims: Vec<Victim> = modes.map(|(mode, n)| start(place.path(), n, mode, &mut random)).collect();
    for victim in &victims {
        let begun = Instant::now();
        while !victim.directory.join("log").exists() {
            assert!(begun.elapsed() < LIMIT, "the child did not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let begun = Instant::now();
    victims.sort_by_key(|victim| victim.alive);
    for victim in &mut victims {
        std::thread::sleep(victim.alive.saturating_sub(begun.elapsed()));
        let killed_at = now();
        victim.child.kill().unwrap();
        victim.child.wait().unwrap();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(victim, killed_at)));
        if let Err(panic) = outcome {
            eprintln!("seed {seed}, {}", victim.directory.display());
            std::panic::resume_unwind(panic);
        }
    }
}
