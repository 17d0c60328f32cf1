//! `stend audit`: published tables, by the real binary.

mod support;

use expect_test::expect_file;
use std::path::Path;
use support::{Scratch, expect_exit, stend};

/// The tables that are shipped.
const TABLES: [&str; 5] = ["elbrus-kernel54", "numa-upi", "nvme-soft-raid", "ssd-vs-sas", "vz-storage"];

fn published(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published").join(format!("{name}.csv")).display().to_string()
}

#[test]
fn the_shipped_tables_have_the_doubts_that_are_known() {
    let (scratch, mut all) = (Scratch::new(), String::new());
    for name in TABLES {
        // Lines break by the length of the name, so it is one that is the same everywhere.
        let path = format!("published/{name}.csv");
        let mut command = stend(&scratch, &["audit", &path, "--lang", "en"]);
        let (text, _) = expect_exit(command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")), 0);
        all += &(text + "\n");
    }
    expect_file!["golden/audit.txt"].assert_eq(&all);
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
