//! `stend audit`: published tables, by the real binary.

use crate::serve::client::Server;
use crate::support::{Scratch, expect_exit, stend};
use expect_test::expect_file;
use std::path::Path;

/// The tables that are shipped.
const TABLES: [&str; 5] = ["elbrus-kernel54", "numa-upi", "nvme-soft-raid", "ssd-vs-sas", "vz-storage"];

fn published(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published").join(format!("{name}.csv")).display().to_string()
}

#[test]
fn the_shipped_tables_have_the_doubts_that_are_known_in_both_languages() {
    let scratch = Scratch::new();
    let all = |lang: &str| {
        let mut all = String::new();
        for name in TABLES {
            // Lines break by the length of the name, so it is one that is the same everywhere.
            let path = format!("published/{name}.csv");
            let mut command = stend(&scratch, &["audit", &path, "--lang", lang]);
            let (text, _) = expect_exit(command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")), 0);
            all += &(text + "\n");
        }
        all
    };
    expect_file!["golden/audit.txt"].assert_eq(&all("en"));
    expect_file!["golden/audit.ru.txt"].assert_eq(&all("ru"));
}

#[test]
fn two_ports_of_3_gbit_are_held_against_1500_mb_and_a_link_that_is_misspelt_is_told() {
    let scratch = Scratch::new();
    let rows = "test,metric,unit,value\n,config_link,text,2 x SATA 3G\n,config_link_host,text,PCIe x8\nseq-read,throughput,GB/s,1.5\n";
    let table = scratch.file("t.csv", rows);
    let (text, _) = expect_exit(&mut stend(&scratch, &["audit", &table, "--json"]), 0);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let finding = &found["findings"][0];
    assert_eq!((&finding["check"], &finding["row"], &finding["against"]), (&"H85".into(), &4.into(), &[2].into()));
    let unread = &found["unread"][0];
    assert_eq!((&unread["row"], &unread["column"]), (&3.into(), &"value".into()));
    assert!(unread["why"]["en"].as_str().unwrap().contains("`PCIe x8` names no known link"), "{unread}");
}

#[test]
fn a_page_is_written_and_never_over_something_else() {
    let scratch = Scratch::new();
    let (table, page, run) = (published("nvme-soft-raid"), scratch.join("audit.html"), scratch.join("run.stend"));
    let to = |file: &Path| stend(&scratch, &["audit", &table, "-o", file.to_str().unwrap()]);
    expect_exit(&mut to(&page), 0);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("11538.44 MB/s") && html.matches("mark fail").count() > 10);
    std::fs::write(&run, b"SQLite format 3\0").unwrap();
    expect_exit(&mut to(&run), 5);
}

#[test]
fn what_is_no_table_is_refused_with_its_reason_in_the_users_language() {
    let scratch = Scratch::new();
    let table = scratch.file("t.csv", "a,b\n1,2\n");
    let (_, error) = expect_exit(&mut stend(&scratch, &["audit", &table, "--lang", "ru"]), 3);
    assert!(error.contains("таблица") && error.contains("docs/formats/published.md"), "{error}");
    let (_, error) = expect_exit(&mut stend(&scratch, &["audit", "/nowhere/t.csv", "--json"]), 2);
    assert!(error.contains("/nowhere/t.csv"), "{error}");
}

const SUITE: &str = "suite: six
cases:
  - name: rand-read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 32, jobs: 4}]
  - name: rand-write
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 32, jobs: 4}]
";

#[test]
fn a_table_is_held_against_the_suite_that_it_is_said_to_come_from() {
    let scratch = Scratch::new();
    let suite = scratch.file("six.yaml", SUITE);
    let table = "layout,test,jobs,metric,unit,value\nmd,rand-read,4,iops,IOPS,1000\nmd,rand-read,4,latency,ms,500\nlvm,Rand Write,16,iops,IOPS,900\n";
    let table = scratch.file("t.csv", table);
    let (text, _) = expect_exit(&mut stend(&scratch, &["audit", &table, "--suite", &suite, "--json"]), 0);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of = |check: &str| {
        let all = found["findings"].as_array().unwrap().iter().filter(|f| f["check"] == check);
        all.map(|f| (f["row"].as_u64().unwrap(), f["what"].as_str().unwrap().to_string())).collect::<Vec<_>>()
    };
    // Depth and block size are those of the suite: 1000 per second for 500 ms are 500 in flight of 128.
    assert_eq!(of("H02"), [(3, "md, rand-read, latency".to_string())]);
    assert_eq!(of("H04"), [(4, "lvm, Rand Write, iops".to_string())]);
    assert_eq!(of("H73"), [(2, "md, rand-write".to_string()), (4, "lvm, rand-read".to_string())]);
    let (plain, _) = expect_exit(&mut stend(&scratch, &["audit", &table, "--json"]), 0);
    assert!(!plain.contains("H73"), "{plain}");
}

#[test]
fn a_run_stands_beside_the_published_numbers_of_its_load() {
    let scratch = Scratch::new();
    let suite = SUITE.replace(
        "suite: six\n",
        "suite: six\ndefaults: {ramp: 50ms, trial: 200ms}\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\n",
    );
    let (suite, run) = (scratch.file("six.yaml", &suite), scratch.join("r.stend").display().to_string());
    let on = scratch.directory("d");
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &on, "-o", &run, "--progress", "none"]), 0);
    let table = published("nvme-soft-raid");
    let words = ["compare", &run, "--published", &table, "--layout", "mdadm-local-raid0"];
    let (text, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--json"]].concat()), 0);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let numbers = found["cases"][0]["numbers"].as_array().unwrap();
    assert_eq!(numbers.len(), 2, "throughput and IOPS of the depth that is nearest: {numbers:?}");
    assert!(numbers.iter().all(|n| n["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0)), "{numbers:?}");
    assert_eq!(numbers[0]["differences"][0]["en"], "queue depth 32, theirs 128");
    assert_eq!(numbers[0]["doubts"][0], "H01");
    let (text, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--lang", "ru"]].concat()), 0);
    assert!(text.contains("нет ни вердикта, ни цвета") && text.contains("Tyan S8030"), "{text}");
    let (_, error) = expect_exit(&mut stend(&scratch, &["compare", &run, &run, "--published", &table]), 2);
    assert!(error.contains("takes one run"), "{error}");
}

#[test]
fn a_published_table_is_judged_as_on_the_command_line_and_a_broken_one_is_an_error() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch, &[]);
    let (printed, _) = expect_exit(&mut stend(&scratch, &["audit", "nvme-soft-raid", "--json"]), 0);
    let mut printed: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let table = std::fs::read_to_string(published("nvme-soft-raid")).expect("a table");
    let send = |body: &str| {
        let token = format!("Authorization: Bearer {}", server.token.as_deref().expect("a token"));
        server.ask("POST /api/v1/audits", &[&token, &format!("Content-Length: {}", body.len())], body)
    };
    let answered = send(&table);
    printed["file"] = "/dev/stdin".into();
    assert_eq!((answered.status, answered.json()), (200, printed));
    for broken in ["", "x\n1\n", "\u{0}"] {
        let refused = send(broken);
        assert!(refused.status == 422 && refused.json()["message"]["ru"].is_string(), "{}", refused.text());
    }
}
