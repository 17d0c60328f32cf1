//! The phases of a run as stretches of its time.

use super::{caps, since};
use crate::chart::Band;
use stend_base::{Nanos, Say, say};
use stend_record::RunRecord;
use stend_record::observed::Phase;

/// There are eight phases, of which some may alternate; a damaged file may hold more.
const PHASES_MAX: usize = 24;

/// Phases of the run, each until the next or the end, and how many more there are.
pub fn of(run: &RunRecord, run_start: Nanos, run_end: Nanos) -> (Vec<Band>, usize) {
    let mut begun: Vec<(Nanos, Phase)> = run.phases().collect();
    let more = caps::cut(&mut begun, PHASES_MAX);
    let ends = begun.iter().skip(1).map(|b| b.0).chain([run_end]);
    let bands = begun
        .iter()
        .zip(ends)
        .map(|(&(from, phase), to)| Band {
            from: since(run_start, from),
            to: since(run_start, to),
            label: name(run, phase),
        })
        .filter(|band| band.to > band.from)
        .collect();
    (bands, more)
}

fn name(run: &RunRecord, phase: Phase) -> Say {
    match phase {
        Phase::Preflight => say!("preflight", "проверка"),
        Phase::Provision => say!("provision", "подготовка"),
        Phase::Calibrate => say!("ceilings", "потолки"),
        Phase::Fill if run.header.inputs.suite.precondition.is_some() => {
            say!("precondition", "предварительная запись")
        }
        Phase::Fill => say!("fill", "заполнение"),
        Phase::Arm => say!("arm", "вариант"),
        Phase::Measure => say!("measure", "измерение"),
        Phase::CleanUp => say!("clean-up", "уборка"),
        Phase::Replay => say!("replay", "воспроизведение"),
    }
}
