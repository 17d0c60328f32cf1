//! Values over many runs, with the real binary on runs whose contents are known.

use crate::serve::client::Server;
use crate::support::fixed_run::FixedRun;
use crate::support::*;

/// Ten runs a day apart; from the seventh on the kernel is another one and everything a fifth slower. In no order.
fn ten_runs(scratch: &Scratch) -> Vec<String> {
    let mut files: Vec<String> = (0..10u32)
        .map(|day| {
            let path = scratch.join(&format!("{day}.stend"));
            let level = if day < 6 { 10_000.0 } else { 8_000.0 };
            let id = format!("R-202601{:02}T000000Z-abcd", day + 1);
            FixedRun {
                id: &id,
                started_unix: 1_767_225_600 + 86_400 * i64::from(day),
                seed: 7,
                kernel: if day < 6 { "6.1.0" } else { "6.12.1" },
                iops: level * (1.0 + 0.002 * f64::from(day % 3)),
            }
            .write(&path);
            path.to_string_lossy().into_owned()
        })
        .collect();
    files.reverse();
    files
}

#[test]
fn a_change_over_many_runs_is_told_with_what_else_changed() {
    let scratch = Scratch::new();
    let runs = ten_runs(&scratch);
    let mut words = vec!["compare", "--history"];
    words.extend(runs.iter().map(String::as_str));
    let (text, _) = expect_exit(stend(&scratch, &words).args(["--lang", "en"]), 0);
    let flat = one_line(&text);
    assert!(flat.contains("between R-20260106T000000Z-abcd and R-20260107T000000Z-abcd"), "{text}");
    assert!(flat.contains("(−20.0 %)") && flat.contains("6.1.0 → 6.12.1"), "{text}");
    let page = scratch.join("history.html");
    expect_exit(stend(&scratch, &words).args(["--lang", "en", "-o", &page.to_string_lossy()]), 0);
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains("<svg") && page.contains("IOPS −20.0\u{a0}%"), "{page}");
    let (json, _) = expect_exit(stend(&scratch, &words).arg("--json"), 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["schema"], json["runs"].as_array().map(Vec::len)), (&"stend-history".into(), Some(10)));
    assert_eq!(json["conditions_changed"][0]["run"], 6, "{json}");
    let changed = |series: &serde_json::Value| series["changes"].as_array().is_some_and(|c| c.len() == 1);
    assert!(json["series"].as_array().is_some_and(|all| all.len() >= 2 && all.iter().all(changed)), "{json}");
}

#[test]
fn too_few_runs_and_the_same_run_twice_are_refused() {
    let scratch = Scratch::new();
    let runs = ten_runs(&scratch);
    let refused = |names: &[&String]| {
        let words: Vec<&str> = ["compare", "--history"].into_iter().chain(names.iter().map(|n| n.as_str())).collect();
        expect_exit(stend(&scratch, &words).args(["--lang", "en"]), 2).1
    };
    assert!(refused(&[&runs[0], &runs[1]]).contains("takes 4 to 1000 runs, 2 given"));
    assert!(refused(&[&runs[0], &runs[1], &runs[2], &runs[0]]).contains("is named twice"));
}

#[test]
fn the_history_of_the_server_is_that_of_the_command_line() {
    let scratch = Scratch::new();
    let runs = std::path::PathBuf::from(scratch.directory("stend/runs"));
    let files: Vec<String> = ten_runs(&scratch)
        .iter()
        .enumerate()
        .map(|(place, file)| {
            let kept = runs.join(format!("{place}.stend"));
            std::fs::rename(file, &kept).expect("a run");
            kept.to_string_lossy().into_owned()
        })
        .collect();
    let server = Server::start(&scratch, &[]);
    let words: Vec<&str> =
        ["compare", "--history", "--json"].into_iter().chain(files.iter().map(|f| f.as_str())).collect();
    let (printed, _) = expect_exit(&mut stend(&scratch, &words), 0);
    let answered = server.get("/api/v1/history?suite=small&target=srv");
    assert_eq!((answered.status, answered.text()), (200, printed));
    let tag = format!("If-None-Match: {}", answered.header("etag").expect("a tag"));
    assert_eq!(server.with_token("GET /api/v1/history?suite=small&target=srv", &[&tag]).status, 304);
    for few in ["suite=small&limit=3", "label=none-has-it"] {
        let refused = server.get(&format!("/api/v1/history?{few}"));
        assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some("usage")), "{few}");
    }
}
