//! Dates as tools print them, where they say of which time zone they are. Pure.

use stend_base::Nanos;
use stend_base::calendar::{DAY, days_since_1970};

/// `2026-11-23T01:02:03.456+0000`, with or without a fraction, in ns since 1970; `None` without a zone, or before 1970.
pub fn iso(text: &str) -> Option<Nanos> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let days = days_since_1970(parts.next()??, parts.next()??, parts.next()??)?;
    let at = time.find(['+', '-', 'Z'])?;
    let (clock, zone) = time.split_at(at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if !(0..24).contains(&hours) || !(0..60).contains(&minutes) || !(0..61).contains(&seconds) {
        return None;
    }
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    let nanos: u64 = digits.parse().ok()?;
    let seconds = days * DAY + hours * 3600 + minutes * 60 + seconds - offset(zone)?;
    let seconds = u64::try_from(seconds).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos).map(Nanos)
}

/// Seconds east of Greenwich: `Z`, `+0300`, `-05:30`.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.chars().skip(1).filter(|c| *c != ':').collect();
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = digits.split_at(2);
    let (hours, minutes) = (hours.parse::<i64>().ok()?, if minutes.is_empty() { 0 } else { minutes.parse().ok()? });
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn dates_with_a_zone_are_known_and_others_are_not() {
        let seconds = |text| iso(text).map(|at| at.0 / 1_000_000_000);
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:00:00.5+0300"), Some(1_709_197_200));
        assert_eq!(seconds("2026-11-23T00:58:01.123-05:30"), Some(1_795_415_281));
        assert_eq!(iso("2026-11-23T00:58:01.123Z").map(|at| at.0 % 1_000_000_000), Some(123_000_000));
        for none in [
            "2026-11-23T00:58:01",
            "2026-13-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "",
            "T",
            "yesterday",
            "2026-11-23T+",
        ] {
            assert_eq!(iso(none), None, "{none}");
        }
    }

    #[test]
    fn a_zone_that_is_no_four_digits_is_none_and_does_not_overflow() {
        for zone in ["+018446744073709551615", "+00-5", "+-100", "+0", "+03000", "+03:0x", "-", "+1500", "+0060"] {
            assert_eq!(iso(&format!("2026-11-23T00:58:01{zone}")), None, "{zone}");
        }
        assert_eq!(iso("2026-11-23T03:58:01+03"), iso("2026-11-23T00:58:01Z"));
    }
}
