//! The default output of blkparse (blkparse(1), "Default output"): one event of the block layer a line,
//! `8,0 3 11 0.009507758 697 Q W 223490 + 56 [kjournald]`. Must not keep anything itself.
//!
//! What an I/O does stands in one word (blkparse(1), "RWBS description"; blk_fill_rwbs in the kernel): an `F` in front asks
//! to empty caches first, then comes the kind, behind it an `F` makes the write durable (FUA); `S`, `A`, `M` are hints.

use super::builder::{Arrived, Builder};
use super::lines::Lines;
use super::{Arrival, at_line, shown};
use crate::workload::Op;
use std::io::BufRead;
use stend_base::{Nanos, Result, say};

/// Bytes of a sector in what the block layer says.
const SECTOR: u64 = 512;

/// Whether a line is something that blkparse says before the events.
pub(super) fn is_preamble(line: &str) -> bool {
    line.starts_with("Input file ")
}

/// Whether a line is an event: it begins with the numbers of a device.
pub(super) fn is_event(line: &str) -> bool {
    let first = line.split_ascii_whitespace().next().unwrap_or("");
    let digits = |text: &str| !text.is_empty() && text.len() < 10 && text.bytes().all(|b| b.is_ascii_digit());
    first.split_once(',').is_some_and(|(major, minor)| digits(major) && digits(minor))
}

/// Whether a line begins the summary behind the events.
fn is_summary(line: &str) -> bool {
    line.starts_with("CPU") || line.starts_with("Total (")
}

/// Reads the events from the last line that was read on.
pub(super) fn read<R: BufRead>(lines: &mut Lines<'_, R>, builder: &mut Builder<'_>) -> Result<()> {
    loop {
        let number = lines.number();
        let line = lines.line();
        if is_summary(line) {
            break;
        }
        if is_event(line) {
            event(line, number, builder)?;
        } else if !line.trim().is_empty() && !is_preamble(line) {
            let file = builder.file();
            return Err(at_line(file, number, say!("not an event of blkparse", "не событие blkparse")));
        }
        if lines.next()?.is_none() {
            return Ok(());
        }
    }
    // To the end, because the sum is that of the whole file.
    while let Some(line) = lines.next()? {
        if is_event(line) {
            let (file, number) = (builder.file(), lines.number());
            return Err(at_line(
                file,
                number,
                say!(
                    "an event behind the summary of blkparse: the file holds more than one output",
                    "событие после сводки blkparse: в файле больше одного вывода"
                ),
            )
            .hint(say!("make a file of each", "сделайте из каждого свой файл")));
        }
    }
    Ok(())
}

fn event(line: &str, number: u64, builder: &mut Builder<'_>) -> Result<()> {
    let file = builder.file();
    let mut fields = line.split_ascii_whitespace();
    let mut field = || fields.next().unwrap_or("");
    let (device, numbers, time, process) = (field(), [field(), field()], field(), field());
    let (action, rwbs) = (field(), field());
    let refuse = |en: &str, ru: &str, word: &str| {
        let word = shown(word);
        Err(at_line(file, number, say!("{en}: `{word}`", "{ru}: `{word}`")))
    };
    let digits = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(wrong) = [numbers[0], numbers[1], process].into_iter().find(|text| !digits(text)) {
        return refuse(
            "not the number of a CPU, of an event or of a process",
            "не номер CPU, события или процесса",
            wrong,
        );
    }
    let Some(at) = nanos(time) else {
        return refuse("not a time in seconds", "не время в секундах", time);
    };
    // Those that there are have one letter, or two.
    if !(1..=2).contains(&action.len()) || !action.bytes().all(|b| b.is_ascii_alphabetic()) {
        return refuse("not an action of blkparse", "не действие blkparse", action);
    }
    let arrival = match builder.arrival() {
        Arrival::Queued => "Q",
        Arrival::Issued => "D",
    };
    if action != arrival && action != "C" {
        builder.left_out.other_events += 1;
        return Ok(());
    }
    let words = [field(), field(), field(), field()];
    let Some((offset, len)) = place(words) else {
        return refuse("not a place on a device", "не место на устройстве", words.join(" ").trim_end());
    };
    if action == "C" {
        builder.left_out.other_events += 1;
        builder.completed(device, at, offset, len);
        return Ok(());
    }
    let (flushes, kind) = match rwbs.strip_prefix('F') {
        Some(rest) => (true, rest),
        None => (false, rwbs),
    };
    let mut letters = kind.chars();
    let op = match letters.next() {
        Some('R') => Some(Op::Read),
        Some('W') => Some(Op::Write),
        Some('D') => Some(Op::Discard),
        _ => None,
    };
    let durable = op == Some(Op::Write) && letters.next() == Some('F');
    let one = Arrived { line: number, at, name: device, op: Op::Sync, durable: false, offset: 0, len: 0 };
    if flushes {
        builder.push(one)?;
    }
    match op {
        Some(op) if len > 0 => builder.push(Arrived { op, durable, offset, len, ..one }),
        // The flush was all of it.
        _ if flushes => Ok(()),
        _ => {
            builder.left_out.no_io += 1;
            Ok(())
        }
    }
}

/// Offset and length in bytes, from the words behind the kind: `223490 + 56 [kjournald]`. A flush has no place, and its
/// completion no length; of a command of another kind (`36 (12 00 ..) [sg_inq]`) the place is not told. Those are of no bytes.
/// `None` if it is neither: a broken line.
fn place(words: [&str; 4]) -> Option<(u64, u64)> {
    let ends = |word: &str| word.starts_with(['[', '(']);
    let number = |word: &str| word.parse::<u64>().ok();
    let [sector, plus, blocks, behind] = words;
    if ends(sector) || number(sector).is_some() && ends(plus) {
        return Some((0, 0));
    }
    if plus != "+" || !ends(behind) {
        return None;
    }
    let (offset, len) = (number(sector)?.checked_mul(SECTOR)?, number(blocks)?.checked_mul(SECTOR)?);
    offset.checked_add(len).map(|_| (offset, len))
}

/// Seconds with up to nine decimals.
fn nanos(text: &str) -> Option<Nanos> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 9 || ![seconds, decimals].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let whole = seconds.parse::<u64>().ok()?.checked_mul(Nanos::SECOND.0)?;
    let fraction = if decimals.is_empty() { 0 } else { decimals.parse::<u64>().ok()? };
    whole.checked_add(fraction * 10u64.pow(9 - decimals.len() as u32)).map(Nanos)
}
