//! From the lines of a trace to its I/Os and what is known of them. Must not know any format.

use super::watched::Watched;
use super::{
    Arrival, DEVICES_MAX, Format, IOS_MAX, LeftOut, PIECE, SPAN_MAX, Source, TRANSFER_MAX, Trace, TraceDevice,
    TraceFacts, TracedIo, at_line, shown,
};
use crate::workload::{OPS, Op};
use stend_base::{Bytes, Error, Lang, Nanos, Result, format, say};

/// Largest alignment that is reported.
const ALIGNMENT_MAX: u64 = 1 << 20;

/// An I/O as a line tells it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived<'a> {
    pub line: u64,
    pub at: Nanos,
    /// Its device or file.
    pub name: &'a str,
    pub op: Op,
    pub durable: bool,
    pub offset: u64,
    pub len: u64,
}

/// See the module.
pub(super) struct Builder<'a> {
    file: &'a str,
    source: &'a Source,
    /// So many I/Os may be in it.
    room: u64,
    ios: Vec<TracedIo>,
    /// Devices with the number of their I/Os.
    names: Vec<(String, u64)>,
    watched: Option<Watched>,
    facts: Facts,
    pub left_out: LeftOut,
}

/// What grows with each I/O.
#[derive(Default)]
struct Facts {
    ios: [u64; OPS],
    bytes: [u64; OPS],
    durable: u64,
    /// With the line of the last.
    end: (u64, u64),
    transfer_max: u64,
    io_max: u64,
    /// With the line of the first.
    alignment: Option<(u64, u64)>,
    aligned: u64,
    out_of_order: u64,
    split: u64,
    latest: Nanos,
}

impl<'a> Builder<'a> {
    pub fn new(file: &'a str, source: &'a Source, room: u64) -> Builder<'a> {
        Builder {
            file,
            source,
            room,
            ios: Vec::new(),
            names: Vec::new(),
            watched: Some(Watched::default()),
            facts: Facts::default(),
            left_out: LeftOut::default(),
        }
    }

    /// The file, for errors.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// What counts as an arrival.
    pub fn arrival(&self) -> Arrival {
        self.source.arrival
    }

    /// Takes an I/O, if it is of the right device.
    pub fn push(&mut self, io: Arrived<'_>) -> Result<()> {
        let Some(device) = self.device(io.name, io.line)? else {
            self.left_out.other_devices += 1;
            return Ok(());
        };
        if io.op != Op::Sync && io.len == 0 {
            self.left_out.no_io += 1;
            return Ok(());
        }
        self.names[device].1 += 1;
        let (offset, end) = self.aligned(&io)?;
        if matches!(io.op, Op::Read | Op::Write) && end - offset > TRANSFER_MAX {
            let size = end - offset;
            return Err(at_line(
                self.file,
                io.line,
                say!("an I/O of {size} bytes; the limit is 64 MiB", "операция в {size} байт; предел — 64 МиБ"),
            ));
        }
        if let Some(watched) = &mut self.watched
            && io.len > 0
            && !watched.arrived(device, io.at, io.offset, io.len)
        {
            self.watched = None;
        }
        self.look(&io, offset, end);
        let mut from = offset;
        loop {
            let len = (end - from).min(PIECE);
            self.keep(&io, from, len)?;
            from += len;
            if from >= end {
                return Ok(());
            }
            self.facts.split += 1;
        }
    }

    /// Notes that what lies in a range has completed.
    pub fn completed(&mut self, name: &str, at: Nanos, offset: u64, len: u64) {
        if let (Some(watched), Some(device)) = (&mut self.watched, self.names.iter().position(|(n, _)| n == name)) {
            watched.completed(device, at, offset, offset.saturating_add(len));
        }
    }

    /// Index of a device whose I/O is taken; `None` for another one.
    fn device(&mut self, name: &str, line: u64) -> Result<Option<usize>> {
        if matches!(&self.source.device, TraceDevice::Named(wanted) if wanted != name) {
            return Ok(None);
        }
        if let Some(known) = self.names.iter().position(|(known, _)| known == name) {
            return Ok(Some(known));
        }
        if self.names.len() == DEVICES_MAX {
            return Err(at_line(
                self.file,
                line,
                say!("more than {DEVICES_MAX} devices or files", "более {DEVICES_MAX} устройств или файлов"),
            ));
        }
        self.names.push((name.to_string(), 0));
        Ok(Some(self.names.len() - 1))
    }

    /// Begin and end, rounded if that was asked for.
    fn aligned(&mut self, io: &Arrived<'_>) -> Result<(u64, u64)> {
        let to = self.source.align.map_or(1, |align| align.0.max(1));
        let end = io.offset.checked_add(io.len).and_then(|end| end.div_ceil(to).checked_mul(to));
        // Behind 2^63 no offset is one for the kernel.
        let Some(end) = end.filter(|end| *end <= i64::MAX as u64) else {
            return Err(at_line(
                self.file,
                io.line,
                say!("the I/O ends beyond all bounds", "операция кончается вне всяких границ"),
            ));
        };
        let offset = io.offset / to * to;
        self.facts.aligned += u64::from((offset, end) != (io.offset, io.offset + io.len));
        Ok((offset, end))
    }

    /// Counts an I/O.
    fn look(&mut self, io: &Arrived<'_>, offset: u64, end: u64) {
        let facts = &mut self.facts;
        facts.out_of_order += u64::from(io.at < facts.latest);
        facts.latest = facts.latest.max(io.at);
        facts.durable += u64::from(io.durable);
        if io.op == Op::Sync {
            return;
        }
        if end > facts.end.0 {
            facts.end = (end, io.line);
        }
        let len = end - offset;
        facts.io_max = facts.io_max.max(len.min(PIECE));
        if io.op != Op::Discard {
            facts.transfer_max = facts.transfer_max.max(len);
        }
        let alignment = 1 << (offset | len | ALIGNMENT_MAX).trailing_zeros();
        if facts.alignment.is_none_or(|(least, _)| alignment < least) {
            facts.alignment = Some((alignment, io.line));
        }
    }

    fn keep(&mut self, io: &Arrived<'_>, offset: u64, len: u64) -> Result<()> {
        if self.ios.len() as u64 >= self.room {
            let message = say!(
                "more than {IOS_MAX} I/Os in all traces of the suite",
                "более {IOS_MAX} операций во всех трассах набора"
            );
            return Err(at_line(self.file, io.line, message).hint(say!(
                "cut the trace, or name one `device` of it",
                "сократите трассу или укажите одно её `device`"
            )));
        }
        self.facts.ios[io.op.index()] += 1;
        self.facts.bytes[io.op.index()] = self.facts.bytes[io.op.index()].saturating_add(len);
        self.ios.push(TracedIo { at: io.at, offset, len: len as u32, op: io.op, durable: io.durable });
        Ok(())
    }

    /// The trace. Fails if it holds nothing that can be replayed on one target.
    pub fn finish(mut self, format: Format, sha256: String) -> Result<Trace> {
        let file = self.file;
        if self.source.device == TraceDevice::Only && self.names.len() > 1 {
            return Err(several(file, &self.names));
        }
        if self.ios.iter().all(|io| io.op == Op::Sync) {
            return Err(self.nothing());
        }
        if self.facts.out_of_order > 0 {
            self.ios.sort_by_key(|io| io.at);
        }
        let first = self.ios.first().map_or(Nanos(0), |io| io.at);
        self.ios.iter_mut().for_each(|io| io.at = io.at.saturating_sub(first));
        let span = self.ios.last().map_or(Nanos(0), |io| io.at);
        if span > SPAN_MAX {
            let (en, ru) = (format::duration(span, Lang::En), format::duration(span, Lang::Ru));
            return Err(Error::spec(say!(
                "`{file}` spans {en}; the limit is 7 days",
                "`{file}` длится {ru}; предел — 7 дней"
            )));
        }
        let facts = self.facts;
        let (alignment, alignment_line) = facts.alignment.unwrap_or((ALIGNMENT_MAX, 0));
        let facts = TraceFacts {
            source: self.source.clone(),
            path: file.to_string(),
            sha256,
            format,
            ios: facts.ios,
            bytes: facts.bytes,
            durable: facts.durable,
            span,
            end: Bytes(facts.end.0),
            end_line: facts.end.1,
            transfer_max: Bytes(facts.transfer_max),
            io_max: Bytes(facts.io_max),
            alignment: Bytes(alignment),
            alignment_line,
            aligned: facts.aligned,
            out_of_order: facts.out_of_order,
            split: facts.split,
            left_out: self.left_out,
            depth: self.watched.and_then(Watched::depth),
        };
        Ok(Trace { facts, ios: self.ios })
    }

    fn nothing(&self) -> Box<Error> {
        let file = self.file;
        match &self.source.device {
            TraceDevice::Named(device) => {
                let device = shown(device);
                Error::spec(say!("`{file}` holds no I/O of `{device}`", "в `{file}` нет операций `{device}`"))
            }
            TraceDevice::Only | TraceDevice::All => {
                Error::spec(say!("`{file}` holds no I/O", "в `{file}` нет операций"))
            }
        }
    }
}

/// The trace is one of several devices, and nobody said what to do with them.
fn several(file: &str, names: &[(String, u64)]) -> Box<Error> {
    let told = |(name, count): &(String, u64)| format!("`{}` ({count})", shown(name));
    let list = names.iter().take(8).map(told).collect::<Vec<_>>().join(", ");
    let count = names.len();
    Error::spec(say!(
        "`{file}` holds I/O of {count} devices or files: {list}",
        "в `{file}` операции нескольких устройств или файлов ({count}): {list}"
    ))
    .hint(say!(
        "name one with `device`; `device: all` puts them all on the target, over one another",
        "назовите одно в `device`; `device: all` поместит на объект все, одно поверх другого"
    ))
}
