//! Whole runs from a seed: the real loop, walk, link and run file, against simulated workers on a clock that no time passes on. A seed draws
//! suite, storage and link, and what goes wrong when; whatever it draws must hold what `checks` says.
//!
//! `STEND_SEED=7 cargo test -p stend-run --lib simulation -- --nocapture` plays one seed, `make simulate` many.

mod cable;
mod checks;
mod drives;
mod observer;
mod place;
mod planted;
mod scenario;
mod session;
mod story;
mod time;
mod worker;

use scenario::Scenario;
use session::messages;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use story::Story;

/// Seeds that are played unless `SEEDS` says how many.
const SEEDS: u64 = 1_000;

/// Of so many seeds one is played twice.
const REPLAYED: u64 = 4;

/// What is wrong with the run of a seed; `None`: this user cannot play it.
fn play(seed: u64) -> Option<Vec<String>> {
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
    Some(wrong)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays seeds until none is left, and tells what is wrong with them: how many failed, and how many this user cannot play.
fn play_all(seeds: &Mutex<Range<u64>>) -> (u64, u64) {
    let (mut failed, mut skipped) = (0, 0);
    while let Some(seed) = { seeds.lock().unwrap_or_else(PoisonError::into_inner).next() } {
        let told = std::panic::catch_unwind(|| play(seed)).unwrap_or_else(|_| Some(vec!["it panicked".to_string()]));
        let Some(wrong) = told else {
            skipped += 1;
            continue;
        };
        if !wrong.is_empty() {
            failed += 1;
            let wrong = wrong.join("\n  ");
            let again = format!("STEND_SEED={seed} cargo test -p stend-run --lib simulation -- --nocapture");
            eprintln!("seed {seed}:\n  {wrong}\n  play it again: {again}");
        }
    }
    (failed, skipped)
}

#[test]
fn whatever_a_seed_does_to_a_run_its_file_is_true_and_it_is_finished_when_it_is_resumed() {
    let one = number("STEND_SEED");
    let count = if one.is_some() { 1 } else { number("SEEDS").unwrap_or(SEEDS) };
    let first = one.unwrap_or(0);
    if one.is_some() {
        eprintln!("{:#?}", Scenario::draw(first));
    }
    let seeds = Mutex::new(first..first + count);
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let results: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let playing: Vec<_> = (0..threads).map(|_| scope.spawn(|| play_all(&seeds))).collect();
        playing.into_iter().map(|thread| thread.join().expect("a thread that plays")).collect()
    });
    let (failed, skipped) = results.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(failed == 0, "{failed} of {count} seeds");
    if skipped > 0 {
        eprintln!("skipped: {skipped} of {count} seeds need root for a disk that gets full");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "under CI nothing is skipped");
    }
}
