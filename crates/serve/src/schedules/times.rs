//! Which time of a schedule has come, and what became of each. Pure: the time is given, and no task is known.

use stend_api::{Cron, Due, Notice, NotifyWhen, Outcome, Schedule};
use stend_base::{Error, Say, say};
use stend_record::store::new_run_id;

/// A time that is late by this much was missed: the server was off, or the clock was set. In seconds; a busy server is late by less.
const LATE_MAX: i64 = 90;
/// The same for an order that comes once: it has no next time, so an hour is allowed. By eye; in seconds.
const ONCE_LATE_MAX: i64 = 3600;
const DAY: i64 = 24 * 3600;
/// Times that are kept.
const KEPT_MAX: usize = 50;
/// How often a hook is called for one message, and the first pause after that, in seconds; each is longer by it.
const TRIES_MAX: u32 = 5;
const TRY_AGAIN: i64 = 60;
/// Missed times that are counted.
const MISSED_MAX: u32 = 100_000;

/// The time that is due now, if one is. The next one is set, and times that are over are noted as missed, so that none is made up for.
pub fn come(schedule: &mut Schedule, now_unix: i64) -> Option<i64> {
    let first = schedule.next_unix?;
    if schedule.cron.is_none() {
        return come_once(schedule, first, now_unix);
    }
    // It was read when it was kept.
    let cron = Cron::parse(schedule.cron.as_deref()?).ok()?;
    if first > now_unix {
        set_back(schedule, &cron, now_unix);
        return None;
    }
    let (mut last, mut missed) = (first, 0);
    while let Some(next) = cron.next(last).filter(|next| *next <= now_unix && missed < MISSED_MAX) {
        (last, missed) = (next, missed + 1);
    }
    schedule.next_unix = cron.next(now_unix);
    let is_due = now_unix - last <= LATE_MAX;
    missed += u32::from(!is_due);
    if missed > 0 {
        let reason = Some(say!(
            "the server was off or the clock was set; what was missed is not made up for",
            "сервер был выключен или часы переведены; пропущенное не навёрстывается"
        ));
        add(schedule, Due { missed, reason, ..due(first, Outcome::Missed) });
    }
    is_due.then_some(last)
}

/// The same for one that comes once. After that it has no next time.
fn come_once(schedule: &mut Schedule, due_unix: i64, now_unix: i64) -> Option<i64> {
    if due_unix > now_unix {
        return None;
    }
    schedule.next_unix = None;
    if now_unix - due_unix < ONCE_LATE_MAX {
        return Some(due_unix);
    }
    let reason = Some(say!(
        "the server was off for an hour after the time, or the clock was set; the order was not carried out",
        "целый час после этого времени сервер был выключен, или часы перевели; заказ не выполнен"
    ));
    add(schedule, Due { missed: 1, reason, ..due(due_unix, Outcome::Missed) });
    None
}

/// The first time of a schedule after this one, whether or not it is paused.
pub fn next(schedule: &Schedule, after_unix: i64) -> Option<i64> {
    match &schedule.cron {
        // It was read before it was kept.
        Some(cron) => Cron::parse(cron).ok()?.next(after_unix),
        None => schedule.at_unix.filter(|at| *at > after_unix),
    }
}

/// A clock that was ahead and is right again would silence a schedule until then. If it was set back by more than a day, which a time between
/// tomorrow and the next one shows, the next one is set anew; if by less, none is repeated.
fn set_back(schedule: &mut Schedule, cron: &Cron, now_unix: i64) {
    let was_later = cron.next(now_unix + DAY) < schedule.next_unix;
    let Some(next) = cron.next(now_unix).filter(|_| was_later) else { return };
    let when = stamp(next);
    let reason = Some(say!(
        "the clock was set back by more than a day; the next time is {when}",
        "часы переведены назад больше чем на сутки; следующий раз — {when}"
    ));
    schedule.next_unix = Some(next);
    add(schedule, Due { reason, ..due(now_unix, Outcome::Missed) });
}

/// A time of which nothing else is known.
pub fn due(due_unix: i64, outcome: Outcome) -> Due {
    Due {
        due_unix,
        outcome,
        reason: None,
        missed: 0,
        task: None,
        notice: Notice::None,
        tries: 0,
        called_unix: None,
        notice_error: None,
    }
}

/// One that begins nothing, because the task of an earlier one goes on.
pub fn skipped(due_unix: i64, earlier: &Due) -> Due {
    let task = earlier.task.as_deref().unwrap_or_default();
    let reason = Some(say!("its task `{task}` still goes on", "его задача `{task}` ещё идёт"));
    Due { reason, ..due(due_unix, Outcome::Skipped) }
}

/// One whose order the server did not take.
pub fn refused(due_unix: i64, error: &Error) -> Due {
    Due { reason: Some(error.message.clone()), ..due(due_unix, Outcome::Error) }
}

/// Adds a time; the oldest goes of which nothing is to come. What goes on, or still has to be told, would be forgotten for ever.
pub fn add(schedule: &mut Schedule, due: Due) {
    let due = Due { notice: notice(schedule, due.outcome), ..due };
    schedule.times.insert(0, due);
    while schedule.times.len() > KEPT_MAX {
        let is_over = |due: &Due| due.outcome != Outcome::Running && due.notice != Notice::Pending;
        let oldest = |is_over: &dyn Fn(&Due) -> bool| schedule.times.iter().rposition(is_over);
        // All fifty wait to be delivered: the oldest is dropped.
        let goes = oldest(&is_over).or_else(|| oldest(&|due| due.outcome != Outcome::Running));
        schedule.times.remove(goes.unwrap_or(KEPT_MAX));
    }
}

/// What has become of a time.
pub fn settle(schedule: &mut Schedule, due_unix: i64, outcome: Outcome, reason: Option<Say>) {
    let going_on = schedule.times.iter().find(|due| due.due_unix == due_unix && due.outcome == Outcome::Running);
    if let Some(due) = going_on.cloned() {
        replace(schedule, Due { outcome, reason, ..due });
    }
}

/// What is known by now of a time that goes on.
pub fn replace(schedule: &mut Schedule, due: Due) {
    let notice = notice(schedule, due.outcome);
    let going_on = |known: &&mut Due| known.due_unix == due.due_unix && known.outcome == Outcome::Running;
    if let Some(known) = schedule.times.iter_mut().find(going_on) {
        *known = Due { notice, ..due };
    }
}

fn notice(schedule: &Schedule, outcome: Outcome) -> Notice {
    let is_told = match schedule.notify_when {
        NotifyWhen::Problems => outcome.is_problem(),
        NotifyWhen::Always => outcome != Outcome::Running,
    };
    if is_told && schedule.notify.is_some() { Notice::Pending } else { Notice::None }
}

/// Whether its message is to be delivered now. Each pause is longer than the one before; a clock that was set back ends one.
pub fn is_to_be_called(due: &Due, now_unix: i64) -> bool {
    let pause = TRY_AGAIN * i64::from(due.tries);
    let waits = |called: i64| (called..called + pause).contains(&now_unix);
    due.notice == Notice::Pending && !due.called_unix.is_some_and(waits)
}

/// The hook was called.
pub fn called(schedule: &mut Schedule, due_unix: i64, failed: Option<Say>, now_unix: i64) {
    let pending = |due: &&mut Due| due.due_unix == due_unix && due.notice == Notice::Pending;
    if let Some(due) = schedule.times.iter_mut().find(pending) {
        due.tries += 1;
        due.called_unix = Some(now_unix);
        due.notice = match failed {
            None => Notice::Sent,
            Some(_) if due.tries >= TRIES_MAX => Notice::Failed,
            Some(_) => Notice::Pending,
        };
        due.notice_error = failed;
    }
}

/// A time as ids have it: `20261128T020000Z`.
pub fn stamp(unix: i64) -> String {
    new_run_id(unix.max(0) as u64, 0).split('-').nth(1).unwrap_or_default().to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Midnight of the 28th of November 2026.
    pub(in crate::schedules) const MIDNIGHT: i64 = 1_795_824_000;
    const HOUR: i64 = 3600;

    pub(in crate::schedules) fn schedule(cron: &str, next_unix: i64) -> Schedule {
        Schedule {
            id: "nightly".into(),
            cron: Some(cron.into()),
            at_unix: None,
            baseline: None,
            loss_percent: 5,
            notify: Some("/bin/true".into()),
            notify_when: NotifyWhen::Problems,
            paused: false,
            author: "admin".into(),
            changed_unix: 0,
            work: "s.yaml".into(),
            on: Vec::new(),
            label: None,
            order_sha256: String::new(),
            next_unix: Some(next_unix),
            first_run: None,
            times: Vec::new(),
        }
    }

    /// Outcomes with their times in hours from midnight on.
    fn outcomes(schedule: &Schedule) -> Vec<(Outcome, i64, u32)> {
        schedule.times.iter().map(|due| (due.outcome, (due.due_unix - MIDNIGHT) / HOUR, due.missed)).collect()
    }

    #[test]
    fn a_time_comes_once_and_not_before_it() {
        let mut nightly = schedule("0 2 * * *", MIDNIGHT + 2 * HOUR);
        assert_eq!(come(&mut nightly, MIDNIGHT + 2 * HOUR - 1), None);
        assert_eq!(come(&mut nightly, MIDNIGHT + 2 * HOUR + 30), Some(MIDNIGHT + 2 * HOUR));
        assert_eq!(come(&mut nightly, MIDNIGHT + 2 * HOUR + 31), None);
        assert_eq!((nightly.next_unix, nightly.times.len()), (Some(MIDNIGHT + DAY + 2 * HOUR), 0));
    }

    #[test]
    fn what_a_server_missed_while_it_was_off_is_told_once_and_not_made_up_for() {
        let mut hourly = schedule("0 * * * *", MIDNIGHT + HOUR);
        assert_eq!(come(&mut hourly, MIDNIGHT + 5 * HOUR + 600), None);
        assert_eq!(outcomes(&hourly), [(Outcome::Missed, 1, 5)]);
        assert_eq!((hourly.times[0].notice, hourly.next_unix), (Notice::Pending, Some(MIDNIGHT + 6 * HOUR)));
        // One that has just come is carried out, and those before it are noted.
        assert_eq!(come(&mut hourly, MIDNIGHT + 9 * HOUR + 10), Some(MIDNIGHT + 9 * HOUR));
        assert_eq!(outcomes(&hourly)[0], (Outcome::Missed, 6, 3));
        // A clock that is set years ahead ends, too.
        let mut each = schedule("* * * * *", MIDNIGHT);
        assert_eq!(come(&mut each, MIDNIGHT + 3000 * DAY), None);
        assert_eq!(each.times[0].missed, MISSED_MAX + 1);
        assert!(each.next_unix.is_some_and(|next| next > MIDNIGHT + 3000 * DAY));
    }

    #[test]
    fn a_paused_schedule_has_no_time_and_a_clock_set_back_repeats_none() {
        let mut paused = Schedule { next_unix: None, ..schedule("* * * * *", 0) };
        assert_eq!(come(&mut paused, MIDNIGHT), None);
        let mut nightly = schedule("0 2 * * *", MIDNIGHT + 2 * HOUR);
        assert!(come(&mut nightly, MIDNIGHT + 2 * HOUR).is_some());
        assert_eq!(come(&mut nightly, MIDNIGHT + HOUR), None);
        assert_eq!(come(&mut nightly, MIDNIGHT + 2 * HOUR), None, "it had come already");
    }

    #[test]
    fn an_order_that_comes_once_is_up_to_an_hour_late_and_later_it_is_missed() {
        let at = MIDNIGHT + 3 * HOUR;
        let once = || Schedule { cron: None, at_unix: Some(at), ..schedule("", at) };
        assert_eq!((next(&once(), at - 1), next(&once(), at)), (Some(at), None));
        for (now, is_due) in [(at - 1, None), (at, Some(at)), (at + HOUR - 1, Some(at))] {
            let mut once = once();
            assert_eq!(come(&mut once, now), is_due, "{}", now - at);
            assert_eq!((once.next_unix.is_none(), once.times.len()), (is_due.is_some(), 0));
            assert_eq!(come(&mut once, now), None, "{}: it comes once", now - at);
        }
        let mut late = once();
        assert_eq!(come(&mut late, at + HOUR), None);
        assert_eq!((outcomes(&late), late.next_unix), (vec![(Outcome::Missed, 3, 1)], None));
        assert!(late.times[0].notice == Notice::Pending && late.times[0].reason.is_some());
    }

    #[test]
    fn a_clock_that_was_ahead_and_is_right_again_silences_no_schedule() {
        let mut hourly = schedule("0 * * * *", MIDNIGHT);
        come(&mut hourly, MIDNIGHT + 3000 * DAY);
        assert_eq!(come(&mut hourly, MIDNIGHT + 60), None);
        assert_eq!((hourly.next_unix, hourly.times.len()), (Some(MIDNIGHT + HOUR), 2));
        let told = &hourly.times[0];
        assert_eq!((told.outcome, told.missed, told.notice), (Outcome::Missed, 0, Notice::Pending));
        assert_eq!((come(&mut hourly, MIDNIGHT + 120), hourly.times.len()), (None, 2), "it is noted once");
        assert_eq!(come(&mut hourly, MIDNIGHT + HOUR), Some(MIDNIGHT + HOUR));
        // An hour back repeats nothing, however far the next time is.
        for cron in ["0 2 * * *", "0 2 * * 6", "0 2 28 11 *"] {
            let mut seldom = schedule(cron, MIDNIGHT + 2 * HOUR);
            assert!(come(&mut seldom, MIDNIGHT + 2 * HOUR).is_some());
            let next = seldom.next_unix;
            assert_eq!((come(&mut seldom, MIDNIGHT + HOUR), seldom.next_unix), (None, next), "{cron}");
        }
    }

    #[test]
    fn a_message_is_delivered_once_or_tried_five_times() {
        let mut nightly = schedule("0 2 * * *", MIDNIGHT);
        add(&mut nightly, due(MIDNIGHT, Outcome::Running));
        assert_eq!(nightly.times[0].notice, Notice::None);
        settle(&mut nightly, MIDNIGHT, Outcome::Failed, Some(say!("why", "почему")));
        let mut calls = Vec::new();
        for now in MIDNIGHT..MIDNIGHT + DAY {
            if is_to_be_called(&nightly.times[0], now) {
                calls.push(now - MIDNIGHT);
                called(&mut nightly, MIDNIGHT, Some(say!("no", "нет")), now);
            }
        }
        assert_eq!((calls, nightly.times[0].notice), (vec![0, 60, 180, 360, 600], Notice::Failed));
        add(&mut nightly, due(MIDNIGHT + 1, Outcome::Error));
        called(&mut nightly, MIDNIGHT + 1, None, MIDNIGHT + 2);
        assert_eq!(nightly.times[0].notice, Notice::Sent);
        add(&mut nightly, due(MIDNIGHT + 2, Outcome::Passed));
        assert_eq!(nightly.times[0].notice, Notice::None, "only problems were asked for");
        for at in 0..100 {
            add(&mut nightly, due(at, Outcome::Passed));
        }
        assert_eq!(nightly.times.len(), KEPT_MAX);
    }

    #[test]
    fn a_task_that_goes_on_for_many_times_and_a_message_that_waits_are_not_forgotten() {
        let mut often = schedule("*/5 * * * *", MIDNIGHT);
        add(&mut often, due(1, Outcome::Error));
        add(&mut often, due(2, Outcome::Running));
        for at in 3..103 {
            let skipped = skipped(at, &often.times[often.times.len() - 2]);
            add(&mut often, skipped);
            often.times[0].notice = Notice::Sent;
        }
        let kept: Vec<(i64, Outcome)> = often.times.iter().map(|due| (due.due_unix, due.outcome)).collect();
        assert_eq!(kept.len(), KEPT_MAX);
        assert_eq!(kept[KEPT_MAX - 2..], [(2, Outcome::Running), (1, Outcome::Error)]);
        // Messages alone that are never taken do not add up.
        for at in 200..300 {
            add(&mut often, due(at, Outcome::Error));
        }
        assert_eq!(
            (often.times.len(), often.times.iter().filter(|due| due.outcome == Outcome::Running).count()),
            (50, 1)
        );
    }
}
