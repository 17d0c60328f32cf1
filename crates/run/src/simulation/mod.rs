//! Whole runs from a seed: the real loop, walk, link and run file, against simulated workers on a clock that no time passes on. A seed draws
//! suite, storage and link, and what goes wrong when; whatever it draws must hold what `checks` says.
//!
//! `STEND_SEED=7 cargo test -p stend-run --lib simulation -- --nocapture` plays one seed, `make simulate` many.

mod away;
mod cable;
mod checks;
mod drives;
mod fleet;
mod observer;
mod planted;
mod run_directory;
mod scenario;
mod session;
mod story;
mod time;
mod worker;

use scenario::Scenario;
use session::messages;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use story::Story;

/// Seeds that are played unless `SEEDS` says how many.
const SEEDS: u64 = 1_000;

/// One of so many seeds is played twice.
const REPLAYED: u64 = 8;

/// What is wrong with the run of a seed, and what it was made of; `None`: this user cannot play it.
fn play(seed: u64) -> Option<(Vec<String>, Vec<&'static str>)> {
    let scenario = Scenario::draw(seed);
    let id = format!("R-{seed}-{}", std::process::id());
    let plain = Story::play(&scenario.untroubled(), 0, &id)?;
    let undisturbed = plain.counted();
    let mut wrong: Vec<String> =
        checks::all(&plain, &undisturbed).into_iter().map(|what| format!("undisturbed: {what}")).collect();
    let play = || Story::play(&scenario, messages(&plain.sessions), &id);
    let story = play()?;
    wrong.extend(checks::all(&story, &undisturbed));
    if seed.is_multiple_of(REPLAYED) {
        wrong.extend(checks::replays(&story, &play()?));
    }
    if !wrong.is_empty() {
        wrong.push(format!("sessions:\n    {}", story.summary()));
    }
    Some((wrong, story.marks()))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// What came of many seeds.
#[derive(Default)]
struct Tally {
    failed: u64,
    /// Those that this user cannot play.
    skipped: u64,
    /// How many runs had what.
    marks: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn add(&mut self, seed: u64, played: std::thread::Result<Option<(Vec<String>, Vec<&'static str>)>>) {
        let (wrong, marks) = match played {
            Ok(Some(played)) => played,
            Ok(None) => return self.skipped += 1,
            Err(_) => (vec!["it panicked".to_string()], Vec::new()),
        };
        let marks: BTreeSet<_> = marks.into_iter().collect();
        marks.into_iter().for_each(|mark| *self.marks.entry(mark).or_default() += 1);
        if !wrong.is_empty() {
            self.failed += 1;
            let wrong = wrong.join("\n  ");
            let again = format!("STEND_SEED={seed} cargo test -p stend-run --lib simulation -- --nocapture");
            eprintln!("seed {seed}:\n  {wrong}\n  play it again: {again}");
        }
    }
}

/// Plays seeds, as many at a time as there are CPUs.
fn play_all(seeds: Range<u64>) -> Tally {
    let (seeds, tally) = (Mutex::new(seeds), Mutex::new(Tally::default()));
    let play_next = || {
        while let Some(seed) = { seeds.lock().unwrap_or_else(PoisonError::into_inner).next() } {
            let played = std::panic::catch_unwind(|| play(seed));
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(seed, played);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(play_next))));
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a thousand seeds always have some of.
const MARKS: [&str; 20] = [
    "worker died",
    "worker hung",
    "garbage",
    "unasked answer",
    "stop",
    "abort",
    "full disk",
    "coordinator killed",
    "machine reset",
    "begun anew",
    "resumed",
    "power cut",
    "unwritten",
    "refused",
    "watched beside",
    "waited for a person",
    "target failed",
    "searched",
    "until precise",
    "rounds",
];

#[test]
fn whatever_a_seed_does_to_a_run_its_file_is_true_and_it_is_finished_when_it_is_resumed() {
    if let Some(one) = number("STEND_SEED") {
        eprintln!("{:#?}", Scenario::draw(one));
        assert_eq!(play_all(one..one + 1).failed, 0);
        return;
    }
    let count = number("SEEDS").unwrap_or(SEEDS);
    let Tally { failed, skipped, marks } = play_all(0..count);
    eprintln!("{count} seeds: {marks:?}");
    assert!(failed == 0, "{failed} of {count} seeds");
    if skipped > 0 {
        eprintln!("skipped: {skipped} of {count} seeds need root for a disk that gets full");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "under CI nothing is skipped");
    } else if count >= SEEDS {
        let missing: Vec<_> = MARKS.iter().filter(|mark| !marks.contains_key(*mark)).collect();
        assert!(missing.is_empty(), "no seed has {missing:?}");
    }
}
