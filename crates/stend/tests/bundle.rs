//! `stend bundle`: what is in it, what is never in it, and that it is made also where a part is missing.

use crate::support::far::script;
use crate::support::fixed_run::two_runs;
use crate::support::*;
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use stend_base::{Bytes, Nanos, say};
use stend_plan::{PlanInputs, PlanTarget};
use stend_record::parts::{Parts, PoolState, Temperature};
use stend_record::sample::{DiskCounters, NetworkCounters};
use stend_record::store::{self, Options};
use stend_record::{
    Device, Entry, Event, EventKind, HostFacts, HostId, HostInfo, KeptProblem, Recording, Retention, RunHeader,
    RunState, Sample, Signature, TargetFacts, TargetKind, WriteAccess,
};
use stend_spec::suite::Suite;

const RECORDING: &str = "R-20261122T213000Z-cccc";
/// Everything in the recording of [`recording`] that says whose it is.
const SECRETS: [&str; 11] = [
    "filer7",
    "bob@",
    "/srv/acme",
    "5000c500deadbeef",
    "backup-2026",
    "acmetank",
    "0017c8aabbcc",
    "10.9.8.7",
    "b00t-1b4e28ba",
    "root=UUID",
    "night-shift",
];
const MINUTE: u64 = 60;

/// A recording of 50 hours with a sample each minute, in the directory of runs: a drive with errors, a pool that fails, a warm drive.
fn recording(scratch: &Scratch) {
    let runs = scratch.directory("stend/runs");
    let target = PlanTarget::device(Bytes(0));
    let suite = Suite { name: "recording".into(), ..Suite::default() };
    let inputs = PlanInputs { suite, seed: 0, target, time_budget: None, traces: Vec::new() };
    let header = RunHeader {
        started_unix: 1_795_383_000,
        command_line: ["stend", "record", "-o", "/srv/acme/night.stend"].map(String::from).to_vec(),
        realtime_offset_ns: 1_795_383_000_000_000_000,
        recording: Some(Recording { every: Nanos::SECOND, retention: Retention::usual(Nanos::SECOND) }),
        ..RunHeader::new(RECORDING, inputs)
    };
    let writer = store::create(&Path::new(&runs).join(format!("{RECORDING}.stend")), header, Options::default());
    let writer = writer.expect("a new file");
    let facts = HostFacts {
        hostname: "filer7".into(),
        kernel: "6.12.57".into(),
        boot_id: "b00t-1b4e28ba".into(),
        kernel_command_line: "BOOT_IMAGE=/vmlinuz root=UUID=1b4e28ba ro".into(),
        ..HostFacts::default()
    };
    let drive = Device {
        name: "sda".into(),
        kind: "disk".into(),
        identity: Some("wwn:0x5000c500deadbeef".into()),
        ..Device::default()
    };
    let drive = TargetFacts {
        devices: vec![drive],
        signatures: vec![Signature { name: "ext4".into(), offset: 1080, label: Some("backup-2026".into()) }],
        ..TargetFacts::new("/srv/acme", TargetKind::BlockDevice, WriteAccess::Nowhere)
    };
    let info = HostInfo { name: "bob@filer7".into(), facts: Some(facts), targets: vec![drive], ..HostInfo::default() };
    writer.append(Entry::Host { host: HostId::LOAD, info: Box::new(info) });
    let text = "I/O error, dev sda, sector 8; /srv/acme of 10.9.8.7:4420 on filer7".to_string();
    let errors = EventKind::KernelErrors { device: "sda".into(), count: 1, text };
    for minute in 0..=50 * 60 {
        let at = Nanos::secs(minute * MINUTE);
        if minute == 49 * 60 {
            writer.append(Entry::Event(Event::new(at, errors.clone())));
            writer.append(Entry::Event(Event::new(at, pool_failed(at))));
        }
        writer.append(Entry::Sample { host: HostId::LOAD, sample: Box::new(sample(minute, at)) });
    }
    writer.close(RunState::Complete).expect("closed");
}

/// What a recorder keeps of the pool's problem.
fn pool_failed(at: Nanos) -> EventKind {
    EventKind::Problem(Box::new(KeptProblem {
        rule: "pool_unhealthy".into(),
        object: "acmetank".into(),
        severity: "warning".into(),
        evidence: say!("its state is DEGRADED", "его состояние DEGRADED"),
        opened: at,
        closed: None,
        times: 1,
    }))
}

fn sample(minute: u64, at: Nanos) -> Sample {
    let health = if minute < 49 * 60 { "ONLINE" } else { "DEGRADED" };
    let pool = PoolState { kind: "zfs".into(), name: "acmetank".into(), health: Some(health.into()), operation: None };
    let warm = Temperature { device: "sda".into(), milli_celsius: 41_500, ..Temperature::default() };
    let parts = Parts { pools: vec![pool], temperatures: vec![warm], ..Parts::default() };
    let (reads, read_bytes) = (6_000 * minute, 4096 * 6_000 * minute);
    let read_ns = reads * 84_200;
    let disk = DiskCounters { name: "sda".into(), reads, read_bytes, read_ns, ..DiskCounters::default() };
    let network = NetworkCounters { name: "enx0017c8aabbcc".into(), ..NetworkCounters::default() };
    Sample { at, disks: vec![disk], networks: Some(vec![network]), parts: Some(Box::new(parts)), ..Sample::default() }
}

/// Names below the folder of an archive, and what is in each file.
fn unpacked(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(archive).expect("an archive")).expect("a ZIP");
    (0..archive.len())
        .map(|index| {
            let mut file = archive.by_index(index).expect("a file");
            let name = file.name().expect("a name").into_owned();
            let (folder, name) = name.split_once('/').expect("a folder");
            assert!(folder.starts_with("stend-bundle-"), "{folder}");
            let name = name.to_string();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("whole");
            (name, bytes)
        })
        .collect()
}

fn text(files: &[(String, Vec<u8>)], name: &str) -> String {
    let found = files.iter().find(|(known, _)| known == name);
    let names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
    String::from_utf8(found.unwrap_or_else(|| panic!("{name} is not among {names:?}")).1.clone()).expect("UTF-8")
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// A command for a host that no `ssh` reaches.
fn unreachable(scratch: &Scratch, words: &[&str]) -> std::process::Command {
    script(scratch, "bin/ssh", "echo 'ssh: connect to host filer7 port 22: No route to host' >&2; exit 255");
    let mut command = stend(scratch, words);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", scratch.directory("bin")));
    command
}

#[test]
fn a_bundle_of_a_host_that_does_not_answer_has_its_recording_and_none_of_its_secrets() {
    let scratch = Scratch::new();
    recording(&scratch);
    scratch.directory("bin");
    let known = format!("stend/runs/{RECORDING}.stend");
    let known = scratch.join(&known).to_string_lossy().into_owned();
    let id = |of: &Value| of["problems"][0]["id"].as_str().expect("a problem").to_string();
    let journal: Value =
        serde_json::from_str(&expect_exit(&mut stend(&scratch, &["journal", &known, "--json", "--open"]), 0).0)
            .expect("JSON");
    let acknowledge = ["journal", &known, "--acknowledge", &id(&journal), "--comment", "night-shift knows"];
    expect_exit(&mut stend(&scratch, &acknowledge), 0);

    let (plain, shared) = (scratch.join("plain.zip"), scratch.join("shared.zip"));
    let make = |file: &Path, more: &[&str]| {
        let file = file.to_string_lossy().into_owned();
        let words = [&["bundle", "filer7", "-o", &file], more].concat();
        let (stdout, stderr) = expect_exit(&mut unreachable(&scratch, &words), 0);
        assert!(stderr.contains("left out: facts of the host: "), "{stderr}");
        (stdout, stderr, unpacked(Path::new(&file)))
    };
    let (stdout, stderr, files) = make(&shared, &[]);
    assert_eq!(stdout.trim(), shared.to_string_lossy());
    assert!(stderr.contains("taken out: ") && stderr.contains("check these before you share it"), "{stderr}");
    let (_, _, whole) = make(&plain, &["--no-redact"]);
    for secret in SECRETS {
        assert!(whole.iter().any(|(_, bytes)| holds(bytes, secret)), "with --no-redact `{secret}` is in it");
        for (name, bytes) in &files {
            assert!(!holds(bytes, secret) && !holds(name.as_bytes(), secret), "`{secret}` in {name}");
        }
    }

    // 48 hours back from the last sample: steps of a minute.
    let folder = format!("recording-{RECORDING}");
    let drives = text(&files, &format!("{folder}/drives.csv"));
    let rows: Vec<&str> = drives.lines().collect();
    assert_eq!(rows.len(), 1 + 48 * 60, "{:?}", &rows[..2]);
    assert_eq!(rows[1], "2026-11-22 23:31:00.000,60,sda,100,0,409600,0,84200,,0,0");
    assert!(rows[48 * 60].starts_with("2026-11-24 23:30:00.000,60,sda,100,"), "{}", rows[48 * 60]);
    assert_eq!(
        text(&files, &format!("{folder}/temperatures.csv")).lines().nth(1),
        Some("2026-11-22 23:31:00.000,sda,41.5,,")
    );
    assert_eq!(text(&files, &format!("{folder}/networks.csv")).lines().count(), 1 + 48 * 60);
    let journal = text(&files, &format!("{folder}/en/journal.txt"));
    assert!(journal.matches("pool not healthy").count() == 1 && journal.contains("I/O errors"), "{journal}");
    let events = text(&files, &format!("{folder}/data/events.jsonl"));
    assert!(
        events.contains("\"time_utc\":\"2026-11-24T22:30:00Z\"") && events.contains("dev sda, sector 8"),
        "{events}"
    );
    assert!(text(&files, &format!("{folder}/ru/recording.html")).ends_with("</html>\n"));
    readme(&files);
}

fn readme(files: &[(String, Vec<u8>)]) {
    let readme = text(files, "README.txt");
    for (name, _) in files.iter().filter(|(name, _)| !["README.txt", "bundle.json"].contains(&name.as_str())) {
        assert_eq!(readme.matches(name.as_str()).count(), 2, "{name} in both languages: {readme}");
    }
    for words in ["Left out:", "Не вошло:", "facts of the host: ", "they name people", "в них имена людей"]
    {
        assert!(readme.contains(words), "{words}: {readme}");
    }
    let list: Value = serde_json::from_str(&text(files, "bundle.json")).expect("JSON");
    assert_eq!((&list["schema"], &list["redacted"]), (&"stend-bundle".into(), &true.into()));
    let parts: Vec<&str> =
        list["left_out"].as_array().expect("a list").iter().filter_map(|of| of["part"].as_str()).collect();
    assert_eq!(parts, ["inventory", "marks"]);
    assert_eq!(list["files"].as_array().map(Vec::len), Some(files.len() - 2));
}

#[test]
fn a_bundle_of_this_machine_has_its_drives_its_checkup_and_its_runs_and_says_nothing_of_whose_it_is() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let night = scratch.join("night.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["record", "--every", "100ms", "--for", "400ms", "-o", &night]), 0);
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["inspect", "--quick", "--json"]), 0);
    let host: Value = serde_json::from_str(&stdout).expect("JSON");
    let file = scratch.join("b.zip");
    let name = file.to_string_lossy().into_owned();
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["bundle", "--quick", "--json", "-o", &name]), 0);
    let made: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(made["bundle"], name.as_str());
    assert_eq!(made["packed_bytes"].as_u64(), Some(std::fs::metadata(&file).expect("a file").len()));
    assert_eq!(made["left_out"], serde_json::json!([]));
    let files = unpacked(&file);
    for name in ["en/host.txt", "ru/doctor.txt", "data/doctor.json", "data/host.json", "en/runs.txt"] {
        text(&files, name);
    }
    assert!(files.iter().any(|(name, _)| name.ends_with("/host.csv")), "the recording of this machine is in it");

    let root = scratch.path().to_string_lossy().into_owned();
    let kernel = std::fs::read_to_string("/proc/cmdline").expect("a command line");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("an id");
    let mut secrets = vec![root.as_str(), kernel.trim(), boot.trim()];
    let devices = host["devices"].as_array().expect("a list");
    secrets.extend(devices.iter().filter_map(|of| of["serial"].as_str()).filter(|serial| !serial.is_empty()));
    let mounted = devices.iter().flat_map(|of| of["mounted"].as_array().into_iter().flatten());
    secrets.extend(mounted.filter_map(Value::as_str).filter(|path| path.len() > 6));
    for (name, bytes) in &files {
        for secret in &secrets {
            assert!(!holds(bytes, secret), "`{secret}` in {name}");
        }
    }
    // The name of a machine can be a part of other words, so that only its places are looked at.
    let facts: Value = serde_json::from_str(&text(&files, "data/host.json")).expect("JSON");
    assert!(facts["host"]["hostname"].as_str().is_some_and(|name| name.starts_with("host-")), "{facts}");
    let recorded = files.iter().find(|(name, _)| name.ends_with("data/recording.json")).expect("a recording");
    let recorded: Value = serde_json::from_slice(&recorded.1).expect("JSON");
    assert_eq!(recorded["host"], facts["host"]["hostname"], "one thing has one stand-in");
    // Runs of other hosts stay at home.
    assert_eq!(
        serde_json::from_str::<Value>(&text(&files, "data/runs.json")).expect("JSON")["runs"],
        serde_json::json!([])
    );
}

#[test]
fn a_dry_run_writes_nothing_and_a_file_that_stend_did_not_write_is_not_replaced() {
    let scratch = Scratch::new();
    let here = scratch.directory("here");
    let run = |words: &[&str]| {
        let mut command = stend(&scratch, &[&["bundle", "--quick"], words].concat());
        command.current_dir(&here);
        command
    };
    let (listed, stderr) = expect_exit(&mut run(&["--dry-run"]), 0);
    assert!(listed.contains("en/host.txt") && listed.contains("packed: "), "{listed}");
    assert!(stderr.contains("left out: samples and journal: "), "{stderr}");
    let (russian, stderr) = expect_exit(&mut run(&["--dry-run", "--lang", "ru"]), 0);
    assert!(russian.contains("в архиве: ") && stderr.contains("не вошло: отсчёты и журнал"), "{russian}{stderr}");
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(&here).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(), Vec::<String>::new());
    let (stdout, _) = expect_exit(&mut run(&[]), 0);
    assert_eq!(names(), [stdout.trim()]);
    assert!(stdout.starts_with("stend-bundle-") && stdout.trim().ends_with(".zip"), "{stdout}");
    // One of ours is replaced, as other results are.
    expect_exit(&mut run(&["-o", stdout.trim()]), 0);
    scratch.file("here/notes.zip", "notes\n");
    let (_, stderr) = expect_exit(&mut run(&["-o", "notes.zip"]), 5);
    assert!(stderr.contains("Stend did not write it") && stderr.contains("--force"), "{stderr}");
    expect_exit(&mut run(&["-o", "notes.zip", "--force"]), 0);
    assert!(!unpacked(&scratch.join("here/notes.zip")).is_empty());
    let (_, stderr) = expect_exit(&mut run(&["--server", "http://127.0.0.1:1"]), 2);
    assert!(stderr.contains("bundle"), "{stderr}");
}
