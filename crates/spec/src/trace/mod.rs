//! Recorded I/O for replay: what was asked of a device, and when. Pure: reads text that it is given,
//! never files. What each format says and what of it is replayed is `docs/formats/trace.md`.

mod blkparse;
mod builder;
mod iolog;
mod lines;
mod watched;

#[cfg(test)]
mod tests;

use crate::op::{OPS, Op};
use builder::Builder;
use lines::Lines;
use serde::{Deserialize, Serialize};
use std::io::BufRead;
use stend_base::{Bytes, Error, FilePosition, Nanos, Result, Say, say};

/// Most bytes of a trace file.
pub const SIZE_MAX: Bytes = Bytes::gib(1);
/// Most I/Os of all traces of a suite: each takes 24 bytes of memory, here and in the worker.
pub const IOS_MAX: u64 = 10_000_000;
/// Longest trace: as long as a trial may be.
pub const SPAN_MAX: Nanos = Nanos::secs(7 * 86_400);
/// Largest read or write, that of every stream.
pub const TRANSFER_MAX: u64 = 64 << 20;
/// Larger discards are cut into pieces of this size.
pub const PIECE: u64 = 1 << 30;
/// Most devices or files that one trace tells apart.
const DEVICES_MAX: usize = 256;

/// One I/O of a trace. Takes 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedIo {
    /// When it arrived, since the first I/O of the trace.
    pub at: Nanos,
    /// First byte on its device.
    pub offset: u64,
    /// Bytes; 0 for a sync.
    pub len: u32,
    /// What it does: a read, a write, a discard, or a sync of everything before it.
    pub op: Op,
    /// A write that is complete only when it is durable (FUA).
    pub durable: bool,
}

/// Which I/Os of which file are replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file as the suite names it: relative to the suite's directory, or absolute.
    pub file: String,
    /// Whose I/O is taken.
    pub device: TraceDevice,
    /// What counts as the arrival of an I/O.
    pub arrival: Arrival,
    /// Offsets are rounded down and ends up to a multiple of this, a power of two.
    pub align: Option<Bytes>,
}

/// Whose I/O is taken from a trace that may hold that of several devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceDevice {
    /// The only device in the trace.
    Only,
    /// All devices, as if they were one.
    All,
    /// This device: `8,0` (major and minor number), or the name of a file.
    Named(String),
}

/// What counts as the arrival of an I/O in a blkparse text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// It was queued (`Q`): as programs and file systems asked for it.
    Queued,
    /// It was issued to the driver (`D`): after merging and scheduling.
    Issued,
}

/// How fast a trace is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// At so many thousandths of the original pace, 10 to 100,000: I/Os begin when they are due (open loop).
    Timed(u32),
    /// As a closed loop: the next I/O begins when one ends, and after the last the first comes again.
    Asap,
}

/// What becomes of an I/O that lies beyond the range it is replayed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// The case does not run.
    Refuse,
    /// Offsets begin again at the start of the range.
    Wrap,
    /// All offsets shrink alike, so that the last fits.
    Scale,
}

/// A trace as a stream of a suite uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSpec {
    /// What is replayed.
    pub source: Source,
    /// The window is as long as the replay, because the suite names no length. Not for [`Pace::Asap`], which has no end.
    pub whole: bool,
    /// There is no ramp before a replay at a pace, because the suite names none.
    pub unramped: bool,
    /// How fast; each multiplies the cells of the matrix.
    pub pace: Vec<Pace>,
    /// What does not fit.
    pub beyond: Beyond,
}

/// The replay of a trace by a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Which of the run's traces.
    pub trace: u32,
    /// How fast.
    pub pace: Pace,
    /// What does not fit.
    pub beyond: Beyond,
    /// The first byte behind everything that the trace touches.
    pub end: Bytes,
    /// The largest power of two, at most 1 MiB, that divides all offsets and lengths.
    pub alignment: Bytes,
    /// It holds syncs.
    pub syncs: bool,
    /// It holds writes that are complete only when they are durable.
    pub durable: bool,
    /// Time from its first I/O to its last, at its own pace.
    pub span: Nanos,
}

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `fio version 2 iolog`.
    IologV2,
    /// `fio version 3 iolog`.
    IologV3,
    /// The default output of `blkparse`.
    Blkparse,
}

/// What of a trace is not replayed, in lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// Files that were added, opened or closed.
    pub file_actions: u64,
    /// Events that are no arrivals: completions, merges, plugs, messages and others.
    pub other_events: u64,
    /// I/O of other devices.
    pub other_devices: u64,
    /// I/O of no bytes, and of kinds that are neither read, write, discard nor flush.
    pub no_io: u64,
}

/// How many I/Os the original had in flight, from those whose completion is in the trace: at least 95 % of those with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalDepth {
    /// I/Os whose completion was found.
    pub completed: u64,
    /// Time that they were in flight, summed, ns.
    pub in_flight_sum_ns: u64,
    /// Most in flight at a time.
    pub most: u64,
}

/// Everything about a trace but its I/Os; recorded with the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFacts {
    /// What was read, and how.
    pub source: Source,
    /// Absolute path of the file when it was read.
    pub path: String,
    /// SHA-256 of the file, 64 hexadecimal digits.
    pub sha256: String,
    /// Whose text it is.
    pub format: Format,
    /// I/Os to be replayed, by operation in the order of [`Op::ALL`].
    pub ios: [u64; OPS],
    /// Their bytes, likewise.
    pub bytes: [u64; OPS],
    /// Writes among them that are complete only when they are durable.
    pub durable: u64,
    /// Time from the first to the last of them.
    pub span: Nanos,
    /// The first byte behind everything that they touch.
    pub end: Bytes,
    /// The line that touches the byte before it.
    pub end_line: u64,
    /// Bytes of the largest read or write.
    pub transfer_max: Bytes,
    /// Bytes of the largest I/O of any kind.
    pub io_max: Bytes,
    /// The largest power of two, at most 1 MiB, that divides all offsets and lengths.
    pub alignment: Bytes,
    /// The first line that no larger one would divide.
    pub alignment_line: u64,
    /// I/Os that were moved or made longer to be aligned.
    pub aligned: u64,
    /// I/Os that stood after a later one; they are replayed in the order of their times.
    pub out_of_order: u64,
    /// Pieces that were added because a discard was larger than 1 GiB.
    pub split: u64,
    /// What is not replayed.
    pub left_out: LeftOut,
    /// What the original had in flight; `None` if the trace does not say.
    pub depth: Option<OriginalDepth>,
}

/// A trace that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What is recorded of it.
    pub facts: TraceFacts,
    /// Its I/Os in the order of their times.
    pub ios: Vec<TracedIo>,
}

/// Reads a trace. `file` is its path, which names it in errors; those are of kind `Spec` with the line, or `Preflight` if it cannot be read.
pub fn read(input: impl BufRead, file: &str, source: &Source) -> Result<Trace> {
    read_beside(input, file, source, 0)
}

/// Reads a trace of a suite whose other traces hold so many I/Os: it fails at the first that is too many for all of them.
pub fn read_beside(input: impl BufRead, file: &str, source: &Source, others: u64) -> Result<Trace> {
    let mut lines = Lines::new(input, file);
    let mut builder = Builder::new(file, source, IOS_MAX.saturating_sub(others));
    let format = loop {
        let Some(line) = lines.next()? else {
            return Err(Error::spec(say!("`{file}` holds no I/O", "в `{file}` нет операций")));
        };
        if !line.trim().is_empty() && !blkparse::is_preamble(line) {
            let number = lines.number();
            break recognise(lines.line(), file, number)?;
        }
    };
    match format {
        Format::Blkparse => blkparse::read(&mut lines, &mut builder)?,
        Format::IologV2 | Format::IologV3 => iolog::read(&mut lines, format, &mut builder)?,
    }
    builder.finish(format, lines.sha256())
}

/// Whose text begins with this line.
fn recognise(first: &str, file: &str, number: u64) -> Result<Format> {
    if blkparse::is_event(first) {
        return Ok(Format::Blkparse);
    }
    match first.trim() {
        "fio version 2 iolog" => Ok(Format::IologV2),
        "fio version 3 iolog" => Ok(Format::IologV3),
        _ => Err(at_line(
            file,
            number,
            say!(
                "neither a fio iolog of version 2 or 3 nor the default output of blkparse",
                "ни iolog программы fio версии 2 или 3, ни обычный вывод blkparse"
            ),
        )
        .hint(say!(
            "an iolog begins with `fio version 3 iolog`; the binary files of blktrace are made into text by `blkparse -i NAME`",
            "iolog начинается с `fio version 3 iolog`; двоичные файлы blktrace превращает в текст `blkparse -i ИМЯ`"
        ))),
    }
}

/// An error that begins with `file:line`.
fn at_line(file: &str, line: u64, message: Say) -> Box<Error> {
    Error::at(FilePosition { file: file.to_string(), line, column: None }, &message)
}

/// A word of a foreign file, as much of it as an error shows.
fn shown(word: &str) -> String {
    word.chars().take(40).map(|c| if c.is_control() { '�' } else { c }).collect()
}

impl TraceFacts {
    /// I/Os to be replayed.
    pub fn count(&self) -> u64 {
        self.ios.iter().sum()
    }

    /// How a stream replays it.
    pub fn replay(&self, trace: u32, pace: Pace, beyond: Beyond) -> Replay {
        Replay {
            trace,
            pace,
            beyond,
            end: self.end,
            alignment: self.alignment,
            syncs: self.ios[Op::Sync.index()] > 0,
            durable: self.durable > 0,
            span: self.span,
        }
    }
}

impl Pace {
    /// When an I/O of the trace is due at this pace, ns since the first; `None` if it is due when there is room.
    #[inline]
    pub fn due(self, at: Nanos) -> Option<u64> {
        match self {
            // At most 7 days: 6 x 10^14 ns times 1000 fit in 64 bits.
            Pace::Timed(thousandths) => Some(at.0 * 1000 / u64::from(thousandths.max(1))),
            Pace::Asap => None,
        }
    }

    /// As one writes it in a suite.
    pub fn label(self) -> String {
        match self {
            Pace::Timed(thousandths) => format!("{}", f64::from(thousandths) / 1000.0),
            Pace::Asap => "asap".to_string(),
        }
    }
}
