//! `stend stand`: plans, puts up, shows and takes down stands.

use super::frontend::Terminal;
use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Error, Result, Say, say};
use stend_record::StandText;
use stend_session::embedded::STANDS;
use stend_session::{Action, Answer, Hosts, Request};
use stend_spec::order::NamedText;
use stend_wire::StandAnswer;

/// Carries out one action.
pub fn stand(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let given = arguments.get_one::<String>("FILE").map(String::as_str);
    let action = match (super::required(arguments, "ACTION"), given) {
        ("status", _) => Action::Status,
        ("down", Some(_)) => Action::Down,
        ("plan", Some(_)) => Action::Plan,
        ("up", Some(_)) => Action::Up,
        (action, _) => {
            return Err(Error::usage(say!(
                "`stend stand {action}` needs a stand file",
                "`stend stand {action}` требует файл стенда"
            ))
            .hint(say!(
                "for example `stend stand {action} stand.yaml`",
                "например `stend stand {action} stand.yaml`"
            )));
        }
    };
    // What is no file is a name, except where only a file will do. Names of stands have no slash.
    let is_file = |given: &&str| {
        let embedded = given.contains('/') && STANDS.find(given).is_some();
        matches!(action, Action::Plan | Action::Up) || embedded || Path::new(given).is_file()
    };
    let text = given.filter(is_file).map(read).transpose()?;
    let named = text.as_ref().map(|text| text.name.clone());
    let request = Request {
        action,
        name: named.or_else(|| given.map(str::to_string)),
        text,
        hosts: Hosts {
            lab: arguments.get_one::<String>("lab").cloned(),
            ssh: super::many(arguments, "ssh"),
            storage: super::many(arguments, "storage"),
        },
    };
    let given = given.unwrap_or_default();
    Terminal::new(out, false, "none").session(|control, frontend| {
        stend_session::stand(&request, control, frontend, &mut |told| show(told, given, out))
    })
}

/// Prints what a host answered; `given`: the stand as the user named it.
pub(super) fn show(told: &Answer, given: &str, out: &Out) -> Result<()> {
    let Answer { answer, host, again, run } = told;
    if let Some(host) = host {
        out.note(&format!("{}:", host.get(out.lang)));
    }
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
                "the stand is up; its target is {targets}\nnext      stend run quick {next}{run}\n          stend stand down {given}{again}",
                "стенд поднят; его объект — {targets}\nдальше    stend run quick {next}{run}\n          stend stand down {given}{again}"
            );
            out.result(text.get(out.lang))
        }
        StandAnswer::Down => {
            if out.json {
                return out.result("{\"schema\": \"stend-stand-down\", \"schema_version\": 1}");
            }
            out.result(say!("the stand is down", "стенд убран").get(out.lang))
        }
        // Hosts ask each other for this, and no command does.
        StandAnswer::Owner(_) => {
            Err(Error::bug(say!("a host answers another question", "машина отвечает на другой вопрос")))
        }
    }
}

/// Reads a stand file, and draws a number for the stand.
fn read(name: &str) -> Result<StandText> {
    stend_session::stand_text(text_of(name)?)
}

/// Reads a stand file, else the embedded one of that name.
pub fn text_of(name: &str) -> Result<NamedText> {
    if let Some(known) = STANDS.find(name) {
        return Ok(NamedText { file: known.path.to_string(), text: known.text.to_string() });
    }
    let text = stend_sys::regular::text(name, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::spec(say!(
            "cannot read the stand file `{name}`: {en}",
            "не удаётся прочитать файл стенда `{name}`: {ru}"
        ))
        .hint(match stend_spec::parse::nearest(name, STANDS.all().iter().map(|file| file.name)) {
            _ if super::may_not_read(name) => super::permissions(name),
            Some(near) if !Path::new(name).exists() => say!("did you mean `{near}`?", "возможно, `{near}`?"),
            _ => say!(
                "name a stand file that you may read, or one that `stend stands` lists",
                "укажите доступный для чтения файл стенда или один из тех, что перечисляет `stend stands`"
            ),
        })
    })?;
    Ok(NamedText { file: name.to_string(), text })
}
