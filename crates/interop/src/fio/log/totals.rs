//! What the I/Os of one log come to: counts by interval, a histogram by second and one of all. Pure; takes as much memory as a second.

use super::scan::Line;
use stend_base::histogram::Sparse;
use stend_base::{Histogram, Nanos, Say, say};
use stend_record::Slice;
use stend_spec::workload::{OPS, Op};

/// Length of an interval, ms.
const INTERVAL_MS: u64 = 100;
/// Intervals in a second.
const PER_SECOND: u32 = 10;
/// Longest log: what a chart takes, 58 hours.
const INTERVALS_MAX: u64 = 1 << 21;
/// Lines of a kind that show an interval in a log of all jobs: two can be the only ones of two jobs.
const LINES_OF_ALL_JOBS: usize = 3;
/// Shortest interval in such a log, ms: jobs that end together write their lines within a few ms. Chosen by eye.
const PERIOD_OF_ALL_JOBS_MS: u64 = 10;
/// Kinds of I/O by their numbers in a log.
const KINDS: [Op; 3] = [Op::Read, Op::Write, Op::Discard];

/// One kind of I/O.
#[derive(Debug)]
struct Kind {
    ops: u64,
    bytes: u64,
    max_ns: u64,
    all: (u64, u64),
    largest: u64,
    second: Histogram,
    total: Histogram,
}

/// I/Os so far.
#[derive(Debug)]
pub struct Totals {
    kinds: [Option<Box<Kind>>; KINDS.len()],
    /// Interval that is being counted.
    interval: u32,
    /// Time of the first line, where times are dates; else 0.
    origin_ms: Option<u64>,
    /// Last time, ms from the origin.
    last_ms: u64,
    /// Lines whose time is before that of the line before, and the first of them.
    pub backwards: u64,
    /// Stream and interval of what is handed out.
    stream: u16,
}

/// Times above this are dates (`log_unix_epoch`): ten years in ms.
pub const DATES_FROM: u64 = 10 * 365 * 86_400_000;

impl Totals {
    /// Nothing yet, of this stream.
    pub fn new(stream: u16) -> Totals {
        Totals { kinds: [None, None, None], interval: 0, origin_ms: None, last_ms: 0, backwards: 0, stream }
    }

    /// Counts a line; slices that are full go to `emit`.
    #[inline(always)]
    pub fn add(&mut self, line: &Line, emit: &mut dyn FnMut(Slice)) -> Result<(), Say> {
        let ms = self.since_origin(line.ms)?;
        let interval = (ms / INTERVAL_MS) as u32;
        if interval != self.interval {
            self.leave(interval, emit);
        }
        self.backwards += u64::from(ms < self.last_ms);
        self.last_ms = self.last_ms.max(ms);
        let columns = &line.columns;
        let slot = self.kinds.get_mut(columns.kind as usize).ok_or_else(|| no_kind(columns.kind))?;
        let kind = match slot {
            Some(kind) => kind,
            None => slot.insert(Box::new(Kind::new())),
        };
        if columns.size == 0 {
            return Err(averaged());
        }
        possible(line.value)?;
        kind.ops += 1;
        kind.bytes = kind.bytes.saturating_add(columns.size);
        kind.max_ns = kind.max_ns.max(line.value);
        kind.largest = kind.largest.max(columns.size);
        kind.second.record(Nanos(line.value));
        Ok(())
    }

    /// Time from the origin, ms.
    #[inline(always)]
    fn since_origin(&mut self, ms: u64) -> Result<u64, Say> {
        let origin = *self.origin_ms.get_or_insert(if ms >= DATES_FROM { ms } else { 0 });
        let since = ms.saturating_sub(origin);
        within(since)?;
        Ok(since)
    }

    /// Goes to another interval: what was counted is handed out, with the histogram of the second if it is over.
    #[cold]
    #[inline(never)]
    fn leave(&mut self, to: u32, emit: &mut dyn FnMut(Slice)) {
        let second_over = to / PER_SECOND != self.interval / PER_SECOND;
        for (kind, op) in self.kinds.iter_mut().zip(KINDS) {
            let Some(kind) = kind else { continue };
            // Latencies come with a slice of their second, even if its last interval had none.
            let latency = (second_over && kind.second.count() > 0).then(|| kind.second.sparse());
            if kind.ops > 0 || latency.is_some() {
                emit(Slice {
                    interval: self.interval,
                    span: 1,
                    stream: self.stream,
                    op,
                    ops: kind.ops,
                    bytes: kind.bytes,
                    errors: 0,
                    latency_max_ns: kind.max_ns,
                    latency,
                    open: None,
                });
            }
            kind.close_interval();
            if second_over {
                kind.total.merge(&kind.second);
                kind.second.clear();
            }
        }
        self.interval = to;
    }

    /// Hands the rest out; what is left are the sums.
    pub fn finish(mut self, emit: &mut dyn FnMut(Slice)) -> Sums {
        self.leave(self.interval.saturating_add(PER_SECOND), emit);
        let kinds = self.kinds.into_iter().zip(KINDS).filter_map(|(kind, op)| {
            let kind = kind?;
            let (ops, bytes) = kind.all;
            Some(SumOf { op, ops, bytes, largest: kind.largest, latency: Latencies::Each(kind.total) })
        });
        Sums { kinds: kinds.collect(), last_ms: self.last_ms, backwards: self.backwards }
    }
}

impl Kind {
    fn new() -> Kind {
        let (second, total) = (Histogram::new(), Histogram::new());
        Kind { ops: 0, bytes: 0, max_ns: 0, all: (0, 0), largest: 0, second, total }
    }

    fn close_interval(&mut self) {
        self.all = (self.all.0 + self.ops, self.all.1.saturating_add(self.bytes));
        (self.ops, self.bytes, self.max_ns) = (0, 0, 0);
    }
}

/// Largest latency in ns, or rate, that can be one: 36 years. What is more is a difference that was negative.
const VALUE_MAX: u64 = 1 << 60;

/// Refuses a value that is none.
#[inline(always)]
pub fn possible(value: u64) -> Result<(), Say> {
    if value > VALUE_MAX { Err(no_value(value)) } else { Ok(()) }
}

#[cold]
fn no_value(value: u64) -> Say {
    say!(
        "{value} is neither a latency nor a rate: fio wrote a difference that was negative",
        "{value} — не задержка и не частота: fio записал отрицательную разность"
    )
}

/// Refuses a time that no chart could hold.
#[inline(always)]
pub fn within(since_ms: u64) -> Result<(), Say> {
    if since_ms >= INTERVALS_MAX * INTERVAL_MS {
        return Err(say!("a time more than 58 hours after the first", "время более чем через 58 часов после первого"));
    }
    Ok(())
}

/// Ms of an interval, if the smallest or usual distance of these lines of a kind shows it. In a log of all jobs, whose times are dates, two
/// lines may be of two jobs, and the distance is that of their ends: there have to be more of them, and further apart.
pub fn period(distance: Option<u64>, lines: usize, all_jobs: bool) -> Option<u64> {
    distance.filter(|ms| !all_jobs || lines >= LINES_OF_ALL_JOBS && *ms >= PERIOD_OF_ALL_JOBS_MS)
}

/// Why a log of intervals whose first time is a date cannot be read, where no second line of its job shows when that interval began.
#[cold]
pub fn no_period() -> Say {
    say!(
        "its times are dates, and no second line of the same job shows how long the first interval is",
        "время записано датами, а второй строки того же задания, по которой видна длина первого интервала, нет"
    )
}

/// What a whole log comes to.
#[derive(Debug)]
pub struct Sums {
    /// Kinds of I/O that occurred.
    pub kinds: Vec<SumOf>,
    /// Last time, ms from the origin.
    pub last_ms: u64,
    /// Lines whose time is before that of an earlier line.
    pub backwards: u64,
}

/// One kind of I/O of a whole log.
#[derive(Debug)]
pub struct SumOf {
    /// Kind.
    pub op: Op,
    /// I/Os.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Largest I/O.
    pub largest: u64,
    /// Latencies.
    pub latency: Latencies,
}

/// What is known of latencies.
#[derive(Debug)]
pub enum Latencies {
    /// Each of them.
    Each(Histogram),
    /// Their sum, ns, as means tell it; `None`: nothing.
    Mean(Option<u128>),
}

impl Latencies {
    /// As they are stored: without buckets where there are none.
    pub fn stored(&self) -> Sparse {
        match self {
            Latencies::Each(all) => all.sparse(),
            Latencies::Mean(sum) => Sparse { sum_ns: sum.unwrap_or(0), ..Sparse::default() },
        }
    }
}

impl Sums {
    /// I/Os and bytes by kind, in the order of [`Op::ALL`].
    pub fn done(&self) -> [(u64, u64); OPS] {
        let mut done = [(0, 0); OPS];
        self.kinds.iter().for_each(|kind| done[kind.op.index()] = (kind.ops, kind.bytes));
        done
    }
}

/// What is wrong with a number of a kind of I/O.
#[cold]
pub fn no_kind(kind: u64) -> Say {
    say!("{kind} is not a kind of I/O: 0 read, 1 write, 2 trim", "{kind} — не вид операции: 0 чтение, 1 запись, 2 trim")
}

fn averaged() -> Say {
    say!("a size of 0: an average among single I/Os", "размер 0: среднее среди одиночных операций")
}
