//! elbencho's JSON (`--jsonfile`): a document for each phase, one behind the other. Pure.

use super::Found;
use super::phase::{self, Phase};
use crate::json::{self, Value};
use crate::printed::{Latency, Side, number};
use std::collections::BTreeMap;
use stend_base::{Nanos, Say, say};
use stend_record::ToolNumber;
use stend_spec::workload::Op;

/// Documents of a file.
const DOCUMENTS_MAX: usize = 10_000;
/// Where the reads of a mixed phase stand.
const READS: &str = "rwmix_read";
/// Percentiles that follow from the buckets, in millionths.
const SHARES: [u32; 5] = [500_000, 900_000, 990_000, 999_000, 999_900];

/// The phases of a file, and what is left out of it; or why it cannot be read, and at which line.
pub fn phases(text: &str) -> Result<Found, (u32, Say)> {
    let (values, broken) = json::documents(text);
    let (mut found, mut dropped) = (Vec::new(), Vec::new());
    for value in values.iter().take(DOCUMENTS_MAX) {
        let operation = value.get("phase_type").and_then(Value::text).unwrap_or_default();
        match phase(value, operation)? {
            Some(phase) if phase.lasted == Nanos(0) => dropped.push((value.line, phase::too_short(operation))),
            Some(phase) => found.push(phase),
            None => dropped.push((value.line, phase::no_io(operation))),
        }
    }
    if values.len() > DOCUMENTS_MAX {
        let line = values[DOCUMENTS_MAX].line;
        return Err((line, say!("more than {DOCUMENTS_MAX} phases", "больше {DOCUMENTS_MAX} фаз")));
    }
    match broken {
        // What was cut off by a full disk or a kill is no reason to lose what came before it.
        Some(broken) if broken.truncated && !found.is_empty() => dropped.push((broken.line, broken.why)),
        Some(broken) => return Err((broken.line, broken.why)),
        None => {}
    }
    Ok((found, dropped))
}

fn phase<'v, 't>(value: &'v Value<'t>, operation: &str) -> Result<Option<Phase>, (u32, Say)> {
    let Some(done) = value.get("last_done") else { return Ok(None) };
    let config = value.get("config").map(Value::pairs).unwrap_or_default();
    let mut options: BTreeMap<String, String> =
        config.iter().map(|(name, value)| (name.to_string(), value.text().unwrap_or_default().to_string())).collect();
    let command = options.remove("command").unwrap_or_default();
    let version = options.remove("version").unwrap_or_default();
    let block = options.get("block_size").and_then(|size| size.parse().ok()).unwrap_or(0);
    let window = window(done)?;
    let own = if operation.starts_with("READ") { Op::Read } else { Op::Write };
    let latency = done.get("latency").and_then(|kinds| kinds.get("IO"));
    let buckets = latency.and_then(|told| told.get("histogram"));
    let main = side(done, (latency, buckets), own, (block, window))?;
    // The reads of a mixed phase stand inside of its writes.
    let inner = |value: Option<&'v Value<'t>>| value.and_then(|value| value.get(READS));
    let mixed = match done.get(READS) {
        Some(read) => side(read, (inner(latency), inner(buckets)), Op::Read, (block, window))?,
        None => None,
    };
    let sides: Vec<Side> = mixed.into_iter().chain(main).collect();
    if sides.is_empty() {
        return Ok(None);
    }
    Ok(Some(Phase {
        line: value.line,
        version: format!("elbencho {version}").trim_end().to_string(),
        command,
        label: value.get("label").and_then(Value::text).unwrap_or_default().to_string(),
        operation: operation.to_string(),
        started: value.get("iso_start_date").and_then(Value::text).and_then(phase::started),
        options,
        lasted: window.taken,
        sizes_known: block > 0 && sides.iter().all(|side| side.ios.checked_mul(block) == Some(side.bytes)),
        sides,
    }))
}

/// How long a phase lasted.
#[derive(Clone, Copy)]
struct Window {
    /// What is taken for it.
    taken: Nanos,
    /// So much longer it may have been.
    cut: Nanos,
}

/// Milliseconds are cut, down to 1 of 1.99; a rate is printed in whole bytes of a whole second, so for most phases the time follows
/// from it to the microsecond. It is taken where it lies in the printed millisecond: nothing else shows that both are of one time.
fn window(done: &Value<'_>) -> Result<Window, (u32, Say)> {
    let ms = whole(done, "elapsed_time_ms")?.unwrap_or(0);
    let told = u128::from(ms) * 1_000_000..(u128::from(ms) + 1) * 1_000_000;
    for kind in [Some(done), done.get(READS)].into_iter().flatten() {
        let (Some(bytes), Some(rate)) = (whole(kind, "bytes")?, whole(kind, "bytes/s")?) else { continue };
        let Some(longest) = (u128::from(bytes) * 1_000_000_000).checked_div(u128::from(rate)) else { continue };
        if let (true, Ok(taken)) = (told.contains(&longest), u64::try_from(longest)) {
            return Ok(Window { taken: Nanos(taken), cut: Nanos(0) });
        }
    }
    Ok(Window { taken: Nanos::millis(ms), cut: Nanos::millis(1) })
}

impl Window {
    /// I/Os of so many bytes at this rate: of one size each if both agree, as far as digits of rate and time were cut; else some were
    /// smaller, as those of small files are, and the rate says how many there were.
    fn ios(self, (bytes, block): (u64, u64), iops: u64) -> u64 {
        let seconds = self.taken.0 as f64 / 1e9;
        let by_rate = iops as f64 * seconds;
        let unsure = seconds + (iops as f64 + 1.0) * self.cut.0 as f64 / 1e9;
        match bytes.checked_div(block) {
            Some(ios) if ios * block == bytes && (by_rate - 1.0..=by_rate + unsure + 1.0).contains(&(ios as f64)) => {
                ios
            }
            _ => by_rate.round() as u64,
        }
    }
}

/// One kind of I/O; `None` if there was none.
fn side(
    done: &Value<'_>,
    (latency, histogram): (Option<&Value<'_>>, Option<&Value<'_>>),
    op: Op,
    (block, window): (u64, Window),
) -> Result<Option<Side>, (u32, Say)> {
    let (Some(bytes), Some(iops)) = (whole(done, "bytes")?, whole(done, "iops")?) else { return Ok(None) };
    let ios = window.ios((bytes, block), iops);
    let mut numbers = Vec::new();
    collect(done, "last_done", &mut numbers);
    let latency = match latency {
        Some(told) => {
            collect(told, "latency", &mut numbers);
            Some(latencies(told, histogram)?)
        }
        None => None,
    };
    Ok(Some(Side { op, ios, bytes, latency, numbers }))
}

fn latencies(told: &Value<'_>, histogram: Option<&Value<'_>>) -> Result<Latency, (u32, Say)> {
    let us = |name: &str| Ok::<u64, (u32, Say)>(whole(told, name)?.unwrap_or(0));
    let mut counts: Vec<(u64, u64)> = Vec::new();
    let buckets = histogram.and_then(|histogram| histogram.get("buckets"));
    for bucket in buckets.map(Value::items).unwrap_or_default() {
        let range = bucket.get("range").and_then(Value::text).unwrap_or_default();
        let upper =
            range.strip_suffix("us").and_then(|range| range.split_once('-')).and_then(|(_, to)| to.parse().ok());
        let upper: f64 = upper.filter(|upper: &f64| upper.is_finite() && *upper >= 0.0).ok_or_else(|| {
            (bucket.line, say!("`{range}` is not a range of latencies", "`{range}` — не диапазон задержек"))
        })?;
        counts.push(((upper * 1000.0).round() as u64, whole(bucket, "count")?.unwrap_or(0)));
    }
    Ok(Latency {
        mean_ns: us("avg_us")? as f64 * 1000.0,
        // Cut to whole microseconds.
        step_ns: 1000.0,
        min_ns: us("min_us")?.saturating_mul(1000),
        max_ns: us("max_us")?.saturating_mul(1000),
        percentiles: percentiles(&counts),
    })
}

/// Upper edges of the buckets in which these shares lie, as elbencho itself tells percentiles. A bucket is a quarter of an octave, so
/// they are never too low and at most 19 % too high: too wide to be merged as if they were the latencies themselves.
fn percentiles(counts: &[(u64, u64)]) -> Vec<(u32, u64)> {
    let all = counts.iter().fold(0u128, |sum, (_, count)| sum + u128::from(*count));
    let of = |share: &u32| {
        let wanted = (all * u128::from(*share)).div_ceil(1_000_000).max(1);
        let mut passed = 0u128;
        let at = counts.iter().find(|(_, count)| {
            passed += u128::from(*count);
            passed >= wanted
        })?;
        Some((*share, at.0))
    };
    if all == 0 { Vec::new() } else { SHARES.iter().filter_map(of).collect() }
}

/// A whole number, which elbencho prints as a text; `None` if it is not there.
fn whole(value: &Value<'_>, name: &str) -> Result<Option<u64>, (u32, Say)> {
    let Some(told) = value.get(name) else { return Ok(None) };
    let text = told.text().unwrap_or_default();
    text.parse().map(Some).map_err(|_| {
        (told.line, say!("`{text}` of `{name}` is not a whole number", "`{text}` в `{name}` — не целое число"))
    })
}

/// Every number below a value but the buckets, names of levels joined by dots.
fn collect(value: &Value<'_>, name: &str, into: &mut Vec<ToolNumber>) {
    for (key, inner) in value.pairs().iter().filter(|(key, _)| !["latency", "histogram", READS].contains(&key.as_ref()))
    {
        let name = format!("{name}.{key}");
        match inner.text() {
            Some(text) => into.push(number(&name, unit(key), text)),
            None => collect(inner, &name, into),
        }
    }
}

/// Unit of a number, by its name.
fn unit(name: &str) -> &'static str {
    match name {
        "elapsed_time_ms" => "ms",
        "bytes" => "B",
        "bytes/s" => "B/s",
        "iops" | "entries/s" => "1/s",
        "cpu%" => "%",
        _ if name.ends_with("_us") => "us",
        _ => "",
    }
}
