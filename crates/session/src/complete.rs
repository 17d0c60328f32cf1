//! Orders that depend on nothing but what they hold.

use crate::setup::absolute;
use crate::{inputs, traces};
use std::path::Path;
use stend_base::{Error, Result, Say};
use stend_spec::order::{NamedText, Order, TraceFile, Work};

/// The order as a file that means the same wherever it is carried out on this machine: paths are whole, and traces are those that
/// are there now.
///
/// Errors: those of reading what the order names, and of [`stend_spec::parse::order`] where the command line asks for what no order can.
pub fn complete(mut order: Order) -> Result<String> {
    if let Work::Suite(work) = &mut order.work {
        let suite = inputs::asked(work)?;
        let directory = absolute(match work.directory.as_str() {
            "" => Path::new("."),
            directory => Path::new(directory),
        })?;
        if suite.traces().is_empty() {
            work.directory.clear();
        } else {
            work.traces = traces::of_suite(&suite, &directory)?.iter().map(|trace| as_it_is(&trace.facts)).collect();
            work.directory = shown(&directory);
        }
    }
    for NamedText { file, .. } in &mut order.stands {
        *file = shown(&absolute(Path::new(file))?);
    }
    let mut order = with_whole_targets(&order)?;
    if let Some(lab) = order.lab.as_mut().filter(|lab| Path::new(lab).exists()) {
        *lab = shown(&absolute(Path::new(lab))?);
    }
    if let Some(output) = &mut order.output {
        *output = shown(&absolute(Path::new(output))?);
    }
    let text = written(&order)?;
    stend_spec::parse::order(&text, "the order")?;
    Ok(text)
}

/// The order with whole paths of its targets: `.` in a list of runs says nothing, and another directory may resume the run.
///
/// Errors: `Usage` for a path that cannot be made whole.
pub(crate) fn with_whole_targets(order: &Order) -> Result<Order> {
    let mut order = order.clone();
    // What is there by this name is meant; anything else is an identity, or lies on another machine.
    let here = order.lab.is_none() && order.ssh.is_empty() && order.hosts.is_none();
    let targets = order.on.iter_mut().chain(&mut order.against);
    for target in targets.filter(|target| here && Path::new(target).exists()) {
        *target = shown(&absolute(Path::new(target))?);
    }
    Ok(order)
}

/// An order as a file.
///
/// Errors: a bug.
pub(crate) fn written(order: &Order) -> Result<String> {
    let bug = |error: serde_json::Error| Error::bug(Say::same(format!("the order is not JSON: {error}")));
    serde_json::to_string_pretty(order).map_err(bug)
}

fn as_it_is(facts: &stend_spec::trace::TraceFacts) -> TraceFile {
    TraceFile { file: facts.path.clone(), sha256: facts.sha256.clone() }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
