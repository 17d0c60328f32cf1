//! `stend stand`: plans, puts up, shows and takes down stands on this host.

use super::lab;
use super::place::{Place, machine_of};
use super::signals::Stoppers;
use super::storage;
use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use stend_base::{Error, Kind, Result, Say, say};
use stend_host::{StandAnswer, StandFile, StandOrder};
use stend_record::{EventKind, StandText};
use stend_spec::stand::Side;

/// Carries out one action.
pub fn stand(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let given = arguments.get_one::<String>("FILE").map(String::as_str);
    let order = match (super::required(arguments, "ACTION"), given) {
        ("status", None) => StandOrder::Status(None),
        ("status", Some(given)) => StandOrder::Status(Some(name_of(given)?)),
        ("down", Some(given)) => StandOrder::Down(name_of(given)?),
        ("plan", Some(given)) => StandOrder::Plan(file_of(read(given)?)),
        ("up", Some(given)) => {
            let owner = "stend stand up".to_string();
            StandOrder::Up { stand: file_of(read(given)?), until_release: false, owner }
        }
        (action, _) => {
            return Err(Error::new(
                Kind::Usage,
                say!("`stend stand {action}` needs a stand file", "`stend stand {action}` требует файл стенда"),
            )
            .hint(say!(
                "for example `stend stand {action} stand.yaml`",
                "например `stend stand {action} stand.yaml`"
            )));
        }
    };
    let stoppers = super::signals::watch_signals()?;
    let text = given.filter(|given| Path::new(given).is_file()).map(read).transpose()?;
    let far = text.as_ref().map(|text| storage::host_of(text, arguments)).transpose()?.flatten();
    let near = Place::measured(arguments, text.as_ref())?;
    let Some((far, text)) = far.zip(text.clone()) else {
        let brings = text.as_ref().map(machine_of).transpose()?.flatten().is_some();
        let was_up = lab::standing_at(&near).is_some();
        let near = if brings { machine(near, &order, &stoppers, out)? } else { near };
        let answer = storage::order(&near, order.clone(), &stoppers, out, &mut |kind| tell(kind, out));
        let name = text.as_ref().map_or_else(|| given.unwrap_or_default(), |text| &text.name);
        // With what is not up after all the machine that was started for it has no use.
        let failed = brings && !was_up && answer.is_err();
        let over = failed || (matches!(order, StandOrder::Down(_)) && answer.is_ok());
        let ended = if over { end_machine(&near, name, out) } else { Ok(()) };
        let answer = answer?;
        ended?;
        // Whoever gives the file again means the same machine.
        let words = if brings { String::new() } else { near.words() };
        return show(&answer, given.unwrap_or_default(), (&words, &near.words()), out);
    };
    on_both(order, (&near, &far), &text, &stoppers, out)
}

/// The machine that a stand makes: started if the stand is to be put up, and there for everything but a plan.
fn machine(place: Place, order: &StandOrder, stoppers: &Stoppers, out: &Out) -> Result<Place> {
    let Place::Lab(file) = &place else { return Ok(place) };
    match order {
        _ if lab::standing_at(&place).is_some() => Ok(place),
        StandOrder::Up { stand, .. } => {
            let name = stend_spec::parse::stand(&stand.text, &stand.file)?.name;
            let ended = lab::Ended::watch()?;
            // Ctrl-C then ends the machine, not this program before it could.
            let (_channel, stopper) = stend_run::channel();
            stoppers.aim(Some(stopper));
            let started = lab::start(file, false, &|| ended.is_asked(), out);
            stoppers.aim(None);
            let (standing, _) = ended.outcome(started)?;
            standing.belongs_to(&name)?;
            Ok(Place::Lab(standing.name))
        }
        StandOrder::Plan(_) => Ok(place),
        StandOrder::Status(_) | StandOrder::Down(_) => {
            let (machine, _) = lab::read_machine(file)?;
            let name = machine.name;
            Err(Error::new(
                Kind::Preflight,
                say!(
                    "the machine `{name}` of the stand is not up: nothing of the stand is there",
                    "машина `{name}` этого стенда не запущена: от стенда ничего нет"
                ),
            ))
        }
    }
}

/// Ends the machine that a stand had made, with the stand.
fn end_machine(place: &Place, stand: &str, out: &Out) -> Result<()> {
    if let Some(standing) = lab::standing_at(place).filter(|standing| standing.is_of(stand)) {
        standing.down()?;
        let name = &standing.name;
        out.note(say!("the machine `{name}` is down", "машина `{name}` завершена").get(out.lang));
    }
    Ok(())
}

/// Carries an order out on both hosts of a stand: from the drives up, but down from above.
fn on_both(
    order: StandOrder,
    (near, far): (&Place, &Place),
    text: &StandText,
    stoppers: &Stoppers,
    out: &Out,
) -> Result<()> {
    let there = match &order {
        StandOrder::Up { owner, .. } => {
            StandOrder::Up { stand: storage::part(text), until_release: false, owner: owner.clone() }
        }
        StandOrder::Plan(_) => StandOrder::Plan(storage::part(text)),
        other => other.clone(),
    };
    // Both sides have one number, from which their names follow.
    let order = match order {
        StandOrder::Up { until_release, owner, .. } => {
            StandOrder::Up { stand: file_of(text.clone()), until_release, owner }
        }
        StandOrder::Plan(_) => StandOrder::Plan(file_of(text.clone())),
        other => other,
    };
    let down = matches!(order, StandOrder::Down(_));
    let place = near.words() + &far.words_of_storage();
    for first in [true, false] {
        let storage_now = first != down;
        let (host, order) = if storage_now { (far, there.clone()) } else { (near, order.clone()) };
        let answer = storage::order(host, order, stoppers, out, &mut |kind| tell(kind, out))?;
        // What is up only as a part has no next commands.
        if storage_now && matches!(answer, StandAnswer::Up(_)) {
            continue;
        }
        out.note(&format!("{}:", host.name().get(out.lang)));
        show(&answer, &text.file, (&place, &place), out)?;
    }
    Ok(())
}

/// Every command and every change as it is made: of a stand people want to see what is done to their drives.
fn tell(kind: &EventKind, out: &Out) {
    match kind {
        EventKind::Command { argv, .. } => out.note(&format!("$ {}", stend_spec::arm::line(argv))),
        EventKind::Step { action } => out.note(&format!("· {action}")),
        _ => {}
    }
}

/// `again` and `run` are what commands about the stand and runs need to reach the same machine, with a space before it.
fn show(answer: &StandAnswer, given: &str, (again, run): (&str, &str), out: &Out) -> Result<()> {
    match answer {
        StandAnswer::Plan(plan) => out.result(&match out.json {
            true => stend_report::stand_plan_json(plan),
            false => stend_report::stand_plan_text(plan, out.lang),
        }),
        StandAnswer::Status(stands) => out.result(&match out.json {
            true => stend_report::stand_status_json(stands),
            false => stend_report::stand_status_text(stands, out.lang),
        }),
        StandAnswer::Up(raised) => {
            if out.json {
                return out.result(&stend_report::stand_up_json(raised));
            }
            let targets = raised.targets.join(" ");
            let next: Vec<String> = raised.targets.iter().map(|path| format!("--on {path}")).collect();
            let next = next.join(" ");
            let text = say!(
                "the stand is up; measured is {targets}\nnext      stend run quick {next}{run}\n          stend stand down {given}{again}",
                "стенд поднят; измеряется {targets}\nдальше    stend run quick {next}{run}\n          stend stand down {given}{again}"
            );
            out.result(text.get(out.lang))
        }
        StandAnswer::Down => {
            if out.json {
                return out.result("{\"schema\": \"stend-stand-down\", \"schema_version\": 1}");
            }
            out.result(say!("the stand is down", "стенд убран").get(out.lang))
        }
    }
}

/// The name of a stand, from its file if there is one.
fn name_of(given: &str) -> Result<String> {
    if !Path::new(given).is_file() {
        return Ok(given.to_string());
    }
    read(given).map(|stand| stand.name)
}

fn file_of(StandText { file, text, nonce, .. }: StandText) -> StandFile {
    StandFile { text, file, nonce, side: Some(Side::Client) }
}

/// Reads a stand file, and draws a number for the stand.
pub fn read(name: &str) -> Result<StandText> {
    let text = crate::input::text(name, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::new(
            Kind::Spec,
            say!("cannot read the stand file `{name}`: {en}", "не удаётся прочитать файл стенда `{name}`: {ru}"),
        )
    })?;
    let stand = stend_spec::parse::stand(&text, name)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nonce = stend_base::random::mix(now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32));
    Ok(StandText { name: stand.name, file: name.to_string(), text, nonce })
}
