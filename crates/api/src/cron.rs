//! When something is repeated: the five fields of cron, in UTC. Pure: the time is given.
//!
//! Numbers, `*`, lists, ranges and steps, as POSIX has them and with the steps of every cron; no names, no `@daily`. If day of the month and
//! day of the week both are restricted, one of them is enough.

use stend_base::calendar::{self, DAY};
use stend_base::{Error, Result, say};

/// Longest text that is read.
const TEXT_MAX: usize = 200;
/// Days that are looked at for the next time: the 29th of February may be eight years away.
const DAYS_MAX: i64 = 366 * 9;
const MINUTE: i64 = 60;

/// Times that repeat, to the minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    /// A bit for each value that is meant.
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Days of the month or of the week are restricted; then one that is not means none by itself.
    is_day_restricted: bool,
    is_weekday_restricted: bool,
}

impl Cron {
    /// Reads `MINUTE HOUR DAY MONTH WEEKDAY`.
    ///
    /// Errors: `Usage` with the field that is wrong, or if no day fits, such as the 30th of February.
    pub fn parse(text: &str) -> Result<Cron> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(wrong(text));
        };
        if text.len() > TEXT_MAX {
            return Err(wrong(text));
        }
        let read = |field: &str, low, high| bits(field, low, high).ok_or_else(|| wrong(field));
        let weekdays = read(weekday, 0, 7)?;
        let cron = Cron {
            minutes: read(minute, 0, 59)?,
            hours: read(hour, 0, 23)?,
            days: read(day, 1, 31)?,
            months: read(month, 1, 12)?,
            // Sunday is 0, and 7 as well.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            is_day_restricted: !day.starts_with('*'),
            is_weekday_restricted: !weekday.starts_with('*'),
        };
        match cron.next(0) {
            Some(_) => Ok(cron),
            None => Err(wrong(text)),
        }
    }

    /// The first time after this one; both in seconds since 1970.
    pub fn next(&self, after_unix: i64) -> Option<i64> {
        let begin = after_unix.checked_div_euclid(MINUTE)?.checked_add(1)?.checked_mul(MINUTE)?;
        let first_day = begin.div_euclid(DAY);
        let mut from = begin.rem_euclid(DAY) / MINUTE;
        for day in first_day..first_day.checked_add(DAYS_MAX)? {
            if self.has_day(day) {
                let minute = (from..DAY / MINUTE).find(|minute| self.has_minute(*minute));
                if let Some(minute) = minute {
                    return day.checked_mul(DAY)?.checked_add(minute * MINUTE);
                }
            }
            from = 0;
        }
        None
    }

    fn has_minute(&self, of_day: i64) -> bool {
        self.hours >> (of_day / 60) & 1 == 1 && self.minutes >> (of_day % 60) & 1 == 1
    }

    /// `since_1970`: a count of days.
    fn has_day(&self, since_1970: i64) -> bool {
        let [_, month, day] = calendar::date(since_1970);
        // The first of January 1970 was a Thursday.
        let weekday = (since_1970 + 4).rem_euclid(7);
        let (day, weekday) = (self.days >> day & 1 == 1, self.weekdays >> weekday & 1 == 1);
        let fits = match (self.is_day_restricted, self.is_weekday_restricted) {
            (true, true) => day || weekday,
            _ => day && weekday,
        };
        self.months >> month & 1 == 1 && fits
    }
}

/// The values of a field as bits; `None` if it is none.
fn bits(field: &str, low: u64, high: u64) -> Option<u64> {
    let number = |text: &str| -> Option<u64> {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| digits && (low..=high).contains(number))
    };
    field.split(',').try_fold(0, |all, part| {
        let (range, step) = match part.split_once('/') {
            // A step needs something that it steps through.
            Some((range, step)) if range == "*" || range.contains('-') => {
                (range, step.parse().ok().filter(|step| (1..=high).contains(step))?)
            }
            Some(_) => return None,
            None => (part, 1),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (low, high),
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(range)?, number(range)?),
        };
        if from > to {
            return None;
        }
        Some((from..=to).step_by(usize::try_from(step).ok()?).fold(all, |all, value| all | 1 << value))
    })
}

fn wrong(what: &str) -> Box<Error> {
    let message = say!("`{what}` is no time that repeats", "`{what}` — не время повторения");
    Error::usage(message).hint(say!(
        "`MINUTE HOUR DAY MONTH WEEKDAY` in UTC, such as `0 2 * * *` (every night at 2) or `*/30 * * * 1-5`",
        "`МИНУТА ЧАС ДЕНЬ МЕСЯЦ ДЕНЬ-НЕДЕЛИ` по UTC, например `0 2 * * *` (каждую ночь в 2) или `*/30 * * * 1-5`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-11-28 15:42:10, a Saturday.
    const NOW: i64 = 1_795_880_530;

    /// The next times, in minutes from that day's midnight on.
    fn next(text: &str, count: usize) -> Vec<i64> {
        let cron = Cron::parse(text).unwrap();
        let mut at = NOW;
        let mut step = || {
            at = cron.next(at).unwrap();
            (at - NOW.div_euclid(DAY) * DAY) / MINUTE
        };
        (0..count).map(|_| step()).collect()
    }

    #[test]
    fn the_next_times_are_those_that_cron_has() {
        let (hour, day) = (60, 24 * 60);
        assert_eq!(next("0 2 * * *", 2), [day + 2 * hour, 2 * day + 2 * hour]);
        assert_eq!(next("*/20 * * * *", 3), [16 * hour, 16 * hour + 20, 16 * hour + 40]);
        assert_eq!(next("43 15 * * *", 1), [15 * hour + 43]);
        assert_eq!(next("42 15 * * *", 1), [day + 15 * hour + 42], "the minute that goes on has begun");
        assert_eq!(next("5,10-12 0 * * *", 4), [day + 5, day + 10, day + 11, day + 12]);
        // Monday is two days away, Sunday one, by both of its numbers.
        assert_eq!(next("0 0 * * 1", 1), [2 * day]);
        assert_eq!((next("0 0 * * 0", 1), next("0 0 * * 7", 1)), (vec![day], vec![day]));
        // The first of December is a Tuesday; one of both is enough.
        assert_eq!(next("0 0 1 * 1", 2), [2 * day, 3 * day]);
        assert_eq!(next("0 0 31 12 *", 1), [33 * day]);
        // 2028 is the next leap year: 1188 days from the 28th of November 2026 on.
        assert_eq!(next("0 0 29 2 *", 1), [458 * day]);
        assert_eq!(Cron::parse("0 0 1 1 *").unwrap().next(-1), Some(0));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * 32 * *",
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "*/x * * * *",
            "5/2 * * * *",
            "5-1 * * * *",
            "-5 * * * *",
            "1,,2 * * * *",
            "+1 * * * *",
            "0 0 30 2 *",
            "@daily",
            "0 2 * * MON",
            "0x1 * * * *",
            "001 * * * *",
        ] {
            assert!(Cron::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_next_time_is_later_whole_minutes_and_nothing_makes_it_panic(text in "[0-9*/, -]{0,24}", after in any::<i64>()) {
            if let Ok(cron) = Cron::parse(&text) && let Some(next) = cron.next(after) {
                prop_assert!(next > after && next % MINUTE == 0);
            }
        }
    }
}
