//! What an NVMe drive says of its own state, as `nvme smart-log` prints it: for hosts that have nvme-cli and no smartctl. Pure.
//!
//! Source: nvme-smart-log(1) of nvme-cli 1.16 and 2.3, `--output-format=json`; NVM Express Base Specification 2.0, figure 207.

use serde_json::Value;
use stend_record::Health;

/// 0 °C in whole kelvins, which drives count in.
const CELSIUS_ZERO: i64 = 273;

/// The log in what was printed; `None` if that is no such log.
pub(super) fn of_log(log: &Value) -> Option<Health> {
    // Both are in every log, and no other document has them at this place.
    let (spare, used) = (number(&log["avail_spare"])?, number(&log["percent_used"])?);
    let kelvin = number(&log["temperature"]).and_then(|kelvin| i64::try_from(kelvin).ok());
    Some(Health {
        // The verdict that others print is that no warning is set, so it would be no second opinion.
        passed: None,
        used_percent: Some(used),
        spare_percent: Some(spare),
        media_errors: number(&log["media_errors"]),
        power_on_hours: number(&log["power_on_hours"]),
        // A drive without a thermometer has 0.
        celsius: kelvin.filter(|kelvin| *kelvin > 0).map(|kelvin| kelvin - CELSIUS_ZERO),
        critical_warning: number(&log["critical_warning"]).or_else(|| number(&log["critical_warning"]["value"])),
        bytes_written: number(&log["data_units_written"]).map(|units| units.saturating_mul(512_000)),
        unsafe_shutdowns: number(&log["unsafe_shutdowns"]),
        hot_minutes: sum(log, ["warning_temp_time", "critical_comp_time"]),
        throttled_s: sum(log, ["thm_temp1_total_time", "thm_temp2_total_time"]),
    })
}

/// Two counts of a log together: of times, the lower limit counts only below the higher one, and light throttling is not heavy.
fn sum(log: &Value, keys: [&str; 2]) -> Option<u64> {
    let [one, other] = keys.map(|key| number(&log[key]));
    Some(one?.saturating_add(other?))
}

/// A count of up to 128 bits: a number, from 2.0 on also its digits, with groups of three where the locale has them. What is larger than 64
/// bits is the largest number.
fn number(of: &Value) -> Option<u64> {
    match of {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            (float >= 0.0).then_some(float as u64)
        }),
        Value::String(digits) => {
            let wide: u128 = digits.replace([',', '.', ' '], "").parse().ok()?;
            Some(u64::try_from(wide).unwrap_or(u64::MAX))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::health::of_json;
    use stend_record::Health;

    fn read(name: &str) -> Option<Health> {
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/health");
        of_json(&std::fs::read_to_string(format!("{place}/{name}.json")).unwrap())
    }

    #[test]
    fn nvme_cli_tells_what_smartctl_tells_of_the_same_drive() {
        let expected = Health {
            passed: None,
            used_percent: Some(3),
            spare_percent: Some(100),
            media_errors: Some(0),
            power_on_hours: Some(4221),
            celsius: Some(49),
            critical_warning: Some(0),
            bytes_written: Some(7_000_791 * 512_000),
            unsafe_shutdowns: Some(2),
            hot_minutes: Some(0),
            throttled_s: Some(0),
        };
        assert_eq!(read("nvme-cli-1"), Some(expected.clone()));
        assert_eq!(read("smartctl-nvme"), Some(Health { passed: Some(true), throttled_s: None, ..expected }));
    }

    #[test]
    fn a_verbose_log_of_a_later_version_has_its_warning_one_level_deeper_and_wide_counts_as_digits() {
        let found = read("nvme-cli-2-verbose").unwrap();
        assert_eq!((found.critical_warning, found.spare_percent, found.celsius), (Some(5), Some(4), Some(76)));
        assert_eq!((found.media_errors, found.bytes_written), (Some(17), Some(u64::MAX)));
        assert_eq!((found.unsafe_shutdowns, found.hot_minutes, found.throttled_s), (Some(2), Some(15), Some(490)));
    }

    #[test]
    fn other_documents_are_no_log_and_values_that_are_missing_or_no_numbers_are_not_told() {
        for text in [r#"{"avail_spare": 100}"#, r#"{"avail_spare": "x", "percent_used": 1}"#, "[]", "7", "{}"] {
            assert_eq!(of_json(text), None, "{text}");
        }
        let found =
            of_json(r#"{"avail_spare": 100, "percent_used": 1, "temperature": 0, "media_errors": -3}"#).unwrap();
        assert_eq!((found.celsius, found.media_errors, found.critical_warning), (None, None, None));
    }
}
