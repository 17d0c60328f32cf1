//! `stend notify vendor FILE`: notices to the vendor that wait for a person, byte for byte; approves or withholds one. Sends nothing that was not shown.

use super::notify::{VENDOR_DIRECTORY, host_stand_in, read};
use crate::out::Out;
use clap::ArgMatches;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, format, say};
use stend_notify::{Decided, Decision, Desk, Logged, Outbox, Waiting};
use stend_spec::notify::{Receiver, Vendor};

/// How long the answer of the vendor's server is waited for: `curl` gives up after half of that.
const ANSWER: Duration = Duration::from_secs(60);

/// Shows what waits and the log, after doing what is asked for.
pub fn notify(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let Some(("vendor", arguments)) = arguments.subcommand() else { return Ok(()) };
    let file = super::required(arguments, "FILE");
    let parsed = read(file)?;
    let Some(vendor) = &parsed.vendor else {
        return Err(Error::usage(say!("`{file}` names no vendor", "в `{file}` нет производителя"))
            .hint(say!("docs/formats/notify.md describes `vendor`", "ключ `vendor` описан в docs/formats/notify.md")));
    };
    let directory = stend_session::notify_directory(file)?.join(VENDOR_DIRECTORY);
    let policy = stend_notify::file_of_vendor(vendor, parsed.lang);
    let Some(receiver) = policy.receivers.first().filter(|_| directory.is_dir()) else {
        return match asked(arguments) {
            Some((id, _)) => Err(unknown(id)),
            None => print(vendor, &[], &[], arguments, out),
        };
    };
    let desk = Desk::open(&directory)?;
    let host = host_stand_in(&desk.tag()?, &stend_session::host_facts().hostname);
    let waiting = |desk: &Desk, receiver: &Receiver| desk.waiting(receiver, &host, parsed.lang);
    if let Some((id, decision)) = asked(arguments) {
        let waits = waiting(&desk, receiver)?;
        let found = waits.iter().find(|of| of.message.id == id).ok_or_else(|| unknown(id))?;
        if let Some(other) = desk.elsewhere(receiver)? {
            return Err(sent_elsewhere(file, &other, &found.place));
        }
        desk.decide(&Decided {
            id,
            kind: found.message.kind(),
            place: found.place.clone(),
            decision,
            by: super::journal::user(),
            at_unix_s: super::journal::now_unix(),
            bytes: found.bytes.clone(),
        })?;
        if decision == Decision::Approved {
            send(id, &desk, &directory, &host, policy.clone(), out)?;
        }
    }
    print(vendor, &waiting(&desk, receiver)?, &desk.logged(), arguments, out)
}

fn asked(arguments: &ArgMatches) -> Option<(u64, Decision)> {
    let of = |name: &str| arguments.get_one::<u64>(name).copied();
    of("approve").map(|id| (id, Decision::Approved)).or(of("withhold").map(|id| (id, Decision::Withheld)))
}

fn unknown(id: u64) -> Box<Error> {
    Error::usage(say!("no notice {id} waits", "сообщение {id} не ждёт"))
        .hint(say!("`stend notify vendor FILE` lists those that do", "ждущие покажет `stend notify vendor ФАЙЛ`"))
}

fn sent_elsewhere(file: &str, other: &str, own: &str) -> Box<Error> {
    Error::preflight(say!(
        "the recording at work sends notices to `{other}`, and `{file}` names `{own}`",
        "идущая запись отправляет сообщения на `{other}`, а в `{file}` указано `{own}`"
    ))
    .hint(say!(
        "end that recording and begin it again with this file, or name the file that it was begun with",
        "завершите эту запись и начните её с этим файлом или укажите файл, с которым она начата"
    ))
}

/// Sends what was approved. A recording that is at work does that itself, within a second.
///
/// Errors: kind `Preflight` if the vendor's server did not take it.
fn send(
    id: u64,
    desk: &Desk,
    directory: &Path,
    host: &str,
    policy: stend_spec::notify::NotifyFile,
    out: &Out,
) -> Result<()> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let to = said.clone();
    let told = Arc::new(move |say: Say| to.lock().into_iter().for_each(|mut all| all.push(say.clone())));
    let Ok(outbox) = Outbox::of_vendor(policy, host, directory, told) else {
        let told =
            say!("approved; the recording that is at work sends it", "одобрено; отправит запись, которая сейчас идёт");
        out.note(told.get(out.lang));
        return Ok(());
    };
    let begun = Instant::now();
    let answer = loop {
        let found =
            desk.logged().into_iter().rfind(|of| of.id == id && ["sent", "not_taken"].contains(&of.what.as_str()));
        if found.is_some() || begun.elapsed() > ANSWER {
            break found;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    outbox.close();
    match answer {
        Some(Logged { why: None, .. }) => {
            out.note(say!("sent", "отправлено").get(out.lang));
            Ok(())
        }
        answer => {
            let why = answer.and_then(|of| of.why).unwrap_or_default();
            Err(Error::preflight(say!(
                "the vendor did not take notice {id}: {why}",
                "производитель не принял сообщение {id}: {why}"
            ))
            .hint(say!("the next recording tries again", "следующая запись попробует снова")))
        }
    }
}

fn print(vendor: &Vendor, waiting: &[Waiting], log: &[Logged], arguments: &ArgMatches, out: &Out) -> Result<()> {
    if out.json {
        let one = |of: &Waiting| {
            let (id, kind, made) = (of.message.id, of.message.kind(), of.message.made);
            json!({"id": id, "kind": kind, "made_unix_s": made, "bytes": of.bytes})
        };
        let waiting: Vec<_> = waiting.iter().map(one).collect();
        let consent = json!({"by": vendor.consent.by, "on": vendor.consent.on});
        return out.result(&json!({"consent": consent, "waiting": waiting, "log": log}).to_string());
    }
    let (by, on) = (&vendor.consent.by, &vendor.consent.on);
    let mut text = say!("consent: {by}, {on}\n", "согласие: {by}, {on}\n").get(out.lang).to_string();
    if waiting.is_empty() {
        text.push_str(say!("nothing waits\n", "ничего не ждёт\n").get(out.lang));
    }
    for of in waiting {
        let (id, kind, at) = (of.message.id, of.message.kind(), format::utc(of.message.made));
        let head = say!("\n{id}: {kind}, waits since {at}\n\n", "\n{id}: {kind}, ждёт с {at}\n\n");
        let bytes = say!("\nAs it is sent:\n\n", "\nВ том виде, как будет отправлено:\n\n");
        text.push_str(head.get(out.lang));
        text.push_str(&of.text);
        text.push_str(bytes.get(out.lang));
        text.push_str(of.bytes.trim_end());
        text.push('\n');
    }
    if !waiting.is_empty() {
        let next = say!(
            "\n`--approve ID` sends it, and later ones of its kind go by themselves; `--withhold ID` drops it.\n",
            "\n`--approve ID` отправит, и следующие такие пойдут сами; `--withhold ID` отменит.\n"
        );
        text.push_str(next.get(out.lang));
    }
    if arguments.get_flag("log") {
        text.push('\n');
        log.iter().for_each(|line| text.push_str(&logged(line)));
    }
    out.result(&text)
}

/// A line of the log; its words are those of the file.
fn logged(line: &Logged) -> String {
    let Logged { at_unix_s, what, id, kind, by, why, .. } = line;
    let more: Vec<&str> = by.iter().chain(why).map(String::as_str).collect();
    format!("{} {id} {kind} {what} {}\n", format::rfc3339(*at_unix_s), more.join(" ")).replace(" \n", "\n")
}
