//! `t/io_uring`, a program that comes with fio's sources and measures no latency, as a contender: it says how many I/Os per
//! second it made, once per second. Only where `T_IO_URING` names one.

use super::experiment::{Experiment, Place};
use super::measured::Measured;
use crate::Outcome;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Its command line for an experiment, one thread; it runs for whole seconds.
pub fn arguments(experiment: &Experiment, target: &Path, window: Duration) -> Vec<String> {
    let depth = experiment.load.depth;
    let words = [
        format!("-d{depth}"),
        "-s16".to_string(),
        "-c16".to_string(),
        "-p0".to_string(),
        "-F1".to_string(),
        "-B1".to_string(),
        "-n1".to_string(),
        "-R1".to_string(),
        format!("-O{}", u8::from(experiment.direct())),
        // It tells nothing of its last second.
        format!("-r{}", window.as_secs_f64().ceil().max(1.0) + 1.0),
        target.display().to_string(),
    ];
    words.into()
}

/// Loads `target` for a window.
pub fn run(program: &Path, experiment: &Experiment, target: &Path, window: Duration) -> Outcome<Measured> {
    debug_assert!(experiment.place == Place::HotFile && !experiment.load.writes, "it reads, and buffered as asked");
    let words = arguments(experiment, target, window);
    let shown = program.display();
    let output = Command::new(program).args(&words).output().map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let seconds = seconds(&told).filter(|seconds| output.status.success() && !seconds.is_empty());
    let seconds = seconds.ok_or_else(|| format!("`{shown}` {} did not tell what it did", words.join(" ")))?;
    let iops = seconds.iter().sum::<f64>() / seconds.len() as f64;
    // Its thread never sleeps, so that a second is a second of a CPU.
    Ok(Measured { iops, per_cpu: iops, latency: None })
}

/// I/Os of every second: lines such as `IOPS=1.23M, BW=4.80GiB/s, IOS/call=16/16`.
fn seconds(told: &str) -> Option<Vec<f64>> {
    let line = |line: &str| {
        let number = line.strip_prefix("IOPS=")?.split(',').next()?;
        let (digits, factor) = match number.strip_suffix('M') {
            Some(digits) => (digits, 1e6),
            None => number.strip_suffix('K').map_or((number, 1.0), |digits| (digits, 1e3)),
        };
        digits.parse::<f64>().ok().map(|digits| digits * factor)
    };
    told.lines().filter(|text| text.starts_with("IOPS=")).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_prints_is_read_or_refused() {
        let told = "submitter=0, tid=7, file=x, nfiles=1, node=-1\nIOPS=1.25M, BW=4.88GiB/s, IOS/call=16/16\n\
                    IOPS=640.50K, BW=2.44GiB/s, IOS/call=16/16\nIOPS=512, BW=2MiB/s, IOS/call=1/1\n\
                    Exiting on timeout\nMaximum IOPS=1.25M\n";
        assert_eq!(seconds(told), Some(vec![1.25e6, 640_500.0, 512.0]));
        assert_eq!(seconds("IOPS=many, BW=1\n"), None);
        assert_eq!(seconds(""), Some(Vec::new()));
    }
}
