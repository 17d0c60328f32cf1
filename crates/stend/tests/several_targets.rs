//! Several targets in one run with the real binary: all of them loaded, each safe for itself, told, resumed.

use crate::support::*;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// Writes and reads over everything, by jobs that count over all targets.
const SUITE: &str = "suite: several
defaults: {ramp: 50ms, trial: 300ms}
fill: {size: 16MiB}
repeats: {blocks: 2}
cases:
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: write
    streams: [{op: write, pattern: random, block_size: 64KiB, queue_depth: 4, jobs: 3}]
  - name: both
    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 16KiB, queue_depth: 4, jobs: 2}]
";

/// `--on DEVICE` of each, and `--confirm ID` of those that are confirmed.
fn words(scratch: &Scratch, on: &[&Loop], confirmed: &[&Loop]) -> Vec<String> {
    let targets = on.iter().flat_map(|device| ["--on".to_string(), device.device.clone()]);
    let confirms = confirmed.iter().flat_map(|device| ["--confirm".to_string(), device.identity(scratch)]);
    targets.chain(confirms).collect()
}

fn run(scratch: &Scratch, first: &[&str], more: &[String]) -> std::process::Command {
    let mut words = first.to_vec();
    words.extend(more.iter().map(String::as_str));
    stend(scratch, &words)
}

/// Bytes that the kernel counted at a device: (read, written).
fn counted(device: &Loop) -> (u64, u64) {
    let name = device.device.trim_start_matches("/dev/");
    let stat = std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).expect("counters");
    let fields: Vec<u64> = stat.split_whitespace().map(|field| field.parse().expect("a number")).collect();
    (fields[2] * 512, fields[6] * 512)
}

#[test]
fn every_target_is_filled_loaded_and_told() {
    if !root("every_target_is_filled_loaded_and_told") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    // Unequal ones: the share is that of the least.
    let devices = [64, 96, 64].map(|mib| Loop::new(&scratch, &format!("{mib}-{}.img", rand()), mib * MIB));
    let all: Vec<&Loop> = devices.iter().collect();
    let with_permission = words(&scratch, &all, &all);
    let (ahead, _) = expect_exit(&mut run(&scratch, &["run", &suite, "--dry-run"], &with_permission), 0);
    for device in &devices {
        let told = format!("destroys the data in the first 16 MiB of {}", device.device);
        assert!(one_line(&ahead).contains(&told), "{ahead}");
    }
    let before: Vec<(u64, u64)> = devices.iter().map(counted).collect();
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut run(&scratch, &["run", &suite, "-o", &path], &with_permission), 0);
    for (device, before) in devices.iter().zip(before) {
        let (read, written) = counted(device);
        assert!(written - before.1 > 16 * MIB, "filled and written: {} of {written}", before.1);
        assert!(read - before.0 > MIB, "{} of {read}", before.0);
        let behind = std::fs::read(&device.backing).expect("the backing file").split_off(16 << 20);
        assert!(behind.iter().all(|&byte| byte == 0), "nothing is written behind the share");
    }
    let findings = show_json(&scratch, &file);
    let names: Vec<&str> = devices.iter().map(|device| device.device.as_str()).collect();
    assert_eq!(findings["targets"], serde_json::json!(names));
    assert_eq!(findings["cases"].as_array().expect("cases").len(), 3);
    for case in findings["cases"].as_array().expect("cases") {
        let check =
            |id: &str| case["checks"].as_array().expect("checks").iter().find(|c| c["id"] == id).expect("a check");
        assert_eq!(check("H76")["status"], "pass", "{case}");
    }
    let html = std::fs::read_to_string(scratch.join("r.html")).expect("a report");
    assert!(html.contains("Targets: 3") && names.iter().all(|name| html.contains(name)), "the targets are not told");
}

/// A number that another file of the same test does not have.
fn rand() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Refused with this exit code and words in both languages, and no byte of any device changed.
fn refused(scratch: &Scratch, suite: &str, more: &[String], devices: &[&Loop], (code, en, ru): (i32, &str, &str)) {
    let contents = || devices.iter().map(|device| std::fs::read(&device.backing).expect("bytes")).collect::<Vec<_>>();
    let before = contents();
    for (lang, told) in [("en", en), ("ru", ru)] {
        let (_, stderr) = expect_exit(&mut run(scratch, &["run", suite, "--lang", lang], more), code);
        assert!(one_line(&stderr).contains(told), "{told}\n{stderr}");
    }
    assert_eq!(contents(), before, "refused, and something was written");
}

#[test]
fn one_target_that_is_refused_refuses_the_run_before_anything_is_written() {
    if !root("one_target_that_is_refused_refuses_the_run_before_anything_is_written") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    let [a, b] = ["a.img", "b.img"].map(|name| Loop::new(&scratch, name, 64 * MIB));
    let (path, directory) = (b.device.clone(), scratch.directory("d"));
    let both = [&a, &b];
    let of = |on: &[&Loop], confirmed: &[&Loop]| words(&scratch, on, confirmed);
    let missing = (5, format!("`{path}`: no `--confirm` names it"), format!("`{path}` отклонена: "));
    let mut twice = of(&[&a, &b], &[&a]);
    twice.extend(["--confirm".to_string(), "serial:OTHER".to_string()]);
    refused(&scratch, &suite, &twice, &both, (missing.0, &missing.1, &missing.2));

    // The second one gets a file system: it must be named to be overwritten.
    tool(&["mkfs.ext4", "-q", "-F", &b.device]);
    let told = (format!("`{path}`: it carries `ext4`"), format!("`{path}` отклонена: на объекте обнаружено: `ext4`"));
    refused(&scratch, &suite, &of(&both, &both), &both, (5, &told.0, &told.1));
    let mut unknown = of(&both, &both);
    unknown.push("--overwrite-signature=xfs".into());
    refused(&scratch, &suite, &unknown, &both, (5, "no `xfs` signature on any", "нет метки `xfs`"));

    let link = scratch.join("link");
    std::os::unix::fs::symlink(&a.device, &link).expect("a link");
    let mut again = of(&[&a], &[&a]);
    again.extend(["--on".to_string(), link.to_string_lossy().into_owned()]);
    refused(&scratch, &suite, &again, &both, (5, &format!("both are `{}`", a.device), "нельзя использовать вместе"));
    let mut mixed = of(&[&a], &[&a]);
    mixed.extend(["--on".to_string(), directory.clone()]);
    refused(&scratch, &suite, &mixed, &both, (2, "different kinds", "разного вида"));
    assert!(leftovers(&directory).is_empty());

    // Mounted: only reading is left, and nobody asked to write.
    let mount = Mount::new(&[&b.device], scratch.join("mnt"));
    let told = format!("`{path}`: it is mounted at");
    refused(&scratch, &suite, &of(&both, &both), &[&a], (5, &told, "смонтирован"));
    drop(mount);

    // With everything said, the same two are taken.
    let mut all = of(&both, &both);
    all.push("--overwrite-signature=ext4".into());
    let file = scratch.join("r.stend").to_string_lossy().into_owned();
    expect_exit(&mut run(&scratch, &["run", &suite, "-o", &file], &all), 0);
}

#[test]
fn without_confirmation_several_devices_are_only_read_and_all_are_named() {
    if !root("without_confirmation_several_devices_are_only_read_and_all_are_named") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    let [a, b] = ["a.img", "b.img"].map(|name| Loop::new(&scratch, name, 64 * MIB));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let before = [&a, &b].map(counted);
    expect_exit(&mut run(&scratch, &["run", &suite, "-o", &path], &words(&scratch, &[&a, &b], &[])), 0);
    let reason = show_json(&scratch, &file)["not_run"][0]["reason"]["en"].as_str().expect("a reason").to_string();
    for (device, before) in [&a, &b].into_iter().zip(before) {
        assert!(reason.contains(&format!("--confirm={}", device.identity(&scratch))), "{reason}");
        let now = counted(device);
        assert!(now.1 == before.1 && now.0 > before.0, "{before:?} {now:?}");
    }
}

#[test]
fn a_killed_run_on_several_devices_goes_on_with_the_same_ones_only() {
    if !root("a_killed_run_on_several_devices_goes_on_with_the_same_ones_only") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", &SUITE.replace("{blocks: 2}", "{blocks: 12}"));
    let devices = ["a.img", "b.img", "c.img"].map(|name| Loop::new(&scratch, name, 64 * MIB));
    let [a, b, c] = &devices;
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let arguments = words(&scratch, &[a, b], &[a, b]);
    let mut running = Running::new(&mut run(&scratch, &["run", &suite, "-o", &path], &arguments));
    eventually("two trials", std::time::Duration::from_secs(60), || trials(&file) > 2);
    let workers = running.workers();
    running.kill();
    eventually("the worker ends", IN_TIME, || workers.iter().all(|pid| !alive(*pid)));
    let confirms = words(&scratch, &[], &[a, b]);
    // Not on others, not without permission for each, and not in another order.
    for on in [&[a, c][..], &[b, a], &[a]] {
        let mut other = words(&scratch, on, &[a, b, c]);
        other.extend(["--resume".to_string(), path.clone()]);
        expect_exit(&mut run(&scratch, &["run"], &other), 2);
    }
    expect_exit(&mut run(&scratch, &["run", "--resume", &path], &confirms[..2]), 5);
    expect_exit(&mut run(&scratch, &["run", "--resume", &path], &confirms), 0);
    let findings = show_json(&scratch, &file);
    assert_eq!(
        (&findings["state"]["state"], trials(&file) >= 36),
        (&serde_json::json!("complete"), true),
        "{findings}"
    );
}

/// Trials in a run file, 0 if there is none yet.
fn trials(file: &Path) -> usize {
    if file.exists() { stend_record::store::read(file).map_or(0, |run| run.trials.len()) } else { 0 }
}

#[test]
fn directories_of_several_file_systems_get_a_test_file_each_and_files_are_only_read() {
    let scratch = Scratch::new();
    let buffered = SUITE.replace("ramp: 50ms", "direct: false, ramp: 50ms").replace("16MiB", "4MiB");
    let suite = scratch.file("s.yaml", &buffered);
    let memory = tempfile::Builder::new().prefix("stend-e2e-").tempdir_in("/dev/shm").expect("a directory");
    let (one, two) = (scratch.directory("one"), memory.path().to_string_lossy().into_owned());
    let file = scratch.join("r.stend").to_string_lossy().into_owned();
    let arguments = ["run", &suite, "--on", &one, "--on", &two];
    let (ahead, _) = expect_exit(&mut stend(&scratch, &[&arguments[..], &["--dry-run"]].concat()), 0);
    for directory in [&one, &two] {
        assert!(one_line(&ahead).contains(&format!("make directory {directory}/.stend-")), "{ahead}");
    }
    expect_exit(&mut stend(&scratch, &[&arguments[..], &["-o", &file]].concat()), 0);
    assert!(leftovers(&one).is_empty() && leftovers(&two).is_empty());
    let other = scratch.directory("other");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &one, "--on", &other]), 2);
    assert!(one_line(&stderr).contains("lie on one file system") && stderr.contains("files: {count: 2}"), "{stderr}");

    let contents = ["x", "y"].map(|name| scratch.file(name, &"z".repeat(8 << 20)));
    let file = scratch.join("f.stend");
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &contents[0], "--on", &contents[1], "-o", &path]), 0);
    let findings = show_json(&scratch, &file);
    let told = ["cases", "not_run"].map(|list| findings[list].as_array().expect("a list").len());
    assert_eq!(told, [1, 2], "reads run, writes do not");
    assert!(contents.iter().all(|path| std::fs::read(path).expect("a file").iter().all(|&byte| byte == b'z')));
}

/// Jobs of each target, which share a cursor there.
const PER_TARGET: &str = "suite: apart
defaults: {ramp: 50ms, trial: 300ms}
fill: {size: 16MiB}
repeats: {blocks: 2}
cases:
  - name: random
    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 2, jobs: {per_target: 2}}]
  - name: cursor
    streams: [{op: write, pattern: shared_sequential, block_size: 64KiB, jobs: {per_target: 2}, verify: {after: true}}]
  - name: in turn
    streams: [{op: read, pattern: sequential, block_size: 64KiB}]
  - name: half
    streams: [{op: write, pattern: shared_sequential, block_size: 64KiB, jobs: {per_target: 2}, region: {start: 0%, size: 50%}, verify: {after: true}}]
";

#[test]
fn jobs_of_each_target_load_it_alone_and_the_targets_are_told_apart() {
    if !root("jobs_of_each_target_load_it_alone_and_the_targets_are_told_apart") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", PER_TARGET);
    let [a, b] = ["a.img", "b.img"].map(|name| Loop::new(&scratch, name, 64 * MIB));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut run(&scratch, &["run", &suite, "-o", &path], &words(&scratch, &[&a, &b], &[&a, &b])), 0);
    let shown = one_line(&show_all(&scratch, &file));
    assert!(shown.contains("By target") && shown.contains("each job on one of 2 targets"), "{shown}");
    assert!(shown.contains("one after the other"), "the sequential job is not told: {shown}");
    let findings = show_json(&scratch, &file);
    for case in &findings["cases"].as_array().expect("cases")[..2] {
        let targets = case["targets"].as_array().expect("targets");
        let names: Vec<&str> = targets.iter().map(|target| target["target"].as_str().expect("a name")).collect();
        assert_eq!(names, [&a.device, &b.device]);
        let rate = |value: &serde_json::Value| value["iops"]["value"].as_f64().expect("a rate");
        let (sum, total) = (targets.iter().map(rate).sum::<f64>(), rate(case));
        assert!(targets.iter().all(|target| rate(target) > 0.0) && (sum - total).abs() < total * 1e-6, "{sum} {total}");
        let check = case["checks"].as_array().expect("checks").iter().find(|c| c["id"] == "H79").expect("H79");
        assert_ne!(check["status"], "fail", "{check}");
    }
    assert!(findings["cases"][2].get("targets").is_none(), "one job is on both");
    let record = stend_record::store::read(&file).expect("the run file");
    let share = 16 * MIB;
    for trial in record.trials.iter().filter(|trial| trial.case != 2) {
        for job in &trial.outcome.as_ref().expect("an end").engine.jobs {
            assert_eq!(job.area.start.0 / share, (job.area.end() - 1) / share, "{job:?}");
            let (place, half) = (u64::from(job.job / 2) * share, share / 2);
            assert!(trial.case != 3 || (job.area.start.0, job.area.len.0) == (place, half), "{job:?}");
        }
    }
    let half = &findings["cases"][3];
    assert_eq!(half["targets"].as_array().map(Vec::len), Some(2));
    let failed = |check: &&serde_json::Value| check["status"] == "fail";
    assert_eq!(half["checks"].as_array().expect("checks").iter().find(failed), None);
    let html = std::fs::read_to_string(scratch.join("r.html")).expect("a report");
    assert!(html.contains("By target") && html.contains("По объектам"));
}
