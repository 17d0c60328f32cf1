//! Words for the values of enums, in both languages. One value, one word, as docs/GLOSSARY.md has it.

use stend_analyse::findings::{Basis, CheckStatus, GradeLevel, Headline};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Say, say};
use stend_record::{RunState, TargetKind, TrialStatus};
use stend_spec::workload::Op;

/// Name of an operation.
pub fn op(op: Op) -> Say {
    match op {
        Op::Read => say!("read", "чтение"),
        Op::Write => say!("write", "запись"),
        Op::Sync => say!("sync", "синхронизация"),
    }
}

/// Glyph of a check's result: readable without colour.
pub fn check_glyph(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "✔",
        CheckStatus::Warn => "!",
        CheckStatus::Fail => "✖",
        CheckStatus::NotMeasurable => "?",
        CheckStatus::NotApplicable => "–",
    }
}

/// Class of a check's result in the style sheet.
pub fn check_class(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "mark pass",
        CheckStatus::Warn => "mark warn",
        CheckStatus::Fail => "mark fail",
        CheckStatus::NotMeasurable => "mark unknown",
        CheckStatus::NotApplicable => "mark none",
    }
}

/// Word for a check's result.
pub fn check(status: CheckStatus) -> Say {
    match status {
        CheckStatus::Pass => say!("passed", "пройдена"),
        CheckStatus::Warn => say!("warning", "предупреждение"),
        CheckStatus::Fail => say!("failed", "не пройдена"),
        CheckStatus::NotMeasurable => say!("not measurable", "не измерить"),
        CheckStatus::NotApplicable => say!("does not apply", "неприменима"),
    }
}

/// Name of a grade.
pub fn grade(level: GradeLevel) -> Say {
    match level {
        GradeLevel::Screening => say!("Screening", "Обзорное измерение"),
        GradeLevel::Publishable => say!("Publishable", "Пригодно к публикации"),
    }
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

/// Unit of a headline.
pub fn headline_unit(headline: Headline) -> Say {
    match headline {
        Headline::Iops => Say::same("IOPS"),
        Headline::Throughput => say!("MB/s", "МБ/с"),
    }
}

/// How far a run got, if it did not reach its end.
pub fn unfinished(state: &RunState) -> Option<Say> {
    match state {
        RunState::Complete => None,
        RunState::Open => Some(say!(
            "No end is recorded: the run is still going on, or its coordinator was killed.",
            "Конец не записан: прогон ещё идёт или его координатор был убит."
        )),
        RunState::Ended { reason, .. } => {
            let (en, ru) = (&reason.en, &reason.ru);
            Some(say!("The run ended early: {en}", "Прогон завершён досрочно: {ru}"))
        }
    }
}

/// How a trial ended, if it was not complete.
pub fn trial_status(status: Option<TrialStatus>) -> Option<Say> {
    match status {
        Some(TrialStatus::Complete) => None,
        Some(TrialStatus::Interrupted) => Some(say!("interrupted", "прервано")),
        Some(TrialStatus::Failed) => Some(say!("failed", "ошибка")),
        Some(TrialStatus::Stalled) => Some(say!("stalled", "зависло")),
        None => Some(say!("no end", "нет конца")),
    }
}

/// Kind of a target.
pub fn target_kind(kind: TargetKind) -> Say {
    match kind {
        TargetKind::BlockDevice => say!("block device", "блочное устройство"),
        TargetKind::File => say!("file", "файл"),
        TargetKind::Directory => say!("directory", "каталог"),
    }
}
