//! What one document of fio's JSON says, whatever the version: before fio 3 latencies are in microseconds and `io_bytes` in KiB.
//! Pure.
//!
//! Source: fio, stat.c (`show_thread_status_json`, `add_ddir_status_json`) of 2.21 and 3.33, client.c (`fio_client_json_init`).

use super::options::Options;
use super::unit;
use crate::json::{Kind, Value};
use stend_base::{Nanos, Say, say};
use stend_record::ToolNumber;
use stend_record::fio_bins::{Bins, bin};
use stend_spec::workload::Op;

/// Numbers of a job: fio prints some 70 for each of its kinds of I/O.
const NUMBERS_MAX: usize = 4096;

/// Line, and why what stands there is not used.
type Dropped = (u32, Say);

/// One document: a run of fio, or a snapshot of one.
#[derive(Debug)]
pub struct Document {
    /// Line at which it begins.
    pub line: u32,
    /// What fio calls itself; empty if it does not say.
    pub version: String,
    /// When it was printed, ms since 1970; `None` if that is not told.
    pub ended_ms: Option<u64>,
    /// Jobs, or groups of them; sums over clients left out.
    pub jobs: Vec<Job>,
    /// What of it cannot be used, and where.
    pub dropped: Vec<Dropped>,
}

/// Longer than a job takes to begin and to end, ms: by so much the sum of their run times is more than its I/O took.
const STARTING_MS: f64 = 250.0;
/// Bytes or I/Os that no job makes: what is more is a difference that became negative, or a broken file.
const COUNT_MAX: u64 = 1 << 60;

/// The result of one job, or of several reported as one.
#[derive(Debug)]
pub struct Job {
    /// Name of the section.
    pub name: String,
    /// Jobs of one group run at the same time.
    pub group: u64,
    /// When it began, ms since 1970; newer versions tell.
    pub started_ms: Option<u64>,
    /// The error that ended it, 0 if none did.
    pub error: i32,
    /// Failed I/Os, where it went on in spite of them.
    pub failed: u64,
    /// Options.
    pub options: Options,
    /// By kind of I/O, those that occurred.
    pub sides: Vec<(Op, Side)>,
    /// How many ran, where several sections are reported as one and their number is known.
    pub threads: Option<u32>,
    /// Time on a CPU, ns; `None` if that is not told.
    pub cpu_ns: Option<u64>,
    /// Numbers of the job that belong to no kind of I/O.
    pub numbers: Vec<ToolNumber>,
}

/// One kind of I/O of a job.
#[derive(Debug, Default)]
pub struct Side {
    /// Completed I/Os.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long, ms.
    pub runtime_ms: u64,
    /// I/Os that moved less than asked for.
    pub short: u64,
    /// The latency that says most: with a histogram, else with percentiles, else with a mean.
    pub latency: Latency,
    /// Sum of the times from before the submission to the end, ns.
    pub occupied_ns: Option<u128>,
    /// Every number of it.
    pub numbers: Vec<ToolNumber>,
}

/// One kind of latency.
#[derive(Debug, Default, Clone)]
pub struct Latency {
    /// `lat`, `clat`, or empty.
    pub name: &'static str,
    /// ns in a unit of its values.
    pub unit_ns: u64,
    /// I/Os.
    pub count: u64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Smallest, ns.
    pub min_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// Share in millionths, and ns.
    pub percentiles: Vec<(u32, u64)>,
    /// Histogram in units of `unit_ns`.
    pub bins: Bins,
}

impl Document {
    /// A document of fio; `None` if it is something else.
    pub fn of(value: &Value<'_>) -> Option<Document> {
        let version = value.get("fio version").and_then(Value::text).unwrap_or_default();
        let jobs = value.get("jobs").or(value.get("client_stats"))?;
        let ended_ms = value.get("timestamp_ms").and_then(Value::whole);
        let seconds = value.get("timestamp").and_then(Value::whole);
        let mut document = Document {
            line: value.line,
            version: version.to_string(),
            ended_ms: ended_ms.or(seconds.and_then(|s| s.checked_mul(1000))),
            jobs: Vec::new(),
            dropped: Vec::new(),
        };
        let global = value.get("global options");
        for job in jobs.items() {
            document.add(job, global);
        }
        Some(document)
    }

    fn add(&mut self, job: &Value<'_>, global: Option<&Value<'_>>) {
        let Some(name) = job.get("jobname").and_then(Value::text) else {
            self.dropped.push((job.line, say!("a job without `jobname`", "задание без `jobname`")));
            return;
        };
        // The sum that fio makes of several clients; of a job there would be its options.
        if name == "All clients" && job.get("job options").is_none() {
            return;
        }
        let mut dropped = |(line, why): Dropped| {
            let Say { en, ru } = why;
            self.dropped.push((line, say!("job `{name}`: {en}", "задание `{name}`: {ru}")));
        };
        let line = job.line;
        match Job::of(job, name, global) {
            Ok((job, without)) => {
                let zones = job.options.unread_zones().map(|zones| {
                    let why = say!(
                        "the zones of `random_distribution={zones}` are not taken over; its blocks count as equally hot",
                        "зоны из `random_distribution={zones}` не переняты; все блоки считаются одинаково горячими"
                    );
                    (line, why)
                });
                without.into_iter().chain(zones).for_each(&mut dropped);
                self.jobs.push(job);
            }
            Err(why) => dropped(why),
        }
    }
}

impl Job {
    /// The job, and what of it is left out.
    fn of(value: &Value<'_>, name: &str, global: Option<&Value<'_>>) -> Result<(Job, Option<Dropped>), Dropped> {
        let own = value.get("job options");
        let mut options = Options { given: own.is_some() || global.is_some(), ..Options::default() };
        // Those of several clients may be a list.
        let shared = global.into_iter().flat_map(|global| global.items().iter().chain(std::iter::once(global)));
        for (option, text) in shared.chain(own).flat_map(Value::pairs) {
            options.all.insert(option.to_string(), text.text().unwrap_or_default().to_string());
        }
        let number = |name: &str| value.get(name).and_then(Value::number);
        let runtime = number("job_runtime");
        // Before anything follows from the options: they may be those of another section.
        let each_ms = longest_ms(value, &options);
        let threads = threads(&mut options, runtime, each_ms);
        let mut sides = sides(value, &options)?;
        let verified = without_verification(value, &options, &mut sides)?;
        let cpu = number("usr_cpu").zip(number("sys_cpu")).zip(runtime);
        let mut numbers = Vec::new();
        let of_kind = ["read", "write", "trim", "sync", "mixed", "job options"];
        for (key, inner) in value.pairs().iter().filter(|(key, _)| !of_kind.contains(&key.as_ref())) {
            collect(inner, key, &mut numbers);
        }
        let started = value.get("job_start").and_then(Value::whole);
        let hostname = value.get("hostname").and_then(Value::text).filter(|host| !host.is_empty());
        if let Some(host) = hostname {
            options.all.insert("hostname".to_string(), host.to_string());
        }
        let job = Job {
            name: name.to_string(),
            group: value.get("groupid").and_then(Value::whole).unwrap_or(0),
            started_ms: started.filter(|start| *start > 0),
            error: value.get("error").and_then(Value::number).unwrap_or(0.0) as i32,
            failed: value.get("total_err").and_then(Value::whole).unwrap_or(0),
            options,
            sides,
            threads,
            cpu_ns: cpu.map(|((user, system), ms)| ((user + system).max(0.0) / 100.0 * ms * 1e6) as u64),
            numbers,
        };
        Ok((job, verified))
    }

    /// How long its I/O lasted, ms.
    pub fn runtime_ms(&self) -> u64 {
        self.sides.iter().map(|(_, side)| side.runtime_ms).max().unwrap_or(0)
    }

    /// From its start to its end, as far as it is known.
    pub fn lasted(&self) -> Nanos {
        Nanos::millis(self.runtime_ms()) + self.options.ramp()
    }
}

/// With `group_reporting` the numbers of all sections of a group are one entry, whose options are those of one of them. The run times, which
/// are added up, show that there were several: more than that section has jobs. How many jobs there were then; without run times (before fio
/// 3.2) nobody knows.
fn threads(options: &mut Options, run_times_ms: Option<f64>, longest_ms: u64) -> Option<u32> {
    if !options.is_set("group_reporting") {
        return None;
    }
    let own = f64::from(options.jobs());
    let Some(all) = run_times_ms.filter(|ms| *ms > 0.0) else {
        options.of_one_section = true;
        return None;
    };
    let each = longest_ms as f64 + options.ramp().0 as f64 / 1e6;
    // A tenth more: a clock of ms, and a job that began late.
    if all <= own * (each * 1.1 + STARTING_MS) {
        return None;
    }
    options.of_one_section = true;
    Some((all / each.max(1.0)).round().clamp(2.0, 1e6) as u32)
}

/// How long one job with these options did I/O, ms, as it is printed: the longest run time of a kind, and of one that verifies what it
/// wrote that of its reads behind that of its writes.
fn longest_ms(job: &Value<'_>, options: &Options) -> u64 {
    let runtime = |kind: &str| job.get(kind).and_then(|kind| kind.get("runtime")?.whole()).unwrap_or(0);
    let longest = ["read", "write", "trim", "sync", "mixed"].into_iter().map(runtime).max().unwrap_or(0);
    let mix = options.shape().mix;
    let reads_afterwards = mix.is_some_and(|mix| options.verifies() && mix.write > 0 && mix.read == 0);
    if reads_afterwards { runtime("write").saturating_add(runtime("read")).max(longest) } else { longest }
}

/// Takes away the reads by which fio verifies what a job wrote: they come after the load. If a job reads, too, both are one number,
/// whose parts are not known. Reads of an entry for several sections may be the load of another one: they stay, with a note.
//= fio, backend.c: do_verify() follows do_io(), and its time is added to that of the reads
fn without_verification(
    job: &Value<'_>,
    options: &Options,
    sides: &mut Vec<(Op, Side)>,
) -> Result<Option<Dropped>, Dropped> {
    let Some(mix) = options.shape().mix.filter(|mix| options.verifies() && mix.write > 0) else { return Ok(None) };
    let line = job.get("read").map_or(job.line, |read| read.line);
    if mix.read > 0 {
        let why = say!(
            "its reads and those of its verification (`verify`, `do_verify`) are one number and cannot be separated",
            "его чтения и чтения проверки (`verify`, `do_verify`) сложены в одно число, разделить их нельзя"
        );
        return Err((line, why));
    }
    if options.of_one_section && sides.iter().any(|(op, _)| *op == Op::Read) {
        let why = say!(
            "the entry may stand for several sections (`group_reporting`), so reads of a load and those of a verification (`verify`) cannot be separated; all of them count",
            "запись может быть о нескольких секциях (`group_reporting`): чтения нагрузки и чтения проверки (`verify`) не разделить, учтены все"
        );
        return Ok(Some((line, why)));
    }
    let before = sides.len();
    sides.retain(|(op, _)| *op != Op::Read);
    Ok((sides.len() < before).then(|| {
        let why = say!(
            "reads of the verification that follows the writes (`verify`) are left out",
            "чтения проверки, идущей после записей (`verify`), пропущены"
        );
        (line, why)
    }))
}

/// The kinds of I/O that a job made.
fn sides(job: &Value<'_>, options: &Options) -> Result<Vec<(Op, Side)>, Dropped> {
    let mut found = Vec::new();
    for (key, op) in [("read", Op::Read), ("write", Op::Write), ("trim", Op::Discard), ("sync", Op::Sync)] {
        let Some(value) = job.get(key) else { continue };
        let side = Side::of(value, op)?;
        if side.ios > 0 {
            found.push((op, side));
        }
    }
    let Some(mixed) = job.get("mixed").filter(|_| found.is_empty()) else { return Ok(found) };
    // Other sections of an entry may do something else.
    let mix = options.shape().mix.filter(|_| !options.of_one_section);
    let shares = mix.map(|mix| mix.shares().collect::<Vec<_>>()).unwrap_or_default();
    let [(op, _)] = shares[..] else {
        return Err((
            mixed.line,
            say!(
                "reads and writes are one number (unified_rw_reporting) and cannot be separated",
                "чтения и записи сложены в одно число (unified_rw_reporting), разделить их нельзя"
            ),
        ));
    };
    let side = Side::of(mixed, op)?;
    Ok(if side.ios > 0 { vec![(op, side)] } else { Vec::new() })
}

impl Side {
    fn of(value: &Value<'_>, op: Op) -> Result<Side, Dropped> {
        let whole = |name: &str| value.get(name).and_then(Value::whole);
        let number = |name: &str| value.get(name).and_then(Value::number);
        let runtime_ms = whole("runtime").unwrap_or(0);
        let (lat, clat) = (Latency::of(value, "lat")?, Latency::of(value, "clat")?);
        let told = |name: &str| whole(name).unwrap_or(0);
        // Versions before 3 have no `io_kbytes`, and call KiB bytes.
        //= fio, stat.c of 2.21: "io_bytes", ts->io_bytes[ddir] >> 10
        let scale = if value.get("io_kbytes").is_some() { 1 } else { 1024 };
        let ios = whole("total_ios").or_else(|| {
            // The oldest tell only the rate.
            number("iops").map(|iops| (iops * runtime_ms as f64 / 1000.0).round().max(0.0) as u64)
        });
        let occupied = lat.as_ref().filter(|lat| lat.count > 0).map(Latency::sum_ns);
        let best = [clat, lat].into_iter().flatten().max_by_key(|latency| latency.told());
        let mut numbers = Vec::new();
        collect(value, "", &mut numbers);
        let (ios, bytes) = (ios.unwrap_or(0), told("io_bytes").saturating_mul(scale));
        if let Some(count) = [ios, bytes].into_iter().find(|count| *count > COUNT_MAX) {
            return Err((value.line, impossible(count)));
        }
        Ok(Side {
            ios,
            bytes: if op == Op::Sync { 0 } else { bytes },
            runtime_ms,
            short: told("short_ios"),
            latency: best.unwrap_or_default(),
            occupied_ns: occupied,
            numbers,
        })
    }
}

impl Latency {
    fn of(side: &Value<'_>, name: &'static str) -> Result<Option<Latency>, Dropped> {
        let nanos = side.get(&format!("{name}_ns")).map(|value| (value, 1));
        let Some((value, unit_ns)) = nanos.or(side.get(name).map(|value| (value, 1000))) else { return Ok(None) };
        let number = |name: &str| value.get(name).and_then(Value::number).filter(|v| *v >= 0.0).unwrap_or(0.0);
        let ns = |value: f64| (value * unit_ns as f64).round() as u64;
        let ios = || side.get("total_ios").and_then(Value::whole);
        let mean_ns = number("mean") * unit_ns as f64;
        // Before version 3 there is no `N`.
        let count = value.get("N").and_then(Value::whole).or_else(|| ios().filter(|_| mean_ns > 0.0)).unwrap_or(0);
        let mut percentiles = Vec::new();
        for (share, at) in value.get("percentile").map(Value::pairs).unwrap_or_default() {
            // 0 is a slot of fio's list that is not used.
            let percent = share.parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
            if let (Some(percent), Some(at)) = (percent, at.number().filter(|at| *at >= 0.0 && count > 0)) {
                percentiles.push(((percent * 1e4).round() as u32, ns(at)));
            }
        }
        let mut bins = Bins::new();
        for (middle, n) in value.get("bins").map(Value::pairs).unwrap_or_default() {
            let (Ok(at), Some(n)) = (middle.parse::<u64>(), n.whole()) else {
                return Err((n.line, say!("`{middle}` is not a latency bucket", "`{middle}` — не корзина задержек")));
            };
            let sum = bins.entry(bin(at)).or_default();
            *sum = u64::saturating_add(*sum, n);
        }
        let (min_ns, max_ns) = (ns(number("min")), ns(number("max")));
        Ok(Some(Latency { name, unit_ns, count, mean_ns, min_ns, max_ns, percentiles, bins }))
    }

    /// How much it tells: 3 with a histogram, 2 with percentiles, 1 with a mean, 0 for nothing.
    fn told(&self) -> u32 {
        match () {
            () if !self.bins.is_empty() => 3,
            () if !self.percentiles.is_empty() => 2,
            () => u32::from(self.count > 0),
        }
    }

    /// Sum over all I/Os, ns.
    pub fn sum_ns(&self) -> u128 {
        (self.mean_ns * self.count as f64).round() as u128
    }
}

/// Why a count is none.
pub(super) fn impossible(count: u64) -> Say {
    say!(
        "{count} is not a number of I/Os or bytes: fio counted a difference that was negative",
        "{count} — не число операций или байт: fio посчитал отрицательную разность"
    )
}

/// All numbers below a value, names of levels joined by dots; buckets left out, which are kept as a histogram.
fn collect(value: &Value<'_>, name: &str, into: &mut Vec<ToolNumber>) {
    if let Kind::Number(printed) = value.kind {
        if into.len() < NUMBERS_MAX {
            into.push(ToolNumber {
                name: name.to_string(),
                unit: unit::of(name).to_string(),
                printed: printed.to_string(),
            });
        }
        return;
    }
    let unused = |key: &str| name.ends_with("percentile") && key.parse() == Ok(0.0);
    for (key, inner) in value.pairs().iter().filter(|(key, _)| key != "bins" && !unused(key)) {
        let name = if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
        collect(inner, &name, into);
    }
}
