//! One action on a stand outside of runs: planned, put up, shown or taken down, on each host where it lies.

use crate::control::Control;
use crate::frontend::{Frontend, Progress};
use crate::machine::{read_machine, start};
use crate::storage_hosts::{self, StandHost, part};
use crate::worker_host::{Hosts, WorkerHost, machine_of};
use std::collections::BTreeSet;
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::{EventKind, StandTargets, StandText};
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
    let near = WorkerHost::all_measured(&request.hosts, text)?;
    let far = text.map(|text| storage_hosts::hosts_of(text, &request.hosts)).transpose()?.unwrap_or_default();
    if let Some(text) = text.filter(|_| !far.is_empty()) {
        return match request.action {
            Action::Down => down_on_all(text, (&near, &far), (control, frontend), hear),
            _ => on_all(request, text, (&near, &far), (control, frontend), hear),
        };
    }
    let [near] = <[WorkerHost; 1]>::try_from(near).map_err(|_| needs_its_file())?;
    let brings = text.map(machine_of).transpose()?.flatten().is_some();
    let was_up = near.standing().is_some();
    let near = if brings { machine(near, request, control, frontend)? } else { near };
    let order = ordered(request, text, None)?;
    let answer = storage_hosts::order(&near, order, control, frontend, &mut |kind| frontend.tell(Progress::Done(kind)));
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

/// Why a stand that only its name says is on one host.
fn needs_its_file() -> Box<Error> {
    Error::usage(say!(
        "several `--ssh` are the load hosts of a stand of several hosts, and its file says which parts they have",
        "несколько `--ssh` — нагружающие машины стенда на нескольких машинах, а их части описаны в его файле"
    ))
    .hint(say!("give the file of the stand, or one `--ssh`", "укажите файл стенда или один `--ssh`"))
}

/// The words of commands about a stand of these hosts.
fn words_of(near: &[WorkerHost], far: &[StandHost]) -> String {
    near.iter().map(WorkerHost::words).chain(far.iter().map(StandHost::words)).collect()
}

/// Carries it out on all hosts of a stand, from the drives up.
fn on_all(
    request: &Request,
    text: &StandText,
    (near, far): (&[WorkerHost], &[StandHost]),
    (control, frontend): (&Control, &Frontend),
    hear: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<()> {
    let words = words_of(near, far);
    let text = match request.action {
        Action::Plan | Action::Up => of_one_number(text, far, control, frontend)?,
        Action::Status | Action::Down => text.clone(),
    };
    let sides = far.iter().map(|far| (&far.host, Some(far.name.as_str()))).chain(near.iter().map(|near| (near, None)));
    let (mut failed, mut up) = (None, Vec::new());
    for (host, side) in sides {
        let order = ordered(request, Some(&text), side)?;
        let answer =
            storage_hosts::order(host, order, control, frontend, &mut |kind| frontend.tell(Progress::Done(kind)));
        let answer = match answer {
            // The others are shown all the same.
            Err(error) if request.action == Action::Status => {
                let (Say { en, ru }, Say { en: why, ru: why_ru }) = (host.name(), &error.message);
                frontend.note(say!("`{en}`: {why}", "`{ru}`: {why_ru}"));
                failed = failed.or(Some(error));
                continue;
            }
            answer => answer?,
        };
        match answer {
            // What is up only as a part has no next commands.
            StandAnswer::Up(_) if side.is_some() => {}
            StandAnswer::Up(raised) => up.push((host, raised)),
            answer => hear(&Answer { answer, host: Some(host.name()), again: words.clone(), run: words.clone() })?,
        }
    }
    if let Some((raised, host)) = together(up) {
        hear(&Answer { answer: StandAnswer::Up(raised), host, again: words.clone(), run: words })?;
    }
    failed.map_or(Ok(()), Err)
}

/// What is measured on all of these hosts: behind the name of the host where they are several, since one thing has another path on each.
fn together(up: Vec<(&WorkerHost, StandTargets)>) -> Option<(StandTargets, Option<Say>)> {
    let up = match <[(&WorkerHost, StandTargets); 1]>::try_from(up) {
        Ok([(host, raised)]) => return Some((raised, Some(host.name()))),
        Err(up) if up.is_empty() => return None,
        Err(up) => up,
    };
    // Both words of a name are one: of several none is this machine.
    let named = |host: &WorkerHost, target: &String| format!("{}:{target}", host.name().en);
    let targets =
        up.iter().flat_map(|(host, raised)| raised.targets.iter().map(|target| named(host, target))).collect();
    let all = |of: fn(&StandTargets) -> &[String]| {
        let all: BTreeSet<&String> = up.iter().flat_map(|(_, raised)| of(raised)).collect();
        all.into_iter().cloned().collect()
    };
    let (identities, signatures) = (all(|raised| &raised.identities), all(|raised| &raised.signatures));
    Some((StandTargets { targets, identities, signatures }, None))
}

/// The text with the number that the stand has where a part of it is up: names on all of its hosts follow from one number.
fn of_one_number(text: &StandText, far: &[StandHost], control: &Control, frontend: &Frontend) -> Result<StandText> {
    let known = storage_hosts::owners_on(far, &text.name, control, frontend)?;
    Ok(StandText { nonce: storage_hosts::number_of(&known).unwrap_or(text.nonce), ..text.clone() })
}

/// Takes it down on all of its hosts, from above. The same command finishes later what is left.
fn down_on_all(
    text: &StandText,
    (near, far): (&[WorkerHost], &[StandHost]),
    (control, frontend): (&Control, &Frontend),
    hear: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<()> {
    let stand = stend_spec::parse::stand(&text.text, &text.file)?;
    let words = words_of(near, far);
    let from_above = far.iter().rev().map(|far| (&far.host, far.name.as_str()));
    let measured = stand.measured().unwrap_or_default();
    let hosts: Vec<_> = near.iter().map(|near| (near, measured)).chain(from_above).collect();
    let mut done = |host: &WorkerHost, was_there: bool| {
        let (again, run) = (words.clone(), words.clone());
        let Say { en, ru } = host.name();
        match was_there {
            true => hear(&Answer { answer: StandAnswer::Down, host: Some(host.name()), again, run }),
            false => {
                frontend.note(say!("nothing of the stand is left on `{en}`", "на `{ru}` от стенда ничего не осталось"));
                Ok(())
            }
        }
    };
    let mut tell = |kind: &EventKind| frontend.tell(Progress::Done(kind));
    let left = storage_hosts::take_down(&stand, &hosts, (control, frontend), &mut tell, &mut done)?;
    match left.is_empty() {
        true => Ok(()),
        false => Err(still_up(left, &text.file, &words)),
    }
}

/// What is left of a stand, host by host, and the command that finishes it.
fn still_up(left: Vec<(String, Box<Error>)>, file: &str, words: &str) -> Box<Error> {
    let each = |ru: bool| {
        let line = |(name, error): &(String, Box<Error>)| {
            let why = if ru { &error.message.ru } else { &error.message.en };
            format!("`{name}`: {why}")
        };
        left.iter().map(line).collect::<Vec<_>>().join("; ")
    };
    let (en, ru) = (each(false), each(true));
    let kind = left.first().map_or(Kind::Preflight, |(_, error)| error.kind);
    Error::new(kind, say!("the stand is not taken down everywhere: {en}", "стенд убран не везде: {ru}")).hint(say!(
        "when that is mended, `stend stand down {file}{words}` finishes it",
        "когда это исправлено, `stend stand down {file}{words}` уберёт остальное"
    ))
}

/// The order for one host of a stand, by its name in the file; `None`: for the measured one.
fn ordered(request: &Request, text: Option<&StandText>, host: Option<&str>) -> Result<StandOrder> {
    let file = || {
        text.map_or_else(
            || Err(Error::usage(say!("this needs the file of a stand", "для этого нужен файл стенда"))),
            |text| part(text, host),
        )
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
            let standing = control.hold(|stopped| start(file, stopped, frontend.hears))?;
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
