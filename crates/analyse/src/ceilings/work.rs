//! What the I/Os of a case make the drives do: by the model of their layout, and as the drives counted it. Must not judge.

use super::demand::{Demand, Io, degraded_reads, demand};
use super::layout::{layout, stated};
use crate::check::stretch::{self, stretches};
use crate::findings::{DemandFinding, LayoutFrom};
use crate::limits::AMPLIFICATION_DEVIATION;
use crate::trials::CaseTrials;
use stend_base::{Bytes, Say, say};
use stend_record::targets::calibrated;
use stend_record::{RunRecord, TargetFacts};
use stend_spec::ceilings::Layout;
use stend_spec::workload::{Op, Stream};

/// The same with what follows from it.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub finding: DemandFinding,
    /// Bytes of an I/O of the application, on the mean.
    pub bytes: f64,
    /// The case reads and does nothing else.
    reads_only: bool,
    /// Why there is no model.
    why: Option<Say>,
    /// The suite states a layout that cannot be.
    pub contradiction: Option<Say>,
    /// The layout is behind what the host shows, so that the host's counters are not those of the drives.
    pub opaque: bool,
}

impl Work {
    /// By the model.
    pub fn modelled(&self) -> Result<Demand, Say> {
        self.finding.modelled.ok_or_else(|| self.why.clone().unwrap_or_else(nothing_done))
    }

    /// What a case is held against: the model, and what was counted where a layout does not explain it or has none. What reads
    /// goes by the model alone, so that a cache shows.
    pub fn held(&self) -> Result<Demand, Say> {
        let model = self.modelled();
        match self.finding.counted {
            Some(counted) if !self.reads_only && (model.is_err() || self.finding.differs) => Ok(counted),
            _ => model,
        }
    }
}

fn nothing_done() -> Say {
    say!("the case did no I/O", "случай не выполнил ни одной операции")
}

/// What a case takes.
pub(crate) fn work(run: &RunRecord, case: &CaseTrials<'_>) -> Work {
    let share = |op: Op| case.asked.streams.iter().any(|s| s.mix.share(op) > 0);
    let reads_only = Op::IO.into_iter().all(|op| op == Op::Read || !share(op));
    let known = layout(run);
    let contradiction = known.clone().err().filter(|_| stated(run).is_some());
    let (shape, from, why) = match known {
        Ok((shape, from)) => (shape, from, None),
        Err(why) => (None, LayoutFrom::Host, Some(why)),
    };
    let modelled = match (why, why_not(run, case, shape)) {
        (Some(why), _) if !reads_only => Err(why),
        (_, Some(why)) => Err(why),
        _ => model(shape, case, start(&run.load().targets)).ok_or_else(nothing_done),
    };
    let modelled = modelled.map(|model| model.times(dearer(run, case, shape)));
    let (ops, bytes) = done(case, None, &Op::TRANSFERS);
    let bytes = if ops > 0.0 { bytes / ops } else { 0.0 };
    let opaque = shape.is_some_and(|layout| calibrated(&run.load().targets).len() < layout.drives() as usize);
    let counted = if opaque { None } else { counted(run, case) };
    let differs = modelled.as_ref().ok().zip(counted).is_some_and(|(m, c)| case.asked.direct && differ(m, &c, bytes));
    let finding = DemandFinding { layout: shape, from, modelled: modelled.as_ref().ok().copied(), counted, differs };
    Work { finding, bytes, reads_only, why: modelled.err(), contradiction, opaque }
}

/// Why the I/Os of a case have no model.
fn why_not(run: &RunRecord, case: &CaseTrials<'_>, shape: Option<Layout>) -> Option<Say> {
    let has = |op: Op| case.asked.streams.iter().any(|s| s.mix.share(op) > 0);
    if has(Op::Discard) || has(Op::WriteZeroes) {
        return Some(say!("discards and zeroes have no ceiling", "у освобождений и обнулений потолка нет"));
    }
    if has(Op::Write) && !case.asked.direct {
        return Some(say!(
            "writes through the page cache reach the drives later and merged",
            "запись через страничный кэш доходит до накопителей позже и слитой"
        ));
    }
    let lacking = lacking(run, case);
    let parity = matches!(shape, Some(Layout::Raid5 { .. } | Layout::Raid6 { .. }));
    let modelled = match shape {
        Some(Layout::Raid5 { .. }) => lacking == 1 && !has(Op::Write),
        _ => !parity && !has(Op::Write),
    };
    if lacking > 0 && !modelled {
        return Some(say!(
            "an array lacked drives while the load ran",
            "пока шла нагрузка, в массиве не хватало накопителей"
        ));
    }
    let written_elsewhere = matches!(shape, Some(Layout::CopyOnWrite { .. })) && has(Op::Write);
    written_elsewhere.then(|| {
        say!(
            "with copy on write the I/O per write can only be counted, and it was not",
            "при копировании при записи число операций на запись можно только сосчитать, а этого нет"
        )
    })
}

/// Most drives that an array lacked while the load ran.
fn lacking(run: &RunRecord, case: &CaseTrials<'_>) -> u32 {
    let stretches = stretches(run, case);
    let parts = stretches.iter().flat_map(|s| s.samples).filter_map(|sample| sample.parts.as_deref());
    parts.flat_map(|parts| &parts.arrays).filter_map(|array| array.degraded).max().unwrap_or(0)
}

/// What a read takes more in an array that lacks a drive. Only of a read that is no larger than a chunk: a larger one has a part of
/// what it needs anyway.
fn dearer(run: &RunRecord, case: &CaseTrials<'_>, shape: Option<Layout>) -> f64 {
    let small = |chunk: Bytes| {
        let mut streams = case.asked.streams.iter();
        streams.all(|s| s.pattern.is_scattered() && s.sizes().all(|share| share.size <= chunk))
    };
    match shape {
        Some(Layout::Raid5 { drives, chunk }) if small(chunk) && lacking(run, case) == 1 => degraded_reads(drives),
        _ => 1.0,
    }
}

/// Where the target begins on what is below it, of partitions above an array; of several targets the first.
fn start(targets: &[TargetFacts]) -> u64 {
    let Some(target) = targets.first() else { return 0 };
    let array = target.devices.iter().find(|device| device.kind == "md").map_or(u32::MAX, |array| array.depth);
    let above = target.devices.iter().filter(|device| device.depth < array && array < u32::MAX);
    above.filter_map(|device| device.start).fold(0, |sum, start| sum.saturating_add(start.0))
}

/// (I/Os, bytes) over all trials that count.
fn done(case: &CaseTrials<'_>, stream: Option<u16>, ops: &[Op]) -> (f64, f64) {
    let all = case.counting.iter().map(|trial| trial.done(stream, ops));
    all.fold((0.0, 0.0), |sum, (ops, bytes)| (sum.0 + ops as f64, sum.1 + bytes as f64))
}

/// The model of every stream, by how much each did. `None` if nothing was done, or one has no model.
fn model(shape: Option<Layout>, case: &CaseTrials<'_>, start: u64) -> Option<Demand> {
    let (all, _) = done(case, None, &Op::TRANSFERS);
    if all <= 0.0 {
        return None;
    }
    let mut sum = Demand::default();
    for (index, stream) in (0u16..).zip(&case.asked.streams) {
        for op in Op::TRANSFERS {
            let (ops, bytes) = done(case, Some(index), &[op]);
            if ops <= 0.0 {
                continue;
            }
            for (block, part) in blocks(stream, (bytes / ops) as u64) {
                let io = Io {
                    writes: op == Op::Write,
                    block,
                    step: stream.block_size_min().0.max(1),
                    start,
                    in_order: !stream.pattern.is_scattered(),
                };
                sum = sum.plus(demand(shape, &io)?.times(ops / all * part));
            }
        }
    }
    Some(sum)
}

/// Sizes of the I/Os of a stream, and their shares; of a trace only their mean is known here.
fn blocks(stream: &Stream, mean: u64) -> Vec<(u64, f64)> {
    match stream.replay {
        Some(_) => vec![(mean.max(1), 1.0)],
        None => stream.sizes().map(|share| (share.size.0, f64::from(share.percent) / 100.0)).collect(),
    }
}

/// What the drives counted for each I/O of the application and of the prober.
fn counted(run: &RunRecord, case: &CaseTrials<'_>) -> Option<Demand> {
    let drives = calibrated(&run.load().targets);
    let stretches = stretches(run, case);
    let asked: f64 = Op::TRANSFERS.into_iter().map(|op| stretch::application_and_prober(&stretches, op).ops).sum();
    if drives.is_empty() || asked <= 0.0 {
        return None;
    }
    let sum = |of: fn(&stend_record::sample::DiskCounters) -> u64| {
        let each = drives.iter().map(|drive| stretch::sum(&stretches, |s| s.disk(&drive.name, of)));
        Some(each.collect::<Option<Vec<u64>>>()?.into_iter().map(|n| n as f64).sum::<f64>() / asked)
    };
    Some(Demand {
        reads: sum(|d| d.reads)?,
        writes: sum(|d| d.writes)?,
        read_bytes: sum(|d| d.read_bytes)?,
        write_bytes: sum(|d| d.write_bytes)?,
    })
}

/// By bytes, because neighbours may be merged: further apart than H63 allows, in either direction.
fn differ(model: &Demand, counted: &Demand, bytes: f64) -> bool {
    let apart = |a: f64, b: f64| (a - b).abs() > AMPLIFICATION_DEVIATION * a.max(bytes);
    apart(model.read_bytes, counted.read_bytes) || apart(model.write_bytes, counted.write_bytes)
}

/// Smallest block that readings and stated rates at random speak for.
pub(crate) const SMALLEST: Bytes = Bytes::kib(4);
