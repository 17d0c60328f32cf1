//! elbencho as a contender in the stall, where `ELBENCHO` names one: a load of a limited rate with its own latencies.

use super::{QUANTILES, RANGE, RATE, WINDOW};
use crate::Outcome;
use std::path::Path;
use std::process::Command;
use stend_base::Bytes;

/// Size of an I/O.
const BLOCK: Bytes = Bytes::kib(4);

/// What it says for each of [`QUANTILES`], ms; it knows no 95th percentile.
pub fn run(program: &Path, target: &Path) -> Outcome<[Option<f64>; 3]> {
    let (block, size, limit) = (BLOCK.0.to_string(), RANGE.0.to_string(), (RATE * BLOCK.0).to_string());
    // More than it can write in the time that it has.
    let amount = (RANGE.0 * 1000).to_string();
    let seconds = WINDOW.as_secs().to_string();
    let output = Command::new(program)
        .args(["-w", "--direct", "--rand", "--randamount", &amount, "-b", &block, "-s", &size, "-t", "1", "--nolive"])
        .args(["--iodepth", "1", "--limitwrite", &limit, "--timelimit", &seconds])
        .args(["--lat", "--latpercent", "--latpercent9s", "1"])
        .arg(target)
        .output();
    let shown = program.display();
    let output = output.map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let found = percentiles(&told).filter(|_| output.status.success());
    found.ok_or_else(|| format!("`{shown}` printed no percentiles: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// From a line such as `IO lat % us : [ 1%<=2896 50%<=4096 75%<=4096 99%<=6889 99.9%<=11585 ]`: upper bounds.
fn percentiles(told: &str) -> Option<[Option<f64>; 3]> {
    let line = told.lines().find(|line| line.trim_start().starts_with("IO lat % us"))?;
    let of = |percent: f64| {
        let mut found = line.split_whitespace().filter_map(|word| word.split_once("%<="));
        let (_, micros) = found.find(|(name, _)| name.parse::<f64>().is_ok_and(|p| (p - percent).abs() < 1e-6))?;
        micros.parse::<f64>().ok().map(|micros| micros / 1e3)
    };
    let found = QUANTILES.map(|quantile| of(quantile.0 * 100.0));
    found.iter().any(Option::is_some).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_percentiles_are_read_and_what_it_does_not_know_is_left_out() {
        let line = "            IO lat % us      : [ 1%<=9.5 50%<=11 75%<=13 99%<=6889 99.9%<=1048576 ]";
        let told = format!("WRITE       Elapsed time     :    10.0s\n{line}\n");
        assert_eq!(percentiles(&told), Some([None, Some(6.889), Some(1048.576)]));
        assert_eq!(percentiles("WRITE Elapsed time : 10s\n"), None);
        assert_eq!(percentiles("IO lat % us : Histogram size exceeded"), None);
    }
}
