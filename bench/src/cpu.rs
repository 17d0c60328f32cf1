//! CPU time of processes as the kernel counts it, kernel workers of io_uring included: they are threads of the process.

use crate::Outcome;
use std::time::Duration;

/// Ticks per second of the times in /proc (USER_HZ, the same on every machine: asm-generic/param.h).
const TICKS: u64 = 100;
/// utime, stime, cutime and cstime are fields 14 to 17 of /proc/PID/stat (proc(5)), the 12th to 15th after the name.
const FIRST_TIME: usize = 11;

/// User and system time so far of a running process, all its threads included.
pub fn of_process(pid: u32) -> Outcome<Duration> {
    let times = times(&format!("/proc/{pid}/stat"))?;
    Ok(ticks(times[0] + times[1]))
}

/// User and system time of all children that this process has waited for.
pub fn of_children() -> Outcome<Duration> {
    let times = times("/proc/self/stat")?;
    Ok(ticks(times[2] + times[3]))
}

fn times(path: &str) -> Outcome<[u64; 4]> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    parse(&text).ok_or_else(|| format!("cannot understand `{path}`"))
}

/// The name may hold spaces and brackets; what follows the last bracket is numbers.
fn parse(stat: &str) -> Option<[u64; 4]> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<u64> = rest.split_whitespace().skip(FIRST_TIME).take(4).map_while(|f| f.parse().ok()).collect();
    fields.try_into().ok()
}

fn ticks(count: u64) -> Duration {
    Duration::from_millis(count * 1000 / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_times_are_found_behind_any_name() {
        let stat = "12 (a b) c) S 1 12 12 0 -1 4194560 100 200 0 0 31 7 400 50 20 0 3 0 9999 1 2";
        assert_eq!(parse(stat), Some([31, 7, 400, 50]));
        assert_eq!(parse("12 (short) S 1 2"), None);
    }

    #[test]
    fn work_of_this_process_shows() {
        let pid = std::process::id();
        let (before, begin) = (of_process(pid).unwrap(), std::time::Instant::now());
        let mut sum = 0u64;
        while of_process(pid).unwrap() == before {
            sum = (0..100_000).fold(sum, |sum, i| sum.wrapping_mul(31).wrapping_add(i));
            assert!(begin.elapsed() < Duration::from_secs(60), "no tick in a minute of work, {sum}");
        }
        assert!(of_children().is_ok());
    }
}
