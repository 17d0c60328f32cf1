//! Which numbers a setting is of. Tables list what the text states of a load or of the hardware in rows of their own (`config_…`,
//! `fio_…`, commands); source, experiment, layout and test say where it belongs.

use super::{agree_if_stated, cell};
use std::collections::{HashMap, HashSet};
use stend_record::published::{Claim, Dimension};

/// Metrics that make a layout or an experiment one that was measured.
const MEASURED: [&str; 3] = ["iops", "throughput", "latency"];

/// Settings that say the queue depth of each job, the number of jobs, and how many I/Os are in flight in all.
const DEPTHS: [&str; 2] = ["config_queue_depth", "fio_iodepth"];
const JOBS: [&str; 2] = ["config_jobs", "fio_numjobs"];
const IN_FLIGHT: [&str; 2] = ["config_in_flight", "config_streams"];

/// What a table's rows say about where its settings belong; built once, because every setting is held against every number.
pub(super) struct Settings<'a> {
    rows: Vec<&'a Claim>,
    /// Source and experiment of everything that was measured.
    experiments: HashSet<(&'a str, &'a str)>,
    /// The same with its layout.
    layouts: HashSet<(&'a str, &'a str, &'a str)>,
    /// Where a number was measured that the table of another experiment quotes; `None`: in one of several.
    homes: HashMap<(&'a str, &'a str, &'a str), Option<&'a str>>,
}

/// I/Os that a test keeps in flight, and the rows that state it.
pub(super) struct Asked<'a> {
    /// How many.
    pub depth: f64,
    /// Rows that state it; empty if the columns of the number do.
    pub by: Vec<&'a Claim>,
}

impl<'a> Settings<'a> {
    pub(super) fn new(rows: &'a [Claim]) -> Settings<'a> {
        let measured = rows.iter().filter(|row| MEASURED.contains(&row.metric.as_str()));
        let layouts: HashSet<_> = measured.map(|row| (&*row.source, &*row.experiment, &*row.layout)).collect();
        let experiments = layouts.iter().map(|(source, experiment, _)| (*source, *experiment)).collect();
        let mut of_source: HashMap<&str, HashSet<&str>> = HashMap::new();
        for row in rows {
            of_source.entry(&row.source).or_default().insert(&row.experiment);
        }
        let mut homes = HashMap::new();
        for row in rows {
            let key = (&*row.source, &*row.experiment, &*row.layout);
            homes.entry(key).or_insert_with(|| home(row, of_source[&*row.source].iter().copied()));
        }
        let rows = rows.iter().filter(|row| row.metric.starts_with("config_") || row.metric.starts_with("fio_"));
        Settings { rows: rows.collect(), experiments, layouts, homes }
    }

    /// Whether `setting` says something of `claim`: it is of the same test or of all, of the same layout or of one without numbers of its
    /// own, and of the experiment that the number was measured in or of one that measured nothing, where a publication keeps what all
    /// its experiments share.
    pub(super) fn concern(&self, setting: &Claim, claim: &Claim) -> bool {
        let all = |test: &str| test.is_empty() || test == "all";
        let experiment = || {
            self.home(claim).is_some_and(|home| home == setting.experiment)
                || !self.experiments.contains(&(&*setting.source, &*setting.experiment))
        };
        setting.source == claim.source
            && (setting.test == claim.test || all(&setting.test) || all(&claim.test))
            && agree_if_stated(&setting.pattern, &claim.pattern)
            && (setting.layout == claim.layout || self.is_shared(setting) || self.is_shared(claim))
            && experiment()
    }

    /// Whether the layout of a row has no numbers of its own in its experiment, so that what it says is of all layouts.
    fn is_shared(&self, row: &Claim) -> bool {
        row.layout.is_empty() || !self.layouts.contains(&(&*row.source, &*row.experiment, &*row.layout))
    }

    fn home(&self, claim: &Claim) -> Option<&'a str> {
        self.homes.get(&(&*claim.source, &*claim.experiment, &*claim.layout)).copied().flatten()
    }

    /// What the test of a number keeps in flight: by its own columns, else by the settings that its experiment lists for it. Sections of a
    /// fio job file stand for a LUN each.
    pub(super) fn asked(&self, claim: &'a Claim) -> Option<Asked<'a>> {
        if let (Some(depth), Some(jobs)) = (claim.queue_depth, claim.jobs) {
            return Some(Asked { depth: f64::from(depth) * f64::from(jobs), by: Vec::new() });
        }
        let in_all =
            |row: &&&'a Claim| IN_FLIGHT.contains(&row.metric.as_str()) && value(row) > 0.0 && self.concern(row, claim);
        if let Some(row) = self.rows.iter().find(in_all) {
            return Some(Asked { depth: value(row), by: vec![row] });
        }
        let home = self.home(claim)?;
        let setting = |names: &[&str], test: &str| {
            self.rows.iter().copied().find(|row| {
                names.contains(&row.metric.as_str())
                    && (row.source.as_str(), row.experiment.as_str()) == (claim.source.as_str(), home)
                    && (row.layout == claim.layout || self.is_shared(row))
                    && row.test == test
                    && value(row) > 0.0
            })
        };
        let depth = setting(&DEPTHS, &claim.test)?;
        let jobs = setting(&JOBS, &claim.test)?;
        let sections = setting(&["config_luns"], "").filter(|_| jobs.metric == "fio_numjobs");
        let by: Vec<&Claim> = [depth, jobs].into_iter().chain(sections).collect();
        Some(Asked { depth: by.iter().map(|row| value(row)).product(), by })
    }
}

/// The count that a row gives; 0 if it gives none.
fn value(row: &Claim) -> f64 {
    cell(row, Dimension::Plain).map_or(0.0, |cell| cell.value)
}

/// The experiment that a number was measured in: its own, unless another one of the publication is named after its layout. Then
/// the number is quoted from there (`kernel-4.19` in a table of `kernel-5.4`), and so are its settings. `None`: there are several.
fn home<'a>(claim: &'a Claim, experiments: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let named = |experiment: &str| {
        let rest = experiment.strip_prefix(claim.layout.as_str()).filter(|_| !claim.layout.is_empty());
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
    };
    if named(&claim.experiment) {
        return Some(&claim.experiment);
    }
    let others: Vec<&str> = experiments.filter(|experiment| named(experiment)).collect();
    match others.as_slice() {
        [] => Some(&claim.experiment),
        [one] => Some(one),
        _ => None,
    }
}
