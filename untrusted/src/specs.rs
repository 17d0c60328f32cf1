//! Files that people write by hand, or take from others.

use crate::shown;
use std::io::Cursor;
use stend_base::{Bytes, Lang};
use stend_interop::jobs::{ImportContext, command, files};
use stend_plan::{Decision, Outcome, Plan, PlanInputs};
use stend_spec::trace::{Arrival, Source, TraceDevice};
use stend_spec::workload::Op;
use stend_spec::{Suite, parse};

/// Steps that a plan is followed for.
const STEPS: usize = 64;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A suite, and the plans that it gives.
pub fn suite(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match parse::suite(text, "suite.yaml") {
        Ok(suite) => walked(&suite, bytes.len()),
        Err(error) => assert!(error.message.en.starts_with("suite.yaml"), "{error}: no place"),
    }
}

fn walked(suite: &Suite, which: usize) {
    stend_interop::jobs::export::fio(suite);
    for target in shown::places() {
        let inputs = PlanInputs { suite: suite.clone(), seed: 7, target, time_budget: None, traces: Vec::new() };
        let Ok(plan) = Plan::new(&inputs) else { continue };
        let mut history = Vec::new();
        for step in 0..STEPS {
            let outcome = match plan.next(&history) {
                Decision::Stop(_) => break,
                Decision::Fill { .. } => Outcome::Ok,
                Decision::Trial { case, seed, .. } | Decision::Round { case, seed, .. } => {
                    plan.trial(case, seed);
                    [Outcome::Ok, Outcome::Missed, Outcome::Narrow, Outcome::Steady, Outcome::Failed]
                        [(which + step) % 5]
                }
            };
            history.push(outcome);
        }
    }
}

/// A stand file.
pub fn stand(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(stand) = parse::stand(text, "stand.yaml") else { return };
    for layer in &stand.layers {
        stand.makes(layer);
        stand.above(&layer.name);
        stand.is_over_paths(layer);
    }
    stand.log_writes();
}

/// A machine of the lab, or machines of libvirt.
pub fn machine(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let _ = parse::machine(text, "machine.yaml");
    let _ = parse::machines(text, "machines.yaml");
}

/// An order. One that is read is written and read again as it was.
pub fn order(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(order) = parse::order(text, "order.json") else { return };
    let again = serde_json::to_string(&order).ok().map(|text| parse::order(&text, "again"));
    assert_eq!(again.and_then(Result::ok), Some(order));
}

/// A gate, asked about a case.
pub fn gate(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(gate) = parse::gate(text, "gate.yaml") else { return };
    for rule in &gate.rules {
        for op in [None, Some(Op::Read), Some(Op::Write)] {
            rule.is_about("rand-read, queue_depth 32", op, &[]);
        }
    }
}

/// A file of hosts, of each group alone.
pub fn hosts(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(file) = parse::hosts(text, "hosts.yaml") else { return };
    for host in &file.hosts {
        let of_its_groups = file.of_groups(&host.groups).expect("its own groups");
        assert!(of_its_groups.contains(&host));
    }
}

/// A file of sources.
pub fn sources(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(file) = parse::sources(text, "sources.yaml") else { return };
    for source in &file.sources {
        assert!(source.limit <= source.every, "{}", source.name);
        assert_eq!(stend_interop::answers::numbers(source, text).len(), source.values.len());
    }
}

/// A file of receivers.
pub fn receivers(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match parse::notify(text, "receivers.yaml") {
        Ok(file) => assert!((1..=32).contains(&file.receivers.len())),
        Err(error) => assert!(error.message.en.starts_with("receivers.yaml"), "{error}: no place"),
    }
}

/// What sources of every kind answer.
pub fn answers(bytes: &[u8]) {
    const ASKED: &str = "sources:\n  a:\n    command: [x]\n    values:\n      \
        p: {pattern: '(?m)^cpu +([0-9.]+)', several: mean, unit: x, meaning: y}\n      \
        j: {json: /a/0/b, unit: x, meaning: y}\n      \
        m: {prometheus: 'busy{d=\"a\"}', several: sum, unit: x, meaning: y}\n  b:\n    snmp: {host: x}\n    \
        values: {o: {oid: 1.3.6.1, unit: x, meaning: y}}\n";
    let answer = String::from_utf8_lossy(bytes);
    let asked = parse::sources(ASKED, "asked").expect("a file of sources");
    for number in asked.sources.iter().flat_map(|source| stend_interop::answers::numbers(source, &answer)).flatten() {
        assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{number}");
    }
}

/// A trace, of which the length says whose I/O is taken.
pub fn trace(bytes: &[u8]) {
    let device = [TraceDevice::Only, TraceDevice::All, TraceDevice::Named("8,0".into())];
    let align = [None, Some(Bytes(512)), Some(Bytes(4096))];
    let which = bytes.len();
    let source = Source {
        file: "fuzzed".into(),
        device: device[which % 3].clone(),
        arrival: if which.is_multiple_of(2) { Arrival::Queued } else { Arrival::Issued },
        align: align[which / 3 % 3],
    };
    let Ok(trace) = stend_spec::trace::read(Cursor::new(bytes), "fuzzed", &source) else { return };
    assert!(trace.ios.iter().is_sorted_by_key(|io| io.at));
    let ends = trace.ios.iter().map(|io| io.offset.saturating_add(io.len.into()));
    assert_eq!(ends.max(), Some(trace.facts.end.0));
}

/// A file of jobs of another tool, which may include itself, and a command line.
pub fn jobs(bytes: &[u8]) {
    let lenient = bytes.len().is_multiple_of(2);
    let read = |_: &str| Ok(bytes.to_vec());
    let variable = |name: &str| name.len().is_multiple_of(2).then(|| "4k".to_string());
    let world = ImportContext { read: &read, variable: &variable, lenient };
    if let Ok(imported) = files(&[("fuzzed".to_string(), bytes.to_vec())], &world) {
        imported.text(Lang::Ru);
        walked(&imported.suite, bytes.len());
    }
    if let Some(text) = text(bytes) {
        let _ = command(&[text.to_string()], &world);
    }
}
