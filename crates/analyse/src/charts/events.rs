//! Moments of a run that may explain what a line does: drawn as upright lines across the panes.

use super::{caps, since};
use crate::chart::Mark;
use stend_base::{Nanos, Say, say};
use stend_record::{EventKind, FaultMoment, RunRecord};

/// More marks than this hide the lines they should explain.
const EVENTS_MAX: usize = 12;

/// What happened between two moments, inclusive, in the order of time. Where there is more than fits, the last
/// mark says how much.
pub fn within(run: &RunRecord, run_start: Nanos, from: Nanos, to: Nanos) -> Vec<Mark> {
    let mut marks: Vec<Mark> = run
        .events
        .iter()
        .filter(|event| (from..=to).contains(&event.at))
        .filter_map(|event| {
            let name = name(&event.kind)?;
            Some(Mark { at: since(run_start, event.at), name, detail: Say::same("") })
        })
        .collect();
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    at_most(marks, EVENTS_MAX)
}

/// The newest of them, at most so many, in the order of time and with the words of the kernel.
pub fn newest(run: &RunRecord, from: Nanos, to: Nanos, most: usize) -> Vec<(Nanos, Say)> {
    let inside = run.events.iter().filter(|event| (from..=to).contains(&event.at));
    let mut found: Vec<(Nanos, Say)> = inside.filter_map(|event| Some((event.at, in_full(&event.kind)?))).collect();
    found.sort_by_key(|(at, _)| *at);
    found.drain(..found.len().saturating_sub(most));
    found
}

fn in_full(kind: &EventKind) -> Option<Say> {
    let name = name(kind)?;
    let (en, ru) = (&name.en, &name.ru);
    Some(match kind {
        EventKind::KernelErrors { text, .. } => say!("{en}: {text}", "{ru}: {text}"),
        _ => name,
    })
}

/// The first marks; the last of them says how many more there are.
pub fn at_most(mut marks: Vec<Mark>, most: usize) -> Vec<Mark> {
    let more = caps::cut(&mut marks, most);
    if let (Some(last), 1..) = (marks.last_mut(), more) {
        let (en, ru) = (&last.name.en, &last.name.ru);
        last.name = say!("{en}, and {more} more after it", "{ru} и ещё {more} позже");
    }
    marks
}

/// Name of an event that can change what is measured; `None` for phases (they are shaded) and for
/// what was only noted.
fn name(kind: &EventKind) -> Option<Say> {
    match kind {
        EventKind::Arm { arm, .. } => {
            let number = u64::from(*arm) + 1;
            Some(say!("arm {number}", "вариант {number}"))
        }
        EventKind::StopRequested => Some(say!("stop asked", "запрошен останов")),
        EventKind::HostLost { .. } => Some(say!("worker lost", "исполнитель потерян")),
        EventKind::IntervalsMerged { .. } => Some(say!("intervals merged", "интервалы слиты")),
        EventKind::Fault { moment: FaultMoment::Begins | FaultMoment::Ends | FaultMoment::Whole, what, .. } => {
            Some(what.clone())
        }
        EventKind::Beside { run_id, .. } => Some(say!("{run_id} beside", "рядом {run_id}")),
        EventKind::Devices { came, went, .. } => Some(devices(came, went)),
        EventKind::WallClock { .. } => Some(say!("clock set, or host slept", "часы переведены, или хост спал")),
        EventKind::KernelErrors { device, .. } => Some(say!("I/O errors of {device}", "ошибки ввода-вывода {device}")),
        EventKind::RunFileFull { .. } => Some(say!("run file full", "файл прогона полон")),
        _ => None,
    }
}

/// Devices of a recording that appeared or are gone.
fn devices(came: &[String], went: &[String]) -> Say {
    let (new, gone) = (came.join(", "), went.join(", "));
    match (came.is_empty(), went.is_empty()) {
        (false, true) => say!("{new} appeared", "появился {new}"),
        (true, _) => say!("{gone} gone", "пропал {gone}"),
        (false, false) => say!("{gone} gone, {new} appeared", "пропал {gone}, появился {new}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_record::Event;
    use stend_record::observed::Phase;

    #[test]
    fn a_mark_says_how_many_do_not_fit_after_it() {
        let mut record = crate::fixture::run().trial(0).done().record();
        let event = |s| Event::new(Nanos::secs(s), EventKind::StopRequested);
        record.events = (100..100 + 2 * EVENTS_MAX as u64).map(event).collect();
        let marks = within(&record, Nanos::secs(100), Nanos(0), Nanos::secs(1000));
        assert_eq!(marks.len(), EVENTS_MAX);
        assert_eq!(marks[EVENTS_MAX - 1].name.en, format!("stop asked, and {EVENTS_MAX} more after it"));
        assert_eq!(marks[0].name.en, "stop asked");
    }

    #[test]
    fn the_newest_events_are_listed_in_order_with_the_words_of_the_kernel() {
        let mut record = crate::fixture::run().trial(0).done().record();
        let errors = EventKind::KernelErrors { device: "sda".into(), count: 2, text: "critical medium error".into() };
        let kinds = [errors, EventKind::StopRequested, EventKind::Note { text: "hello".into() }];
        record.events =
            kinds.into_iter().zip([103, 101, 102]).map(|(kind, s)| Event::new(Nanos::secs(s), kind)).collect();
        let listed = |from, to, most| -> Vec<String> {
            newest(&record, Nanos::secs(from), Nanos::secs(to), most).into_iter().map(|(_, name)| name.en).collect()
        };
        let sda = "I/O errors of sda: critical medium error";
        assert_eq!(listed(0, 103, 9), ["stop asked", sda]);
        assert_eq!(listed(0, 103, 1), [sda]);
        assert_eq!(listed(0, 102, 9), ["stop asked"]);
    }

    #[test]
    fn a_clock_that_was_set_is_marked_in_a_recording() {
        let mut record = crate::fixture::run().trial(0).done().record();
        record.events = vec![Event::new(Nanos::secs(102), EventKind::WallClock { ahead_ns: 7 })];
        let marks = within(&record, Nanos::secs(100), Nanos(0), Nanos::secs(103));
        assert_eq!(marks[0].name.ru, "часы переведены, или хост спал");
    }

    #[test]
    fn only_what_can_change_the_numbers_is_marked() {
        let mut record = crate::fixture::run().trial(0).done().record();
        let kinds = [
            EventKind::Phase(Phase::Measure),
            EventKind::Note { text: "hello".into() },
            EventKind::StopRequested,
            EventKind::HostLost { detail: "eof".into() },
        ];
        record.events = kinds.into_iter().zip(101..).map(|(kind, s)| Event::new(Nanos::secs(s), kind)).collect();
        let marks = within(&record, Nanos::secs(100), Nanos::secs(0), Nanos::secs(103));
        assert_eq!(marks.iter().map(|m| (m.at, m.name.en.as_str())).collect::<Vec<_>>(), [(3.0, "stop asked")]);
    }
}
