//! Circumstances of runs, and what of them is no circumstance.

use super::*;
use crate::compare::Options;
use crate::fixture::run;
use crate::{analyse, compare};

/// Keys of a type's fields, as they are stored.
fn fields(value: &impl serde::Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

/// Facts that no comparison shows, each with the reason.
const NOT_SHOWN: [(&str, &str); 10] = [
    ("stend_version", "the header has it"),
    ("huge_pages", "set aside for programs that ask for them, as no load does"),
    ("named", "the path that it means is shown"),
    ("free", "changes with every file; the working set and the fill are shown"),
    ("signatures", "a target that was measured is confirmed, whatever was on it"),
    ("contents", "a target that was measured is filled or said not to be, whatever was on it"),
    ("access", "decides which cases run, and those are matched"),
    ("devices", "shown by field"),
    ("journal", "the file system says it"),
    ("busy", "an observation, not a circumstance that was chosen; a caveat says it"),
];

#[test]
fn a_hypervisor_that_is_watched_is_no_circumstance_that_was_chosen() {
    let mut record = run().trial(0).done().record();
    let watched = |record: &RunRecord| watched(record).2.en;
    for (host, name) in [(1, HYPERVISOR), (2, "switch")] {
        let info = stend_record::HostInfo {
            name: name.into(),
            role: stend_record::Role::Observe,
            facts: Some(HostFacts { kernel: "6.1".into(), ..HostFacts::default() }),
            ..stend_record::HostInfo::default()
        };
        record.apply(stend_record::Entry::Host { host: HostId(host), info: Box::new(info) });
    }
    assert_eq!(watched(&record), "switch (6.1)");
}

#[test]
fn every_fact_of_host_and_target_is_compared_or_left_out_for_a_reason() {
    let record = run().trial(0).done().record();
    let shown: Vec<&str> = of_run(&record, &analyse(&record).unwrap()).iter().map(|item| item.0).collect();
    let names = ["target_kind", "target_identity", "target_size", "target"];
    let facts = [fields(record.load().facts.as_ref().unwrap()), fields(&record.load().targets[0])].concat();
    for fact in facts {
        let known = shown.contains(&fact.as_str())
            || names.iter().any(|name| *name == format!("target_{fact}") || fact == "path")
            || NOT_SHOWN.iter().any(|(name, _)| *name == fact);
        assert!(known, "`{fact}` is neither compared nor in NOT_SHOWN");
    }
}

#[test]
fn a_file_system_without_a_journal_is_another_one() {
    let file_system = |journal| {
        let mut record = run().trial(0).done().record();
        (record.load_mut().targets[0].file_system, record.load_mut().targets[0].journal) =
            (Some("ext4".into()), journal);
        let items = of_run(&record, &analyse(&record).unwrap());
        items.into_iter().find(|item| item.0 == "file_system").unwrap().2.en
    };
    assert_eq!([file_system(None), file_system(Some(true))], ["ext4", "ext4"]);
    assert_eq!(file_system(Some(false)), "ext4 -O ^has_journal");
}

#[test]
fn an_arm_can_expect_every_condition_of_host_and_target_and_no_other() {
    let facts = run().arms(&[("a", stend_spec::arm::Switch::None, "6")]).record();
    let known = facts.arms_entered().next().map(|(.., facts)| of_arm(facts)).unwrap();
    let keys: Vec<&str> = known.iter().map(|c| c.key.as_str()).collect();
    assert_eq!(keys, stend_spec::arm::FACTS);
}

#[test]
fn only_what_differs_is_listed_as_changed() {
    let a = run().trial(0).done().record();
    let mut b = a.clone();
    b.load_mut().facts.as_mut().unwrap().kernel = "6.12".into();
    b.load_mut().targets[0].devices[1].firmware = Some("1.6".into());
    b.header.suite_text.push('#');
    b.header.inputs.seed = 8;
    let (of_a, of_b) = (analyse(&a).unwrap(), analyse(&b).unwrap());
    let found = compare(&[(&a, &of_a), (&b, &of_b)], &Options::default());
    let keys: Vec<&str> = found.changed.iter().map(|c| c.key.as_str()).collect();
    assert_eq!(keys, ["kernel", "device_firmware", "suite_text"], "the seed is no condition");
    assert_eq!(found.changed[0].values[1], Say::same("6.12"));
    assert!(found.same.iter().any(|c| c.key == "memory") && found.same.iter().all(|c| c.key != "hypervisor"));
}

#[test]
fn how_ios_are_submitted_is_a_condition() {
    let a = run().trial(0).done().record();
    let mut b = a.clone();
    b.trials[0].asked.streams[0].submit = Submit::Batch;
    let (of_a, of_b) = (analyse(&a).unwrap(), analyse(&b).unwrap());
    let found = compare(&[(&a, &of_a), (&b, &of_b)], &Options::default());
    let changed = found.changed.into_iter().find(|c| c.key == "submit").unwrap();
    assert_eq!((changed.values[0].en.as_str(), changed.values[1].ru.as_str()), ("by the load", "вместе"));
}

#[test]
fn pages_of_buffers_are_a_condition_by_what_was_asked_and_got() {
    let a = run().trial(0).done().record();
    let with = |huge: u64| {
        let mut record = a.clone();
        record.trials[0].asked.pages = Pages::Huge;
        let size = Bytes::mib(4);
        record.trials[0].outcome.as_mut().unwrap().engine.buffers =
            Some(stend_record::BufferPages { size, huge: Bytes(huge) });
        record
    };
    let told = |b: &RunRecord| {
        let (of_a, of_b) = (analyse(&a).unwrap(), analyse(b).unwrap());
        let found = compare(&[(&a, &of_a), (b, &of_b)], &Options::default());
        let changed = found.changed.into_iter().find(|c| c.key == "pages").unwrap();
        (changed.values[0].en.clone(), changed.values[1].en.clone())
    };
    assert_eq!(told(&with(4 << 20)), ("ordinary".into(), "huge".into()));
    assert_eq!(told(&with((4 << 20) - 1)), ("ordinary".into(), "huge, 99 % got".into()));
    assert_eq!(pages(&a), say!("ordinary", "обычные"));
    let mut imported = a.clone();
    imported.header.imported = Some(stend_record::imported::Imported { tool: "vdbench".into(), ..Default::default() });
    assert_eq!(pages(&imported), unknown());
}

#[test]
fn a_run_that_ended_before_it_looked_around_differs_in_what_it_does_not_know() {
    let a = run().trial(0).done().record();
    let b = RunRecord::new(a.header.clone());
    let (of_a, of_b) = (analyse(&a).unwrap(), analyse(&b).unwrap());
    let found = compare(&[(&a, &of_a), (&b, &of_b)], &Options::default());
    let host = found.changed.iter().find(|c| c.key == "hostname").unwrap();
    assert_eq!(host.values, [Say::same("lab"), Say::same("")]);
}

#[test]
fn equal_texts_have_equal_digests_and_the_empty_one_is_that_of_the_rfc() {
    assert_eq!((digest(""), digest("foobar")), ("cbf29ce484222325".into(), "85944171f73967e8".into()));
    assert_ne!(digest("a"), digest("b"));
}
