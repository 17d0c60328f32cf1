//! What a far NUMA node costs: the cells of a case that runs on every pair of nodes (`numa: every`), in parts of the one where
//! threads and memory are on the node of the target's device.

use crate::findings::{CaseFinding, CheckId, CheckStatus, NumaCell, NumaFinding, OfLocal};
use crate::phrase::rate;
use crate::trials::CaseTrials;
use std::collections::BTreeSet;
use stend_base::{Lang, Say, format, say_in};
use stend_plan::{Case, Plan};
use stend_record::RunRecord;
use stend_spec::topology::{Numa, Topology};
use stend_spec::workload::Op;
use stend_stats::{mean, paired};

/// The matrices of a run. `trials` and `cases` are in the same order.
pub(crate) fn findings(
    run: &RunRecord,
    plan: &Plan,
    trials: &[CaseTrials<'_>],
    cases: &[CaseFinding],
) -> Vec<NumaFinding> {
    let inputs = &run.header.inputs;
    let mut found = Vec::new();
    for case in &inputs.suite.cases {
        let Some(stream) = case.streams.iter().position(|s| s.placement.numa == Some(Numa::Every)) else { continue };
        let axis = if case.streams.len() > 1 { format!("stream {} numa", stream + 1) } else { "numa".to_string() };
        let mut groups: Vec<(String, Vec<Ran<'_>>)> = Vec::new();
        for (trials, finding) in trials.iter().zip(cases).filter(|(_, finding)| finding.trials > 0) {
            let Some(cell) = plan.cases.get(finding.case as usize).filter(|cell| cell.name == case.name) else {
                continue;
            };
            let label = others(cell, &axis);
            let ran = Ran { nodes: nodes(cell, stream, &inputs.target.topology), trials, finding };
            match groups.iter_mut().find(|(known, _)| *known == label) {
                Some((_, group)) => group.push(ran),
                None => groups.push((label, vec![ran])),
            }
        }
        found.extend(groups.into_iter().filter_map(|(label, group)| matrix(label, &group, &inputs.target.topology)));
    }
    found
}

/// A cell that ran.
struct Ran<'a> {
    /// Nodes of threads and memory.
    nodes: (Option<u32>, Option<u32>),
    trials: &'a CaseTrials<'a>,
    finding: &'a CaseFinding,
}

/// The label without the nodes.
fn others(cell: &Case, axis: &str) -> String {
    let axes = cell.axes.iter().filter(|(name, _)| name != axis);
    let label = axes.fold(cell.name.clone(), |label, (name, value)| format!("{label}, {name} {value}"));
    cell.arm.as_ref().map_or(label.clone(), |arm| format!("{arm}: {label}"))
}

fn nodes(cell: &Case, stream: usize, machine: &Topology) -> (Option<u32>, Option<u32>) {
    let Some(place) = cell.trial.streams.get(stream).map(|stream| &stream.place) else { return (None, None) };
    let holds = place.cpus.first().and_then(|cpu| machine.nodes.iter().find(|node| node.cpus.contains(cpu)));
    (holds.map(|node| node.node), place.memory)
}

fn matrix(label: String, group: &[Ran<'_>], machine: &Topology) -> Option<NumaFinding> {
    let headline = group.first()?.finding.headline;
    let local = group.iter().find(|ran| machine.device.is_some() && ran.nodes == (machine.device, machine.device));
    let cell = |ran: &Ran<'_>| NumaCell {
        cpu: ran.nodes.0,
        memory: ran.nodes.1,
        rate: ran.finding.total.of(headline).clone(),
        levels: ran.finding.levels.clone(),
        failed: failed(ran.finding),
        of_local: local
            .filter(|local| [ran, *local].iter().all(|of| failed(of.finding).is_empty()))
            .and_then(|local| of_local(ran, local)),
    };
    let (cells, nodes) = (group.iter().map(cell).collect(), machine.nodes.len() as u32);
    Some(NumaFinding { label, headline, device: machine.device, nodes, cells })
}

fn failed(finding: &CaseFinding) -> Vec<CheckId> {
    finding.checks.iter().filter(|check| check.status == CheckStatus::Fail).map(|check| check.id).collect()
}

/// By the blocks that both have: a drift of the machine falls on both. All cells of a matrix have one block size, so that I/Os
/// and bytes have the same ratio.
fn of_local(ran: &Ran<'_>, local: &Ran<'_>) -> Option<OfLocal> {
    if ran.nodes == local.nodes {
        return Some(OfLocal { ratio: 1.0, interval: None });
    }
    let rates = |ran: &Ran<'_>, block: u32| -> Vec<f64> {
        let of_block = ran.trials.counting.iter().filter(|trial| trial.record.block == block);
        of_block.map(|trial| trial.done(None, &Op::IO).0 as f64 / trial.window.as_secs()).collect()
    };
    let blocks: BTreeSet<u32> = local.trials.counting.iter().map(|trial| trial.record.block).collect();
    let effects: Vec<f64> =
        blocks.iter().filter_map(|block| paired::effect(&rates(ran, *block), &rates(local, *block))).collect();
    match paired::ratio(&effects) {
        Some(found) => Some(OfLocal { ratio: found.ratio, interval: Some(found.interval) }),
        None => Some(OfLocal { ratio: mean(&effects)?.exp(), interval: None }),
    }
}

impl NumaFinding {
    /// Nodes of the threads, ascending.
    pub fn rows(&self) -> BTreeSet<Option<u32>> {
        self.cells.iter().map(|cell| cell.cpu).collect()
    }

    /// Nodes of the memory, ascending.
    pub fn columns(&self) -> BTreeSet<Option<u32>> {
        self.cells.iter().map(|cell| cell.memory).collect()
    }

    /// The cell of a pair, if it ran.
    pub fn cell(&self, cpu: Option<u32>, memory: Option<u32>) -> Option<&NumaCell> {
        self.cells.iter().find(|cell| (cell.cpu, cell.memory) == (cpu, memory))
    }

    /// What the matrix says, without the name of the case.
    pub fn say(&self) -> Say {
        Say::both(|l| self.sentence(l))
    }

    fn sentence(&self, l: Lang) -> String {
        if let (0 | 1, [only]) = (self.nodes, self.cells.as_slice()) {
            return say_in!(
                l,
                "this machine has one NUMA node, so that there is one cell: {rate}.",
                "на этой машине один узел NUMA, поэтому клетка одна: {rate}.",
                rate = rate(self.headline, &only.rate, l)
            );
        }
        let Some(device) = self.device else {
            return say_in!(
                l,
                "the kernel does not report the NUMA node of the target's device, so the local cell is unknown.",
                "ядро не сообщает узел NUMA устройства объекта: неизвестно, какая клетка ближняя."
            );
        };
        let of_local = |cell: &NumaCell| cell.of_local.map(|of| of.ratio);
        let known = self.cells.iter().filter(|cell| of_local(cell).is_some());
        if self.cell(Some(device), Some(device)).is_some_and(|local| !local.failed.is_empty()) {
            return say_in!(
                l,
                "a check of the local cell failed, so there is nothing to compare with.",
                "у ближней клетки не пройдена проверка, сравнивать не с чем."
            );
        }
        let Some(least) = known.min_by(|a, b| of_local(a).unwrap_or(1.0).total_cmp(&of_local(b).unwrap_or(1.0))) else {
            return say_in!(
                l,
                "the local cell did not run, so there is nothing to compare with.",
                "ближняя клетка не выполнена, сравнивать не с чем."
            );
        };
        if (least.cpu, least.memory) == (Some(device), Some(device)) {
            return say_in!(
                l,
                "the drive is on node {device}; nothing is slower than threads and memory beside it.",
                "накопитель на узле {device}; потоки и память рядом с ним — не быстрее остальных сочетаний."
            );
        }
        let node = |node: Option<u32>| node.map_or("?".to_string(), |node| node.to_string());
        say_in!(
            l,
            "the drive is on node {device}; the lowest rate is that of threads on {cpu} with memory on {memory}: {part} of the local cell.",
            "накопитель на узле {device}; наименьшая скорость у потоков на узле {cpu} с памятью на узле {memory}: {part} от ближней клетки.",
            cpu = node(least.cpu),
            memory = node(least.memory),
            part = least.percent(l).unwrap_or_default()
        )
    }
}

impl NumaCell {
    /// In per cent of the local cell, without the interval, for where there is little room.
    pub fn short_percent(&self, l: Lang) -> Option<String> {
        Some(format!("{}\u{a0}%", format::fixed(self.of_local?.ratio * 100.0, 1, l)))
    }

    /// In per cent of the local cell, with the interval; `None` where there is none.
    pub fn percent(&self, l: Lang) -> Option<String> {
        let of = self.of_local?;
        let percent = |ratio: f64| format::fixed(ratio * 100.0, 1, l);
        let range = |(low, high)| format!(" ({}–{}\u{a0}%)", percent(low), percent(high));
        Some(format!("{}\u{a0}%{}", percent(of.ratio), of.interval.map(range).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::fixture::{case, run_of};
    use stend_spec::topology::NumaNode;
    use stend_spec::workload::Sync;

    /// A run of one case on every pair of so many nodes, the drive on the last one; rates by cell.
    fn of(nodes: u32, device: Option<u32>, rates: &[f64]) -> Vec<NumaFinding> {
        let mut spec = case("rand-read", 100, 32, Sync::None);
        spec.streams[0].placement.numa = Some(Numa::Every);
        let topology = Topology {
            nodes: (0..nodes).map(|node| NumaNode { node, cpus: vec![node * 2, node * 2 + 1] }).collect(),
            device,
        };
        let run = run_of(vec![spec]).inputs(move |inputs| inputs.target.topology = topology);
        analyse(&run.six_blocks(rates).record()).unwrap().numa
    }

    #[test]
    fn cells_are_told_in_per_cent_of_the_one_beside_the_drive_with_an_interval_over_blocks() {
        let found = of(2, Some(1), &[8_000.0, 9_000.0, 7_000.0, 10_000.0]);
        let [matrix] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((matrix.label.as_str(), matrix.rows().len(), matrix.columns().len()), ("rand-read", 2, 2));
        let ratio = |cpu, memory| matrix.cell(Some(cpu), Some(memory)).unwrap().of_local.unwrap();
        assert_eq!(ratio(1, 1), OfLocal { ratio: 1.0, interval: None });
        let far = ratio(1, 0);
        assert!((far.ratio - 0.7).abs() < 0.001 && far.interval.is_some_and(|(low, high)| low < 0.7 && 0.7 < high));
        let said = matrix.say();
        assert!(said.en.contains("threads on 1 with memory on 0: 70.0\u{a0}%"), "{}", said.en);
        assert!(said.ru.contains("у потоков на узле 1 с памятью на узле 0: 70,0\u{a0}%"), "{}", said.ru);
    }

    /// The same with a drive that gives an error in the cells of these numbers.
    fn with_errors(cells: &[u32]) -> NumaFinding {
        let mut spec = case("rand-read", 100, 32, Sync::None);
        spec.streams[0].placement.numa = Some(Numa::Every);
        let nodes = (0..2).map(|node| NumaNode { node, cpus: vec![node * 2, node * 2 + 1] }).collect();
        let topology = Topology { nodes, device: Some(1) };
        let run = run_of(vec![spec]).inputs(move |inputs| inputs.target.topology = topology);
        let mut record = run.six_blocks(&[8_000.0, 9_000.0, 7_000.0, 10_000.0]).record();
        for trial in record.trials.iter_mut().filter(|trial| cells.contains(&trial.case)) {
            let error = stend_record::IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: Some(0) };
            trial.outcome.as_mut().unwrap().errors.push(error);
        }
        analyse(&record).unwrap().numa.remove(0)
    }

    #[test]
    fn a_cell_with_a_failed_check_is_marked_and_compared_with_nothing() {
        let found = with_errors(&[2]);
        let cell = |cpu, memory| found.cell(Some(cpu), Some(memory)).unwrap();
        assert_eq!((cell(1, 0).of_local, cell(1, 0).failed.is_empty()), (None, false));
        assert!(cell(0, 0).of_local.is_some() && cell(0, 0).failed.is_empty());
        assert!(found.say().en.contains("threads on 0 with memory on 0: 80.0"), "{}", found.say().en);
        let local = with_errors(&[3]);
        assert!(local.cells.iter().all(|cell| cell.of_local.is_none()), "{local:?}");
        assert!(local.say().en.contains("a check of the local cell failed"), "{}", local.say().en);
    }

    #[test]
    fn where_no_cell_is_slower_than_the_local_one_that_is_said() {
        let said = of(2, Some(1), &[9_000.0, 9_000.0, 9_500.0, 8_000.0])[0].say();
        assert!(said.en.ends_with("on node 1; nothing is slower than threads and memory beside it."), "{}", said.en);
        assert!(said.ru.contains("не быстрее остальных"), "{}", said.ru);
    }

    #[test]
    fn one_node_is_one_cell_that_says_so_and_without_the_node_of_the_drive_nothing_is_local() {
        let one = of(1, None, &[10_000.0]);
        assert!(one[0].say().en.contains("one NUMA node") && one[0].cells[0].of_local.is_none(), "{one:?}");
        let unknown = of(2, None, &[8_000.0, 9_000.0, 7_000.0, 10_000.0]);
        assert!(unknown[0].say().en.contains("does not report"), "{unknown:?}");
        assert!(unknown[0].cells.iter().all(|cell| cell.of_local.is_none()));
        assert!(of(2, Some(1), &[8_000.0, 9_000.0, 7_000.0])[0].say().en.contains("did not run"));
    }
}
