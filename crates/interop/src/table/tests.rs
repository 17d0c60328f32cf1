//! What tables say, and what is reported about those that do not.

use super::*;

const HEAD: &str = "layout,test,block_size,queue_depth,jobs,metric,unit,value,line";

fn tidy(rows: &str) -> (Vec<Claim>, Vec<Unread>) {
    let (table, unread) = read(format!("{HEAD}\n{rows}").as_bytes(), "t.csv").unwrap();
    (table.rows, unread)
}

fn error(bytes: &[u8]) -> String {
    read(bytes, "t.csv").unwrap_err().render(stend_base::Lang::En)
}

#[test]
fn a_row_of_the_tidy_form_is_one_number() {
    let (rows, unread) = tidy("md,rr,4KiB,32,16,throughput,MB/s,1473.50,112\n");
    assert!(unread.is_empty());
    let [claim] = rows.as_slice() else { panic!("{rows:?}") };
    let number = claim.value.unwrap();
    assert_eq!((claim.row, claim.line, claim.block_size), (2, Some(112), Some(Bytes::kib(4))));
    assert_eq!((claim.queue_depth, claim.jobs), (Some(32), Some(16)));
    assert_eq!((number.value, number.step, number.digits), (1_473_500_000.0, 10_000.0, 6));
    assert_eq!((number.dimension, claim.printed.as_str()), (Dimension::Throughput, "1473.50"));
}

#[test]
fn text_is_kept_and_is_no_number() {
    let (rows, unread) = tidy("md,rr,,,,ratio,text,в два раза,3\nmd,rr,,,,config,text,-b4K -t32 4-5,3\n");
    assert!(unread.is_empty() && rows.iter().all(|claim| claim.value.is_none()), "{unread:?}");
    assert_eq!(rows[0].printed, "в два раза");
}

#[test]
fn what_cannot_be_read_is_told_with_its_line_and_the_rest_is_read() {
    let (rows, unread) =
        tidy("a,t,4 apples,x,1,iops,IOPS,\"1,234\",1\na,t,4k,1,1,iops,IOPS,7,1\na,t,,,,iops,IOPS,1,2,3\n");
    let told: Vec<_> = unread.iter().map(|u| (u.row, u.column.as_str())).collect();
    assert_eq!(told, [(4, ""), (2, "block_size"), (2, "queue_depth"), (2, "value")]);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].value.unwrap().value, 7.0);
}

#[test]
fn spreadsheets_of_russian_excel_are_read() {
    let text = "layout;test;block_size;metric;unit;value\r\nмассив;чтение;4к;iops;тыс. IOPS;371,5\r\n";
    let (cp1251, _, lost) = WINDOWS_1251.encode(text);
    assert!(!lost);
    for bytes in [cp1251.to_vec(), text.as_bytes().to_vec(), [b"\xEF\xBB\xBF", text.as_bytes()].concat()] {
        let (table, unread) = read(&bytes, "t.csv").unwrap();
        assert!(unread.is_empty());
        assert_eq!((table.rows[0].layout.as_str(), table.rows[0].value.unwrap().value), ("массив", 371_500.0));
        assert_eq!(table.rows[0].block_size, Some(Bytes::kib(4)));
    }
}

#[test]
fn what_separates_columns_is_what_all_lines_have_as_many_of_outside_of_quotes() {
    let layout = |text: &str| {
        let (table, unread) = read(text.as_bytes(), "t.csv").unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(unread.is_empty() && table.rows.iter().all(|row| row.value.is_some()), "{text}: {table:?} {unread:?}");
        (table.rows.len(), table.rows[0].layout.clone())
    };
    for (text, rows, name) in [
        // More commas than semicolons in the heads.
        ("system;SAS, 15k, 4k (IOPS)\nmd;7\nlvm;8\n", 2, "md"),
        // Semicolons in quotes, as many in each line.
        ("layout,metric,unit,value,\"a; b; c; d; e; f\"\nmd,iops,IOPS,7,\"1; 2; 3; 4; 5; 6\"\n", 1, "md"),
        // Decimal commas, one in each line but the first.
        ("layout;metric;unit;value\nmd;iops;IOPS;7,5\nlvm;iops;IOPS;8,5\nzfs;iops;IOPS;9,5\n", 3, "md"),
        // An inch is no quote.
        (
            "layout,metric,unit,value\nmd of 3.5\" drives; new,iops,IOPS,7\nlvm,iops,IOPS,8\n",
            2,
            "md of 3.5\" drives; new",
        ),
        // A quote in quotes, and a line that goes on.
        ("layout,metric,unit,value,note\nmd,iops,IOPS,7,\"a \"\"b\"\";\n;;;;c\"\n", 1, "md"),
        // No end of the last line.
        ("layout\tmetric\tunit\tvalue\nmd, new\tiops\tIOPS\t7", 1, "md, new"),
    ] {
        assert_eq!(layout(text), (rows, name.to_string()), "{text}");
    }
}

#[test]
fn rows_are_lines_of_the_file_however_lines_end() {
    for end in ["\n", "\r\n"] {
        let lines = ["", "metric,unit,value,note", "iops,IOPS,1,\"two\nlines\"", "", "iops,IOPS,2,", " iops,IOPS,3,"];
        let (table, _) = read(lines.join(end).as_bytes(), "t.csv").unwrap();
        assert_eq!(table.rows.iter().map(|claim| claim.row).collect::<Vec<_>>(), [3, 6, 7], "{end:?}");
    }
}

#[test]
fn a_system_a_row_and_a_test_a_column_is_the_wide_form() {
    let text = "system\trand-read-4k-qd32 (IOPS)\tseq read, 1 MiB, jobs=4, MB/s\tnote\nmd\t1 234 567\t5000\tfine\nlvm\t\t4,9k\t\n";
    let (table, unread) = read(text.as_bytes(), "t.csv").unwrap();
    assert!(unread.is_empty(), "{unread:?}");
    let told: Vec<_> =
        table.rows.iter().map(|c| (c.layout.as_str(), c.metric.as_str(), c.value.unwrap().value)).collect();
    assert_eq!(told, [("md", "iops", 1_234_567.0), ("md", "throughput", 5e9), ("lvm", "throughput", 4.9e9)]);
    assert_eq!((table.rows[0].block_size, table.rows[0].queue_depth), (Some(Bytes::kib(4)), Some(32)));
    assert_eq!(table.rows[1].jobs, Some(4));
}

#[test]
fn a_column_of_numbers_whose_brackets_hold_no_unit_is_listed() {
    let text = "system,rr 4k (IOPS),rr 4k (furlongs),drive (model),lat (usec)\nmd,7,8,PM9A3,1\nlvm,7,,3.84 TB,\n";
    let (table, unread) = read(text.as_bytes(), "t.csv").unwrap();
    let told: Vec<_> = unread.iter().map(|u| (u.row, u.column.as_str(), u.why.en.as_str())).collect();
    assert_eq!(told, [(1, "rr 4k (furlongs)", "`furlongs` is no known unit, so the column is left out")]);
    let values: Vec<_> = table.rows.iter().filter_map(|row| row.value).map(|number| number.value).collect();
    assert_eq!(values, [7.0, 1e-6, 7.0]);
}

#[test]
fn of_words_that_look_like_sizes_the_only_one_that_a_block_can_have_is_it() {
    let size = |test: &str| {
        let (table, _) = read(format!("system;{test} (IOPS)\nmd;7\n").as_bytes(), "t.csv").unwrap();
        table.rows[0].block_size.map(|size| size.0)
    };
    for (test, bytes) in [
        ("rand-read-4k", Some(4096)),
        ("SAS 15k 12g rand-read-4k", Some(4096)),
        ("SAS 15k rand-read", None),
        ("10g rand-read", None),
        ("rand-write 512b-8k", None),
        ("4k read + 4k write", Some(4096)),
        ("seq-write-768k, 64k chunk", None),
        ("seq-write-768k", Some(786_432)),
        ("SAS 15k 4k", Some(4096)),
        ("SAS 7.2k 4k", Some(4096)),
    ] {
        assert_eq!(size(test), bytes, "{test}");
    }
}

#[test]
fn a_table_that_is_none_is_refused_with_what_it_lacks() {
    assert!(error(b"").contains("it is empty"));
    assert!(error(b"metric,unit\niops,IOPS\n").contains("no column value"));
    assert!(error(b"system,what\nmd,7\n").contains("neither the columns of the tidy form"));
    assert!(error(&vec![b'a'; FILE_MAX + 1]).contains("at most 16"));
    let many = "iops,IOPS,7\n".repeat(NUMBERS_MAX + 1);
    assert!(error(format!("metric,unit,value\n{many}").as_bytes()).contains("more than 10000 numbers"));
}

#[test]
fn a_cell_with_its_own_unit_is_a_number_of_that_unit() {
    let (rows, unread) = tidy("md,rr,4k,,,throughput,MB/s,3.28 GB/s,\nmd,rr,4k,,,iops,k IOPS,371k IOPS,\n");
    let told: Vec<_> = rows.iter().map(|c| (c.printed.as_str(), c.unit.as_str(), c.value.unwrap().value)).collect();
    assert_eq!(told, [("3.28", "GB/s", 3.28e9), ("371k", "IOPS", 371_000.0)]);
    assert!(unread.is_empty(), "{unread:?}");
    let (table, _) = read("system,rr 4k (MB/s)\nmd,3.28 GB/s\nlvm,500\n".as_bytes(), "t.csv").unwrap();
    let told: Vec<_> = table.rows.iter().map(|c| (c.printed.as_str(), c.unit.as_str())).collect();
    assert_eq!(told, [("3.28", "GB/s"), ("500", "MB/s")]);
}

#[test]
fn a_number_with_something_unknown_behind_or_before_it_is_no_plain_count() {
    for cell in ["371000*", "1473 (avg)", "95 ± 3", "5 furlongs", ">500", "(95)", "≤ 95"] {
        let (rows, unread) = tidy(&format!("md,rr,4k,,,iops,IOPS,{cell},\n"));
        let told: Vec<_> = unread.iter().map(|u| (u.row, u.column.as_str())).collect();
        assert_eq!((rows[0].value, told), (None, vec![(2, "value")]), "{cell}");
        assert!(unread[0].why.en.contains(cell) && unread[0].why.ru.contains(cell), "{:?}", unread[0].why);
    }
    for (cell, value) in [("1400 МиБ/сек.", 1400.0 * 1_048_576.0), ("5 ГБ/с", 5e9), ("12 MB/sec.", 12e6)] {
        let (rows, unread) = tidy(&format!("md,rr,4k,,,throughput,MB/s,{cell},\n"));
        assert_eq!((rows[0].value.map(|n| n.value), unread.len()), (Some(value), 0), "{cell}");
    }
    let (rows, unread) = tidy("a/b,rr,,,,ratio,x,3.8 times,\na/b,rr,,,,ratio,x,×4,\nmd,rr,,,,iops,IOPS,n/a,\n");
    assert_eq!((rows[0].value.map(|n| n.value), unread.len()), (Some(3.8), 0), "{unread:?}");
    // As a Russian keyboard has the letter.
    let (rows, unread) = tidy("a/b,rr,,,,ratio,x,\"2,5х\",\na/b,rr,,,,ratio,x,4 fold,\n");
    let values: Vec<_> = rows.iter().map(|row| row.value.map(|n| n.value)).collect();
    assert_eq!((values, unread.len()), (vec![Some(2.5), Some(4.0)], 0), "{unread:?}");
}

#[test]
fn a_unit_that_is_not_known_is_no_count_of_what_is_measured() {
    let measured = ["iops", "latency", "latency_p99", "latency_p99_9", "latency_max", "iops_mean", "throughput_ratio"];
    for metric in measured.into_iter().chain(["ratio", "config_runtime", "fio_size"]) {
        let (rows, unread) = tidy(&format!("md,rr,4k,,,{metric},furlongs,7,\n"));
        let told: Vec<_> = unread.iter().map(|u| (u.row, u.column.as_str(), u.why.en.as_str())).collect();
        assert_eq!((rows[0].value, told), (None, vec![(2, "unit", "`furlongs` is no known unit")]), "{metric}");
        // The unit of the cell counts.
        let (rows, unread) = tidy(&format!("md,rr,4k,,,{metric},furlongs,7 s,\n"));
        assert!(rows[0].value.is_some_and(|number| number.dimension == Dimension::Time) && unread.is_empty());
    }
    // Machines, gears or yes and no are counts.
    for metric in [
        "max_vms",
        "config_nodes",
        "fio_direct",
        "iopsy",
        "iops_per_watt",
        "latency_samples",
        "iops_trials",
        "throughput_per_core",
    ] {
        let (rows, unread) = tidy(&format!("md,rr,4k,,,{metric},furlongs,7,\n"));
        assert_eq!((rows[0].value.map(|number| number.value), unread.len()), (Some(7.0), 0), "{metric}");
    }
    let (rows, unread) = tidy("md,rr,4k,,,config_runtime,h,2,\nmd,rr,4k,,,config_runtime,ч,1,\n");
    let seconds: Vec<_> = rows.iter().filter_map(|row| row.value).map(|n| (n.dimension, n.value)).collect();
    assert_eq!((seconds, unread.len()), (vec![(Dimension::Time, 7200.0), (Dimension::Time, 3600.0)], 0));
}

#[test]
fn thousands_in_a_column_of_thousands_can_be_read_in_two_ways() {
    for (unit, cell) in [("k IOPS", "371k"), ("тыс. IOPS", "1.4 млн"), ("M IOPS", "371k")] {
        let (rows, unread) = tidy(&format!("md,rr,4k,,,iops,{unit},{cell},\n"));
        assert_eq!((rows[0].value, unread.len()), (None, 1), "{cell} {unit}");
        assert!(unread[0].why.en.contains(&format!("`{cell}` in a column of `{unit}`")), "{}", unread[0].why.en);
    }
    let (rows, unread) = tidy("md,rr,4k,,,iops,IOPS,371k,\n");
    assert_eq!((rows[0].value.map(|n| n.value), unread.len()), (Some(371_000.0), 0));
}

#[test]
fn what_is_not_listed_one_by_one_is_counted() {
    let (_, unread) = tidy(&"md,rr,4k,,,iops,IOPS,12 34,\n".repeat(UNREAD_MAX + 7));
    assert_eq!((unread.len(), unread[UNREAD_MAX - 1].row), (UNREAD_MAX + 1, 101));
    let last = &unread[UNREAD_MAX];
    assert_eq!((last.row, last.column.as_str()), (102, ""));
    assert!(last.why.en.starts_with("7 more ") && last.why.ru.contains("ещё 7"), "{:?}", last.why);
    let (_, unread) = tidy(&"md,rr,4k,,,iops,IOPS,12 34,\n".repeat(UNREAD_MAX));
    assert_eq!(unread.len(), UNREAD_MAX);
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _ = read(&[HEAD.as_bytes(), b"\n", &bytes].concat(), "t.csv");
        let _ = read(&bytes, "t.csv");
    }
}
