//! fio's iolog, versions 2 and 3 (fio(1), "Trace file format"): one action a line. Must not keep anything itself.
//!
//! Version 3 has a time in each line: microseconds since the start of fio's job (iolog.c, `utime_since_now`). Version 2
//! has `wait` lines, whose microseconds add up.

use super::builder::{Arrived, Builder};
use super::lines::Lines;
use super::{Format, at_line, shown};
use crate::workload::Op;
use std::io::BufRead;
use stend_base::{Nanos, Result, Say, say};

/// Reads the lines behind the first.
pub(super) fn read<R: BufRead>(lines: &mut Lines<'_, R>, format: Format, builder: &mut Builder<'_>) -> Result<()> {
    let timed = format == Format::IologV3;
    let mut waited = 0u64;
    while lines.next()?.is_some() {
        let number = lines.number();
        act(lines.line(), timed, &mut waited, number, builder)?;
    }
    Ok(())
}

fn act(line: &str, timed: bool, waited: &mut u64, number: u64, builder: &mut Builder<'_>) -> Result<()> {
    let file = builder.file();
    let refuse = |message: Say| Err(at_line(file, number, message));
    let mut fields: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
    if fields.is_empty() {
        return Ok(());
    }
    let at_us = if timed { number_of(fields.remove(0), file, number)? } else { *waited };
    let (name, action, offset, len) = match fields.as_slice() {
        [_, "add" | "open" | "close"] => {
            builder.left_out.file_actions += 1;
            return Ok(());
        }
        [name, action, offset, len] => {
            (*name, *action, number_of(offset, file, number)?, number_of(len, file, number)?)
        }
        _ => {
            return refuse(say!(
                "not a line of an iolog: a file, an action and, for I/O, offset and length",
                "не строка iolog: файл, действие и, для операций, смещение и длина"
            ));
        }
    };
    let op = match action {
        "read" => Op::Read,
        "write" => Op::Write,
        "trim" => Op::Discard,
        "sync" | "datasync" => Op::Sync,
        "wait" if !timed => {
            *waited = waited.saturating_add(offset);
            return Ok(());
        }
        _ => {
            let action = shown(action);
            return refuse(say!("unknown action `{action}`", "неизвестное действие `{action}`"));
        }
    };
    let (offset, len) = if op == Op::Sync { (0, 0) } else { (offset, len) };
    let Some(at) = at_us.checked_mul(1000) else {
        return refuse(say!("a time beyond all bounds: {at_us} µs", "время вне всяких границ: {at_us} мкс"));
    };
    builder.push(Arrived { line: number, at: Nanos(at), name, op, durable: false, offset, len })
}

fn number_of(text: &str, file: &str, line: u64) -> Result<u64> {
    text.parse().map_err(|_| {
        let text = shown(text);
        at_line(file, line, say!("`{text}` is not a whole number from 0 on", "`{text}` — не целое число от 0"))
    })
}
