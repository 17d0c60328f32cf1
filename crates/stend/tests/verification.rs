//! Data that change behind Stend's back are found, named, and end the run with exit code 7; sound data raise no alarm.

use crate::support::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BLOCK: usize = 4096;
/// Bytes that every sector of a verified block begins with.
const MAGIC: &[u8] = b"StendV01";

/// Three trials of one verified stream over 1 MiB.
fn suite(scratch: &Scratch, stream: &str) -> String {
    let text = format!(
        "suite: verified
defaults: {{ramp: 100ms, trial: 800ms}}
fill: {{size: 1MiB}}
repeats: {{blocks: 3}}
cases:
  - name: verified
    streams: [{{{stream}, pattern: random, block_size: 4KiB, queue_depth: 4, verify: {{after: true}}}}]
"
    );
    scratch.file("verified.yaml", &text)
}

const MIX: &str = "op: {read: 50, write: 50}";

/// The test file that a run has made in a directory.
fn test_file(directory: &str) -> Option<File> {
    let made = leftovers(directory).into_iter().next()?;
    File::options().read(true).write(true).open(Path::new(directory).join(made).join("data")).ok()
}

fn block(file: &File, number: u64) -> Option<Vec<u8>> {
    let mut data = vec![0; BLOCK];
    file.read_exact_at(&mut data, number * BLOCK as u64).ok()?;
    data.starts_with(MAGIC).then_some(data)
}

/// Runs a suite while `spoil` is called again and again on the test file; (exit code, output, errors, check H79).
fn run_spoiled(stream: &str, mut spoil: impl FnMut(&File) + Send) -> (i32, String, String, serde_json::Value) {
    let scratch = Scratch::new();
    let (suite, target, path) = (suite(&scratch, stream), scratch.directory("target"), scratch.join("r.stend"));
    let over = AtomicBool::new(false);
    let (code, stdout, stderr) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = None;
            while !over.load(Ordering::Relaxed) {
                file = file.or_else(|| test_file(&target));
                file.iter().for_each(&mut spoil);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let words = ["run", &suite, "--on", &target, "-o", &path.to_string_lossy()];
        let ended = texts(&output(&mut stend(&scratch, &words)));
        over.store(true, Ordering::Relaxed);
        ended
    });
    assert!(leftovers(&target).is_empty(), "{:?}", leftovers(&target));
    let findings = show_json(&scratch, &path);
    let checks = findings["cases"][0]["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["id"] == "H79").expect("H79").clone();
    let html = std::fs::read_to_string(scratch.join("r.html")).expect("a report");
    let measured = check["measured"]["en"].as_str().expect("a text");
    assert!(html.contains(measured), "the report says it, too: {measured}");
    (code, stdout, stderr, check)
}

/// The words of check H79 after a run that must have failed.
fn found(stream: &str, spoil: impl FnMut(&File) + Send) -> (String, String) {
    let (code, stdout, stderr, check) = run_spoiled(stream, spoil);
    assert_eq!((code, &check["status"]), (7, &"fail".into()), "{check}\n{stdout}\n{stderr}");
    assert!(stderr.contains("data read back differ from data written"), "{stderr}");
    assert!(stdout.contains("Do not rely on these numbers: check H79"), "{stdout}");
    is_told_once(&stdout, &stderr);
    let text = |lang: &str| check["measured"][lang].as_str().expect("a text").to_string();
    (text("en"), text("ru"))
}

#[test]
fn a_sound_target_is_verified_without_alarm() {
    let (code, stdout, stderr, check) = run_spoiled(MIX, |_| {});
    assert_eq!((code, &check["status"]), (0, &"pass".into()), "{check}\n{stdout}\n{stderr}");
}

#[test]
fn a_byte_that_changes_behind_the_load_is_named_corrupt() {
    let mut turn = 0u8;
    let (en, ru) = found(MIX, |file| {
        if block(file, 7).is_some() {
            turn = turn.wrapping_add(1);
            file.write_all_at(&[turn], 7 * BLOCK as u64 + 100).expect("a byte");
        }
    });
    assert!(en.contains("corrupt") && ru.contains("искажено"), "{en}\n{ru}");
}

#[test]
fn a_block_that_lies_at_the_place_of_another_is_named_misdirected() {
    let (en, ru) = found(MIX, |file| {
        if let Some(data) = block(file, 8) {
            file.write_all_at(&data, 9 * BLOCK as u64).expect("a block");
        }
    });
    assert!(en.contains("misdirected") && ru.contains("не на своём месте"), "{en}\n{ru}");
}

#[test]
fn writes_that_are_undone_are_named_lost_when_they_are_read_back() {
    let mut first: Vec<Option<Vec<u8>>> = vec![None; 256];
    // Few writes, each to another block: what is put back stays.
    let (en, ru) = found("op: write, rate: 200/s", |file| {
        for (number, first) in (0..).zip(&mut first) {
            let now = block(file, number);
            match (first.as_ref(), now) {
                (None, now) => *first = now,
                (Some(old), Some(now)) if now != *old => {
                    file.write_all_at(old, number * BLOCK as u64).expect("a block");
                }
                _ => {}
            }
        }
    });
    assert!(en.contains("lost") && ru.contains("потеряно"), "{en}\n{ru}");
}
