//! Files that are damaged, foreign, or made to hurt: an error or what is left, never a panic.

use super::*;
use crate::event::{Event, EventKind};
use crate::store::reader;
use proptest::prelude::*;
use rusqlite::Connection;
use stend_base::{Kind, Lang};

/// A finished run file and its bytes.
fn finished(place: &Place) -> Vec<u8> {
    let writer = place.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    std::fs::read(writer.close(RunState::Complete).unwrap()).unwrap()
}

fn error_of(bytes: &[u8]) -> Box<stend_base::Error> {
    let place = Place::new();
    std::fs::write(place.file(), bytes).unwrap();
    reader::read(&place.file()).unwrap_err()
}

/// Notes about damage after changing the file with `sql`.
fn damage_after(sql: &str) -> Vec<String> {
    let place = Place::new();
    finished(&place);
    Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
    let record = reader::read(&place.file()).unwrap();
    let note = |event: &Event| match &event.kind {
        EventKind::Note { text } if text.contains("damaged") => Some(text.clone()),
        _ => None,
    };
    record.events.iter().filter_map(note).collect()
}

#[test]
fn a_value_of_another_form_is_not_called_damage() {
    let place = Place::new();
    finished(&place);
    let change = |sql: &str| Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
    change("UPDATE meta SET body = json_remove(body, '$.suite_text') WHERE key = 'header'");
    let error = reader::read(&place.file()).unwrap_err();
    assert!(error.message.en.contains("another file format: missing field `suite_text`"), "{}", error.message.en);
    assert!(error.message.ru.contains("с другим форматом файла") && super::super::glance(&place.file()).is_err());
    change("UPDATE meta SET body = '{' WHERE key = 'header'");
    assert!(reader::read(&place.file()).unwrap_err().message.en.contains("is damaged"));
}

#[test]
fn a_file_whose_id_leads_elsewhere_is_of_no_run() {
    let place = Place::new();
    finished(&place);
    for id in ["../../x", "/etc/x", "", "R-1/../../x", ".", "-x"] {
        let sql = format!("UPDATE meta SET body = json_set(body, '$.id', '{id}') WHERE key = 'header'");
        Connection::open(place.file()).unwrap().execute_batch(&sql).unwrap();
        let refused = [
            reader::read(&place.file()).unwrap_err(),
            super::super::glance(&place.file()).map(drop).unwrap_err(),
            super::super::io_logs(&place.file()).map(drop).unwrap_err(),
            place.resume(PLAIN).map(drop).unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.kind, Kind::RunFile, "{id}: {error}");
            assert!(error.message.en.contains("its id is not that of a run"), "{id}: {error}");
        }
        assert_eq!(std::fs::read_dir(place.memory.path()).unwrap().count(), 0, "{id}: something was made");
    }
}

#[test]
fn a_spool_that_is_a_pipe_a_device_a_link_or_a_directory_is_not_opened() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let place = Place::new();
    drop(place.create(PLAIN));
    let before = reader::read(&place.file()).unwrap();
    let pipe = place.runs.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let link = place.runs.path().join("link");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    let (pipe, link) = (pipe.to_string_lossy(), link.to_string_lossy());
    for spool in [&pipe, &link, "/dev/zero", "/proc/kmsg", "/etc", "../../x"] {
        let sql = format!("INSERT OR REPLACE INTO meta (key, body) VALUES ('spool', '\"{spool}\"')");
        Connection::open(place.file()).unwrap().execute_batch(&sql).unwrap();
        let mut found = reader::read(&place.file()).unwrap();
        found.events.clear();
        assert_eq!(found, RunRecord { events: Vec::new(), ..before.clone() }, "{spool}");
        // Going on finds no spool there, and makes one of its own.
        place.resume(PLAIN).unwrap().close(RunState::Open).unwrap();
    }
}

#[test]
fn a_plan_of_which_something_is_missing_is_not_believed() {
    for sql in [
        "DELETE FROM cell WHERE cell = 0",
        "UPDATE cell SET body = '{}' WHERE cell = 1",
        "DELETE FROM cell WHERE cell > 0",
        "UPDATE meta SET body = json_set(body, '$.order[0]', json('[0, 999]')) WHERE key = 'plan'",
        "UPDATE meta SET body = json_set(body, '$.ladders[0].cells', json('[]')) WHERE key = 'plan'",
        "UPDATE meta SET body = json_set(body, '$.targets', 0) WHERE key = 'plan'",
    ] {
        let place = Place::new();
        finished(&place);
        Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
        let record = reader::read(&place.file()).unwrap();
        assert_eq!(record.plan, None, "{sql}");
        let told = |event: &Event| matches!(&event.kind, EventKind::Note { text } if text.contains("the plan"));
        assert!(record.events.iter().any(told), "{sql}");
    }
}

#[test]
fn a_whole_file_has_no_damage() {
    assert_eq!(damage_after("SELECT 1"), Vec::<String>::new());
}

#[test]
fn a_file_of_another_version_is_refused_with_both_versions_and_not_as_damaged() {
    let place = Place::new();
    let mut bytes = finished(&place);
    for (version, en, ru) in
        [(1u32, "an earlier build", "более ранней сборкой"), (7, "a newer Stend", "более новой версией")]
    {
        bytes[60..64].copy_from_slice(&version.to_be_bytes());
        let error = error_of(&bytes);
        assert_eq!(error.kind, Kind::RunFile);
        for (lang, way_out) in [(Lang::En, en), (Lang::Ru, ru)] {
            let text = error.render(lang);
            assert!(text.contains(&version.to_string()) && text.contains('4') && text.contains(way_out), "{text}");
        }
    }
}

#[test]
fn a_file_whose_run_was_killed_while_making_it_is_told_from_another_version() {
    let place = Place::new();
    let mut unfinished = finished(&place);
    unfinished[60..64].copy_from_slice(&0u32.to_be_bytes());
    for bytes in [&b""[..], &unfinished] {
        let error = error_of(bytes);
        assert!(error.message.en.contains("measured nothing"), "{error}");
    }
}

#[test]
fn what_is_not_a_run_file_is_called_so() {
    let foreign = Place::new();
    Connection::open(foreign.file()).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    let foreign = std::fs::read(foreign.file()).unwrap();
    for bytes in [&b""[..], b"text", &[0; 4096], &foreign] {
        let error = error_of(bytes);
        assert_eq!(error.kind, Kind::RunFile);
        assert!(error.message.en.contains("not a run file"), "{error}");
    }
}

#[test]
fn an_absent_file_and_a_directory_are_errors() {
    let place = Place::new();
    assert_eq!(reader::read(&place.file()).unwrap_err().kind, Kind::RunFile);
    assert!(reader::read(place.runs.path()).unwrap_err().message.en.contains("regular file"));
}

#[test]
fn a_row_that_cannot_be_understood_costs_only_itself() {
    for table in ["outcome", "slice", "sample", "event", "decision", "fill", "zeros"] {
        let damage = damage_after(&format!("UPDATE {table} SET body = x'ff'"));
        assert_eq!(damage.len(), 1, "{table}: {damage:?}");
        assert!(damage[0].contains("cannot be understood"), "{damage:?}");
    }
    assert_eq!(damage_after("UPDATE outcome SET body = 'text'").len(), 1);
    assert_eq!(damage_after("UPDATE slice SET host = -1").len(), 1);
    assert_eq!(damage_after("UPDATE trial SET case_index = -1").len(), 1);
    assert_eq!(damage_after("UPDATE host SET body = '{' WHERE host = 0").len(), 1);
}

#[test]
fn a_value_above_the_limit_is_not_loaded() {
    assert_eq!(damage_after("UPDATE sample SET body = zeroblob(16 * 1024 * 1024 + 1)").len(), 1);
    // A deep nest would overflow the stack of a careless parser.
    let nest = "[".repeat(100_000);
    assert_eq!(damage_after(&format!("UPDATE event SET body = '{nest}' WHERE id = 1")).len(), 1);
}

#[test]
fn a_view_in_place_of_a_table_is_refused() {
    let place = Place::new();
    finished(&place);
    let endless = "DROP TABLE sample; CREATE VIEW sample AS \
        WITH RECURSIVE n(id, body) AS (SELECT 1, x'00' UNION ALL SELECT id + 1, body FROM n) SELECT * FROM n";
    Connection::open(place.file()).unwrap().execute_batch(endless).unwrap();
    let error = reader::read(&place.file()).unwrap_err();
    assert!(error.message.en.contains("tables"), "{error}");
}

#[test]
fn without_its_header_a_file_says_nothing() {
    let place = Place::new();
    finished(&place);
    Connection::open(place.file()).unwrap().execute_batch("DELETE FROM meta WHERE key = 'header'").unwrap();
    assert!(reader::read(&place.file()).unwrap_err().message.en.contains("no header"));
}

#[test]
fn reading_changes_neither_the_file_nor_its_log() {
    let live = Place::new();
    let writer = live.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    read_until(&live.file(), &samples::record_of(samples::one_of_each()));
    let killed = live.copy_as_killed();
    let bytes =
        |place: &Place| ["R-1.stend", "R-1.stend-wal"].map(|name| std::fs::read(place.runs.path().join(name)).unwrap());
    let before = bytes(&killed);
    assert!(before[1].len() > 1000, "the log should hold something");
    reader::read(&killed.file()).unwrap();
    assert_eq!(bytes(&killed), before);
    drop(writer);
    let before = std::fs::read(live.file()).unwrap();
    reader::read(&live.file()).unwrap();
    assert_eq!((std::fs::read(live.file()).unwrap(), live.names()), (before, vec!["R-1.stend".to_string()]));
}

#[test]
fn a_file_with_a_name_full_of_odd_characters_is_read() {
    let place = Place::new();
    finished(&place);
    let odd = place.runs.path().join("a b?c#d%41&é.stend");
    std::fs::rename(place.file(), &odd).unwrap();
    assert!(reader::read(&odd).is_ok());
}

#[test]
fn a_log_that_is_torn_costs_only_its_tail() {
    let live = Place::new();
    let writer = live.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    writer.edge();
    append_all(&writer, &[samples::event(8)]);
    settle(&writer);
    let mut expected = samples::record_of(samples::one_of_each());
    expected.apply(samples::event(8));
    read_until(&live.file(), &expected);
    let killed = live.copy_as_killed();
    let log = killed.runs.path().join("R-1.stend-wal");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::remove_file(killed.runs.path().join("R-1.stend-shm")).unwrap();
    let record = reader::read(&killed.file()).unwrap();
    assert_eq!(record.trials, expected.trials);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_and_cut_ends_are_an_error_or_a_record_never_a_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..20),
        keep in 1usize..=100,
    ) {
        static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let mut bytes = BYTES.get_or_init(|| finished(&Place::new())).clone();
        for (at, flip) in &flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        bytes.truncate(bytes.len() * keep / 100);
        let place = Place::new();
        std::fs::write(place.file(), &bytes).unwrap();
        match reader::read(&place.file()) {
            Ok(_) => {}
            Err(error) => prop_assert_eq!(error.kind, Kind::RunFile),
        }
    }
}
