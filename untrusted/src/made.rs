//! Bytes that are well-formed, made of the types that they are read into, so that they are never of an older form: a small run and
//! pieces of it. The search begins with them, and the replay reads them whole and damaged.

use crate::shown;
use rusqlite::Connection;
use std::path::Path;
use std::sync::LazyLock;
use stend_base::{Bytes, Nanos};
use stend_plan::Plan;
use stend_record::io_log::Records;
use stend_record::{Entry, HostId, IoChunk, RunRecord, RunState, TrialOutcome, TrialStatus, store};
use stend_wire::protocol::{write_frame, write_hello};
use stend_wire::{Inspect, Judge, Prepare, Reply, Request, StandFile, StandOrder};

/// A run file with an entry of each kind; kept by the test of the stored form.
const FIXTURE: &str = include_str!("../../crates/record/tests/fixtures/format-4.sql");

/// A small run in pages of 512 bytes.
pub static RUN_FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = tempfile::tempdir_in(crate::MEMORY).expect("memory");
    let path = directory.path().join("small.stend");
    let run = record(directory.path());
    let writer = store::create_whole(&path, &run.header).expect("a new run file");
    entries(&run).into_iter().skip(1).for_each(|entry| writer.append(entry));
    writer.close(RunState::Complete).expect("a run file");
    let db = Connection::open(&path).expect("a run file");
    db.execute_batch("PRAGMA journal_mode = delete; PRAGMA page_size = 512; VACUUM").expect("smaller pages");
    db.close().expect("a run file");
    std::fs::read(&path).expect("a run file")
});

/// (target, bytes) of everything that is made; several of one target.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let directory = tempfile::tempdir_in(crate::MEMORY).expect("memory");
    let run = record(directory.path());
    let entries = entries(&run);
    let mut made = vec![("run-file", RUN_FILE.clone()), ("io-log", encoded(&chunk()))];
    // The header is never on its way: a file begins with it.
    let entries = &entries[1..];
    made.push(("run-entries", entries.iter().flat_map(encoded).collect()));
    // Bytes of a log and tables of buckets have no form in JSON.
    let told: Vec<&Entry> = entries.iter().filter(|e| !matches!(e, Entry::IoLog { .. })).collect();
    made.push(("run-entries", serde_json::to_vec(&told).expect("entries are JSON")));
    made.push(("spool", spool(&run.header.id, entries)));
    made.extend(requests(&run).into_iter().map(|request| ("to-worker", frames(&[request]))));
    made.push(("from-worker", frames(&replies(entries))));
    // Changes of a row: a number, a text, a few bytes of a text, a row less.
    made.push(("run-rows", [&[2, 0, 3, 0][..], &7i64.to_le_bytes(), &[2, 1, 5, 3, 40, 0, 2, 2, b'9', b'9']].concat()));
    made.push((
        "run-rows",
        [&[0, 1, 1, 4, 9, 0, 1, 1, b'x'][..], &[6, 0, 1, 7], &[3, 1, 2, 3, 1, 0, 1, 1, 0xff]].concat(),
    ));
    made
}

/// A run of the suite of the corpus, with an entry of each kind.
fn record(directory: &Path) -> RunRecord {
    let path = directory.join("fixture.stend");
    let db = Connection::open(&path).expect("a new file");
    // "Stnd" and the version of the layout, which a dump of tables does not have.
    let identity = format!("PRAGMA application_id = 0x53746e64; PRAGMA user_version = {}", store::FORMAT_VERSION);
    db.execute_batch(FIXTURE).and_then(|()| db.execute_batch(&identity)).expect("the fixture is SQL");
    db.close().expect("a database");
    let mut run = store::read(&path).expect("the fixture is a run file");
    run.header = shown::empty().header;
    run.state = RunState::Complete;
    let plan = Plan::new(&run.header.inputs).expect("the suite of the corpus has a plan");
    run.apply(Entry::Plan(Box::new(plan.clone())));
    let model = run.trials.pop().expect("the fixture has a trial");
    run.trials = [(0, 0), (0, 1), (1, 1), (1, 0)]
        .into_iter()
        .zip(0u32..)
        .map(|((block, case), trial)| {
            let mut record = model.clone();
            (record.trial, record.case, record.block) = (trial, case, block);
            (record.asked, record.started) = (plan.trial(case, trial.into()), Nanos::secs(100 + u64::from(trial) * 2));
            record.outcome = record.outcome.map(|outcome| TrialOutcome {
                status: TrialStatus::Complete,
                load_start: record.started,
                window_start: record.started + record.asked.ramp,
                window_end: record.started + record.asked.ramp + record.asked.window,
                // What another tool told and what an application did are of other runs.
                tool_output: outcome.tool_output.filter(|_| trial == 3),
                app: outcome.app.filter(|_| trial == 3),
                ..outcome
            });
            record
        })
        .collect();
    run
}

/// What a writer would have appended, the header first.
fn entries(run: &RunRecord) -> Vec<Entry> {
    let mut entries = vec![Entry::Header(Box::new(run.header.clone()))];
    entries.extend(run.plan().ok().map(|plan| Entry::Plan(Box::new(plan.into_owned()))));
    let hosts = (0..).map(HostId).zip(run.hosts());
    entries.extend(hosts.clone().map(|(host, record)| Entry::Host { host, info: Box::new(record.info.clone()) }));
    entries.extend((0..).zip(&run.decisions).map(|(seq, decision)| Entry::Decision { seq, decision: *decision }));
    for record in &run.trials {
        let (trial, round, asked) = (record.trial, false, Box::new(record.asked.clone()));
        let (case, block, at) = (record.case, record.block, record.started);
        entries.push(Entry::TrialStart { trial, case, block, round, asked, at });
        entries.push(Entry::io_log(trial, chunk()));
        for (host, slices, outcome) in record.by_host() {
            entries.push(Entry::Slices { host, trial, slices: slices.to_vec() });
            let outcome = outcome.cloned().map(Box::new);
            entries.extend(outcome.map(|outcome| Entry::TrialEnd { host, trial, outcome }));
        }
    }
    for (host, record) in hosts {
        entries.extend(record.fill.map(|outcome| Entry::Fill { host, outcome }));
        entries.extend(record.zeros.map(|zeros| Entry::Zeros { host, zeros }));
        entries.extend(record.samples.iter().map(|sample| Entry::Sample { host, sample: Box::new(sample.clone()) }));
    }
    entries.extend(run.events.iter().cloned().map(Entry::Event));
    entries.push(Entry::End(run.state.clone()));
    entries
}

fn chunk() -> IoChunk {
    IoChunk { stream: 0, job: 0, base: Nanos::secs(100), records: Records::from_bytes((0..64).collect()) }
}

/// As docs/ARCHITECTURE.md says, "Sharing a drive": the layout without a place of the run file.
fn spool(run: &str, entries: &[Entry]) -> Vec<u8> {
    let mut bytes = b"stnd-sp1".to_vec();
    bytes.push(run.len() as u8);
    bytes.extend(run.bytes());
    for numbered in (1u64..).zip(entries) {
        let body = encoded(&numbered);
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(crc32(&body).to_le_bytes());
        bytes.extend(body);
    }
    bytes
}

/// The sum of a frame, bit by bit (ITU-T V.42).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

fn requests(run: &RunRecord) -> Vec<Request> {
    let text = || "/x".to_string();
    let region = run.trials[0].asked.region;
    let prepare = Prepare {
        files: vec![Bytes(4096)],
        share: Bytes(4096),
        begin: None,
        write: true,
        run: text(),
        run_file: text(),
        ledger: Some(text()),
        coordinator: 7,
        sample_every: Nanos::SECOND,
    };
    let (targets, permission) = (vec![text()], Default::default());
    let stand = StandFile { text: "stand: x\n".into(), file: text(), nonce: 7, host: None };
    vec![
        Request::Inspect(Inspect { targets, permission, run_directory: text(), fio: None, programs: Vec::new() }),
        Request::Prepare(prepare),
        Request::Judge(Judge { ledger: text(), run: text(), files: vec![Bytes(4096)], kept: true }),
        Request::Fill { region, parts: 1, how: None, seed: 7 },
        Request::Trial {
            ordinal: 0,
            trial: Box::new(run.trials[0].asked.clone()),
            faults: Vec::new(),
            block: 0,
            begin: Nanos(7),
        },
        Request::Stand(Box::new(StandOrder::Up { stand, until_release: true, owner: text() })),
        Request::Release,
    ]
}

fn replies(entries: &[Entry]) -> Vec<Reply> {
    let reply = |entry: &Entry| {
        Some(match entry.clone() {
            Entry::Slices { trial: ordinal, slices, .. } => Reply::Slices { ordinal, slices },
            Entry::IoLog { trial: ordinal, chunk, .. } => Reply::Log { ordinal, chunk },
            Entry::TrialEnd { trial: ordinal, outcome, .. } => Reply::TrialDone { ordinal, outcome },
            Entry::Fill { outcome, .. } => Reply::Filled(outcome),
            Entry::Zeros { zeros, .. } => Reply::Zeros(zeros),
            Entry::Sample { sample, .. } => Reply::Sample(sample),
            Entry::Event(event) => Reply::Event(event),
            _ => return None,
        })
    };
    entries.iter().filter_map(reply).collect()
}

fn frames(messages: &[impl serde::Serialize]) -> Vec<u8> {
    let mut stream = Vec::new();
    write_hello(&mut stream).expect("memory takes all");
    messages.iter().for_each(|message| write_frame(&mut stream, message).expect("memory takes all"));
    stream
}

fn encoded(value: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("what is recorded can be stored")
}
