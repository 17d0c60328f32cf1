//! `stend import`: results of other tools become runs that every other verb takes, by the real binary.

use crate::support::{Scratch, expect_exit, one_line, stend};
use std::path::Path;

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../interop/tests/fixtures").join(name).display().to_string()
}

/// Imports fixtures into a run file of the scratch directory.
fn imported(scratch: &Scratch, files: &[&str], to: &str) -> (String, String) {
    let (files, path) = (files.iter().map(|name| fixture(name)).collect::<Vec<_>>(), scratch.join(to));
    let mut arguments: Vec<&str> = vec!["import"];
    arguments.extend(files.iter().map(String::as_str));
    let path = path.display().to_string();
    arguments.extend(["-o", &path, "--lang", "en"]);
    let (shown, _) = expect_exit(&mut stend(scratch, &arguments), 0);
    (path, shown)
}

/// Whether a line has these words one after the other, whatever space is between them.
fn has_row(shown: &str, words: &str) -> bool {
    shown.lines().any(|line| one_line(line).contains(&format!("{words} ")))
}

#[test]
fn results_of_fio_become_a_run_that_show_report_compare_and_export_take() {
    let scratch = Scratch::new();
    let (both, shown) = imported(&scratch, &["fio-3.33-plus-1.json", "fio-3.33-plus-2.json"], "both.stend");
    assert!(shown.contains("rand-read") && shown.contains("Imported from what fio-3.33 printed"), "{shown}");
    let (old, _) = imported(&scratch, &["fio-3.33-group.json"], "old.stend");
    let (again, _) = expect_exit(&mut stend(&scratch, &["show", &both, "-v", "--lang", "ru"]), 0);
    assert!(again.contains("Импортировано из того, что напечатал fio-3.33"), "{again}");
    let page = scratch.join("report.html");
    expect_exit(&mut stend(&scratch, &["report", &both, "-o", page.to_str().unwrap()]), 0);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("rand-read") && html.contains("not measurable") && !html.contains("NaN"));
    let (compared, _) = expect_exit(&mut stend(&scratch, &["compare", &both, &old, "--lang", "en"]), 0);
    assert!(compared.contains("rand-read") && compared.contains("mix"), "{compared}");
    let (exported, _) = expect_exit(&mut stend(&scratch, &["export", &both, "--format", "json"]), 0);
    assert!(exported.contains("clat_ns.percentile.99.000000") && exported.contains("iodepth=8"));
    let (rows, _) = expect_exit(&mut stend(&scratch, &["export", &old, "--format", "csv-trials"]), 0);
    assert!(rows.lines().count() >= 4 && !rows.contains("NaN"), "{rows}");
}

#[test]
fn percentiles_that_cannot_be_merged_are_told_and_have_no_ratio() {
    let scratch = Scratch::new();
    let (one, shown) = imported(&scratch, &["fio-2.21.json"], "one.stend");
    assert!(shown.contains("as printed") && shown.contains("40.2"), "p99 of 40.192 ms: {shown}");
    let (json, _) = expect_exit(&mut stend(&scratch, &["show", &one, "--json"]), 0);
    assert!(json.contains("\"state\": \"printed\"") || json.contains("\"state\":\"printed\""), "{json}");
    let (_, several) = imported(&scratch, &["fio-3.33-status.json"], "snapshots.stend");
    assert!(several.contains("--status-interval"), "{several}");
}

#[test]
fn what_is_no_result_is_refused_in_the_users_language_and_makes_no_file() {
    let scratch = Scratch::new();
    let (bad, to) = (scratch.file("x.json", "{\"jobs\": [\n{]}"), scratch.join("x.stend"));
    let arguments = ["import", &bad, "-o", to.to_str().unwrap(), "--lang", "ru"];
    let (_, error) = expect_exit(&mut stend(&scratch, &arguments), 3);
    assert!(error.contains("x.json:2") && error.contains("docs/formats/import.md"), "{error}");
    assert!(!to.exists());
    expect_exit(&mut stend(&scratch, &["import", "/nowhere/x.json"]), 2);
    std::fs::write(&to, "mine").unwrap();
    let good = fixture("fio-2.21.json");
    expect_exit(&mut stend(&scratch, &["import", &good, "-o", to.to_str().unwrap()]), 12);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "mine");
}

#[test]
fn logs_of_fio_become_a_run_with_intervals() {
    let scratch = Scratch::new();
    let logs = ["fio-3.33-logged_lat.1.log", "fio-3.33-logged_clat_hist.1.log"];
    let (run, shown) = imported(&scratch, &logs, "logs.stend");
    let words = one_line(&shown);
    assert!(words.contains("fio-3.33-logged") && words.contains("another log of the job has more detail"), "{shown}");
    assert!(words.contains("? in flight") && !words.contains("Sequential"), "what is not known is not told: {shown}");
    let page = scratch.join("report.html");
    expect_exit(&mut stend(&scratch, &["report", &run, "-o", page.to_str().unwrap()]), 0);
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"), "charts of intervals");
    let (both, to) = (fixture("fio-2.21.json"), scratch.join("both.stend"));
    let log = fixture(logs[0]);
    expect_exit(&mut stend(&scratch, &["import", &log, &both, "-o", to.to_str().unwrap()]), 2);
    assert!(!to.exists());
}

#[test]
fn a_log_that_is_wrong_in_the_middle_leaves_no_file() {
    let scratch = Scratch::new();
    let (log, to) = (scratch.file("r_lat.1.log", "1, 5, 0, 4096\n2, oops, 0, 4096\n"), scratch.join("x.stend"));
    let (_, error) =
        expect_exit(&mut stend(&scratch, &["import", &log, "-o", to.to_str().unwrap(), "--lang", "ru"]), 3);
    assert!(error.contains("r_lat.1.log:2"), "{error}");
    let left: Vec<_> = std::fs::read_dir(scratch.join("")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("x.stend")), "{left:?}");
}

#[test]
fn results_of_other_tools_become_runs_by_what_is_in_the_files() {
    let scratch = Scratch::new();
    for (file, tool, case, number) in [
        ("../corpus/elbencho/3.1-10.csv", "elbencho 3.1-10", "before READ", "IOPS [last]"),
        ("../corpus/vdbench/5.04.06-flatfile.html", "vdbench", "run1, threads 8", "bytes/io"),
        ("../corpus/diskspd/2.2-mix.xml", "diskspd 2.2", "random 30% write", "TestTimeSeconds"),
        ("../corpus/iometer/1.1.0.csv", "Iometer 1.1.0", "sequential write", "MBps (Decimal)"),
    ] {
        let (run, shown) = imported(&scratch, &[file], &format!("{}.stend", tool.replace(' ', "-")));
        assert!(
            has_row(&shown, &case.replace(", threads", ""))
                && shown.contains(&format!("Imported from what {tool} printed")),
            "{shown}"
        );
        let page = scratch.join(&format!("{case}.html"));
        expect_exit(&mut stend(&scratch, &["report", &run, "-o", page.to_str().unwrap()]), 0);
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.contains(number) && !html.contains("NaN"), "{tool}");
        let (compared, _) = expect_exit(&mut stend(&scratch, &["compare", &run, &run, "--lang", "ru"]), 0);
        assert!(compared.contains(case), "{compared}");
    }
}

#[test]
fn a_folder_of_bench_fio_is_one_run_whose_cases_follow_from_the_options() {
    let scratch = Scratch::new();
    let one = std::fs::read_to_string(fixture("fio-2.21.json")).unwrap();
    let deep = one.replace("\"iodepth\" : \"16\"", "\"iodepth\" : \"64\"").replace("1500000010", "1500000030");
    // The names of folders and files lie: nothing may follow from them.
    std::fs::create_dir_all(scratch.join("sdx/randread/4k")).unwrap();
    for (name, text) in
        [("randread-1-1.json", one), ("randread-2-1.json", deep), ("randread-1-1_bw.1.log", String::new())]
    {
        std::fs::write(scratch.join("sdx/randread/4k").join(name), text).unwrap();
    }
    let (folder, to) = (scratch.join("sdx").display().to_string(), scratch.join("run.stend").display().to_string());
    let (shown, _) = expect_exit(&mut stend(&scratch, &["import", &folder, "-o", &to, "--lang", "en"]), 0);
    assert!(has_row(&shown, "randwrite 16") && has_row(&shown, "randwrite 64"), "{shown}");
    let words = one_line(&shown);
    assert!(words.contains("1 files that are no `.json` were not read"), "{shown}");
}

#[test]
fn an_unknown_file_is_described_and_the_known_forms_are_named() {
    let scratch = Scratch::new();
    let page = scratch.file("x.html", "<html>hello</html>");
    let (_, error) = expect_exit(&mut stend(&scratch, &["import", &page, "--lang", "en"]), 3);
    assert!(error.contains("begins with `<html>hello</html>`") && error.contains("elbencho CSV"), "{error}");
}

#[test]
fn jobs_of_an_imported_run_are_those_that_fio_repeated_or_there_are_none() {
    let scratch = Scratch::new();
    let hostile = std::fs::read_to_string(fixture("fio-3.33-group.json")).unwrap();
    let hostile = hostile.replace("\"job options\" : {", "\"job options\" : {\n\"exec_prerun\" : \"touch /tmp/x\",\n");
    let results = scratch.file("g.json", &hostile);
    let (run, jobs) = (scratch.join("g.stend").display().to_string(), scratch.join("g.fio").display().to_string());
    expect_exit(&mut stend(&scratch, &["import", &results, "-o", &run]), 0);
    expect_exit(&mut stend(&scratch, &["export", &run, "--format", "fio-job", "-o", &jobs]), 0);
    let text = std::fs::read_to_string(&jobs).unwrap();
    assert!(text.contains("\nrw=") && text.contains("\n[") && !text.contains("exec_prerun"), "{text}");
    let sections = text.lines().filter(|line| line.starts_with('[')).count();
    assert!(sections > 0 && !text.contains("${TARGET}"), "{text}");
    let (suite, _) = expect_exit(&mut stend(&scratch, &["import", "--suite", "--lenient", &jobs]), 0);
    assert_eq!(suite.matches("  - {op:").count(), sections, "{text}{suite}");
    let (other, _) = imported(&scratch, &["../corpus/elbencho/3.1-10.csv"], "e.stend");
    let (_, error) = expect_exit(&mut stend(&scratch, &["export", &other, "--format", "fio-job", "--lang", "ru"]), 3);
    assert!(error.contains("импортирован из elbencho"), "{error}");
}

#[test]
fn reads_and_writes_of_two_sizes_have_each_their_own_in_the_table() {
    let scratch = Scratch::new();
    let side = |bytes: u64| {
        format!(
            "{{\"io_bytes\": {bytes}, \"io_kbytes\": 1, \"total_ios\": 120000, \"runtime\": 10000, \"iops\": 12000}}"
        )
    };
    let results = format!(
        "{{\"fio version\": \"fio-3.36\", \"jobs\": [{{\"jobname\": \"two\", \"job options\": {{\"rw\": \"randrw\", \"bs\": \"4k,64k\"}}, \
         \"read\": {}, \"write\": {}}}]}}",
        side(120_000 * 4096),
        side(120_000 * 65_536)
    );
    let (file, run) = (scratch.file("two.json", &results), scratch.join("two.stend").display().to_string());
    let (shown, _) = expect_exit(&mut stend(&scratch, &["import", &file, "-o", &run, "--lang", "en"]), 0);
    let words = one_line(&shown);
    assert!(words.contains("50 % 4 KiB and 50 % 64 KiB"), "{shown}");
    let (csv, _) = expect_exit(&mut stend(&scratch, &["export", &run, "--format", "csv"]), 0);
    let sizes = |test: &str| {
        csv.lines().filter(|line| line.contains(test)).map(|line| line.contains(",randrw,4KiB,")).collect::<Vec<_>>()
    };
    assert!(sizes("\"two, read\"").iter().all(|is| *is) && sizes("\"two, write\"").iter().all(|is| !is), "{csv}");
    assert!(csv.contains("\"two, write\",randrw,64KiB,"), "{csv}");
}
