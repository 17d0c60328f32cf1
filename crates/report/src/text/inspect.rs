//! `stend inspect`: what a path is, what lies below it, who uses it, and whether it may be written.

use super::layout::{clean, paragraph, width};
use crate::shell;
use crate::words;
use stend_base::text::plural_ru;
use stend_base::{Bytes, Lang, Say, format, say};
use stend_record::{Device, OwnMark, Refusal, Sampled, TargetFacts, TargetKind, WriteAccess};

/// The facts of a target for a person, at most `width` columns wide (40 at least).
pub fn inspect_text(facts: &TargetFacts, lang: Lang, width: usize) -> String {
    let columns = width.clamp(super::WIDTH_MIN, super::WIDTH_MAX);
    let mut out = paragraph("", &format!("{}: {}", clean(&facts.named), what(facts).get(lang)), columns);
    out.push('\n');
    out.push_str(&fields(facts, lang, columns));
    out.push_str(&stack(&facts.devices, lang, columns));
    out.push('\n');
    out.push_str(&access(facts, lang, columns));
    out
}

/// `directory on ext4`, `block device, 894 GiB`.
pub(super) fn what(facts: &TargetFacts) -> Say {
    let kind = words::target_kind(facts.kind);
    let size = Say::both(|lang| format::bytes(facts.size, lang));
    match (&facts.file_system, facts.kind) {
        (Some(fs), TargetKind::File | TargetKind::Directory) => {
            let fs = clean(fs);
            let Say { en, ru } = kind;
            say!("{en} on {fs}", "{ru} на {fs}")
        }
        _ => Say::both(|lang| format!("{}, {}", kind.get(lang), size.get(lang))),
    }
}

fn fields(facts: &TargetFacts, lang: Lang, columns: usize) -> String {
    let size = Say::both(|lang| format::bytes(facts.size, lang));
    let free = Say::both(|lang| format::bytes(facts.free, lang));
    let (logical, physical) = (facts.logical_block.0, facts.physical_block.0);
    let signatures: Vec<String> = facts.signatures.iter().map(signature).collect();
    let unread = refusals(facts).iter().find(|reason| reason.is_unreadable());
    let signatures = match (signatures.is_empty(), facts.kind) {
        (true, TargetKind::BlockDevice) => match unread {
            None => say!("none found", "не найдены"),
            Some(Refusal::NoPermission { .. }) => {
                say!("unknown: no permission to read", "неизвестны: нет прав на чтение")
            }
            Some(_) => say!("unknown: it cannot be read", "неизвестны: объект не читается"),
        },
        _ => Say::same(signatures.join(", ")),
    };
    let rows = [
        (say!("path", "путь"), Say::same(&facts.path)),
        (say!("identity", "идентификатор"), Say::same(facts.identity.clone().unwrap_or_default())),
        (say!("size", "размер"), size),
        (say!("free", "свободно"), if facts.kind == TargetKind::Directory { free } else { Say::same("") }),
        (
            say!("blocks", "блоки"),
            say!("logical {logical} B, physical {physical} B", "логический {logical} Б, физический {physical} Б"),
        ),
        (say!("mounted with", "монтирование"), Say::same(facts.mount_options.clone().unwrap_or_default())),
        (say!("signatures", "метки"), signatures),
        (say!("contents", "содержимое"), facts.contents.as_ref().map_or(Say::same(""), contents)),
    ];
    let rows: Vec<_> = rows.iter().map(|(name, value)| (name.get(lang), value.get(lang))).collect();
    let names = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let present = rows.into_iter().filter(|(_, value)| !value.is_empty());
    present
        .map(|(name, value)| paragraph(&format!("  {}  ", super::layout::left(name, names)), value, columns))
        .collect()
}

/// What a sample of its blocks found.
fn contents(found: &Sampled) -> Say {
    let word = plural_ru(found.blocks, "блок", "блока", "блоков");
    let [blocks, blank, ours, other] = [found.blocks, found.blank, found.ours, found.other].map(format::count);
    let read = say!(
        "sampled {blocks} blocks: {blank} erased, {other} of other data, {ours} written by Stend",
        "проверено {blocks} {word}: стёртых {blank}, других данных {other}, записано Стендом {ours}"
    );
    let first = match found.first_other {
        Some(at) => say!(|lang| ", the first at {at}", ", первый — со смещения {at}", at = format::offset(at, lang)),
        None => Say::same(""),
    };
    let mark = match &found.mark {
        None => Say::same(""),
        Some(OwnMark { by, broken_at: None, .. }) => {
            say!("; according to a mark, `{by}` wrote them", "; по пометке, их записал `{by}`")
        }
        Some(OwnMark { by, broken_at: Some(at), .. }) => say!(
            "; the mark of `{by}` does not count, because byte {at} was written since",
            "; пометка `{by}` не действует: с тех пор по смещению {at} была запись"
        ),
    };
    Say { en: [read.en, first.en, mark.en].concat(), ru: [read.ru, first.ru, mark.ru].concat() }
}

/// Name, where it was found, and label: a copy of a superblock far from the start is shown with its offset.
fn signature(signature: &stend_record::Signature) -> String {
    let stend_record::Signature { name, offset, label } = signature;
    match label {
        Some(label) => format!("{name} @ {offset} ({label})"),
        None => format!("{name} @ {offset}"),
    }
}

/// The device under the target and everything below it, indented by depth.
fn stack(devices: &[Device], lang: Lang, columns: usize) -> String {
    if devices.is_empty() {
        let none =
            say!("No block device could be found below it.", "Под ним не найдено ни одного блочного устройства.");
        return format!("\n{}", paragraph("", none.get(lang), columns));
    }
    let heading = say!("Devices, from the target down:", "Устройства, от объекта вниз:");
    let mut out = format!("\n{}\n", heading.get(lang));
    for device in devices {
        let branch = match device.depth.min(8) {
            0 => "  ".to_string(),
            depth => format!("  {}└ ", "  ".repeat(depth as usize - 1)),
        };
        out.push_str(&paragraph(&branch, &describe(device, lang), columns));
    }
    out
}

fn describe(device: &Device, lang: Lang) -> String {
    let mut parts = vec![device.kind.clone(), format::bytes(device.size, lang)];
    parts.extend(device.array());
    parts.extend(device.transport.clone());
    parts.extend(device.model.clone());
    parts.extend(device.identity.clone());
    let marks = [
        (device.removable, say!("removable", "съёмный")),
        (
            device.reserve == Some(true),
            say!("in reserve: the array sends it no I/O", "в резерве: массив к нему не обращается"),
        ),
        (
            device.is_virtual,
            say!("virtual: its lower devices are not visible", "виртуальный: устройства под ним не видны"),
        ),
    ];
    parts.extend(words::spins(device).map(|spins| spins.get(lang).to_string()));
    parts.extend(marks.iter().filter(|(holds, _)| *holds).map(|(_, word)| word.get(lang).to_string()));
    parts.retain(|p| !p.is_empty());
    format!("{}: {}", device.name, parts.join(", "))
}

/// Whether it may be written: how, or why not.
fn access(facts: &TargetFacts, lang: Lang, columns: usize) -> String {
    let put = |first: &str, say: Say| paragraph(first, say.get(lang), columns);
    match &facts.access {
        WriteAccess::OwnDirectory if facts.free == Bytes(0) => put(
            "✖ ",
            say!("Nothing can be written here: there is no free space.", "Записать сюда нельзя: свободного места нет."),
        ),
        WriteAccess::OwnDirectory => put(
            "✔ ",
            say!(
                "Writing: only in a directory that Stend creates here and removes again.",
                "Запись: только в отдельном каталоге, который Стенд создаёт здесь и затем удаляет."
            ),
        ),
        WriteAccess::Nowhere => put(
            "✔ ",
            say!(
                "Writing: the data are discarded; this measures the engine itself.",
                "Запись: данные отбрасываются; измеряется только сам генератор нагрузки."
            ),
        ),
        WriteAccess::Confirm { identity, signatures } => {
            let mut words = vec![format!("--confirm={identity}")];
            words.extend(signatures.iter().map(|name| format!("--overwrite-signature={name}")));
            let mut out = put(
                "! ",
                say!(
                    "Writing destroys what is on it and needs your confirmation:",
                    "Запись уничтожит содержимое и требует подтверждения:"
                ),
            );
            // Never wrapped: it is there to be copied.
            out.push_str(&format!("    {}\n", clean(&shell::join(&words))));
            out
        }
        WriteAccess::Refused(reasons) => refused(facts, reasons, &put),
    }
}

fn refusals(facts: &TargetFacts) -> &[Refusal] {
    if let WriteAccess::Refused(reasons) = &facts.access { reasons } else { &[] }
}

/// Why it is never written, and whether it can be read.
fn refused(facts: &TargetFacts, reasons: &[Refusal], put: &dyn Fn(&str, Say) -> String) -> String {
    let (unread, others): (Vec<&Refusal>, Vec<&Refusal>) = reasons.iter().partition(|reason| reason.is_unreadable());
    let mut out: String = unread.iter().map(|reason| put("✖ ", cannot_read(&facts.named, reason))).collect();
    if !others.is_empty() {
        let never = say!("Stend never writes to it: it", "Стенд никогда не пишет на него: объект");
        out.push_str(&put("✖ ", never));
        others.iter().for_each(|reason| out.push_str(&put("    – ", reason.say())));
    }
    if unread.is_empty() && facts.kind != TargetKind::Directory {
        out.push_str(&put(
            "  ",
            say!(
                "Reading is possible; the result lists its other users.",
                "Читать его можно; кто ещё им пользуется, перечислит результат."
            ),
        ));
    }
    out
}

/// That a target cannot be read, with what helps.
fn cannot_read(named: &str, reason: &Refusal) -> Say {
    let (named, Say { en, ru }) = (clean(named), reason.say());
    let (help_en, help_ru) = match reason {
        Refusal::NoPermission { root: false } => (" Run as root.", " Запустите от root."),
        Refusal::NoPermission { root: true } => {
            (" Allow the device in this container.", " Разрешите устройство в этом контейнере.")
        }
        _ => ("", ""),
    };
    say!("`{named}` {en}.{help_en}", "`{named}` {ru}.{help_ru}")
}
