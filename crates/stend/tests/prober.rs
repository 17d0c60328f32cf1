//! Single I/Os beside a load: where there are some, what they see of a standstill, and what is said of it.

use crate::support::*;
use std::path::Path;
use std::time::Duration;

/// One case of each kind: at a rate, slow, in a closed loop, turned off, and by fio.
const KINDS: &str = "suite: kinds
defaults: {ramp: 200ms, trial: 1s}
fill: {size: 64MiB}
repeats: {blocks: 1}
cases:
  - name: open
    prober: {rate: 50/s}
    streams: [{op: read, pattern: random, block_size: 4KiB, rate: 500/s}]
  - name: slow
    streams: [{op: read, pattern: random, block_size: 4KiB, rate: 100/s}]
  - name: closed
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: turned off
    prober: off
    streams: [{op: read, pattern: random, block_size: 4KiB, rate: 5000/s}]
  - name: log
    prober: {rate: 20/s}
    streams: [{op: write, pattern: sequential, block_size: 4KiB, sync: dsync, queue_depth: 1}]
";

const BY_FIO: &str = "suite: by-fio
defaults: {ramp: 200ms, trial: 1s, engine: fio}
fill: {size: 64MiB}
repeats: {blocks: 1}
cases:
  - name: read
    prober: {rate: 50/s}
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
";

fn ran(scratch: &Scratch, suite: &str, target: &str) -> (serde_json::Value, String) {
    let file = scratch.join("r.stend").to_string_lossy().into_owned();
    let words = ["run", suite, "--on", target, "-o", &file, "--progress", "none"];
    expect_exit(&mut stend(scratch, &words), 0);
    let shown = show_all(scratch, Path::new(&file));
    (show_json(scratch, Path::new(&file)), one_line(&shown))
}

#[test]
fn a_case_has_the_prober_that_it_asks_for_or_says_why_there_is_none() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("kinds.yaml", KINDS), scratch.directory("t"));
    let (findings, stdout) = ran(&scratch, &suite, &target);
    let case = |index: usize| findings["cases"][index].clone();
    let open = &case(0)["prober"];
    // Due at even times from before the start of the load on: 50 in a second, one more or less at its edges.
    assert!(open["count"].as_u64().is_some_and(|count| (49..=51).contains(&count)), "{open}");
    assert_eq!((&open["operation"], &open["failed"], &open["unanswered"]), (&"read".into(), &0.into(), &0.into()));
    assert!(open["latency_max_ns"].as_u64() > Some(0) && open["cpus"].as_f64() > Some(0.0), "{open}");
    assert!(case(1)["prober"].is_null());
    assert!(case(1)["no_prober"]["ru"].as_str().is_some_and(|why| why.contains("200/с")), "{}", case(1)["no_prober"]);
    for index in [2, 3] {
        assert!(case(index)["prober"].is_null() && case(index)["no_prober"].is_null(), "{}", case(index));
    }
    assert_eq!(case(4)["prober"]["operation"], "write");
    for index in 0..5 {
        let checks = case(index)["checks"].as_array().cloned().unwrap_or_default();
        let executed = checks.iter().find(|check| check["id"] == "H04").expect("H04");
        assert_eq!(executed["status"], "pass", "{executed}");
    }
    // 50 of 500 are a tenth.
    assert!(findings["caveats"].to_string().contains("prober_heavy"), "{}", findings["caveats"]);
    assert!(stdout.contains("open: Prober: ") && stdout.contains("slow: No prober: 0.5 % of a load below"), "{stdout}");
    assert!(!stdout.contains("closed: No prober"), "{stdout}");
    assert_eq!(leftovers(&target), Vec::<String>::new());
}

#[test]
fn fio_has_the_same_prober_beside_it() {
    if std::process::Command::new("fio").arg("--version").output().is_err() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "fio_has_the_same_prober_beside_it needs fio");
        eprintln!("skipped, needs fio: fio_has_the_same_prober_beside_it");
        return;
    }
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("fio.yaml", BY_FIO), scratch.directory("t"));
    let (findings, stdout) = ran(&scratch, &suite, &target);
    let prober = &findings["cases"][0]["prober"];
    assert!(prober["count"].as_u64().is_some_and(|count| (45..=60).contains(&count)), "{prober}");
    assert!(prober["longest_silence"]["length_ns"].as_u64() > Some(0), "{prober}");
    assert!(stdout.contains("read: Prober: "), "{stdout}");
}

#[test]
fn a_file_system_that_freezes_is_told_as_a_standstill_of_at_least_its_length() {
    if !root("a_file_system_that_freezes_is_told_as_a_standstill_of_at_least_its_length") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("log.yaml", "suite: log\ndefaults: {ramp: 0s, trial: 15s}\nfill: {size: 64MiB}\nrepeats: {blocks: 1}\ncases:\n  - {name: log, prober: {rate: 20/s}, streams: [{op: write, pattern: random, block_size: 4KiB, sync: dsync, rate: 200/s}]}\n");
    let image = scratch.join("fs.img");
    std::fs::File::create(&image).and_then(|f| f.set_len(512 << 20)).expect("an image");
    tool(&["mkfs.ext4", "-q", "-F", &image.to_string_lossy()]);
    let mount = Mount::new(&["-o", "loop", &image.to_string_lossy()], scratch.join("fs"));
    let on = mount.0.to_string_lossy().into_owned();
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &on, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = Running::new(stend(&scratch, &words).stdout(std::process::Stdio::null()));
    eventually("a trial in progress", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| !t.slices.is_empty()))
    });
    tool(&["fsfreeze", "-f", &on]);
    std::thread::sleep(Duration::from_secs(4));
    tool(&["fsfreeze", "-u", &on]);
    assert_eq!(run.wait(Duration::from_secs(90)), Some(0));
    let findings = show_json(&scratch, &file);
    let prober = &findings["cases"][0]["prober"];
    let longest = &prober["longest_silence"];
    assert!(longest["length_ns"].as_u64() >= Some(4_000_000_000), "{prober}");
    assert_eq!((&longest["kind"], &longest["ended"]), (&"standstill".into(), &true.into()), "{prober}");
    assert_eq!((&prober["operation"], &prober["unanswered"]), (&"write".into(), &0.into()), "{prober}");
    assert!(leftovers(&on).is_empty());
}

#[test]
fn writes_that_a_frozen_file_system_holds_up_are_told_although_probes_that_read_are_answered() {
    if !root("writes_that_a_frozen_file_system_holds_up_are_told_although_probes_that_read_are_answered") {
        return;
    }
    let scratch = Scratch::new();
    // Not durable, so that probes are reads, which a freeze does not hold up.
    let suite = scratch.file("mix.yaml", "suite: mix\ndefaults: {ramp: 0s, trial: 8s}\nfill: {size: 64MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    prober: {rate: 20/s}\n    streams:\n      - {op: read, pattern: random, block_size: 4KiB, rate: 300/s, queue_depth: 8}\n      - {op: write, pattern: random, block_size: 4KiB, rate: 300/s, queue_depth: 8}\n");
    let image = scratch.join("fs.img");
    std::fs::File::create(&image).and_then(|f| f.set_len(512 << 20)).expect("an image");
    tool(&["mkfs.ext4", "-q", "-F", &image.to_string_lossy()]);
    let mount = Mount::new(&["-o", "loop", &image.to_string_lossy()], scratch.join("fs"));
    let on = mount.0.to_string_lossy().into_owned();
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &on, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = Running::new(stend(&scratch, &words).stdout(std::process::Stdio::null()));
    eventually("a trial in progress", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| !t.slices.is_empty()))
    });
    tool(&["fsfreeze", "-f", &on]);
    std::thread::sleep(Duration::from_millis(1500));
    tool(&["fsfreeze", "-u", &on]);
    assert_eq!(run.wait(Duration::from_secs(90)), Some(0));
    let findings = show_json(&scratch, &file);
    let prober = &findings["cases"][0]["prober"];
    assert_eq!(prober["operation"], "read", "{prober}");
    let other = &prober["other_operations"][0];
    assert_eq!(other["operation"], "write", "{prober}");
    assert!(
        other["stood_still_ns"].as_u64().is_some_and(|ns| (1_200_000_000..4_000_000_000).contains(&ns)),
        "{prober}"
    );
    assert!(leftovers(&on).is_empty());
}
