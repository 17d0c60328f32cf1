//! Words for the values of enums, in both languages. One value, one word, as docs/GLOSSARY.md has it.

use stend_analyse::Findings;
use stend_analyse::findings::{Basis, Caveat, CheckStatus};
use stend_analyse::history::Followed;
use stend_base::text::{counted, plural_en, plural_ru};
use stend_base::{Millionths, Say, format, say};
use stend_record::{Device, TargetKind, TrialStatus};
use stend_spec::until::Until;
use stend_spec::workload::Op;

/// Name of an operation.
pub fn op(op: Op) -> Say {
    match op {
        Op::Read => say!("read", "чтение"),
        Op::Write => say!("write", "запись"),
        Op::Discard => say!("discard", "освобождение"),
        Op::WriteZeroes => say!("write of zeroes", "запись нулей"),
        Op::Sync => say!("sync", "синхронизация"),
    }
}

/// Latencies of an open loop from the begin of an I/O.
pub fn service() -> Say {
    say!("service, without waiting", "обслуживание, без ожидания")
}

/// Glyph of a check's result: readable without colour.
pub fn check_glyph(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "✔",
        CheckStatus::Warn => "!",
        CheckStatus::Fail => "✖",
        CheckStatus::NotMeasurable => "?",
        CheckStatus::NotApplicable | CheckStatus::ScreeningOnly => "–",
    }
}

/// Class of a check's result in the style sheet.
pub fn check_class(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "mark pass",
        CheckStatus::Warn => "mark warn",
        CheckStatus::Fail => "mark fail",
        CheckStatus::NotMeasurable => "mark unknown",
        CheckStatus::NotApplicable | CheckStatus::ScreeningOnly => "mark none",
    }
}

/// Word for a check's result.
pub fn check(status: CheckStatus) -> Say {
    match status {
        CheckStatus::Pass => say!("passed", "пройдена"),
        CheckStatus::Warn => say!("warning", "предупреждение"),
        CheckStatus::Fail => say!("failed", "не пройдена"),
        CheckStatus::NotMeasurable => say!("not measurable", "неизмерима"),
        CheckStatus::ScreeningOnly => say!("enough for screening", "для предварительной оценки достаточно"),
        CheckStatus::NotApplicable => say!("not applicable", "неприменима"),
    }
}

/// How many checks had a result: `2 warnings`.
pub fn check_count(status: CheckStatus, n: u64) -> Say {
    let ru = |one, few, many| plural_ru(n, one, few, many);
    let (en, ru) = match status {
        CheckStatus::Pass => ("passed", ru("пройдена", "пройдены", "пройдено")),
        CheckStatus::Warn => {
            (plural_en(n, "warning", "warnings"), ru("предупреждение", "предупреждения", "предупреждений"))
        }
        CheckStatus::Fail => ("failed", ru("не пройдена", "не пройдены", "не пройдено")),
        CheckStatus::NotMeasurable => ("not measurable", ru("неизмерима", "неизмеримы", "неизмеримо")),
        CheckStatus::ScreeningOnly => ("enough for screening", "для предварительной оценки достаточно"),
        CheckStatus::NotApplicable => ("not applicable", ru("неприменима", "неприменимы", "неприменимо")),
    };
    say!("{n} {en}", "{n} {ru}")
}

/// Warnings of a run, each counted once, and how many cases have one: `2 warnings in 3 cases`. `None`: there are none.
pub fn warnings(findings: &Findings) -> Option<Say> {
    let (warnings, cases) = findings.checks_with(CheckStatus::Warn);
    let ru = ["предупреждение", "предупреждения", "предупреждений"];
    let Say { en, ru } = (warnings > 0).then(|| counted(warnings as u64, ["warning", "warnings"], ru))?;
    let in_ru = plural_ru(cases as u64, "случае", "случаях", "случаях");
    Some(match cases {
        0 | 1 => Say { en, ru },
        _ => say!("{en} in {cases} cases", "{ru} в {cases} {in_ru}"),
    })
}

/// Where an interval comes from.
pub fn basis(basis: &Basis) -> Say {
    match *basis {
        Basis::Trials { n } => {
            let (en, ru) = (trials_en(n), plural_ru(n.into(), "испытанию", "испытаниям", "испытаниям"));
            say!("t interval over {n} interleaved {en}", "t-интервал по {n} чередующимся {ru}")
        }
        Basis::Batches { n } => {
            say!("t interval over {n} batch means of one trial", "t-интервал по {n} групповым средним одного испытания")
        }
        Basis::TooFew { n } => {
            let (en, ru) = (trials_en(n), plural_ru(n.into(), "испытание", "испытания", "испытаний"));
            say!("no interval: {n} {en} are too few", "интервала нет: {n} {ru} — слишком мало")
        }
    }
}

fn trials_en(n: u32) -> &'static str {
    plural_en(n.into(), "trial", "trials")
}

/// `n trials`.
pub fn trials(n: u32) -> Say {
    let (en, ru) = (trials_en(n), plural_ru(n.into(), "испытание", "испытания", "испытаний"));
    say!("{n} {en}", "{n} {ru}")
}

/// Whether a caveat says that the run did not reach its end: it stands above all others.
pub fn is_ending(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::NoEnd | Caveat::EndedEarly { .. } | Caveat::Suspended { .. })
}

/// How a trial ended, if it was not complete.
pub fn trial_status(status: Option<TrialStatus>) -> Option<Say> {
    match status {
        Some(TrialStatus::Complete) => None,
        Some(TrialStatus::Interrupted) => Some(say!("interrupted", "прервано")),
        Some(TrialStatus::Failed) => Some(say!("failed", "ошибка")),
        Some(TrialStatus::Stalled) => Some(say!("stalled", "зависло")),
        Some(TrialStatus::Mismatch) => Some(say!("wrong data", "неверные данные")),
        None => Some(say!("no end", "нет конца")),
    }
}

/// Whether a device spins, as far as that can be believed: what is no drive only passes on what it was given.
pub fn spins(device: &Device) -> Option<Say> {
    let is_drive = device.kind == "disk" && !device.is_virtual;
    (device.rotational == Some(true)).then(|| match is_drive {
        true => say!("spinning", "вращающийся"),
        false => say!("reports itself as spinning", "заявлен как вращающийся"),
    })
}

/// Kind of a target.
pub fn target_kind(kind: TargetKind) -> Say {
    match kind {
        TargetKind::BlockDevice => say!("block device", "блочное устройство"),
        TargetKind::File => say!("file", "файл"),
        TargetKind::Directory => say!("directory", "каталог"),
        TargetKind::NullDevice => say!("null device", "нулевое устройство"),
    }
}

/// When a case is not repeated any more, to be put behind a sentence without its full stop.
pub fn until(until: &Until) -> Say {
    let share = |share: Millionths| Say::both(|lang| format::percent(share.as_share(), lang));
    let Say { en, ru } = share(until.width);
    let p99 = until.p99.map(share);
    let (p99_en, p99_ru) = p99.map_or_else(Default::default, |Say { en, ru }| {
        (format!(" and its p99 to ± {en}"), format!(", а p99 — до ± {ru}"))
    });
    say!(
        "; a case ends earlier once its rate is known to ± {en}{p99_en}",
        "; случай заканчивается раньше, как только его скорость известна до ± {ru}{p99_ru}"
    )
}

/// What of a case is followed over runs.
pub fn followed(followed: Followed) -> Say {
    match followed {
        Followed::Iops => Say::same("IOPS"),
        Followed::Throughput => say!("throughput", "пропускная способность"),
        Followed::P99 { stream, .. } => {
            let Say { en, ru } = followed.op().map_or_else(|| Say::same(""), op);
            match stream {
                0 => say!("p99 of {en}", "p99 операции «{ru}»"),
                _ => {
                    let number = u32::from(stream) + 1;
                    say!("p99 of {en}, stream {number}", "p99 операции «{ru}», поток {number}")
                }
            }
        }
    }
}
