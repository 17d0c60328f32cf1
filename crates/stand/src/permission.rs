//! From what a target is and what the user said: may it be written? Pure.

use stend_base::{Code, Error, Lang, Result, Say, format, say};
use stend_record::{Refusal, Sampled, TargetFacts, TargetKind, UNKNOWN_DATA, WriteAccess};
use stend_spec::permission::Permission;

/// Whether a target may be written.
///
/// `Ok(Ok(()))`: yes. `Ok(Err(reason))`: nobody asked for it, so writes are not run and the reason is shown.
/// `Err` of kind `Unsafe`: it was asked for and is refused: the target is in use, the confirmation names
/// something else, or a signature is not named. A directory that cannot be used at all is an error too,
/// of kind `Preflight` if its file system is read-only.
pub fn may_write(facts: &TargetFacts, permission: &Permission) -> Result<std::result::Result<(), Say>> {
    match &facts.access {
        WriteAccess::OwnDirectory | WriteAccess::Nowhere if permission.asks() => Err(nothing_to_confirm(facts)),
        WriteAccess::OwnDirectory | WriteAccess::Nowhere => Ok(Ok(())),
        WriteAccess::Confirm { identity, signatures } => confirmed(facts, permission, identity, signatures),
        WriteAccess::Refused(reasons) if facts.kind == TargetKind::Directory => Err(unusable(facts, reasons)),
        WriteAccess::Refused(reasons) if permission.asks() => Err(refused(&facts.path, reasons)),
        WriteAccess::Refused(reasons) => Ok(Err(read_only_use(&facts.path, reasons))),
    }
}

fn confirmed(
    facts: &TargetFacts,
    permission: &Permission,
    identity: &str,
    signatures: &[String],
) -> Result<std::result::Result<(), Say>> {
    let path = &facts.path;
    if !permission.asks() {
        let flags = flags(identity, signatures);
        return Ok(Err(say!("needs {flags}", "требуется {flags}")));
    }
    if !permission.confirm.iter().any(|given| given == identity) {
        let flags = flags(identity, signatures);
        let hint = say!(
            "if all data on it may be lost, give {flags}",
            "если все данные на нём можно потерять, укажите {flags}"
        );
        let message = match permission.confirm.first() {
            Some(given) => say!(
                "refused to write to `{path}`: `--confirm={given}` names something else; its identity is `{identity}`",
                "запись в `{path}` отклонена: `--confirm={given}` указывает на другое; идентификатор объекта — `{identity}`"
            ),
            None => say!(
                "refused to write to `{path}`: `--overwrite-signature` without `--confirm`",
                "запись в `{path}` отклонена: `--overwrite-signature` без `--confirm`"
            ),
        };
        return Err(Error::new(Code::NotConfirmed, message).hint(hint));
    }
    let missing: Vec<&String> = signatures.iter().filter(|s| !permission.overwrite_signatures.contains(s)).collect();
    if !missing.is_empty() {
        let Say { en, ru } = carried(signatures, facts.contents.as_ref());
        let flags = signature_flags(&missing);
        return Err(Error::new(
            Code::SignatureNotNamed,
            say!("refused to write to `{path}`: {en}", "запись в `{path}` отклонена: {ru}"),
        )
        .hint(say!("if that may be lost, add {flags}", "если это можно потерять, добавьте {flags}")));
    }
    match permission.overwrite_signatures.iter().find(|named| !may_be_named(named, signatures)) {
        Some(named) => Err(misnamed(path, named, signatures)),
        None => Ok(Ok(())),
    }
}

/// A signature is named that is not there: another one is, or it was overwritten before.
fn misnamed(path: &str, named: &str, signatures: &[String]) -> Box<Error> {
    let marks: Vec<String> = signatures.iter().filter(|name| *name != UNKNOWN_DATA).cloned().collect();
    let found = list(&marks);
    if marks.is_empty() {
        return Error::refused(say!(
            "refused to write to `{path}`: there is no `{named}` signature on it to overwrite",
            "запись в `{path}` отклонена: на объекте нет метки `{named}`, которую можно было бы затереть"
        ))
        .hint(say!(
            "if `stend inspect {path}` shows your device, leave `--overwrite-signature={named}` out",
            "если `stend inspect {path}` показывает ваше устройство, уберите `--overwrite-signature={named}`"
        ));
    }
    Error::refused(say!(
        "refused to write to `{path}`: it carries {found}, not `{named}`",
        "запись в `{path}` отклонена: на нём метка {found}, а не `{named}`"
    ))
    .hint(say!(
        "check with `stend inspect {path}` that this is the device you mean",
        "проверьте командой `stend inspect {path}`, то ли это устройство"
    ))
}

/// Whether the name of a signature is one of those that are there. A sample that found nothing is no proof that there is nothing.
pub(crate) fn may_be_named(name: &str, there: &[String]) -> bool {
    name == UNKNOWN_DATA || there.iter().any(|known| known == name)
}

/// What is on a device, as a clause.
fn carried(signatures: &[String], contents: Option<&Sampled>) -> Say {
    let marks: Vec<String> = signatures.iter().filter(|name| *name != UNKNOWN_DATA).cloned().collect();
    let unknown = contents.filter(|_| signatures.len() > marks.len()).map(unknown_data);
    let found = list(&marks);
    let carries = || say!("it carries {found}", "на объекте обнаружено: {found}");
    match unknown {
        None => carries(),
        Some(unknown) if marks.is_empty() => unknown,
        Some(unknown) => {
            let carries = carries();
            Say { en: format!("{}; {}", carries.en, unknown.en), ru: format!("{}; {}", carries.ru, unknown.ru) }
        }
    }
}

/// What a sample found that belongs to nobody as far as can be seen, as a clause.
fn unknown_data(contents: &Sampled) -> Say {
    let Sampled { blocks, other, first_other, mark, .. } = contents;
    let [first_en, first_ru] = [Lang::En, Lang::Ru].map(|lang| format::offset(first_other.unwrap_or(0), lang));
    let Say { en, ru } = match mark {
        Some(mark) => {
            let (by, at) = (&mark.by, mark.broken_at.unwrap_or(0));
            say!(
                "; `{by}` marked its data there, but byte {at} was written since",
                "; `{by}` пометил там свои данные, но с тех пор по смещению {at} была запись"
            )
        }
        None => Say::same(""),
    };
    say!(
        "it holds data that Stend did not write: {other} of {blocks} sampled blocks, the first at {first_en}{en}",
        "на нём есть данные, записанные не Стендом: {other} из {blocks} прочитанных блоков, первый — со смещения {first_ru}{ru}"
    )
}

/// A refusal with all its reasons, of kind `Unsafe`.
pub(crate) fn refused(path: &str, reasons: &[Refusal]) -> Box<Error> {
    let why = joined(reasons);
    let (en, ru) = (why.en, why.ru);
    let error = Error::new(
        Code::TargetRefused,
        say!("refused to write to `{path}`: it {en}", "запись в `{path}` отклонена: объект {ru}"),
    );
    match reasons.first().and_then(Refusal::way_out) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn unusable(facts: &TargetFacts, reasons: &[Refusal]) -> Box<Error> {
    if reasons != [Refusal::ReadOnly] {
        return refused(&facts.path, reasons);
    }
    let path = &facts.path;
    Error::preflight(say!(
        "cannot make a test file in `{path}`: its file system is read-only",
        "не удаётся создать тестовый файл в `{path}`: файловая система доступна только для чтения"
    ))
    .hint(say!("name a directory on another file system", "укажите каталог на другой файловой системе"))
}

fn nothing_to_confirm(facts: &TargetFacts) -> Box<Error> {
    let path = &facts.path;
    if facts.kind == TargetKind::NullDevice {
        let message = say!(
            "`--confirm` and `--overwrite-signature` are for devices that store data; `{path}` stores nothing",
            "`--confirm` и `--overwrite-signature` нужны устройствам с данными, а `{path}` ничего не хранит"
        );
        return Error::refused(message).hint(say!("leave them out", "уберите их"));
    }
    Error::refused(say!(
        "`--confirm` and `--overwrite-signature` are for devices, but `{path}` is a directory",
        "`--confirm` и `--overwrite-signature` относятся к устройствам, а `{path}` — каталог"
    ))
    .hint(say!(
        "leave them out to use a test file in the directory, or name the device",
        "уберите их, чтобы использовать тестовый файл в каталоге, или укажите устройство"
    ))
}

/// Why a target is only read; nothing is wrong with that.
fn read_only_use(path: &str, reasons: &[Refusal]) -> Say {
    let why = joined(reasons);
    let (en, ru) = (why.en, why.ru);
    say!("`{path}` {en}", "`{path}`: {ru}")
}

fn joined(reasons: &[Refusal]) -> Say {
    let says: Vec<Say> = reasons.iter().map(Refusal::say).collect();
    let join = |texts: Vec<&str>, and: &str| texts.join(and);
    Say {
        en: join(says.iter().map(|s| s.en.as_str()).collect(), "; it "),
        ru: join(says.iter().map(|s| s.ru.as_str()).collect(), "; "),
    }
}

/// What the user gives to have a device overwritten.
pub(crate) fn flags(identity: &str, signatures: &[String]) -> String {
    let named = signature_flags(&signatures.iter().collect::<Vec<_>>());
    format!("--confirm={identity} {named}").trim_end().to_string()
}

fn signature_flags(signatures: &[&String]) -> String {
    signatures.iter().map(|s| format!("--overwrite-signature={s}")).collect::<Vec<_>>().join(" ")
}

fn list(signatures: &[String]) -> String {
    signatures.iter().map(|s| format!("`{s}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
