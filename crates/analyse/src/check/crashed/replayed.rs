//! H81 where nothing crashed: states of the target that were rebuilt from a log of its writes.

use super::{blocks, differing, meaning};
use crate::check::Check;
use crate::findings::CheckResult;
use stend_base::{Say, format, say, say_in};
use stend_record::Crash;
use stend_record::verification::Checked;

pub(super) fn judged(check: Check, states: &[&Crash]) -> CheckResult {
    let of =
        states.iter().filter_map(|state| state.replayed.as_ref()).map(|replayed| replayed.states).max().unwrap_or(0);
    let wrong: Vec<&Crash> = states.iter().filter(|state| state.wrong() > 0).copied().collect();
    if let Some(first) = wrong.first() {
        let measured = failed(first, (wrong.len() as u64, states.len() as u64, of));
        let meaning = match wrong.iter().all(|state| state.broken().is_some()) {
            true => say!(
                "The layers on the device no longer start. Do not use the target for data that must survive a crash.",
                "Слои на устройстве больше не запускаются. Не храните на объекте данные, которые должны пережить сбой."
            ),
            false => meaning(&all(&wrong)),
        };
        return check.measured(measured).fail(meaning);
    }
    // The last state has the most: each of the others has what was acknowledged before it.
    let acknowledged = states.iter().map(|state| state.acknowledged).max().unwrap_or(0);
    if acknowledged == 0 {
        return check.not_measurable(say!(
            "Nothing had been acknowledged in the examined states, or a sync had failed: no data were promised.",
            "В изученных состояниях ничего не было подтверждено, или отказала синхронизация: сохранность не обещалась."
        ));
    }
    check.pass(Say::both(|l| {
        let (blocks, n, of) = (blocks(acknowledged, l), format::count(states.len() as u64), format::count(of));
        say_in!(
            l,
            "in {n} of {of} states in which the power could have gone everything acknowledged by then was there, at last {blocks}",
            "в {n} из {of} состояний, в которых могло пропасть питание, всё подтверждённое к тому времени на месте; под конец это {blocks}"
        )
    }))
}

fn all(states: &[&Crash]) -> Checked {
    let mut all = Checked::default();
    states.iter().for_each(|state| all.add(&state.checked));
    all
}

/// In how many states something is wrong, and what it is in the first of them.
fn failed(first: &Crash, (wrong, examined, of): (u64, u64, u64)) -> Say {
    let differing = differing(&first.checked, first.examples.first());
    Say::both(|l| {
        let [wrong, examined, of] = [wrong, examined, of].map(format::count);
        let at = first.replayed.as_ref().map(|replayed| (replayed.entry + 1, replayed.entries)).unwrap_or_default();
        let (entry, entries) = (format::count(at.0), format::count(at.1));
        let what = match first.broken() {
            Some(why) => {
                say_in!(l, "it could not be brought up: {why}", "поднять не удалось: {why}", why = why.get(l))
            }
            None if first.checked.wrong() > 0 => differing.get(l).to_string(),
            None => say_in!(
                l,
                "{blocks} cannot be read any more",
                "больше не читается: {blocks}",
                blocks = blocks(first.unread, l)
            ),
        };
        say_in!(
            l,
            "{wrong} of {examined} states that were examined, of {of}; the first behind entry {entry} of {entries} of the log: {what}",
            "в {wrong} из изученных состояний ({examined} из {of}); первое — за записью {entry} из {entries} в журнале: {what}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, crash, of};
    use super::*;
    use crate::findings::CheckStatus;
    use expect_test::expect;
    use stend_record::Replayed;
    use stend_record::verification::Defect;

    fn state(entry: u64, acknowledged: u64) -> Crash {
        let replayed = Replayed { entry, entries: 900, states: 300, broken: None };
        Crash { replayed: Some(replayed), ..crash(1, acknowledged) }
    }

    #[test]
    fn states_that_hold_everything_pass_and_each_counts() {
        check(
            vec![state(99, 0), state(199, 10), state(899, 40)],
            expect![[r#"
                Pass
                in 3 of 300 states in which the power could have gone everything acknowledged by then was there, at last 40 blocks
                в 3 из 300 состояний, в которых могло пропасть питание, всё подтверждённое к тому времени на месте; под конец это 40 блоков


            "#]],
        );
        assert_eq!(of(vec![state(1, 0)]).status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn a_state_that_lacks_something_fails_with_its_place_in_the_log() {
        let mut bad = state(511, 20);
        bad.checked.defects[Defect::Lost.index()] = 3;
        check(
            vec![state(99, 10), bad],
            expect![[r#"
                Fail
                1 of 2 states that were examined, of 300; the first behind entry 512 of 900 of the log: 3 blocks: 3 lost
                в 1 из изученных состояний (2 из 300); первое — за записью 512 из 900 в журнале: 3 блока: 3 потеряно
                Writes that were acknowledged as durable are gone. Do not use the target for data that must survive a crash.
                Пропали записи, которые были подтверждены как сохранённые. Не храните на объекте данные, которые должны пережить сбой.
            "#]],
        );
        check(
            vec![Crash { unread: 2, ..state(7, 9) }],
            expect![[r#"
                Fail
                1 of 1 states that were examined, of 300; the first behind entry 8 of 900 of the log: 2 blocks cannot be read any more
                в 1 из изученных состояний (1 из 300); первое — за записью 8 из 900 в журнале: больше не читается: 2 блока
                Acknowledged data cannot be read any more. Do not use the target for data that must survive a crash.
                Подтверждённые данные больше не читаются. Не храните на объекте данные, которые должны пережить сбой.
            "#]],
        );
    }

    #[test]
    fn a_state_that_cannot_be_brought_up_fails_even_where_nothing_was_acknowledged() {
        let mut bad = state(0, 0);
        bad.replayed.iter_mut().for_each(|replayed| replayed.broken = Some(say!("no mount", "не монтируется")));
        check(
            vec![bad],
            expect![[r#"
                Fail
                1 of 1 states that were examined, of 300; the first behind entry 1 of 900 of the log: it could not be brought up: no mount
                в 1 из изученных состояний (1 из 300); первое — за записью 1 из 900 в журнале: поднять не удалось: не монтируется
                The layers on the device no longer start. Do not use the target for data that must survive a crash.
                Слои на устройстве больше не запускаются. Не храните на объекте данные, которые должны пережить сбой.
            "#]],
        );
    }
}
