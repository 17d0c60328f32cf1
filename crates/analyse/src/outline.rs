//! What a suite takes where nothing special is known of the target, for a list of suites: computed from the plan that it makes there.

use stend_base::{Bytes, Nanos};
use stend_plan::{Plan, PlanInputs, PlanTarget, Room};
use stend_spec::files::Files;
use stend_spec::suite::{Fill, Suite};

/// The target that is taken for usual: a directory on a file system of 1 TiB that is half empty (by eye; what suites fill by default
/// does not depend on it where there is that much room).
const ROOM: Room = Room { total: Bytes(1 << 40), free: Bytes(1 << 39) };

/// Time and space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outline {
    /// Trials and rounds, without the fill and the steps between.
    pub time: Nanos,
    /// It may be over earlier: a case is in steady state, or as precise as asked.
    pub at_most: bool,
    /// Test files together.
    pub files: Bytes,
    /// They are smaller where the file system has little room.
    pub files_at_most: bool,
    /// How much is filled before the first trial, all passes; 0 if nothing is.
    pub fill: Bytes,
    /// It only reads what is there: no test file answers it.
    pub needs_data: bool,
}

/// What a suite takes on a usual target; `None` if that depends on the target or on a file that it names.
pub fn outline(suite: &Suite) -> Option<Outline> {
    let target = PlanTarget::directory(ROOM);
    let inputs = PlanInputs::new(suite.clone(), 0, target);
    let plan = Plan::new(&inputs).ok()?;
    // Half a suite would be half an answer.
    if plan.cases.iter().any(|case| case.not_run.is_some()) {
        return None;
    }
    Some(Outline {
        time: plan.trial_time(),
        at_most: plan.until.is_some() || plan.cases.iter().any(|case| case.steady.is_some()),
        files: Bytes(plan.files.iter().map(|file| file.0).sum()),
        files_at_most: !matches!(suite.fill, Some(Fill::Size(_)))
            && suite.files.as_ref().and_then(Files::total).is_none(),
        fill: plan.fill_bytes(),
        needs_data: suite.needs_data(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Outline> {
        outline(&stend_spec::parse::suite(text, "s.yaml").unwrap())
    }

    #[test]
    fn time_and_files_follow_from_the_plan() {
        let cases = "cases: [{name: a, streams: [{op: write, pattern: random, block_size: 4KiB}]}]\n";
        let found = of(&format!(
            "suite: s\ndefaults: {{ramp: 1s, trial: 4s}}\nfill: {{size: 64MiB}}\nrepeats: {{blocks: 3}}\n{cases}"
        ));
        let (time, size) = (Nanos::secs(15), Bytes::mib(64));
        assert_eq!(found, Some(Outline { time, files: size, fill: size, ..Outline::default() }));
        let longer = of(&format!("suite: s\ndefaults: {{ramp: 1s, trial: 9s}}\nrepeats: {{blocks: 3}}\n{cases}"));
        assert_eq!(longer.map(|found| (found.time, found.files_at_most)), Some((Nanos::secs(30), true)));
        let reads = of(&format!("suite: s\n{}", cases.replace("write", "read")));
        assert_eq!([longer, reads].map(|found| found.map(|found| found.needs_data)), [Some(false), Some(true)]);
    }

    #[test]
    fn what_depends_on_a_file_is_not_told() {
        assert_eq!(
            of("suite: x\nfill: {size: 64MiB}\ncases: [{name: a, streams: [{trace: {file: app.iolog}}]}]\n"),
            None
        );
    }
}
