//! The table and the fixtures of method §5.2, and places of I/Os.

use super::*;
use stend_base::Bytes;

const CHUNK: Bytes = Bytes::kib(64);

fn at_random(writes: bool, block: Bytes) -> Io {
    Io { writes, block: block.0, step: block.0, start: 0, in_order: false }
}

fn write(layout: Layout, block: Bytes) -> (f64, f64) {
    let found = demand(Some(layout), &at_random(true, block)).unwrap();
    (found.reads, found.writes)
}

fn raid5(drives: u32) -> Layout {
    Layout::Raid5 { drives, chunk: CHUNK }
}

fn raid6(drives: u32) -> Layout {
    Layout::Raid6 { drives, chunk: CHUNK }
}

fn erasure(data: u32, parity: u32) -> Layout {
    Layout::Erasure { data, parity, drives: data + parity, chunk: CHUNK }
}

#[test]
fn small_writes_take_what_the_table_says() {
    let small = Bytes::kib(4);
    for (layout, expected) in [
        (Layout::Stripe { drives: 6, chunk: Some(CHUNK) }, (0.0, 1.0)),
        (Layout::Mirror { drives: 2 }, (0.0, 2.0)),
        (Layout::Raid10 { drives: 6, copies: 2, chunk: Some(CHUNK) }, (0.0, 2.0)),
        // The cheaper of 2R+2W and (n−2)R+2W.
        (raid5(3), (1.0, 2.0)),
        (raid5(4), (2.0, 2.0)),
        (raid5(6), (2.0, 2.0)),
        // The cheaper of 3R+3W and (n−3)R+3W.
        (raid6(4), (1.0, 3.0)),
        (raid6(5), (2.0, 3.0)),
        (raid6(8), (3.0, 3.0)),
        (Layout::Replication { copies: 3, drives: 12, sent: 1 }, (0.0, 3.0)),
        // (1+m)R + (1+m)W.
        (erasure(3, 2), (3.0, 3.0)),
        (erasure(4, 1), (2.0, 2.0)),
    ] {
        assert_eq!(write(layout, small), expected, "{layout:?}");
    }
    assert_eq!(demand(Some(Layout::CopyOnWrite { drives: 2 }), &at_random(true, small)), None);
}

#[test]
fn whole_rows_are_written_without_reading() {
    let row = |drives: u64| Bytes(CHUNK.0 * drives);
    assert_eq!(write(raid5(6), row(5)), (0.0, 6.0));
    assert_eq!(write(raid6(6), row(4)), (0.0, 6.0));
    assert_eq!(write(erasure(3, 2), row(3)), (0.0, 5.0));
    let in_order = |layout| demand(Some(layout), &Io { in_order: true, ..at_random(true, Bytes::mib(1)) }).unwrap();
    let mib = Bytes::mib(1).0 as f64;
    // n/(n−1), n/(n−2), (k+m)/k of the bytes.
    assert_eq!((in_order(raid5(6)).write_bytes, in_order(raid5(6)).read_bytes), (mib * 6.0 / 5.0, 0.0));
    assert_eq!(in_order(raid6(6)).write_bytes, mib * 6.0 / 4.0);
    assert_eq!(in_order(erasure(3, 2)).write_bytes, mib * 5.0 / 3.0);
}

#[test]
fn a_part_of_a_row_reads_the_fewer_of_old_data_and_missing_data() {
    // Two of five strips: 2+1 old ones or 3 missing ones; four of five: one missing one.
    assert_eq!(write(raid5(6), Bytes(CHUNK.0 * 5)), (0.0, 6.0));
    let four = Io { step: CHUNK.0 * 5, ..at_random(true, Bytes(CHUNK.0 * 4)) };
    let found = demand(Some(raid5(6)), &four).unwrap();
    assert_eq!((found.reads, found.writes, found.read_bytes), (1.0, 5.0, CHUNK.0 as f64));
    let two = Io { block: CHUNK.0 * 2, ..four };
    let found = demand(Some(raid5(6)), &two).unwrap();
    assert_eq!((found.reads, found.writes), (3.0, 3.0));
    // An erasure code that changes blocks in place never reads the missing ones.
    let found = demand(Some(erasure(5, 1)), &four).unwrap();
    assert_eq!((found.reads, found.writes), (5.0, 5.0));
}

#[test]
fn a_write_across_two_strips_is_cut_where_the_set_of_drives_changes() {
    // The last half of one strip and the first half of the next: each half has its own parity.
    let half = CHUNK.0 / 2;
    let io = Io { start: half, step: CHUNK.0 * 5, ..at_random(true, CHUNK) };
    let found = demand(Some(raid5(6)), &io).unwrap();
    // Data: two halves; parity: both halves, which lie one behind the other.
    assert_eq!((found.reads, found.writes), (3.0, 3.0));
    assert_eq!((found.read_bytes, found.write_bytes), (2.0 * CHUNK.0 as f64, 2.0 * CHUNK.0 as f64));
}

#[test]
fn a_target_that_begins_beside_the_chunks_costs_more() {
    let io = Io { start: 512, ..at_random(false, Bytes::kib(16)) };
    // A quarter of the places of 16 KiB in 64 KiB crosses a boundary.
    let reads = |io: &Io| demand(Some(Layout::Stripe { drives: 4, chunk: Some(CHUNK) }), io).unwrap().reads;
    assert_eq!((reads(&at_random(false, Bytes::kib(16))), reads(&io)), (1.0, 1.25));
    // By counting every place.
    let counted = |io: &Io| {
        let places = (0..CHUNK.0).step_by(io.step as usize).map(|place| place + io.start);
        let each: Vec<u64> = places.map(|at| (at + io.block - 1) / CHUNK.0 - at / CHUNK.0 + 1).collect();
        each.iter().sum::<u64>() as f64 / each.len() as f64
    };
    for (block, step, start) in
        [(4096, 512, 0), (6144, 512, 1024), (65536, 4096, 0), (131072, 65536, 512), (98304, 32768, 0)]
    {
        let io = Io { writes: false, block, step, start, in_order: false };
        assert!((reads(&io) - counted(&io)).abs() < 1e-9, "{io:?}");
        let rows = demand(Some(raid5(5)), &Io { writes: true, ..io }).unwrap();
        assert!(rows.write_bytes >= block as f64 * 5.0 / 4.0 - 1.0, "{rows:?}");
    }
}

#[test]
fn huge_rows_and_blocks_are_looked_at_in_bounded_time() {
    let layout = Layout::Raid5 { drives: 10_000, chunk: Bytes::mib(64) };
    let found = demand(Some(layout), &Io { step: 512, ..at_random(true, Bytes::kib(4)) }).unwrap();
    assert!((found.writes - 2.0).abs() < 0.2, "{found:?}");
    let found = demand(Some(raid5(3)), &at_random(true, Bytes::gib(64))).unwrap();
    assert!((found.write_bytes / Bytes::gib(64).0 as f64 - 1.5).abs() < 1e-9);
}

#[test]
fn the_ceiling_of_the_whole_follows_from_what_a_drive_reads_and_writes() {
    // n = 6, c_r = 600 k, c_w = 150 k (method §5.2).
    let all = (6.0 * 600e3, 6.0 * 150e3);
    let small = Bytes::kib(4);
    let kilo = |layout: Layout, read_share: f64| {
        let [read, write] = [false, true].map(|w| demand(Some(layout), &at_random(w, small)).unwrap());
        let mixed = read.times(read_share).plus(write.times(1.0 - read_share));
        (most_per_second((mixed.reads, mixed.writes), all).unwrap() / 1e3).round()
    };
    assert_eq!(kilo(Layout::Stripe { drives: 6, chunk: None }, 0.0), 900.0);
    assert_eq!(kilo(Layout::Raid10 { drives: 6, copies: 2, chunk: None }, 0.0), 450.0);
    assert_eq!(kilo(raid5(6), 0.0), 360.0);
    assert_eq!(kilo(raid6(6), 0.0), 240.0);
    assert_eq!(kilo(raid5(6), 0.7), 973.0);
    assert_eq!(most_per_second((0.0, 0.0), all), None);
    assert_eq!(most_per_second((1.0, 1.0), (1e3, 0.0)), None, "drives that cannot write have no rate");
}

#[test]
fn a_lost_drive_makes_reads_dearer() {
    // (1/n)(n−1) + (n−1)/n = 2(n−1)/n.
    assert!((degraded_reads(4) - 1.5).abs() < 1e-9 && (degraded_reads(6) - 10.0 / 6.0).abs() < 1e-9);
}

#[test]
fn no_i_o_takes_more_i_os_than_there_are_drives() {
    let stripe = Layout::Stripe { drives: 4, chunk: Some(Bytes::kib(64)) };
    assert_eq!(demand(Some(stripe), &at_random(false, Bytes::mib(1))).unwrap().reads, 4.0);
    let row = Bytes::kib(5 * 512);
    let two_rows = demand(Some(raid5(6)), &at_random(true, Bytes(2 * row.0))).unwrap();
    assert_eq!((two_rows.reads, two_rows.writes, two_rows.write_bytes), (0.0, 6.0, 2.4 * row.0 as f64));
}

#[test]
fn what_no_suite_may_state_has_no_model() {
    let write = at_random(true, Bytes::kib(4));
    let sizes = [(u32::MAX, Bytes::kib(4)), (6, Bytes(1 << 62)), (6, Bytes(0)), (1, Bytes::kib(4))];
    for (drives, chunk) in sizes {
        assert_eq!(demand(Some(Layout::Raid5 { drives, chunk }), &write), None, "{drives} {chunk:?}");
    }
}
