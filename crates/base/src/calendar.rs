//! The Gregorian calendar in UTC: dates of seconds since 1970, and days of dates. Must not know a time zone or write a date.

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// Days from 0000-03-01 to 1970-01-01. Years are counted from March here, so that the leap day ends a year of 365.2425 days on average:
/// 146,097 days are 400 years exactly.
const MARCH_OF_YEAR_0: i64 = 719_468;

/// Year, month (from 1), day (from 1), hour, minute and second of a count of seconds since 1970.
pub fn date_time(unix: i64) -> [i64; 6] {
    let ([year, month, day], seconds) = (date(unix.div_euclid(DAY)), unix.rem_euclid(DAY));
    [year, month, day, seconds / 3600, seconds % 3600 / 60, seconds % 60]
}

/// Year, month (from 1) and day (from 1) of a count of days since 1970.
pub fn date(days: i64) -> [i64; 3] {
    let shifted = days + MARCH_OF_YEAR_0;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    [era * 400 + year_of_era + i64::from(month <= 2), month, day]
}

/// Days from 1970-01-01 to a date. `None`: there is no such month, or no month with such a day; 31 June counts as 1 July.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..3000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    // Months from March on have 31, 30, 31, 30, 31 days, twice and a half.
    Some(year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - MARCH_OF_YEAR_0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_centuries() {
        let text = |unix| date_time(unix).map(|part| part.to_string()).join(" ");
        assert_eq!(text(0), "1970 1 1 0 0 0");
        assert_eq!(text(-1), "1969 12 31 23 59 59");
        assert_eq!(text(951_782_399), "2000 2 28 23 59 59");
        assert_eq!(text(951_782_400), "2000 2 29 0 0 0");
        assert_eq!(text(1_709_251_199), "2024 2 29 23 59 59");
        assert_eq!(text(1_735_689_599), "2024 12 31 23 59 59");
        assert_eq!(text(4_107_542_400), "2100 3 1 0 0 0");
        assert_eq!(text(-62_167_219_200), "0 1 1 0 0 0");
        assert_eq!(text(i64::MAX)[..12], *"292277026596");
    }

    #[test]
    fn every_day_of_a_thousand_years_is_found_by_its_date() {
        for days in 0..365 * 1000 {
            let [year, month, day] = date(days);
            assert_eq!(days_since_1970(year, month, day), Some(days));
        }
        for (year, month, day) in
            [(1969, 12, 31), (3000, 1, 1), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32)]
        {
            assert_eq!(days_since_1970(year, month, day), None);
        }
    }
}
