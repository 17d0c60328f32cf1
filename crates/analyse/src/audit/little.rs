//! H02: I/Os in flight are rate times latency (Little's law). More than were asked for cannot be; far fewer were not
//! there, or the latency is of something else.

use super::{Found, Gravity, Group, doubt, groups, times};
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
        let why = both(|lang| {
            let text = match gravity {
                Gravity::Wrong => pick(
                    lang,
                    "This rate and this latency need {n} I/Os in flight, but only {d} were asked for: one of the three is wrong.",
                    "При такой частоте и такой задержке в полёте {n} операций, а запрошено лишь {d}: одно из трёх чисел неверно.",
                ),
                Gravity::Warn => pick(
                    lang,
                    "This rate and this latency make {n} I/Os in flight where {d} were asked for: the queue was not filled, or the latency is not that of the whole I/O.",
                    "Такая частота и такая задержка дают {n} операций в полёте, а запрошено {d}: очередь не была заполнена, или это задержка не всей операции.",
                ),
            };
            text.replace("{n}", &times(flying, lang)).replace("{d}", &format::count(depth as u64))
        });
        let against: Vec<&Claim> = [from].into_iter().chain(asked.by).filter(|c| c.row != latency.claim.row).collect();
        let found = doubt("H02", gravity, latency.claim, &against, why);
        // Where the queue may not have been filled, nothing says that the latency is what is wrong.
        doubts.push(if gravity == Gravity::Wrong { found.right(latency.claim, depth / rate) } else { found });
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

/// What a test keeps in flight: by its own columns, else by the settings that the experiment lists for it. Sections of a fio
/// job file stand for a LUN each.
fn asked<'a>(rows: &'a [Claim], claim: &'a Claim) -> Option<Asked<'a>> {
    if let (Some(depth), Some(jobs)) = (claim.queue_depth, claim.jobs) {
        return Some(Asked { depth: f64::from(depth) * f64::from(jobs), by: Vec::new() });
    }
    let setting = |names: &[&str], test: &str| {
        rows.iter().find(|row| {
            (&row.source, &row.experiment) == (&claim.source, &claim.experiment)
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
        assert_eq!((doubts[0].gravity, doubts[0].row, doubts[0].right.as_deref()), (Gravity::Wrong, 3, Some("0.1 ms")));
        assert!(doubts[0].why.en.contains("need 50 I/Os in flight, but only 1"), "{}", doubts[0].why.en);
    }

    #[test]
    fn far_fewer_are_a_queue_that_was_not_filled() {
        let (_, doubts) = with(Some((32, 8)), "20000", "0.40", vec![]);
        assert_eq!((doubts[0].gravity, doubts[0].right.as_deref()), (Gravity::Warn, None));
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
