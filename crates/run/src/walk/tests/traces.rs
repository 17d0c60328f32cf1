//! A run that replays a trace: its I/Os reach the worker before anything needs them. Must not know how they are read.

use super::*;

/// As [`asked`], but the load is a trace of two reads.
fn asked_for_a_trace() -> Asked {
    let text =
        "suite: t\nfill: {size: 64MiB}\nrepeats: {blocks: 2}\ncases:\n  - name: r\n    streams: [{trace: {file: a}}]\n";
    let suite = stend_spec::parse::suite(text, "t.yaml").unwrap();
    let log = "fio version 3 iolog\n1 /a read 0 4096\n2 /a read 4096 4096\n";
    let trace = stend_spec::trace::read(log.as_bytes(), "/a", suite.traces()[0]).unwrap();
    Asked { traces: vec![std::sync::Arc::new(trace)], suite, ..asked() }
}

#[test]
fn the_ios_of_traces_are_carried_before_anything_needs_them() {
    let mut walk = Walk::new(asked_for_a_trace(), Nanos(0));
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, facts()), ["prepare"]);
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["trace"]);
    assert_eq!(say_to(&mut walk, Reply::Taken), ["foresee"]);
    assert_eq!(say_to(&mut walk, Reply::Taken), ["fill"]);
    assert_eq!(say_to(&mut walk, filled(Bytes::mib(64))), ["zeros"]);
    assert_eq!(say_to(&mut walk, Reply::Zeros(ZeroSample::default())), ["trial"]);
}

#[test]
fn a_stop_while_traces_are_carried_begins_nothing() {
    let mut walk = Walk::new(asked_for_a_trace(), Nanos(0));
    requests(&mut walk);
    say_to(&mut walk, facts());
    walk.apply(Input::User(UserRequest::Stop(Kind::Terminated)), Nanos(2));
    requests(&mut walk);
    assert_eq!(say_to(&mut walk, Reply::Prepared), ["release"]);
}
