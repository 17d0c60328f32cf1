//! fio as a contender: one process per trial.

use crate::{Outcome, Settings, cpu};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A fio that works.
pub struct Fio {
    program: PathBuf,
    /// What it says of itself, e.g. `fio-3.33`.
    pub version: String,
}

/// What one trial gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ran {
    /// Its reads.
    pub read: Side,
    /// Its writes.
    pub write: Side,
    /// User and system time of the process, kernel workers included.
    pub cpu: Duration,
}

/// One direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// I/Os.
    pub ios: u64,
    /// I/Os per second.
    pub iops: f64,
    /// Mean of *lat* (not *clat*, which leaves the submission out), ns; 0 where it was switched off.
    pub latency_ns: f64,
    /// Median and 99th percentile of *lat*, ns, where asked for.
    pub quantiles_ns: Option<(f64, f64)>,
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

    /// One trial with these arguments, all its jobs added up.
    pub fn run(&self, arguments: &[String]) -> Outcome<Ran> {
        let (document, cpu) = self.document(arguments)?;
        ran(&document["jobs"][0], cpu).ok_or_else(|| format!("fio {} did not tell what it did", arguments.join(" ")))
    }

    /// The same, everything that fio tells, and its CPU time.
    pub fn document(&self, arguments: &[String]) -> Outcome<(Value, Duration)> {
        let before = cpu::of_children()?;
        let output = Command::new(&self.program)
            .args(["--eta=never", "--output-format=json", "--group_reporting"])
            .args(arguments)
            .output();
        let output = output.map_err(|e| format!("cannot run fio: {e}"))?;
        let cpu = cpu::of_children()?.saturating_sub(before);
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!("fio {} failed: {}", arguments.join(" "), words.trim()));
        }
        let document = parse(&output.stdout).ok_or_else(|| {
            format!("fio {} printed something that we do not understand, or had errors", arguments.join(" "))
        })?;
        Ok((document, cpu))
    }
}

fn parse(json: &[u8]) -> Option<Value> {
    // Warnings may stand before the document.
    let begin = json.iter().position(|&byte| byte == b'{')?;
    let document: Value = serde_json::from_slice(&json[begin..]).ok()?;
    (document["jobs"][0]["error"] == 0).then_some(document)
}

fn ran(job: &Value, cpu: Duration) -> Option<Ran> {
    let side = |name: &str| {
        let side = &job[name];
        let latency_ns = side["lat_ns"]["mean"].as_f64().unwrap_or_default();
        let quantile = |name: &str| side["lat_ns"]["percentile"][name].as_f64();
        let quantiles_ns = quantile("50.000000").zip(quantile("99.000000"));
        Some(Side { ios: side["total_ios"].as_u64()?, iops: side["iops"].as_f64()?, latency_ns, quantiles_ns })
    };
    Some(Ran { read: side("read")?, write: side("write")?, cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lat_is_taken_and_not_clat() {
        let json = br#"note: x
            {"jobs": [{"error": 0, "read": {"iops": 0.0, "total_ios": 0, "lat_ns": {"mean": 0.0}},
             "write": {"iops": 250.5, "total_ios": 501, "clat_ns": {"mean": 1.0}, "lat_ns": {"mean": 2.0, "percentile": {"50.000000": 2, "99.000000": 3}}}}]}"#;
        let ran = ran(&parse(json).unwrap()["jobs"][0], Duration::from_secs(1)).unwrap();
        assert_eq!(ran.write, Side { ios: 501, iops: 250.5, latency_ns: 2.0, quantiles_ns: Some((2.0, 3.0)) });
        assert_eq!(ran.read.ios, 0);
    }

    #[test]
    fn a_trial_with_an_error_is_no_result() {
        let json = br#"{"jobs": [{"error": 5, "read": {"iops": 9.0, "total_ios": 1}, "write": {"iops": 0.0, "total_ios": 0}}]}"#;
        assert_eq!(parse(json), None);
        assert_eq!(parse(b"fio: nothing"), None);
    }
}
