//! The main job with the real binary on a real disk: measure, keep, show, report, clean up.

use crate::support::*;

#[test]
fn a_run_on_a_directory_measures_reports_and_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    assert!(stdout.contains("read") && stdout.contains("IOPS"), "{stdout}");
    assert!(stderr.contains("report") && stderr.contains("r.html"), "{stderr}");
    assert!(!stderr.contains('\u{1b}') && !stdout.contains('\u{1b}'), "escape codes outside a terminal:\n{stderr}");
    assert!(leftovers(&target).is_empty(), "{:?}", leftovers(&target));
    assert!(!scratch.join("r.stend-wal").exists() && !scratch.join("r.stend-shm").exists(), "the run is one file");

    let findings = show_json(&scratch, &file);
    assert_eq!(findings["state"]["state"], "complete");
    let cases = findings["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert_eq!(case["trials"], 2, "{case}");
        assert!(case["iops"]["value"].as_f64().expect("a number") > 100.0, "{case}");
        for id in ["H01", "H02", "H08", "H76"] {
            let check = case["checks"].as_array().expect("checks").iter().find(|c| c["id"] == id).expect(id);
            assert_eq!(check["status"], "pass", "{check}");
        }
    }
}

#[test]
fn the_report_is_one_file_without_network_or_scripts_in_both_languages() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let path = scratch.join("r.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    for lang in ["en", "ru"] {
        let html = scratch.join(&format!("{lang}.html"));
        let words = ["report", &path, "-o", &html.to_string_lossy(), "--lang", lang];
        expect_exit(&mut stend(&scratch, &words), 0);
        let html = std::fs::read_to_string(html).expect("a report");
        assert!(html.contains("<svg") && !html.contains("<script") && !html.contains("http-equiv=\"refresh\""));
        let links = html.matches("http").filter(|_| true).count();
        let allowed = html.matches("http://www.w3.org/2000/svg").count() + html.matches("http-equiv").count();
        assert_eq!(links, allowed, "only the SVG name space may look like a link");
    }
    let (text, _) = expect_exit(&mut stend(&scratch, &["show", &path, "--lang", "ru"]), 0);
    assert!(text.contains("задержк") || text.contains("испытан"), "{text}");
}

#[test]
fn the_same_run_is_found_by_id_prefix_and_last() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target]), 0);
    let (last, _) = expect_exit(&mut stend(&scratch, &["show", "last", "--json"]), 0);
    let id =
        serde_json::from_str::<serde_json::Value>(&last).expect("JSON")["run"].as_str().expect("an id").to_string();
    let (by_prefix, _) = expect_exit(&mut stend(&scratch, &["show", &id[..12], "--json"]), 0);
    assert_eq!(last, by_prefix);
    expect_exit(&mut stend(&scratch, &["show", "R-1999", "--json"]), 2);
}

#[test]
fn a_foreign_file_is_only_read() {
    let scratch = Scratch::new();
    let small = SMALL.replace("64MiB", "4MiB");
    let suite = scratch.file("small.yaml", &small);
    let mut data = vec![0u8; 8 << 20];
    stend_base::random::Random::new(1).fill(&mut data);
    let foreign = scratch.join("foreign.bin");
    std::fs::write(&foreign, &data).expect("a file");
    let (path, on) = (scratch.join("r.stend"), foreign.to_string_lossy().into_owned());
    let words = ["run", &suite, "--on", &on, "-o", &path.to_string_lossy()];
    expect_exit(&mut stend(&scratch, &words), 0);
    let findings = show_json(&scratch, &path);
    assert_eq!(findings["cases"].as_array().expect("cases").len(), 1);
    assert_eq!(findings["not_run"][0]["label"], "write");
    assert_eq!(std::fs::read(&foreign).expect("the file"), data, "not one byte may change");

    let only_writes = small.replace("op: read", "op: write");
    let suite = scratch.file("writes.yaml", &only_writes);
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &on]), 5);
}

#[test]
fn a_device_is_written_only_after_confirmation() {
    if !root("a_device_is_written_only_after_confirmation") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let device = Loop::new(&scratch, "disk.img", 256 << 20);
    let before = std::fs::read(&device.backing).expect("the backing file");
    let path = scratch.join("read.stend");
    let words = ["run", &suite, "--on", &device.device, "-o", &path.to_string_lossy()];
    expect_exit(&mut stend(&scratch, &words), 0);
    let findings = show_json(&scratch, &path);
    assert!(findings["not_run"][0]["reason"]["en"].as_str().expect("a reason").contains("--confirm="), "{findings}");
    assert_eq!(std::fs::read(&device.backing).expect("the backing file"), before, "not one byte may change");

    let identity = device.identity(&scratch);
    let path = scratch.join("write.stend");
    let words = ["run", &suite, "--on", &device.device, "--confirm", &identity, "-o", &path.to_string_lossy()];
    expect_exit(&mut stend(&scratch, &words), 0);
    assert_eq!(show_json(&scratch, &path)["cases"].as_array().expect("cases").len(), 2);
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &device.device, "--confirm", "serial:WRONG"]), 5);
}

/// A suite that discards, zeroes, and reads beside both.
const ERASING: &str = "suite: erasing
defaults: {ramp: 100ms, trial: 400ms}
fill: {size: 64MiB}
repeats: {blocks: 2}
cases:
  - name: discard
    streams: [{op: discard, pattern: random, block_size: 64KiB, queue_depth: 2}]
  - name: mix
    streams: [{op: {read: 60, write: 30, discard: 5, write_zeroes: 5}, pattern: random, block_size: 4KiB, queue_depth: 4}]
";

#[test]
fn discards_and_zeroes_are_measured_on_a_file_and_what_they_do_to_reads_is_said() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("erasing.yaml", ERASING), scratch.directory("target"));
    let path = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "-o", &path.to_string_lossy()];
    let (stdout, _) = expect_exit(&mut stend(&scratch, &words), 0);
    let told = one_line(&stdout);
    assert!(told.contains("Random discard") && told.contains("discards and"), "{stdout}");
    let findings = show_json(&scratch, &path);
    let operations = |case: usize| {
        let rows = findings["cases"][case]["operations"].as_array().expect("operations").clone();
        rows.into_iter().map(|row| row["operation"].as_str().expect("a name").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(operations(0), ["discard"]);
    assert_eq!(operations(1), ["read", "write", "discard", "write_zeroes"]);
    assert!(findings["cases"][0]["iops"]["value"].as_f64().expect("a number") > 0.0);
    let caveats = findings["caveats"].to_string();
    assert!(caveats.contains("same trial discards"), "{caveats}");
    let html = std::fs::read_to_string(scratch.join("r.html")).expect("a report");
    assert!(html.contains("write of zeroes") && html.contains("same trial discards"), "no word about it in the report");
    assert!(leftovers(&target).is_empty());
}

#[test]
fn a_device_is_discarded_only_after_confirmation() {
    if !root("a_device_is_discarded_only_after_confirmation") {
        return;
    }
    let scratch = Scratch::new();
    let only = ERASING.split("  - name: mix").next().expect("the first case").replace("fill: {size: 64MiB}\n", "");
    let suite = scratch.file("discard.yaml", &only);
    let device = Loop::new(&scratch, "disk.img", 64 << 20);
    std::fs::write(&device.backing, vec![7; 64 << 20]).expect("data behind the device");
    let intact = || std::fs::read(&device.backing).expect("the backing file").iter().all(|&byte| byte == 7);
    let path = scratch.join("r.stend").to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &device.device, "-o", &path];
    let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(stderr.contains("--confirm=") && intact(), "{stderr}");

    let identity = device.identity(&scratch);
    let confirmed = [&words[..], &["--confirm", &identity]].concat();
    let (_, stderr) = expect_exit(&mut stend(&scratch, &confirmed), 5);
    assert!(stderr.contains("--overwrite-signature=unknown-data") && intact(), "{stderr}");
    let named = [&confirmed[..], &["--overwrite-signature=unknown-data"]].concat();
    expect_exit(&mut stend(&scratch, &named), 0);
    assert!(!intact(), "a loop device hands discards on to its file");
    let check = |id: &str| {
        let findings = show_json(&scratch, std::path::Path::new(&path));
        let checks = findings["cases"][0]["checks"].as_array().expect("checks").clone();
        checks.into_iter().find(|check| check["id"] == id).expect("the check")["status"].clone()
    };
    assert_eq!((check("H76"), check("H11")), ("pass".into(), "not_applicable".into()));
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_filled() {
    let scratch = Scratch::new();
    let reads = "streams: [{op: read, pattern: random, block_size: 4KiB}]";
    let many = "streams: [{op: write, pattern: random, block_size: 512B, jobs: 64, queue_depth: 1024}]";
    let text = format!(
        "suite: s\nfill: {{size: 64MiB}}\nrepeats: {{blocks: 1}}\ncases:\n  - {{name: fine, {reads}}}\n  \
         - {{name: threads, backend: psync, {many}}}\n"
    );
    let (suite, target) = (scratch.file("s.yaml", &text), scratch.directory("target"));
    let path = scratch.join("r.stend").to_string_lossy().into_owned();
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 4);
    assert!(stderr.contains("case `threads`: with psync 65536 I/Os in flight need as many threads"), "{stderr}");
    assert!(!stderr.contains("filling") && leftovers(&target).is_empty(), "{stderr}");
}
