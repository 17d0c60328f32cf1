//! One action on a stand outside of runs: planned, put up, shown or taken down, on each host where it lies.

use crate::control::Control;
use crate::frontend::{Frontend, Progress};
use crate::machine::{read_machine, start};
use crate::storage_host::{self, part};
use crate::worker_host::{Hosts, WorkerHost, machine_of};
use stend_base::{Error, Result, Say, say};
use stend_record::StandText;
use stend_spec::stand::Side;
use stend_wire::{StandAnswer, StandOrder};

/// Who has put a stand up that belongs to no run.
const OWNER: &str = "stend stand up";

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Tells what `Up` would do.
    Plan,
    /// Builds it.
    Up,
    /// Tells what is up.
    Status,
    /// Undoes it.
    Down,
}

/// What is asked.
pub struct Request {
    /// What is done.
    pub action: Action,
    /// The stand by its file, if it was given so; `Plan` and `Up` need one.
    pub text: Option<StandText>,
    /// Its name; `None`: all stands.
    pub name: Option<String>,
    /// Where it lies.
    pub hosts: Hosts,
}

/// What a host answered.
pub struct Answer {
    /// The answer.
    pub answer: StandAnswer,
    /// The host, where the stand lies on two.
    pub host: Option<Say>,
    /// What commands about this stand need to reach the same hosts, with a space before it.
    pub again: String,
    /// The same of runs on it.
    pub run: String,
}

/// Does it, and hands over what each host answers.
///
/// Errors: those of the hosts and of `hear`; `Usage` where the file does not fit the hosts.
pub fn stand(
    request: &Request,
    control: &Control,
    frontend: &Frontend,
    hear: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<()> {
    let text = request.text.as_ref();
    let near = WorkerHost::measured(&request.hosts, text)?;
    let far = text.map(|text| storage_host::host_of(text, &request.hosts)).transpose()?.flatten();
    if let Some(far) = far {
        return on_both(request, (&near, &far), (control, frontend), hear);
    }
    let brings = text.map(machine_of).transpose()?.flatten().is_some();
    let was_up = near.standing().is_some();
    let near = if brings { machine(near, request, control, frontend)? } else { near };
    let order = ordered(request, Side::Client)?;
    let answer = storage_host::order(&near, order, control, frontend, &mut |kind| frontend.tell(Progress::Done(kind)));
    // With what is not up after all the machine that was started for it has no use.
    let failed = brings && !was_up && answer.is_err();
    let over = failed || (request.action == Action::Down && answer.is_ok());
    let ended = if over { end_machine(&near, request, frontend) } else { Ok(()) };
    let answer = answer?;
    ended?;
    // The file, given again, means the same machine.
    let again = if brings { String::new() } else { near.words() };
    hear(&Answer { answer, host: None, again, run: near.words() })
}

/// Carries it out on both hosts of a stand: from the drives up, but down from above.
fn on_both(
    request: &Request,
    (near, far): (&WorkerHost, &WorkerHost),
    (control, frontend): (&Control, &Frontend),
    hear: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<()> {
    let words = near.words() + &far.words_of_storage();
    let sides = match request.action {
        Action::Down => [(near, Side::Client), (far, Side::Storage)],
        _ => [(far, Side::Storage), (near, Side::Client)],
    };
    // Both sides have one number, from which their names follow.
    for (host, side) in sides {
        let order = ordered(request, side)?;
        let answer =
            storage_host::order(host, order, control, frontend, &mut |kind| frontend.tell(Progress::Done(kind)))?;
        // What is up only as a part has no next commands.
        if side == Side::Storage && matches!(answer, StandAnswer::Up(_)) {
            continue;
        }
        hear(&Answer { answer, host: Some(host.name()), again: words.clone(), run: words.clone() })?;
    }
    Ok(())
}

/// The order for the host of one side.
fn ordered(request: &Request, side: Side) -> Result<StandOrder> {
    let file = || {
        let text = request.text.as_ref();
        text.map(|text| part(text, side))
            .ok_or_else(|| Error::usage(say!("this needs the file of a stand", "для этого нужен файл стенда")))
    };
    let name = request.name.clone();
    Ok(match request.action {
        Action::Plan => StandOrder::Plan(file()?),
        Action::Up => StandOrder::Up { stand: file()?, until_release: false, owner: OWNER.to_string() },
        Action::Status => StandOrder::Status(name),
        Action::Down => StandOrder::Down(name.unwrap_or_default()),
    })
}

/// The machine that a stand makes: started if the stand is to be put up, and there for everything but a plan.
fn machine(place: WorkerHost, request: &Request, control: &Control, frontend: &Frontend) -> Result<WorkerHost> {
    let WorkerHost::Lab(file) = &place else { return Ok(place) };
    match request.action {
        _ if place.standing().is_some() => Ok(place),
        Action::Up => {
            // Ctrl-C then ends the machine, not this program before it could.
            let (standing, _) = control.hold(|stopped| start(file, false, stopped, frontend.hears))?;
            standing.belongs_to(request.name.as_deref().unwrap_or_default())?;
            Ok(WorkerHost::Lab(standing.name))
        }
        Action::Plan => Ok(place),
        Action::Status | Action::Down => {
            let (machine, _) = read_machine(file)?;
            let name = machine.name;
            Err(Error::preflight(say!(
                "the machine `{name}` of the stand is not running, so nothing is left of the stand",
                "машина `{name}` этого стенда не запущена, от стенда ничего не осталось"
            )))
        }
    }
}

/// Ends the machine that a stand had made, with the stand.
fn end_machine(place: &WorkerHost, request: &Request, frontend: &Frontend) -> Result<()> {
    let name = request.name.as_deref().unwrap_or_default();
    if let Some(standing) = place.standing().filter(|standing| standing.is_of(name)) {
        standing.down()?;
        let name = &standing.name;
        frontend.note(say!("the machine `{name}` is down", "машина `{name}` завершена"));
    }
    Ok(())
}
