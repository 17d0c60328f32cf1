//! The run file of a hundred load hosts over an hour: how large it is, and what looking at it costs. Made up, but written as a run writes
//! it.

use super::reached;
use crate::analysis::synthesize::{self, Shape};
use crate::analysis::{Row, peak, table, took};
use crate::{Outcome, Settings, say};
use stend_base::Bytes;

/// An hour in trials of a minute. On paper each host has ten slices of some 14 bytes, a histogram of 600 and a sample of 150 in a second,
/// 0.3 GB in all: so nothing is scaled down.
const SHAPE: Shape = Shape { trials: 60, seconds: 60, hosts: 100, streams: 1, jobs: 8, seed: 1 };
/// When it began, seconds since 1970.
const BEGAN: i64 = 1_795_296_000;
/// Seconds that a result on the screen may take, and a report.
const SHOW_MAX: u64 = 2;
/// See [`SHOW_MAX`].
const REPORT_MAX: u64 = 10;
/// Most memory of the program that makes the file: it never has more than a trial of it.
const MEMORY_MAX: Bytes = Bytes::gib(1);

/// Makes the file and looks at it.
pub fn measure(settings: &Settings) -> Outcome<String> {
    let place = tempfile::tempdir_in(&settings.directory).map_err(|e| format!("cannot make a directory: {e}"))?;
    let file = place.path().join("fleet.stend");
    say(&format!("making a run of {} hosts", SHAPE.hosts));
    synthesize::write(&file, SHAPE, BEGAN)?;
    let found = std::fs::metadata(&file).map_err(|e| format!("cannot look at `{}`: {e}", file.display()))?;
    let memory = Bytes::mib(peak(std::process::id()));
    let out = place.path().join("out.html").display().to_string();
    let files = [file];
    let rows = [
        Row::of_stend("show", &["show"], &files, SHOW_MAX),
        Row::of_stend("show, for machines", &["show", "--json"], &files, SHOW_MAX),
        Row::of_stend("report", &["report", "-o", &out], &files, REPORT_MAX),
    ];
    let rows = rows.into_iter().map(|row| Ok((took(settings, &row)?, row))).collect::<Outcome<Vec<_>>>()?;
    Ok(head(SHAPE, Bytes(found.len()), memory) + &table(&rows))
}

fn head(shape: Shape, size: Bytes, memory: Bytes) -> String {
    let Shape { trials, seconds, hosts, streams, jobs, .. } = shape;
    format!(
        "A made-up run of {hosts} load hosts, {trials} trials of {seconds} s, {streams} stream of {jobs} jobs on each host. Every host has counters each 100 ms, a histogram and a\n\
         sample of its telemetry each second, and a histogram of each job and trial; one host is slow. The file takes {:.0} MB of the disk, {:.2} KB per host and second.\n\
         Memory of the program that made it: {} MiB; goal: below {} MiB {}\n\n\
         Each command three times, the middle one. Goals are of processor time: by the clock it takes longer while others use the machine.\n\n",
        size.0 as f64 / 1e6,
        size.0 as f64 / 1e3 / seconds_of_hosts(shape),
        memory.0 >> 20,
        MEMORY_MAX.0 >> 20,
        reached(memory < MEMORY_MAX)
    )
}

/// Seconds of load, those of all hosts together.
fn seconds_of_hosts(shape: Shape) -> f64 {
    f64::from(shape.trials) * f64::from(shape.seconds) * f64::from(shape.hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_hosts_load_for_an_hour_and_the_size_is_told_per_host_and_second() {
        assert_eq!(seconds_of_hosts(SHAPE), 100.0 * 3600.0);
        let text = head(SHAPE, Bytes(360_000_000), Bytes::mib(200));
        assert!(text.contains("takes 360 MB of the disk, 1.00 KB per host and second"), "{text}");
        assert!(text.contains("200 MiB; goal: below 1024 MiB ✔"), "{text}");
        assert!(head(SHAPE, Bytes(1), MEMORY_MAX).contains("**✗**"));
    }
}
