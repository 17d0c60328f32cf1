//! Dates of seconds since 1970, in UTC. Must not know a time zone.

use crate::calendar::date_time;

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
}
