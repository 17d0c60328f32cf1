//! H86: the third number of Little's law. Where a table has two of rate, latency and I/Os in flight, the third follows, and what the
//! table says elsewhere must allow it: percentiles and extremes of latency, bounds of a rate, the links.

use super::carried::Links;
use super::direction::is_one_way;
use super::settings::{Asked, Settings};
use super::{Cell, Doubt, Found, Severity, as_printed, block_size, cell, doubt, groups, printed, same_test, times};
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{IN_FLIGHT_IMPOSSIBLE, IN_FLIGHT_REACHED};
use stend_base::{Say, format, say, say_in};
use stend_record::published::{Claim, Dimension};

pub(super) fn implied(rows: &[Claim], settings: &Settings<'_>, links: &Links<'_>) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    let mut judge = |found: Option<Doubt>| {
        places += 1;
        doubts.extend(found);
    };
    for group in groups(rows) {
        let latency = group.latency.filter(|latency| latency.value > 0.0);
        match (group.in_iops(), latency) {
            (Some((rate, half, from)), None) => {
                let Some(asked) = settings.asked(from) else { continue };
                let others =
                    rows.iter().filter(|row| same_test(row, from)).filter_map(|row| cell(row, Dimension::Time));
                for other in others.filter(|other| other.value > 0.0) {
                    // In a mixture the rate may be of both sides and the latency of one: the few and fast, or the slow.
                    let Some(share) = share(&other.claim.metric).filter(|_| is_one_way(from)) else { continue };
                    judge(latency_against(other, share, (rate, half, from), &asked));
                }
            }
            (None, Some(latency)) if is_one_way(latency.claim) => {
                let Some(asked) = settings.asked(latency.claim) else { continue };
                let least = |row: &&Claim| row.metric == "iops_min" && same_test(row, latency.claim);
                for rate in rows.iter().filter(least).filter_map(|row| cell(row, Dimension::Rate)) {
                    judge(rate_against(rate, latency, &asked));
                }
                let link = links.narrowest(settings, latency.claim);
                if let Some((link, block)) = link.zip(block_size(latency.claim)) {
                    judge(links_against(latency, block, link, &asked));
                }
            }
            (Some((rate, half, from)), Some(latency)) if settings.asked(latency.claim).is_none() => {
                // There is at least one job, and at least one I/O in each.
                let told = latency.claim.queue_depth.or(latency.claim.jobs).filter(|depth| *depth > 0);
                if let Some(depth) = told.filter(|_| is_one_way(from)) {
                    judge(flight_against(latency, (rate, half, from), depth));
                }
            }
            _ => {}
        }
    }
    Found::new(CheckId::H86, places, doubts)
}

/// Which share of the latencies a metric bounds from above: 0 of `latency_min`, 0.999 of `latency_p99_9`, 1 of `latency_max`. `None`: it
/// is no such metric.
pub(super) fn share(metric: &str) -> Option<f64> {
    let is_digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let words: Vec<&str> = metric.split('_').collect();
    let percent = words.iter().enumerate().find_map(|(at, word)| {
        let digits = word.strip_prefix('p')?;
        let plain = digits.split('.').all(is_digits) && digits.split('.').count() <= 2;
        let decimals = words.get(at + 1).filter(|next| is_digits(next) && is_digits(digits));
        let text = decimals.map_or(digits.to_string(), |decimals| format!("{digits}.{decimals}"));
        plain.then(|| text.parse::<f64>().ok()).flatten().filter(|percent| (0.0..100.0).contains(percent))
    });
    match percent {
        Some(percent) => Some(percent / 100.0),
        None if words.contains(&"median") => Some(0.5),
        None if words.contains(&"min") => Some(0.0),
        None if words.contains(&"max") => Some(1.0),
        None => None,
    }
}

/// A latency below which `share` of all lie, against the mean that rate and depth allow. The rest is no shorter, so that the mean is at
/// least (1 − share) × this latency; the largest is at least the mean.
fn latency_against(cell: Cell<'_>, share: f64, rate: (f64, f64, &Claim), asked: &Asked<'_>) -> Option<Doubt> {
    let (rate, half, from) = rate;
    let (mean, rounding) = (asked.depth / rate, half / rate);
    let most = mean / (1.0 - share);
    let severity = match share {
        1.0 if (cell.value + cell.half) < mean * (1.0 - rounding) * IN_FLIGHT_REACHED => Severity::Warn,
        _ if share < 1.0 && cell.value - cell.half > most * (1.0 + rounding) * IN_FLIGHT_IMPOSSIBLE => Severity::Wrong,
        _ => return None,
    };
    let printed = |seconds: f64| as_printed(cell.claim, seconds).unwrap_or_default();
    let (mean, most) = (printed(mean), printed(most));
    let why = Say::both(|lang| {
        let (iops, depth) = (format::iops(rate, lang), format::count(asked.depth as u64));
        match severity {
            Severity::Wrong => say_in!(
                lang,
                "At {iops} IOPS with {depth} in flight the mean latency is at most {mean}, so this one is at most {most}.",
                "При {iops} IOPS, когда в очереди {depth}, средняя задержка не больше {mean}, значит, эта — не больше {most}."
            ),
            Severity::Warn => say_in!(
                lang,
                "At {iops} IOPS with {depth} in flight the mean latency is {mean}, and the largest cannot be below the mean. Either the queue was not filled, or this is not the latency of the whole I/O.",
                "При {iops} IOPS, когда в очереди {depth}, средняя задержка — {mean}, а наибольшая не бывает меньше средней. Либо очередь не была заполнена, либо это задержка не всей операции."
            ),
        }
    });
    Some(doubt(CheckId::H86, severity, cell.claim, &against(cell.claim, from, asked), why))
}

/// A rate that was always reached, against the largest that latency and depth allow.
fn rate_against(rate: Cell<'_>, latency: Cell<'_>, asked: &Asked<'_>) -> Option<Doubt> {
    let most = asked.depth / latency.value;
    let rounding = latency.half / latency.value;
    if (rate.value - rate.half) * (1.0 - rounding) <= most * IN_FLIGHT_IMPOSSIBLE {
        return None;
    }
    let printed = printed(latency.claim);
    let why = say!(
        |lang| "With {d} I/Os in flight and a mean latency of {p} no more than {x} IOPS are possible.",
        "Если в очереди {d}, а средняя задержка {p}, больше {x} IOPS быть не может.",
        d = format::count(asked.depth as u64),
        x = format::iops(most, lang),
        p = printed
    );
    Some(doubt(CheckId::H86, Severity::Wrong, rate.claim, &against(rate.claim, latency.claim, asked), why))
}

/// What latency, depth and block size make of the throughput of a full queue, against what the links carry.
fn links_against(latency: Cell<'_>, block: f64, (link, limit): (&Claim, f64), asked: &Asked<'_>) -> Option<Doubt> {
    let rate = asked.depth / latency.value;
    let least = asked.depth / (latency.value + latency.half) * IN_FLIGHT_REACHED;
    if least * block <= limit {
        return None;
    }
    let flying = (limit * latency.value / block).max(1.0);
    let (name, row) = (&link.printed, link.row);
    let why = say!(
        |lang| "With all {d} I/Os in flight this latency would mean {x} IOPS or {b}, but `{n}` (row {r}) carries at most {l}. Either only about {f} were in flight, or this is not the latency of the whole I/O.",
        "Если бы в очереди были все {d}, такая задержка означала бы {x} IOPS, то есть {b}, а канал `{n}` (строка {r}) пропускает не больше {l}. Либо в очереди было лишь около {f}, либо это задержка не всей операции.",
        d = format::count(asked.depth as u64),
        x = format::iops(rate, lang),
        b = format::throughput(rate * block, lang),
        l = format::throughput(limit, lang),
        f = format::count(flying.round() as u64),
        r = row,
        n = name
    );
    Some(doubt(CheckId::H86, Severity::Warn, latency.claim, &against(latency.claim, link, asked), why))
}

/// What rate and latency keep in flight, against a depth or a number of jobs that the table gives alone.
fn flight_against(latency: Cell<'_>, (rate, half, from): (f64, f64, &Claim), depth: u32) -> Option<Doubt> {
    let flying = rate * latency.value;
    let rounding = half / rate + latency.half / latency.value;
    if flying * (1.0 + rounding) >= f64::from(depth) * IN_FLIGHT_REACHED {
        return None;
    }
    let why = say!(
        |lang| "At this rate and latency {n} I/Os are in flight on average, but the table states at least {d}. Either the queue was not filled, or this is not the latency of the whole I/O.",
        "При таких IOPS и задержке в очереди в среднем {n}, а по таблице — не меньше {d}. Либо очередь не была заполнена, либо это задержка не всей операции.",
        n = times(flying, lang),
        d = format::count(u64::from(depth))
    );
    Some(doubt(CheckId::H86, Severity::Warn, latency.claim, &[from], why))
}

fn against<'a>(claim: &Claim, other: &'a Claim, asked: &Asked<'a>) -> Vec<&'a Claim> {
    [other].into_iter().chain(asked.by.iter().copied()).filter(|row| row.row != claim.row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::claim;
    use super::*;

    fn of(rows: &[Claim]) -> Found {
        let mut unread = Vec::new();
        let links = Links::of(rows, &mut unread);
        assert!(unread.is_empty(), "{unread:?}");
        implied(rows, &Settings::new(rows), &links)
    }

    fn number(row: u32, metric: &str, unit: &str, printed: &str) -> Claim {
        Claim { queue_depth: Some(32), jobs: Some(8), ..claim(row, "seq-read-128k", metric, unit, printed) }
    }

    fn with_links(link: &str, latency: &str) -> Found {
        let text = Claim { printed: link.into(), value: None, ..claim(2, "", "config_link", "text", "1") };
        of(&[text, Claim { block_size: None, ..number(3, "latency", "ms", latency) }])
    }

    #[test]
    fn a_latency_that_would_fill_more_than_the_links_is_doubted_without_a_throughput() {
        // 256 × 128 KiB in 0.4 ms are 83.9 GB/s.
        let found = with_links("4 x FC 16G", "0.4");
        let [doubt] = found.doubts.as_slice() else { panic!("{:?}", found.doubts) };
        assert_eq!((doubt.check, doubt.row, doubt.severity), (CheckId::H86, 3, Severity::Warn));
        let (en, ru) = (&doubt.why.en, &doubt.why.ru);
        assert!(
            en.contains("640\u{a0}000 IOPS or 83\u{a0}886 MB/s, but `4 x FC 16G` (row 2) carries at most 6800"),
            "{en}"
        );
        assert!(en.contains("only about 21 were in flight"), "{en}");
        assert!(ru.contains("лишь около 21"), "{ru}");
        // 6.58 GB/s fit, and so do 6.7 of 5 ms printed with one digit.
        for latency in ["5.1", "6.5", "5"] {
            let found = with_links("4 x FC 16G", latency);
            assert_eq!((found.places, found.doubts.len()), (1, 0), "{latency}");
        }
    }

    #[test]
    fn percentiles_and_extremes_must_allow_the_mean_that_rate_and_depth_give() {
        // 256 in flight at 25,600 a second are 10 ms.
        let with = |metric: &str, printed: &str| {
            let found = of(&[number(2, "iops", "IOPS", "25600"), number(3, metric, "ms", printed)]);
            assert_eq!(found.places, 1, "{metric}");
            found.doubts.first().map(|doubt| doubt.severity)
        };
        for (metric, fits, breaks) in [
            ("latency_min", "9.9", "11.0"),
            ("latency_p50", "20.0", "22.0"),
            ("latency_median", "20.0", "22.0"),
            ("latency_p99", "900.0", "1100.0"),
            ("latency_p99_9", "9900.0", "11000.0"),
        ] {
            assert_eq!(with(metric, fits), None, "{metric}");
            assert_eq!(with(metric, breaks), Some(Severity::Wrong), "{metric}");
        }
        assert_eq!((with("latency_max", "9.5"), with("latency_max", "5.0")), (None, Some(Severity::Warn)));
        let wrong = of(&[number(2, "iops", "IOPS", "25600"), number(3, "latency_p50", "ms", "22.0")]);
        assert_eq!(
            wrong.doubts[0].why.en,
            "At 25\u{a0}600 IOPS with 256 in flight the mean latency is at most 10.0 ms, so this one is at most 20.0 ms."
        );
    }

    #[test]
    fn one_side_of_a_mixture_is_not_taken_for_the_whole() {
        let mixed = |row: Claim| Claim { test: "mixed-read-4k".into(), ..row };
        let rows = [number(2, "iops", "IOPS", "25600"), number(3, "latency_max", "ms", "5.0")].map(mixed);
        assert_eq!((of(&rows).places, of(&rows).doubts.len()), (0, 0));
        let rows = [number(2, "iops", "IOPS", "25600"), number(3, "latency_p99", "ms", "2000.0")].map(mixed);
        assert_eq!((of(&rows).places, of(&rows).doubts.len()), (0, 0));
        let rows = [number(2, "latency", "ms", "10.0"), number(3, "iops_min", "IOPS", "28000")].map(mixed);
        assert_eq!((of(&rows).places, of(&rows).doubts.len()), (0, 0));
    }

    #[test]
    fn a_rate_that_latency_and_depth_do_not_allow_is_wrong() {
        let with = |least: &str| {
            of(&[number(2, "latency", "ms", "10.0"), number(3, "iops_min", "IOPS", least)])
                .doubts
                .first()
                .map(|d| d.row)
        };
        assert_eq!((with("25600"), with("28000")), (None, Some(3)));
    }

    #[test]
    fn fewer_in_flight_than_one_job_keeps_is_a_queue_that_was_not_filled() {
        let with = |depth: Option<u32>, jobs: Option<u32>| {
            let rows = [number(2, "iops", "IOPS", "20000"), number(3, "latency", "ms", "0.40")];
            let found = of(&rows.map(|row| Claim { queue_depth: depth, jobs, ..row }));
            (found.places, found.doubts.len())
        };
        // 8 in flight.
        assert_eq!((with(Some(8), None), with(Some(32), None), with(None, Some(16))), ((1, 0), (1, 1), (1, 1)));
        assert_eq!(with(None, None), (0, 0), "an open loop may have less than one in flight");
        assert_eq!(with(Some(32), Some(8)), (0, 0), "all three are told: H02");
    }

    #[test]
    fn what_is_no_part_of_the_latencies_bounds_none() {
        for (metric, expected) in [
            ("latency_p99", Some(0.99)),
            ("clat_p99.9", Some(0.999)),
            ("latency_p99_99", Some(0.9999)),
            ("latency_min", Some(0.0)),
            ("latency_max", Some(1.0)),
            ("latency", None),
            ("latency_peak", None),
            ("latency_p", None),
            ("latency_p100", None),
            ("latency_p9.9.9", None),
            ("latency_p99x", None),
        ] {
            let is = share(metric);
            assert!(is.zip(expected).is_some_and(|(a, b)| (a - b).abs() < 1e-9) || is == expected, "{metric}: {is:?}");
        }
    }
}
