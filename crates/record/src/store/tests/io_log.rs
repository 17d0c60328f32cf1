//! Logs of every I/O in a run file: whole, spooled, killed, and in a file that lies.

use super::*;
use crate::io_log::IoChunk;
use crate::store::io_logs;
use rusqlite::Connection;

/// Two trials with the logs of these lengths, the chunks of both in turn.
fn entries(lengths: &[u64]) -> Vec<Entry> {
    let chunk = |trial, &count: &u64| Entry::io_log(trial, samples::chunk(count));
    let starts = [samples::trial_start(0), samples::trial_start(1)].into_iter();
    starts.chain(lengths.iter().flat_map(|count| [chunk(0, count), chunk(1, &(count + 1))])).collect()
}

/// Lengths of the chunks of a trial, by reading them.
fn lengths(path: &Path, trial: u32) -> stend_base::Result<Vec<u64>> {
    let mut found = Vec::new();
    io_logs(path)?.each(trial, |_, chunk: &IoChunk| {
        assert_eq!(*chunk, samples::chunk(chunk.len()));
        found.push(chunk.len());
        Ok::<(), Box<stend_base::Error>>(())
    })?;
    Ok(found)
}

#[test]
fn a_log_is_read_apart_by_trial_and_the_record_has_its_length_only() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &entries(&[4, 6]));
    writer.close(RunState::Complete).unwrap();
    assert_eq!(lengths(&place.file(), 0).unwrap(), [4, 6]);
    assert_eq!(lengths(&place.file(), 1).unwrap(), [5, 7]);
    assert!(lengths(&place.file(), 2).unwrap().is_empty());
    let record = crate::store::read(&place.file()).unwrap();
    assert_eq!(record.trials.iter().map(|trial| trial.logged).collect::<Vec<_>>(), [10, 12]);
}

#[test]
fn what_a_killed_coordinator_left_in_its_spool_is_part_of_the_log() {
    let place = Place::new();
    let writer = place.create(SPOOLED);
    append_all(&writer, &entries(&[4]));
    writer.edge();
    settle(&writer);
    append_all(&writer, &entries(&[6])[2..]);
    settle(&writer);
    let killed = place.copy_as_killed();
    assert_eq!(lengths(&killed.file(), 0).unwrap(), [4, 6]);
    let record = crate::store::read(&killed.file()).unwrap();
    assert_eq!((record.state, record.trials[1].logged), (RunState::Open, 12));
}

#[test]
fn a_damaged_part_of_a_log_costs_no_more_than_itself() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    append_all(&writer, &entries(&[4, 6]));
    writer.close(RunState::Complete).unwrap();
    let db = Connection::open(place.file()).unwrap();
    let first = "(SELECT min(id) FROM io_log)";
    db.execute(&format!("UPDATE io_log SET records = 'text' WHERE id = {first}"), []).unwrap();
    assert!(lengths(&place.file(), 0).unwrap_err().message.en.contains("damaged"));
    assert_eq!(lengths(&place.file(), 1).unwrap(), [5, 7]);
    // A tail that is no whole record is none.
    db.execute(&format!("UPDATE io_log SET records = x'00' WHERE id = {first}"), []).unwrap();
    let mut counts = Vec::new();
    let each = io_logs(&place.file()).unwrap().each(0, |_, chunk: &IoChunk| {
        counts.push((chunk.len(), chunk.ios().count()));
        Ok::<(), Box<stend_base::Error>>(())
    });
    assert_eq!((each, counts), (Ok(()), vec![(0, 0), (6, 6)]));
    assert_eq!(crate::store::read(&place.file()).unwrap().trials[0].logged, 6);
}
