//! What the log of every I/O cannot hold. Pure; the layout of a record is in `record`.

use crate::suite::SuiteCase;
use crate::workload::Trial;
use stend_base::{Bytes, Error, Result, say};

/// Most sizes of I/Os of a stream that a record tells apart.
pub const SIZES_MAX: usize = 16;
/// First byte that no record can name: 1 PiB.
pub const OFFSET_LIMIT: Bytes = Bytes(1 << 50);

/// Refuses a logged case whose I/Os a record could not place.
pub fn check(case: &SuiteCase, trial: &Trial) -> Result<()> {
    let end = trial.region.start.0.saturating_add(trial.region.len.0);
    if trial.io_log.is_none() || end <= OFFSET_LIMIT.0 {
        return Ok(());
    }
    let name = &case.name;
    Err(Error::preflight(say!(
        "case `{name}`: `io_log` cannot record offsets beyond 1 PiB, but the target is larger",
        "случай `{name}`: `io_log` не может записать смещения дальше 1 ПиБ, а объект больше"
    ))
    .hint(say!("leave out `io_log`", "уберите `io_log`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Mix, Pattern, Region, Stream};
    use stend_base::Kind;
    use stend_base::Nanos;

    #[test]
    fn a_target_beyond_the_reach_of_a_record_is_refused_with_a_log_only() {
        let stream = Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4));
        let text = "suite: x\ncases:\n  - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n";
        let case = &crate::parse::suite(text, "s.yaml").unwrap().cases[0];
        let kind = |len: u64, io_log| {
            let region = Region { start: Bytes(0), len: Bytes(len) };
            let trial = Trial { io_log, ..Trial::new(vec![stream.clone()], Nanos::SECOND, region) };
            check(case, &trial).map_err(|error| error.kind)
        };
        let log = Some(Bytes::mib(1));
        assert_eq!(kind(OFFSET_LIMIT.0, log), Ok(()));
        assert_eq!(kind(OFFSET_LIMIT.0 + 4096, log), Err(Kind::Preflight));
        assert_eq!(kind(OFFSET_LIMIT.0 + 4096, None), Ok(()));
    }
}
