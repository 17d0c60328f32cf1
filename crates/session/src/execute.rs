//! A run from its beginning to its end, whatever interrupts it.

use crate::Progress;
use crate::control::Control;
use crate::frontend::Frontend;
use crate::load_hosts;
use crate::observe;
use crate::setup::resumed;
use crate::sources;
use crate::storage_hosts::{self, StorageHosts};
use crate::worker_host::{Hosts, WorkerHost};
use std::path::Path;
use stend_base::{Kind, Result, say};
use stend_record::targets::in_line;
use stend_record::{RunState, StandText, store};
use stend_run::{Done, ObservedHost, Returned, Setup};
use stend_spec::arm::Switch;
use stend_spec::order::Order;

/// Executes a run, over the steps of persons that it waits for and the cuts of power that it asks for.
pub(crate) fn to_its_end(setup: Setup, order: &Order, control: &Control, frontend: &Frontend) -> Result<Done> {
    let mut setup = setup;
    let stand = setup.stand.clone();
    let given = Hosts::of(order);
    let places = WorkerHost::all_measured(&given, stand.as_ref())?;
    let owner = setup.run_file.to_string_lossy().into_owned();
    // Before anything is built on a host with the drives of a stand, and before hours are measured for nothing.
    if setup.resume.is_none() {
        store::may_create(&setup.run_file)?;
    }
    (frontend.may_report)(&setup.run_file)?;
    let beside = match &stand {
        Some(stand) => storage_hosts::hosts_of(stand, &given)?,
        None if given.storage.is_empty() => Vec::new(),
        None => return Err(load_hosts::no_stand()),
    };
    let storages = beside.len();
    // What the suite may not do is refused before anything is written anywhere.
    stend_stand::may_execute(&setup.permission, &setup.suite.changes())?;
    let observed = observe::begin(order, &setup, storages, true, frontend)?;
    setup.sources = sources::begin(order, true, frontend)?;
    let mut storage = match &mut setup.stand {
        Some(stand) => Some(StorageHosts::put_up(stand, &owner, beside, control, frontend)?),
        None => None,
    };
    let done = sessions(setup, observed, (order, &places[0]), storage.as_mut(), control, frontend);
    let Some(stand) = stand else { return done };
    match storage.filter(|storage| storage.len() > 0) {
        // Under a client that has not let go it would be a fault of the storage.
        Some(storage) if done.is_err() || !places.iter().all(|place| has_let_go(place, &stand, control, frontend)) => {
            frontend.note(storage.left(&places));
        }
        Some(storage) => storage.take_down(control, frontend).into_iter().for_each(|left| frontend.note(left)),
        None => {
            if let Ok(done) = &done {
                left_up(&stand, done, &places[0], (control, frontend));
            }
        }
    }
    done
}

/// Whether nothing of a stand is left on a measured host, so that what the others hand out may go. One that cannot be asked has not let go.
fn has_let_go(place: &WorkerHost, stand: &StandText, control: &Control, frontend: &Frontend) -> bool {
    // A machine of the lab that was started for this run alone has ended with it.
    let ended = matches!(place, WorkerHost::Lab(_)) && place.standing().is_none();
    ended || matches!(storage_hosts::owner_on(place, &stand.name, control, frontend), Ok(None))
}

/// The sessions of a run: it goes on after steps of persons and cuts of power.
fn sessions(
    setup: Setup,
    observed: Vec<ObservedHost>,
    (order, place): (&Order, &WorkerHost),
    mut storage: Option<&mut StorageHosts>,
    control: &Control,
    frontend: &Frontend,
) -> Result<Done> {
    let (mut setup, mut observed) = (setup, observed);
    let storages = storage.as_ref().map_or(0, |storage| storage.len());
    loop {
        let (channel, stopper) = stend_run::channel();
        control.aim(Some(stopper));
        let on = setup.stand.as_ref().map_or_else(|| in_line(&setup.targets), |stand| stand.name.clone());
        if let Some(storage) = storage.as_deref_mut() {
            storage.watch(&mut setup, frontend);
        }
        setup.observed.append(&mut observed);
        frontend.tell(Progress::Began { run: &setup.id, suite: &setup.suite.name, on: &on });
        let done = stend_run::execute(setup, channel, &mut |update| frontend.tell(Progress::Update(update)));
        frontend.tell(Progress::Paused);
        let Some(path) = &done.run_file else { return Ok(done) };
        let goes_on = || -> Result<Setup> { resumed(&path.to_string_lossy(), order, frontend) };
        setup = match done.cut {
            None if done.asks && person_is_ready(path, control, frontend)? => goes_on()?,
            None => return Ok(done),
            Some(cut) => {
                // Until then Ctrl-C ends all of it; the run file says where it was.
                control.aim(None);
                place.wait_until_it_answers(frontend)?;
                let returned = Some(Returned { cut, answered: stend_wire::now() });
                Setup { returned, ..goes_on()? }
            }
        };
        observed = observe::begin(order, &setup, storages, false, frontend)?;
        setup.sources = sources::begin(order, false, frontend)?;
    }
}

/// Names the stand of one host that a run has left, and what takes it down.
fn left_up(stand: &StandText, done: &Done, place: &WorkerHost, (control, frontend): (&Control, &Frontend)) {
    let (name, words) = (&stand.name, place.words());
    let still_there = || match done.error.as_ref().map(|error| error.kind) {
        None => false,
        // A host that is gone cannot be asked.
        Some(Kind::HostLost | Kind::Interrupted | Kind::Terminated) => true,
        Some(_) => !has_let_go(place, stand, control, frontend),
    };
    let told = match place {
        WorkerHost::Local if !stend_stand::known_stands().contains(name) => return,
        WorkerHost::Local => say!(
            "the stand `{name}` is still up; `stend stand down {name}` takes it down",
            "стенд `{name}` остался поднятым; убрать его: `stend stand down {name}`"
        ),
        // One of this run alone has ended with it.
        WorkerHost::Lab(_) if place.standing().is_none() => return,
        WorkerHost::Lab(_) | WorkerHost::Remote(_) | WorkerHost::Vm(_) if !still_there() => return,
        WorkerHost::Lab(_) | WorkerHost::Remote(_) | WorkerHost::Vm(_) => {
            let there = place.name().en;
            say!(
                "the stand `{name}` may still be up on `{there}`: `stend stand status{words}` shows it, `stend stand down {name}{words}` takes it down",
                "стенд `{name}` мог остаться поднятым на `{there}`: покажет `stend stand status{words}`, уберёт `stend stand down {name}{words}`"
            )
        }
    };
    frontend.note(told);
}

/// If the run waits for a person and somebody is there: whether they did what is to be done. A reboot cannot be waited for.
fn person_is_ready(path: &Path, control: &Control, frontend: &Frontend) -> Result<bool> {
    let run = store::read(path)?;
    let RunState::Suspended { arm, instruction } = &run.state else { return Ok(false) };
    let next = run.header.inputs.suite.arms.get(*arm as usize);
    let waits = next.is_some_and(|arm| matches!(arm.switch, Switch::Person { .. }));
    let Some(ready) = frontend.ready.filter(|_| waits) else { return Ok(false) };
    control.aim(None);
    Ok(ready(next.map_or("", |arm| &arm.name), instruction))
}
