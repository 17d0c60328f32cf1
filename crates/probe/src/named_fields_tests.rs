//! Formats whose fields have names are read by these names: whatever the order, and whatever else a kernel of another version or vendor
//! adds.

use crate::fixture::put;
use crate::{PartsProbe, Probe};
use proptest::prelude::*;
use std::path::Path;
use stend_base::Nanos;
use stend_record::{Parts, Sample};

/// A line that no kernel has, with a name that is no UTF-8 once it is written.
const UNKNOWN: char = '\u{1}';

fn meminfo() -> Vec<&'static str> {
    vec!["MemTotal: 8 kB", "MemAvailable: 4 kB", "Cached: 2 kB", "Dirty: 1 kB", "SwapTotal: 3 kB", "SwapFree: 1 kB"]
}

fn vmstat() -> Vec<&'static str> {
    vec!["pgpgin 4", "pgpgout 2", "pswpin 3", "pswpout 1", "oom_kill 5", "allocstall_dma 1", "allocstall_normal 2"]
}

fn pressure() -> Vec<&'static str> {
    vec!["some avg10=0.00 avg60=0.00 avg300=0.00 total=7", "full avg10=0.00 avg60=0.00 avg300=0.00 total=3"]
}

fn tcp() -> Vec<(&'static str, &'static str)> {
    vec![("RtoAlgorithm", "1"), ("MaxConn", "-1"), ("OutSegs", "5868"), ("RetransSegs", "7"), ("InErrs", "2")]
}

fn nfsd() -> Vec<&'static str> {
    vec!["rc 0 5 100", "io 4294967299 7", "th 8 0 0.000", "rpc 100 3 1 2 0"]
}

fn arcstats() -> Vec<&'static str> {
    vec!["demand_data_hits 4 70", "demand_data_misses 4 30", "c_max 4 4096", "size 4 1024"]
}

/// What comes before the operations of a share of NFS, and these.
fn mountstats() -> [Vec<&'static str>; 2] {
    let head = vec![
        "opts:\trw,vers=4.2,hard",
        "age:\t5",
        "bytes:\t1 2 3 4 5 6 7 8",
        "RPC iostats version: 1.1  p/v: 100003/4 (nfs)",
        "xprt:\ttcp 0 0 1 0 -3 50 48 0 50 0 2 0 0",
        "xprt:\ttcp 0 0 1 0 0 7 7 0 7 0 2 0 0",
    ];
    [head, vec!["NULL: 1 1 0 44 24 0 0 0 0", "READ: 9 9 1 5 6 2 30 40 0", "WRITE: 4 4 0 5 6 0 8 9 0"]]
}

/// Lines in any order, with others among them.
fn any_order(lines: Vec<&'static str>, others: &'static [&'static str]) -> impl Strategy<Value = String> {
    let more = proptest::sample::subsequence(others, 0..=others.len());
    more.prop_flat_map(move |more| Just([lines.clone(), more].concat()).prop_shuffle())
        .prop_map(|lines| lines.join("\n") + "\n")
}

/// Files below `proc`, each with its lines in any order.
fn files() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let [head, operations] = mountstats();
    let head = any_order(head, &["fl\u{1}x:\t7", "events:\t1 2"]);
    let operations = any_order(operations, &["FL\u{1}X: 0 0 0 0 0 0 0 0"]);
    let share = (head, operations).prop_map(|(head, operations)| {
        format!("device f:/v mounted on /m with fstype nfs4 statvers=1.1\n{head}\tper-op statistics\n{operations}")
    });
    let columns = Just(tcp()).prop_shuffle().prop_map(|columns| {
        let of = |one: fn(&(&'static str, &'static str)) -> &'static str| {
            columns.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        format!("Fl\u{1}x: OutSegs RetransSegs\nFl\u{1}x: 1 2\nTcp: {}\nTcp: {}\n", of(|c| c.0), of(|c| c.1))
    });
    let others = &["Fl\u{1}x: 12 kB", "fl\u{1}x 7", "fl\u{1}x", "", " : "];
    let named = (
        any_order(meminfo(), others),
        any_order(vmstat(), others),
        any_order(pressure(), others),
        any_order(nfsd(), others),
        any_order(arcstats(), others),
    );
    (named, columns, share).prop_map(|((meminfo, vmstat, pressure, nfsd, arcstats), snmp, share)| {
        vec![
            ("meminfo", meminfo),
            ("vmstat", vmstat),
            ("pressure/io", pressure),
            ("net/rpc/nfsd", nfsd),
            ("spl/kstat/zfs/arcstats", arcstats),
            ("net/snmp", snmp),
            ("self/mountstats", share),
        ]
    })
}

/// What is read of these files.
fn read(files: &[(&'static str, String)]) -> (Sample, Parts) {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = format!("proc/{file}");
        put(dir.path(), &path, "");
        let split: Vec<&[u8]> = text.split(UNKNOWN).map(str::as_bytes).collect();
        std::fs::write(dir.path().join(path), split.join(&b"\xcf"[..])).unwrap();
    }
    let root: &Path = dir.path();
    let sample = Probe::of_host(root, Vec::new(), u32::MAX).read(Nanos::SECOND);
    (sample, *PartsProbe::default().read(root, &[]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fields_are_found_by_name_in_any_order_among_unknown_ones_that_are_no_utf_8(files in files()) {
        let (sample, parts) = read(&files);
        let memory = sample.memory.unwrap();
        prop_assert_eq!((memory.total_bytes, memory.available_bytes, memory.cached_bytes), (8192, 4096, 2048));
        prop_assert_eq!((memory.dirty_bytes, memory.swap_used_bytes), (1024, 2048));
        let paging = sample.paging.unwrap();
        prop_assert_eq!((paging.read_bytes, paging.write_bytes, paging.oom_kills), (4096, 2048, Some(5)));
        prop_assert_eq!(paging.allocation_stalls, Some(3));
        let pressure = sample.pressure.unwrap();
        prop_assert_eq!((pressure.io_some_ns, pressure.io_full_ns), (Some(7000), Some(3000)));
        let tcp = sample.tcp.unwrap();
        prop_assert_eq!((tcp.sent, tcp.sent_again), (5868, 7));
        let nfs = sample.nfs.unwrap();
        let mount = &nfs.mounts[0];
        prop_assert_eq!((mount.version.as_str(), mount.sent, mount.answered), ("4.2", 57, 55));
        prop_assert_eq!((mount.read_bytes, mount.write_bytes), (5, 6));
        prop_assert_eq!((mount.reads.done, mount.writes.done, mount.others.done), (9, 4, 1));
        let server = nfs.server.unwrap();
        prop_assert_eq!((server.requests, server.bad, server.threads), (100, 3, Some(8)));
        prop_assert_eq!(server.read_bytes, 4_294_967_299);
        let arc = parts.arc.unwrap();
        prop_assert_eq!((arc.demand_hits, arc.demand_misses, arc.size_bytes, arc.size_max_bytes), (70, 30, 1024, 4096));
    }
}

#[test]
fn a_file_without_one_of_its_fields_takes_nothing_else_along() {
    let whole = |lines: Vec<&'static str>| lines.join("\n") + "\n";
    let all = [
        ("meminfo", whole(meminfo())),
        ("vmstat", whole(vmstat())),
        ("net/rpc/nfsd", whole(nfsd())),
        ("spl/kstat/zfs/arcstats", whole(arcstats())),
    ];
    let there = |files: &[(&'static str, String)]| {
        let (sample, parts) = read(files);
        let server = sample.nfs.and_then(|nfs| nfs.server);
        [sample.memory.is_some(), sample.paging.is_some(), server.is_some(), parts.arc.is_some()]
    };
    assert_eq!(there(&all), [true; 4]);
    let needed = [meminfo(), vmstat()[..2].to_vec(), vec![nfsd()[1], nfsd()[3]], arcstats()];
    for (number, needed) in needed.into_iter().enumerate() {
        for line in needed {
            let mut files = all.clone();
            files[number].1 = files[number].1.replace(line, "");
            let mut expected = [true; 4];
            expected[number] = false;
            assert_eq!(there(&files), expected, "without {line}");
        }
    }
}
