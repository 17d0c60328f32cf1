//! The document, its options and its places, from groups whose every number is given.

use super::*;
use crate::fixture;
use expect_test::expect_file;
use stend_analyse::as_fio::{JobAsFio, LatencyAsFio, Samples, SideAsFio};
use stend_base::{Bytes, MilliIops, Nanos, Share};
use stend_record::fio_bins::Bins;
use stend_spec::pattern::Pattern;
use stend_spec::rate::{Gaps, Rate};
use stend_spec::topology::Affinity;
use stend_spec::workload::{Batch, Data, Mix, Op, Region, Stream, Sync, Trial, Verify};

/// Two trials of reads with few I/Os, of which everything is known.
fn group(streams: Vec<Stream>) -> GroupAsFio {
    let region = Region { start: Bytes(0), len: Bytes::gib(1) };
    let trial = Trial { ramp: Nanos::SECOND, ..Trial::new(streams, Nanos::secs(3), region) };
    let samples = Samples { count: 12, least: 900.5, most: 1100.5, mean: 1000.0, deviation: 71.5 };
    let latency = LatencyAsFio {
        kind: "lat",
        count: 6_001,
        least_ns: 100,
        most_ns: 2_500_000,
        mean_ns: 31_984.25,
        deviation_ns: Some(4_000.5),
        percentiles: vec![(Share(0.05), Nanos(127)), (Share(0.5), Nanos(31_743)), (Share(0.9995), Nanos(2_490_367))],
        bins: Bins::from([(100, 1), (300, 5_000), (900, 1_000)]),
    };
    let side = SideAsFio {
        op: Op::Read,
        ios: 6_000,
        bytes: 6_000 * 4096,
        iops: 1000.0,
        throughput: 4_096_000.0,
        iops_samples: Some(samples),
        throughput_samples: Some(Samples { least: 1024.0, most: 4096.0, mean: 2048.0, deviation: 512.0, ..samples }),
        latency: Some(latency),
    };
    let job =
        |stream| JobAsFio { stream, cpu_ns: Some(600_000_000), failed: 0, sides: vec![side.clone()], marks: None };
    GroupAsFio {
        case: 0,
        label: "raid5: rand-read, queue_depth 32".into(),
        arm: Some("raid5".into()),
        name: "rand-read".into(),
        axes: vec![("queue_depth".into(), "32".into()), ("block_size".into(), "4 KiB".into())],
        backend: "io_uring_sqpoll".into(),
        trials: 2,
        began_unix_ms: 1_795_296_600_000,
        ended_unix_ms: 1_795_296_608_000,
        runtime: Nanos::secs(6),
        jobs: (0..trial.streams.len() as u16).map(job).collect(),
        asked: trial,
    }
}

fn stream() -> Stream {
    Stream { queue_depth: 32, jobs: 2, ..Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4)) }
}

fn document(group: GroupAsFio) -> serde_json::Value {
    let mut out = Vec::new();
    fio_json(&fixture::run(), &[group], &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_document_has_the_keys_of_fio_in_its_order() {
    let mut out = Vec::new();
    fio_json(&fixture::run(), &[group(vec![stream()])], &mut out).unwrap();
    expect_file!["../../tests/golden/fio.json"].assert_eq(&String::from_utf8(out).unwrap());
}

#[test]
fn a_stream_becomes_options_and_what_has_none_is_told() {
    let zipf = Stream {
        pattern: Pattern::Zipf { theta_thousandths: 1200 },
        sync: Sync::Fdatasync(1),
        rate: Some(Rate::constant(MilliIops::per_second(3000), Gaps::Poisson)),
        jobs: 1,
        ..Stream::new(Mix::of_reads(70), Pattern::Random, Bytes::mib(1))
    };
    let odd = Stream { pattern: Pattern::Reverse, sync: Sync::Dsync, ..stream() };
    let document = document(group(vec![zipf, odd]));
    let options = &document["jobs"][0]["job options"];
    let named = ["rw", "rwmixread", "bs", "ioengine", "random_distribution", "fdatasync", "rate_iops", "rate_process"];
    assert_eq!(
        named.map(|name| options[name].as_str().unwrap_or("-")),
        ["randrw", "70", "1m", "io_uring", "zipf:1.2", "1", "2100,900", "poisson"]
    );
    assert_eq!(document["jobs"][1]["jobname"], "raid5: rand-read, queue_depth 32 stream 2");
    let notes: Vec<&str> =
        document["stend"]["notes"].as_array().unwrap().iter().filter_map(|n| n["en"].as_str()).collect();
    assert_eq!(notes.iter().filter(|note| note.contains("fio has no option for")).count(), 2, "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("RWF_DSYNC")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("lat_ns counts from their begin")), "{notes:?}");
}

#[test]
fn kinds_without_a_rate_are_empty_and_discards_have_the_third() {
    let rate = |mix: Mix, per_second: u32| {
        let rate = Some(Rate::constant(MilliIops::per_second(per_second.into()), Gaps::Even));
        let document = document(group(vec![Stream { mix, rate, ..stream() }]));
        let notes = document["stend"]["notes"].to_string();
        let value = document["jobs"][0]["job options"]["rate_iops"].as_str().map(String::from);
        (value, notes.contains("does not divide evenly among the jobs"))
    };
    let discards = Mix { read: 0, write: 0, discard: 100, write_zeroes: 0 };
    assert_eq!(rate(discards, 50), (Some(",,25".into()), false));
    assert_eq!(rate(discards, 51), (None, true));
    assert_eq!(rate(Mix::of_reads(100), 1000), (Some("500,".into()), false));
    assert_eq!(rate(Mix::of_reads(0), 1000), (Some(",500".into()), false));
    assert_eq!(rate(Mix { write_zeroes: 100, discard: 0, ..discards }, 50), (None, true));
}

#[test]
fn batches_contents_checks_and_places_are_options_or_told_as_left_out() {
    let odd = Stream {
        batch: Batch { size: 8, one_stamp: true },
        data: Data { compress_thousandths: 2500, dedup_thousandths: 2000 },
        verify: Some(Verify { after: true, crash: false }),
        region: Some(Region { start: Bytes(0), len: Bytes::mib(64) }),
        place: Affinity { cpus: vec![0, 2], memory: Some(1) },
        ..stream()
    };
    let document = document(group(vec![odd, stream()]));
    let named = [
        "iodepth_batch_submit",
        "iodepth_batch_complete_min",
        "buffer_compress_percentage",
        "buffer_compress_chunk",
        "cpus_allowed",
        "cpus_allowed_policy",
    ];
    let of = |job: usize| named.map(|name| document["jobs"][job]["job options"][name].as_str().unwrap_or("-"));
    assert_eq!((of(0), of(1)), (["8", "8", "60", "4096", "0,2", "split"], ["-"; 6]));
    let notes = document["stend"]["notes"].to_string();
    for left in
        ["reading of the clock", "equal blocks", "marks with as much", "regions of its jobs", "node of its buffers"]
    {
        assert_eq!(notes.matches(left).count(), 1, "{left}: {notes}");
    }
}

#[test]
fn colons_in_names_of_devices_do_not_part_them() {
    let filename = |run: &RunRecord| {
        let mut out = Vec::new();
        fio_json(run, &[group(vec![stream()])], &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        document["jobs"][0]["job options"]["filename"].clone()
    };
    let mut run = fixture::run();
    run.load_mut().targets[0].kind = stend_record::TargetKind::BlockDevice;
    run.load_mut().targets[0].named = "/dev/disk/by-path/pci-0000:01:00.0-nvme-1".into();
    assert_eq!(filename(&run), r"/dev/disk/by-path/pci-0000\:01\:00.0-nvme-1");
    // An imported result of fio has the value of the option as it was: two devices here.
    run.load_mut().targets.clear();
    let targets = vec!["/dev/sda:/dev/sdb".to_string()];
    run.header.imported = Some(stend_record::Imported { tool: "fio".into(), targets, ..Default::default() });
    assert_eq!(filename(&run), "/dev/sda:/dev/sdb");
}

#[test]
fn whether_the_page_cache_was_used_is_an_option_only_where_it_is_told() {
    let direct = |tool: &str| {
        let (mut run, mut out) = (fixture::run(), Vec::new());
        run.header.imported = Some(stend_record::Imported { tool: tool.into(), ..Default::default() });
        fio_json(&run, &[group(vec![stream()])], &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        document["jobs"][0]["job options"].get("direct").cloned()
    };
    assert_eq!((direct("diskspd"), direct("vdbench")), (Some("1".into()), None));
}

#[test]
fn what_is_not_known_is_not_there() {
    let mut one = group(vec![stream()]);
    (one.jobs[0].cpu_ns, one.trials) = (None, 1);
    let side = &mut one.jobs[0].sides[0];
    (side.iops_samples, side.throughput_samples) = (None, None);
    let latency = side.latency.as_mut().unwrap();
    (latency.kind, latency.deviation_ns) = ("clat", None);
    (latency.percentiles, latency.bins) = (Vec::new(), Bins::new());
    let document = document(one);
    let job = &document["jobs"][0];
    for absent in ["usr_cpu", "sys_cpu", "total_err", "latency_us", "sync"] {
        assert!(job.get(absent).is_none(), "{absent}");
    }
    assert_eq!((&job["write"]["total_ios"], job["write"].get("lat_ns")), (&0.into(), None), "it did not write");
    assert!(job["read"].get("iops_stddev").is_none() && job["read"].get("lat_ns").is_none());
    let clat: Vec<&str> = job["read"]["clat_ns"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(clat, ["N", "max", "mean", "min"]);
    assert_eq!(document["stend"]["notes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn cases_of_several_depths_share_a_folder() {
    assert_eq!(fio_json_place(&group(vec![stream()])), ["raid5", "rand-read-block_size-4_KiB", "randread-32-2.json"]);
    let two = vec![stream(), Stream { queue_depth: 1, mix: Mix::of_reads(0), ..stream() }];
    assert_eq!(fio_json_place(&group(two))[2], "randread+randwrite-32+1-2+2.json");
}
