//! The jobs that fio repeated in its results, as a job file again. Pure; nothing of it is executed here.

use std::collections::BTreeSet;
use stend_base::{Say, say};
use stend_record::RunRecord;

/// Options that are not written again: commands that fio executed for the author of the results, and the client named with them.
const LEFT_OUT: [&str; 3] = ["exec_prerun", "exec_postrun", "hostname"];

/// A section for each job, with `stonewall` between cases; `None`: the run holds no jobs of fio, as those of other tools and of logs.
pub fn fio_jobs(run: &RunRecord) -> Option<Say> {
    let (mut cases, mut sections) = (BTreeSet::new(), String::new());
    for trial in &run.trials {
        let external = trial.outcome.as_ref().and_then(|outcome| outcome.engine.external.as_ref());
        let Some(jobs) = external.map(|external| &external.job_file).filter(|jobs| !jobs.is_empty()) else { continue };
        if !external.is_some_and(|external| external.version.starts_with("fio")) || !cases.insert(trial.case) {
            continue;
        }
        let mut first = cases.len() > 1;
        for line in jobs.lines() {
            let name = line.split('=').next().unwrap_or_default().trim();
            if LEFT_OUT.contains(&name) || name == "stonewall" {
                continue;
            }
            sections.push_str(line);
            sections.push('\n');
            if line.starts_with('[') && std::mem::take(&mut first) {
                sections.push_str("stonewall\n");
            }
        }
    }
    if cases.is_empty() {
        return None;
    }
    let head = say!(
        "; The jobs as fio printed them in its results. They name files and devices of that time: check before you run them.\n",
        "; Задания, как fio повторил их в результатах. В них названы его тогдашние файлы и устройства: посмотрите, прежде чем запускать.\n"
    );
    let Say { en, ru } = head;
    Some(say!("{en}{sections}", "{ru}{sections}"))
}
