//! A trace in a plan: what a stream that replays it is, how long that takes, and whether it can be done. Must not look
//! at single I/Os.

use super::{Beyond, Pace, TraceFacts, TraceSpec};
use crate::keys;
use crate::plan::PlanTarget;
use crate::suite::SuiteCase;
use crate::workload::{Backend, Mix, Op, Stream, Trial};
use stend_base::{Bytes, Error, Kind, Lang, Nanos, Result, Say, format, say};

/// Buffers are counted in these.
const SECTOR: u64 = 512;
/// Counters are kept for so long.
const INTERVAL: Nanos = Nanos::millis(100);

/// A trace that a stream of a suite names, and what was read of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traced<'a> {
    number: u32,
    facts: &'a TraceFacts,
    spec: &'a TraceSpec,
}

impl<'a> Traced<'a> {
    /// The one that `spec` names.
    pub fn find(spec: &'a TraceSpec, traces: &'a [TraceFacts]) -> Result<Traced<'a>> {
        let found = traces.iter().zip(0..).find(|(facts, _)| facts.source == spec.source);
        let Some((facts, number)) = found else {
            let file = &spec.source.file;
            return Err(Error::new(Kind::Bug, say!("the trace `{file}` was not read", "трасса `{file}` не прочитана")));
        };
        Ok(Traced { number, facts, spec })
    }

    /// Makes a stream one that replays it.
    pub fn replay(self, stream: &mut Stream, pace: Pace) {
        let facts = self.facts;
        stream.mix = mix(facts);
        // Where nothing is transferred no buffer is needed, and the size is only told.
        let largest = if facts.transfer_max.0 > 0 { facts.transfer_max } else { facts.io_max };
        stream.block_size = Bytes(largest.0.next_multiple_of(SECTOR));
        stream.replay = Some(facts.replay(self.number, pace, self.spec.beyond));
    }
}

/// Shares of the operations in whole percent: what occurs has at least one, and the most frequent takes what rounding left.
fn mix(facts: &TraceFacts) -> Mix {
    let count = |op: Op| u128::from(facts.ios[op.index()]);
    let all = Op::IO.map(count).iter().sum::<u128>().max(1);
    let share = |op: Op| if count(op) == 0 { 0 } else { (count(op) * 100 / all).max(1) as u8 };
    let mut shares = Op::IO.map(share);
    let most = (0..shares.len()).max_by_key(|i| count(Op::IO[*i])).unwrap_or(0);
    let others: u8 = shares.iter().enumerate().filter(|(i, _)| *i != most).map(|(_, share)| share).sum();
    shares[most] = 100 - others;
    let [read, write, discard, write_zeroes] = shares;
    Mix { read, write, discard, write_zeroes }
}

/// Length of the window of a case: as the suite says, or until the last I/O of its longest trace is due.
pub(crate) fn window(case: &SuiteCase, streams: &[Stream]) -> Nanos {
    let whole = |stream: &Stream, spec: &TraceSpec| {
        let replay = stream.replay.filter(|_| spec.whole)?;
        replay.pace.due(replay.span)
    };
    let ends = streams.iter().zip(&case.streams).filter_map(|(stream, spec)| whole(stream, spec.trace.as_ref()?));
    match ends.max() {
        // An I/O that is due at the very end belongs to it.
        Some(end) => {
            let end = (end / INTERVAL.0 + 1).saturating_mul(INTERVAL.0);
            Nanos(end.saturating_sub(case.ramp.0).max(keys::WINDOW.least.0))
        }
        None => case.window,
    }
}

/// Why a trial's traces cannot be replayed on a target, if they cannot.
pub(crate) fn why_not(trial: &Trial, target: &PlanTarget, traces: &[TraceFacts]) -> Option<Say> {
    let of = |stream: &Stream| {
        let facts = traces.get(stream.replay?.trace as usize)?;
        why_not_one(trial, stream, target, facts)
    };
    trial.streams.iter().find_map(of)
}

fn why_not_one(trial: &Trial, stream: &Stream, target: &PlanTarget, facts: &TraceFacts) -> Option<Say> {
    let (replay, range) = (stream.replay?, stream.region.unwrap_or(trial.region).len);
    let (file, block) = (&facts.source.file, target.logical_block.0.max(1));
    if trial.direct && !replay.alignment.0.is_multiple_of(block) {
        let line = facts.alignment_line;
        return Some(say!(
            "{file}:{line}: direct I/O on this target needs offsets and lengths that are multiples of {block} B; `align: {block}B` rounds them",
            "{file}:{line}: прямой ввод-вывод на этом объекте требует смещений и длин, кратных {block} Б; `align: {block}B` их округлит"
        ));
    }
    if range < stream.block_size.max(facts.io_max) {
        return Some(say!(
            "the range is smaller than the largest I/O of {file}",
            "область меньше самой большой операции из {file}"
        ));
    }
    if replay.beyond == Beyond::Refuse && replay.end > range {
        return Some(beyond(facts, range));
    }
    if trial.window > keys::WINDOW.most {
        return Some(say!(
            "at this pace {file} takes longer than 7 days; name a shorter `trial`",
            "при таком темпе {file} длится дольше 7 дней; укажите более короткий `trial`"
        ));
    }
    if stream.is_open() && facts.span == Nanos(0) && facts.count() > 1 {
        return Some(say!("{file} has no times; use `pace: asap`", "в {file} нет времён; используйте `pace: asap`"));
    }
    (trial.backend == Backend::Libaio && trial.erases()).then(|| {
        say!(
            "{file} holds discards, and AIO has no requests for them; use `backend: auto` or `backend: psync`",
            "в {file} есть discard, а в AIO нет таких запросов; укажите `backend: auto` или `backend: psync`"
        )
    })
}

fn beyond(facts: &TraceFacts, range: Bytes) -> Say {
    let (file, line) = (&facts.source.file, facts.end_line);
    let sizes = |lang| (format::bytes(facts.end, lang), format::bytes(range, lang));
    let ((end, len), (end_ru, len_ru)) = (sizes(Lang::En), sizes(Lang::Ru));
    Say {
        en: format!(
            "{file}:{line}: the trace reaches to {end}, the range is {len}; take a larger target or `fill`, or say `beyond: wrap` or `beyond: scale`"
        ),
        ru: format!(
            "{file}:{line}: трасса доходит до {end_ru}, область — {len_ru}; возьмите объект или `fill` больше либо укажите `beyond: wrap` или `beyond: scale`"
        ),
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
