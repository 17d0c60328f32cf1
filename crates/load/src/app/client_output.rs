//! What clients print, read window by window. Pure. Percentiles stay those of one client and one window: they are never merged.

use stend_base::Nanos;
use stend_record::app::AppWindow;

/// Most of a printed line that is kept.
const LINE_MAX: usize = 400;

/// The windows of `length` seconds that sysbench reported after `from` seconds, at most `count`. It labels each with the time at
/// which it printed it, in whole seconds: a report that came late on a busy machine is that of the nearest end of a window.
pub(super) fn sysbench(output: &str, from: u64, length: u64, count: u64) -> Vec<AppWindow> {
    let length = length.max(1);
    let nearest = |at: u64| (at.saturating_add(length / 2) / length).saturating_mul(length);
    let last = from.saturating_add(length.saturating_mul(count));
    let mut found = Vec::new();
    let mut before = from;
    for (line, end) in output.lines().filter_map(|line| Some((line, nearest(second(line)?)))) {
        // A window has one line: the first.
        if before < end
            && end <= last
            && let Some(window) = of_sysbench(line)
        {
            found.push(window);
            before = end;
        }
    }
    found.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    found
}

/// `[ 30s ] thds: …` → 30.
fn second(line: &str) -> Option<u64> {
    line.strip_prefix("[ ")?.split_once("s ]")?.0.trim().parse().ok()
}

fn of_sysbench(line: &str) -> Option<AppWindow> {
    let after = |key: &str| line.split_once(key).map(|(_, rest)| rest.trim_start());
    let number = |text: &str| text.split_whitespace().next().map(str::to_string);
    // The line about the queue of an open loop has no rate.
    let rate = thousandths(&number(after("tps:")?)?)?;
    let latency = after("lat (ms,").and_then(|rest| number(rest.split_once("):")?.1));
    let latency = latency.and_then(|text| millis(&text));
    let reconnects = after("reconn/s:").and_then(number).and_then(|text| thousandths(&text))?;
    // Restarted transactions (`err/s`) are part of how databases keep order; a connection made anew is not.
    let errors = u64::from(reconnects > 0);
    Some(AppWindow { rate_thousandths: rate, latency, errors, printed: cut(line) })
}

/// What wrk told of one window; `percent` is the percentile that is wanted.
pub(super) fn wrk(output: &str, percent: u32) -> Option<AppWindow> {
    let lines = || output.lines().map(str::trim);
    let rate_line = lines().find(|line| line.starts_with("Requests/sec:"))?;
    let rate = thousandths(rate_line.strip_prefix("Requests/sec:")?.trim())?;
    let wanted = format!("{percent}% ");
    let quantile = lines().find(|line| line.starts_with(&wanted));
    let latency = quantile.and_then(|line| with_unit(line.strip_prefix(&wanted)?.trim()));
    let numbers =
        |line: &str| line.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u64>().ok()).sum::<u64>();
    let sockets = lines().find(|line| line.starts_with("Socket errors:"));
    let refused = lines().find_map(|line| line.strip_prefix("Non-2xx or 3xx responses:"));
    let errors = sockets.map_or(0, numbers).saturating_add(refused.map_or(0, numbers));
    let told = [Some(rate_line), quantile, sockets].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Some(AppWindow { rate_thousandths: rate, latency, errors, printed: cut(&told) })
}

fn cut(line: &str) -> String {
    line.trim().chars().take(LINE_MAX).collect()
}

fn thousandths(text: &str) -> Option<u64> {
    let value: f64 = text.parse().ok()?;
    // A number of no meaning is none; 10^15 of anything per second is nonsense, too.
    (0.0..1e15).contains(&value).then(|| (value * 1000.0).round() as u64)
}

fn millis(text: &str) -> Option<Nanos> {
    Some(Nanos(thousandths(text)?.saturating_mul(1000)))
}

/// `1.20ms` as wrk writes it.
fn with_unit(text: &str) -> Option<Nanos> {
    let units = [("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))?;
    let value: f64 = number.parse().ok()?;
    (0.0..1e9).contains(&value).then(|| Nanos((value * factor).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// sysbench 1.0.20 on PostgreSQL 15, `--rate=20 --report-interval=2 --percentile=99`.
    const SYSBENCH: &str = "\
Threads started!

[ 2s ] thds: 4 tps: 17.49 qps: 365.77 (r/w/o: 258.34/70.95/36.48) lat (ms,99%): 43.39 err/s: 0.50 reconn/s: 0.00
[ 2s ] queue length: 0, concurrency: 1
[ 4s ] thds: 4 tps: 18.48 qps: 362.55 (r/w/o: 252.18/73.91/36.45) lat (ms,99%): 38.25 err/s: 0.00 reconn/s: 0.00
[ 4s ] queue length: 0, concurrency: 0
[ 6s ] thds: 4 tps: 0.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,99%): 0.00 err/s: 0.00 reconn/s: 0.50
SQL statistics:
    transactions:                        72     (17.77 per sec.)
";

    /// wrk 4.1.0 on nginx 1.22, with a file that is not there.
    const WRK: &str = "\
Running 2s test @ http://127.0.0.1:23456/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.42ms    7.24ms  63.24ms   94.51%
    Req/Sec    13.09k     6.29k   24.83k    70.00%
  Latency Distribution
     50%  384.00us
     75%    1.19ms
     90%    3.91ms
     99%   44.99ms
  26331 requests in 2.03s, 337.34MB read
  Non-2xx or 3xx responses: 5151
Requests/sec:  12976.80
Transfer/sec:    166.25MB
";

    #[test]
    fn the_lines_of_sysbench_after_the_ramp_are_windows_as_printed() {
        let windows = sysbench(SYSBENCH, 2, 2, 2);
        let told: Vec<_> = windows.iter().map(|w| (w.rate_thousandths, w.latency, w.errors)).collect();
        assert_eq!(told, [(18_480, Some(Nanos(38_250_000)), 0), (0, Some(Nanos(0)), 1)]);
        assert!(windows[0].printed.starts_with("[ 4s ] thds: 4 tps: 18.48"), "{windows:?}");
        assert_eq!(sysbench(SYSBENCH, 0, 2, 1).len(), 1, "err/s is a restart and no error");
        assert_eq!(sysbench(SYSBENCH, 0, 2, 1)[0].errors, 0);
    }

    #[test]
    fn windows_of_sysbench_whose_labels_are_rounded_are_counted_once_each_and_no_more_than_asked_for() {
        let line = |at: u64| format!("[ {at}s ] thds: 1 tps: {at}.00 lat (ms,99%): 1.00 err/s: 0.00 reconn/s: 0.00\n");
        let told = |labels: &[u64], from, length, count| -> Vec<u64> {
            let text: String = labels.iter().map(|at| line(*at)).collect();
            sysbench(&text, from, length, count).iter().map(|window| window.rate_thousandths / 1000).collect()
        };
        // Reports drift on a busy machine: the first window of the load came late, the last one, too.
        assert_eq!(told(&[10, 21, 31, 41], 10, 10, 3), [21, 31, 41]);
        assert_eq!(told(&[11, 21, 31], 10, 10, 2), [21, 31]);
        assert_eq!(told(&[1, 2, 2, 3], 0, 1, 3), [1, 2, 3]);
        assert_eq!(told(&[10, 20, 24, 30], 0, 10, 3), [10, 20, 30]);
    }

    #[test]
    fn what_wrk_says_is_one_window_with_every_refused_request_an_error() {
        let window = wrk(WRK, 99).unwrap();
        assert_eq!((window.rate_thousandths, window.latency), (12_976_800, Some(Nanos(44_990_000))));
        assert_eq!((window.errors, wrk(WRK, 50).unwrap().latency), (5151, Some(Nanos(384_000))));
        let broken =
            WRK.replace("Non-2xx or 3xx responses: 5151", "Socket errors: connect 0, read 3, write 0, timeout 4");
        assert_eq!(wrk(&broken, 99).unwrap().errors, 7);
        assert_eq!((wrk("", 99), wrk(WRK, 95).unwrap().latency), (None, None));
    }

    #[test]
    fn units_of_wrk_are_told_apart() {
        let found = ["1.5us", "2.00ms", "1.25s", "1.00m"].map(with_unit);
        assert_eq!(found, [1_500, 2_000_000, 1_250_000_000, 60_000_000_000].map(|ns| Some(Nanos(ns))));
        assert_eq!(["-1ms", "nanms", "x", "5"].map(with_unit), [None; 4]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(\\[ [0-9]{1,25}s \\]|tps: |lat \\(ms,|Requests/sec: |99% |[0-9.eE+-]{1,30}|[ -~]|\n){0,60}") {
            let windows = sysbench(&text, 0, 1, u64::MAX);
            prop_assert!(windows.iter().all(|window| window.printed.chars().count() <= LINE_MAX));
            wrk(&text, 99);
        }
    }
}
