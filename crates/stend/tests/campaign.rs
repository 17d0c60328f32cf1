//! One suite on several stands, each built anew for every block, or on several targets in turn, with the real binary.

use crate::support::stand::{Stand, on_files};
use crate::support::*;
use std::process::Stdio;
use std::time::Duration;
use stend_record::store::read;
use stend_record::{EventKind, RunRecord, RunState};

/// Runs of this test in the order in which they began.
fn runs(scratch: &Scratch) -> Vec<RunRecord> {
    let directory = scratch.join("stend/runs");
    let paths = std::fs::read_dir(directory).expect("runs").flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "stend")).collect();
    paths.sort();
    paths.iter().map(|path| read(path).expect("a run file")).collect()
}

/// How often a program was executed.
fn executed(run: &RunRecord, program: &str) -> usize {
    let is = |kind: &EventKind| matches!(kind, EventKind::Command { argv, exit: Some(0), .. } if argv[0] == program);
    run.events.iter().filter(|event| is(&event.kind)).count()
}

#[test]
fn stands_are_built_anew_for_every_block_in_alternating_order_and_compared_within_blocks() {
    if !root("stands_are_built_anew_for_every_block_in_alternating_order_and_compared_within_blocks") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let ext4 = Stand::new(&scratch, "ext4", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    let xfs = Stand::new(&scratch, "xfs", &on_files(&scratch, 1, "- fs: {type: xfs}").replace("128MiB", "400MiB"));
    let words = ["run", &suite, "--stand", &ext4.file, "--stand", &xfs.file, "--rebuild", "--seed", "3", "--json"];
    let (told, notes) = expect_exit(&mut stend(&scratch, &words), 0);
    assert!(notes.contains("build 1, stand 1 of 2") && notes.contains("build 2, stand 2 of 2"), "{notes}");
    let found = runs(&scratch);
    assert_eq!(found.len(), 2);
    for (run, make) in found.iter().map(|run| {
        let name = &run.header.stand.as_ref().expect("a stand").name;
        (run, if *name == ext4.name { "mkfs.ext4" } else { "mkfs.xfs" })
    }) {
        assert_eq!((&run.state, executed(run, make)), (&RunState::Complete, 2), "{make}");
        let blocks: Vec<u32> = run.trials.iter().map(|trial| trial.block).collect();
        assert_eq!(blocks, [0, 0, 1, 1]);
        assert_eq!(run.header.inputs.seed, 3);
    }
    // The first of one block is the last of the next.
    let begin = |run: &RunRecord, block| run.trials.iter().find(|trial| trial.block == block).expect("it").started;
    let first = |block| begin(&found[0], block) < begin(&found[1], block);
    assert_ne!(first(0), first(1));

    let table = told.rsplit_once("\n{").map_or(told.clone(), |(_, last)| format!("{{{last}"));
    let table: serde_json::Value = serde_json::from_str(&table).expect("the table is the last document");
    assert_eq!((&table["interleaved"], &table["runs"][1]["builds"]), (&true.into(), &2.into()), "{table}");
    ext4.is_gone();
    xfs.is_gone();

    let once = ["run", &suite, "--stand", &ext4.file, "--stand", &xfs.file, "--json"];
    let (told, _) = expect_exit(&mut stend(&scratch, &once), 0);
    let table = told.rsplit_once("\n{").map_or(told.clone(), |(_, last)| format!("{{{last}"));
    let table: serde_json::Value = serde_json::from_str(&table).expect("the table is the last document");
    assert_eq!((&table["interleaved"], &table["runs"][0]["builds"]), (&false.into(), &1.into()), "{table}");
}

#[test]
fn two_targets_are_measured_in_turn_block_by_block_and_compared_with_the_first() {
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let (a, b) = (scratch.directory("a"), scratch.directory("b"));
    let words = ["run", &suite, "--on", &a, "--against", &b, "--seed", "3"];
    let (told, notes) = expect_exit(&mut stend(&scratch, &words), 0);
    assert!(notes.contains("block 1, target 1 of 2") && notes.contains("block 2, target 2 of 2"), "{notes}");
    let comparison = told.rsplit_once("\nB  R-").map(|(_, last)| last).expect("the comparison comes last");
    assert!(comparison.contains("of A") && comparison.contains(&format!("target {a} → {b}")), "{told}");
    let found = runs(&scratch);
    assert_eq!(found.len(), 2);
    for run in &found {
        assert_eq!(run.state, RunState::Complete);
        let blocks: Vec<u32> = run.trials.iter().map(|trial| trial.block).collect();
        assert_eq!((blocks, run.header.inputs.seed), (vec![0, 0, 1, 1], 3));
    }
    let begin = |run: &RunRecord, block| run.trials.iter().find(|trial| trial.block == block).expect("it").started;
    let first = |block| begin(&found[0], block) < begin(&found[1], block);
    assert_ne!(first(0), first(1), "who comes first in a block comes last in the next");
    let findings: Vec<_> = found.iter().map(|run| stend_analyse::judge(run).expect("findings")).collect();
    let pairs: Vec<_> = found.iter().zip(&findings).collect();
    assert!(stend_analyse::compare(&pairs, &stend_analyse::compare::Options::default()).interleaved);

    let once = scratch.file("once.yaml", &SMALL.replace("blocks: 2", "blocks: 1"));
    let (_, notes) = expect_exit(&mut stend(&scratch, &["run", &once, "--on", &a, "--against", &b]), 0);
    assert!(notes.contains("one after the other") && notes.contains("the suite has one block"), "{notes}");
}

#[test]
fn a_dry_run_of_two_targets_shows_the_plan_of_both_and_refuses_what_one_of_them_refuses() {
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let (a, b) = (scratch.directory("a"), scratch.directory("b"));
    let words = ["run", &suite, "--on", &a, "--against", &b, "--seed", "3", "--dry-run"];
    let (told, _) = expect_exit(&mut stend(&scratch, &words), 0);
    for part in
        [&format!("Target 1 of 2: {a}"), &format!("Target 2 of 2: {b}"), "All 2 targets together", "and 4 fills"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (told, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--json"]].concat()), 0);
    let documents = serde_json::Deserializer::from_str(&told).into_iter::<serde_json::Value>();
    let documents: Vec<_> = documents.map(|document| document.expect("a document")).collect();
    let targets: Vec<_> = documents.iter().map(|document| document["targets"][0]["named"].as_str()).collect();
    assert_eq!(targets, [Some(a.as_str()), Some(b.as_str())]);
    for document in &documents {
        assert_eq!((&document["schema"], &document["seed"]), (&"stend-preview".into(), &3.into()));
        assert_eq!((&document["fills"], &document["blocks"]), (&2.into(), &2.into()));
    }
    // Nothing was made, and what the run would not measure is refused with the exit code of that target.
    assert!(!scratch.join("stend/runs").exists());
    let gone = scratch.join("gone").display().to_string();
    let (_, told) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &a, "--against", &gone, "--dry-run"]), 2);
    assert!(told.contains(&gone), "{told}");
    let output = ["run", &suite, "--on", &a, "--against", &b, "-o", "x.stend", "--dry-run"];
    let (_, told) = expect_exit(&mut stend(&scratch, &output), 2);
    assert!(told.contains("--output"), "{told}");
}

#[test]
fn a_program_that_is_replaced_meanwhile_goes_on_as_it_was() {
    if !root("a_program_that_is_replaced_meanwhile_goes_on_as_it_was") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let first = Stand::new(&scratch, "first", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    let second = Stand::new(&scratch, "second", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    let program = scratch.join("program");
    copy_program(env!("CARGO_BIN_EXE_stend"), &program);
    let mut command = std::process::Command::new(&program);
    command.args(["run", &suite, "--stand", &first.file, "--stand", &second.file, "--progress", "none"]);
    command.env("XDG_DATA_HOME", scratch.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running::new(&mut command);
    let begun = || std::fs::read_dir(scratch.join("stend/runs")).is_ok_and(|files| files.count() > 0);
    eventually("the first run has a file", Duration::from_secs(60), begun);
    // The worker of the second stand is started by what is no longer there.
    std::fs::remove_file(&program).expect("it is removed");
    scratch.file("program", "no program");
    assert_eq!(running.wait(Duration::from_secs(120)), Some(0));
    assert!(runs(&scratch).iter().map(|run| &run.state).eq([&RunState::Complete; 2]));
    first.is_gone();
    second.is_gone();
}

#[test]
fn what_cannot_be_cut_between_blocks_is_refused_before_anything_is_built() {
    let scratch = Scratch::new();
    let stand = scratch.file("x.yaml", "stand: x\nlayers:\n- zram: {size: 64MiB}\n");
    let refused = |suite: &str, why: &str| {
        let suite = scratch.file("s.yaml", suite);
        let (_, told) = expect_exit(&mut stend(&scratch, &["run", &suite, "--stand", &stand, "--rebuild"]), 2);
        assert!(told.contains("`--rebuild` builds the stands for every block") && told.contains(why), "{told}");
    };
    refused(&SMALL.replace("blocks: 2", "blocks: 1"), "the suite has one block");
    refused(
        &SMALL.replace("  - name: read\n", "  - name: read\n    steady: {rounds: 25, round: 5s}\n"),
        "the case `read` needs its earlier results",
    );
    let (_, told) = expect_exit(&mut stend(&scratch, &["run", "quick", "--on", "/nowhere", "--rebuild"]), 2);
    assert!(told.contains("--rebuild"), "{told}");
    assert!(!std::path::Path::new("/var/lib/stend/stands/x").exists());
}

#[test]
fn a_stand_that_cannot_be_built_again_ends_its_run_and_not_the_others() {
    if !root("a_stand_that_cannot_be_built_again_ends_its_run_and_not_the_others") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let whole = Stand::new(&scratch, "whole", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    let fragile =
        Stand::new(&scratch, "fragile", &on_files(&scratch, 1, "- fs: {type: xfs}").replace("128MiB", "400MiB"));
    // A program that works once.
    let (tools, made) = (scratch.directory("tools"), scratch.join("made").display().to_string());
    let real = tool(&["sh", "-c", "command -v mkfs.xfs"]);
    let script = format!("#!/bin/sh\n[ -e {made} ] && exit 1\ntouch {made}\nexec {} \"$@\"\n", real.trim());
    let path = scratch.file("tools/mkfs.xfs", &script);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let words = ["run", &suite, "--stand", &whole.file, "--stand", &fragile.file, "--rebuild"];
    let mut command = stend(&scratch, &words);
    let usual = std::env::var("PATH").expect("a path");
    let (_, told) = expect_exit(command.env("PATH", format!("{tools}:{usual}")), 4);
    assert!(told.contains("mkfs.xfs"), "{told}");
    let found = runs(&scratch);
    let of = |name: &str| {
        let run = found.iter().find(|run| run.header.stand.as_ref().is_some_and(|stand| stand.name == name));
        let run = run.expect("a run");
        (run.state == RunState::Complete, run.trials.iter().map(|trial| trial.block).collect::<Vec<_>>())
    };
    assert_eq!((of(&whole.name), of(&fragile.name)), ((true, vec![0, 0, 1, 1]), (false, vec![0, 0])));
    whole.is_gone();
    fragile.is_gone();
}

#[test]
fn targets_are_measured_in_turn_where_no_text_has_the_path_of_the_runs() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let [one, two] = ["t1", "t2"].map(|name| scratch.directory(name));
    let data = scratch.path().join(std::ffi::OsStr::from_bytes(b"data\xff"));
    std::fs::create_dir(&data).expect("a directory");
    let words = ["run", &suite, "--on", &one, "--against", &two, "--progress", "none"];
    expect_exit(stend(&scratch, &words).env("XDG_DATA_HOME", &data), 0);
}
