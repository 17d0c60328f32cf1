//! A time span of diskspd as a trial: counts of its threads and targets, and latencies of all together. Pure.

use super::profile::Profile;
use super::{Bad, buckets};
use crate::date;
use crate::printed::{Latency, Printed, Side, mix_of, number};
use crate::xml::Element;
use stend_base::{Nanos, Say, say};
use stend_record::ToolNumber;
use stend_spec::workload::Op;

/// Numbers of a trial that are kept: those of a thousand threads are more than anybody looks at.
const NUMBERS_MAX: usize = 4096;
/// Characters of a text of the file that a message repeats: what diskspd itself says of an interrupted time span fits.
const SHOWN_MAX: usize = 120;
/// Latencies are printed in thousandths of a millisecond.
const STEP_NS: f64 = 1000.0;

/// What a document says for all of its time spans.
pub struct Document<'e> {
    /// What diskspd calls itself, with its version.
    pub version: String,
    began: Option<Nanos>,
    /// Seconds from there to each time span, and to the end of the last.
    before: Vec<u64>,
    profiles: Vec<&'e Element<'e>>,
}

impl<'e> Document<'e> {
    /// Attributes of the root of results.
    pub fn of(root: &'e Element<'e>) -> Document<'e> {
        let below = |path: &[&str]| path.iter().try_fold(root, |at, name| at.child(name));
        let version = below(&["System", "Tool", "Version"]).map_or("", Element::text);
        // 2026/11/23 01:02:03 UTC
        let date = |text: &str| date::iso(&format!("{}Z", text.strip_suffix(" UTC")?.replace('/', "-")));
        let spans = below(&["Profile", "TimeSpans"]);
        let profiles: Vec<&Element<'_>> = spans.map(|spans| spans.all("TimeSpan").collect()).unwrap_or_default();
        let mut before = vec![0u64];
        for span in &profiles {
            let seconds = |name| span.child(name).and_then(|at| at.text().parse::<u64>().ok()).unwrap_or(0);
            let sum = before.last().copied().unwrap_or(0);
            before.push(
                ["Warmup", "Duration", "Cooldown"].iter().fold(sum, |sum, name| sum.saturating_add(seconds(name))),
            );
        }
        Document {
            version: format!("diskspd {version}").trim_end().to_string(),
            began: below(&["System", "RunTime"]).and_then(|time| date(time.text())),
            before,
            profiles,
        }
    }

    /// What all time spans were pointed at.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let targets = self.profiles.iter().filter_map(|span| span.child("Targets"));
        targets.flat_map(|targets| targets.all("Target")).filter_map(|target| target.child("Path")).map(Element::text)
    }

    /// When a time span began: they ran one after the other, as long as the profile says, and all have one begin.
    fn began(&self, number: usize) -> Option<Nanos> {
        let before = self.before.get(number).or(self.before.last()).copied().unwrap_or(0);
        self.began.map(|began| began + Nanos::secs(before))
    }

    /// The trial of a time span, the one of this number from 0; `Ok(Err(_))`: why it is left out.
    pub fn trial(&self, number: usize, span: &Element<'e>, file: u32) -> Result<Result<Printed, Say>, Bad> {
        if !span.whole {
            return Ok(Err(say!("a time span without its end", "интервал без конца")));
        }
        if let Some(error) = span.child("Error") {
            let why = shown(error.text());
            return Ok(Err(say!("a time span without results: {why}", "интервал без результатов: {why}")));
        }
        let window = decimal(span, "TestTimeSeconds")?.unwrap_or(0.0);
        let counts = Counts::of(span)?;
        if window <= 0.0 || counts.read.0 + counts.write.0 == 0 {
            return Ok(Err(say!("a time span without I/O", "интервал без операций")));
        }
        let profile = Profile::of(self.profiles.get(number).copied());
        let options = match profile.options() {
            Ok(options) => options,
            Err(why) => return Ok(Err(why)),
        };
        let stream = profile.stream(mix_of(counts.read.0, counts.write.0));
        let slices = match span.child("Iops") {
            Some(iops) => buckets::slices(iops, counts.read, counts.write)?,
            None => Vec::new(),
        };
        Ok(Ok(Printed {
            file,
            line: span.line,
            version: self.version.clone(),
            command: String::new(),
            name: profile.name(),
            options,
            started: self.began(number),
            ramp: Nanos::secs(profile.warmup()),
            window: Nanos((window * 1e9).round() as u64),
            stream,
            direct: profile.direct(),
            pages: profile.pages(),
            paced: profile.paced(),
            sizes_known: profile.one_size(),
            failed: false,
            errors: 0,
            sides: sides(span, &counts)?,
            slices,
        }))
    }
}

/// I/Os and bytes of all threads and targets.
#[derive(Default)]
struct Counts {
    read: (u64, u64),
    write: (u64, u64),
}

impl Counts {
    /// Sums, after a look whether those of each target agree with the numbers of its kinds.
    fn of(span: &Element<'_>) -> Result<Counts, Bad> {
        let mut sums = Counts::default();
        for target in span.all("Thread").flat_map(|thread| thread.all("Target")) {
            let of = |name: &str| whole(target, name);
            let (read, write) = ((of("ReadCount")?, of("ReadBytes")?), (of("WriteCount")?, of("WriteBytes")?));
            let (ios, bytes) = (of("IOCount")?, of("BytesCount")?);
            if read.0.checked_add(write.0) != Some(ios) || read.1.checked_add(write.1) != Some(bytes) {
                let why = say!(
                    "the reads and writes of the target do not add up to its total",
                    "сумма чтений и записей объекта не равна указанной для него сумме"
                );
                return Err((target.line, why));
            }
            let add = |sum: (u64, u64), own: (u64, u64)| (sum.0.saturating_add(own.0), sum.1.saturating_add(own.1));
            (sums.read, sums.write) = (add(sums.read, read), add(sums.write, write));
        }
        Ok(sums)
    }
}

fn sides(span: &Element<'_>, counts: &Counts) -> Result<Vec<Side>, Bad> {
    let mut sides = Vec::new();
    for (op, kind, (ios, bytes)) in [(Op::Read, "Read", counts.read), (Op::Write, "Write", counts.write)] {
        if ios == 0 {
            continue;
        }
        let latency = span.child("Latency").map(|latency| of_kind(latency, kind)).transpose()?.flatten();
        let other = if op == Op::Read { "Write" } else { "Read" };
        // Those of the time span stand with its first kind of I/O.
        let first = sides.is_empty();
        let numbers = numbers(span, |name| name.contains(kind) || (first && !name.contains(other)));
        sides.push(Side { op, ios, bytes, latency, numbers });
    }
    Ok(sides)
}

/// Latencies of a kind, from before the submission until diskspd sees the end; `None` without `-L`.
fn of_kind(latency: &Element<'_>, kind: &str) -> Result<Option<Latency>, Bad> {
    let ns = |element, name: &str| Ok::<_, Bad>(decimal(element, name)?.map(|ms| (ms * 1e6).round() as u64));
    let Some(mean_ms) = decimal(latency, &format!("Average{kind}Milliseconds"))? else { return Ok(None) };
    let mut told = Latency { mean_ns: mean_ms * 1e6, step_ns: STEP_NS, ..Latency::default() };
    let name = format!("{kind}Milliseconds");
    for bucket in latency.all("Bucket") {
        let (Some(percent), Some(at)) = (decimal(bucket, "Percentile")?, ns(bucket, &name)?) else { continue };
        let millionths = percent * 10_000.0;
        match percent {
            0.0 => told.min_ns = at,
            100.0 => told.max_ns = at,
            // Shares finer than a millionth are kept as printed.
            _ if percent < 100.0 && (millionths - millionths.round()).abs() < 1e-3 && millionths < 999_999.5 => {
                told.percentiles.push((millionths.round() as u32, at));
            }
            _ => {}
        }
    }
    Ok(Some(told))
}

/// Numbers below a time span whose name is wanted, levels joined by dots: of all together first, then of threads and targets.
fn numbers(span: &Element<'_>, wanted: impl Fn(&str) -> bool) -> Vec<ToolNumber> {
    let mut found = Vec::new();
    let mut open: Vec<(String, &Element<'_>)> =
        span.children.iter().rev().map(|child| (child.name.to_string(), child)).collect();
    while let Some((name, element)) = open.pop() {
        if found.len() >= NUMBERS_MAX {
            break;
        }
        if element.children.is_empty() && !element.text().is_empty() {
            if wanted(&name) && element.text().parse::<f64>().is_ok() {
                found.push(number(&name, unit(element.name), element.text()));
            }
            continue;
        }
        let mut counts = std::collections::BTreeMap::<&str, u32>::new();
        let mut below = Vec::new();
        for child in element.children.iter().filter(|child| child.name != "Percentile") {
            let count = counts.entry(child.name).or_default();
            let label = match child.child("Percentile") {
                Some(percentile) => format!("{name}.{}", percentile.text()),
                None if ["Target", "CPU"].contains(&child.name) => format!("{name}.{}{count}", child.name),
                None => format!("{name}.{}", child.name),
            };
            *count += 1;
            below.push((label, child));
        }
        open.extend(below.into_iter().rev());
    }
    found
}

/// Unit of a number, by its name.
fn unit(name: &str) -> &'static str {
    match name {
        "BytesCount" | "FileSize" | "ReadBytes" | "WriteBytes" => "B",
        "TestTimeSeconds" => "s",
        _ if name.ends_with("Percent") => "%",
        _ if name.ends_with("Milliseconds") || name.ends_with("LatencyStdev") => "ms",
        _ if name.ends_with("IopsStdDev") => "1/s",
        _ => "",
    }
}

/// A count; 0 where it is not told.
fn whole(element: &Element<'_>, name: &str) -> Result<u64, Bad> {
    let Some(child) = element.child(name) else { return Ok(0) };
    child.text().parse().map_err(|_| wrong(child))
}

fn decimal(element: &Element<'_>, name: &str) -> Result<Option<f64>, Bad> {
    let Some(child) = element.child(name) else { return Ok(None) };
    let number = child.text().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    number.map(Some).ok_or_else(|| wrong(child))
}

fn wrong(element: &Element<'_>) -> Bad {
    let (text, name) = (shown(element.text()), element.name);
    (element.line, say!("`{text}` of `{name}` is not a number", "`{text}` в `{name}` — не число"))
}

/// Text of the file as it may stand in a message.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN_MAX).collect()
}
