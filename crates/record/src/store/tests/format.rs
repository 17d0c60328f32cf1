//! The stored form of version 1 is fixed: old files open, and new ones look the same.

use super::*;
use crate::store::{FORMAT_VERSION, schema};
use rusqlite::Connection;

const FORMAT_1: &str = include_str!("../../../tests/fixtures/format-1.sql");

const ADVICE: &str = "the stored form changed: raise FORMAT_VERSION and keep a reader for the old one \
    (before the first release only: replace the fixture by a dump of the new file)";

/// A file made of the fixture, as an earlier build left it.
fn old_file(place: &Place) -> Connection {
    let db = Connection::open(place.file()).unwrap();
    db.execute_batch(FORMAT_1).unwrap();
    db.pragma_update(None, "application_id", schema::APPLICATION_ID).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    db
}

/// Every value of every table as SQL text.
fn contents(db: &Connection) -> Vec<String> {
    let mut contents = Vec::new();
    for table in ["meta", "decision", "trial", "slice", "sample", "event"] {
        let all = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> = all.column_names().map(|name| format!("quote({name})")).collect();
        let sql = format!("SELECT {} FROM {table} ORDER BY 1", columns.join(" || ',' || "));
        let mut statement = db.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        contents.extend(rows.map(|row| format!("{table}: {}", row.unwrap())));
    }
    contents
}

#[test]
fn a_file_of_version_1_written_by_an_earlier_build_still_opens() {
    let place = Place::new();
    drop(old_file(&place));
    let record = crate::store::read(&place.file()).unwrap();
    assert_eq!(record, ended(samples::record_of(samples::one_of_each())), "{ADVICE}");
}

#[test]
fn the_stored_form_has_not_changed_without_a_new_version() {
    assert_eq!(FORMAT_VERSION, 1);
    let (old, new) = (Place::new(), Place::new());
    let writer = new.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    writer.close(RunState::Complete).unwrap();
    assert_eq!(contents(&Connection::open(new.file()).unwrap()), contents(&old_file(&old)), "{ADVICE}");
}
