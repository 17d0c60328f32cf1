//! H81: was what had been acknowledged as durable still there after each crash, or in each state in which the power could have gone?

mod replayed;

use super::Check;
use super::verified::{blocks, differing};
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, Share, format, say, say_in};
use stend_record::verification::{Checked, Defect};
use stend_record::{Crash, RunRecord};

/// H81: see the module.
pub fn crashed(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H81, limit: say!("0 blocks lost", "потерь нет") };
    if !case.asked.streams.iter().any(|stream| stream.verify.is_some_and(|verify| verify.crash)) {
        return check.not_applicable(say!("No ledger was kept.", "Журнал не вёлся."));
    }
    let of_case = |crash: &&Crash| match run.trials.iter().chain(&run.rounds).find(|trial| trial.trial == crash.trial) {
        Some(trial) => trial.case == case.case,
        // The last second before a kill may be missing, and with it that its trial had begun.
        None => true,
    };
    let crashes: Vec<&Crash> = run.crashes().filter(of_case).collect();
    if crashes.is_empty() {
        return check.not_applicable(say!("No crash was judged.", "Сбоев не оценивалось."));
    }
    // A run does one or the other: what is replayed does not crash.
    if crashes.iter().any(|crash| crash.replayed.is_some()) {
        return replayed::judged(check, &crashes);
    }
    let mut all = Checked::default();
    crashes.iter().for_each(|crash| all.add(&crash.checked));
    let unread = crashes.iter().fold(0u64, |sum, crash| sum.saturating_add(crash.unread));
    if all.wrong() > 0 || unread > 0 {
        let hit = crashes.iter().filter(|crash| crash.wrong() > 0).count() as u64;
        let measured = failed(&all, unread, (hit, crashes.len() as u64), &crashes);
        return check.measured(measured).fail(meaning(&all));
    }
    let acknowledged = crashes.iter().fold(0u64, |sum, crash| sum.saturating_add(crash.acknowledged));
    if acknowledged == 0 {
        return check.not_measurable(say!(
            "Nothing had been acknowledged before the crashes, or a sync had failed: no data were promised.",
            "До сбоев ничего не было подтверждено, или отказала синхронизация: сохранность не обещалась."
        ));
    }
    let n = crashes.len() as u64;
    check.pass(Say::both(|l| {
        let (n, blocks, below) = (format::count(n), blocks(acknowledged, l), format::percent(bound(n).0, l));
        say_in!(
            l,
            "{blocks} acknowledged before {n} crashes, all there; lost at less than {below} of crashes",
            "до сбоев ({n}) подтверждено: {blocks}, все на месте; потери менее чем при {below} сбоев"
        )
    }))
}

/// With so many crashes without a loss the chance that one loses something is below this at 95 %: if it were p or more, none in
/// n would have chance (1 − p)^n at most, and that is 0.05 for p = 1 − 0.05^(1/n).
/// Source: the "rule of three" without its approximation (Hanley, Lippman-Hand 1983).
pub fn bound(crashes: u64) -> Share {
    Share(1.0 - 0.05f64.powf(1.0 / crashes.max(1) as f64))
}

/// How many crashes took something, what, and the first place.
fn failed(all: &Checked, unread: u64, (hit, of): (u64, u64), crashes: &[&Crash]) -> Say {
    let example = crashes.iter().find_map(|crash| crash.examples.first());
    let Say { en, ru } = differing(all, example);
    Say::both(|l| {
        let (hit, of) = (format::count(hit), format::count(of));
        let text = match (l, all.wrong() > 0) {
            (Lang::En, true) => format!("{hit} of {of} crashes: {en}"),
            (Lang::Ru, true) => format!("при {hit} из {of} сбоев: {ru}"),
            (Lang::En, false) => format!("{hit} of {of} crashes"),
            (Lang::Ru, false) => format!("при {hit} из {of} сбоев"),
        };
        let unreadable = (unread > 0).then(|| {
            say_in!(
                l,
                "; {blocks} cannot be read any more",
                "; больше не читается: {blocks}",
                blocks = blocks(unread, l)
            )
        });
        text + &unreadable.unwrap_or_default()
    })
}

/// What the most serious kind means after a crash.
fn meaning(all: &Checked) -> Say {
    let Say { en, ru } = what_is_wrong(all);
    say!(
        "{en} Do not use the target for data that must survive a crash.",
        "{ru} Не храните на объекте данные, которые должны пережить сбой."
    )
}

fn what_is_wrong(all: &Checked) -> Say {
    match all.gravest() {
        Some(Defect::Corrupt) => say!(
            "Blocks were changed, or cut within a sector where nothing was in flight.",
            "Блоки изменились или оборваны внутри сектора там, куда ничего не писалось."
        ),
        Some(Defect::Misdirected) => {
            say!("Data are at the wrong addresses.", "Данные оказались по чужим адресам.")
        }
        Some(Defect::Phantom) => say!(
            "There are blocks that this run never sent: did another program write before the check?",
            "Есть блоки, которых прогон не посылал: не писала ли до проверки другая программа?"
        ),
        Some(Defect::Torn) => {
            say!("Acknowledged writes are there only in part.", "Подтверждённые записи сохранились лишь частично.")
        }
        Some(Defect::Reordered) => say!(
            "Writes that were acknowledged are gone, but later ones that were only sent are there. No log or journal can recover from that.",
            "Подтверждённые записи пропали, а отправленные позже — на месте. После такого не восстановит данные ни один журнал."
        ),
        Some(Defect::Lost) | Some(Defect::Stale) => {
            say!(
                "Writes that were acknowledged as durable are gone.",
                "Пропали записи, которые были подтверждены как сохранённые."
            )
        }
        None => say!("Acknowledged data cannot be read any more.", "Подтверждённые данные больше не читаются."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use expect_test::{Expect, expect};
    use stend_base::Nanos;
    use stend_record::verification::{Found, Mismatch};
    use stend_record::{Aftermath, Event, EventKind};
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::{Sync, Verify};

    fn kept() -> SuiteCase {
        let mut kept = case("log", 0, 8, Sync::Dsync);
        kept.streams[0].verify = Some(Verify { after: false, crash: true });
        kept
    }

    /// A crash of a session in which so much had been acknowledged.
    pub(super) fn crash(session: u64, acknowledged: u64) -> Crash {
        Crash {
            run: session,
            trial: 0,
            rebooted: false,
            shaken: false,
            acknowledged,
            in_flight: 8,
            checked: Checked { sectors: 8 * acknowledged, ok: acknowledged, unsettled: 2, ..Checked::default() },
            shorn: 0,
            unread: 0,
            examples: Vec::new(),
            replayed: None,
        }
    }

    pub(super) fn of(crashes: Vec<Crash>) -> CheckResult {
        let mut record = run_of(vec![kept()]).trial(0).done().record();
        record.events = crashes
            .into_iter()
            .map(|crash| Event::new(Nanos(1), EventKind::Crash(Aftermath::Judged(Box::new(crash)))))
            .collect();
        crashed(&record, &by_case(&record)[0])
    }

    pub(super) fn check(crashes: Vec<Crash>, expected: Expect) {
        let CheckResult { status, measured, meaning, .. } = of(crashes);
        expected.assert_eq(&format!("{status:?}\n{}\n{}\n{}\n{}\n", measured.en, measured.ru, meaning.en, meaning.ru));
    }

    #[test]
    fn crashes_that_took_nothing_pass_with_the_bound_that_their_number_proves() {
        check(
            vec![crash(1, 1000), crash(2, 500), crash(3, 1)],
            expect![[r#"
            Pass
            1501 blocks acknowledged before 3 crashes, all there; lost at less than 63.2 % of crashes
            до сбоев (3) подтверждено: 1501 блок, все на месте; потери менее чем при 63,2 % сбоев


        "#]],
        );
        let bounds = [1, 60, 300, 1000].map(|n| format!("{:.3}", bound(n).0));
        assert_eq!(bounds, ["0.950", "0.049", "0.010", "0.003"]);
    }

    #[test]
    fn a_crash_that_was_judged_twice_counts_once() {
        assert_eq!(of(vec![crash(1, 10), crash(1, 10)]).measured, of(vec![crash(1, 10)]).measured);
    }

    #[test]
    fn whatever_a_crash_took_fails_with_its_kinds_and_its_first_place() {
        let mut bad = crash(2, 100);
        bad.checked.defects[Defect::Lost.index()] = 3;
        bad.checked.defects[Defect::Reordered.index()] = 1;
        bad.unread = 2;
        bad.examples = vec![Mismatch {
            stream: 0,
            after: true,
            defect: Defect::Lost,
            address: 4096,
            run: 2,
            epoch: 1,
            oldest: 4,
            newest: 5,
            found: Found::Sector { run: 2, epoch: 1, address: 4096, sequence: 3 },
        }];
        check(
            vec![crash(1, 100), bad],
            expect![[r#"
                Fail
                1 of 2 crashes: 4 blocks: 3 lost, 1 reordered; first at byte 4096 (lost): expected write 4 to 5, found write 3; 2 blocks cannot be read any more
                при 1 из 2 сбоев: 4 блока: 3 потеряно, 1 в другом порядке; первое в байте 4096 (потеряно): ожидалось: запись с 4 по 5, найдено: запись 3; больше не читается: 2 блока
                Writes that were acknowledged are gone, but later ones that were only sent are there. No log or journal can recover from that. Do not use the target for data that must survive a crash.
                Подтверждённые записи пропали, а отправленные позже — на месте. После такого не восстановит данные ни один журнал. Не храните на объекте данные, которые должны пережить сбой.
            "#]],
        );
        let unreadable = Crash { unread: 1, ..crash(1, 100) };
        check(
            vec![unreadable],
            expect![[r#"
                Fail
                1 of 1 crashes; 1 block cannot be read any more
                при 1 из 1 сбоев; больше не читается: 1 блок
                Acknowledged data cannot be read any more. Do not use the target for data that must survive a crash.
                Подтверждённые данные больше не читаются. Не храните на объекте данные, которые должны пережить сбой.
            "#]],
        );
    }

    #[test]
    fn without_ledger_crash_or_acknowledgement_nothing_is_claimed() {
        let plain = run_of(vec![case("log", 0, 8, Sync::Dsync)]).trial(0).done().record();
        assert_eq!(crashed(&plain, &by_case(&plain)[0]).status, CheckStatus::NotApplicable);
        assert_eq!(of(Vec::new()).status, CheckStatus::NotApplicable);
        assert_eq!(of(vec![crash(1, 0)]).status, CheckStatus::NotMeasurable);
    }
}
