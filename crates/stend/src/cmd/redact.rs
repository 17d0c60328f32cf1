//! `--redact`: what is shared says nothing of whose it is.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::text::counted;
use stend_base::{Error, Lang, Result, Say, say};
use stend_record::RunRecord;
use stend_record::redact::{Redaction, Secret};
use stend_record::store::{self, EXTENSION};

/// Records as they were read, or with `--redact` without their secrets; what was taken out is counted on stderr.
pub fn records(arguments: &ArgMatches, records: Vec<RunRecord>, out: &Out) -> Result<Vec<RunRecord>> {
    if !asked(arguments) {
        return Ok(records);
    }
    let redaction = Redaction::of(&records.iter().collect::<Vec<_>>())?;
    out.note(&told(&redaction, out.lang));
    records.into_iter().map(|record| redaction.apply(record)).collect()
}

/// The same of one record.
pub fn record(arguments: &ArgMatches, record: RunRecord, out: &Out) -> Result<RunRecord> {
    let mut all = records(arguments, vec![record], out)?;
    all.pop().ok_or_else(|| Error::bug(say!("a record was lost", "запись потеряна")))
}

/// Whether the user wants nothing said of whose it is.
pub fn asked(arguments: &ArgMatches) -> bool {
    arguments.try_get_one::<bool>("redact").ok().flatten().copied().unwrap_or(false)
}

/// A copy of a run file, without secrets if so asked.
pub fn copy(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let Some(file) = arguments.get_one::<String>("output").filter(|file| *file != "-") else {
        let message = say!("a run file needs a name", "файлу прогона нужно имя");
        let hint = say!("add `-o shared.{EXTENSION}`", "добавьте `-o shared.{EXTENSION}`");
        return Err(Error::usage(message).hint(hint));
    };
    let path = super::located(super::required(arguments, "RUN"), out)?;
    let run = record(arguments, stend_session::read_run(&path)?, out)?;
    let written = store::copy(&run, &mut store::io_logs(&path)?, Path::new(file))?.display().to_string();
    match out.json {
        true => out.result(&serde_json::json!({"export": written}).to_string()),
        false => out.result(&written),
    }
}

/// `taken out: 1 host name, 3 paths; names that you chose are left`.
pub(super) fn told(redaction: &Redaction, lang: Lang) -> String {
    let counts: Vec<String> =
        redaction.counts().iter().map(|(secret, count)| of_kind(*secret, *count).get(lang).to_string()).collect();
    let found = counts.join(", ");
    let said = match counts.is_empty() {
        true => say!("nothing had to be removed", "убирать было нечего"),
        false => say!("taken out: {found}", "убрано: {found}"),
    };
    let (en, ru) = (said.en, said.ru);
    let said = say!(
        "{en}; names that you chose (suites, cases, stands, labels) remain: check these before you share it",
        "{ru}; имена, которые выбрали вы (наборов, случаев, стендов, метки), остались: проверьте их перед отправкой"
    );
    said.get(lang).to_string()
}

fn of_kind(secret: Secret, count: u32) -> Say {
    let (en, ru) = match secret {
        Secret::Host => (["host name", "host names"], ["имя машины", "имени машин", "имён машин"]),
        Secret::Identity => {
            (["serial number", "serial numbers"], ["серийный номер", "серийных номера", "серийных номеров"])
        }
        Secret::Path => (["path", "paths"], ["путь", "пути", "путей"]),
        Secret::Address => (["address", "addresses"], ["адрес", "адреса", "адресов"]),
        Secret::Label => (["label", "labels"], ["метка", "метки", "меток"]),
        Secret::CommandLine => (
            ["kernel command line", "kernel command lines"],
            ["командная строка ядра", "командные строки ядра", "командных строк ядра"],
        ),
        Secret::Boot => (["boot id", "boot ids"], ["номер загрузки", "номера загрузки", "номеров загрузки"]),
    };
    counted(u64::from(count), en, ru)
}
