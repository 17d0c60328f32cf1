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
fn a_table_that_is_none_is_refused_with_what_it_lacks() {
    assert!(error(b"").contains("it is empty"));
    assert!(error(b"metric,unit\niops,IOPS\n").contains("no column value"));
    assert!(error(b"system,what\nmd,7\n").contains("neither the columns of the tidy form"));
    assert!(error(&vec![b'a'; FILE_MAX + 1]).contains("at most 16"));
    let many = "iops,IOPS,7\n".repeat(NUMBERS_MAX + 1);
    assert!(error(format!("metric,unit,value\n{many}").as_bytes()).contains("more than 10000 numbers"));
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _ = read(&[HEAD.as_bytes(), b"\n", &bytes].concat(), "t.csv");
        let _ = read(&bytes, "t.csv");
    }
}
