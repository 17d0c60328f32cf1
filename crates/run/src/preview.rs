//! A dry run: the worker looks at the target as for a run and says what it would change; then it is let go.

use crate::ahead;
use crate::channel::{Channel, lost, out_of_order};
use crate::courier;
use crate::execute::{self, Setup};
use crate::fleet::LoadHost;
use crate::step::{Asked, Input, Wish};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use stend_analyse::preview::{Ahead, Preview, preview as lay_out};
use stend_base::{Error, Kind, Result, say};
use stend_plan::{Plan, PlanInputs};
use stend_wire::{FromHost, Host, Reply, Request};

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
    let Some(LoadHost { mut host, .. }) = setup.hosts.into_iter().next() else { return Err(lost("there is none")) };
    host.listen(move |message| drop(sender.send(Input::Host(message))))?;
    let found = ask(&asked, &mut host, &receiver);
    // It holds nothing: whether it had to be killed makes no difference to what it said.
    let _ended = host.end(END_LIMIT);
    found
}

fn ask(asked: &Asked, host: &mut Host, receiver: &Receiver<Input>) -> Result<Preview> {
    host.send(&Request::Inspect(asked.inspect.clone()));
    let Reply::Facts(facts) = answer(receiver)? else { return Err(out_of_order()) };
    let inputs = PlanInputs {
        suite: asked.suite.clone(),
        seed: asked.seed,
        target: ahead::plan_target(&facts),
        time_budget: asked.time_budget,
        traces: courier::facts(&asked.traces),
    };
    let plan = ahead::with_its_ledger(Plan::new(&inputs)?, &facts, asked)?;
    host.send(&Request::Rehearse(ahead::prepare(asked, &plan)));
    let Reply::Rehearsed(rehearsal) = answer(receiver)? else { return Err(out_of_order()) };
    let ahead = Ahead {
        in_blocks: asked.one_block,
        steps: rehearsal.steps,
        undo: rehearsal.undo,
        samples_zeros: ahead::reads(&plan, &inputs.target),
        run_file: asked.run_file.clone(),
        run_file_size: ahead::expected_size(&plan),
        shares_drive: facts.shares_drive,
        ledger: (ahead::keeps_ledger(&plan) && !ahead::replays(asked)).then(|| ahead::ledger_of(asked)),
        // Whoever asked for the preview writes the report, and knows where.
        ..Ahead::default()
    };
    Ok(lay_out(&inputs, &plan, &facts.host, &facts.targets, ahead))
}

/// The next reply of the worker; an error that it reports is ours.
fn answer(receiver: &Receiver<Input>) -> Result<Reply> {
    loop {
        match receiver.recv_timeout(ANSWER_LIMIT) {
            Ok(Input::Host(FromHost::Reply(Reply::Failed(error)))) => return Err(error),
            // How long the look takes.
            Ok(Input::Host(FromHost::Reply(Reply::Event(_)))) => {}
            Ok(Input::Host(FromHost::Reply(reply))) => return Ok(reply),
            Ok(Input::Host(FromHost::Lost(detail))) => return Err(lost(&detail)),
            Ok(Input::Wish(Wish::Stop(kind))) => return Err(interrupted(kind)),
            Ok(Input::Wish(Wish::Abort)) => return Err(interrupted(Kind::Interrupted)),
            // Of a run file there is none, and nobody sends ticks or cuts power.
            Ok(Input::RunFile(_) | Input::Cut(_) | Input::Tick | Input::From(..) | Input::TrialDone { .. }) => {}
            Err(_) => return Err(lost("no answer in time")),
        }
    }
}

fn interrupted(kind: Kind) -> Box<Error> {
    Error::new(kind, say!("interrupted; nothing was changed", "прервано; ничего не изменено"))
}
