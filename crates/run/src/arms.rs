//! The arms of a run: which one the host is in, what must be done to get into another, and whether that
//! changed what it should. Pure.

use crate::resume::Progressed;
use stend_analyse::compare::{ArmCondition, arm_conditions};
use stend_base::{Error, Nanos, Result, Say, say};
use stend_record::ArmFacts;
use stend_spec::Suite;
use stend_spec::arm::{Arm, Switch};

/// Longest look at host and target after a switch.
const LOOK_LIMIT: Nanos = Nanos::secs(60);
/// Longest time that a worker gives one command.
const COMMAND_LIMIT: Nanos = Nanos::secs(610);

/// What to do before the next trial can run.
#[derive(Debug, PartialEq)]
pub enum Need {
    /// Nothing: the host is in its arm.
    Nothing,
    /// Switch to this arm.
    Switch(u32),
    /// Wait for a person to switch to this arm.
    Person(u32),
}

/// See the module.
#[derive(Debug)]
pub struct Arms {
    suite: Suite,
    /// Facts of each arm when it was entered for the first time.
    first: Vec<Option<ArmFacts>>,
    current: Option<u32>,
    /// The person has seen this arm, and has gone on since.
    done_by_person: Option<u32>,
}

impl Arms {
    /// The arms of a run that begins, or goes on.
    pub fn new(suite: &Suite, earlier: Option<&Progressed>) -> Arms {
        let mut first = vec![None; suite.arms.len()];
        for (arm, facts) in earlier.iter().flat_map(|e| &e.arms) {
            if let Some(slot) = first.get_mut(*arm as usize) {
                slot.get_or_insert(facts.clone());
            }
        }
        Arms { suite: suite.clone(), first, current: None, done_by_person: earlier.and_then(|e| e.suspended) }
    }

    /// What comes before a trial in `arm`.
    pub fn need(&self, arm: Option<u32>) -> Need {
        let Some((arm, declared)) = arm.and_then(|arm| Some((arm, self.suite.arms.get(arm as usize)?))) else {
            return Need::Nothing;
        };
        if self.current == Some(arm) {
            return Need::Nothing;
        }
        let entered_before = self.first[arm as usize].is_some();
        match declared.switch.instruction() {
            Some(_) if !entered_before && self.done_by_person != Some(arm) => Need::Person(arm),
            _ => Need::Switch(arm),
        }
    }

    /// How to switch to an arm, and how long that may take.
    pub fn switch_to(&self, arm: u32, run: &str, run_file: &str) -> (stend_wire::SwitchTo, Nanos) {
        let observe = self.suite.observe.clone();
        // At most two commands leave one arm and enter the next.
        let limit = Nanos(COMMAND_LIMIT.0 * (observe.len() as u64 + 2)) + LOOK_LIMIT;
        let switch = self.suite.arms[arm as usize].switch.clone();
        (stend_wire::SwitchTo { switch, observe, run: run.to_string(), run_file: run_file.to_string() }, limit)
    }

    /// Takes notice that `arm` was entered. Returns what is worth a warning.
    ///
    /// Error of kind `Preflight`: a fact that must have changed has not, so that the arm would be measured
    /// under a wrong name.
    pub fn entered(&mut self, arm: u32, facts: ArmFacts) -> Result<Vec<Say>> {
        self.check_boot(arm, &facts)?;
        let index = arm as usize;
        let pairs: Vec<(usize, &ArmFacts, &ArmFacts)> = match index {
            0 => self.known().filter(|(other, _)| *other > 0).map(|(other, seen)| (other, &facts, seen)).collect(),
            _ => self.first[0].iter().map(|baseline| (index, baseline, &facts)).collect(),
        };
        for (changed, baseline, seen) in pairs {
            check_expected(&self.suite.arms[0], &self.suite.arms[changed], baseline, seen)?;
        }
        self.current = Some(arm);
        match &self.first[index] {
            Some(first) => Ok(drifted(&self.suite.arms[index], first, &facts)),
            None => {
                self.first[index] = Some(facts);
                Ok(Vec::new())
            }
        }
    }

    /// What a person does to bring the host into an arm; `None` if Stend switches to it.
    pub fn instruction(&self, arm: u32) -> Option<&str> {
        self.suite.arms.get(arm as usize)?.switch.instruction()
    }

    fn known(&self) -> impl Iterator<Item = (usize, &ArmFacts)> {
        self.first.iter().enumerate().filter_map(|(i, facts)| Some((i, facts.as_ref()?)))
    }

    /// An arm that is entered by a reboot has a boot that no other arm had.
    fn check_boot(&self, arm: u32, facts: &ArmFacts) -> Result<()> {
        let declared = &self.suite.arms[arm as usize];
        let rebooted = self.known().all(|(i, seen)| i == arm as usize || seen.host.boot_id != facts.host.boot_id);
        if rebooted || !matches!(declared.switch, Switch::Reboot { .. }) {
            return Ok(());
        }
        let name = &declared.name;
        Err(Error::preflight(say!(
            "arm `{name}` begins with a reboot, but the host has not been rebooted",
            "вариант `{name}` начинается с перезагрузки, а машина не перезагружалась"
        )))
    }
}

fn check_expected(first: &Arm, arm: &Arm, baseline: &ArmFacts, seen: &ArmFacts) -> Result<()> {
    let (before, now) = (arm_conditions(baseline), arm_conditions(seen));
    let value = |conditions: &[ArmCondition], key: &str| {
        conditions.iter().find(|c| c.key == key).map(|c| c.value.en.clone()).unwrap_or_default()
    };
    for key in &arm.expect {
        let (was, is) = (value(&before, key), value(&now, key));
        if was == is {
            let (name, first) = (&arm.name, &first.name);
            let shown: String = if is.is_empty() { "?".into() } else { is.chars().take(200).collect() };
            return Err(Error::preflight(say!(
                "arm `{name}` expects `{key}` to differ from arm `{first}`, but it is the same: {shown}",
                "вариант `{name}` ожидает, что `{key}` отличается от варианта `{first}`, а он тот же: {shown}"
            ))
            .hint(say!(
                "make the change, then `stend run --resume`; or take `{key}` out of `expect` and start anew",
                "внесите изменение, затем `stend run --resume`; либо уберите `{key}` из `expect` и начните заново"
            )));
        }
    }
    Ok(())
}

/// Conditions in which an arm is not what it was when it was first entered; a new boot alone is none.
fn drifted(arm: &Arm, first: &ArmFacts, now: &ArmFacts) -> Vec<Say> {
    let name = &arm.name;
    let pairs = arm_conditions(first).into_iter().zip(arm_conditions(now));
    let differing = pairs.filter(|(was, is)| was.value != is.value && was.key != "boot_id");
    let words = |(was, is): (ArmCondition, ArmCondition)| {
        let (en, ru) = (was.name.en, was.name.ru);
        let (from_en, from_ru, to_en, to_ru) = (was.value.en, was.value.ru, is.value.en, is.value.ru);
        say!(
            "arm `{name}` has changed: {en}: {from_en} → {to_en}",
            "вариант `{name}` изменился: {ru}: {from_ru} → {to_ru}"
        )
    };
    differing.map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use stend_base::Kind;
    use stend_record::HostFacts;

    fn arms(text: &str) -> Arms {
        let cases = "cases: [{name: r, streams: [{op: read, pattern: random, block_size: 4KiB}]}]";
        let observe = "observe: {queue: [x]}";
        Arms::new(&stend_spec::parse::suite(&format!("suite: t\n{cases}\n{observe}\n{text}"), "t").unwrap(), None)
    }

    fn facts(kernel: &str, queue: &str) -> ArmFacts {
        let host = HostFacts { kernel: kernel.into(), ..HostFacts::default() };
        ArmFacts { host, targets: vec![fixture::target()], observed: vec![("queue".into(), queue.into())] }
    }

    const TUNED: &str = "arms: [{name: a}, {name: b, switch: {command: [x], undo: [y]}, expect: [queue]}]";

    #[test]
    fn what_had_to_change_and_did_not_is_an_error_whichever_arm_comes_first() {
        for order in [[0, 1], [1, 0]] {
            let mut good = arms(TUNED);
            assert_eq!(order.map(|arm| good.entered(arm, facts("6", &arm.to_string())).unwrap()), [vec![], vec![]]);
            let mut same = arms(TUNED);
            same.entered(order[0], facts("6", "x")).unwrap();
            let error = same.entered(order[1], facts("6", "x")).unwrap_err();
            assert_eq!(error.kind, Kind::Preflight);
            assert!(error.message.en.starts_with("arm `b` expects `queue` to differ from arm `a`"), "{error}");
        }
    }

    #[test]
    fn an_arm_that_is_not_what_it_was_is_told() {
        let mut arms = arms(TUNED);
        arms.entered(0, facts("6.1", "0")).unwrap();
        arms.entered(1, facts("6.1", "1")).unwrap();
        let told = arms.entered(0, facts("6.2", "0")).unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].en, "arm `a` has changed: kernel: 6.1 → 6.2");
    }

    #[test]
    fn a_person_is_asked_once_per_arm() {
        let mut arms = arms("arms: [{name: a}, {name: b, switch: {person: swap}}]");
        assert_eq!((arms.need(None), arms.need(Some(0))), (Need::Nothing, Need::Switch(0)));
        arms.entered(0, facts("6", "0")).unwrap();
        assert_eq!((arms.need(Some(0)), arms.need(Some(1))), (Need::Nothing, Need::Person(1)));
        arms.done_by_person = Some(1);
        assert_eq!(arms.need(Some(1)), Need::Switch(1));
        arms.done_by_person = None;
        arms.entered(1, facts("6", "1")).unwrap();
        arms.current = None;
        assert_eq!(arms.need(Some(1)), Need::Switch(1), "in a later session it is only looked at");
    }
}
