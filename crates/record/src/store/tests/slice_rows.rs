//! Slices of a part of a run: the same as of the whole, whatever stands where in the file.

use super::*;
use crate::hosts::HostId;
use crate::observed::Slice;
use crate::store::SliceRows;
use rusqlite::Connection;
use std::ops::Range;

/// A finished run of two trials with these intervals, a row for each ten of them.
fn written(place: &Place, intervals: u32) {
    let writer = place.create(PLAIN);
    for trial in 0..2 {
        writer.append(samples::trial_start(trial));
        let all: Vec<Slice> = (0..intervals).map(|interval| samples::slice(interval, None)).collect();
        all.chunks(10).for_each(|row| writer.append(Entry::slices(trial, row.to_vec())));
    }
    writer.close(RunState::Complete).unwrap();
}

/// Intervals that are handed on of those asked for, and how many others.
fn read(place: &Place, trial: u32, intervals: Range<u32>) -> (Vec<u32>, usize) {
    let (_, mut rows) = SliceRows::open(&place.file()).unwrap();
    let mut found: Vec<u32> = Vec::new();
    rows.each(trial, &intervals, |host, slice| {
        assert_eq!(host, HostId::LOAD);
        found.push(slice.interval);
    });
    let inside = found.iter().copied().filter(|interval| intervals.contains(interval)).collect::<Vec<_>>();
    let others = found.len() - inside.len();
    (inside, others)
}

#[test]
fn a_stretch_of_a_long_trial_is_read_whole_and_most_of_the_rest_is_not() {
    let place = Place::new();
    written(&place, 10_000);
    let (inside, others) = read(&place, 1, 5_003..5_017);
    assert_eq!(inside, (5_003..5_017).collect::<Vec<_>>());
    assert!(others < 1_400, "{others}");
    assert_eq!(read(&place, 0, 9_990..20_000).0, (9_990..10_000).collect::<Vec<_>>());
    assert_eq!(read(&place, 0, 0..1).0, [0]);
    assert!(read(&place, 7, 0..10).0.is_empty());
    let (record, mut rows) = SliceRows::open(&place.file()).unwrap();
    assert_eq!((rows.observed(0), rows.observed(1), rows.observed(7)), (10_000, 10_000, 0));
    assert!(record.trials.len() == 2 && record.trials.iter().all(|trial| trial.slices.is_empty()));
    assert!(!rows.is_damaged());
}

#[test]
fn a_row_that_holds_a_whole_trial_and_a_slice_that_came_late_are_found() {
    let place = Place::new();
    let writer = place.create(PLAIN);
    writer.append(samples::trial_start(0));
    writer.append(Entry::slices(0, (0..5_000).map(|interval| samples::slice(interval, None)).collect()));
    // Late ones stand in front of the second that they came with, and behind its first slice.
    for row in [[4_990, 5_000, 5_001], [5_010, 4_500, 5_011]] {
        writer.append(Entry::slices(0, row.map(|interval| samples::slice(interval, None)).to_vec()));
    }
    writer.close(RunState::Complete).unwrap();
    assert_eq!(read(&place, 0, 2_000..2_002).0, [2_000, 2_001]);
    assert_eq!(read(&place, 0, 4_990..4_991).0, [4_990, 4_990]);
    assert_eq!(read(&place, 0, 4_500..4_501).0, [4_500, 4_500]);
    assert_eq!(SliceRows::open(&place.file()).unwrap().1.observed(0), 5_012);
}

#[test]
fn a_damaged_row_costs_itself_alone_and_is_noticed() {
    let place = Place::new();
    written(&place, 100);
    let change = |sql: &str| Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
    change("UPDATE slice SET body = x'ff' WHERE id = 3");
    let (inside, _) = read(&place, 0, 0..100);
    assert_eq!(inside, (0..20).chain(30..100).collect::<Vec<_>>());
    assert!(SliceRows::open(&place.file()).unwrap().1.is_damaged());
    // A row that claims more slices than it has.
    change("UPDATE slice SET body = x'ffff0300' WHERE id = 5");
    let (_, mut rows) = SliceRows::open(&place.file()).unwrap();
    let mut count = 0;
    rows.each(0, &(0..100), |_, _| count += 1);
    assert_eq!(count, 80);
}
