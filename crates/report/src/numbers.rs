//! The numbers of a result one by one, each with its interval and what it stands on: the one list that tables for other programs are
//! written from. Nothing is computed or rounded here.

use stend_analyse::Findings;
use stend_analyse::findings::{
    Basis, CaseFinding, CheckStatus, Estimate, Headline, LevelsFinding, OpFinding, Quantile, QuantileValue, Rates,
};
use stend_base::{Nanos, Result, Say, Share, say};
use stend_record::RunRecord;
use stend_spec::workload::{Op, Stream, Trial};

/// One number of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultNumber {
    /// Index of its case in [`Findings::cases`].
    pub case: usize,
    /// Stream and kind of I/O that it is of; `None`: all of the case.
    pub of: Option<(u16, Op)>,
    /// What it is.
    pub metric: Metric,
    /// Its value in the unit of the metric; always finite.
    pub value: f64,
    /// The value is the least that it can be: some I/Os never ended.
    pub at_least: bool,
    /// 95 % interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Where the interval of a rate comes from; `None` for latencies.
    pub basis: Option<Basis>,
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// I/Os or bytes per second before a lasting fall to a lower level.
    LevelFirst(Headline),
    /// The same after it.
    LevelThen(Headline),
    /// A latency, ns.
    Latency(Latency),
    /// The same from the begin of an I/O, where it could be due before, ns.
    Service(Latency),
    /// I/Os whose latency is known, or known to be more than something.
    Ios,
    /// Among those, I/Os whose end was not seen.
    Censored,
}

/// Which latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Latency {
    /// Mean.
    Mean,
    /// At or below which a share of the I/Os ended.
    Quantile(Share),
    /// The smallest of the percentiles that jobs or trials of an imported result printed separately.
    Least(Share),
    /// The largest of these.
    Most(Share),
    /// Largest.
    Max,
}

/// `p99_9`
fn quantile_key(q: Share) -> String {
    crate::figures::quantile_name(q).en.replace('.', "_")
}

impl Metric {
    /// Its name in tables: `iops`, `latency_p99_9`.
    pub fn key(self) -> String {
        let of = |base: &str, latency| match latency {
            Latency::Mean => base.to_string(),
            Latency::Max => format!("{base}_max"),
            Latency::Quantile(q) => format!("{base}_{}", quantile_key(q)),
            Latency::Least(q) => format!("{base}_{}_least", quantile_key(q)),
            Latency::Most(q) => format!("{base}_{}_most", quantile_key(q)),
        };
        match self {
            Metric::Iops => "iops".to_string(),
            Metric::Throughput => "throughput".to_string(),
            Metric::LevelFirst(_) => "level_first".to_string(),
            Metric::LevelThen(_) => "level_then".to_string(),
            Metric::Latency(latency) => of("latency", latency),
            Metric::Service(latency) => of("service", latency),
            Metric::Ios => "ios".to_string(),
            Metric::Censored => "censored".to_string(),
        }
    }

    /// Its name for people.
    pub fn say(self) -> Say {
        let of = |base: Say, latency| {
            let Say { en, ru } = base;
            match latency {
                Latency::Mean => say!("{en}, mean", "{ru}, среднее"),
                Latency::Max => say!("{en}, max", "{ru}, максимум"),
                Latency::Quantile(q) => {
                    let Say { en: q_en, ru: q_ru } = crate::figures::quantile_name(q);
                    say!("{en}, {q_en}", "{ru}, {q_ru}")
                }
                Latency::Least(q) => {
                    let Say { en: q_en, ru: q_ru } = crate::figures::quantile_name(q);
                    say!("{en}, {q_en}, the smallest printed", "{ru}, {q_ru}, наименьший из напечатанных")
                }
                Latency::Most(q) => {
                    let Say { en: q_en, ru: q_ru } = crate::figures::quantile_name(q);
                    say!("{en}, {q_en}, the largest printed", "{ru}, {q_ru}, наибольший из напечатанных")
                }
            }
        };
        match self {
            Metric::Iops => Say::same("IOPS"),
            Metric::Throughput => say!("throughput", "пропускная способность"),
            Metric::LevelFirst(_) => say!("rate before a lasting fall", "скорость до падения"),
            Metric::LevelThen(_) => say!("rate after a lasting fall", "скорость после падения"),
            Metric::Latency(latency) => of(say!("latency", "задержка"), latency),
            Metric::Service(latency) => of(say!("service, without waiting", "обслуживание, без ожидания"), latency),
            Metric::Ios => say!("I/Os", "операций"),
            Metric::Censored => say!("I/Os whose end was not seen", "операций без конца"),
        }
    }

    /// Unit of its value.
    pub fn unit(self) -> Say {
        match self {
            Metric::Iops | Metric::LevelFirst(Headline::Iops) | Metric::LevelThen(Headline::Iops) => Say::same("IOPS"),
            Metric::Throughput | Metric::LevelFirst(_) | Metric::LevelThen(_) => say!("B/s", "Б/с"),
            Metric::Latency(_) | Metric::Service(_) => say!("ns", "нс"),
            Metric::Ios | Metric::Censored => say!("count", "шт."),
        }
    }
}

/// What a table says of a case besides its numbers.
#[derive(Debug, Clone)]
pub struct CasePlace {
    /// Name of its arm; empty if the suite has no arms.
    pub arm: String,
    /// Its label, without the arm.
    pub label: String,
    /// What was asked for; `None` of a case that no trial tells of.
    pub asked: Option<Trial>,
}

impl CasePlace {
    /// The stream of a case that has but one.
    pub fn only_stream(&self) -> Option<&Stream> {
        match self.asked.as_ref()?.streams.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Where each of [`Findings::cases`] stands. Errors: those of [`Plan::new`].
pub fn places(run: &RunRecord, findings: &Findings) -> Result<Vec<CasePlace>> {
    let plan = run.plan()?;
    let place = |case: &CaseFinding| {
        let arm = plan.cases.get(case.case as usize).and_then(|planned| planned.arm.clone());
        let in_arm = arm.as_ref().and_then(|arm| case.label.strip_prefix(arm)?.strip_prefix(": "));
        CasePlace {
            label: in_arm.unwrap_or(&case.label).to_string(),
            arm: arm.unwrap_or_default(),
            asked: run.trials.iter().find(|trial| trial.case == case.case).map(|trial| trial.asked.clone()),
        }
    };
    Ok(findings.cases.iter().map(place).collect())
}

/// Every number of a result, by case. A number that is not known is not there: a percentile of too few I/Os, a rate that no trial
/// stands behind.
pub fn numbers(findings: &Findings) -> Vec<ResultNumber> {
    let mut all = Vec::new();
    for (index, case) in findings.cases.iter().enumerate() {
        let start = all.len();
        rates(&case.total, None, &mut all);
        all.extend(case.levels.iter().flat_map(levels));
        for op in &case.ops {
            let of = Some((op.stream, op.op));
            // With a single kind of I/O that is the same number.
            if case.ops.len() > 1 {
                rates(&op.rates, of, &mut all);
            }
            latencies(op, &mut all);
        }
        all[start..].iter_mut().for_each(|number| number.case = index);
    }
    all.retain(|number| number.value.is_finite());
    all
}

/// Checks of a case with a result, by number: `H18 H76`.
pub fn checks(case: &CaseFinding, status: CheckStatus) -> String {
    let ids = case.checks.iter().filter(|check| check.status == status).map(|check| check.id.code());
    ids.collect::<Vec<_>>().join(" ")
}

fn rates(rates: &Rates, of: Option<(u16, Op)>, all: &mut Vec<ResultNumber>) {
    let mut add = |metric, estimate: &Estimate| {
        let nobody = matches!(estimate.basis, Basis::TooFew { n: 0 });
        // A sync moves no bytes.
        let empty = metric == Metric::Throughput && of.is_some_and(|(_, op)| op == Op::Sync);
        if !nobody && !empty {
            all.push(ResultNumber {
                case: 0,
                of,
                metric,
                value: estimate.value,
                at_least: false,
                interval: estimate.interval,
                basis: Some(estimate.basis.clone()),
            });
        }
    };
    add(Metric::Iops, &rates.iops);
    add(Metric::Throughput, &rates.throughput);
}

fn levels(found: &LevelsFinding) -> [ResultNumber; 2] {
    let both = [(Metric::LevelFirst(found.of), found.first), (Metric::LevelThen(found.of), found.then)];
    let number = |(metric, value)| ResultNumber {
        case: 0,
        of: None,
        metric,
        value,
        at_least: false,
        interval: None,
        basis: None,
    };
    both.map(number)
}

fn latencies(op: &OpFinding, all: &mut Vec<ResultNumber>) {
    let of = Some((op.stream, op.op));
    let mut add = |metric, value: f64, at_least, interval: Option<(f64, f64)>| {
        all.push(ResultNumber { case: 0, of, metric, value, at_least, interval, basis: None });
    };
    let mut group =
        |named: fn(Latency) -> Metric, (mean, max, censored): (f64, Option<Nanos>, u64), quantiles: &[Quantile]| {
            add(named(Latency::Mean), mean, censored > 0, None);
            for quantile in quantiles {
                let (value, at_least) = match quantile.value {
                    QuantileValue::Above(value) => (Some(value), true),
                    other => (other.single(), false),
                };
                let interval = quantile.interval.map(|(low, high)| (low.0 as f64, high.0 as f64));
                if let Some(value) = value {
                    add(named(Latency::Quantile(quantile.q)), value.0 as f64, at_least, interval);
                }
                if let Some((least, most)) = quantile.value.range() {
                    add(named(Latency::Least(quantile.q)), least.0 as f64, false, None);
                    add(named(Latency::Most(quantile.q)), most.0 as f64, false, None);
                }
            }
            if let Some(max) = max {
                add(named(Latency::Max), max.0 as f64, censored > 0, None);
            }
        };
    if op.count > 0 {
        group(Metric::Latency, (op.latency_mean_ns, crate::figures::largest(op), op.censored), &op.quantiles);
        if let Some(service) = &op.service {
            group(Metric::Service, (service.mean_ns, Some(service.max), service.censored), &service.quantiles);
        }
    }
    all.push(count(of, Metric::Ios, op.count));
    all.push(count(of, Metric::Censored, op.censored));
}

fn count(of: Option<(u16, Op)>, metric: Metric, value: u64) -> ResultNumber {
    ResultNumber { case: 0, of, metric, value: value as f64, at_least: false, interval: None, basis: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture, json};
    use std::io::Read;
    use stend_base::Lang;

    /// The same numbers in the document of `stend show --json`, found by their names there.
    fn in_json(document: &serde_json::Value, number: &ResultNumber) -> (f64, Option<(f64, f64)>) {
        let case = &document["cases"][number.case];
        let op = number.of.map(|(stream, op)| {
            let name = serde_json::to_value(op).unwrap();
            let all = case["operations"].as_array().unwrap();
            all.iter().find(|o| o["operation"] == name && o["stream"] == stream).unwrap()
        });
        let node = op.unwrap_or(case);
        let pair = |value: &serde_json::Value| Some((value[0].as_f64()?, value[1].as_f64()?));
        let rate = |name: &str| (node[name]["value"].as_f64().unwrap(), pair(&node[name]["interval_95"]));
        let latency = |node: &serde_json::Value, latency| match latency {
            Latency::Mean => (node["latency_mean_ns"].as_f64().unwrap(), None),
            Latency::Max => (node["latency_max_ns"].as_f64().unwrap(), None),
            Latency::Least(Share(q)) | Latency::Most(Share(q)) => {
                let all = node["latency_quantiles"].as_array().unwrap();
                let found = all.iter().find(|found| found["share"] == q).unwrap();
                (found["printed_range_ns"][usize::from(matches!(latency, Latency::Most(_)))].as_f64().unwrap(), None)
            }
            Latency::Quantile(Share(q)) => {
                let all = node["latency_quantiles"].as_array().unwrap();
                let found = all.iter().find(|found| found["share"] == q).unwrap();
                (found["value_ns"].as_f64().unwrap(), pair(&found["interval_95_ns"]))
            }
        };
        match number.metric {
            Metric::Iops => rate("iops"),
            Metric::Throughput => rate("throughput_bytes_per_s"),
            Metric::LevelFirst(_) => (case["levels"]["first_per_s"].as_f64().unwrap(), None),
            Metric::LevelThen(_) => (case["levels"]["then_per_s"].as_f64().unwrap(), None),
            Metric::Latency(which) => latency(node, which),
            Metric::Service(which) => latency(&node["service"], which),
            Metric::Ios => (node["count"].as_f64().unwrap(), None),
            Metric::Censored => (node["censored"].as_f64().unwrap(), None),
        }
    }

    /// Equal but for the last bit, which serde_json may lose when it reads a number.
    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() <= f64::EPSILON * a.abs()
    }

    #[test]
    fn every_number_is_that_of_the_json_report() {
        for findings in [fixture::findings(), fixture::hostile_findings(), fixture::open_findings()] {
            let document: serde_json::Value = serde_json::from_str(&json(&findings)).unwrap();
            let all = numbers(&findings);
            assert!(all.len() > 50, "{}", all.len());
            for number in all {
                let (value, interval) = in_json(&document, &number);
                assert!(same(number.value, value), "{number:?}: {value}");
                let ends = number.interval.zip(interval);
                let alike = ends.is_none_or(|(own, other)| same(own.0, other.0) && same(own.1, other.1));
                assert!(alike && number.interval.is_some() == interval.is_some(), "{number:?}: {interval:?}");
            }
        }
    }

    #[test]
    fn no_number_of_the_json_report_is_missing() {
        let findings = fixture::open_findings();
        let document: serde_json::Value = serde_json::from_str(&json(&findings)).unwrap();
        let all = numbers(&findings);
        for (index, case) in document["cases"].as_array().unwrap().iter().enumerate() {
            let ops = case["operations"].as_array().unwrap();
            let rates = if ops.len() > 1 { 2 + 2 * ops.len() } else { 2 };
            let latencies: usize = ops
                .iter()
                .flat_map(|op| [op, &op["service"]])
                .map(|node| {
                    let quantiles = node["latency_quantiles"].as_array();
                    let known = quantiles.map(|all| all.iter().filter(|q| !q["value_ns"].is_null()).count());
                    known.map_or(0, |known| known + 2)
                })
                .sum();
            let own = all.iter().filter(|number| number.case == index).count();
            assert_eq!(own, rates + latencies + 2 * ops.len(), "{}", case["label"]);
        }
    }

    #[test]
    fn a_latency_that_no_tool_told_is_shown_nowhere_whatever_stands_in_its_place() {
        let shown = |rest| {
            let (run, findings) = fixture::no_latency(rest);
            let runs = vec![(&run, &findings)];
            let book = crate::xlsx(&crate::Book { runs, comparison: None, lang: Lang::En }).unwrap();
            let page = crate::html(&findings, &run, Lang::En);
            (page, crate::text(&findings, Lang::En, 110, false), book, numbers(&findings), json(&findings))
        };
        let (zero, other) = (shown(0), shown(777_777));
        assert!(zero.0 == other.0, "page");
        assert_eq!(zero.1, other.1);
        assert!(zero.2 == other.2, "workbook");
        assert_eq!(zero.4, other.4);
        assert!(zero.4.contains("\"latency_mean_ns\": null") && zero.4.contains("\"latency_max_ns\": null"));
        assert!(zero.3 == other.3 && zero.1.contains(crate::figures::NONE));
    }

    #[test]
    fn percentiles_that_were_printed_apart_are_told_with_both_ends_everywhere() {
        let (run, mut findings) = fixture::no_latency(0);
        let op = &mut findings.cases[0].ops[0];
        (op.count, op.latency_mean_ns) = (10, 750.5);
        op.quantiles[1].value = QuantileValue::Printed(Some((Nanos(700_000), Nanos(900_000))));
        let all = numbers(&findings);
        let of = |latency| all.iter().find(|n| n.case == 0 && n.metric == Metric::Latency(latency)).map(|n| n.value);
        let p99 = Share(0.99);
        assert_eq!((of(Latency::Least(p99)), of(Latency::Most(p99))), (Some(700_000.0), Some(900_000.0)));
        assert_eq!((of(Latency::Quantile(p99)), of(Latency::Max), of(Latency::Mean)), (None, None, Some(750.5)));
        let keys: Vec<String> = all.iter().map(|number| number.metric.key()).collect();
        assert!(keys.contains(&"latency_p99_least".to_string()) && keys.contains(&"latency_p99_most".to_string()));
        let document: serde_json::Value = serde_json::from_str(&json(&findings)).unwrap();
        let told = &document["cases"][0]["operations"][0];
        assert_eq!(told["latency_quantiles"][1]["printed_range_ns"], serde_json::json!([700_000, 900_000]));
        assert!(told["latency_quantiles"][1]["value_ns"].is_null() && told["latency_max_ns"].is_null());
        let book = crate::Book { runs: vec![(&run, &findings)], comparison: None, lang: Lang::En };
        let mut sheets = zip::ZipArchive::new(std::io::Cursor::new(crate::xlsx(&book).unwrap())).unwrap();
        let mut strings = String::new();
        sheets.by_name("xl/sharedStrings.xml").unwrap().read_to_string(&mut strings).unwrap();
        assert!(strings.contains(">700–900<"), "{strings}");
    }

    #[test]
    fn what_is_not_known_has_no_number_and_what_did_not_end_is_a_bound() {
        let hostile = numbers(&fixture::hostile_findings());
        assert!(!hostile.iter().any(|n| (n.case, n.of, n.metric) == (0, None, Metric::Iops)), "NaN is no number");
        let p999 = Metric::Latency(Latency::Quantile(Share(0.999)));
        let bound = hostile.iter().find(|number| number.case == 1 && number.metric == p999).unwrap();
        assert!(bound.at_least);
        let few = numbers(&fixture::findings());
        let durable = few.iter().filter(|number| number.case == 7).collect::<Vec<_>>();
        assert!(
            !durable.is_empty() && durable.iter().all(|number| number.metric.key() != p999.key() || !number.at_least)
        );
    }
}
