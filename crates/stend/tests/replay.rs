//! Traces from the file to the result, with the real binary on a real disk.

use crate::support::*;

/// Queued and completed I/Os of 4 KiB every 2 ms, each 1 ms in flight, from 100 ms on; every fifth is a write with FUA.
fn blkparse() -> String {
    let one = |n: u64| {
        let (kind, at) = (if n.is_multiple_of(5) { "WFS" } else { "R" }, 100_000 + n * 2_000);
        let event = |us: u64, action: &str, end: &str| {
            format!("  8,0 1 {n} {}.{:06} 77 {action} {kind} {} + 8 {end}\n", us / 1_000_000, us % 1_000_000, n * 64)
        };
        event(at, "Q", "[db]") + &event(at + 1_000, "C", "[0]")
    };
    (0..200).map(one).collect::<String>() + "CPU1 (8,0):\n Reads Queued: 160\n"
}

fn operations(case: &serde_json::Value) -> Vec<(String, u64)> {
    let all = case["operations"].as_array().expect("operations").iter();
    let one = |o: &serde_json::Value| {
        (o["operation"].as_str().expect("a name").to_string(), o["count"].as_u64().expect("a count"))
    };
    all.map(one).collect()
}

#[test]
fn traces_of_fio_and_blktrace_are_replayed_with_their_counts_and_their_fidelity() {
    let scratch = Scratch::new();
    scratch.file("sda.txt", &blkparse());
    scratch.file("app.iolog", include_str!("../../../suites/replay/app.iolog"));
    let suite = scratch.file(
        "s.yaml",
        "suite: x\nfill: {size: 64MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: fio\n    streams: [{trace: {file: app.iolog, pace: 4}}]\n  \
         - name: disk\n    streams: [{trace: {file: sda.txt}, jobs: 2}]\n",
    );
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    let shown = show_all(&scratch, &file);
    assert!(shown.contains("Replay of app.iolog: 227 I/Os") && leftovers(&target).is_empty(), "{shown}");
    let findings = show_json(&scratch, &file);
    // What `grep -c` finds in the log that fio wrote.
    let expected = [("read".to_string(), 131), ("write".to_string(), 69), ("sync".to_string(), 27)];
    assert_eq!(operations(&findings["cases"][0]), expected);
    assert_eq!(operations(&findings["cases"][1]), [("read".to_string(), 160), ("write".to_string(), 40)]);
    let replay = |case: usize| &findings["cases"][case]["replays"][0];
    assert_eq!((&replay(0)["ios"], &replay(0)["never_begun"]), (&227.into(), &0.into()));
    assert!(replay(0)["in_flight_mean_original"].is_null() && replay(0)["late_ns_p50"].is_u64());
    // 200 I/Os of 1 ms in 398 ms.
    let original = replay(1)["in_flight_mean_original"].as_f64().expect("a number");
    assert!((original - 200.0 / 398.0).abs() < 1e-6, "{original}");
    let sum = tool(&["sha256sum", &scratch.join("app.iolog").to_string_lossy()]);
    assert!(sum.starts_with(replay(0)["sha256"].as_str().expect("a sum")), "{sum}");
    let checks = findings["cases"][1]["checks"].as_array().expect("checks");
    assert!(checks.iter().any(|check| check["id"] == "H80" && check["status"] != "not_applicable"));
}

#[test]
fn a_trace_that_is_broken_missing_or_too_large_for_the_target_says_so_before_anything_is_made() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let refused = |keys: &str, code: i32, expected: &str| {
        let text = format!("suite: x\ncases:\n  - name: a\n    streams: [{{trace: {{file: t.iolog{keys}}}}}]\n");
        let suite = scratch.file("s.yaml", &text);
        for more in [None, Some("--dry-run")] {
            let file = scratch.join("r.stend").to_string_lossy().into_owned();
            let words = ["run", &suite, "--on", &target, "-o", &file].into_iter().chain(more).collect::<Vec<_>>();
            let (_, stderr) = expect_exit(&mut stend(&scratch, &words), code);
            assert!(stderr.contains(expected), "{stderr}");
            assert!(leftovers(&target).is_empty() && !scratch.join("r.stend").exists());
        }
    };
    refused("", 3, "cannot read the trace");
    scratch.file("t.iolog", "fio version 3 iolog\n5 /a read 0 4096\n6 /a reed 0 4096\n");
    refused("", 3, "t.iolog:3: unknown action `reed`");
    scratch.file("t.iolog", "fio version 3 iolog\n5 /a read 0 4096\n6 /b read 0 4096\n");
    refused("", 3, "name one with `device`");
    scratch.file("t.iolog", &format!("fio version 3 iolog\n5 /a read 0 4096\n6 /a read {} 4096\n", 1u64 << 40));
    refused("", 4, "t.iolog:3: the trace reaches to 1.00 TiB");
    refused(", beyond: refuse, pace: 2", 4, "beyond: wrap");
}

#[test]
fn a_foreign_file_takes_a_trace_that_reads_and_none_that_writes() {
    let scratch = Scratch::new();
    let mut data = vec![0u8; 4 << 20];
    stend_base::random::Random::new(1).fill(&mut data);
    let foreign = scratch.join("foreign.bin");
    std::fs::write(&foreign, &data).expect("a file");
    let run = |log: &str, code: i32| {
        scratch.file("t.iolog", log);
        let suite = scratch.file(
            "s.yaml",
            "suite: x\nrepeats: {blocks: 1}\ncases: [{name: a, streams: [{trace: {file: t.iolog}}]}]\n",
        );
        let file = scratch.join(&format!("{code}.stend")).to_string_lossy().into_owned();
        expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &foreign.to_string_lossy(), "-o", &file]), code)
    };
    run("fio version 3 iolog\n0 /a read 0 4096\n300000 /a read 8192 4096\n", 0);
    let (_, stderr) = run("fio version 3 iolog\n0 /a read 0 4096\n9 /a write 8192 4096\n", 5);
    assert!(stderr.contains("every case of the suite writes"), "{stderr}");
    assert_eq!(std::fs::read(&foreign).expect("the file"), data);
}
