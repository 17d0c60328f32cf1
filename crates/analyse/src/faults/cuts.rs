//! What is known of the cuts of power in the trials of one case: how many there were, and what was found of the data afterwards.

use crate::check::bound;
use crate::findings::{BackTimes, CutFinding};
use stend_base::{Lang, Nanos, Say, format, say_in};
use stend_plan::Plan;
use stend_record::verification::{Checked, Defect};
use stend_record::{Back, Crash, EventKind, FaultMoment, RunRecord, TrialRecord};
use stend_stats::middle_and_most;

/// Whether a trial ended with the cut of power that its case asks for.
pub fn ended_by_cut(run: &RunRecord, plan: &Plan, trial: &TrialRecord) -> bool {
    let faults = plan.cases.get(trial.case as usize).map(|case| case.faults.as_slice()).unwrap_or_default();
    let is_cut = |index: u32| faults.get(index as usize).is_some_and(|fault| fault.is_cut());
    trial.outcome.is_none()
        && run.events.iter().any(|event| {
            matches!(&event.kind, EventKind::Fault { trial: of, fault, moment: FaultMoment::Done, .. }
                if *of == trial.trial && is_cut(*fault))
        })
}

/// Cuts in the trials of a case.
pub(super) fn of_case(run: &RunRecord, plan: &Plan, case: u32) -> Option<CutFinding> {
    let of_case = run.trials.iter().filter(|trial| trial.case == case);
    let cut: Vec<u32> = of_case.filter(|trial| ended_by_cut(run, plan, trial)).map(|trial| trial.trial).collect();
    let crashes: Vec<&Crash> = run.crashes().filter(|crash| cut.contains(&crash.trial)).collect();
    let mut checked = Checked::default();
    crashes.iter().for_each(|crash| checked.add(&crash.checked));
    let sum = |of: fn(&Crash) -> u64| crashes.iter().fold(0, |sum: u64, crash| sum.saturating_add(of(crash)));
    (!cut.is_empty()).then(|| CutFinding {
        cuts: cut.len() as u64,
        judged: crashes.len() as u64,
        acknowledged: sum(|crash| crash.acknowledged),
        harmful: crashes.iter().filter(|crash| crash.wrong() > 0).count() as u64,
        checked,
        unread: sum(|crash| crash.unread),
        back: back(run, &cut),
    })
}

/// Cuts in these trials.
fn back(run: &RunRecord, cut: &[u32]) -> Option<BackTimes> {
    let backs = run.events.iter().filter_map(|event| match event.kind {
        EventKind::Back(back) => Some(back),
        _ => None,
    });
    let backs: Vec<Back> = backs.filter(|back| cut.contains(&back.trial)).collect();
    let of = |times: Vec<Nanos>| {
        let all: Vec<Option<f64>> = times.into_iter().map(|time| Some(time.0 as f64)).collect();
        let (middle, most) = middle_and_most(&all);
        Some((Nanos(middle? as u64), Nanos(most? as u64)))
    };
    Some(BackTimes {
        answered: of(backs.iter().map(|back| back.answered).collect())?,
        stood: of(backs.iter().filter_map(|back| back.stood).collect()),
        read: of(backs.iter().map(|back| back.read).collect())?,
    })
}

impl CutFinding {
    /// Blocks whose acknowledged write is gone.
    pub fn lost(&self) -> u64 {
        let of = |kind: Defect| self.checked.defects[kind.index()];
        [Defect::Lost, Defect::Reordered, Defect::Stale].map(of).into_iter().fold(0, u64::saturating_add)
    }

    /// Blocks of which it is there in part.
    pub fn torn(&self) -> u64 {
        self.checked.defects[Defect::Torn.index()]
    }

    /// Blocks that are otherwise not as acknowledged, or cannot be read any more.
    pub fn others(&self) -> u64 {
        let told = self.lost().saturating_add(self.torn());
        self.checked.wrong().saturating_sub(told).saturating_add(self.unread)
    }

    /// The finding in a few sentences.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let cuts = say_in!(l, "Cuts of power: {n}", "Отключений питания: {n}", n = format::count(self.cuts));
            if self.judged == 0 {
                let unknown = l.pick("; the data were not checked.", "; данные не проверены.");
                return cuts + unknown;
            }
            let judged = match self.judged == self.cuts {
                true => String::new(),
                false => say_in!(
                    l,
                    " (data judged after {n})",
                    " (данные оценены после {n})",
                    n = format::count(self.judged)
                ),
            };
            let compared = say_in!(
                l,
                ". Blocks acknowledged as durable before, and compared after: {n}",
                ". Блоков, подтверждённых до отключения и сверенных после: {n}",
                n = format::count(self.acknowledged)
            );
            format!("{cuts}{judged}{compared}{}{}", self.found(l), self.came_back(l))
        })
    }

    /// How long it took until something was there again.
    fn came_back(&self, l: Lang) -> String {
        let Some(BackTimes { answered, stood, read }) = self.back else { return String::new() };
        let time = |(median, largest): (Nanos, Nanos)| {
            let [median, largest] = [median, largest].map(|time| format::duration(time, l));
            match self.cuts {
                1 => median,
                _ => say_in!(l, "{median} (median; at most {largest})", "{median} (медиана; не более {largest})"),
            }
        };
        let stand =
            stood.map(|stood| say_in!(l, ", the stand was up after {t}", ", стенд поднят через {t}", t = time(stood)));
        say_in!(
            l,
            " After a cut the guest answered after {answered}{stand}, and the first block was read and compared after {read}.",
            " После отключения гостевая система ответила через {answered}{stand}, первый блок прочитан и сверен через {read}.",
            answered = time(answered),
            stand = stand.unwrap_or_default(),
            read = time(read)
        )
    }

    fn found(&self, l: Lang) -> String {
        if self.acknowledged == 0 && self.harmful == 0 {
            return say_in!(l, ": no data were promised.", ": сохранность данных не обещалась.");
        }
        if self.harmful == 0 {
            let below = format::percent(bound(self.judged).0, l);
            return say_in!(
                l,
                "; all are there: 0 lost, 0 torn, 0 others. A cut loses something with a chance below {below} (95 %).",
                "; все на месте: утрачено 0, разорвано 0, иных отличий 0. Вероятность потери при отключении ниже {below} (95 %)."
            );
        }
        say_in!(
            l,
            ". {harmful} of {judged} cuts took or changed data: {lost} blocks lost, {torn} torn, {others} others.",
            ". Отключений, повредивших данные: {harmful} из {judged}; блоков утрачено {lost}, разорвано {torn}, иных отличий {others}.",
            harmful = format::count(self.harmful),
            judged = format::count(self.judged),
            lost = format::count(self.lost()),
            torn = format::count(self.torn()),
            others = format::count(self.others())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run_of};
    use stend_record::{Aftermath, Event};
    use stend_spec::fault::{Act, Fault};
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::{Sync, Verify};

    fn cutting() -> SuiteCase {
        let fault = Fault { at: Nanos::secs(1), lasts: None, act: Act::PowerCut };
        let mut cutting = SuiteCase { faults: vec![fault], ..case("log", 0, 8, Sync::Dsync) };
        cutting.streams[0].verify = Some(Verify { after: false, crash: true });
        cutting
    }

    /// A run whose trials were cut, with what was found after each; `None`: nothing was judged.
    fn record(found: &[Option<Checked>]) -> RunRecord {
        let mut run = run_of(vec![cutting()]);
        for _ in found {
            run = run.trial(0).done();
        }
        let mut record = run.record();
        for (trial, checked) in (0u32..).zip(found) {
            record.trials[trial as usize].outcome = None;
            let at = Nanos::secs(100 + u64::from(trial));
            let what = Say::same("cut");
            let kind = EventKind::Fault { trial, fault: 0, moment: FaultMoment::Done, what };
            record.events.push(Event::new(at, kind));
            let Some(checked) = *checked else { continue };
            let crash = Crash {
                run: 9,
                trial,
                rebooted: true,
                shaken: false,
                acknowledged: 100,
                in_flight: 8,
                checked,
                shorn: 0,
                unread: 0,
                examples: Vec::new(),
                replayed: None,
            };
            let kind = EventKind::Crash(Aftermath::Judged(Box::new(crash)));
            record.events.push(Event::new(at, kind));
        }
        record
    }

    fn wrong(kind: Defect, count: u64) -> Option<Checked> {
        let mut checked = Checked { ok: 100 - count, ..Checked::default() };
        checked.defects[kind.index()] = count;
        Some(checked)
    }

    /// The cuts are what the run says first, in words that have these parts.
    fn verdict(record: &RunRecord, parts: [&[&str]; 2]) {
        let findings = crate::analyse(record).unwrap();
        let cuts = findings.faults[0].say();
        assert!(findings.verdict.en.starts_with(&format!("log: {}", cuts.en)), "{}", findings.verdict.en);
        let left_out: u32 = findings.cases.iter().map(|case| case.trials_left_out).sum();
        assert_eq!(left_out, 0, "a cut trial did what it was for");
        for (text, parts) in [&cuts.en, &cuts.ru].into_iter().zip(parts) {
            parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
        }
    }

    #[test]
    fn cuts_that_took_nothing_are_counted_with_what_they_prove() {
        let fine = Some(Checked { ok: 100, ..Checked::default() });
        verdict(
            &record(&[fine, fine, fine]),
            [
                &["Cuts of power: 3.", "compared after: 300;", "0 lost, 0 torn, 0 others", "with a chance below 63.2"],
                &["Отключений питания: 3.", "сверенных после: 300;", "утрачено 0, разорвано 0", "ниже 63,2"],
            ],
        );
        verdict(
            &record(&[fine, None]),
            [&["Cuts of power: 2 (data judged after 1).", "after: 100;"], &["(данные оценены после 1)"]],
        );
        verdict(&record(&[None]), [&["Cuts of power: 1; the data were not checked."], &["данные не проверены"]]);
    }

    #[test]
    fn what_a_cut_took_is_told_by_kind_and_fails_its_check() {
        let lossy = record(&[wrong(Defect::Lost, 3), wrong(Defect::Torn, 2), wrong(Defect::Reordered, 1)]);
        verdict(
            &lossy,
            [
                &["3 of 3 cuts took or changed data: 4 blocks lost, 2 torn, 0 others."],
                &["повредивших данные: 3 из 3; блоков утрачено 4, разорвано 2, иных отличий 0."],
            ],
        );
        let findings = crate::analyse(&lossy).unwrap();
        let check = findings.cases[0].checks.iter().find(|check| check.id == crate::findings::CheckId::H81).unwrap();
        assert_eq!(check.status, crate::findings::CheckStatus::Fail);
    }

    #[test]
    fn it_is_told_how_long_it_took_until_something_was_there_again() {
        let fine = Some(Checked { ok: 100, ..Checked::default() });
        let back = |trial, [answered, stood, read]: [u64; 3]| {
            let [answered, stood, read] = [answered, stood, read].map(Nanos::secs);
            Event::new(Nanos::secs(90), EventKind::Back(Back { trial, answered, stood: Some(stood), read }))
        };
        let mut one = record(&[fine]);
        one.events.push(back(0, [20, 25, 26]));
        verdict(
            &one,
            [
                &[
                    "the guest answered after 20 s, the stand was up after 25 s, and the first block was read and compared after 26 s.",
                ],
                &["система ответила через 20 с, стенд поднят через 25 с, первый блок прочитан и сверен через 26 с."],
            ],
        );
        let mut three = record(&[fine, fine, fine]);
        three.events.extend([
            back(0, [20, 25, 26]),
            back(1, [40, 50, 51]),
            back(2, [22, 27, 28]),
            back(9, [99, 99, 99]),
        ]);
        verdict(
            &three,
            [
                &["answered after 22 s (median; at most 40 s), the stand was up after 27 s (median; at most 50 s)"],
                &["через 22 с (медиана; не более 40 с)"],
            ],
        );
        // Without a stand nothing is said of one, and of runs of earlier versions nothing at all.
        for event in &mut one.events {
            if let EventKind::Back(back) = &mut event.kind {
                back.stood = None;
            }
        }
        verdict(&one, [&["answered after 20 s, and the first block"], &["через 20 с, первый блок"]]);
        let findings = crate::analyse(&record(&[fine])).unwrap();
        assert!(!findings.faults[0].say().en.contains("answered after"));
    }

    #[test]
    fn a_trial_that_ended_by_itself_or_whose_event_was_another_was_not_cut() {
        let fine = Some(Checked { ok: 100, ..Checked::default() });
        let cut = record(&[fine]);
        let plan = Plan::new(&cut.header.inputs).unwrap();
        assert!(ended_by_cut(&cut, &plan, &cut.trials[0]));
        let mut open = cut.clone();
        open.events.clear();
        assert!(!ended_by_cut(&open, &plan, &open.trials[0]), "the coordinator was killed");
        let mut other = plan.clone();
        other.cases[0].faults[0].act = Act::Scrub;
        assert!(!ended_by_cut(&cut, &other, &cut.trials[0]));
        let ended = run_of(vec![cutting()]).trial(0).done().record();
        assert!(!ended_by_cut(&ended, &plan, &ended.trials[0]));
    }
}
