//! A run beside numbers that others published: the same load looked up, the ratio, and everything in which the two differ or
//! may differ. A printed number has no interval and its circumstances are a text, so there is no verdict.

use crate::compare::{ArmCondition, arm_conditions};
use crate::findings::{CaseFinding, CheckId, Estimate, Findings, OpFinding, Quantile};
use std::collections::BTreeSet;
use stend_base::{Nanos, Result, Say, Share, format, say};
use stend_record::published::{Claim, Dimension, Published};
use stend_record::{ArmFacts, RunRecord};
use stend_spec::workload::{Op, Pages, Pattern, Stream, Trial};

/// Conditions of a run that readers of a published table ask for first.
const TOLD: [&str; 8] =
    ["cpu_model", "cpus", "memory", "kernel", "target", "device_models", "file_system", "mount_options"];

/// A run and a published table.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedComparison {
    /// Id of the run.
    pub run: String,
    /// Name of the table's file.
    pub file: String,
    /// What is known of the machine and target of the run.
    pub ours: Vec<ArmCondition>,
    /// On what the published numbers were measured, as their table says it.
    pub theirs: Vec<String>,
    /// Cases of which the table has the same load.
    pub cases: Vec<PublishedCase>,
    /// Labels of the other cases, with the reason.
    pub unmatched: Vec<(String, Say)>,
    /// Numbers of the table that belong to no case of the run.
    pub left: usize,
}

/// A case with the published numbers of its load.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedCase {
    /// Label.
    pub label: String,
    /// The load in words.
    pub workload: Say,
    /// In the order of the table.
    pub rows: Vec<PublishedRow>,
}

/// A published number with ours.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRow {
    /// What was measured: a system, a layout, a drive.
    pub layout: String,
    /// Its test as the table calls it.
    pub test: String,
    /// The number with its unit, as printed.
    pub printed: String,
    /// Line of the table's file.
    pub row: u32,
    /// What is compared.
    pub quantity: Quantity,
    /// The published number in base units: I/Os or bytes per second, or seconds.
    pub theirs: f64,
    /// Ours in the same units; `None` where it is not known.
    pub ours: Option<Estimate>,
    /// In what the loads differ, or may differ.
    pub differences: Vec<Say>,
    /// Checks of the audit that doubt the number.
    pub doubts: Vec<CheckId>,
}

/// What a published number is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Mean latency.
    Mean,
    /// p99 of the latency.
    P99,
}

impl PublishedRow {
    /// Ours over theirs; `None` where one of them is not known or zero.
    pub fn ratio(&self) -> Option<f64> {
        let ours = self.ours.as_ref()?.value;
        (self.theirs > 0.0 && ours > 0.0).then(|| ours / self.theirs)
    }

    /// The interval of ours over theirs, whose own spread nobody published.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (low, high) = self.ours.as_ref()?.interval?;
        (self.theirs > 0.0).then(|| (low / self.theirs, high / self.theirs))
    }
}

/// Puts a run beside a table, of which only layouts that contain `layout` count, if one is given; `doubts` says which checks of an audit
/// doubt a number. Errors: those of [`Plan::new`].
pub fn compare_with_published(
    (run, findings): (&RunRecord, &Findings),
    table: &Published,
    doubts: &dyn Fn(&Claim) -> Vec<CheckId>,
    layout: Option<&str>,
) -> Result<PublishedComparison> {
    let plan = run.plan()?;
    let wanted = |claim: &&Claim| layout.is_none_or(|text| claim.layout.to_lowercase().contains(&text.to_lowercase()));
    let claims: Vec<&Claim> = table.rows.iter().filter(wanted).filter(|claim| quantity(claim).is_some()).collect();
    let (mut cases, mut unmatched, mut used) = (Vec::new(), Vec::new(), BTreeSet::new());
    for found in findings.cases.iter().filter(|case| case.trials > 0) {
        let Some(asked) = plan.cases.get(found.case as usize).map(|case| &case.trial) else { continue };
        let rows = match load(asked) {
            Ok((name, stream)) => {
                let near = near(&claims, name, stream);
                // A number may be the nearest to several cases.
                used.extend(near.iter().copied().map(std::ptr::from_ref));
                rows(&near, (found, asked), stream, doubts)
            }
            Err(why) => {
                unmatched.push((found.label.clone(), why));
                continue;
            }
        };
        match rows.is_empty() {
            true => unmatched
                .push((found.label.clone(), say!("the table has no such load", "такой нагрузки в таблице нет"))),
            false => cases.push(PublishedCase { label: found.label.clone(), workload: found.workload.clone(), rows }),
        }
    }
    let mut theirs: Vec<String> = claims.iter().map(|claim| claim.stand.clone()).filter(|s| !s.is_empty()).collect();
    theirs.sort();
    theirs.dedup();
    Ok(PublishedComparison {
        run: findings.run.clone(),
        file: table.file.clone(),
        ours: ours(run),
        theirs,
        cases,
        unmatched,
        left: claims.len() - used.len(),
    })
}

fn ours(run: &RunRecord) -> Vec<ArmCondition> {
    let Some(host) = run.load().facts.clone() else { return Vec::new() };
    let facts = ArmFacts { host, targets: run.load().targets.clone(), observed: Vec::new() };
    let told = |condition: &ArmCondition| TOLD.contains(&condition.key.as_str()) && !condition.value.en.is_empty();
    arm_conditions(&facts).into_iter().filter(told).collect()
}

/// What a claim is a number of, if it is one that a run has, too.
fn quantity(claim: &Claim) -> Option<Quantity> {
    let number = claim.value.filter(|number| number.value.is_finite())?;
    Some(match (number.dimension, claim.metric.as_str()) {
        (Dimension::Rate, "iops") => Quantity::Iops,
        (Dimension::Throughput, "throughput") => Quantity::Throughput,
        (Dimension::Time, "latency" | "latency_mean" | "latency_avg") => Quantity::Mean,
        (Dimension::Time, "latency_p99") => Quantity::P99,
        _ => return None,
    })
}

/// What published tables call the load of a case, after fio; or why it has no such name.
fn load(asked: &Trial) -> std::result::Result<(&'static str, &Stream), Say> {
    let [stream] = asked.streams.as_slice() else {
        return Err(say!("several streams at a time", "несколько потоков одновременно"));
    };
    let given = || say!("its rate is given, not found", "её скорость задана, а не найдена");
    if stream.is_open() || stream.replay.is_some() {
        return Err(given());
    }
    let random = match stream.pattern {
        Pattern::Random | Pattern::Uniform => true,
        Pattern::Sequential | Pattern::SharedSequential => false,
        _ => return Err(say!("its pattern has no common name", "у её порядка нет общепринятого имени")),
    };
    match (stream.mix.share(Op::Read), stream.mix.share(Op::Write), random) {
        (100, 0, true) => Ok(("randread", stream)),
        (0, 100, true) => Ok(("randwrite", stream)),
        (100, 0, false) => Ok(("read", stream)),
        (0, 100, false) => Ok(("write", stream)),
        _ => Err(say!("it mixes operations", "она смешивает операции")),
    }
}

/// Published numbers of the load, of which those with as much in flight count, or the nearest.
fn near<'a>(claims: &[&'a Claim], name: &str, stream: &Stream) -> Vec<&'a Claim> {
    let same = |claim: &&&Claim| claim.pattern == name && claim.block_size == Some(stream.block_size);
    nearest(claims.iter().filter(same).copied().collect(), stream)
}

fn rows(
    near: &[&Claim],
    (found, asked): (&CaseFinding, &Trial),
    stream: &Stream,
    doubts: &dyn Fn(&Claim) -> Vec<CheckId>,
) -> Vec<PublishedRow> {
    let one = |claim: &&Claim| {
        let quantity = quantity(claim)?;
        Some(PublishedRow {
            layout: claim.layout.clone(),
            test: claim.test.clone(),
            printed: format!("{} {}", claim.printed, claim.unit).trim().to_string(),
            row: claim.row,
            quantity,
            theirs: claim.value?.value,
            ours: value(found, quantity),
            differences: differences(claim, asked, stream),
            doubts: doubts(claim),
        })
    };
    near.iter().filter_map(one).collect()
}

/// Among tests of the same name, those with our queue depth, or nearest to it. One without a depth may match, and all do if ours is not
/// known (0).
fn nearest<'a>(claims: Vec<&'a Claim>, stream: &Stream) -> Vec<&'a Claim> {
    let ours = f64::from(stream.queue_depth) * f64::from(stream.jobs);
    let distance = |claim: &Claim| match (claim.queue_depth, claim.jobs) {
        (Some(depth), Some(jobs)) => (f64::from(depth) * f64::from(jobs) / ours).ln().abs(),
        (Some(depth), None) => (f64::from(depth) / f64::from(stream.queue_depth)).ln().abs(),
        (None, _) => 0.0,
    };
    let distance = |claim: &Claim| if stream.queue_depth == 0 { 0.0 } else { distance(claim) };
    let alike = |a: &Claim, b: &Claim| {
        (&a.source, &a.experiment, &a.layout, &a.metric) == (&b.source, &b.experiment, &b.layout, &b.metric)
    };
    let least = |claim: &Claim| {
        let others = claims.iter().filter(|other| alike(other, claim));
        others.map(|other| distance(other)).fold(f64::INFINITY, f64::min)
    };
    claims.iter().copied().filter(|claim| distance(claim) <= least(claim)).collect()
}

/// Our value in the units of the table.
fn value(found: &CaseFinding, quantity: Quantity) -> Option<Estimate> {
    // One stream and one operation, of which a sync is none.
    let op: &OpFinding = found.ops.iter().find(|op| op.op != Op::Sync)?;
    let alone = |value: f64, interval| Estimate { value, interval, basis: found.total.iops.basis.clone() };
    let seconds = |ns: Nanos| ns.as_secs();
    match quantity {
        Quantity::Iops => Some(found.total.iops.clone()),
        Quantity::Throughput => Some(found.total.throughput.clone()),
        Quantity::Mean => Some(alone(op.latency_mean_ns / 1e9, None)),
        Quantity::P99 => op.quantiles.iter().find(|q| q.q == Share(0.99)).and_then(|q: &Quantile| {
            let interval = q.interval.map(|(low, high)| (seconds(low), seconds(high)));
            Some(alone(seconds(q.value.single()?), interval))
        }),
    }
}

fn differences(claim: &Claim, asked: &Trial, stream: &Stream) -> Vec<Say> {
    let mut found = Vec::new();
    let mut number = |name: Say, ours: u32, theirs: Option<u32>| {
        let Say { en, ru } = name;
        match theirs {
            Some(theirs) if theirs != ours => found.push(say!("{en}, theirs {theirs}", "{ru}, у них {theirs}")),
            Some(_) => {}
            None => found.push(say!("{en}, theirs not given", "{ru}, у них не указано")),
        }
    };
    let (depth, jobs) = (stream.queue_depth, stream.jobs);
    let name = match depth {
        0 => say!("queue depth not known", "глубина очереди неизвестна"),
        _ => say!("queue depth {depth}", "глубина очереди {depth}"),
    };
    number(name, depth, claim.queue_depth);
    number(say!("jobs {jobs}", "заданий {jobs}"), jobs, claim.jobs);
    if stream.mix.share(Op::Write) > 0 && stream.sync.is_durable() {
        found.push(say!("ours are durable, theirs not given", "у нас записи с подтверждением, у них не указано"));
    }
    if !asked.direct {
        found.push(say!(
            "ours through the page cache, theirs not given",
            "у нас через страничный кэш, у них не указано"
        ));
    }
    if asked.pages == Pages::Huge {
        found.push(say!("ours in huge pages, theirs not given", "у нас большие страницы, у них не указано"));
    }
    found
}

impl PublishedComparison {
    /// What nobody can know of the published numbers, in a sentence or two.
    pub fn label(&self) -> Say {
        say!(
            "A printed number has no interval, and the table gives no length, warm-up, fill or cache: any of these may cause the difference. So there is no verdict and no colour; the interval is that of this run alone.",
            "У напечатанного числа нет интервала, а длительности, прогрева, заполнения и кэша в таблице нет: различие может прийти от любого из них. Поэтому нет ни вердикта, ни цвета; интервал — только этого прогона."
        )
    }

    /// How much of the run and of the table met.
    pub fn summary(&self) -> Say {
        let (cases, rows) = (self.cases.len(), self.cases.iter().map(|case| case.rows.len()).sum::<usize>());
        let (all, left) = (self.cases.len() + self.unmatched.len(), self.left);
        say!(
            "The table has the load of {cases} of {all} cases: {rows} numbers; {left} numbers belong to no case.",
            "Нагрузка есть в таблице у {cases} случаев из {all}: чисел — {rows}; не относятся ни к одному случаю — {left}."
        )
    }
}

impl Quantity {
    /// Its name.
    pub fn name(self) -> Say {
        match self {
            Quantity::Iops => Say::same("IOPS"),
            Quantity::Throughput => say!("throughput", "пропускная способность"),
            Quantity::Mean => say!("mean latency", "средняя задержка"),
            Quantity::P99 => say!("p99 latency", "задержка p99"),
        }
    }

    /// A value of it in the field's units.
    pub fn show(self, value: f64) -> Say {
        Say::both(|lang| match self {
            Quantity::Iops => format!("{} IOPS", format::iops(value, lang)),
            Quantity::Throughput => format::throughput(value, lang),
            Quantity::Mean | Quantity::P99 => format::latency(Nanos((value * 1e9) as u64), lang),
        })
    }
}

#[cfg(test)]
mod tests;
