//! A load in options of fio 3.33, in one place: for job files that are exported, for the job files when fio measures instead of Stend, and
//! for results in fio's form. Pure; says nothing of targets, times and logs, which each of these has of its own.
//!
//! Source: fio 3.33, HOWTO.rst, "Parameters list".

use crate::external::per_job;
use crate::pattern::{Pattern, Zone};
use crate::rate::Gaps;
use crate::workload::{Batch, BlockShare, Data, Mix, Stream, Submit, Sync};
use stend_base::{Bytes, Millionths, Say, say};

/// fio repeats its compressible pattern in pieces of this size; ours are 4 KiB, too.
const COMPRESS_CHUNK: u64 = 4096;

/// Name and value of each option, in the order in which they are written.
pub type Options = Vec<(&'static str, String)>;

/// The order of offsets besides `rw`, or why fio has none like it.
pub fn order(pattern: &Pattern) -> Result<Options, Say> {
    let unknown = |key: &str| Err(say!("fio has no equivalent of `{key}`", "в fio нет соответствия для `{key}`"));
    let distribution = |value: String| Ok(vec![("random_distribution", value)]);
    match pattern {
        Pattern::Sequential | Pattern::Random => Ok(Vec::new()),
        Pattern::Uniform => Ok(vec![("norandommap", "1".into())]),
        // fio: "zipf theta must different than 1.0".
        Pattern::Zipf { theta_thousandths: 1000 } => {
            Err(say!("fio refuses `zipf` with a `theta` of exactly 1", "fio отвергает `zipf` с `theta` ровно 1"))
        }
        Pattern::Zipf { theta_thousandths } => distribution(format!("zipf:{}", f64::from(*theta_thousandths) / 1e3)),
        Pattern::Pareto { hot } => distribution(format!("pareto:{}", f64::from(hot.0) / 1e6)),
        Pattern::Normal { deviation } => distribution(format!("normal:{}", f64::from(deviation.0) / 1e4)),
        Pattern::Zones(zones) => {
            let one = |z: &Zone| Some(format!("{}/{}", percent(z.accesses)?, percent(z.space)?));
            match zones.iter().map(one).collect::<Option<Vec<String>>>() {
                Some(zones) => distribution(format!("zoned:{}", zones.join(":"))),
                None => unknown("zones of parts of a percent"),
            }
        }
        Pattern::Mixed { sequential } => match percent(sequential.rest()) {
            Some(random) => Ok(vec![("norandommap", "1".into()), ("percentage_random", random.to_string())]),
            None => unknown("parts of a percent"),
        },
        Pattern::SharedSequential => unknown("shared_sequential"),
        Pattern::Append => unknown("append"),
        Pattern::Reverse => unknown("reverse"),
        Pattern::Strided { .. } => unknown("strided"),
        Pattern::Traced => unknown("trace"),
    }
}

/// A share as whole percent, if it is.
pub fn percent(share: Millionths) -> Option<u32> {
    share.0.is_multiple_of(10_000).then_some(share.0 / 10_000)
}

/// Sizes and their shares, as `bssplit` has them.
pub fn shares(mix: &[BlockShare], size: impl Fn(Bytes) -> String) -> String {
    mix.iter().map(|share| format!("{}/{}", size(share.size), share.percent)).collect::<Vec<_>>().join(":")
}

/// When writes are durable; nothing where fio has no word for it.
pub fn sync(sync: Sync) -> Option<(&'static str, String)> {
    match sync {
        Sync::Fdatasync(n) => Some(("fdatasync", n.to_string())),
        Sync::Fsync(n) => Some(("fsync", n.to_string())),
        Sync::ODsync => Some(("sync", "dsync".into())),
        Sync::None | Sync::Dsync | Sync::SyncFileRange(_) => None,
    }
}

/// I/Os per second of each job: of reads, writes, and of discards where there is nothing else; a kind without a rate is empty, because
/// 0 would be one. `None`: there is no rate, it is not whole, or it changes.
pub fn rate(stream: &Stream) -> Option<Options> {
    let gaps = stream.rate.as_ref()?.gaps;
    let shown = |rate: u64| if rate > 0 { rate.to_string() } else { String::new() };
    let numbers = if stream.mix.discard == 100 {
        let [rate, _] = per_job(&Stream { mix: Mix::of_reads(100), ..stream.clone() })?;
        format!(",,{rate}")
    } else {
        let [reads, writes] = per_job(stream).filter(|[reads, writes]| reads + writes > 0)?;
        format!("{},{}", shown(reads), shown(writes))
    };
    let mut out = vec![("rate_iops", numbers)];
    out.extend((gaps == Gaps::Poisson).then(|| ("rate_process", "poisson".to_string())));
    Some(out)
}

/// How many I/Os are handed over at a time; at this depth.
pub fn batch(batch: Batch, submit: Submit, depth: u32) -> Options {
    let submitted = match submit {
        Submit::Each => 1,
        Submit::Batch => depth,
        Submit::Auto => batch.size,
    };
    let numbers = [("iodepth_batch_submit", submitted), ("iodepth_batch_complete_min", batch.size)];
    numbers.into_iter().filter(|(_, number)| *number > 1).map(|(name, number)| (name, number.to_string())).collect()
}

/// What is written, `least` being the smallest block: a piece of the pattern must fit into it.
pub fn contents(data: Data, least: Bytes) -> Options {
    if data.compress_thousandths == Data::default().compress_thousandths {
        return Vec::new();
    }
    let percent = 100 - (100_000 / u64::from(data.compress_thousandths.max(1))).min(100);
    let chunk = COMPRESS_CHUNK.min(least.0);
    vec![("buffer_compress_percentage", percent.to_string()), ("buffer_compress_chunk", chunk.to_string())]
}

/// Each job on one CPU of these.
pub fn cpus(cpus: &[u32]) -> Options {
    if cpus.is_empty() {
        return Vec::new();
    }
    let list = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    vec![("cpus_allowed", list), ("cpus_allowed_policy", "split".into())]
}

/// As lines of a job file.
pub fn lines(options: impl IntoIterator<Item = (&'static str, String)>) -> impl Iterator<Item = String> {
    options.into_iter().map(|(name, value)| format!("{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_compressible_data_fits_into_the_smallest_block() {
        let told = |compress_thousandths, least| {
            let data = Data { compress_thousandths, ..Data::default() };
            lines(contents(data, Bytes(least))).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(2500, 1 << 20), "buffer_compress_percentage=60 buffer_compress_chunk=4096");
        assert_eq!(told(2000, 512), "buffer_compress_percentage=50 buffer_compress_chunk=512");
        assert_eq!(told(1000, 512), "");
    }

    #[test]
    fn orders_that_fio_has_no_words_for_are_refused_by_name() {
        let normal = Pattern::Normal { deviation: Millionths::percent(10) };
        assert_eq!(lines(order(&normal).unwrap()).collect::<Vec<_>>(), ["random_distribution=normal:10"]);
        let zone = |space| Zone { accesses: Millionths::percent(50), space };
        let whole = Pattern::Zones(vec![zone(Millionths::percent(10)), zone(Millionths::percent(90))]);
        assert_eq!(order(&whole).unwrap(), [("random_distribution", "zoned:50/10:50/90".to_string())]);
        for (pattern, word) in [
            (Pattern::Reverse, "`reverse`"),
            (Pattern::Zones(vec![zone(Millionths(5_000))]), "parts of a percent"),
            (Pattern::Zipf { theta_thousandths: 1000 }, "exactly 1"),
        ] {
            let said = order(&pattern).unwrap_err();
            assert!(said.en.contains(word), "{}", said.en);
        }
    }
}
