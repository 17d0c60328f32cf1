//! `calibrate: members`: what is said before, measured first, and told of each case.

use crate::support::*;

const SUITE: &str = "\
suite: ceilings
calibrate: members
defaults: {ramp: 50ms, trial: 300ms, direct: false}
fill: {size: 16MiB}
repeats: {blocks: 2}
cases:
  - name: write
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: paced
    streams: [{op: write, pattern: random, block_size: 4KiB, rate: 500/s}]
";

#[test]
fn a_run_that_calibrates_says_what_bounds_it() {
    let scratch = Scratch::new();
    let (suite, file) = (scratch.file("s.yaml", SUITE), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", "/dev/null", "-o", &path]), 0);
    assert!(show_all(&scratch, &file).contains("What bounds it"));
    let findings = show_json(&scratch, &file);
    let [write, paced] = &findings["cases"].as_array().expect("a list")[..] else { panic!("{findings}") };
    let resources = |case: &serde_json::Value| -> Vec<String> {
        let uses = case["ceiling"]["uses"].as_array().expect("a list");
        uses.iter().map(|one| one["resource"].as_str().expect("a name").to_string()).collect()
    };
    assert!(resources(write).contains(&"engine".to_string()), "{write}");
    assert!(!resources(paced).contains(&"engine".to_string()), "{paced}");
    let status = |case: &serde_json::Value, id: &str| {
        let checks = case["checks"].as_array().expect("a list");
        checks.iter().find(|check| check["id"] == id).expect("the check")["status"].clone()
    };
    assert_ne!(status(write, "H42"), "not_applicable");
    assert_eq!((status(paced, "H42"), status(write, "H07")), ("not_applicable".into(), "not_applicable".into()));
    let run = stend_record::store::read(&file).expect("the run file");
    assert_eq!(run.calibrations().count(), 1);
}

#[test]
fn what_a_suite_states_is_a_ceiling_and_its_source_is_told() {
    let scratch = Scratch::new();
    let stated = "ceilings: {network: 10TB/s, layout: {raid5: {drives: 6, chunk: 64KiB}}, source: the data sheet}";
    let suite = scratch.file("s.yaml", &SUITE.replace("calibrate: members", stated));
    let (directory, file) = (scratch.directory("on"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &directory, "-o", &path]), 0);
    let ceiling = &show_json(&scratch, &file)["cases"][0]["ceiling"];
    let uses = ceiling["uses"].as_array().expect("a list");
    let network = uses.iter().find(|one| !one["resource"]["network"].is_null()).expect("the network");
    assert_eq!(network["resource"]["network"]["source"], "the data sheet", "{ceiling}");
    assert!(network["used"].as_f64().expect("a share") < 0.5, "{ceiling}");
    // Nothing was calibrated, so the engine has no ceiling.
    assert!(!uses.iter().any(|one| one["resource"] == "engine"), "{ceiling}");
}

#[test]
fn a_dry_run_tells_which_drives_are_read_and_how_long_it_takes() {
    let scratch = Scratch::new();
    let (suite, directory) = (scratch.file("s.yaml", SUITE), scratch.directory("on"));
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &directory, "--dry-run", "--json"]), 0);
    let calibration = serde_json::from_str::<serde_json::Value>(&stdout).expect("JSON")["calibration"].clone();
    let drives = calibration["drives"].as_array().expect("a list").len() as u64;
    let sets = drives + u64::from(drives > 1);
    assert_eq!(calibration["engine"], 1);
    assert_eq!(calibration["time_ns"], sets * 2 * 3_500_000_000 + 1_200_000_000);
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &directory, "--dry-run"]), 0);
    assert!(stdout.contains("measure ceilings"), "{stdout}");
}

#[test]
fn a_word_that_calibrates_nothing_is_refused_with_its_place() {
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", &SUITE.replace("members", "writes"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", "/dev/null"]), 3);
    assert!(stderr.contains("s.yaml:2:12: `writes` is not one of `none`, `members`"), "{stderr}");
}
