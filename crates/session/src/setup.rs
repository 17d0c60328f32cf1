//! What a run needs, from an order or from the file of a run that ended early.

use crate::frontend::Frontend;
use crate::hosts_again;
use crate::inputs::{self, since_1970};
use crate::load_hosts;
use crate::traces;
use crate::vms;
use crate::worker_host::{Hosts, WorkerHost};
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, say};
use stend_record::targets::{are_named, in_line, names};
use stend_record::{GateText, RunRecord, TargetFacts, store};
use stend_run::{Progressed, Resume, Setup};
use stend_spec::order::{NamedText, Order, SuiteWork};

/// What a new run needs, on a stand if its file is given. A dry run makes no directory.
pub(crate) fn setup(
    order: &Order,
    work: &SuiteWork,
    stand: Option<&NamedText>,
    dry: bool,
    frontend: &Frontend,
) -> Result<Setup> {
    let stand = stand.cloned().map(inputs::stand_text).transpose()?;
    let mut suite = inputs::asked(work)?;
    load_hosts::may_run(order, &suite)?;
    load_hosts::share(order, &mut suite)?;
    let traces = traces::ordered(&suite, Path::new(&work.directory), &work.traces)?;
    let now = since_1970();
    let id = store::new_run_id(now.as_secs(), stend_base::random::mix(now.as_nanos() as u64));
    let run_file = match &order.output {
        Some(path) => absolute(Path::new(path))?,
        None => {
            let directory = store::directory()?;
            if !dry {
                store::make_directory(&directory)?;
            }
            directory.join(format!("{id}.{}", store::EXTENSION))
        }
    };
    let place = WorkerHost::measured(&Hosts::of(order), stand.as_ref())?;
    let power = place.power();
    stend_run::may_cut(&suite, power.as_ref())?;
    let hypervisor = vms::hypervisor(order, &suite, dry, &|said| frontend.note(said))?;
    stend_run::may_hypervise(&suite, hypervisor.as_ref())?;
    let (hosts, targets) = load_hosts::reach(order, &place, frontend)?;
    Ok(Setup {
        suite,
        suite_text: work.suite.text.clone(),
        seed: work.seed,
        time_budget: work.time_budget,
        traces,
        targets,
        permission: order.permission.clone(),
        id,
        label: order.label.clone(),
        gate: gate(order),
        run_file,
        known_in: store::directory().ok(),
        command_line: frontend.command_line.clone(),
        hosts,
        on_loss: order.on_loss,
        power,
        hypervisor,
        started_unix: now.as_secs() as i64,
        boot_id: inputs::boot_id(),
        resume: None,
        stand,
        observed: Vec::new(),
        sources: None,
        returned: None,
        one_block: false,
    })
}

/// The file of a run that ended early, the run, and where it is. `tell` hears which newer ones are gone.
///
/// Errors: those of finding and reading it; `Preflight` for one in progress; `RunFile` for one that is complete.
pub(crate) fn ended_early(file: &str, tell: &dyn Fn(Say)) -> Result<(PathBuf, RunRecord, Progressed)> {
    let found = store::locate(file, &store::directory()?)?;
    found.note().into_iter().for_each(tell);
    let (run, progressed) = ended_early_at(&found.path)?;
    Ok((found.path, run, progressed))
}

fn ended_early_at(path: &Path) -> Result<(RunRecord, Progressed)> {
    if stend_run::is_going_on(path) {
        let shown = path.display();
        return Err(Error::preflight(say!(
            "the run in `{shown}` is still in progress",
            "прогон из `{shown}` ещё выполняется"
        ))
        .hint(say!("`stend watch {shown}` shows it", "`stend watch {shown}` покажет его")));
    }
    let run = inputs::read_run(path)?;
    let progressed = stend_run::progressed(&run)?;
    Ok((run, progressed))
}

/// A run that ended early goes on where it was: the suite, the seed and the target are those of its file.
pub(crate) fn resumed(file: &str, order: &Order, frontend: &Frontend) -> Result<Setup> {
    let (path, ..) = ended_early(file, &|note| frontend.note(note))?;
    resumed_at(&path, order, frontend)
}

/// The same of a run whose file is known: no text has every path.
pub(crate) fn resumed_at(path: &Path, order: &Order, frontend: &Frontend) -> Result<Setup> {
    let (run, progressed) = ended_early_at(path)?;
    let header = run.header;
    let place = WorkerHost::measured(&Hosts::of(order), header.stand.as_ref())?;
    let power = place.power();
    stend_run::may_cut(&header.inputs.suite, power.as_ref())?;
    let hypervisor = vms::hypervisor(order, &header.inputs.suite, false, &|said| frontend.note(said))?;
    stend_run::may_hypervise(&header.inputs.suite, hypervisor.as_ref())?;
    let (hosts, given) = hosts_again::reach(order, &progressed, (&place, header.stand.as_ref()), frontend)?;
    let targets = match hosts.as_slice() {
        [_] => targets_of_resumed(&progressed, given)?,
        _ => header.named,
    };
    Ok(Setup {
        suite: header.inputs.suite.clone(),
        suite_text: header.suite_text,
        seed: header.inputs.seed,
        time_budget: header.inputs.time_budget,
        traces: traces::again(&header.inputs.traces)?,
        targets,
        permission: order.permission.clone(),
        id: header.id,
        label: header.label,
        gate: header.gate,
        run_file: absolute(path)?,
        known_in: store::directory().ok(),
        command_line: header.command_line,
        hosts,
        on_loss: order.on_loss,
        power,
        hypervisor,
        started_unix: header.started_unix,
        boot_id: inputs::boot_id(),
        resume: Some(Resume { progressed, realtime_offset_ns: header.realtime_offset_ns }),
        stand: header.stand,
        observed: Vec::new(),
        sources: None,
        returned: None,
        one_block: false,
    })
}

/// The limits of the order, for the run file.
fn gate(order: &Order) -> Option<GateText> {
    let NamedText { file, text } = match (&order.gate, order.expect.as_slice()) {
        (None, []) => return None,
        (file, _) => file.clone().unwrap_or(NamedText { file: String::new(), text: String::new() }),
    };
    Some(GateText { file, text, expect: order.expect.clone() })
}

/// The targets of the earlier sessions of the only host, or those that the next arm puts in their place.
fn targets_of_resumed(progressed: &Progressed, given: Vec<String>) -> Result<Vec<String>> {
    let earlier: &[TargetFacts] = progressed.loads.first().map_or(&[], |load| load.targets.as_slice());
    if given.is_empty() {
        return Ok(names(earlier));
    }
    let (then, now) = (in_line(&names(earlier)), in_line(&given));
    match are_named(earlier, &given) || progressed.new_target {
        true => Ok(given),
        false => Err(Error::usage(say!(
            "the run continues on `{then}`, not on `{now}`",
            "прогон продолжается на `{then}`, а не на `{now}`"
        ))
        .hint(say!(
            "only an arm that has `target_identity` in `expect` replaces the target",
            "объект заменяет только вариант, у которого в `expect` есть `target_identity`"
        ))),
    }
}

/// A path that does not depend on where Stend runs.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|e| {
        let path = path.display();
        Error::usage(say!("cannot use `{path}`: {e}", "нельзя использовать `{path}`: {e}"))
    })
}
