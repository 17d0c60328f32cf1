//! How far apart load hosts begin their trials: real workers of this machine, with files in memory, so that no disk delays a begin.

use super::{reached, workers};
use crate::{Outcome, Settings, say};
use serde_json::Value;
use std::path::Path;
use stend_base::Nanos;

/// Load hosts.
const HOSTS: [&str; 4] = ["h1", "h2", "h3", "h4"];
/// All of them are in one group.
const GROUP: &str = "load";
/// Trials; the one in which they were farthest apart counts.
const TRIALS: usize = 10;
/// Hosts begin at most so much farther apart than their clocks may be off.
const APART_MAX: Nanos = Nanos::millis(1);
/// Where files are in memory.
const MEMORY: &str = "/dev/shm";

/// What the run file knows of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Apart {
    /// The longest time between the first and the last begin of a trial.
    began: Nanos,
    /// How far off that may be by the clocks, either way.
    uncertainty: Nanos,
}

/// Runs a short suite on all hosts and asks the result.
pub fn measure(settings: &Settings) -> Outcome<String> {
    let place = tempfile::tempdir_in(MEMORY).map_err(|e| format!("cannot make a directory: {e}"))?;
    let host = |name: &'static str| -> Outcome<_> { Ok((name, workers::host(place.path(), name, "load", &[GROUP])?)) };
    let hosts = HOSTS.into_iter().map(host).collect::<Outcome<Vec<_>>>()?;
    workers::write(place.path(), &hosts, &suite())?;
    say(&format!("{TRIALS} trials on {} hosts", HOSTS.len()));
    let shown = shown(settings, place.path())?;
    Ok(text(apart(&shown).ok_or("the result does not say how far apart hosts began")?))
}

fn shown(settings: &Settings, place: &Path) -> Outcome<Value> {
    let file = place.join("skew.stend");
    workers::run(settings, place, GROUP, &file)?;
    workers::shown(settings, place, &file)
}

fn suite() -> String {
    format!(
        "suite: skew\n\
         defaults: {{ramp: 0s, trial: 1s, direct: false}}\n\
         fill: {{size: 64MiB}}\n\
         repeats: {{blocks: {TRIALS}}}\n\
         cases:\n  \
         - name: read\n    \
         streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}}]\n"
    )
}

/// The largest of all cases; `None` if one of them is not of all hosts.
fn apart(shown: &Value) -> Option<Apart> {
    let cases = shown["cases"].as_array()?;
    let of = |case: &Value| {
        let hosts = &case["hosts"];
        let all = hosts["hosts"].as_array()?.len() == HOSTS.len();
        let (began, uncertainty) = (hosts["began_apart_ns"].as_u64()?, hosts["apart_uncertainty_ns"].as_u64()?);
        all.then_some(Apart { began: Nanos(began), uncertainty: Nanos(uncertainty) })
    };
    let all = cases.iter().map(of).collect::<Option<Vec<Apart>>>()?;
    all.into_iter().max_by_key(|apart| apart.began.saturating_sub(apart.uncertainty))
}

fn text(Apart { began, uncertainty }: Apart) -> String {
    let us = |time: Nanos| time.0 as f64 / 1e3;
    let most = uncertainty + APART_MAX;
    format!(
        "{} real workers on this machine, each in a network namespace of its own, read files in memory, {TRIALS} trials of a second. Below is the longest time\n\
         between the first and the last begin of a trial, as the run file has it: 0 if all were ready at the planned instant. Hosts of one machine have one clock, whose\n\
         uncertainty is then 0; the goal is {:.0} µs more than that of the clocks.\n\n\
         | began apart, µs | uncertainty of the clocks, µs | goal, µs | reached |\n|--:|--:|--:|---|\n\
         | {:.1} | {:.1} | ≤ {:.1} | {} |\n\n",
        HOSTS.len(),
        us(APART_MAX),
        us(began),
        us(uncertainty),
        us(most),
        reached(began <= most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(hosts: usize, began: u64, uncertainty: u64) -> Value {
        let each = vec![json!({}); hosts];
        json!({ "hosts": { "hosts": each, "began_apart_ns": began, "apart_uncertainty_ns": uncertainty } })
    }

    #[test]
    fn the_case_that_is_farthest_above_its_uncertainty_counts_and_all_hosts_must_be_in_each() {
        let found = apart(&json!({ "cases": [case(4, 9_000, 8_500), case(4, 3_000, 0)] }));
        assert_eq!(found, Some(Apart { began: Nanos(3_000), uncertainty: Nanos(0) }));
        assert_eq!(apart(&json!({ "cases": [case(4, 1, 1), case(3, 1, 1)] })), None);
        assert_eq!(apart(&json!({ "cases": [] })), None);
    }

    #[test]
    fn a_millisecond_above_the_uncertainty_is_allowed() {
        let row = |began| text(Apart { began: Nanos(began), uncertainty: Nanos(80_000) });
        assert!(row(1_080_000).contains("| 1080.0 | 80.0 | ≤ 1080.0 | ✔ |"), "{}", row(1_080_000));
        assert!(row(1_080_001).contains("**✗**"));
    }

    #[test]
    fn the_suite_is_understood() {
        stend_spec::parse::suite(&suite(), "skew.yaml").unwrap_or_else(|error| panic!("{error}:\n{}", suite()));
    }
}
