//! Run files that are cut, from the future, or made by somebody who means harm, through every verb that reads one:
//! each ends with exit code 0 and what could be read, or with 12 and a sentence, and stays as it was.

use crate::support::fixed_run::FixedRun;
use crate::support::*;
use rusqlite::Connection;
use rustix::fs::inotify;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// A run that was never finished, so that it could be resumed: nothing of its file is left out by any verb.
fn good(scratch: &Scratch) -> PathBuf {
    let path = scratch.join("good.stend");
    FixedRun { id: "R-20261121T213000Z-good", started_unix: 1_795_296_600, seed: 1, kernel: "6.12", iops: 5000.0 }
        .write(&path);
    path
}

/// What a verb may end with, and what it must not do, on a file whose contents are given.
fn ends_well(scratch: &Scratch, what: &str, bytes: &[u8], codes: &[i32]) {
    // In the directory that `list` shows.
    let directory = scratch.directory("stend/runs");
    let path = Path::new(&directory).join("R-20261122T000000Z-evil.stend");
    std::fs::write(&path, bytes).expect("a file");
    let (file, good) = (path.to_string_lossy().into_owned(), scratch.join("good.stend").to_string_lossy().into_owned());
    let page = scratch.join("page.html").to_string_lossy().into_owned();
    let sheet = scratch.join("book.xlsx").to_string_lossy().into_owned();
    let copy = scratch.join("copy.stend").to_string_lossy().into_owned();
    let verbs: [(&[&str], &[i32]); 15] = [
        (&["show", &file], codes),
        (&["report", &file, "-o", &page], codes),
        (&["compare", &good, &file], codes),
        (&["export", &file, "--format", "json"], codes),
        (&["export", &file, "--format", "csv"], codes),
        (&["export", &file, "--format", "csv-trials"], codes),
        (&["export", &file, "--format", "fio-json"], codes),
        (&["export", &file, "--format", "xlsx", "-o", &sheet], codes),
        (&["export", &file, "--format", "fio-job"], codes),
        (&["export", &file, "--format", "run", "-o", &copy], codes),
        (&["show", "-v", &file], codes),
        // No run that goes on.
        (&["stop", &file], &[4, 12]),
        (&["watch", &file, "--progress", "none"], &[0, 8, 12]),
        // A run that is complete is not resumed either.
        (&["run", "--resume", &file, "--progress", "none"], &[12]),
        (&["list"], &[0]),
    ];
    for (words, codes) in verbs {
        let (code, stdout, stderr) = texts(&output(&mut stend(scratch, words)));
        assert!(codes.contains(&code), "{what}: {words:?} ended with {code}\n{stdout}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{what}: {words:?}\n{stderr}");
        assert_eq!(stderr.contains("error:"), code != 0, "{what}: {words:?}\n{stderr}");
        assert!(std::fs::read(&path).expect("the file") == bytes, "{what}: {words:?} changed the file");
    }
    let beside: Vec<_> = std::fs::read_dir(&directory).expect("a directory").flatten().map(|e| e.file_name()).collect();
    assert_eq!(beside.len(), 1, "{what}: {beside:?}");
    std::fs::remove_file(&path).expect("removed");
    // There only if the file could be read.
    drop(std::fs::remove_file(&copy));
}

#[test]
fn a_good_file_is_read_by_every_verb() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(good(&scratch)).expect("a file");
    ends_well(&scratch, "good", &bytes, &[0]);
}

#[test]
fn a_file_that_is_cut_anywhere_ends_with_a_sentence_or_with_what_is_left() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(good(&scratch)).expect("a file");
    let whole = bytes.len();
    for len in [0, 1, 15, 16, 99, 100, 511, 4095, 4096, 4097, 8192, whole / 3, whole / 2, whole - 4096, whole - 1] {
        let codes: &[i32] = if len < 4096 { &[12] } else { &[0, 12] };
        ends_well(&scratch, &format!("cut at {len} of {whole}"), &bytes[..len], codes);
    }
}

#[test]
fn a_file_from_the_future_is_refused_with_both_versions() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(good(&scratch)).expect("a file");
    // SQLite keeps `user_version`, big-endian, at byte 60.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    ends_well(&scratch, "version 99", &bytes, &[12]);
    let path = scratch.join("future.stend");
    std::fs::write(&path, &bytes).expect("a file");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["show", &path.to_string_lossy()]), 12);
    assert!(stderr.contains("99") && stderr.contains("version 4"), "{stderr}");
    bytes[60..64].copy_from_slice(&u32::MAX.to_be_bytes());
    ends_well(&scratch, "version -1", &bytes, &[12]);
}

/// The good file after an SQL script.
fn after(scratch: &Scratch, sql: &str) -> Vec<u8> {
    let path = scratch.join("changed.stend");
    std::fs::copy(scratch.join("good.stend"), &path).expect("a copy");
    let db = Connection::open(&path).expect("a database");
    db.pragma_update(None, "journal_mode", "delete").expect("no log");
    db.execute_batch(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    db.close().expect("closed");
    std::fs::read(&path).expect("the file")
}

#[test]
fn a_hostile_schema_is_refused() {
    let scratch = Scratch::new();
    good(&scratch);
    let refused = [
        "ALTER TABLE slice RENAME TO hidden; CREATE VIEW slice AS SELECT * FROM hidden",
        "ALTER TABLE meta RENAME TO hidden; CREATE VIEW meta AS WITH RECURSIVE n(key, value) AS (SELECT 1, 1 UNION ALL \
         SELECT key + 1, value FROM n) SELECT key, value FROM n",
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM trial; END",
        "CREATE TABLE more (x)",
        "DROP TABLE sample",
        "DROP TABLE trial; CREATE TABLE trial (trial, asked_for, body)",
        "ALTER TABLE event ADD COLUMN more DEFAULT 1",
    ];
    for sql in refused {
        ends_well(&scratch, sql, &after(&scratch, sql), &[12]);
    }
}

#[test]
fn values_of_a_wrong_type_or_size_cost_only_themselves() {
    let scratch = Scratch::new();
    let log = "UPDATE trial SET asked = json_set(asked, '$.io_log', 1048576); \
               INSERT INTO io_log (host, trial, stream, job, base_ns, records) VALUES (0, 0, 0, 0, 1, zeroblob(64))";
    Connection::open(good(&scratch)).and_then(|db| db.execute_batch(log)).expect("a file with a log");
    let columns = |table: &str| -> Vec<String> {
        let db = Connection::open(scratch.join("good.stend")).expect("a database");
        let mut rows = db.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).expect("columns");
        rows.query_map([], |row| row.get(0)).expect("rows").map(|name| name.expect("a name")).collect()
    };
    for table in ["meta", "decision", "trial", "slice", "io_log", "sample", "event"] {
        for column in columns(table) {
            for value in ["NULL", "'text'", "-1", "9223372036854775807", "1e308", "x'00ff'", "zeroblob(1000000)"] {
                // A schema that forbids the value has answered already.
                let sql = format!("UPDATE OR IGNORE {table} SET {column} = {value}");
                let path = scratch.join("probe.stend");
                std::fs::copy(scratch.join("good.stend"), &path).expect("a copy");
                if Connection::open(&path).and_then(|db| db.execute_batch(&sql)).is_err() {
                    continue;
                }
                let bytes = after(&scratch, &sql);
                let path = scratch.join("changed.stend").to_string_lossy().into_owned();
                let verbs: [(&[&str], &[i32]); 3] = [
                    (&["show", &path], &[0, 12]),
                    (&["export", &path], &[0, 12]),
                    // A trial that cannot be read has no log to speak of.
                    (&["export", &path, "--ios"], &[0, 2, 12]),
                ];
                for (words, codes) in verbs {
                    let (code, _, stderr) = texts(&output(&mut stend(&scratch, words)));
                    assert!(codes.contains(&code) && !stderr.contains("panicked"), "{sql}: {words:?} {code} {stderr}");
                }
                assert!(std::fs::read(&path).expect("the file") == bytes, "{sql}");
            }
        }
    }
}

#[test]
fn what_is_no_run_file_at_all_is_said_so() {
    let scratch = Scratch::new();
    good(&scratch);
    let text = b"-- not a database".to_vec();
    let mut random = stend_base::random::Random::new(7);
    let noise: Vec<u8> = (0..100_000).map(|_| random.below(256) as u8).collect();
    let mut half = b"SQLite format 3\0".to_vec();
    half.extend(&noise);
    let other = scratch.join("other.db");
    Connection::open(&other).and_then(|db| db.execute_batch("CREATE TABLE t (x)")).expect("a database");
    let other = std::fs::read(other).expect("a file");
    for (what, bytes) in [("text", text), ("noise", noise), ("half", half), ("another database", other)] {
        ends_well(&scratch, what, &bytes, &[12]);
    }
}

/// A pipe that nobody writes to, and whether anybody has opened it.
struct Trap {
    path: String,
    watch: rustix::fd::OwnedFd,
}

impl Trap {
    fn new(scratch: &Scratch) -> Trap {
        let path = scratch.join("trap").to_string_lossy().into_owned();
        tool(&["mkfifo", &path]);
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify");
        inotify::add_watch(&watch, &path, inotify::WatchFlags::OPEN).expect("a watch");
        Trap { path, watch }
    }

    fn was_opened(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 512];
        inotify::Reader::new(&self.watch, &mut buffer).next().is_ok()
    }
}

/// Every text in what a run file says of its run: the row, and the place in its JSON as SQLite names it.
fn texts_in(run: &Path) -> Vec<(String, String)> {
    let db = Connection::open(run).expect("a database");
    let sql = "SELECT key, fullkey FROM (SELECT meta.key, tree.fullkey, tree.type FROM meta, json_tree(meta.body) AS tree \
               WHERE json_valid(meta.body)) WHERE type = 'text' ORDER BY 1, 2";
    let mut rows = db.prepare(sql).expect("texts");
    let found = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    found.map(|one| one.expect("a text")).collect()
}

#[test]
fn a_trap_tells_whether_it_was_opened() {
    let scratch = Scratch::new();
    let trap = Trap::new(&scratch);
    assert!(!trap.was_opened());
    drop(std::fs::OpenOptions::new().read(true).write(true).open(&trap.path).expect("a pipe"));
    assert!(trap.was_opened());
}

#[test]
fn whatever_path_a_run_file_names_is_data_to_every_verb() {
    let scratch = Scratch::new();
    let file = good(&scratch);
    let rows = "INSERT OR REPLACE INTO meta (key, body) VALUES ('spool', '/dev/shm/stend-absent.spool')";
    Connection::open(&file).and_then(|db| db.execute_batch(rows)).expect("a run that has a spool");
    let trap = Trap::new(&scratch);
    let (page, good) = (scratch.join("page.html"), file.to_string_lossy().into_owned());
    let page = page.to_string_lossy().into_owned();
    std::fs::write(&page, "").expect("a page");
    let mut places = texts_in(&file);
    assert!(places.len() > 20, "{places:?}");
    places.push(("spool".into(), String::new()));
    let bad = scratch.join("bad.stend");
    let path = bad.to_string_lossy().into_owned();
    let entries = || std::fs::read_dir(scratch.path()).expect("a directory").count();
    for (key, place) in places {
        for value in [trap.path.clone(), format!("../../../../../../../..{}", scratch.join("escape").display())] {
            std::fs::copy(&file, &bad).expect("a copy");
            let db = Connection::open(&bad).expect("a database");
            let done = match place.is_empty() {
                true => db.execute("UPDATE meta SET body = ?1 WHERE key = ?2", (&value, &key)),
                false => {
                    db.execute("UPDATE meta SET body = json_set(body, ?3, ?1) WHERE key = ?2", (&value, &key, &place))
                }
            };
            assert_eq!(done.expect("changed"), 1);
            db.close().expect("closed");
            let before = entries();
            let verbs: [&[&str]; 6] = [
                &["show", &path],
                &["report", &path, "-o", &page, "--force"],
                &["compare", &good, &path],
                &["export", &path, "--format", "fio-json"],
                &["watch", &path, "--progress", "none"],
                &["run", "--resume", &path, "--progress", "none"],
            ];
            for words in verbs {
                let mut running = Running::new(stend(&scratch, words).stdout(Stdio::null()).stderr(Stdio::null()));
                let code = running.wait(Duration::from_secs(60));
                let what = format!("{key}{place} = {value}: {words:?}");
                assert!(code.is_some_and(|code| (0..101).contains(&code)), "{what} ended with {code:?}");
                assert!(!trap.was_opened(), "{what} opened the pipe");
                assert_eq!((entries(), scratch.join("escape").exists()), (before, false), "{what} made something");
            }
        }
    }
}
