//! What the prober of a case saw: how long the target stood still for a client, beside whatever load there was.
//!
//! Silence of the probes alone is not a standstill: behind a load that fills the target's queues they wait as everybody does.
//! What the load completed meanwhile tells the two apart.

use crate::findings::{OtherOp, ProberFinding, Quantile, QuantileValue, SilenceFinding, SilenceKind, Standstill};
use crate::limits::{PROBER_SHARE, STANDSTILL_PERIODS, STANDSTILL_QUIET, STOOD_EXPECTED};
use crate::series::{self, INTERVAL};
use crate::trials::{CaseTrials, Counting};
use std::collections::BTreeSet;
use stend_base::{Lang, Nanos, Say, Share, format, say, say_in};
use stend_record::probes::{Probes, Silence};
use stend_spec::prober::{NoProber, Prober, Probing};
use stend_spec::workload::Op;
use stend_stats::distribution::Distribution;

/// Quantiles of the response.
const QUANTILES: [Share; 2] = [Share(0.5), Share(0.99)];

/// What the prober of a case saw; `None` if it had none, or no trial counts.
pub fn of_case(case: &CaseTrials<'_>) -> Option<ProberFinding> {
    let prober = case.asked.prober()?;
    let seen: Vec<(&Counting<'_>, &Probes)> =
        case.counting.iter().filter_map(|trial| Some((trial, trial.outcome.probes.as_ref()?))).collect();
    if seen.is_empty() {
        return None;
    }
    let mut response = Distribution::default();
    for (_, probes) in &seen {
        let mut own = Distribution::default();
        own.add(&probes.response);
        own.add_never_begun(&probes.unanswered);
        response.join(&own);
    }
    let failed = seen.iter().flat_map(|(_, probes)| &probes.errors).fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
    let load = seen.iter().fold(0u64, |sum, (trial, _)| sum.saturating_add(load(trial)));
    let probes = response.count().saturating_add(failed);
    let silences = seen.iter().filter_map(|(trial, probes)| Some(silence(trial, prober, &probes.longest?)));
    Some(ProberFinding {
        rate: prober.rate,
        op: prober.op,
        probes,
        response: QUANTILES.map(|q| response.quantile(q, Some(1.0))).to_vec(),
        response_max: response.max(),
        unanswered: response.censored(),
        failed,
        longest: silences.max_by_key(|silence| silence.length),
        others: others(case, prober),
        share: (load > 0).then(|| Share(probes as f64 / load as f64)),
        cpus: cpus(&seen),
    })
}

/// What the load was: a target that does not keep up with a rate makes no smaller load of it.
fn load(trial: &Counting<'_>) -> u64 {
    let due = trial.outcome.open.iter().fold(0u64, |sum, open| sum.saturating_add(open.due));
    let closed = trial.record.asked.streams.iter().zip(0..).filter(|(stream, _)| !stream.is_open());
    closed.fold(due, |sum, (_, index)| sum.saturating_add(trial.done(Some(index), &Op::IO).0))
}

fn cpus(seen: &[(&Counting<'_>, &Probes)]) -> Option<f64> {
    let used = seen.iter().map(|(_, probes)| probes.cpu_ns.map(|ns| ns as f64)).sum::<Option<f64>>()?;
    let lasted: f64 = seen.iter().map(|(_, probes)| probes.lasted.0 as f64).sum();
    (lasted > 0.0).then(|| used / lasted)
}

fn silence(trial: &Counting<'_>, prober: &Prober, silence: &Silence) -> SilenceFinding {
    let length = silence.length();
    let load_completed = completed(trial, silence);
    // A rate is in thousandths per second.
    let period = 1e12 / prober.rate.0.max(1) as f64;
    let kind = match load_completed {
        _ if (length.0 as f64) < period * STANDSTILL_PERIODS => SilenceKind::None,
        Some((_, quiet)) if quiet >= STANDSTILL_QUIET => SilenceKind::Standstill,
        Some(_) => SilenceKind::Queued,
        None => SilenceKind::Unknown,
    };
    let load_completed = load_completed.map(|(completed, _)| completed);
    let at = silence.since.saturating_sub(trial.outcome.window_start);
    SilenceFinding { length, at, trial: trial.record.trial, ended: silence.ended, load_completed, kind }
}

/// I/Os of the load in intervals of the window that lie wholly in a silence, and the share of these in which there was none; of
/// an engine that does not tell when it was, only those that do so for certain.
fn completed(trial: &Counting<'_>, silence: &Silence) -> Option<(u64, f64)> {
    let uncertain = Nanos(trial.outcome.engine.external.as_ref().map_or(0, |other| other.start_uncertainty_ns));
    let since_start = |at: Nanos| at.saturating_sub(trial.outcome.load_start).0;
    let first = since_start(silence.since + uncertain).div_ceil(INTERVAL.0);
    let end = since_start(silence.until.min(trial.outcome.window_end).saturating_sub(uncertain)) / INTERVAL.0;
    let inside = trial.record.slices.iter().filter(|slice| {
        let from = u64::from(slice.interval);
        first <= from && from + u64::from(slice.span) <= end
    });
    let (mut completed, mut busy) = (0u64, BTreeSet::new());
    for slice in inside.filter(|slice| slice.ops > 0) {
        completed = completed.saturating_add(slice.ops);
        let from = u64::from(slice.interval);
        busy.extend(from..from + u64::from(slice.span));
    }
    (first < end).then(|| (completed, 1.0 - busy.len() as f64 / (end - first) as f64))
}

/// What the load says of the kinds that it makes and the probes do not.
fn others(case: &CaseTrials<'_>, prober: &Prober) -> Vec<OtherOp> {
    let made = |op: &Op| *op != prober.op && case.asked.streams.iter().any(|stream| stream.mix.share(*op) > 0);
    let one = |op: Op| {
        let seen: Vec<(bool, Option<Standstill>)> =
            case.counting.iter().map(|trial| stood(trial, op, prober)).collect();
        let longest = seen.iter().filter_map(|(_, stood)| *stood).max_by_key(|stood| stood.length);
        OtherOp { op, stood: longest, too_few: seen.iter().any(|(few, _)| *few) }
    };
    Op::IO.into_iter().filter(made).map(one).collect()
}

/// Whether a trial makes too few I/Os of a kind to tell a second without one from chance, and the longest time without one that is none.
fn stood(trial: &Counting<'_>, op: Op, prober: &Prober) -> (bool, Option<Standstill>) {
    let cells = series::inside_window(trial.record, series::cells(&trial.record.slices, |slice| slice.op == op));
    // All intervals that were not empty: a standstill must not make its own absence likely.
    let (busy, all) =
        cells.iter().filter(|cell| cell.ops > 0.0).fold((0.0, 0.0), |sum, c| (sum.0 + 1.0, sum.1 + c.ops));
    let per_interval = if busy > 0.0 { all / busy } else { 0.0 };
    let mut longest = 0..0;
    let mut begin = 0;
    for (index, cell) in cells.iter().enumerate() {
        if cell.ops > 0.0 {
            begin = index + 1;
        } else if index + 1 - begin > longest.len() {
            longest = begin..index + 1;
        }
    }
    let too_few = per_interval * (Nanos::SECOND.0 / INTERVAL.0) as f64 <= STOOD_EXPECTED;
    let length = Nanos(longest.len() as u64 * INTERVAL.0);
    let no_chance = per_interval * longest.len() as f64 >= STOOD_EXPECTED;
    let period = 1e12 / prober.rate.0.max(1) as f64;
    if !no_chance || (length.0 as f64) < period * STANDSTILL_PERIODS || length.0 < 2 * INTERVAL.0 {
        return (too_few, None);
    }
    let since =
        trial.outcome.load_start + Nanos((series::window(trial.record).start + longest.start) as u64 * INTERVAL.0);
    let at = since.saturating_sub(trial.outcome.window_start);
    (too_few, Some(Standstill { length, at, trial: trial.record.trial, since }))
}

/// When the target stood still, and for how long: the longest time of each trial that counts, and of each kind of I/O that the probes do
/// not make.
pub fn standstills(case: &CaseTrials<'_>) -> Vec<(Nanos, Nanos)> {
    let Some(prober) = case.asked.prober() else { return Vec::new() };
    let by_load =
        others(case, prober).into_iter().filter_map(|other| other.stood).map(|stood| (stood.since, stood.length));
    let of = |trial: &Counting<'_>| {
        let longest = trial.outcome.probes.as_ref()?.longest?;
        let found = silence(trial, prober, &longest);
        (found.kind == SilenceKind::Standstill).then_some((longest.since, found.length))
    };
    let by_probes: Vec<(Nanos, Nanos)> = case.counting.iter().filter_map(of).collect();
    // A complete standstill is reported once.
    let apart = |(since, length): &(Nanos, Nanos)| {
        by_probes.iter().all(|(at, long)| *since >= *at + *long || *at >= *since + *length)
    };
    let by_load: Vec<(Nanos, Nanos)> = by_load.filter(apart).collect();
    by_probes.into_iter().chain(by_load).collect()
}

/// Why a case has no prober, where that is not what one would expect.
pub fn why_none(case: &CaseTrials<'_>) -> Option<Say> {
    match case.asked.probing {
        Probing::None(NoProber::Off | NoProber::Capacity) | Probing::By(_) => None,
        Probing::None(why) => {
            let Say { en, ru } = why.say();
            Some(say!("No prober: {en}.", "Проб нет: {ru}."))
        }
    }
}

impl ProberFinding {
    /// Whether it is more than a prober may be without being part of the load.
    pub fn is_heavy(&self) -> bool {
        self.share.is_some_and(|share| share.0 > PROBER_SHARE)
    }

    /// In a few sentences.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let mut sentences = vec![self.answers(l)];
            sentences.extend(self.troubles(l));
            sentences.push(
                self.longest.as_ref().map_or_else(String::new, |longest| longest.say(self.op).get(l).to_string()),
            );
            sentences.extend(self.others.iter().filter_map(|other| self.of_other(other, l)));
            sentences.push(self.cost(l));
            sentences.retain(|sentence| !sentence.is_empty());
            sentences.join(" ")
        })
    }

    fn answers(&self, l: Lang) -> String {
        let latency = |quantile: &Quantile| quantile_in_words(quantile, l);
        let kind = match self.op {
            Op::Write => l.pick("durable writes", "записи с подтверждением"),
            _ => l.pick("reads", "чтения"),
        };
        let longest = format::latency(self.response_max, l);
        let most = match self.unanswered {
            0 => say_in!(l, "at most {longest}", "не более {longest}"),
            _ => say_in!(l, "the longest more than {longest}", "самая долгая более {longest}"),
        };
        say_in!(
            l,
            "Prober: {n} {kind} at {rate}, p50 {p50}, p99 {p99}, {most}.",
            "Пробы: {kind}, {n} с частотой {rate}; p50 {p50}, p99 {p99}, {most}.",
            n = format::count(self.probes),
            rate = format::rate(self.rate, l),
            p50 = self.response.first().map(latency).unwrap_or_default(),
            p99 = self.response.get(1).map(latency).unwrap_or_default()
        )
    }

    fn troubles(&self, l: Lang) -> Option<String> {
        let (unanswered, failed) = (format::count(self.unanswered), format::count(self.failed));
        (self.unanswered > 0 || self.failed > 0).then(|| {
            say_in!(l, "Unanswered: {unanswered}; failed: {failed}.", "Без ответа: {unanswered}; с ошибкой: {failed}.")
        })
    }

    /// What is to be said of a kind of I/O that the probes do not make; nothing where they saw that everything stood.
    fn of_other(&self, other: &OtherOp, l: Lang) -> Option<String> {
        let everything = self.longest.is_some_and(|longest| longest.kind == SilenceKind::Standstill);
        let kind = kinds(other.op, l);
        Some(match other.stood {
            Some(_) if everything => return None,
            Some(stood) => say_in!(
                l,
                "The load's {kind} stood still: none was completed for at least {time} from {begin} of the window of trial {trial}. The probes make no {kind}, so they could not see it.",
                "Стояли {kind} нагрузки: не менее {time} ни одна не завершалась, с {begin} окна испытания {trial}. Пробы таких операций не делают и увидеть этого не могли.",
                time = format::latency(stood.length, l),
                begin = format::duration(stood.at, l),
                trial = stood.trial + 1
            ),
            None if other.too_few => say_in!(
                l,
                "It is unknown whether {kind} alone stood still: the probes make none, and the load too few.",
                "Останавливались ли отдельно {kind}, неизвестно: пробы их не делают, а в нагрузке их слишком мало."
            ),
            None => return None,
        })
    }

    fn cost(&self, l: Lang) -> String {
        let share = self.share.map(|share| {
            say_in!(l, "{s} of the load's I/Os", "{s} операций нагрузки", s = format::percent(share.0, l))
        });
        let cpus = self.cpus.map(|cpus| say_in!(l, "{c} of a CPU", "{c} процессора", c = format::percent(cpus, l)));
        let parts: Vec<String> = share.into_iter().chain(cpus).collect();
        match parts.is_empty() {
            true => String::new(),
            false => format!("{} {}.", l.pick("It took", "Они заняли"), parts.join(l.pick(" and ", " и "))),
        }
    }
}

/// I/Os of a kind, many of them.
fn kinds(op: Op, l: Lang) -> &'static str {
    match op {
        Op::Read => l.pick("reads", "чтения"),
        Op::Write => l.pick("writes", "записи"),
        Op::Discard => l.pick("discards", "освобождения"),
        Op::WriteZeroes => l.pick("writes of zeroes", "записи нулей"),
        Op::Sync => l.pick("syncs", "синхронизации"),
    }
}

fn quantile_in_words(quantile: &Quantile, l: Lang) -> String {
    match quantile.value {
        QuantileValue::At(value) => format::latency(value, l),
        QuantileValue::Above(value) => format!("> {}", format::latency(value, l)),
        QuantileValue::NotEnough { .. } | QuantileValue::Printed(_) => l.pick("(too few)", "(проб мало)").into(),
    }
}

impl SilenceFinding {
    /// In one sentence; of a prober that does `op`.
    pub fn say(&self, op: Op) -> Say {
        Say::both(|l| {
            let ops = kinds(op, l);
            let least = if self.ended { "" } else { l.pick("more than ", "более ") };
            let time = format!("{least}{}", format::latency(self.length, l));
            let begin = format::duration(self.at, l);
            let (trial, completed) = (self.trial + 1, format::count(self.load_completed.unwrap_or(0)));
            match self.kind {
                SilenceKind::None => say_in!(
                    l,
                    "No standstill seen: {time} without an answer at most, less than three times the time between probes.",
                    "Остановок не видно: без ответа не более {time}, меньше трёх промежутков между пробами."
                ),
                SilenceKind::Standstill if self.load_completed == Some(0) => say_in!(
                    l,
                    "Standstill: nothing was completed for {time}, neither probes nor load, from {begin} of the window of trial {trial}.",
                    "Остановка: {time} не завершалось ничего, ни пробы, ни нагрузка, с {begin} окна испытания {trial}."
                ),
                SilenceKind::Standstill => say_in!(
                    l,
                    "Standstill: no probe was answered for {time} from {begin} of the window of trial {trial}, and in nearly all of that time the load completed nothing (in all of it {completed} I/Os).",
                    "Остановка: пробы оставались без ответа {time} с {begin} окна испытания {trial}, и почти всё это время нагрузка ничего не завершала (всего операций: {completed})."
                ),
                SilenceKind::Queued => say_in!(
                    l,
                    "No standstill of everything: probes had no answer for {time} from {begin} of the window of trial {trial}, but the load completed {completed} I/Os meanwhile; these {ops} waited in a queue.",
                    "Полной остановки нет: пробы оставались без ответа {time} с {begin} окна испытания {trial}, но нагрузка за это время завершила операций: {completed}; эти {ops} ждали в очереди."
                ),
                SilenceKind::Unknown => say_in!(
                    l,
                    "Probes had no answer for {time} from {begin} of the window of trial {trial}; what the load did in so short a time is not recorded.",
                    "Пробы оставались без ответа {time} с {begin} окна испытания {trial}; что за столь короткое время делала нагрузка, не записано."
                ),
            }
        })
    }
}

#[cfg(test)]
mod tests;
