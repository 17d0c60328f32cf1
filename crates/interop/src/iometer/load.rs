//! Results of all managers of Iometer together as a trial. Pure.

use super::Bad;
use super::sections::{Row, Test};
use crate::printed::{Latency, Printed, Side, mix_of, number};
use std::collections::BTreeMap;
use stend_base::{Bytes, Nanos, Say, say};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Pages, Stream};

/// Columns that say what was asked for.
const ASKED: [&str; 6] = ["# Managers", "# Workers", "# Disks", "Starting Sector", "Maximum Size", "Queue Depth"];

/// `Ok(Err(_))`: why it is left out.
pub fn trial(test: &Test, file: u32) -> Result<Result<Printed, Say>, Bad> {
    let row = &test.row;
    let count = |name: &str| Ok::<u64, Bad>(row.number(name)?.map_or(0, |(value, _)| value as u64));
    let (read, write) = (count("Read I/Os")?, count("Write I/Os")?);
    let rate = row.number("IOps")?.map_or(0.0, |(value, _)| value);
    if rate <= 0.0 || read.saturating_add(write) == 0 {
        return Ok(Err(say!("a test without I/O", "испытание без операций")));
    }
    // The time is that of rates and counts; the row of all managers has none of its own.
    let seconds = read.saturating_add(write) as f64 / rate;
    let name = match (test.row.text("Access Specification Name"), test.description.as_str()) {
        ("", "") => "several specifications".to_string(),
        ("", description) => description.to_string(),
        (access, _) => access.to_string(),
    };
    let access = test.access.as_ref();
    // Without a specification the size is the mean.
    let bytes = count("Bytes Read")?.saturating_add(count("Bytes Written")?);
    let mean = Bytes(bytes / read.saturating_add(write));
    let (block, shares) = access.map_or((mean, Vec::new()), |access| access.sizes());
    let pattern = access.map_or(Pattern::Sequential, |access| access.pattern());
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let stream = Stream {
        block_mix: shares,
        queue_depth: small(count("Queue Depth")?),
        // A worker keeps its depth on each of its targets.
        jobs: small(count("# Disks")?).max(1),
        ..Stream::new(mix_of(read, write), pattern, block)
    };
    let options = options(test);
    let sides = [side(row, Op::Read, read)?, side(row, Op::Write, write)?];
    Ok(Ok(Printed {
        file,
        line: row.line,
        version: format!("Iometer {}", test.version).trim_end().to_string(),
        command: String::new(),
        name,
        options,
        started: None,
        ramp: Nanos(0),
        window: Nanos((seconds * 1e9).round() as u64),
        stream,
        // Iometer opens its targets without the cache of the system.
        direct: true,
        pages: Pages::Ordinary,
        paced: access.is_some_and(|access| access.paced()),
        sizes_known: access.is_some_and(|access| access.size().is_some()),
        failed: false,
        errors: count("Errors")?,
        sides: sides.into_iter().flatten().collect(),
        slices: Vec::new(),
    }))
}

fn options(test: &Test) -> BTreeMap<String, String> {
    let asked = ASKED.iter().map(|name| (name.to_string(), test.row.text(name).to_string()));
    let mut options: BTreeMap<String, String> = asked.filter(|(_, value)| !value.is_empty()).collect();
    if let Some(access) = &test.access {
        options.insert("access".to_string(), access.text());
    }
    options
}

/// One kind of I/O; `None` if there was none.
fn side(row: &Row, op: Op, ios: u64) -> Result<Option<Side>, Bad> {
    if ios == 0 {
        return Ok(None);
    }
    let (own, other, bytes) = match op {
        Op::Read => ("Read", "Write", "Bytes Read"),
        _ => ("Write", "Read", "Bytes Written"),
    };
    let latency = match row.number(&format!("Average {own} Response Time"))? {
        Some((mean_ms, step_ms)) => Some(Latency {
            mean_ns: mean_ms * 1e6,
            step_ns: step_ms * 1e6,
            max_ns: row.number(&format!("Maximum {own} Response Time"))?.map_or(0, |(ms, _)| (ms * 1e6).round() as u64),
            ..Latency::default()
        }),
        None => None,
    };
    let aside = ["Target Type", "Target Name", "Access Specification Name"];
    let of_other =
        |name: &str| name.contains(other) || name == if op == Op::Read { "Bytes Written" } else { "Bytes Read" };
    let pairs =
        row.pairs().filter(|(name, cell)| !aside.contains(name) && !of_other(name) && !["", "-1"].contains(cell));
    let numbers = pairs.map(|(name, cell)| number(name, unit(name), cell)).collect();
    let bytes = row.number(bytes)?.map_or(0, |(bytes, _)| bytes as u64);
    Ok(Some(Side { op, ios, bytes, latency, numbers }))
}

/// Unit of a column, as Worker.cpp computes it: without a word beside it, `MBps` is of 2^20 bytes.
fn unit(name: &str) -> &'static str {
    match name {
        "Bytes Read" | "Bytes Written" => "B",
        _ if name.contains("MBps (Decimal)") => "MB/s",
        _ if name.contains("MBps") || name.contains("MiBps") => "MiB/s",
        _ if name.contains("IOps") || name.contains("per Second") || name == "Packets/Second" => "1/s",
        _ if name.contains("Response Time")
            || name.contains("Transaction Time")
            || name.contains("Connection Time") =>
        {
            "ms"
        }
        _ if name.starts_with('%') => "%",
        _ => "",
    }
}
