//! What events did, in sentences.

use crate::findings::{Caveat, FaultFinding, FaultTrial};
use crate::limits::FAULT_BACK;
use stend_base::{Lang, Nanos, Say, format, say_in};
use stend_stats::middle_and_most;

/// Less lost work than this, in seconds of full service, is not worth a sentence: it is shown as 0.0 s.
const LOST_LEAST: f64 = 0.05;
/// A single client that waited for less than this, in seconds, saw no standstill: it is shown as 0.0 s.
const SILENCE_LEAST: f64 = 0.05;

impl FaultFinding {
    /// What is known of the trials in one paragraph: of each figure the median and the largest.
    pub fn say(&self) -> Say {
        if let Some(cuts) = &self.cuts {
            return cuts.say();
        }
        Say::both(|l| {
            let service = match self.stayed(l) {
                Some(stayed) => vec![Some(stayed)],
                None => vec![self.stood(l), self.fell(l), self.came_back(l), self.lost(l)],
            };
            let others = [self.waited(l), self.whole(l), self.failed(l)];
            let parts = [self.came(l)].into_iter().chain(service).chain(others);
            parts.flatten().collect::<Vec<_>>().join(" ")
        })
    }

    /// One sentence, where the load went on as before in every trial.
    fn stayed(&self, l: Lang) -> Option<String> {
        let back = self.each(|trial| trial.recovery?.back_seconds());
        let load = self.each(|trial| Some(Some(trial.recovery?.stall?.as_secs())));
        let client = self.each(|trial| Some(Some(trial.silence?.as_secs())));
        let nothing = |all: &[Option<f64>]| all.iter().all(|one| *one == Some(0.0));
        let shown_as_nothing = client.iter().flatten().all(|seconds| *seconds < SILENCE_LEAST);
        let is_known =
            !self.sank() && back.len() == self.trials.len() && load.len() == self.trials.len() && !back.is_empty();
        (is_known && nothing(&back) && nothing(&load) && shown_as_nothing).then(|| {
            say_in!(
                l,
                "The rate stayed at 90 % or more, without a standstill.",
                "Скорость не опускалась ниже 90 %, остановок не было."
            )
        })
    }

    /// One for every trial; one whose value lies beyond what was seen has `None` inside.
    fn each(&self, of: impl Fn(&FaultTrial) -> Option<Option<f64>>) -> Vec<Option<f64>> {
        self.trials.iter().filter_map(of).collect()
    }

    /// Trials differ little in that: the first one tells.
    fn came(&self, l: Lang) -> Option<String> {
        let all: Vec<&str> = self.trials.first()?.came.iter().map(|what| what.get(l)).collect();
        let told = || say_in!(l, "In the first trial {t}.", "В первом испытании {t}.", t = all.join("; "));
        (!all.is_empty()).then(told)
    }

    /// Whether the rate was below 90 % in a trial, also later than within the minute in which it has to be back.
    fn sank(&self) -> bool {
        let depth = |trial: &FaultTrial| Some(trial.recovery?.depth?.0);
        self.trials.iter().filter_map(depth).any(|depth| depth > 1.0 - FAULT_BACK)
    }

    fn stood(&self, l: Lang) -> Option<String> {
        let stall = |trial: &FaultTrial| Some(Some(trial.recovery?.stall?.as_secs()));
        let silence = |trial: &FaultTrial| Some(Some(trial.silence?.as_secs()));
        let load = told(&self.each(stall), l, seconds);
        let client = told(&self.each(silence), l, seconds);
        match (load, client) {
            (Some(load), Some(client)) => Some(say_in!(
                l,
                "Longest time without any I/O of the load: {load}; of a single client: {client}.",
                "Самое долгое время без операций нагрузки: {load}; отдельного клиента: {client}."
            )),
            (Some(load), None) => Some(say_in!(
                l,
                "Longest time without any I/O of the load: {load}.",
                "Самое долгое время без операций нагрузки: {load}."
            )),
            (None, Some(client)) => Some(say_in!(
                l,
                "Longest time without an answer to a single client: {client}.",
                "Самое долгое время без ответа отдельному клиенту: {client}."
            )),
            (None, None) => None,
        }
    }

    fn fell(&self, l: Lang) -> Option<String> {
        let depth = told(&self.each(|trial| Some(Some(trial.recovery?.depth?.0))), l, format::percent)?;
        Some(say_in!(l, "The rate fell by {depth} (means of 5 s).", "Скорость упала на {depth} (средние за 5 с)."))
    }

    fn came_back(&self, l: Lang) -> Option<String> {
        let back = self.each(|trial| trial.recovery?.back_seconds());
        if back.is_empty() {
            return None;
        }
        if back.iter().all(|back| *back == Some(0.0)) && self.sank() {
            return Some(say_in!(l, "It was at 90 % or more at first.", "Сначала она держалась на 90 % и выше."));
        }
        if back.iter().all(|back| *back == Some(0.0)) {
            return Some(say_in!(l, "It stayed at 90 % or more.", "Она не опускалась ниже 90 %."));
        }
        let seen = self.trials.iter().filter_map(|trial| Some(trial.recovery?.seen)).min()?;
        let words = told(&back, l, seconds).unwrap_or_else(|| beyond(seen, l));
        let words = match back.iter().any(Option::is_none) && back.iter().any(Option::is_some) {
            true => format!("{words} ({})", l.pick("not in every trial", "не в каждом испытании")),
            false => words,
        };
        Some(say_in!(l, "It was back at 90 % after {words}.", "К 90 % она вернулась через {words}."))
    }

    fn lost(&self, l: Lang) -> Option<String> {
        let of = |trial: &FaultTrial| {
            let recovery = trial.recovery?;
            Some(Some(recovery.lost_seconds(recovery.lost)))
        };
        let all = self.each(of);
        if all.iter().all(|lost| lost.is_some_and(|lost| lost < LOST_LEAST)) {
            return None;
        }
        let lost = told(&all, l, seconds)?;
        Some(say_in!(l, "Lost until then: {lost} of full service.", "Потеряно до этого: {lost} полной работы."))
    }

    fn waited(&self, l: Lang) -> Option<String> {
        let tail = |pick: fn((Nanos, Nanos)) -> Nanos| {
            let all = self.each(|trial| Some(Some(pick(trial.tail?).0 as f64)));
            Some(Nanos(middle_and_most(&all).0? as u64))
        };
        let (before, after) = (tail(|tail| tail.0)?, tail(|tail| tail.1)?);
        Some(say_in!(
            l,
            "p99 was {a} before and {b} after.",
            "p99: было {a}, стало {b}.",
            a = format::latency(before, l),
            b = format::latency(after, l)
        ))
    }

    fn whole(&self, l: Lang) -> Option<String> {
        let whole = told(&self.each(|trial| Some(Some(trial.whole?.as_secs()))), l, seconds)?;
        let rebuilt = told(&self.each(|trial| Some(Some(trial.rebuilt?.as_secs()))), l, seconds);
        let rebuilt = rebuilt
            .map(|time| say_in!(l, ", {time} of that after it was undone", ", из них {time} после отмены события"));
        let rebuilt = rebuilt.unwrap_or_default();
        Some(match self.loses {
            true => {
                say_in!(l, "Full redundancy after {whole}{rebuilt}.", "Полная избыточность через {whole}{rebuilt}.")
            }
            false => {
                say_in!(
                    l,
                    "The array was at rest again after {whole}{rebuilt}.",
                    "Массив снова в покое через {whole}{rebuilt}."
                )
            }
        })
    }

    fn failed(&self, l: Lang) -> Option<String> {
        let errors: u64 = self.trials.iter().map(|trial| trial.errors).sum();
        let compared: Vec<u64> = self.trials.iter().filter_map(|trial| trial.mismatches).collect();
        let errors = match errors {
            0 => say_in!(l, "No I/O failed", "Ошибок ввода-вывода нет"),
            some => say_in!(l, "{n} I/Os failed", "Операций с ошибкой: {n}", n = format::count(some)),
        };
        let data = match (compared.len(), compared.iter().sum::<u64>()) {
            (0, _) => say_in!(l, "; data were not compared.", "; данные не сверялись."),
            (_, 0) => {
                say_in!(l, "; all data are as they were written.", "; все данные такие, как были записаны.")
            }
            (_, wrong) => {
                say_in!(
                    l,
                    "; {n} blocks are not as they were written.",
                    "; блоков не такими, как были записаны: {n}.",
                    n = format::count(wrong)
                )
            }
        };
        Some(errors + &data)
    }
}

/// What a run with events says first: events are what its suite asks about.
pub(crate) fn verdict(found: &[FaultFinding], caveats: &[Caveat]) -> Say {
    Say::both(|l| {
        let answers = found.iter().map(|found| format!("{}: {}", found.label, found.say().get(l)));
        // What cuts of power prove is said with them.
        let cut = found.iter().any(|found| found.cuts.is_some());
        let told = |caveat: &&Caveat| cut && matches!(caveat, Caveat::CrashesSurvived { .. });
        let doubt = caveats.iter().find(|caveat| !told(caveat)).map(|caveat| caveat.say().get(l).to_string());
        answers.chain(doubt).collect::<Vec<_>>().join(" ")
    })
}

/// A time later than what was seen.
pub fn beyond(seen: Nanos, l: Lang) -> String {
    say_in!(l, "more than {t}", "более {t}", t = format::duration(seen, l))
}

/// Seconds as people say them.
pub fn seconds(value: f64, l: Lang) -> String {
    match value {
        value if value < 60.0 => format!("{} {}", format::fixed(value, 1, l), l.pick("s", "с")),
        value => format::duration(Nanos((value * 1e9) as u64), l),
    }
}

/// Median and largest of several; the value of one. `None`: there is none, or the median is beyond what was seen.
fn told(values: &[Option<f64>], l: Lang, words: impl Fn(f64, Lang) -> String) -> Option<String> {
    let (middle, most) = middle_and_most(values);
    let middle = words(middle?, l);
    let most = most.map(|most| words(most, l)).filter(|most| *most != middle);
    Some(match most {
        Some(most) => {
            say_in!(l, "{middle} (at most {most})", "{middle} (самое большее {most})")
        }
        None => middle,
    })
}
