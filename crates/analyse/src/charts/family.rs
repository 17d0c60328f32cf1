//! Cases that came from one case of the suite and differ only in their parameters: what charts across
//! cases are drawn from.

use crate::findings::{CaseFinding, CheckStatus};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Bytes, Say, format, say};
use stend_plan::{Case, Plan};
use stend_spec::workload::Trial;

/// What a suite may vary in a stream, and in how many hosts make it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Bytes per I/O.
    BlockSize,
    /// I/Os in flight per job.
    QueueDepth,
    /// Load threads.
    Jobs,
    /// Load hosts, the same for all streams.
    LoadHosts,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::BlockSize, Kind::QueueDepth, Kind::Jobs, Kind::LoadHosts];

    /// Key in a suite.
    fn key(self) -> &'static str {
        match self {
            Kind::BlockSize => "block_size",
            Kind::QueueDepth => "queue_depth",
            Kind::Jobs => "jobs",
            Kind::LoadHosts => "load_hosts",
        }
    }

    fn of(self, trial: &Trial, stream: usize) -> u64 {
        let stream = &trial.streams[stream];
        match self {
            Kind::BlockSize => stream.block_size.0,
            Kind::QueueDepth => u64::from(stream.queue_depth),
            Kind::Jobs => u64::from(stream.jobs),
            Kind::LoadHosts => u64::from(trial.load_hosts.unwrap_or_default()),
        }
    }

    /// Whether it is a setting of this stream: what all have in common is one of the first.
    fn is_of(self, stream: usize) -> bool {
        stream == 0 || self != Kind::LoadHosts
    }
}

/// One parameter that really has several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    /// Which.
    pub kind: Kind,
    /// Index of its stream.
    stream: usize,
    /// Whether there are other streams.
    several: bool,
}

impl Parameter {
    /// Key for ids and anchors.
    pub fn key(&self) -> String {
        format!("{}-{}", self.kind.key(), self.stream)
    }

    /// Name with unit, as on an axis.
    pub fn name(&self) -> Say {
        let number = self.stream + 1;
        Say::both(|l| {
            let name = match self.kind {
                Kind::BlockSize => l.pick("block size", "размер блока"),
                Kind::QueueDepth => l.pick("queue depth", "глубина очереди"),
                Kind::Jobs => l.pick("jobs", "число заданий"),
                Kind::LoadHosts => return l.pick("load hosts", "число нагружающих машин").to_string(),
            };
            let stream = format!("{} {number}", l.pick("stream", "поток"));
            if self.several { format!("{name}, {stream}") } else { name.to_string() }
        })
    }

    /// A value as it is written at a tick.
    pub fn value(&self, value: u64) -> Say {
        match self.kind {
            Kind::BlockSize => Say::both(|l| format::bytes(Bytes(value), l)),
            Kind::QueueDepth | Kind::Jobs | Kind::LoadHosts => Say::same(format::count(value)),
        }
    }
}

/// A case of a family.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// What was found.
    pub case: &'a CaseFinding,
    /// Its value of each parameter of the family.
    pub values: Vec<u64>,
}

/// Cases that differ only in parameters.
#[derive(Debug, Clone)]
pub struct Family<'a> {
    /// Name in the suite, with whatever else tells it from its siblings.
    pub name: String,
    /// Parameters with at least two values.
    pub parameters: Vec<Parameter>,
    /// Its cases in the order of the plan.
    pub members: Vec<Member<'a>>,
    /// Cases that are not in it because a check says their numbers must not be compared.
    pub left_out: usize,
    /// Every case is one closed loop.
    pub closed: bool,
}

impl<'a> Family<'a> {
    /// Members by their values of all parameters but those at `along`, each group ascending in the
    /// first of these; named by the other values, empty if there is one group only.
    pub fn lines(&self, along: &[usize]) -> Vec<(Say, Vec<&Member<'a>>)> {
        let others = |member: &Member| -> Vec<(usize, u64)> {
            member.values.iter().copied().enumerate().filter(|(i, _)| !along.contains(i)).collect()
        };
        let mut groups: BTreeMap<Vec<(usize, u64)>, Vec<&Member<'a>>> = BTreeMap::new();
        for member in &self.members {
            groups.entry(others(member)).or_default().push(member);
        }
        let name = |values: &[(usize, u64)]| {
            Say::both(|l| {
                let part = |&(i, value): &(usize, u64)| {
                    let parameter = &self.parameters[i];
                    format!("{} {}", parameter.name().get(l), parameter.value(value).get(l))
                };
                values.iter().map(part).collect::<Vec<_>>().join(", ")
            })
        };
        let mut lines: Vec<(Say, Vec<&Member<'a>>)> = groups.iter().map(|(k, m)| (name(k), m.clone())).collect();
        for (_, members) in &mut lines {
            members.sort_by_key(|m| along.first().map(|&i| m.values[i]));
        }
        lines
    }

    /// Words for a summary if cases are missing; empty if none is.
    pub fn missing(&self) -> Say {
        let n = self.left_out;
        if n == 0 {
            return Say::same("");
        }
        say!(" Cases left out because a check failed: {n}.", " Не показаны из-за непройденной проверки: {n}.")
    }
}

/// Families with at least one parameter of several values. Cases without a counting trial are not in them.
pub fn families<'a>(plan: &Plan, cases: &'a [CaseFinding]) -> Vec<Family<'a>> {
    let mut names: Vec<String> = Vec::new();
    let mut groups: BTreeMap<String, Vec<(&Case, &'a CaseFinding)>> = BTreeMap::new();
    for finding in cases.iter().filter(|c| c.trials > 0) {
        let Some(case) = plan.cases.get(finding.case as usize) else { continue };
        let name = name(case);
        if !groups.contains_key(&name) {
            names.push(name.clone());
        }
        groups.entry(name).or_default().push((case, finding));
    }
    names.into_iter().filter_map(|name| family(groups.remove(&name)?, name)).collect()
}

/// The case without the parameters that a chart may put on an axis.
fn name(case: &Case) -> String {
    let swept = |axis: &str| Kind::ALL.iter().any(|kind| axis.ends_with(kind.key()));
    let rest = case.axes.iter().filter(|(axis, _)| !swept(axis));
    rest.fold(case.name.clone(), |name, (axis, value)| format!("{name}, {axis} {value}"))
}

fn family<'a>(cases: Vec<(&Case, &'a CaseFinding)>, name: String) -> Option<Family<'a>> {
    let failed = |case: &CaseFinding| case.checks.iter().any(|c| c.status == CheckStatus::Fail);
    // Where hosts were lost, it is no measurement of the number that was asked for.
    let lacks = |case: &Case, found: &CaseFinding| {
        let made = found.hosts.as_ref().map(|of| of.hosts.len());
        case.trial.load_hosts.zip(made).is_some_and(|(asked, made)| asked as usize != made)
    };
    let all = cases.len();
    let cases: Vec<_> = cases.into_iter().filter(|(case, finding)| !failed(finding) && !lacks(case, finding)).collect();
    let streams = cases.iter().map(|(case, _)| case.trial.streams.len()).min()?;
    let parameters: Vec<Parameter> = (0..streams)
        .flat_map(|stream| Kind::ALL.map(|kind| Parameter { kind, stream, several: streams > 1 }))
        .filter(|p| p.kind.is_of(p.stream))
        .filter(|p| cases.iter().map(|(c, _)| p.kind.of(&c.trial, p.stream)).collect::<BTreeSet<_>>().len() > 1)
        .collect();
    let member = |(case, finding): &(&Case, &'a CaseFinding)| Member {
        case: finding,
        values: parameters.iter().map(|p| p.kind.of(&case.trial, p.stream)).collect(),
    };
    let members: Vec<Member<'a>> = cases.iter().map(member).collect();
    let closed = cases.iter().all(|(case, _)| matches!(case.trial.streams.as_slice(), [only] if !only.is_open()));
    (!parameters.is_empty()).then(|| Family { name, members, left_out: all - cases.len(), parameters, closed })
}
