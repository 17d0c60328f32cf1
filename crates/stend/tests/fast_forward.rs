//! Three days of a host in fast-forward: its samples through the rules into a file that forgets, with a drive that flaps all the time. What
//! people hear of it, the file and the memory stay small, and what happened for a minute on the first day is still known on the third.

use super::support::Scratch;
use std::time::Duration;
use stend_analyse::journal::{Journal, JournalRule, Keeper, Problem};
use stend_base::{Bytes, Nanos};
use stend_notify::{Changes, Happening, Standing};
use stend_plan::{PlanInputs, PlanTarget};
use stend_record::parts::PoolState;
use stend_record::sample::{DiskCounters, Memory};
use stend_record::store::{self, Options, SampleRows, Writer};
use stend_record::{
    Entry, Event, EventKind, HostId, Parts, Recording, Retention, RunHeader, RunState, Sample, Tier, WallClock,
};
use stend_spec::suite::Suite;

const STEP: u64 = 10;
const HOURS: u64 = 72;
/// The pool is degraded for this minute of the first day.
const BAD_MINUTE: std::ops::Range<u64> = 18_000..18_060;
/// Every so often the flapping drive goes or comes, seconds: never on for a whole minute.
const FLAPS_EVERY: u64 = 40;

fn header() -> RunHeader {
    let tier = |step, age| Tier { step: Nanos::secs(step), age: Nanos::secs(age) };
    // Shorter than the usual one, so that three days pass through all of its steps.
    let tiers = vec![tier(STEP, 6 * 3600), tier(60, 24 * 3600), tier(300, 400 * 86_400)];
    let recording = Recording { every: Nanos::secs(STEP), retention: Retention { tiers, size_max: Bytes::mib(4) } };
    let target = PlanTarget::device(Bytes(0));
    let inputs = PlanInputs { suite: Suite::default(), seed: 0, target, time_budget: None, traces: Vec::new() };
    RunHeader { recording: Some(recording), ..RunHeader::new("R-20261130T000000Z-fast", inputs) }
}

/// Whether the flapping drive is there after `s` seconds.
fn is_there(s: u64) -> bool {
    (s / FLAPS_EVERY).is_multiple_of(2)
}

fn sample(s: u64) -> Sample {
    let disk = |name: String| DiskCounters { name, reads: 100 * s, read_ns: 100 * s * 1_000_000, ..Default::default() };
    let names = (b'a'..=b'h').map(|letter| format!("sd{}", char::from(letter)));
    let health = if BAD_MINUTE.contains(&s) { "DEGRADED" } else { "ONLINE" };
    let pool = PoolState { kind: "zfs".into(), name: "tank".into(), health: Some(health.into()), operation: None };
    Sample {
        at: Nanos::secs(1000 + s),
        memory: Some(Memory { total_bytes: 64 << 30, available_bytes: 32 << 30, ..Memory::default() }),
        disks: names.filter(|name| name != "sdb" || is_there(s)).map(disk).collect(),
        networks: Some(Vec::new()),
        parts: Some(Box::new(Parts { pools: vec![pool], ..Parts::default() })),
        ..Sample::default()
    }
}

/// What the sampler notices of the flapping drive at this second.
fn plugged(s: u64) -> Option<EventKind> {
    let (was, is) = (is_there(s.checked_sub(STEP)?), is_there(s));
    let sdb = |holds: bool| if holds { vec!["sdb".to_string()] } else { Vec::new() };
    (was != is).then(|| EventKind::Devices { came: sdb(is), went: sdb(was), detachable: Vec::new() })
}

/// Has everything written, and samples and events made fewer.
fn settled(writer: &Writer) {
    writer.edge();
    assert!(writer.settle(Duration::from_secs(120)), "the file is not written");
}

fn in_words(problem: &Problem) -> (JournalRule, String, Nanos, bool, u32) {
    (problem.rule, problem.object.clone(), problem.opened, problem.closed.is_none(), problem.times)
}

#[test]
fn three_days_with_a_flapping_drive_are_one_problem_a_handful_of_messages_and_a_bounded_file() {
    let scratch = Scratch::new();
    let path = scratch.join("fast.stend");
    let writer = store::create(&path, header(), Options::default()).unwrap();
    let (mut journal, mut keeper, mut changes) = (Journal::default(), Keeper::default(), Changes::default());
    let (mut heard, mut kept_most, mut flaps) = (Vec::new(), 0, 0);
    for s in (0..HOURS * 3600).step_by(STEP as usize) {
        if let Some(kind) = plugged(s) {
            flaps += 1;
            let event = Event::new(Nanos::secs(1000 + s), kind);
            journal.happened(&event);
            writer.append(Entry::Event(event));
        }
        let sample = sample(s);
        let at = sample.at;
        if is_there(s) {
            let kind = EventKind::KernelErrors { device: "sdb".into(), count: 1, text: "I/O error, dev sdb".into() };
            let event = Event::new(at, kind);
            journal.happened(&event);
            writer.append(Entry::Event(event));
        }
        journal.add(sample.clone());
        heard.extend(changes.look(journal.problems(), &|_| 0, &|_| Standing::Plain));
        let found = keeper.changes(journal.problems());
        kept_most = kept_most.max(journal.problems().len());
        journal.forget_closed(at);
        writer.append(Entry::Sample { host: HostId::LOAD, sample: Box::new(sample) });
        found.into_iter().for_each(|kind| writer.append(Entry::Event(Event::new(at, kind))));
        if s % 3000 == 0 {
            settled(&writer);
        }
    }
    settled(&writer);
    let mut live: Vec<_> = journal.problems().iter().map(in_words).collect();
    writer.close(RunState::Complete).unwrap();

    assert!(flaps > 6_000, "{flaps}");
    // It opens, closes twice, and then stays open: it was never away from being bad for an hour.
    let of_drive = |rule: &str| {
        let of = heard.iter().filter(|item| item.object == "sdb" && item.rule == rule);
        of.map(|item| item.happened).collect::<Vec<_>>()
    };
    use Happening::{Closed, Opened};
    assert_eq!(of_drive("drive_gone"), [Opened, Closed, Opened, Closed, Opened]);
    assert_eq!(of_drive("drive_errors"), [Opened, Closed, Opened, Closed, Opened]);
    assert_eq!(heard.len(), 12, "two of them are about the pool: {heard:?}");
    assert!(kept_most <= 3, "{kept_most} problems in memory");
    assert_eq!(live.len(), 2, "{live:?}");
    assert!(live.iter().all(|(_, object, _, is_open, _)| object == "sdb" && *is_open), "{live:?}");

    let rows = SampleRows::open(&path).unwrap();
    // 6 h of 10 s, 18 h of a minute and 48 h of 5 minutes, and what came since the last edge but one.
    assert!(rows.len() < 2160 + 1080 + 576 + 100, "{} samples", rows.len());
    assert!(rows.record.events.len() <= 10_010, "{} events", rows.record.events.len());
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 12 << 20, "{size} bytes");

    let mut again = Journal::new(&rows.record);
    (0..rows.len()).filter_map(|index| rows.get(index)).for_each(|sample| again.add(sample));
    let again = again.end();
    let (pool, drive): (Vec<_>, Vec<_>) = again.iter().partition(|problem| problem.rule == JournalRule::PoolUnhealthy);
    let mut drive: Vec<_> = drive.into_iter().map(in_words).collect();
    drive.sort();
    live.sort();
    assert_eq!(drive, live);
    let clock = WallClock::of(&rows.record);
    let times: Vec<_> = pool.iter().map(|of| (clock.unix_s(of.opened), of.closed.map(|at| clock.unix_s(at)))).collect();
    assert_eq!(times, [(1000 + BAD_MINUTE.start as i64, Some(1000 + BAD_MINUTE.end as i64))]);
    assert_eq!(again.len(), 3, "{again:?}");
}
