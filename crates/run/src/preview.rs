//! A dry run: each worker looks at its targets as for a run and says what it would change; then it is let go.

use crate::ahead;
use crate::channel::{Channel, lost, next_within, out_of_order};
use crate::execute;
use crate::fleet::{Fleet, Together, doubt, part_of, together};
use crate::setup::Setup;
use crate::step::{Asked, Input, UserRequest, no_answer};
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use stend_analyse::preview::{Ahead, LoadHostAhead, Preview, preview as lay_out};
use stend_base::{Error, Kind, Nanos, Result, Say, say};
use stend_record::HostId;
use stend_wire::{FromHost, Reply, Request};

/// Longest wait for an answer: as long as a run waits for its first.
const ANSWER_LIMIT: Duration = Duration::from_secs(150);
/// How long the worker may take to exit; it holds nothing.
const END_LIMIT: Duration = Duration::from_secs(15);

/// What [`execute`](crate::execute) would do with the same setup, found out without changing anything.
///
/// Errors are those of the run: `Unsafe` where it would be refused, `Preflight`, `Usage`, `Spec`.
pub fn preview(setup: Setup, channel: Channel) -> Result<Preview> {
    let Channel { sender, receiver } = channel;
    let asked = execute::asked(&setup);
    let mut fleet = Fleet::new(setup.hosts, setup.on_loss);
    fleet.listen(move |host, message| drop(sender.send(Input::From(host, message))))?;
    let found = ask(&asked, &mut fleet, &receiver);
    // They hold nothing: whether one had to be killed makes no difference to what it said.
    let _ended = fleet.end(END_LIMIT);
    found
}

fn ask(asked: &Asked, fleet: &mut Fleet, receiver: &Receiver<Input>) -> Result<Preview> {
    let mut all = Vec::new();
    for (host, reply) in answers(&Request::Inspect(asked.inspect.clone()), fleet, receiver)? {
        let Reply::Facts(facts) = reply else { return Err(fleet.named(host, out_of_order())) };
        all.push((host, *facts));
    }
    let together = together(&all).map_err(|(host, error)| fleet.named(host, error))?;
    let Together { facts, part } = together.ok_or_else(|| lost(&say!("there is none", "его нет")))?;
    let (inputs, plan) = ahead::planned(asked, &facts, &all)?;
    let mut rehearsed = Vec::new();
    for (host, reply) in answers(&Request::Rehearse(ahead::prepare(asked, &plan)), fleet, receiver)? {
        let Reply::Rehearsed(rehearsal) = reply else { return Err(fleet.named(host, out_of_order())) };
        rehearsed.push(rehearsal);
    }
    let names = fleet.names();
    let doubt = doubt(&all, |host| names.get(host.index()).cloned().unwrap_or_default());
    let ahead = Ahead {
        in_blocks: asked.one_block,
        trials_before: asked.resume.as_ref().map(|earlier| earlier.trials),
        steps: by_host(&names, rehearsed.iter().map(|rehearsal| &rehearsal.steps)),
        undo: by_host(&names, rehearsed.iter().map(|rehearsal| &rehearsal.undo)),
        samples_zeros: ahead::reads(&plan, &inputs.target),
        run_file: asked.run_file.clone(),
        run_file_size: ahead::expected_size(&plan, all.len()),
        shares_drive: facts.shares_drive,
        ledger: (ahead::keeps_ledger(&plan) && !ahead::replays(asked)).then(|| ahead::ledger_of(asked)),
        warnings: doubt.into_iter().collect(),
        hosts: names
            .into_iter()
            .zip(all)
            .map(|(name, (host, facts))| LoadHostAhead {
                name,
                targets: facts.targets,
                part: part.map(|len| part_of(host, len)),
            })
            .collect(),
        // The caller of the preview writes the report, and knows where.
        ..Ahead::default()
    };
    Ok(lay_out(&inputs, &plan, &facts.host, &facts.targets, ahead))
}

/// The steps of each host, one host after the other, with its name where there are several.
fn by_host<'a>(names: &[String], steps: impl Iterator<Item = &'a Vec<Say>>) -> Vec<Say> {
    let named = |(host, steps): (usize, &'a Vec<Say>)| {
        let host = names.get(host).map_or_else(String::new, |name| format!("{name}: "));
        steps.iter().map(move |step| Say::both(|lang| format!("{host}{}", step.get(lang)))).collect::<Vec<_>>()
    };
    steps.enumerate().flat_map(named).collect()
}

/// The next reply of each host, in the order of their ids; an error that one reports is ours.
fn answers(request: &Request, fleet: &mut Fleet, receiver: &Receiver<Input>) -> Result<BTreeMap<HostId, Reply>> {
    // Nothing of it begins at a time.
    fleet.send(request, Nanos(0));
    let mut found = BTreeMap::new();
    while found.len() < fleet.count() {
        match next_within(ANSWER_LIMIT, |piece| receiver.recv_timeout(piece)) {
            Ok(Input::From(host, FromHost::Reply(Reply::Failed(error)))) => return Err(fleet.named(host, error)),
            // How long the look takes.
            Ok(Input::From(_, FromHost::Reply(Reply::Event(_)))) => {}
            Ok(Input::From(host, FromHost::Reply(reply))) => drop(found.insert(host, reply)),
            Ok(Input::From(host, FromHost::Lost(detail))) => return Err(fleet.named(host, lost(&Say::same(detail)))),
            Ok(Input::User(UserRequest::Stop(kind))) => return Err(interrupted(kind)),
            Ok(Input::User(UserRequest::Abort)) => return Err(interrupted(Kind::Interrupted)),
            // There is no run file, and nobody sends ticks or cuts power.
            Ok(Input::RunFile(_) | Input::Cut(_) | Input::MachinesChanged(_) | Input::Tick | Input::Host(_)) => {}
            Ok(
                Input::TrialDone { .. } | Input::Facts { .. } | Input::Filled(_) | Input::Zeros(_) | Input::AllLost(_),
            ) => {}
            Err(_) => return Err(lost(&no_answer())),
        }
    }
    Ok(found)
}

fn interrupted(kind: Kind) -> Box<Error> {
    Error::new(kind, say!("interrupted; nothing was changed", "прервано; ничего не изменено"))
}
