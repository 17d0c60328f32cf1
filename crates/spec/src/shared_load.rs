//! The load of a suite as one part of it for each of several hosts, where its numbers are those of all together. Pure.

use crate::load_hosts::LoadHosts;
use crate::rate::{Rate, Shape, Step};
use crate::suite::{StreamSpec, Suite};
use stend_base::{MilliIops, Say, say};

impl Suite {
    /// Gives each of so many hosts an equal part: of the I/Os in flight by fewer jobs or, where those cannot be divided, by a smaller queue
    /// depth, and of rates to a thousandth. The number in flight of an open loop is a bound, and is rounded up. Sizes and windows stay.
    ///
    /// Fails with the case and why it cannot be divided.
    pub fn shared_by(&mut self, hosts: u32) -> Result<(), Say> {
        for case in &mut self.cases {
            let name = &case.name;
            if case.load_hosts != LoadHosts::All {
                return Err(say!(
                    "case `{name}`: with `load_hosts` numbers are those of each host",
                    "случай `{name}`: при `load_hosts` числа относятся к каждой машине"
                ));
            }
            for stream in &mut case.streams {
                in_flight(stream, hosts)
                    .map_err(|Say { en, ru }| say!("case `{name}`: {en}", "случай `{name}`: {ru}"))?;
                if !stream.rate.iter_mut().all(|rate| divided(rate, hosts)) {
                    return Err(say!(
                        "case `{name}`: a rate is too low to be divided by {hosts} hosts",
                        "случай `{name}`: частота слишком мала, чтобы делить её на столько машин: {hosts}"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn in_flight(stream: &mut StreamSpec, hosts: u32) -> Result<(), Say> {
    let fits = |values: &[u32]| values.iter().all(|value| value.is_multiple_of(hosts));
    let StreamSpec { jobs, queue_depth, rate, .. } = stream;
    let part = |values: &mut Vec<u32>| values.iter_mut().for_each(|value| *value = value.div_ceil(hosts));
    match () {
        () if fits(jobs) => part(jobs),
        () if fits(queue_depth) || !rate.is_empty() => part(queue_depth),
        () => {
            let listed = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let (jobs, depths) = (listed(jobs), listed(queue_depth));
            return Err(say!(
                "neither its jobs ({jobs}) nor its queue depth ({depths}) can be divided by {hosts} hosts",
                "ни число заданий ({jobs}), ни глубина очереди ({depths}) не делится на число машин: {hosts}"
            ));
        }
    }
    Ok(())
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
    fn rates_are_divided_to_a_thousandth_and_the_bound_of_an_open_loop_is_rounded_up() {
        let (jobs, depths, rates) = of("jobs: 1, queue_depth: 64, rate: [10000/s, 900/s]", 3).unwrap();
        assert_eq!((jobs, depths), (vec![1], vec![22]));
        assert_eq!(rates, ["3333.333/s", "300/s"]);
        assert!(of("rate: 0.001/s, queue_depth: 2", 2).unwrap_err().en.contains("too low"));
    }
}
