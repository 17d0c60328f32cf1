//! The stored form of version 4 is fixed: old files open, and new ones look the same.

use super::*;
use crate::store::{FORMAT_VERSION, schema};
use rusqlite::Connection;

const FORMAT_4: &str = include_str!("../../../tests/fixtures/format-4.sql");

const ADVICE: &str = "the stored form changed: raise FORMAT_VERSION and keep a reader for the old one \
    (before the first release only: UPDATE_EXPECT=1 writes the fixture anew)";
const TABLES: [&str; 12] =
    ["meta", "cell", "host", "fill", "zeros", "decision", "trial", "outcome", "slice", "io_log", "sample", "event"];

/// A file made of the fixture, as an earlier build left it.
fn old_file(place: &Place) -> Connection {
    let db = Connection::open(place.file()).unwrap();
    db.execute_batch(FORMAT_4).unwrap();
    db.pragma_update(None, "application_id", schema::APPLICATION_ID).unwrap();
    db.pragma_update(None, "user_version", 4).unwrap();
    db
}

/// Every value of every table as SQL text.
fn contents(db: &Connection) -> Vec<String> {
    let mut contents = Vec::new();
    for table in TABLES {
        contents.extend(contents_of(db, table).into_iter().map(|row| format!("{table}: {row}")));
    }
    contents
}

fn contents_of(db: &Connection, table: &str) -> Vec<String> {
    let all = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns: Vec<String> = all.column_names().map(|name| format!("quote({name})")).collect();
    let sql = format!("SELECT {} FROM {table} ORDER BY 1", columns.join(" || ',' || "));
    let mut statement = db.prepare(&sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What `sqlite3 FILE .dump` prints of a file without its frame.
fn dump(db: &Connection) -> String {
    let mut dump = String::from(
        "-- A run file of format version 4 as `sqlite3 FILE .dump` prints it; written by the test that reads it.\n",
    );
    for table in TABLES {
        let schema = "SELECT sql FROM sqlite_master WHERE name = ?1";
        let made: String = db.query_row(schema, [table], |row| row.get(0)).unwrap();
        dump += &format!("{made};\n");
        let rows = contents_of(db, table);
        rows.iter().for_each(|row| dump += &format!("INSERT INTO {table} VALUES({row});\n"));
    }
    dump
}

#[test]
fn a_file_of_version_4_written_by_an_earlier_build_still_opens() {
    let place = Place::new();
    drop(old_file(&place));
    let record = crate::store::read(&place.file()).unwrap();
    // Not `assert_eq`: both sides are longer than anybody reads.
    assert!(record == ended(samples::record_of(samples::one_of_each())), "{ADVICE}");
}

#[test]
fn a_file_of_another_version_is_found_by_its_label_and_says_which_version_it_has() {
    let place = Place::new();
    old_file(&place).pragma_update(None, "user_version", 3).unwrap();
    let found = crate::store::locate("до", place.runs.path()).unwrap();
    assert_eq!(found.path, place.file());
    let error = crate::store::read(&found.path).unwrap_err();
    assert!(error.message.en.contains("it has format version 3"), "{error}");
    let other = crate::store::locate("после", place.runs.path()).unwrap_err();
    assert!(other.message.en.contains("no run has the label or id"), "{other}");
}

#[test]
fn the_stored_form_has_not_changed_without_a_new_version() {
    assert_eq!(FORMAT_VERSION, 4);
    let (old, new) = (Place::new(), Place::new());
    let writer = new.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    writer.close(RunState::Complete).unwrap();
    let written = Connection::open(new.file()).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-4.sql");
        std::fs::write(fixture, dump(&written)).unwrap();
    }
    assert!(contents(&written) == contents(&old_file(&old)), "{ADVICE}");
}
