//! Reports in a browser: nothing is wider than the screen of a phone, no labels of a picture touch, nothing is missed or refused.

use crate::support::fixed_run::two_runs;
use crate::support::*;
use std::process::{Command, Stdio};

/// What looks at pages, by the page that loads them in frames.
const LOOK: &str = include_str!("pages/faults.js");

/// A suite with a sweep, a mix and syncs, of which every kind of chart is drawn; about eight seconds.
const SUITE: &str = "suite: pages
defaults: {ramp: 100ms, trial: 400ms}
fill: {size: 64MiB}
repeats: {blocks: 2}
cases:
  - name: sequential-read-with-a-name-that-no-phone-has-room-for
    streams: [{op: read, pattern: sequential, block_size: 256KiB, queue_depth: 4}]
  - name: rand-read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 4, 16]}]
  - name: mix
    streams: [{op: {read: 70, write: 30}, pattern: random, block_size: 4KiB, queue_depth: 8}]
  - name: durable
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 1, sync: {fdatasync: 1}}]
";

/// Whether Chromium is here; a named skip where it is not, a failure under CI.
fn browser(test: &str) -> bool {
    let there = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(there || std::env::var("CI").as_deref() != Ok("true"), "{test} needs Chromium");
    if !there {
        eprintln!("skipped, needs Chromium: {test}");
    }
    there
}

/// What is wrong with pages of a scratch directory, and what the browser complained about.
fn faults(scratch: &Scratch, pages: &[&str]) -> (String, Vec<String>) {
    let list = pages.iter().map(|page| format!("\"{page}\"")).collect::<Vec<_>>().join(",");
    let look = format!("<!doctype html><meta charset=\"utf-8\"><body><script>window.pages=[{list}];\n{LOOK}</script>");
    let file = format!("file://{}", scratch.file("look.html", &look));
    let profile = format!("--user-data-dir={}", scratch.directory("profile"));
    let told = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files"])
        .args(["--window-size=1400,1000", "--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom"])
        .args([&profile, &file])
        .output()
        .expect("Chromium runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (page, log) = (text(&told.stdout), text(&told.stderr));
    let complaints = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_string).collect();
    let body = page.split_once("<body>").and_then(|(_, rest)| rest.split_once("</body>"));
    (body.unwrap_or_else(|| panic!("{page}\n{log}")).0.trim().to_string(), complaints)
}

#[test]
fn a_report_and_a_comparison_fit_a_phone_and_a_desk_in_both_languages() {
    if !browser("a_report_and_a_comparison_fit_a_phone_and_a_desk_in_both_languages") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, on) = (scratch.file("suite.yaml", SUITE), scratch.directory("target"));
    let run = scratch.join("run.stend").to_string_lossy().into_owned();
    // Whether the limit is met, two short blocks on a busy machine need not tell.
    let (code, _, stderr) =
        texts(&output(&mut stend(&scratch, &["run", &suite, "--on", &on, "-o", &run, "--expect", "iops >= 1"])));
    assert!([0, 11].contains(&code), "{stderr}");
    two_runs(&scratch);
    let compared = scratch.join("compared.html").to_string_lossy().into_owned();
    let words = ["compare", "R-20261121T213000Z-aaaa", "R-20261122T213000Z-bbbb", "-o", &compared];
    expect_exit(&mut stend(&scratch, &words), 0);
    let (told, complaints) = faults(&scratch, &["run.html", "compared.html"]);
    assert_eq!(told, "looked at 2 pages");
    assert_eq!(complaints, [""; 0]);
}

#[test]
fn what_is_too_wide_touches_or_is_refused_is_found() {
    if !browser("what_is_too_wide_touches_or_is_refused_is_found") {
        return;
    }
    let scratch = Scratch::new();
    let bad = "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
        <body><input id=\"lang-en\" type=\"radio\"><input id=\"lang-ru\" type=\"radio\"><p style=\"width:3000px\">wide</p><img src=\"x.png\">
        <svg class=\"plot\" width=\"200\" height=\"50\"><text x=\"9\" y=\"20\">one label</text><text x=\"20\" y=\"22\">another</text></svg>
        <a class=\"tell\" style=\"display:block;width:60px;overflow-wrap:anywhere\"><b>100\u{a0}272\u{a0}IOPS</b></a>";
    scratch.file("bad.html", bad);
    let (told, complaints) = faults(&scratch, &["bad.html"]);
    for part in
        ["bad.html, 390 px, en: touches by", "bad.html, 1280 px, ru: the page scrolls sideways", "does not fit: b."]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(complaints.iter().any(|line| line.contains("Content Security Policy")), "{complaints:?}");
}
