//! H02: I/Os in flight are rate times latency (Little's law). More than were asked for cannot be; far fewer were not
//! there, or the latency is of something else.

use super::{Found, Gravity, Group, as_printed, doubt, groups, times};
use crate::limits::{IN_FLIGHT_IMPOSSIBLE, IN_FLIGHT_REACHED};
use crate::phrase::{both, pick};
use stend_base::{format, say};
use stend_record::published::{Claim, Dimension};

/// I/Os that a test keeps in flight, and the claims that say so.
struct Asked<'a> {
    depth: f64,
    by: Vec<&'a Claim>,
}

pub(super) fn little(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for group in groups(rows) {
        let Some((rate, half, from)) = rate(&group) else { continue };
        let Some(latency) = group.latency.filter(|latency| latency.value > 0.0) else { continue };
        let Some(asked) = asked(rows, latency.claim) else { continue };
        places += 1;
        let share = rate * latency.value / asked.depth;
        let rounding = half / rate + latency.half / latency.value;
        let gravity = match share {
            _ if share * (1.0 - rounding) > IN_FLIGHT_IMPOSSIBLE => Gravity::Wrong,
            _ if share * (1.0 + rounding) < IN_FLIGHT_REACHED => Gravity::Warn,
            _ => continue,
        };
        let (flying, depth) = (rate * latency.value, asked.depth);
        let most = as_printed(latency.claim, depth / rate).unwrap_or_default();
        let why = both(|lang| {
            let text = match gravity {
                Gravity::Wrong => pick(
                    lang,
                    "This rate and this latency need {n} I/Os in flight, but only {d} were asked for: one of the three is wrong. If rate and depth are right, the latency is at most {l}.",
                    "При такой частоте и такой задержке в полёте {n} операций, а запрошено лишь {d}: одно из трёх чисел неверно. Если верны частота и глубина, задержка не больше {l}.",
                ),
                Gravity::Warn => pick(
                    lang,
                    "This rate and this latency make {n} I/Os in flight where {d} were asked for: the queue was not filled, or the latency is not that of the whole I/O.",
                    "Такая частота и такая задержка дают {n} операций в полёте, а запрошено {d}: очередь не была заполнена, или это задержка не всей операции.",
                ),
            };
            text.replace("{n}", &times(flying, lang)).replace("{d}", &format::count(depth as u64)).replace("{l}", &most)
        });
        let against: Vec<&Claim> = [from].into_iter().chain(asked.by).filter(|c| c.row != latency.claim.row).collect();
        // Nothing says that the latency is what is wrong, so no right one is given.
        doubts.push(doubt("H02", gravity, latency.claim, &against, why));
    }
    let name = say!("rate × latency = I/Os in flight", "частота × задержка = операций в полёте");
    Found { id: "H02", name, places, doubts }
}

/// I/Os per second of a test with half of their rounding, told or from throughput and block size.
fn rate<'a>(group: &Group<'a>) -> Option<(f64, f64, &'a Claim)> {
    if let Some(rate) = group.rate.filter(|rate| rate.value > 0.0) {
        return Some((rate.value, rate.half, rate.claim));
    }
    let throughput = group.throughput.filter(|throughput| throughput.value > 0.0)?;
    let block = throughput.claim.block_size.or_else(|| named_block(&throughput.claim.test))?.0 as f64;
    Some((throughput.value / block, throughput.half / block, throughput.claim))
}

/// Block size in the name of a test: `seq-read-128k`.
fn named_block(test: &str) -> Option<stend_base::Bytes> {
    test.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        let kib = word.strip_suffix('k').or_else(|| word.strip_suffix('K'))?.parse::<u64>().ok()?;
        (1..=65_536).contains(&kib).then(|| stend_base::Bytes::kib(kib))
    })
}

/// What a test keeps in flight: by its own columns, else by the settings that its experiment lists for it. Sections of a fio
/// job file stand for a LUN each.
fn asked<'a>(rows: &'a [Claim], claim: &'a Claim) -> Option<Asked<'a>> {
    if let (Some(depth), Some(jobs)) = (claim.queue_depth, claim.jobs) {
        return Some(Asked { depth: f64::from(depth) * f64::from(jobs), by: Vec::new() });
    }
    let home = home(rows, claim)?;
    let setting = |names: &[&str], test: &str| {
        rows.iter().find(|row| {
            (row.source.as_str(), row.experiment.as_str()) == (claim.source.as_str(), home)
                && (row.layout == claim.layout || !is_measured(rows, row))
                && row.test == test
                && names.contains(&row.metric.as_str())
                && super::cell(row, Dimension::Plain).is_some_and(|cell| cell.value > 0.0)
        })
    };
    let value = |row: &Claim| row.value.map_or(1.0, |number| number.value);
    let depth = setting(&["config_queue_depth", "fio_iodepth"], &claim.test)?;
    let jobs = setting(&["config_jobs", "fio_numjobs"], &claim.test)?;
    let sections = setting(&["config_luns"], "").filter(|_| jobs.metric == "fio_numjobs");
    let by: Vec<&Claim> = [depth, jobs].into_iter().chain(sections).collect();
    Some(Asked { depth: by.iter().map(|row| value(row)).product(), by })
}

/// The experiment that a number was measured in: its own, unless another one of the publication is named after its layout. Then
/// the number is quoted from there (`kernel-4.19` in a table of `kernel-5.4`), and so are its settings. `None`: there are several.
fn home<'a>(rows: &'a [Claim], claim: &'a Claim) -> Option<&'a str> {
    let named = |experiment: &str| {
        let rest = experiment.strip_prefix(claim.layout.as_str()).filter(|_| !claim.layout.is_empty());
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
    };
    if named(&claim.experiment) {
        return Some(&claim.experiment);
    }
    let others = rows.iter().filter(|row| row.source == claim.source && named(&row.experiment));
    let mut others: Vec<&str> = others.map(|row| row.experiment.as_str()).collect();
    others.sort_unstable();
    others.dedup();
    match others.as_slice() {
        [] => Some(&claim.experiment),
        [one] => Some(one),
        _ => None,
    }
}

/// Whether the layout of a setting has numbers of its own in its experiment: then the setting is that layout's alone.
fn is_measured(rows: &[Claim], setting: &Claim) -> bool {
    let same = |row: &Claim| {
        (&row.source, &row.experiment, &row.layout) == (&setting.source, &setting.experiment, &setting.layout)
    };
    let measured = |row: &Claim| ["iops", "throughput", "latency"].contains(&row.metric.as_str());
    !setting.layout.is_empty() && rows.iter().any(|row| measured(row) && same(row))
}

#[cfg(test)]
mod tests {
    use super::super::Doubt;
    use super::super::fixture::claim;
    use super::*;

    fn with(queue: Option<(u32, u32)>, rate: &str, latency: &str, more: Vec<Claim>) -> (usize, Vec<Doubt>) {
        let of = |claim: Claim| Claim { queue_depth: queue.map(|q| q.0), jobs: queue.map(|q| q.1), ..claim };
        let mut rows = vec![of(claim(2, "rr", "iops", "IOPS", rate)), of(claim(3, "rr", "latency", "ms", latency))];
        rows.extend(more);
        let found = little(&rows);
        (found.places, found.doubts)
    }

    #[test]
    fn what_the_law_allows_passes_with_the_rounding_of_the_latency() {
        assert!(with(Some((32, 8)), "256000", "1.0", vec![]).1.is_empty());
        // 300 in flight of 256 by the printed 0.4, which may be 0.35.
        assert!(with(Some((32, 8)), "720000", "0.4", vec![]).1.is_empty());
    }

    #[test]
    fn more_in_flight_than_asked_for_is_impossible() {
        let (_, doubts) = with(Some((1, 1)), "10000", "5.0", vec![]);
        assert_eq!((doubts[0].gravity, doubts[0].row, doubts[0].right.as_deref()), (Gravity::Wrong, 3, None));
        assert!(doubts[0].why.en.ends_with("the latency is at most 0.1 ms."), "{}", doubts[0].why.en);
        assert!(doubts[0].why.en.contains("need 50 I/Os in flight, but only 1"), "{}", doubts[0].why.en);
    }

    #[test]
    fn far_fewer_are_a_queue_that_was_not_filled() {
        let (_, doubts) = with(Some((32, 8)), "20000", "0.40", vec![]);
        assert_eq!((doubts[0].gravity, doubts[0].right.as_deref()), (Gravity::Warn, None));
    }

    #[test]
    fn a_number_that_is_quoted_has_the_depth_of_the_experiment_that_it_comes_from() {
        let of = |experiment: &str, layout: &str, claim: Claim| Claim {
            experiment: experiment.into(),
            layout: layout.into(),
            ..claim
        };
        let settings = |row, experiment, depth, jobs| {
            [claim(row, "rr", "fio_iodepth", "count", depth), claim(row + 1, "rr", "fio_numjobs", "count", jobs)]
                .map(|setting| of(experiment, "array", setting))
        };
        let mut rows: Vec<Claim> = settings(2, "kernel-4.19-array", "32", "8").into();
        rows.extend(settings(4, "kernel-5.4-array", "128", "16"));
        rows.push(of("kernel-5.4-array", "kernel-4.19", claim(6, "rr", "iops", "IOPS", "20000")));
        rows.push(of("kernel-5.4-array", "kernel-4.19", claim(7, "rr", "latency", "ms", "0.40")));
        let doubts = little(&rows).doubts;
        assert!(doubts[0].why.en.contains("where 256 were asked for"), "{}", doubts[0].why.en);
        assert_eq!(doubts[0].against, [6, 2, 3]);
        // 256 in flight are what was asked for there, and far fewer than the 2048 of the newer kernel.
        rows[5] = of("kernel-5.4-array", "kernel-4.19", claim(7, "rr", "latency", "ms", "12.8"));
        assert!(little(&rows).doubts.is_empty());
    }

    #[test]
    fn settings_of_one_system_are_not_told_of_another() {
        let mut rows = vec![
            claim(2, "rr", "iops", "IOPS", "20000"),
            claim(3, "rr", "latency", "ms", "0.40"),
            claim(4, "rr", "config_queue_depth", "count", "64"),
            claim(5, "rr", "config_jobs", "count", "2"),
        ];
        let old = |claim: Claim| Claim { layout: "old".into(), ..claim };
        rows.extend([old(claim(6, "rr", "iops", "IOPS", "20000")), old(claim(7, "rr", "latency", "ms", "0.40"))]);
        assert_eq!(little(&rows).doubts.iter().map(|doubt| doubt.row).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn settings_listed_for_the_test_are_used_and_named() {
        let settings = |metric: &str| {
            vec![
                claim(4, "rr", "fio_iodepth", "count", "64"),
                claim(5, "rr", metric, "count", "2"),
                claim(6, "", "config_luns", "count", "8"),
            ]
        };
        // 118,000/s at 8 ms are 944 in flight: 64 × 2 jobs × 8 LUNs.
        let (places, doubts) = with(None, "118000", "8", settings("fio_numjobs"));
        assert!(places == 1 && doubts.is_empty(), "{doubts:?}");
        let (_, doubts) = with(None, "118000", "8", settings("config_jobs"));
        assert_eq!((doubts[0].gravity, doubts[0].against.as_slice()), (Gravity::Wrong, &[2, 4, 5][..]));
        assert_eq!(with(None, "118000", "8", vec![]).0, 0, "nobody says how many");
    }

    #[test]
    fn a_throughput_will_do_where_the_block_size_is_known() {
        let mut rows = vec![
            claim(2, "seq-read-128k", "throughput", "MB/s", "2600"),
            claim(3, "seq-read-128k", "latency", "ms", "0.4"),
        ];
        rows.iter_mut().for_each(|row| (row.block_size, row.queue_depth, row.jobs) = (None, Some(32), Some(8)));
        let found = little(&rows);
        assert!(found.doubts[0].why.en.contains("make 7.93 I/Os in flight where 256"), "{}", found.doubts[0].why.en);
    }
}
