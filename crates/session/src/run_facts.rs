//! What a condition can ask of a run: names, machine, drives, workloads, rates. Reads the run file without its intervals and changes nothing.

use std::path::Path;
use stend_analyse::listed::{Listed, ListedRun};
use stend_record::store;
use stend_record::{RunRecord, RunState};
use stend_spec::workload::{Op, Stream};

/// What a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text; large and small letters are the same.
    Text,
    /// A size.
    Bytes,
    /// A count or a rate.
    Number,
}

/// A value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A size in bytes, a count, or a rate.
    Number(f64),
}

/// A fact by its name; a run may have several of one name.
pub type Fact = (&'static str, Value);

/// Every fact with its meaning, as the documents have it.
pub const FACTS: [(&str, Kind, &str); 24] = [
    ("run", Kind::Text, "name in the list"),
    ("label", Kind::Text, "label"),
    ("suite", Kind::Text, "name of the suite"),
    ("state", Kind::Text, "`running`, `complete`, `suspended` or `ended`"),
    ("target", Kind::Text, "a target, as it was named"),
    ("stand", Kind::Text, "name of the stand"),
    ("host", Kind::Text, "host name"),
    ("os", Kind::Text, "distribution"),
    ("kernel", Kind::Text, "kernel"),
    ("cpu", Kind::Text, "CPU model"),
    ("file_system", Kind::Text, "file system of a target"),
    ("identity", Kind::Text, "identity of a device below a target, such as `wwn:…` or `serial:…`"),
    ("model", Kind::Text, "vendor and model of a device below a target"),
    ("firmware", Kind::Text, "firmware of a device below a target"),
    ("kind", Kind::Text, "kind of a device below a target: `disk`, `md`, `dm`, …"),
    ("level", Kind::Text, "level of an array below a target, such as `raid5`"),
    ("transport", Kind::Text, "how a device is reached: `pcie`, `tcp`, …"),
    ("case", Kind::Text, "label of a case"),
    ("op", Kind::Text, "`read`, `write`, `discard` or `write_zeroes` of a case"),
    ("block", Kind::Bytes, "bytes of an I/O of a case"),
    ("depth", Kind::Number, "I/Os in flight per job of a case"),
    ("jobs", Kind::Number, "jobs of a case"),
    ("size", Kind::Bytes, "size of a target"),
    ("iops", Kind::Number, "I/Os per second of the leading case"),
];

/// The facts of a run of a list. One that cannot be read has its name alone.
pub fn facts(listed: &Listed) -> Vec<Fact> {
    let mut facts = vec![text("run", &listed.name)];
    if let Some(run) = listed.run() {
        of_list(run, &mut facts);
        // What is missing in a damaged file is a fact that it does not have.
        if let Ok(record) = store::read_outcomes(Path::new(&listed.path)) {
            of_record(&record, &mut facts);
        }
    }
    facts
}

fn text(name: &'static str, value: &str) -> Fact {
    (name, Value::Text(value.to_string()))
}

fn of_list(run: &ListedRun, facts: &mut Vec<Fact>) {
    let state = match run.state {
        _ if run.going_on => "running",
        RunState::Complete => "complete",
        RunState::Suspended { .. } => "suspended",
        RunState::Open | RunState::Ended { .. } => "ended",
    };
    facts.extend([text("suite", &run.suite), text("state", state)]);
    facts.extend(run.label.iter().map(|label| text("label", label)));
    facts.extend(run.targets.iter().map(|target| text("target", target)));
    facts.extend(run.result.iter().map(|leading| ("iops", Value::Number(leading.total.iops.value))));
}

fn of_record(record: &RunRecord, facts: &mut Vec<Fact>) {
    facts.extend(record.header.stand.iter().map(|stand| text("stand", &stand.name)));
    if let Some(host) = &record.load().facts {
        let of = [("host", &host.hostname), ("os", &host.os), ("kernel", &host.kernel), ("cpu", &host.cpu_model)];
        facts.extend(of.map(|(name, value)| text(name, value)));
    }
    for target in &record.load().targets {
        facts.push(("size", Value::Number(target.size.0 as f64)));
        facts.extend(target.file_system.iter().map(|kind| text("file_system", kind)));
        facts.extend(target.identity.iter().map(|identity| text("identity", identity)));
        for device in &target.devices {
            let of = [
                ("identity", &device.identity),
                ("model", &device.model),
                ("firmware", &device.firmware),
                ("level", &device.level),
                ("transport", &device.transport),
            ];
            facts.extend(of.into_iter().filter_map(|(name, value)| Some(text(name, value.as_ref()?))));
            facts.push(text("kind", &device.kind));
        }
    }
    if let Ok(plan) = record.plan() {
        for case in &plan.cases {
            facts.push(text("case", &case.label()));
            case.trial.streams.iter().for_each(|stream| of_stream(stream, facts));
        }
    }
}

fn of_stream(stream: &Stream, facts: &mut Vec<Fact>) {
    let number = |name, value: f64| (name, Value::Number(value));
    facts.extend([number("depth", f64::from(stream.queue_depth)), number("jobs", f64::from(stream.jobs))]);
    match stream.block_mix.is_empty() {
        true => facts.push(number("block", stream.block_size.0 as f64)),
        false => facts.extend(stream.block_mix.iter().map(|part| number("block", part.size.0 as f64))),
    }
    let ops = [(Op::Read, "read"), (Op::Write, "write"), (Op::Discard, "discard"), (Op::WriteZeroes, "write_zeroes")];
    facts.extend(ops.into_iter().filter(|(op, _)| stream.mix.share(*op) > 0).map(|(_, name)| text("op", name)));
}
