//! What cannot be gone on with is refused with a reason and a way out, and is left as it was.

use super::*;
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use stend_base::{Kind, Lang, say};

fn early_end() -> RunState {
    RunState::Ended { kind: Kind::Interrupted, reason: say!("stopped", "остановлено") }
}

/// A run that ended early, so that it could be resumed.
fn resumable() -> Place {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &samples::one_of_each());
    writer.close(early_end()).unwrap();
    place
}

/// Everything in the directory of the run file.
fn contents(place: &Place) -> Vec<(String, Vec<u8>)> {
    place.names().into_iter().map(|name| (name.clone(), std::fs::read(place.runs.path().join(name)).unwrap())).collect()
}

/// Resuming fails for a reason that is given, with a hint, and changes nothing.
fn check_refused(place: &Place, reason: &str) {
    let before = contents(place);
    for options in [PLAIN, SPOOLED] {
        let error = place.resume(options).unwrap_err();
        assert_eq!(error.kind, Kind::RunFile);
        assert!(error.message.en.contains(reason), "{reason}: {error}");
        assert!(error.hint.is_some() && error.render(Lang::Ru).contains("R-1.stend"), "{error}");
    }
    assert!(contents(place) == before, "{reason}: the file was changed");
    assert!(!place.spool().exists(), "{reason}: a spool was made");
}

#[test]
fn a_run_that_ended_early_is_not_refused() {
    resumable().resume(PLAIN).unwrap();
}

#[test]
fn a_complete_run_is_refused_also_if_its_end_is_still_in_the_spool() {
    let place = Place::new();
    place.create(PLAIN).close(RunState::Complete).unwrap();
    check_refused(&place, "complete");
    let place = Place::new();
    let writer = place.create(SPOOLED);
    append_all(&writer, &[Entry::End(RunState::Complete)]);
    settle(&writer);
    let (killed, spool) = (place.copy_as_killed(), place.spool());
    let left = std::fs::read(&spool).unwrap();
    drop(writer);
    std::fs::write(&spool, left).unwrap();
    let error = killed.resume(PLAIN).unwrap_err();
    assert!(error.message.en.contains("complete"), "{error}");
    assert!(spool.exists());
}

#[test]
fn a_file_of_another_version_and_one_that_was_never_finished_are_refused_with_the_way_out() {
    for (version, reason, hint) in
        [(0u32, "measured nothing", "anew"), (3, "format version", "earlier build"), (5, "format version", "newer")]
    {
        let place = resumable();
        let mut bytes = std::fs::read(place.file()).unwrap();
        bytes[60..64].copy_from_slice(&version.to_be_bytes());
        std::fs::write(place.file(), bytes).unwrap();
        check_refused(&place, reason);
        assert!(place.resume(PLAIN).unwrap_err().hint.unwrap().en.contains(hint));
    }
}

#[test]
fn a_damaged_file_is_refused_although_it_can_still_be_read() {
    let broken = [
        "UPDATE sample SET body = x'ff'",
        "UPDATE host SET body = '{' WHERE host = 0",
        "DELETE FROM meta WHERE key = 'written'",
        "UPDATE meta SET body = '18446744073709551615' WHERE key = 'written'",
        "UPDATE meta SET body = '9223372036854775808' WHERE key = 'syncs'",
    ];
    for sql in broken {
        let place = resumable();
        Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
        assert!(crate::store::read(&place.file()).is_ok(), "{sql}");
        check_refused(&place, "damaged");
    }
}

#[test]
fn a_file_whose_pages_are_damaged_where_no_entry_shows_it_is_refused() {
    let place = resumable();
    let mut bytes = std::fs::read(place.file()).unwrap();
    // A page that no table has.
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    bytes.extend(vec![0; page]);
    let pages = (bytes.len() / page) as u32;
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    std::fs::write(place.file(), bytes).unwrap();
    assert!(crate::store::read(&place.file()).is_ok());
    check_refused(&place, "damaged");
}

#[test]
fn what_is_absent_or_no_run_file_is_refused() {
    let place = Place::new();
    check_refused(&place, "cannot read");
    std::fs::write(place.file(), "text").unwrap();
    check_refused(&place, "not a run file");
    std::fs::remove_file(place.file()).unwrap();
    std::fs::create_dir(place.file()).unwrap();
    let error = place.resume(PLAIN).unwrap_err();
    assert!(error.kind == Kind::RunFile && error.hint.is_some(), "{error}");
}

#[test]
fn a_file_that_was_made_read_only_is_refused_also_by_root() {
    let place = resumable();
    std::fs::set_permissions(place.file(), std::fs::Permissions::from_mode(0o444)).unwrap();
    check_refused(&place, "read-only");
}

#[test]
fn a_file_that_is_being_written_is_refused() {
    let place = Place::new();
    let first = place.create(PLAIN);
    settle(&first);
    check_refused(&place, "another process");
    append_all(&first, &samples::one_of_each());
    first.close(early_end()).unwrap();
    let second = place.resume(PLAIN).unwrap();
    settle(&second);
    check_refused(&place, "another process");
    drop(second);
    place.resume(PLAIN).unwrap();
}

#[test]
fn a_copy_of_a_file_that_is_being_written_does_not_take_its_spool() {
    let place = Place::new();
    let writer = place.create(SPOOLED);
    append_all(&writer, &samples::one_of_each());
    settle(&writer);
    let copy = place.copy_as_killed();
    let error = copy.resume(SPOOLED).unwrap_err();
    assert!(error.message.en.contains("another process"), "{error}");
    assert_eq!(crate::store::read(&place.file()).unwrap(), samples::record_of(samples::one_of_each()));
}
