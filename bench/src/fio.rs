//! fio as a contender: one process per trial, the same workload in its words.

use crate::cell::{Cell, Measured, RAMP, RANGE};
use crate::{Outcome, Settings};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A fio that works.
pub struct Fio {
    program: PathBuf,
    /// What it says of itself, e.g. `fio-3.33`.
    pub version: String,
}

impl Fio {
    /// The program that `FIO` names.
    pub fn find(settings: &Settings) -> Outcome<Fio> {
        let shown = settings.fio.display();
        let output = Command::new(&settings.fio).arg("--version").output();
        let output =
            output.map_err(|e| format!("cannot run `{shown}`: {e}; install the package fio, or set FIO=/path"))?;
        Ok(Fio { program: settings.fio.clone(), version: String::from_utf8_lossy(&output.stdout).trim().to_string() })
    }

    /// One trial on a file or device that exists.
    pub fn measure(&self, cell: &Cell, target: &Path, window: Duration, seed: u64) -> Outcome<Measured> {
        let arguments = arguments(cell, &target.to_string_lossy(), window, seed);
        let output = Command::new(&self.program).args(&arguments).output();
        let output = output.map_err(|e| format!("cannot run fio: {e}"))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!("fio {} failed: {}", arguments.join(" "), words.trim()));
        }
        parse(&output.stdout, cell.writes).ok_or_else(|| "fio printed something that we do not understand".to_string())
    }
}

/// The command line: what Stend does by itself is asked for here, registered files and buffers included.
pub fn arguments(cell: &Cell, target: &str, window: Duration, seed: u64) -> Vec<String> {
    let rw = match (cell.random, cell.writes) {
        (true, false) => "randread",
        (true, true) => "randwrite",
        (false, false) => "read",
        (false, true) => "write",
    };
    let values = [
        ("name", "agree".to_string()),
        ("filename", target.to_string()),
        ("ioengine", "io_uring".to_string()),
        ("rw", rw.to_string()),
        ("bs", cell.block_size.0.to_string()),
        ("iodepth", cell.queue_depth.to_string()),
        ("size", RANGE.0.to_string()),
        ("ramp_time", format!("{}ms", RAMP.0 / 1_000_000)),
        ("runtime", format!("{}ms", window.as_millis())),
        ("randseed", seed.to_string()),
        ("norandommap", "0".to_string()),
        ("direct", "1".to_string()),
        ("registerfiles", "1".to_string()),
        ("fixedbufs", "1".to_string()),
        ("eta", "never".to_string()),
        ("output-format", "json".to_string()),
    ];
    let mut words = vec!["--thread".to_string(), "--time_based".to_string()];
    words.extend(values.iter().map(|(name, value)| format!("--{name}={value}")));
    words
}

/// Rate and mean of *lat* (not *clat*, which leaves the submission out).
fn parse(json: &[u8], writes: bool) -> Option<Measured> {
    // Warnings may stand before the document.
    let begin = json.iter().position(|&byte| byte == b'{')?;
    let document: Value = serde_json::from_slice(&json[begin..]).ok()?;
    let job = &document["jobs"][0];
    let side = &job[if writes { "write" } else { "read" }];
    let measured = Measured { iops: side["iops"].as_f64()?, latency_ns: side["lat_ns"]["mean"].as_f64()? };
    (job["error"] == 0 && measured.iops > 0.0).then_some(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lat_is_taken_and_not_clat_and_the_side_that_did_something() {
        let json = br#"note: x
            {"jobs": [{"error": 0, "read": {"iops": 0.0, "lat_ns": {"mean": 0.0}},
             "write": {"iops": 250.5, "clat_ns": {"mean": 1.0}, "lat_ns": {"mean": 2.0}}}]}"#;
        assert_eq!(parse(json, true), Some(Measured { iops: 250.5, latency_ns: 2.0 }));
        assert_eq!(parse(json, false), None);
    }

    #[test]
    fn a_trial_with_an_error_is_no_result() {
        let json = br#"{"jobs": [{"error": 5, "read": {"iops": 9.0, "lat_ns": {"mean": 1.0}}}]}"#;
        assert_eq!(parse(json, false), None);
        assert_eq!(parse(b"fio: nothing", false), None);
    }
}
