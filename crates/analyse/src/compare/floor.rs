//! A/A floor: how far a configuration is from itself. What differs by less is noise of this stand, whatever its
//! interval says (method S5, H72).

use super::{Comparison, Doubt, Floor, Metric, Noise};
use crate::findings::{CheckId, CheckResult, CheckStatus};
use stend_base::{Lang, Say, format, say, say_in};
use stend_stats::{paired, quotient};

/// Fewer distances are no floor: as with blocks, six are the least that say anything at 5 %.
const DISTANCES_MIN: usize = 6;

/// The floor from comparisons of a configuration with itself.
pub(super) fn of_itself(comparisons: &[Comparison], from: Vec<String>) -> Option<Floor> {
    let noise = |rates: bool| {
        let cells = comparisons.iter().flat_map(Comparison::cells);
        let cells = cells.filter(|cell| (cell.metric == Metric::Rate) == rates).map(|cell| cell.ratio);
        let distances: Vec<f64> = cells
            .filter(|ratio| !matches!(ratio.judged.doubt, Some(Doubt::Failed(_) | Doubt::OtherWorkload)))
            .filter_map(|ratio| ratio.by_block.as_ref())
            .flat_map(|cell| quotient::effects(&cell.baseline, &cell.other))
            .collect();
        let share = paired::floor(&distances).filter(|_| distances.len() >= DISTANCES_MIN)?;
        Some(Noise { share, distances: distances.len() as u32 })
    };
    let floor = Floor { rate: noise(true), latency: noise(false), from };
    (floor.rate.is_some() || floor.latency.is_some()).then_some(floor)
}

/// H72: whether what is called different is more than a configuration differs from itself.
pub(super) fn check(comparison: &Comparison) -> CheckResult {
    let result = |status, measured, limit, meaning| CheckResult::new(CheckId::H72, status, measured, limit, meaning);
    let Some(floor) = &comparison.floor else {
        return result(
            CheckStatus::NotMeasurable,
            say!("there is no repeat of the baseline", "нет повтора базы"),
            say!("two arms or runs of one configuration", "два варианта или прогона одной конфигурации"),
            say!(
                "There is no repeat of the baseline, so its noise is unknown. Give the suite a second arm without a switch, or name a repeat: `--floor RUN`.",
                "Повтора базы нет, поэтому её шум неизвестен. Добавьте в набор второй вариант без переключения или укажите повтор: `--floor ПРОГОН`."
            ),
        );
    };
    let inside = comparison.cells().filter(|cell| cell.ratio.judged.doubt == Some(Doubt::InsideFloor)).count();
    let limit = Say::both(|lang| words(floor, lang));
    let measured = say!("differences within the noise: {inside}", "различий в пределах шума: {inside}");
    match inside {
        0 => result(CheckStatus::Pass, measured, limit, Say::same("")),
        _ => result(
            CheckStatus::Warn,
            measured,
            limit,
            say!(
                "These differences are smaller than the noise of this stand, so they have no verdict.",
                "Эти различия меньше шума стенда, поэтому вердикта нет."
            ),
        ),
    }
}

/// `± 3.1 % for rates, ± 8 % for p99, by plain, again`.
fn words(floor: &Floor, lang: Lang) -> String {
    let noise = |noise: Option<Noise>| {
        noise.map_or_else(|| "—".to_string(), |noise| format!("± {}", format::percent(noise.share, lang)))
    };
    let (rate, latency, from) = (noise(floor.rate), noise(floor.latency), floor.from.join(", "));
    say_in!(
        lang,
        "{rate} for rates, {latency} for p99, by {from}",
        "{rate} для скоростей, {latency} для p99, по {from}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::compare::{Options, floor};
    use crate::compare::{Verdict, compare, compare_arms};
    use crate::findings::Findings;
    use crate::fixture::run;
    use stend_record::RunRecord;
    use stend_spec::arm::Switch;

    fn command() -> Switch {
        Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] }
    }

    /// Three arms, the first two of one configuration that differs from itself by up to 3 %; the third is `factor`
    /// times as fast.
    fn with_a_twin(factor: f64) -> RunRecord {
        let mut run =
            run().arms(&[("plain", Switch::None, "6.1"), ("again", Switch::None, "6.1"), ("tuned", command(), "6.2")]);
        for (block, noise) in [0.03, -0.02, 0.01, -0.03, 0.02, -0.01, 0.03, -0.02].into_iter().enumerate() {
            // No two trials are exactly alike, which would be copies (H05).
            let drift = 1.0 + 1e-4 * block as f64;
            for (arm, rate) in [(0, 1.0), (1, 1.0 + noise), (2, factor)] {
                run = run.trial(arm).block(block as u32).iops(1_000_000.0 * rate * drift).done();
            }
        }
        run.record()
    }

    fn arms_of(record: &RunRecord, options: &Options) -> Comparison {
        compare_arms(record, &analyse(record).unwrap(), options).unwrap().unwrap()
    }

    fn rate(comparison: &Comparison, run: usize) -> &crate::compare::Ratio {
        comparison.cases[0].sides[run].as_ref().unwrap().rate_ratio.as_ref().unwrap()
    }

    #[test]
    fn two_arms_of_one_configuration_make_the_floor_and_are_never_coloured() {
        let found = arms_of(&with_a_twin(1.5), &Options::default());
        let noise = found.floor.as_ref().unwrap().rate.unwrap();
        assert!((noise.share - 0.0309).abs() < 1e-3, "the largest of eight distances: {noise:?}");
        assert_eq!((noise.distances, found.floor.as_ref().unwrap().from.join(" ")), (8, "plain again".into()));
        assert!((found.rule.rate - noise.share).abs() < 1e-12, "a difference must be more than the noise");
        assert!(!rate(&found, 1).judged.coloured);
        assert_eq!((rate(&found, 2).judged.verdict, rate(&found, 2).judged.coloured), (Verdict::Better, true));
        assert_eq!(check(&found).status, CheckStatus::Pass);
    }

    #[test]
    fn what_is_within_the_noise_has_no_verdict_however_narrow_the_margin() {
        let found = arms_of(&with_a_twin(1.0213), &Options { margin: Some(0.001), ..Options::default() });
        let judged = &rate(&found, 2).judged;
        assert_eq!((judged.verdict, judged.doubt.clone()), (Verdict::Inconclusive, Some(Doubt::InsideFloor)));
        assert!(!judged.coloured);
        let check = check(&found);
        assert_eq!(check.status, CheckStatus::Warn);
        assert!(check.limit.en.contains("by plain, again"), "{check:?}");
    }

    #[test]
    fn a_repetition_of_the_baseline_makes_a_floor_for_runs() {
        let six = |iops: f64| run().six_blocks(&[iops]).record();
        let (a, again, b) = (six(10_000.0), six(10_500.0), six(10_400.0));
        let findings: Vec<Findings> = [&a, &again, &b].map(|r| analyse(r).unwrap()).to_vec();
        let found = floor((&again, &findings[1]), (&a, &findings[0])).unwrap().unwrap();
        let noise = found.rate.unwrap();
        assert!((noise.share - 0.05).abs() < 1e-3 && noise.distances == 6, "{noise:?}");
        assert_eq!(found.from, ["R-20260102T030405Z-abcd"]);
        let options = Options { floor: Some(found), margin: Some(0.01), ..Options::default() };
        let compared = compare(&[(&a, &findings[0]), (&b, &findings[2])], &options);
        assert_eq!(rate(&compared, 1).judged.doubt, Some(Doubt::InsideFloor));
    }

    #[test]
    fn without_a_repetition_nothing_is_known_of_the_noise() {
        let six = run().six_blocks(&[10_000.0]).record();
        let findings = analyse(&six).unwrap();
        let check = check(&compare(&[(&six, &findings), (&six, &findings)], &Options::default()));
        assert_eq!(check.status, CheckStatus::NotMeasurable);
        let one = run().trial(0).done().record();
        let of_one = analyse(&one).unwrap();
        assert_eq!(floor((&one, &of_one), (&six, &findings)).unwrap(), None);
    }
}
