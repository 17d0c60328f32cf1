//! A record with a secret in every place, and what is left of it.

use super::*;
use crate::event::{Event, KeptProblem};
use crate::facts::{Device, HostFacts, Signature, TargetKind};
use crate::hosts::{HostId, HostRecord};
use crate::observed::EngineFacts;
use crate::trial::{TrialPart, TrialRecord};
use stend_base::{Bytes, Kind, Nanos, say};
use stend_plan::{PlanInputs, PlanTarget};
use stend_spec::suite::Suite;
use stend_spec::workload::{Region, Trial};

const SECRETS: [&str; 13] = [
    "zebra",
    "filer7",
    "acme",
    "/srv/acme",
    "S4EVNX0R",
    "3600a0b8",
    "root=UUID",
    "1b4e28ba",
    "backup-2026",
    "10.1.2.3",
    "bob@",
    "b00t",
    "4420",
];

fn target() -> TargetFacts {
    TargetFacts {
        size: Bytes(1 << 30),
        free: Bytes(1 << 29),
        physical_block: Bytes(4096),
        file_system: Some("ext4".into()),
        mount_options: Some("rw,relatime".into()),
        journal: Some(true),
        devices: vec![
            Device { name: "dm-0".into(), identity: Some("dm:mpath-3600a0b8".into()), ..Device::default() },
            Device { name: "nvme0n1".into(), identity: Some("serial:S4EVNX0R".into()), ..Device::default() },
        ],
        signatures: vec![Signature { name: "ext4".into(), offset: 1080, label: Some("backup-2026".into()) }],
        ..TargetFacts::new("/srv/acme/data", TargetKind::Directory, WriteAccess::OwnDirectory)
    }
}

fn inputs() -> PlanInputs {
    let target = PlanTarget::device(Bytes(1 << 30));
    PlanInputs { suite: Suite::default(), seed: 1, target, time_budget: None, traces: Vec::new() }
}

fn record() -> RunRecord {
    let mut header = RunHeader::new("R-20261121T213000Z-kfzm", inputs());
    header.command_line =
        ["stend", "run", "quick", "--on", "/srv/acme/data", "-o", "acme.stend"].map(String::from).into();
    header.named = vec!["/srv/acme/data".into()];
    header.suite_text = "suite: quick  # see http://10.1.2.3:4420/acme\n".replace("/acme", "");
    header.gate = Some(crate::run::GateText {
        file: "gates/zebra-gate.yaml".into(),
        text: "gate: g  # for http://10.1.2.3:4420/\nlimits: [p99 < 5ms]\n".into(),
        expect: vec!["iops > 1".into()],
    });
    let mut record = RunRecord::new(header);
    let facts = HostFacts {
        hostname: "filer7".into(),
        kernel: "6.12.57".into(),
        boot_id: "b00t-1b4e28ba".into(),
        kernel_command_line: "BOOT_IMAGE=/boot/vmlinuz root=UUID=1b4e28ba ro".into(),
        ..HostFacts::default()
    };
    let info =
        HostInfo { name: "bob@filer7".into(), facts: Some(facts), targets: vec![target()], ..HostInfo::default() };
    record.hosts = vec![HostRecord { info, ..HostRecord::default() }];
    let note = |text: &str| Event::new(Nanos(1), EventKind::Note { text: text.into() });
    record.events =
        vec![note("filer7: cannot write /srv/acme/data/x.bin (serial:S4EVNX0R)"), note("connected to 10.1.2.3:4420")];
    let file = crate::imported::SourceFile { name: "zebra-array.json".into(), ..Default::default() };
    record.header.imported = Some(crate::imported::Imported { files: vec![file], ..Default::default() });
    record.state = crate::run::RunState::Ended {
        kind: Kind::Preflight,
        reason: say!("no room on filer7", "нет места на filer7"),
    };
    record
}

#[test]
fn no_secret_is_left_in_any_part_and_one_thing_has_one_stand_in() {
    let record = record();
    let redaction = Redaction::of(&[&record]).unwrap();
    let found = redaction.apply(record.clone()).unwrap();
    let text = serde_json::to_string(&found).unwrap();
    for secret in SECRETS {
        assert!(serde_json::to_string(&record).unwrap().contains(secret), "the fixture lacks {secret}");
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(found.header.command_line, ["stend", "run", "…", "--on", "…", "-o", "…"]);
    assert_eq!(found.header.named[0], found.hosts[0].targets[0].named);
    assert!(found.hosts[0].targets[0].named.starts_with("/path-"), "{text}");
    // What findings follow from is as it was.
    assert!(found.hosts[0].targets[0].devices[0].joins_paths(), "{text}");
    assert_eq!(found.hosts[0].facts.as_ref().unwrap().kernel, "6.12.57");
    let counts: Vec<u32> = redaction.counts().values().copied().collect();
    assert!(redaction.counts()[&Secret::Identity] == 2 && counts.iter().sum::<u32>() >= 8, "{counts:?}");
}

#[test]
fn what_a_kept_problem_concerns_is_taken_out_also_where_no_sample_names_it() {
    let problem = |(rule, object): (&str, &str)| {
        let kept = KeptProblem {
            rule: rule.into(),
            object: object.into(),
            severity: "warning".into(),
            evidence: say!("seen", "замечено"),
            opened: Nanos(1),
            closed: None,
            times: 1,
        };
        Event::new(Nanos(1), EventKind::Problem(Box::new(kept)))
    };
    let kept = [
        ("pool_unhealthy", "acmetank"),
        ("port_errors", "enx0017c8aabbcc"),
        ("port_errors", "eth0"),
        ("nfs_silent", "/srv/acme data"),
        ("drive_slow", "sda"),
    ];
    let mut record = record();
    record.events = kept.map(problem).to_vec();
    let found = Redaction::of(&[&record]).unwrap().apply(record).unwrap();
    let objects = found.events.iter().filter_map(|event| match &event.kind {
        EventKind::Problem(problem) => Some((problem.rule.as_str(), problem.object.as_str())),
        _ => None,
    });
    let [pool, usb, port, share, drive] = objects.collect::<Vec<_>>()[..] else { panic!("five problems") };
    assert!(pool.0 == "pool_unhealthy" && pool.1.starts_with("label-"), "{pool:?}");
    assert!(usb.1.starts_with("address-") && port.1 == "eth0" && drive.1 == "sda", "{usb:?} {port:?} {drive:?}");
    assert!(share.1.starts_with("/path-") && !share.1.contains("data"), "{share:?}");
}

#[test]
fn two_runs_share_their_stand_ins_and_those_of_another_redaction_differ() {
    let (one, mut other) = (record(), record());
    other.hosts[0].info.facts.as_mut().unwrap().hostname = "filer8".into();
    let both = Redaction::of(&[&one, &other]).unwrap();
    let hostname = |redaction: &Redaction, record: &RunRecord| {
        redaction.apply(record.clone()).unwrap().hosts[0].facts.as_ref().unwrap().hostname.clone()
    };
    assert_ne!(hostname(&both, &one), hostname(&both, &other), "they are two machines");
    other.header.id = "R-20261122T213000Z-bbbb".into();
    other.hosts = one.hosts.clone();
    let alone = Redaction::of(&[&other]).unwrap();
    assert_ne!(hostname(&both, &one), hostname(&alone, &other), "nobody can know that they are one machine");
}

#[test]
fn what_each_of_several_load_hosts_said_is_redacted_too() {
    let mut record = record();
    let engine = EngineFacts { fallback_reason: "no ring on filer7".into(), ..EngineFacts::default() };
    let outcome = TrialOutcome { engine, ..TrialOutcome::empty(Nanos(1), (Nanos(1), Nanos(2))) };
    let asked = Trial::new(Vec::new(), Nanos(1), Region { start: Bytes(0), len: Bytes(4096) });
    let part = TrialPart { host: HostId(1), outcome: Some(outcome), ..TrialPart::default() };
    record.trials = vec![TrialRecord { parts: vec![part], ..TrialRecord::new(0, (0, 0), asked, Nanos(1)) }];
    let found = Redaction::of(&[&record]).unwrap().apply(record).unwrap();
    let said = &found.trials[0].parts[0].outcome.as_ref().unwrap().engine.fallback_reason;
    assert!(said.starts_with("no ring on host-"), "{said}");
}

#[test]
fn a_record_without_secrets_stays_as_it_is() {
    let mut plain = RunRecord::new(RunHeader::new("R-20261121T213000Z-kfzm", inputs()));
    plain.header.named = vec!["/dev/nvme0n1".into()];
    let redaction = Redaction::of(&[&plain]).unwrap();
    assert_eq!(redaction.apply(plain.clone()).unwrap(), plain);
}
