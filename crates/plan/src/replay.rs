//! A trace in a plan: what a stream that replays it is, how long that takes, and whether it can be done. Must not look
//! at single I/Os.

use crate::fit;
use crate::target::PlanTarget;
use stend_base::{Bytes, Error, Lang, Nanos, Result, Say, format, say};
use stend_spec::keys;
use stend_spec::suite::SuiteCase;
use stend_spec::trace::{Beyond, Pace, TraceFacts, TraceSpec};
use stend_spec::workload::{Backend, Mix, Op, Stream, Trial};

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
            return Err(Error::bug(say!("the trace `{file}` was not read", "трасса `{file}` не прочитана")));
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

/// Ramp of a cell of a case: as the suite says; where it says nothing there is none in a cell that replays at a pace, because that
/// would cut off the begin of its trace.
pub(crate) fn ramp(case: &SuiteCase, streams: &[Stream]) -> Nanos {
    let unramped = case.streams.iter().filter_map(|stream| stream.trace.as_ref()).any(|trace| trace.unramped);
    let is_paced = |stream: &Stream| stream.replay.is_some_and(|replay| replay.pace != Pace::Asap);
    if unramped && streams.iter().any(is_paced) { Nanos(0) } else { case.ramp }
}

/// Length of the window of a cell behind its ramp: as the suite says, or until the last I/O of its longest trace is due.
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
            Nanos(end.saturating_sub(ramp(case, streams).0).max(keys::WINDOW.least.0))
        }
        None => case.window,
    }
}

/// Why a cell whose window is that of its trace is too short for what its case has at times of its own. Other windows are known to
/// the parser, which refuses that.
pub(crate) fn too_short(case: &SuiteCase, trial: &Trial) -> Option<Say> {
    let told = |length: Nanos| [Lang::En, Lang::Ru].map(|lang| format::exact(length, lang));
    if case.faults.iter().any(|fault| fault.end() >= trial.window) {
        let [window, window_ru] = told(trial.window);
        return Some(say!(
            "an event comes, or is undone, after the window, which lasts {window} in this cell",
            "событие наступает или отменяется после конца окна, а в этой ячейке оно длится {window_ru}"
        ));
    }
    let length = trial.ramp + trial.window;
    let rates = trial.streams.iter().filter_map(|stream| stream.rate.as_ref());
    let [length_en, length_ru] = told(length);
    rates.flat_map(|rate| &rate.steps).any(|step| step.is_late(length)).then(|| {
        say!(
            "a step of a schedule never comes: a trial of this cell lasts {length_en}",
            "до одного из шагов расписания дело не дойдёт: испытание этой ячейки длится {length_ru}"
        )
    })
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
    let file = &facts.source.file;
    if let Some(reason) = misaligned(trial, stream, target, facts) {
        return Some(reason);
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
    let last = replay.pace.due(replay.span).map(Nanos);
    if trial.ramp > Nanos(0) && last.is_some_and(|last| trial.ramp >= last) {
        return Some(nothing_left(facts, trial.ramp, last.unwrap_or_default()));
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

/// Why I/Os of a trace would begin or end within a block of the target, where that takes none but whole ones.
fn misaligned(trial: &Trial, stream: &Stream, target: &PlanTarget, facts: &TraceFacts) -> Option<Say> {
    let (file, block) = (&facts.source.file, target.logical_block.0.max(1));
    if !fit::in_whole_blocks(trial, stream, target) {
        return None;
    }
    if !stream.replay?.alignment.0.is_multiple_of(block) {
        let line = facts.alignment_line;
        return Some(say!(
            "{file}:{line}: direct I/O and discards on this target need offsets and lengths that are multiples of {block} B; `align: {block}B` rounds them",
            "{file}:{line}: прямой ввод-вывод и освобождение (discard) на этом объекте требуют смещений и длин, кратных {block} Б; `align: {block}B` их округлит"
        ));
    }
    let start = stream.region.unwrap_or(trial.region).start.0;
    (!start.is_multiple_of(block)).then(|| {
        say!(
            "offsets of {file} count from the start of the `region`, and on this target that must be a multiple of {block} B",
            "смещения {file} отсчитываются от начала `region`, а на этом объекте оно должно быть кратно {block} Б"
        )
    })
}

fn nothing_left(facts: &TraceFacts, ramp: Nanos, last: Nanos) -> Say {
    let file = &facts.source.file;
    let sizes = |lang| (format::duration(ramp, lang), format::duration(last, lang));
    let ((ramp, last), (ramp_ru, last_ru)) = (sizes(Lang::En), sizes(Lang::Ru));
    Say {
        en: format!(
            "the replay of {file} takes {last} and would end within the `ramp` of {ramp}: the window would be empty; name a shorter one"
        ),
        ru: format!(
            "воспроизведение {file} длится {last_ru} и кончилось бы внутри разгона (`ramp`) в {ramp_ru}: окно осталось бы пустым; укажите разгон короче"
        ),
    }
}

fn beyond(facts: &TraceFacts, range: Bytes) -> Say {
    let (file, line) = (&facts.source.file, facts.end_line);
    let sizes = |lang| (format::bytes(facts.end, lang), format::bytes(range, lang));
    let ((end, len), (end_ru, len_ru)) = (sizes(Lang::En), sizes(Lang::Ru));
    Say {
        en: format!(
            "{file}:{line}: the trace reaches to {end}, the range is {len}; take a larger target or `fill`, or set `beyond: wrap` or `beyond: scale`"
        ),
        ru: format!(
            "{file}:{line}: трасса доходит до {end_ru}, область — {len_ru}; возьмите объект или `fill` больше либо укажите `beyond: wrap` или `beyond: scale`"
        ),
    }
}

#[cfg(test)]
mod tests;
