//! Each warning appears when its cause is there and only then.

use super::*;
use crate::fixture::{case, run, run_of};
use stend_base::Millionths;
use stend_record::{Busy, RunRecord};
use stend_spec::region::{Extent, Part};
use stend_spec::suite::StreamSpec;
use stend_spec::trace::TraceFacts;
use stend_spec::workload::{Mix, Op, Sync};

/// Warnings before a run, after a change of what is known. The size of the memory is not, unless set.
fn before(mut record: RunRecord, change: impl FnOnce(&mut RunRecord)) -> Vec<Caveat> {
    record.load_mut().facts.as_mut().unwrap().memory = Bytes(0);
    change(&mut record);
    let plan = Plan::new(&record.header.inputs).unwrap();
    forewarn(record.load().facts.as_ref().unwrap(), record.load().targets.as_slice(), &plan)
}

/// The same of a run that is fine but for the fill that every run announces.
fn warned(change: impl FnOnce(&mut TargetFacts)) -> Vec<Caveat> {
    let mut found = before(run().record(), |r| change(&mut r.load_mut().targets[0]));
    assert!(matches!(found.pop(), Some(Caveat::WillWrite { .. })), "{found:?}");
    found
}

fn on(file_system: &str, options: &str) -> Vec<Caveat> {
    warned(|target| {
        target.file_system = Some(file_system.into());
        target.mount_options = Some(options.into());
        if !matches!(file_system, "ext4" | "xfs" | "btrfs" | "f2fs" | "bcachefs") {
            target.devices.clear();
        }
    })
}

#[test]
fn a_plain_file_system_on_a_drive_needs_no_warning() {
    assert_eq!(on("ext4", "rw,relatime"), []);
    assert_eq!(on("xfs", "rw,noatime,attr2"), []);
}

#[test]
fn what_is_no_drive_of_this_machine_is_told_once() {
    for memory in ["tmpfs", "ramfs"] {
        assert_eq!(on(memory, "rw"), [Caveat::InMemory { what: memory.into() }]);
    }
    for network in ["nfs", "nfs4", "cifs", "9p", "fuse.sshfs"] {
        assert_eq!(on(network, "rw"), [Caveat::OverNetwork { file_system: network.into() }]);
    }
    for fuse in ["fuseblk", "fuse.mergerfs"] {
        assert_eq!(on(fuse, "rw"), [Caveat::Fuse { file_system: fuse.into() }]);
    }
    assert_eq!(on("overlay", "rw,upperdir=/u"), [Caveat::NoDevice, Caveat::Overlay]);
    let zram = warned(|target| target.devices[1].kind = "zram".into());
    assert_eq!(zram, [Caveat::InMemory { what: "sda".into() }]);
}

#[test]
fn a_device_of_another_host_is_told_and_one_that_this_host_hands_to_itself_is_not() {
    let over = |how: &str, below: bool| {
        warned(|target| {
            let last = target.devices.len() - 1;
            target.devices[last].transport = Some(how.into());
            if below {
                let depth = target.devices[last].depth + 1;
                target.devices.push(stend_record::Device { depth, transport: None, ..target.devices[last].clone() });
            }
        })
    };
    for how in ["tcp", "rdma", "fc", "iscsi"] {
        assert_eq!(over(how, false), [Caveat::OverFabric { device: "sda".into(), transport: how.into() }]);
    }
    assert_eq!(over("tcp", true), []);
    assert_eq!(over("pcie", false), []);
}

#[test]
fn copy_on_write_and_compression_are_told_unless_switched_off() {
    let cow = |file_system: &str| Caveat::CopyOnWrite { file_system: file_system.into() };
    let compressed = |option: &str| Caveat::Compressed { option: option.into() };
    assert_eq!(on("btrfs", "rw,subvol=/"), [cow("btrfs")]);
    assert_eq!(on("btrfs", "rw,nodatacow"), []);
    assert_eq!(on("btrfs", "rw,compress=zstd:3"), [cow("btrfs"), compressed("compress=zstd:3")]);
    assert_eq!(on("btrfs", "rw,compress=no"), [cow("btrfs")]);
    assert_eq!(on("f2fs", "rw,compress_algorithm=lz4"), [compressed("compress_algorithm=lz4")]);
    assert_eq!(on("bcachefs", "rw,compression=none"), [cow("bcachefs")]);
    assert_eq!(on("zfs", "rw,xattr"), [Caveat::NoDevice, cow("zfs")]);
}

#[test]
fn layers_and_drives_below_are_named() {
    let encrypted = warned(|target| {
        target.devices[0].name = "dm-1".into();
        target.devices[0].identity = Some("dm:CRYPT-LUKS2-0a1b".into());
    });
    assert_eq!(encrypted, [Caveat::Encrypted { device: "dm-1".into() }]);
    assert_eq!(warned(|target| target.devices[0].identity = Some("dm:LVM-x".into())), []);
    let cached = |identity: &str| {
        warned(|target| {
            (target.devices[0].name, target.devices[0].size) = ("dm-2".into(), Bytes::gib(4));
            target.devices[0].identity = Some(identity.into());
        })
    };
    let cache = [Caveat::Cached { device: "dm-2".into(), size: Bytes::gib(4) }];
    assert_eq!((cached("dm:LVM-x-cdata"), cached("dm:LVM-x-cvol")), (cache.to_vec(), cache.to_vec()));
    assert_eq!(cached("dm:LVM-x-real"), []);
    let over_two = |identity: &str| {
        warned(|target| {
            let below = target.devices.pop().unwrap();
            let depth = below.depth;
            let named = |name: &str, depth| stend_record::Device { name: name.into(), depth, ..below.clone() };
            let top = stend_record::Device { identity: Some(identity.into()), ..named("dm-7", depth) };
            target.devices.extend([top, named("sdb", depth + 1), named("sdc", depth + 1)]);
        })
    };
    assert_eq!(over_two("dm:STEND-x"), []);
    assert!(matches!(&over_two("dm:STEND-CACHE-x")[..], [Caveat::Cached { device, .. }] if device == "sdc"));
    let usb = warned(|target| target.devices[1].removable = true);
    assert_eq!(usb, [Caveat::Removable { device: "sda".into() }]);
    let guest = warned(|target| target.devices.iter_mut().for_each(|device| device.is_virtual = true));
    assert_eq!(guest, [Caveat::VirtualDisk { device: "sda".into() }], "the lowest one");
}

#[test]
fn a_file_system_is_nearly_full_with_the_test_file_in_it() {
    assert_eq!(warned(|target| target.free = Bytes::gib(40)), []);
    let full = warned(|target| target.free = Bytes::gib(30));
    assert!(matches!(full.as_slice(), [Caveat::NearlyFull { used }] if used.0 > 0.7), "{full:?}");
    assert_eq!(warned(|target| (target.size, target.free) = (Bytes(0), Bytes(0))), [], "a size that is not known");
}

#[test]
fn others_are_told_when_they_do_more_than_a_quiet_system() {
    let busy = |ops, bytes| Some(Busy { device: "sda".into(), span: Nanos::millis(200), ops, bytes: Bytes(bytes) });
    assert_eq!(warned(|target| target.busy = busy(9, 36_864)), []);
    let small = Caveat::OtherLoad { device: "sda".into(), iops: 50.0, bytes_per_s: 204_800.0 };
    assert_eq!(warned(|target| target.busy = busy(10, 40_960)), [small]);
    let large = Caveat::OtherLoad { device: "sda".into(), iops: 5.0, bytes_per_s: 5.0 * 1024.0 * 1024.0 };
    assert_eq!(warned(|target| target.busy = busy(1, 1 << 20)), [large]);
    let unknown = Busy { device: "sda".into(), span: Nanos(0), ops: 9, bytes: Bytes(0) };
    assert_eq!(warned(|target| target.busy = Some(unknown)), []);
}

#[test]
fn what_is_said_of_six_targets_is_said_once() {
    let six = |change: fn(usize, &mut TargetFacts)| {
        before(run().record(), |record| {
            let target = record.load().targets[0].clone();
            record.load_mut().targets = (0..6)
                .map(|index| {
                    let mut own = TargetFacts { path: format!("/srv/{index}"), ..target.clone() };
                    change(index, &mut own);
                    own
                })
                .collect();
        })
    };
    // Each was looked at for itself, and others went on meanwhile.
    let busy = six(|index, target| {
        let ops = 100 + index as u64;
        target.busy = Some(Busy { device: "sda".into(), span: Nanos::SECOND, ops, bytes: Bytes::kib(4 * ops) });
    });
    let most = Caveat::OtherLoad { device: "sda".into(), iops: 105.0, bytes_per_s: 105.0 * 4096.0 };
    assert_eq!(busy.iter().filter(|caveat| matches!(caveat, Caveat::OtherLoad { .. })).collect::<Vec<_>>(), [&most]);
    let guests = six(|index, target| {
        for device in &mut target.devices {
            (device.is_virtual, device.name) = (true, format!("vd{index}"));
        }
    });
    let all = Caveat::VirtualDisk { device: "vd0, vd1, vd2, vd3, vd4, vd5".into() };
    assert_eq!(guests.iter().filter(|caveat| matches!(caveat, Caveat::VirtualDisk { .. })).collect::<Vec<_>>(), [&all]);
    assert!(all.say().en.starts_with("`vd0`, `vd1`, `vd2`, `vd3`, `vd4`, `vd5` are virtual disks"), "{}", all.say().en);
    assert!(all.say().ru.contains("`vd5` — виртуальные диски"), "{}", all.say().ru);
}

/// The warning about memory on a machine with this much of it.
fn memory(gib: u64, change: impl FnOnce(&mut RunRecord)) -> Option<Caveat> {
    let found = before(run().record(), |r| {
        r.load_mut().facts.as_mut().unwrap().memory = Bytes::gib(gib);
        change(r);
    });
    found.into_iter().find(|caveat| matches!(caveat, Caveat::MemorySized { .. }))
}

#[test]
fn a_working_set_of_the_size_of_memory_lasts_as_a_caveat_only_where_memory_can_answer() {
    // The working set of the fixture is what a tenth of the free space hold of a power of two: 4 GiB.
    assert_eq!(memory(1, |_| {}), None);
    assert_eq!(memory(0, |_| {}), None, "memory is not known");
    let direct = memory(3, |_| {}).unwrap();
    assert!(
        matches!(direct, Caveat::MemorySized { working_set: Bytes(4_294_967_296), direct: true, .. }),
        "{direct:?}"
    );
    assert!(direct.is_preliminary());
    for change in [
        (|r: &mut RunRecord| r.header.inputs.suite.cases[0].direct = false) as fn(&mut RunRecord),
        |r| r.load_mut().targets[0].file_system = Some("zfs".into()),
        |r| r.load_mut().targets[0].file_system = Some("fuseblk".into()),
    ] {
        assert!(!memory(3, change).unwrap().is_preliminary());
    }
    let nfs = |r: &mut RunRecord| r.load_mut().targets[0].file_system = Some("nfs4".into());
    assert_eq!(memory(3, nfs), None, "its memory is elsewhere");
}

#[test]
fn a_range_that_is_read_unfilled_is_told() {
    let found = before(run().record(), |r| r.header.inputs.suite.fill = None);
    assert_eq!(found, [Caveat::NotFilled]);
}

#[test]
fn reads_of_what_is_erased_are_told_at_once_or_later() {
    let told = |mixes: &[Mix]| {
        let cases = mixes.iter().enumerate().map(|(i, &mix)| {
            let mut case = case(&i.to_string(), 100, 1, Sync::None);
            case.streams[0].mix = mix;
            case
        });
        let found = before(run_of(cases.collect()).record(), |_| {});
        found.into_iter().find(|caveat| matches!(caveat, Caveat::ReadsErased { .. }))
    };
    let reads = Mix::of_reads(100);
    let mixed = Mix { read: 90, write: 0, discard: 0, write_zeroes: 10 };
    assert_eq!(told(&[mixed]), Some(Caveat::ReadsErased { at_once: true }));
    assert_eq!(told(&[reads, Mix::only(Op::Discard)]), Some(Caveat::ReadsErased { at_once: false }));
    assert_eq!(told(&[Mix::only(Op::Discard)]), None, "nobody reads");
    assert_eq!(told(&[reads, Mix::of_reads(0)]), None, "nothing is taken away");
    let mut apart = case("apart", 100, 1, Sync::None);
    apart.streams.push(StreamSpec { mix: Mix::only(Op::Discard), ..apart.streams[0].clone() });
    let erased = |case: &stend_spec::suite::SuiteCase| {
        let found = before(run_of(vec![case.clone()]).record(), |_| {});
        found.iter().any(|caveat| matches!(caveat, Caveat::ReadsErased { .. }))
    };
    assert!(!erased(&apart), "jobs without a region of their own share no block");
    apart.streams[0].queue_depth = vec![1, 8];
    assert!(!erased(&apart), "nor do they at another depth");
    apart.streams[0].jobs = vec![1, 3];
    assert!(erased(&apart), "other numbers of jobs divide the range elsewhere");
}

/// A case of streams in these parts of the range, in percent, that do this.
fn in_parts(streams: &[(u32, u32, Mix)]) -> Vec<Caveat> {
    let mut asked = case("parts", 100, 1, Sync::None);
    let percent = |n| Extent::Share(Millionths::percent(n));
    let part = |start, size| Some(Part { start: percent(start), size: Some(percent(size)) });
    let stream = asked.streams[0].clone();
    let of = |&(start, size, mix): &(u32, u32, Mix)| StreamSpec { mix, region: part(start, size), ..stream.clone() };
    asked.streams = streams.iter().map(of).collect();
    let mut found = before(run_of(vec![asked]).record(), |_| {});
    found.retain(|caveat| !matches!(caveat, Caveat::WillWrite { .. }));
    found
}

#[test]
fn regions_that_overlap_are_told_before_and_shown_by_a_check_afterwards() {
    let reads = Mix::of_reads(100);
    assert_eq!(in_parts(&[(0, 50, reads), (50, 50, reads)]), []);
    let overlap = Caveat::StreamsOverlap { case: "parts".into(), first: 1, second: 3 };
    assert!(overlap.is_preliminary());
    assert_eq!(in_parts(&[(0, 30, reads), (30, 30, reads), (20, 10, reads)]), [overlap]);
}

#[test]
fn a_trace_that_is_not_replayed_as_it_was_recorded_says_in_what_way() {
    let told = |beyond: &str, change: fn(&mut TraceFacts)| {
        let mut case = crate::fixture::traced_case("db", "t.iolog");
        case.streams[0].trace.as_mut().unwrap().beyond = if beyond == "wrap" { Beyond::Wrap } else { Beyond::Scale };
        let mut record = crate::fixture::run_of(vec![case]).record();
        change(&mut record.header.inputs.traces[0]);
        let caveats = before(record, |_| {});
        caveats.into_iter().filter(|caveat| matches!(caveat, Caveat::TraceChanged { .. })).collect::<Vec<_>>()
    };
    let changed = |aligned, left_out, wrapped, scaled| {
        vec![Caveat::TraceChanged { trace: "t.iolog".into(), ios: 2, aligned, left_out, wrapped, scaled }]
    };
    assert_eq!(told("wrap", |_| {}), []);
    assert_eq!(told("wrap", |facts| facts.end = Bytes::gib(90)), changed(0, 0, true, false));
    assert_eq!(told("scale", |facts| facts.end = Bytes::gib(90)), changed(0, 0, false, true));
    assert_eq!(told("wrap", |facts| (facts.aligned, facts.left_out.no_io) = (1, 5)), changed(1, 5, false, false));
}

#[test]
fn reads_beside_what_is_erased_are_fine_and_reads_of_it_are_not() {
    let (reads, discards) = (Mix::of_reads(100), Mix::only(Op::Discard));
    assert_eq!(in_parts(&[(0, 50, reads), (50, 50, discards)]), []);
    let found = in_parts(&[(0, 51, reads), (50, 50, discards)]);
    assert!(matches!(found[..], [Caveat::ReadsErased { at_once: true }, Caveat::StreamsOverlap { .. }]), "{found:?}");
}

#[test]
fn only_a_read_of_something_in_use_comes_first() {
    let found = before(run().record(), |r| {
        let mounted = Refusal::Mounted { at: "/srv".into() };
        r.load_mut().targets[0].access = WriteAccess::Refused(vec![mounted, Refusal::ReadOnly]);
        r.load_mut().facts.as_mut().unwrap().cpus = 2;
    });
    let [Caveat::TargetInUse { reasons }, Caveat::FewCpus { cpus: 2 }, _] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(reasons.len(), 1);
}

#[test]
fn what_will_be_written_is_told_with_its_share_of_a_drive_that_wears() {
    let written = |change: fn(&mut Device)| {
        let cases = vec![case("r", 100, 1, Sync::None), case("w", 0, 1, Sync::None)];
        let mut found = before(run_of(cases).record(), |r| {
            let disk = &mut r.load_mut().targets[0].devices[1];
            (disk.rotational, disk.size) = (Some(false), Bytes::gib(500));
            change(disk);
        });
        found.pop().unwrap()
    };
    // Six trials of 0.5 s ramp and 2 s window write.
    let all = |drive| Caveat::WillWrite { fill: Bytes::gib(4), trials: Nanos::secs(15), drive };
    assert_eq!(written(|_| {}), all(Some(("sda".into(), Bytes::gib(500)))));
    assert_eq!(written(|disk| disk.rotational = Some(true)), all(None));
    assert_eq!(written(|disk| disk.is_virtual = true), all(None), "what wears is not seen");
}

#[test]
fn a_sequential_job_for_several_targets_loads_them_in_turn() {
    use stend_spec::suite::JobsOf;
    use stend_spec::workload::Pattern;
    let on_three = |change: fn(&mut StreamSpec)| {
        let found = before(run_of(vec![case("x", 100, 4, Sync::None)]).record(), |record| {
            record.header.inputs.target.count = 3;
            change(&mut record.header.inputs.suite.cases[0].streams[0]);
        });
        found.into_iter().find(|caveat| matches!(caveat, Caveat::TargetsInTurn { .. }))
    };
    assert_eq!(on_three(|_| {}), None, "random I/O goes to all of them");
    let told = Some(Caveat::TargetsInTurn { cases: 1, targets: 3 });
    assert_eq!(on_three(|stream| (stream.pattern, stream.jobs) = (Pattern::Sequential, vec![2])), told);
    assert_eq!(on_three(|stream| (stream.pattern, stream.jobs) = (Pattern::SharedSequential, vec![9])), told);
    assert_eq!(on_three(|stream| (stream.pattern, stream.jobs) = (Pattern::Sequential, vec![3])), None);
    assert_eq!(on_three(|stream| (stream.pattern, stream.jobs_of) = (Pattern::Sequential, JobsOf::Target)), None);
}
