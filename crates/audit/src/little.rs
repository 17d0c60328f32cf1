//! H02: I/Os in flight are rate times latency (Little's law). More than were asked for cannot be; far fewer were not
//! there, or the latency is of something else.

use super::direction::is_mixed;
use super::settings::Settings;
use super::{Found, Severity, as_printed, doubt, groups, times};
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{IN_FLIGHT_IMPOSSIBLE, IN_FLIGHT_REACHED};
use stend_base::{Say, format, say_in};
use stend_record::published::Claim;

pub(super) fn little(rows: &[Claim], settings: &Settings<'_>) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for group in groups(rows) {
        let Some((rate, half, from)) = group.in_iops() else { continue };
        let Some(latency) = group.latency.filter(|latency| latency.value > 0.0) else { continue };
        let Some(asked) = settings.asked(latency.claim) else { continue };
        places += 1;
        let share = rate * latency.value / asked.depth;
        let rounding = half / rate + latency.half / latency.value;
        let severity = match share {
            _ if share * (1.0 - rounding) > IN_FLIGHT_IMPOSSIBLE => Severity::Wrong,
            // Rate and latency of one side of a mixture are not the whole queue.
            _ if share * (1.0 + rounding) < IN_FLIGHT_REACHED && !is_mixed(latency.claim) => Severity::Warn,
            _ => continue,
        };
        let (flying, depth) = (rate * latency.value, asked.depth);
        let most = as_printed(latency.claim, depth / rate).unwrap_or_default();
        let why = Say::both(|lang| {
            let unit = match thousands(share) {
                Some(true) => lang.pick(
                    " In a unit 1000 times smaller the latency would fit.",
                    " В единице, которая в 1000 раз мельче, задержка подошла бы.",
                ),
                Some(false) => lang.pick(
                    " In a unit 1000 times larger the latency would fit.",
                    " В единице, которая в 1000 раз крупнее, задержка подошла бы.",
                ),
                None => "",
            };
            let (flying, depth) = (times(flying, lang), format::count(depth as u64));
            match severity {
                Severity::Wrong => say_in!(
                    lang,
                    "At this rate and latency {flying} I/Os are in flight on average, but only {depth} were asked for: one of the three numbers is wrong. If rate and depth are right, the latency is at most {most}.{unit}",
                    "При таких IOPS и задержке в очереди в среднем {flying}, а запрошено только {depth}: одно из трёх чисел неверно. Если верны IOPS и глубина очереди, задержка не больше {most}.{unit}"
                ),
                Severity::Warn => say_in!(
                    lang,
                    "At this rate and latency {flying} I/Os are in flight on average, but {depth} were asked for. Either the queue was not filled, or this is not the latency of the whole I/O.{unit}",
                    "При таких IOPS и задержке в очереди в среднем {flying}, а запрошено {depth}. Либо очередь не была заполнена, либо это задержка не всей операции.{unit}"
                ),
            }
        });
        let against: Vec<&Claim> = [from].into_iter().chain(asked.by).filter(|c| c.row != latency.claim.row).collect();
        // Nothing says that the latency is what is wrong, so no right one is given.
        doubts.push(doubt(CheckId::H02, severity, latency.claim, &against, why));
    }
    Found::new(CheckId::H02, places, doubts)
}

/// Whether the queue would be full if the latency were in a unit 1000 times smaller (`true`) or larger.
fn thousands(share: f64) -> Option<bool> {
    let full = |share: f64| (IN_FLIGHT_REACHED..=IN_FLIGHT_IMPOSSIBLE).contains(&share);
    full(share / 1000.0).then_some(true).or(full(share * 1000.0).then_some(false))
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
        let found = little(&rows, &Settings::new(&rows));
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
        assert_eq!((doubts[0].severity, doubts[0].row, doubts[0].right.as_deref()), (Severity::Wrong, 3, None));
        assert!(doubts[0].why.en.ends_with("the latency is at most 0.1 ms."), "{}", doubts[0].why.en);
        assert!(doubts[0].why.en.contains("50 I/Os are in flight on average, but only 1 were"), "{}", doubts[0].why.en);
    }

    #[test]
    fn a_latency_in_the_wrong_unit_is_named() {
        // 256 in flight at 25,600 a second are 10 ms.
        let why = |latency: &str| with(Some((32, 8)), "25600", latency, vec![]).1[0].why.en.clone();
        assert!(why("10000.0").ends_with("1000 times smaller the latency would fit."), "{}", why("10000.0"));
        assert!(why("0.0100").ends_with("1000 times larger the latency would fit."), "{}", why("0.0100"));
        assert!(!why("20.0").contains("1000 times"));
    }

    #[test]
    fn far_fewer_are_a_queue_that_was_not_filled() {
        let (_, doubts) = with(Some((32, 8)), "20000", "0.40", vec![]);
        assert_eq!((doubts[0].severity, doubts[0].right.as_deref()), (Severity::Warn, None));
    }

    #[test]
    fn one_side_of_a_mixture_need_not_fill_the_queue() {
        let of = |row: Claim| Claim { test: "mixed".into(), queue_depth: Some(32), jobs: Some(8), ..row };
        let rows = [claim(2, "", "iops", "IOPS", "20000"), claim(3, "", "latency", "ms", "0.40")].map(of);
        let found = little(&rows, &Settings::new(&rows));
        assert_eq!((found.places, found.doubts.len()), (1, 0));
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
        let doubts = little(&rows, &Settings::new(&rows)).doubts;
        assert!(doubts[0].why.en.contains("but 256 were asked for"), "{}", doubts[0].why.en);
        assert_eq!(doubts[0].against, [6, 2, 3]);
        // 256 in flight are what was asked for there, and far fewer than the 2048 of the newer kernel.
        rows[5] = of("kernel-5.4-array", "kernel-4.19", claim(7, "rr", "latency", "ms", "12.8"));
        assert!(little(&rows, &Settings::new(&rows)).doubts.is_empty());
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
        assert_eq!(little(&rows, &Settings::new(&rows)).doubts.iter().map(|doubt| doubt.row).collect::<Vec<_>>(), [3]);
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
        assert_eq!((doubts[0].severity, doubts[0].against.as_slice()), (Severity::Wrong, &[2, 4, 5][..]));
        assert_eq!(with(None, "118000", "8", vec![]).0, 0, "nobody says how many");
    }

    #[test]
    fn a_throughput_will_do_where_the_block_size_is_known() {
        let mut rows = vec![
            claim(2, "seq-read-128k", "throughput", "MB/s", "2600"),
            claim(3, "seq-read-128k", "latency", "ms", "0.4"),
        ];
        rows.iter_mut().for_each(|row| (row.block_size, row.queue_depth, row.jobs) = (None, Some(32), Some(8)));
        let found = little(&rows, &Settings::new(&rows));
        assert!(
            found.doubts[0].why.en.contains("7.93 I/Os are in flight on average, but 256"),
            "{}",
            found.doubts[0].why.en
        );
    }
}
