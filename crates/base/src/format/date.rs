//! Dates of seconds since 1970, in UTC. Must not know a time zone.

use crate::calendar::{DAY, date_time, days_since_1970};

/// 0000-01-01 and 9999-12-31 23:59:59: what has four digits.
const RANGE: (i64, i64) = (-62_167_219_200, 253_402_300_799);

/// Date and time of day in UTC, e.g. `2026-11-21 21:30 UTC`; years outside 0 to 9999 are cut to them.
pub fn utc(unix: i64) -> String {
    let [year, month, day, hour, minute, _] = date_time(unix.clamp(RANGE.0, RANGE.1));
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// The same for programs (RFC 3339), e.g. `2026-11-21T21:30:05Z`.
pub fn rfc3339(unix: i64) -> String {
    let [year, month, day, hour, minute, second] = date_time(unix.clamp(RANGE.0, RANGE.1));
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The same for mails (RFC 5322), e.g. `21 Nov 2026 21:30:05 +0000`.
pub fn rfc5322(unix: i64) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let [year, month, day, hour, minute, second] = date_time(unix.clamp(RANGE.0, RANGE.1));
    let month = MONTHS[(month - 1) as usize];
    format!("{day} {month} {year:04} {hour:02}:{minute:02}:{second:02} +0000")
}

/// Seconds since 1970 of a time in UTC as people write it: `2026-11-21T21:30Z`, with seconds or without, a space in place of the `T`, and `UTC`
/// or nothing in place of the `Z`. `None`: it is none, or has another time zone.
pub fn parse_utc(text: &str) -> Option<i64> {
    let text = text.strip_suffix("UTC").or_else(|| text.strip_suffix('Z')).unwrap_or(text).trim();
    let (date, time) = text.split_once(['T', ' '])?;
    let number = |text: &str, digits: usize| {
        text.parse::<i64>().ok().filter(|_| text.len() == digits && text.bytes().all(|b| b.is_ascii_digit()))
    };
    let date: Vec<&str> = date.split('-').collect();
    let [year, month, day] = date[..] else { return None };
    let day = days_since_1970(number(year, 4)?, number(month, 2)?, number(day, 2)?)?;
    let time: Vec<&str> = time.split(':').collect();
    let (hour, minute, second) = match time[..] {
        [hour, minute] => (number(hour, 2)?, number(minute, 2)?, 0),
        [hour, minute, second] => (number(hour, 2)?, number(minute, 2)?, number(second, 2)?),
        _ => return None,
    };
    (hour < 24 && minute < 60 && second < 60).then_some(day * DAY + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_at_the_ends_of_time() {
        let texts: Vec<_> = [0, 951_782_399, 951_782_400, 1_795_296_600, i64::MIN, i64::MAX].map(utc).to_vec();
        assert_eq!(
            texts,
            [
                "1970-01-01 00:00 UTC",
                "2000-02-28 23:59 UTC",
                "2000-02-29 00:00 UTC",
                "2026-11-21 21:30 UTC",
                "0000-01-01 00:00 UTC",
                "9999-12-31 23:59 UTC"
            ]
        );
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc5322(1_795_296_605), "21 Nov 2026 21:30:05 +0000");
    }

    #[test]
    fn a_time_is_read_as_it_is_written_and_one_of_another_zone_is_none() {
        for text in ["2026-11-21T21:30Z", "2026-11-21 21:30 UTC", "2026-11-21T21:30:00", "2026-11-21 21:30"] {
            assert_eq!(parse_utc(text), Some(1_795_296_600), "{text}");
        }
        for unix in [0, 951_782_399, 951_782_400, 1_795_296_605] {
            assert_eq!(parse_utc(&rfc3339(unix)), Some(unix));
        }
        for wrong in ["", "2026-11-21", "2026-11-21T21", "2026-13-21T21:30Z", "2026-11-21T24:00Z", "2026-11-21T21:60Z"]
        {
            assert_eq!(parse_utc(wrong), None, "{wrong}");
        }
        for wrong in
            ["2026-11-21T21:30+03:00", "26-11-21T21:30Z", "2026-11-21T+1:30Z", "2026-11-21T21:30:00.5Z", "x T y"]
        {
            assert_eq!(parse_utc(wrong), None, "{wrong}");
        }
    }
}
