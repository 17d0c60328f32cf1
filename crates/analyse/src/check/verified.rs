//! H79: were data read back as they had been written? A target that loses or changes data has no speed.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format, say};
use stend_record::verification::{Checked, Defect, Found, Mismatch, ReadBack, Verification};

/// H79: see the module.
pub fn verified(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H79, limit: say!("0 blocks differ", "отличий нет") };
    if case.asked.streams.iter().all(|stream| stream.verify.is_none()) {
        return check.not_applicable(say!("Nothing was verified.", "Сверка не заказана."));
    }
    let ended = case.all.iter().flat_map(|trial| trial.known_outcomes());
    let found: Vec<&Verification> = ended.filter_map(|outcome| outcome.verification.as_ref()).collect();
    let mut all = Checked::default();
    found.iter().for_each(|verification| all.add(&verification.all()));
    if all.wrong() > 0 {
        let example = found.iter().find_map(|verification| verification.examples.first());
        return check.measured(differing(&all, example)).fail(meaning(&all));
    }
    let unread: u64 = found.iter().map(|verification| unread(verification)).fold(0, u64::saturating_add);
    let measured = Say::both(|l| compared(&all, l));
    let cut =
        |v: &&Verification| matches!(v.after, ReadBack::Stopped | ReadBack::Stalled | ReadBack::Impossible { .. });
    if unread > 0 || found.iter().any(cut) {
        return check.measured(measured).warn(not_all(&found));
    }
    if all.ok == 0 {
        return check.not_measurable(say!(
            "The trial read none of the blocks that it had written. Read more, write more, or take a smaller range.",
            "Ни один из прочитанных блоков не был записан этим же испытанием. Нужно больше чтений, больше записей или область меньше."
        ));
    }
    check.pass(measured)
}

/// What it means that some of what was written was not read back.
fn not_all(found: &[&Verification]) -> Say {
    let text = say!(
        "Not everything that was written could be read back after the load; what was read is as written.",
        "Не всё записанное удалось прочитать после нагрузки; прочитанное совпадает с записанным."
    );
    let reason = found.iter().find_map(|verification| match &verification.after {
        ReadBack::Impossible { reason } => Some(reason),
        _ => None,
    });
    match reason {
        Some(Say { en, ru }) => Say { en: format!("{} ({en})", text.en), ru: format!("{} ({ru})", text.ru) },
        None => text,
    }
}

fn unread(verification: &Verification) -> u64 {
    match verification.after {
        ReadBack::Made { unread, .. } => unread,
        _ => 0,
    }
}

pub(super) fn blocks(n: u64, lang: Lang) -> String {
    let noun = match lang {
        Lang::En => plural_en(n, "block", "blocks"),
        Lang::Ru => plural_ru(n, "блок", "блока", "блоков"),
    };
    format!("{} {noun}", format::count(n))
}

/// How much was compared, and what could not be.
fn compared(all: &Checked, lang: Lang) -> String {
    let parts = match lang {
        Lang::En => [(all.unsettled, "left open by writes at the same time"), (all.never_written, "never written")],
        Lang::Ru => {
            [(all.unsettled, "с неопределённым из-за одновременных записей"), (all.never_written, "не записанных")]
        }
    };
    let rest = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("; {} {what}", format::count(*n)));
    blocks(all.ok, lang) + &rest.collect::<String>()
}

/// How many blocks differ in which way, and the first of them.
pub(super) fn differing(all: &Checked, example: Option<&Mismatch>) -> Say {
    Say::both(|l| {
        let kinds = Defect::ALL.iter().filter(|kind| all.defects[kind.index()] > 0);
        let counted = kinds.map(|kind| format!("{} {}", format::count(all.defects[kind.index()]), kind.say().get(l)));
        let first = example.map(|example| first(example, l)).unwrap_or_default();
        format!("{}: {}{first}", blocks(all.wrong(), l), counted.collect::<Vec<_>>().join(", "))
    })
}

/// Where the first difference is, and what was there instead of what.
fn first(example: &Mismatch, lang: Lang) -> String {
    let Mismatch { address, oldest, newest, .. } = example;
    let (defect, found) = (example.defect.say(), self::found(example));
    match lang {
        Lang::En => {
            let expected = match (oldest, newest) {
                (_, 0) => "nothing of this trial".to_string(),
                (a, b) if a == b => format!("write {b}"),
                (a, b) => format!("write {a} to {b}"),
            };
            format!("; first at byte {address} ({}): expected {expected}, found {}", defect.en, found.en)
        }
        Lang::Ru => {
            let expected = match (oldest, newest) {
                (_, 0) => "ничего от этого испытания".to_string(),
                (a, b) if a == b => format!("запись {b}"),
                (a, b) => format!("запись с {a} по {b}"),
            };
            format!("; первое в байте {address} ({}): ожидалось: {expected}, найдено: {}", defect.ru, found.ru)
        }
    }
}

/// What was there, seen from the trial.
fn found(example: &Mismatch) -> Say {
    match example.found {
        Found::Damaged => say!("a sector whose checksum does not hold", "сектор с неверной контрольной суммой"),
        Found::Zeros => say!("zeros", "нули"),
        Found::Unknown => say!("data that Stend did not write", "данные, которых Stend не писал"),
        Found::Sector { run, .. } if run != example.run => say!("a block of another run", "блок другого прогона"),
        Found::Sector { address, .. } if address != example.address => {
            say!("the block of byte {address}", "блок байта {address}")
        }
        Found::Sector { epoch, .. } if epoch != example.epoch => {
            say!("a block of trial {epoch} of the run", "блок испытания {epoch} этого прогона")
        }
        Found::Sector { sequence, .. } => say!("write {sequence}", "запись {sequence}"),
    }
}

/// What the most serious kind of difference means.
fn meaning(all: &Checked) -> Say {
    let what = match all.gravest() {
        Some(Defect::Corrupt) => {
            say!("Data changed between write and read.", "Данные изменились между записью и чтением.")
        }
        Some(Defect::Misdirected) => {
            say!("Data of another address were read.", "По одному адресу оказались данные другого.")
        }
        Some(Defect::Phantom) => say!(
            "There are whole blocks that this run never sent there: does another program write to the target?",
            "Есть целые блоки, которых этот прогон туда не посылал: не пишет ли на объект другая программа?"
        ),
        Some(Defect::Torn) => say!("Parts of writes are missing.", "Записи выполнены лишь частично."),
        Some(Defect::Reordered) => say!(
            "Older writes replaced newer ones that had been read back.",
            "Старые записи заменили новые, уже прочитанные обратно."
        ),
        Some(Defect::Lost) => say!("Acknowledged writes are not there.", "Подтверждённых записей нет на месте."),
        Some(Defect::Stale) | None => say!(
            "Reads returned data older than what had been acknowledged.",
            "Чтения вернули данные старее подтверждённых."
        ),
    };
    let (en, ru) = (what.en, what.ru);
    say!(
        "{en} The target did not report an error; its speed means nothing. Keep the run file as evidence.",
        "{ru} Об ошибке объект не сообщил; его скорость ничего не значит. Сохраните файл прогона как доказательство."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use expect_test::{Expect, expect};
    use stend_base::Bytes;
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::{Sync, Verify};

    /// A mix that is verified during and after the load.
    fn mix() -> SuiteCase {
        let mut mix = case("mix", 50, 8, Sync::None);
        mix.streams[0].verify = Some(Verify { after: true, crash: false });
        mix
    }

    fn sound() -> Verification {
        let running = Checked { sectors: 8000, ok: 1000, unsettled: 2, never_written: 30, ..Checked::default() };
        let after = ReadBack::Made { checked: Checked { sectors: 800, ok: 100, ..Checked::default() }, unread: 0 };
        Verification { memory: Bytes::mib(1), running, after, examples: Vec::new() }
    }

    fn torn(found: Found) -> Verification {
        let mut wrong = sound();
        wrong.running.defects[Defect::Torn.index()] = 3;
        wrong.running.defects[Defect::Stale.index()] = 1;
        let example = Mismatch {
            stream: 0,
            after: false,
            defect: Defect::Torn,
            address: 4608,
            run: 9,
            epoch: 2,
            oldest: 6,
            newest: 7,
            found,
        };
        wrong.examples.push(example);
        wrong
    }

    fn check(verification: Verification, expected: Expect) {
        let set = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| o.verification = Some(verification);
        let record = run_of(vec![mix()]).trial(0).done().trial(0).change(set).done().record();
        let result = verified(&by_case(&record)[0]);
        let (measured, meaning) = (result.measured, result.meaning);
        expected.assert_eq(&format!(
            "{:?}\n{}\n{}\n{}\n{}\n",
            result.status, measured.en, measured.ru, meaning.en, meaning.ru
        ));
    }

    #[test]
    fn data_as_written_pass_and_what_could_not_be_compared_is_counted() {
        check(
            sound(),
            expect![[r#"
            Pass
            1100 blocks; 2 left open by writes at the same time; 30 never written
            1100 блоков; 2 с неопределённым из-за одновременных записей; 30 не записанных


        "#]],
        );
    }

    #[test]
    fn every_difference_fails_with_its_kinds_and_its_first_place() {
        check(
            torn(Found::Sector { run: 9, epoch: 2, address: 4608, sequence: 5 }),
            expect![[r#"
            Fail
            4 blocks: 1 stale, 3 torn; first at byte 4608 (torn): expected write 6 to 7, found write 5
            4 блока: 1 устарело, 3 разорвано; первое в байте 4608 (разорвано): ожидалось: запись с 6 по 7, найдено: запись 5
            Parts of writes are missing. The target did not report an error; its speed means nothing. Keep the run file as evidence.
            Записи выполнены лишь частично. Об ошибке объект не сообщил; его скорость ничего не значит. Сохраните файл прогона как доказательство.
        "#]],
        );
    }

    #[test]
    fn wrong_data_fail_also_in_a_trial_that_lost_another_host() {
        let set = |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| o.verification = Some(torn(Found::Zeros));
        let wrong = run_of(vec![mix()]).trial(0).change(set).done().record();
        let lost = run_of(vec![mix()]).trial(0).unfinished().record();
        let record = crate::fixture::several(vec![("a".into(), wrong), ("b".into(), lost)]);
        assert!(record.trials[0].outcome.is_none(), "it did not end on all");
        let found = verified(&by_case(&record)[0]);
        assert_eq!(found.status, CheckStatus::Fail);
        assert!(found.measured.en.starts_with("4 blocks: "), "{:?}", found.measured);
    }

    #[test]
    fn what_was_found_is_told_in_words() {
        let sector = |run, epoch, address| Found::Sector { run, epoch, address, sequence: 5 };
        let words = |found| self::found(&torn(found).examples[0]).en;
        let all =
            [sector(8, 2, 4608), sector(9, 2, 0), sector(9, 1, 4608), Found::Zeros, Found::Damaged, Found::Unknown];
        expect![[r#"
            a block of another run
            the block of byte 0
            a block of trial 1 of the run
            zeros
            a sector whose checksum does not hold
            data that Stend did not write"#]]
        .assert_eq(&all.map(words).join("\n"));
    }

    #[test]
    fn what_could_not_be_read_back_is_a_warning() {
        let after = |after| {
            let set = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| {
                o.verification = Some(Verification { after, ..sound() });
            };
            let record = run_of(vec![mix()]).trial(0).change(set).done().record();
            let CheckResult { status, meaning, .. } = verified(&by_case(&record)[0]);
            (status, meaning)
        };
        assert_eq!(after(ReadBack::Stalled).0, CheckStatus::Warn);
        assert_eq!(after(ReadBack::Made { checked: Checked::default(), unread: 1 }).0, CheckStatus::Warn);
        assert_eq!(after(ReadBack::NotAsked).0, CheckStatus::Pass);
        let (status, meaning) = after(ReadBack::Impossible { reason: say!("no memory", "нет памяти") });
        assert_eq!(status, CheckStatus::Warn);
        assert!(meaning.en.ends_with("(no memory)") && meaning.ru.ends_with("(нет памяти)"), "{meaning:?}");
    }

    #[test]
    fn a_trial_that_only_writes_and_could_not_be_read_back_is_not_told_to_write_more() {
        let nothing = Verification { running: Checked::default(), after: ReadBack::Stalled, ..sound() };
        let set = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| o.verification = Some(nothing);
        let record = run_of(vec![mix()]).trial(0).change(set).done().record();
        assert_eq!(verified(&by_case(&record)[0]).status, CheckStatus::Warn);
    }

    #[test]
    fn without_verification_it_does_not_apply_and_without_a_written_block_it_cannot_tell() {
        let plain = run_of(vec![case("mix", 50, 8, Sync::None)]).trial(0).done().record();
        assert_eq!(verified(&by_case(&plain)[0]).status, CheckStatus::NotApplicable);
        let nothing = run_of(vec![mix()]).trial(0).done().record();
        assert_eq!(verified(&by_case(&nothing)[0]).status, CheckStatus::NotMeasurable);
    }
}
