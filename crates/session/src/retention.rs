//! What a user says of the pace of a recording and of how long it keeps what. Must not read or write anything.

use stend_base::units::{parse_bytes, parse_nanos};
use stend_base::{Bytes, Error, Nanos, Result, say};
use stend_record::{Retention, Tier};

/// Below, reading a host of many drives would be seen in its own numbers; above, an hour has no sample.
const EVERY_LEAST: Nanos = Nanos::millis(100);
const EVERY_MOST: Nanos = Nanos::secs(3600);

/// By eye: more steps cannot be told apart in a chart.
const TIERS_MAX: usize = 8;

/// Ten years: beyond, a step is older than any machine.
const AGE_MOST: Nanos = Nanos::secs(3653 * 24 * 3600);

/// An hour of a small host; and what a file may take at most where a user says nothing else.
const SIZE_LEAST: Bytes = Bytes::mib(16);

/// The pace that a user asks for.
///
/// Errors: kind `Usage` if it is no time, below 100 ms or above an hour.
pub fn pace(text: &str) -> Result<Nanos> {
    let every = parse_nanos(text).ok().filter(|every| (EVERY_LEAST..=EVERY_MOST).contains(every));
    every.ok_or_else(|| {
        Error::usage(say!("`{text}` is no pace for a recording", "`{text}` не подходит как шаг записи"))
            .hint(say!("name a time from 100ms to 1h, such as `1s`", "укажите время от 100ms до 1h, например `1s`"))
    })
}

/// How long what is kept: the usual, with `keep` in place of its steps and `size_max` in place of its size.
///
/// Errors: kind `Usage` if either cannot be understood.
pub fn retention(every: Nanos, keep: Option<&str>, size_max: Option<&str>) -> Result<Retention> {
    let mut retention = Retention::usual(every);
    if let Some(text) = keep {
        retention.tiers = tiers(text, every)?;
    }
    if let Some(text) = size_max {
        let size = parse_bytes(text).ok().filter(|size| *size >= SIZE_LEAST);
        retention.size_max = size.ok_or_else(|| {
            Error::usage(say!("`{text}` is no size for a recording", "`{text}` не подходит как размер записи"))
                .hint(say!("name 16MiB or more, such as `1GiB`", "укажите 16MiB или больше, например `1GiB`"))
        })?;
    }
    Ok(retention)
}

/// `1s:48h,10s:14d`: in steps of a second for 48 hours, then of ten seconds until two weeks. Where the first step is longer than the pace, a
/// tier of age 0 comes before it: samples grow coarser only from one tier to the next.
fn tiers(text: &str, every: Nanos) -> Result<Vec<Tier>> {
    let wrong = |en: &str, ru: &str| {
        Error::usage(say!("`--keep {text}` cannot be used: {en}", "`--keep {text}` не подходит: {ru}")).hint(say!(
            "write steps with their ages in ascending order, such as `--keep 1s:48h,10s:14d,5min:400d`",
            "пишите шаги и сроки по возрастанию, например `--keep 1s:48h,10s:14d,5min:400d`"
        ))
    };
    let one = |part: &str| {
        let (step, age) = part.split_once(':')?;
        Some(Tier { step: parse_nanos(step.trim()).ok()?, age: parse_nanos(age.trim()).ok()? })
    };
    let tiers: Option<Vec<Tier>> = text.split(',').map(one).collect();
    let Some(tiers) = tiers.filter(|tiers| tiers.len() <= TIERS_MAX) else {
        return Err(wrong(
            "not at most eight pairs of a step and an age",
            "это не пары «шаг:срок», которых не больше восьми",
        ));
    };
    let ascend = tiers.windows(2).all(|pair| pair[0].step < pair[1].step && pair[0].age < pair[1].age);
    let (first, last) = (tiers.first(), tiers.last());
    match () {
        () if !ascend => Err(wrong("steps and ages do not ascend", "шаги и сроки не возрастают")),
        () if first.is_some_and(|tier| tier.step < every) => {
            Err(wrong("its first step is finer than `--every`", "первый шаг меньше, чем `--every`"))
        }
        () if last.is_some_and(|tier| tier.age > AGE_MOST) => {
            Err(wrong("nothing is kept for more than ten years", "дольше десяти лет ничего не хранится"))
        }
        () if tiers.iter().any(|tier| tier.age < tier.step) => {
            Err(wrong("a step is longer than its age", "шаг больше своего срока"))
        }
        () if first.is_some_and(|tier| tier.step > every) => {
            Ok([Tier { step: every, age: Nanos(0) }].into_iter().chain(tiers).collect())
        }
        () => Ok(tiers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn a_pace_is_a_time_from_a_tenth_of_a_second_to_an_hour() {
        assert_eq!(pace("100ms").unwrap(), EVERY_LEAST);
        assert_eq!(pace("1h").unwrap(), EVERY_MOST);
        for text in ["99ms", "61min", "1", "fast", ""] {
            assert_eq!(pace(text).unwrap_err().kind, Kind::Usage, "{text}");
        }
    }

    #[test]
    fn a_first_step_that_is_longer_than_the_pace_is_kept_from_the_begin() {
        const SECOND: u64 = Nanos::SECOND.0;
        let kept = retention(Nanos::SECOND, Some("10s:14d,5min:400d"), None).unwrap();
        let steps: Vec<(u64, u64)> =
            kept.tiers.iter().map(|tier| (tier.step.0 / SECOND, tier.age.0 / SECOND)).collect();
        assert_eq!(steps, [(1, 0), (10, 14 * 86_400), (300, 400 * 86_400)]);
        // 14 days of 8640, 386 days of 288, and one at each edge.
        assert_eq!(kept.samples_max(), 1 + 120_961 + 111_169);
        assert_eq!(retention(Nanos::secs(10), Some("10s:14d"), None).unwrap().tiers.len(), 1);
    }

    #[test]
    fn steps_are_read_in_ascending_order_and_refused_otherwise() {
        let kept = retention(Nanos::SECOND, Some("1s:48h, 10s:14d"), Some("64MiB")).unwrap();
        assert_eq!((kept.tiers.len(), kept.size_max), (2, Bytes::mib(64)));
        assert_eq!(kept.tiers[1], Tier { step: Nanos::secs(10), age: Nanos::secs(14 * 86_400) });
        assert_eq!(retention(Nanos::SECOND, None, None).unwrap(), Retention::usual(Nanos::SECOND));
        let nine = (1..=9).map(|n| format!("{n}s:{n}d")).collect::<Vec<_>>().join(",");
        for text in ["", "1s", "1s:2d,1s:3d", "1s:2d,10s:1d", "500ms:1d", "1s:4000d", "1h:5min", "1s:x", &nine] {
            let error = retention(Nanos::SECOND, Some(text), None).unwrap_err();
            assert_eq!(error.kind, Kind::Usage, "{text}");
        }
        for text in ["15MiB", "x", "1"] {
            assert_eq!(retention(Nanos::SECOND, None, Some(text)).unwrap_err().kind, Kind::Usage, "{text}");
        }
    }
}
