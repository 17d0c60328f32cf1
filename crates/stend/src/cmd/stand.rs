//! `stend stand`: plans, puts up, shows and takes down stands on this host.

use super::place::Place;
use super::run::Stoppers;
use super::storage;
use crate::out::Out;
use clap::ArgMatches;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use stend_base::{Error, Kind, Result, say};
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
    let stoppers = super::run::watch_signals()?;
    let text = given.filter(|given| Path::new(given).is_file()).map(read).transpose()?;
    let far = text.as_ref().map(|text| storage::host_of(text, arguments)).transpose()?.flatten();
    let near = Place::measured(arguments)?;
    let Some((far, text)) = far.zip(text) else {
        let answer = storage::order(&near, order, &stoppers, out, &mut |kind| tell(kind, out))?;
        return show(&answer, given.unwrap_or_default(), &near.words(), out);
    };
    on_both(order, (&near, &far), &text, &stoppers, out)
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
        show(&answer, &text.file, &place, out)?;
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

/// `place` is what commands need that are to reach the same machine, with a space before it.
fn show(answer: &StandAnswer, given: &str, place: &str, out: &Out) -> Result<()> {
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
                "the stand is up; measured is {targets}\nnext      stend run quick {next}{place}\n          stend stand down {given}{place}",
                "стенд поднят; измеряется {targets}\nдальше    stend run quick {next}{place}\n          stend stand down {given}{place}"
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
    let unreadable = |e: std::io::Error| {
        Error::new(
            Kind::Spec,
            say!("cannot read the stand file `{name}`: {e}", "не удаётся прочитать файл стенда `{name}`: {e}"),
        )
    };
    let mut text = String::new();
    // One byte more than the parser takes: it says so instead of reading a huge file.
    let limit = stend_spec::parse::SIZE_MAX as u64 + 1;
    std::fs::File::open(name).map_err(unreadable)?.take(limit).read_to_string(&mut text).map_err(unreadable)?;
    let stand = stend_spec::parse::stand(&text, name)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nonce = stend_base::random::mix(now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32));
    Ok(StandText { name: stand.name, file: name.to_string(), text, nonce })
}
