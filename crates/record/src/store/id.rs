//! Ids of runs: `R-<UTC time>-<4 letters>`, sorted by time as text.

use stend_base::{calendar, random};

/// A new id: `R-<UTC time>-<4 letters>`, sorted by time as text.
pub fn new_run_id(unix_seconds: u64, entropy: u64) -> String {
    let letter = |i| char::from(b'a' + random::below(random::draw(entropy, i), 26) as u8);
    let letters: String = (0..4).map(letter).collect();
    format!("R-{}-{letters}", time_text(unix_seconds))
}

/// A second since 1970 as ids have it, in UTC.
pub(super) fn time_text(unix_seconds: u64) -> String {
    let [year, month, day, hour, minute, second] = calendar::date_time(i64::try_from(unix_seconds).unwrap_or(i64::MAX));
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// The time that an id tells, as [`time_text`] writes it; `None`: it is not one of ours.
pub(super) fn id_time(id: &str) -> Option<&str> {
    let (time, _) = id.strip_prefix("R-")?.split_once('-')?;
    let digits = |range| time.get(range).is_some_and(|part: &str| part.bytes().all(|byte| byte.is_ascii_digit()));
    let fits = time.len() == 16 && digits(0..8) && time.get(8..9) == Some("T") && digits(9..15) && time.ends_with('Z');
    fits.then_some(time)
}

/// Longest id that is believed, far above the 23 characters of ours.
const ID_MAX: usize = 64;

/// Whether this can be the id of a run. Directories, spools and leases are named after it, so that it is letters, digits and hyphens, and
/// begins with one of the first two.
pub fn is_run_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    text.len() <= ID_MAX && text.bytes().all(fits) && text.bytes().next().is_some_and(|first| first != b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_time_in_utc_and_four_letters() {
        let id = new_run_id(1_795_296_153, 42);
        assert!(id.starts_with("R-20261121T212233Z-"), "{id}");
        let letters = id.rsplit('-').next().unwrap();
        assert!(letters.len() == 4 && letters.bytes().all(|b| b.is_ascii_lowercase()), "{id}");
        assert_ne!(id, new_run_id(1_795_296_153, 43));
    }

    #[test]
    fn an_id_tells_its_time_and_another_name_none() {
        assert_eq!(id_time(&new_run_id(1_795_296_153, 42)), Some("20261121T212233Z"));
        for name in ["R-1", "R-20261121T212233Z", "20261121T212233Z-abcd", "R-2026112xT212233Z-abcd", "R-Ж-x"] {
            assert_eq!(id_time(name), None, "{name}");
        }
    }

    #[test]
    fn an_id_names_nothing_but_itself() {
        assert!([new_run_id(1, 2).as_str(), "R-1", "7"].into_iter().all(is_run_id));
        let long = "R".repeat(65);
        for wrong in ["", "../../x", "R-1/x", "/R-1", ".", "-R", "R 1", "R-1\n", "R-1\u{1b}[2J", "Р-1", "R_1", &long] {
            assert!(!is_run_id(wrong), "{wrong:?}");
        }
    }
}
