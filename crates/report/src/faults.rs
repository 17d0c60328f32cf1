//! Cells of the tables of events, the same on a terminal and on a page.

use crate::figures::NONE;
use stend_analyse::findings::{FaultFinding, FaultTrial};
use stend_analyse::{beyond, middle_and_most, seconds};
use stend_base::{Lang, Nanos, Say, format, say};

/// Headings: the trial, and what was seen of it.
pub(crate) fn columns() -> Vec<Say> {
    vec![
        say!("trial", "испытание"),
        say!("before, IOPS", "до, IOPS"),
        say!("stood still", "стояло"),
        say!("fell by", "упало на"),
        say!("back at 90 %", "к 90 % через"),
        say!("below 90 %", "ниже 90 %"),
        say!("lost", "потеряно"),
        say!("lost in 300 s", "потеряно за 300 с"),
        say!("p99 before", "p99 до"),
        say!("p99 after", "p99 после"),
        say!("whole again", "снова цел через"),
    ]
}

/// Headings that a terminal has room for.
pub(crate) const NARROW: [usize; 6] = [0, 2, 3, 4, 6, 10];

/// A row for each trial; of several two more with the median and the largest of each.
pub(crate) fn rows(found: &FaultFinding) -> Vec<(Say, Vec<Say>)> {
    let number = |index: usize| Say::same((index + 1).to_string());
    let mut rows: Vec<(Say, Vec<Say>)> = found
        .trials
        .iter()
        .enumerate()
        .map(|(index, trial)| (number(index), cells(std::slice::from_ref(trial), Of::Middle)))
        .collect();
    if rows.len() > 1 {
        rows.push((say!("median", "медиана"), cells(&found.trials, Of::Middle)));
        rows.push((say!("most", "наибольшее"), cells(&found.trials, Of::Most)));
    }
    rows
}

/// What the numbers mean, below the table.
pub(crate) fn origin() -> Say {
    say!(
        "Before: mean of the window up to the event. Standstill still: longest time without any I/O, in steps of 100 ms. Fell by: least mean of 5 s. Back at 90 %: every mean of 5 s within the next minute (or the recorded time) is at 90 % or more. Below 90 %: seconds, all together. Lost: work not done until then, in seconds of full service; 300 s: over that fixed time. Whole again: when arrays had all members and synchronised nothing. p99: from when an I/O was due.",
        "До: среднее окна до события. Стояло: самое долгое время без ввода-вывода, с шагом 100 мс. Упало на: наименьшее среднее за 5 с. К 90 % через: все пятисекундные средние за следующую минуту (или записанное время) не ниже 90 %. Ниже 90 %: секунд всего. Потеряно: невыполненная до этого работа в секундах полной; 300 с — за этот постоянный срок. Снова цел: когда в массивах все накопители и ничего не синхронизируется. p99: от срока операции."
    )
}

/// Which of several values.
#[derive(Debug, Clone, Copy)]
enum Of {
    Middle,
    Most,
}

/// The cells of one trial, or the median or the largest of several.
fn cells(trials: &[FaultTrial], which: Of) -> Vec<Say> {
    let told = |of: &dyn Fn(&FaultTrial) -> Option<Option<f64>>, words: fn(f64, Lang) -> String, seen| {
        told((trials, which), of, words, seen)
    };
    let seen = trials.iter().filter_map(|trial| Some(trial.recovery?.seen)).min().unwrap_or_default();
    let time = |of: &dyn Fn(&FaultTrial) -> Option<Option<f64>>| told(of, seconds, seen);
    let latency: fn(f64, Lang) -> String = |value, lang| format::latency(Nanos(value as u64), lang);
    let known = |value: Option<f64>| value.map(Some);
    let secs = |span: Option<Nanos>| known(span.map(Nanos::as_secs));
    vec![
        told(&|t| known(Some(t.recovery?.before)), format::iops, seen),
        time(&|t| secs(t.recovery?.stall)),
        told(&|t| known(t.recovery?.depth.map(|depth| depth.0)), format::percent, seen),
        time(&|t| t.recovery?.back_seconds()),
        time(&|t| secs(Some(t.recovery?.brownout))),
        time(&|t| known(t.recovery.map(|r| r.lost_seconds(r.lost)))),
        time(&|t| known(t.recovery?.lost_in_horizon.map(|lost| t.recovery.map_or(0.0, |r| r.lost_seconds(lost))))),
        told(&|t| known(Some(t.tail?.0.0 as f64)), latency, seen),
        told(&|t| known(Some(t.tail?.1.0 as f64)), latency, seen),
        time(&|t| secs(t.whole)),
    ]
}

/// One value, the median, or the largest; values beyond the observed time are marked as such.
fn told(
    (trials, which): (&[FaultTrial], Of),
    of: &dyn Fn(&FaultTrial) -> Option<Option<f64>>,
    words: impl Fn(f64, Lang) -> String,
    seen: Nanos,
) -> Say {
    let values: Vec<Option<f64>> = trials.iter().filter_map(of).collect();
    if values.is_empty() {
        return Say::same(NONE);
    }
    let (middle, most) = middle_and_most(&values);
    let value = match which {
        Of::Middle => middle,
        Of::Most => most,
    };
    Say::both(|lang| value.map_or_else(|| beyond(seen, lang), |value| words(value, lang)))
}
