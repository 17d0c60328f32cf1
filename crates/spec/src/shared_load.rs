//! The load of a suite as one part of it for each of several hosts, where its numbers are those of all together. Pure.

use crate::keys;
use crate::load_hosts::LoadHosts;
use crate::prober::ProberKey;
use crate::rate::{Rate, Shape, Step};
use crate::search::Search;
use crate::suite::{JobsOf, StreamSpec, Suite};
use stend_base::{MilliIops, Say, say};

impl Suite {
    /// Gives each of so many hosts an equal part: of the I/Os in flight by fewer jobs or, where those cannot be divided, by a smaller queue
    /// depth, and of rates to a thousandth, those of probes included. The number in flight of an open loop is a bound, and is rounded up.
    /// Sizes and windows stay, and so do jobs that are counted by files.
    ///
    /// Fails with the case and why it cannot be divided; what is left then is no suite that could be asked for.
    pub fn shared_by(&mut self, hosts: u32) -> Result<(), Say> {
        for case in &mut self.cases {
            let name = case.name.clone();
            let of_case = |Say { en, ru }: Say| say!("case `{name}`: {en}", "случай `{name}`: {ru}");
            if case.load_hosts != LoadHosts::All {
                return Err(of_case(say!(
                    "with `load_hosts` numbers are those of each host",
                    "при `load_hosts` числа относятся к каждой машине"
                )));
            }
            probes(&mut case.prober, hosts).map_err(of_case)?;
            for stream in &mut case.streams {
                in_flight(stream, hosts).and_then(|()| rates(stream, hosts)).map_err(of_case)?;
                possible(stream, hosts).map_err(of_case)?;
            }
        }
        Ok(())
    }
}

fn probes(prober: &mut ProberKey, hosts: u32) -> Result<(), Say> {
    let ProberKey::At { rate, .. } = prober else { return Ok(()) };
    rate.0 /= u64::from(hosts);
    if keys::prober::RATE.hold(rate) {
        return Ok(());
    }
    Err(say!(
        "its probes are too few to be divided by {hosts} hosts: each makes at least one per second",
        "проб слишком мало, чтобы делить их на столько машин: {hosts}; у каждой не меньше одной в секунду"
    ))
}

fn in_flight(stream: &mut StreamSpec, hosts: u32) -> Result<(), Say> {
    let fits = |values: &[u32]| values.iter().all(|value| value.is_multiple_of(hosts));
    let StreamSpec { jobs, jobs_of, queue_depth, rate, search, .. } = stream;
    let part = |values: &mut Vec<u32>| values.iter_mut().for_each(|value| *value = value.div_ceil(hosts));
    // Each host has all files.
    let by_files = *jobs_of == JobsOf::Files;
    match () {
        () if !by_files && fits(jobs) => part(jobs),
        () if fits(queue_depth) || !rate.is_empty() || search.is_some() => part(queue_depth),
        () => {
            let listed = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let (jobs, depths) = (listed(jobs), listed(queue_depth));
            return Err(match by_files {
                true => say!(
                    "its jobs are counted by files, and its queue depth ({depths}) cannot be divided by {hosts} hosts",
                    "задания считаются по файлам, а глубина очереди ({depths}) не делится на число машин: {hosts}"
                ),
                false => say!(
                    "neither its jobs ({jobs}) nor its queue depth ({depths}) can be divided by {hosts} hosts",
                    "ни число заданий ({jobs}), ни глубина очереди ({depths}) не делится на число машин: {hosts}"
                ),
            });
        }
    }
    Ok(())
}

fn rates(stream: &mut StreamSpec, hosts: u32) -> Result<(), Say> {
    let searched = stream.search.as_mut().is_none_or(|search| {
        let Search { from, to, .. } = search;
        (from.0, to.0) = (from.0 / u64::from(hosts), to.0 / u64::from(hosts));
        keys::rate::RATE.hold(from) && from < to
    });
    if searched && stream.rate.iter_mut().all(|rate| divided(rate, hosts)) {
        return Ok(());
    }
    Err(say!(
        "a rate is too low to be divided by {hosts} hosts",
        "частота слишком мала, чтобы делить её на столько машин: {hosts}"
    ))
}

/// Refuses what the parser would refuse of the part of one host.
fn possible(stream: &StreamSpec, hosts: u32) -> Result<(), Say> {
    let StreamSpec { jobs, queue_depth, rate, batch, .. } = stream;
    if let Some(depth) = queue_depth.iter().find(|depth| **depth < batch.size) {
        let size = batch.size;
        return Err(say!(
            "a batch of {size} never fills with {depth} I/Os in flight on each of {hosts} hosts",
            "пачка из {size} никогда не наберётся при глубине очереди {depth} на каждой машине; всего машин: {hosts}"
        ));
    }
    if has_twice(jobs) || has_twice(queue_depth) || has_twice(rate) {
        return Err(say!(
            "two values of an axis are the same on each of {hosts} hosts",
            "два значения оси на каждой машине совпадают; всего машин: {hosts}"
        ));
    }
    Ok(())
}

fn has_twice<T: PartialEq>(values: &[T]) -> bool {
    (1..).zip(values).any(|(next, value)| values[next..].contains(value))
}

/// Whether nothing of it became zero that was not.
fn divided(rate: &mut Rate, hosts: u32) -> bool {
    let part = |rate: &mut MilliIops| {
        let whole = rate.0;
        rate.0 /= u64::from(hosts);
        whole == 0 || rate.0 > 0
    };
    rate.steps.iter_mut().all(|Step { rate, shape, .. }| {
        part(rate)
            && match shape {
                Shape::Jump | Shape::Ramp => true,
                Shape::Sine { amplitude, .. } => part(amplitude),
                Shape::Burst { rate, .. } => part(rate),
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prober::ProberKey;

    /// Jobs, queue depths and rates of a stream.
    type Load = (Vec<u32>, Vec<u32>, Vec<String>);

    /// Those of the first stream of such a case for each of so many hosts.
    fn of(inside: &str, hosts: u32) -> Result<Load, Say> {
        let text = format!(
            "suite: s\ncases:\n  - name: a\n    streams: [{{op: read, pattern: random, block_size: 4KiB, {inside}}}]\n"
        );
        let mut suite = crate::parse::suite(&text, "s.yaml").expect("a suite");
        suite.shared_by(hosts)?;
        let stream = &suite.cases[0].streams[0];
        Ok((stream.jobs.clone(), stream.queue_depth.clone(), stream.rate.iter().map(Rate::label).collect()))
    }

    #[test]
    fn jobs_are_divided_and_where_they_cannot_be_the_queue_depth_is() {
        assert_eq!(of("jobs: [4, 8], queue_depth: 3", 4), Ok((vec![1, 2], vec![3], vec![])));
        assert_eq!(of("jobs: [1, 8], queue_depth: [16, 32]", 4), Ok((vec![1, 8], vec![4, 8], vec![])));
        let why = of("jobs: 1, queue_depth: [1, 8]", 2).unwrap_err();
        assert_eq!(why.en, "case `a`: neither its jobs (1) nor its queue depth (1, 8) can be divided by 2 hosts");
    }

    #[test]
    fn a_part_that_no_suite_could_ask_for_is_refused() {
        let batch = of("queue_depth: 8, batch: {size: 4}", 4).unwrap_err().en;
        assert!(batch.contains("a batch of 4 never fills with 2 I/Os in flight on each of 4 hosts"), "{batch}");
        let depths = of("queue_depth: [63, 64], rate: 100/s", 2).unwrap_err().en;
        assert!(depths.contains("two values of an axis are the same on each of 2 hosts"), "{depths}");
        let rates = of("queue_depth: 8, rate: [0.003/s, 0.002/s]", 2).unwrap_err().en;
        assert!(rates.contains("two values of an axis are the same on each of 2 hosts"), "{rates}");
        of("queue_depth: [8, 16], batch: {size: 4}", 2).unwrap();
    }

    #[test]
    fn jobs_of_each_file_stay_and_the_depth_is_divided() {
        let text = "suite: s\nfiles: {count: 4}\ncases:\n  - {name: a, streams: [{op: read, pattern: random, \
                    block_size: 4KiB, jobs: {per_file: 1}, queue_depth: 8}]}\n";
        let mut suite = crate::parse::suite(text, "s.yaml").unwrap();
        suite.shared_by(4).unwrap();
        let stream = &suite.cases[0].streams[0];
        assert_eq!((stream.jobs.as_slice(), stream.queue_depth.as_slice()), (&[4][..], &[2][..]));
    }

    #[test]
    fn probes_are_divided_like_the_load() {
        let of = |rate: &str, prober: &str, hosts| {
            let text = format!(
                "suite: s\ncases:\n  - {{name: a, prober: {prober}, streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: 8, rate: {rate}}}]}}\n"
            );
            let mut suite = crate::parse::suite(&text, "s.yaml").unwrap();
            suite.shared_by(hosts).map(|()| suite.cases.remove(0)).map_err(|why| why.en)
        };
        let probes = |hosts| of("100/s", "{rate: 100/s}", hosts).map(|case| case.prober);
        assert_eq!(probes(4), Ok(ProberKey::At { rate: MilliIops::per_second(25), op: None }));
        assert!(probes(128).unwrap_err().contains("probes"), "0.78/s is below what a suite can ask for");
    }

    #[test]
    fn the_rates_of_a_search_are_divided_and_what_is_left_of_them_can_be_searched() {
        let of = |from: &str, to: &str, hosts| {
            let text = format!(
                "suite: s\ncases:\n  - {{name: a, streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: 9, \
                 rate: {{search: {{from: {from}/s, to: {to}/s, quantile: 99%, limit: 5ms}}}}}}]}}\n"
            );
            let mut suite = crate::parse::suite(&text, "s.yaml").unwrap();
            suite.shared_by(hosts).map_err(|why| why.en)?;
            let stream = suite.cases.remove(0).streams.remove(0);
            let search = stream.search.unwrap();
            Ok::<_, String>((search.from, search.to, stream.queue_depth))
        };
        let each = |rate| MilliIops::per_second(rate);
        assert_eq!(of("1000", "16000", 4), Ok((each(250), each(4000), vec![3])));
        assert!(of("0.002", "10", 4).unwrap_err().contains("too low"), "nothing is left of the lowest rate");
        assert!(of("0.004", "0.005", 4).unwrap_err().contains("too low"), "both ends are the same");
    }

    #[test]
    fn rates_are_divided_to_a_thousandth_and_the_bound_of_an_open_loop_is_rounded_up() {
        let (jobs, depths, rates) = of("jobs: 1, queue_depth: 64, rate: [10000/s, 900/s]", 3).unwrap();
        assert_eq!((jobs, depths), (vec![1], vec![22]));
        assert_eq!(rates, ["3333.333/s", "300/s"]);
        assert!(of("rate: 0.001/s, queue_depth: 2", 2).unwrap_err().en.contains("too low"));
    }
}
