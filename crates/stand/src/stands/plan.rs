//! What putting up a stand would do, without doing any of it.

use super::journal;
use super::kernel_state::KernelState;
use super::{LocalStand, drives, here};
use crate::access::Viewer;
use crate::change::{Action, Journal, StandHead};
use crate::devices::Devices;
use crate::node::Node;
use crate::roots::Roots;
use stend_base::Result;
use stend_record::{PlannedDrive, PlannedStep, StandPlan, TargetFacts, WriteAccess};
use stend_spec::stand::Stand;

/// What [`put_up`](super::put_up) would do. Changes nothing; a drive that is not here, or would be refused, is listed and no
/// error.
///
/// Errors: `Preflight` where a layer asks for more than there is on the drives.
pub fn plan_stand(stand: &Stand, text: &str, file: &str, nonce: u64) -> Result<StandPlan> {
    let roots = here();
    let known = journal::look(&roots, &stand.name)?
        .filter(|journal| super::stand_of(journal).is_ok_and(|other| other == *stand));
    let is_up = known.is_some();
    let journal = known.unwrap_or_else(|| {
        Journal::imagined(StandHead::new(file, text, nonce, Vec::new(), "").of(stand.here.as_deref()))
    });
    let head = journal.stand().cloned().ok_or_else(super::no_head)?;
    let planned = plan_drives(&roots, &Devices::read(&roots), stand, is_up)?;
    if !is_up {
        let sizes: Vec<Option<u64>> = planned.iter().map(|drive| drive.size.map(|size| size.0)).collect();
        drives::must_have_room(stand, &sizes, file)?;
    }
    let paths = planned.iter().map(|drive| drive.paths.clone()).collect();
    let local = LocalStand { stand, nonce: head.nonce, drives: paths };
    let kernel = KernelState::new(&roots, &journal);
    let (mut steps, mut undo) = (Vec::new(), Vec::new());
    for layer in stand.layers_here() {
        for step in local.make(&kernel, layer).steps {
            undo.extend(step.undone_by().rev().map(Action::shell));
            // What is only done after a restart of the machine is no part of a first time.
            if !is_up && step.done.is_of_a_restart() {
                continue;
            }
            let mine = |path: &&String| local.drives.iter().flatten().any(|drive| drive == *path);
            steps.push(PlannedStep {
                layer: layer.name.clone(),
                destroys: step.erases.iter().filter(mine).cloned().collect(),
                commands: step.apply.iter().map(Action::shell).collect(),
                done: kernel.shows(&step.done),
                what: step.what,
            });
        }
    }
    undo.reverse();
    // Steps of a layer that undo the same do so once.
    let mut listed = std::collections::BTreeSet::new();
    undo.retain(|shell: &String| listed.insert(shell.clone()));
    Ok(StandPlan { name: stand.name.clone(), is_up, drives: planned, steps, undo, targets: local.targets(&kernel) })
}

/// The drives of a stand, with what would be lost on each and why it would be refused, unless the stand is up.
fn plan_drives(roots: &Roots, devices: &Devices, stand: &Stand, is_up: bool) -> Result<Vec<PlannedDrive>> {
    let (mut planned, mut ways_to, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for drive in stand.drives_here() {
        let ways = stand.paths_to(&drive.name);
        let found = drives::find(roots, devices, &drive.id, ways)?;
        let names: Vec<&str> = found.iter().map(|node| node.name.as_str()).collect();
        let others = |node: &Node| names.iter().copied().filter(|name| *name != node.name).collect::<Vec<_>>();
        let facts = found.iter().map(|node| drives::look(roots, node, devices, &others(node), Viewer::Stranger));
        let facts: Vec<TargetFacts> = facts.collect();
        ways_to.push((drive, facts.iter().map(|facts| facts.path.clone()).collect::<Vec<_>>()));
        all.extend(facts);
    }
    // All at the same time: one that spins takes seconds.
    let all = drives::sampled(all, &mut |_| {});
    for (drive, paths) in ways_to {
        let facts: Vec<_> = paths.iter().filter_map(|path| all.iter().find(|facts| facts.path == *path)).collect();
        let complete = match paths.len() {
            // Its lacking paths show that it is not here.
            0 => Ok(()),
            count => drives::must_be_so_many(&drive.name, &drive.id, count, stand.paths_to(&drive.name)),
        };
        let free = || facts.iter().try_for_each(|facts| drives::must_be_free(facts, &stand.overwrite));
        let refused = if is_up { None } else { complete.and_then(|()| free()).err() };
        let signatures = facts.iter().find_map(|facts| match &facts.access {
            WriteAccess::Confirm { signatures, .. } => Some(signatures.clone()),
            _ => None,
        });
        planned.push(PlannedDrive {
            name: drive.name.clone(),
            id: drive.id.clone(),
            size: facts.first().map(|facts| facts.size),
            signatures: signatures.unwrap_or_default(),
            refused: refused.map(|error| error.message),
            paths,
        });
    }
    Ok(planned)
}
