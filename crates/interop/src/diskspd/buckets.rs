//! Rates by interval (`-D`), as slices of a run. Pure.

use super::Bad;
use crate::xml::Element;
use std::collections::BTreeMap;
use stend_base::say;
use stend_record::observed::Slice;
use stend_spec::workload::Op;

/// Slices of a run file are 100 ms.
const SLICE_MS: u64 = 100;
/// Longest run: what a chart takes, 58 hours.
const LAST_MS: u64 = (1 << 21) * SLICE_MS;

/// Intervals of a time span. `Bucket`s hold rates, which were counts; their bytes are those of a mean I/O of all reads, and of all writes, which
/// the profile gives as I/Os and bytes.
pub fn slices(iops: &Element<'_>, reads: (u64, u64), writes: (u64, u64)) -> Result<Vec<Slice>, Bad> {
    let mut slices: BTreeMap<(u32, usize), Slice> = BTreeMap::new();
    let mut from = 0;
    for bucket in iops.all("Bucket") {
        let to = attribute(bucket, "SampleMillisecond")?.unwrap_or(0.0) as u64;
        if to <= from || to > LAST_MS {
            let why = say!(
                "an interval that ends at {to} ms does not follow one that ends at {from} ms",
                "интервал до {to} мс не может идти после интервала до {from} мс"
            );
            return Err((bucket.line, why));
        }
        for (op, rate, max, (all, bytes)) in [
            (Op::Read, "Read", "ReadMaxLatencyMilliseconds", reads),
            (Op::Write, "Write", "WriteMaxLatencyMilliseconds", writes),
        ] {
            let ops = (attribute(bucket, rate)?.unwrap_or(0.0) * (to - from) as f64 / 1000.0).round() as u64;
            if ops == 0 {
                continue;
            }
            let interval = (from / SLICE_MS) as u32;
            let span = (to / SLICE_MS).saturating_sub(from / SLICE_MS).max(1) as u32;
            let slice = slices.entry((interval, op.index())).or_insert_with(|| empty(interval, span, op));
            slice.span = slice.span.max(span);
            slice.ops = slice.ops.saturating_add(ops);
            let own = (u128::from(ops) * u128::from(bytes)).checked_div(u128::from(all)).unwrap_or(0);
            slice.bytes = slice.bytes.saturating_add(u64::try_from(own).unwrap_or(u64::MAX));
            let max_ns = attribute(bucket, max)?.map_or(0, |ms| (ms * 1e6).round() as u64);
            slice.latency_max_ns = slice.latency_max_ns.max(max_ns);
        }
        from = to;
    }
    Ok(slices.into_values().collect())
}

fn empty(interval: u32, span: u32, op: Op) -> Slice {
    Slice { interval, span, stream: 0, op, ops: 0, bytes: 0, errors: 0, latency_max_ns: 0, latency: None, open: None }
}

fn attribute(bucket: &Element<'_>, name: &str) -> Result<Option<f64>, Bad> {
    let Some(text) = bucket.attribute(name) else { return Ok(None) };
    let number = text.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    number
        .map(Some)
        .ok_or_else(|| (bucket.line, say!("`{text}` of `{name}` is not a number", "`{text}` в `{name}` — не число")))
}
