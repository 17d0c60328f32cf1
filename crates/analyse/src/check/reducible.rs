//! H17: could storage make the data smaller than they are, and so faster?

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::forewarn::compresses;
use crate::limits::{COMPRESSIBLE, REPEATED};
use crate::phrase::data as data_in_words;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say};
use stend_record::{RunRecord, ZeroSample};
use stend_spec::workload::{Data, Op, Stream};

/// Bytes of a sampled block.
const BLOCK: f64 = 4096.0;

/// H17: what is read does not compress and does not repeat, and what is written is incompressible.
pub fn reducible(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H17,
        limit: say!(
            |l| "ratio ≤ {c}, repeated ≤ {r}",
            "сжатие ≤ {c}, повторов ≤ {r}",
            c = format::fixed(COMPRESSIBLE, 2, l),
            r = format::percent(REPEATED, l)
        ),
    };
    let streams = &case.asked.streams;
    if streams.iter().all(|stream| Op::TRANSFERS.iter().all(|op| stream.mix.share(*op) == 0)) {
        return check.not_applicable(super::drives::moves_no_data());
    }
    let writes = |stream: &&Stream| stream.mix.share(Op::Write) > 0 && stream.data != Data::default();
    if let Some(stream) = streams.iter().find(writes) {
        let declared = Say::both(|l| data_in_words(stream.data, l).trim_start_matches(", ").to_string());
        return reduced(run, check, declared);
    }
    if streams.iter().all(|stream| !stream.mix.reads()) {
        return check.pass(say!("writes incompressible data", "пишутся несжимаемые данные"));
    }
    let looked = run.load().zeros.and_then(|zeros| Some((ratio(&zeros)?, zeros.contents?.repeated, zeros.sampled)));
    let Some((ratio, repeated, sampled)) = looked else {
        return check.not_measurable(say!("no blocks were examined", "содержимое блоков не проверялось"));
    };
    let share = f64::from(repeated) / f64::from(sampled.max(1));
    let measured = say!(
        |l| "zstd {c} : 1, repeated {r}",
        "zstd {c} : 1, повторов {r}",
        c = format::near_limit::fixed(ratio, COMPRESSIBLE, 2, l),
        r = format::near_limit::percent(share, REPEATED, l)
    );
    match ratio <= COMPRESSIBLE && share <= REPEATED {
        true => check.pass(measured),
        false => reduced(run, check, measured),
    }
}

/// Bytes of the blocks that are not zeros over what they take compressed; `None` if there are none.
fn ratio(zeros: &ZeroSample) -> Option<f64> {
    let bytes = f64::from(zeros.sampled.checked_sub(zeros.zero)?) * BLOCK;
    let compressed = zeros.contents?.compressed.0 as f64;
    (bytes > 0.0 && compressed > 0.0).then(|| bytes / compressed)
}

/// Reducible data, above a layer that reduces or above one of which nobody knows.
fn reduced(run: &RunRecord, check: Check, measured: Say) -> CheckResult {
    let reduces = run.load().targets.iter().any(|target| {
        let options = target.mount_options.iter().flat_map(|options| options.split(','));
        options.into_iter().any(compresses) || target.devices.iter().any(|device| device.kind == "vdo")
    });
    match reduces {
        true => check.measured(measured).fail(say!(
            "A lower layer reduces these data, so fewer bytes reached the drives than were counted. Measure with incompressible data as well, and publish both with their ratio.",
            "Слой ниже уменьшает эти данные, и до накопителей дошло меньше байт, чем посчитано. Измерьте и с несжимаемыми данными и публикуйте оба числа с коэффициентом."
        )),
        false => check.measured(measured).warn(say!(
            "Arrays, hypervisors and some drives silently reduce such data, and then this is not the rate of the medium. Fill the range with incompressible data, or publish the ratio with the number.",
            "Массивы, гипервизоры и некоторые накопители уменьшают такие данные, не сообщая об этом, и тогда это не скорость носителя. Заполните область несжимаемыми данными или публикуйте коэффициент вместе с числом."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run, run_of};
    use crate::trials::by_case;
    use stend_base::Bytes;
    use stend_record::Contents;
    use stend_spec::workload::Sync;

    /// With so many bytes of 1000 blocks left after compression, so many of them repeated.
    fn of(left: u64, repeated: u32, options: Option<&str>) -> CheckResult {
        let mut record = run().trial(0).done().record();
        let contents = Some(Contents { compressed: Bytes(left), repeated });
        record.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero: 0, contents });
        record.load_mut().targets[0].mount_options = options.map(String::from);
        reducible(&record, &by_case(&record)[0])
    }

    #[test]
    fn random_data_pass_and_what_compresses_or_repeats_does_not() {
        let found = of(4_096_000, 10, None);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "zstd 1.00 : 1, repeated 1.0 %"));
        assert_eq!(of(3_800_000, 0, None).status, CheckStatus::Warn);
        assert_eq!(of(4_096_000, 11, None).status, CheckStatus::Warn);
        assert_eq!(of(2_048_000, 0, Some("rw,compress=zstd:3")).status, CheckStatus::Fail, "a layer that is known to");
        assert_eq!(of(4_096_000, 0, Some("rw,compress=zstd:3")).status, CheckStatus::Pass);
    }

    #[test]
    fn declared_ratios_are_told_and_incompressible_writes_pass_without_a_sample() {
        let written = |data: Data| {
            let mut suite = case("write", 0, 8, Sync::None);
            suite.streams[0].data = data;
            let mut record = run_of(vec![suite]).trial(0).done().record();
            record.load_mut().zeros = None;
            reducible(&record, &by_case(&record)[0]).status
        };
        let half = Data { compress_thousandths: 2000, ..Data::default() };
        assert_eq!((written(Data::default()), written(half)), (CheckStatus::Pass, CheckStatus::Warn));
    }

    #[test]
    fn reads_of_what_nobody_looked_into_are_not_measurable() {
        let mut record = run().trial(0).done().record();
        record.load_mut().zeros = None;
        assert_eq!(reducible(&record, &by_case(&record)[0]).status, CheckStatus::NotMeasurable);
    }
}
