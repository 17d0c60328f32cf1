//! What can be said against a measurement before it begins: from host, target and plan alone.

mod others;

use crate::findings::Caveat;
use crate::limits::{FEW_CPUS, MEMORY_SIZES, NEARLY_FULL, OTHER_BYTES_PER_S, OTHER_IOPS};
pub use others::forewarn_others;
use std::collections::BTreeSet;
use stend_base::{Bytes, Nanos, Say, Share, say};
use stend_plan::fit::spans;
use stend_plan::{Case, Plan};
use stend_record::targets::devices;
use stend_record::{Device, HostFacts, Refusal, TargetFacts, TargetKind, WriteAccess};
use stend_spec::external::{Difference, differences};
use stend_spec::trace::Beyond;
use stend_spec::workload::{Backend, Engine, Pattern, Stream};

/// Reasons to doubt what is about to be measured, most serious first. All but the preliminary ones (see
/// [`Caveat::is_preliminary`]) are in the findings of the run again.
pub fn forewarn(host: &HostFacts, targets: &[TargetFacts], plan: &Plan) -> Vec<Caveat> {
    let mut found = Vec::new();
    found.extend(no_storage(targets, plan));
    found.extend(other_engine(plan));
    found.extend(not_filled(plan));
    found.extend(reads_erased(plan));
    found.extend(streams_overlap(plan));
    found.extend(traces_changed(plan));
    found.extend(targets_in_turn(plan));
    found.extend(in_use(targets));
    found.extend(each(targets, other_load));
    found.extend(each(targets, medium));
    found.extend(each(targets, fabric));
    found.extend(each(targets, layers));
    found.extend(each(targets, drives));
    found.extend(each(targets, |target| nearly_full(target, plan)));
    found.extend(memory_sized(host, targets, plan));
    found.extend(few_cpus(host));
    found.extend(will_write(targets, plan));
    found
}

impl Caveat {
    /// Whether it is said before measuring only: afterwards the run itself shows how it was (the bytes that
    /// reached the drives, check H11; the bytes that jobs share, H16), or it was no reason to doubt.
    pub fn is_preliminary(&self) -> bool {
        matches!(
            self,
            Caveat::WillWrite { .. } | Caveat::StreamsOverlap { .. } | Caveat::MemorySized { direct: true, .. }
        )
    }
}

fn running(plan: &Plan) -> impl Iterator<Item = &Case> {
    plan.cases.iter().filter(|case| case.not_run.is_none())
}

/// What is measured is not a property of any storage, in all cases or in some.
pub(crate) fn no_storage(targets: &[TargetFacts], plan: &Plan) -> Option<Caveat> {
    let null = |case: &Case| case.trial.backend == Backend::Null;
    let nowhere = targets.iter().find(|target| target.kind == TargetKind::NullDevice);
    let all = running(plan).all(null);
    let idle = |case: &Case| case.not_run.is_none() && null(case);
    let cases: Vec<String> =
        (0..).zip(&plan.cases).filter_map(|(i, c)| plan.listed_as(i).filter(|_| idle(c))).collect();
    match (nowhere, cases.is_empty()) {
        (Some(target), _) if !all => Some(Caveat::NoStorage { what: target.path.clone(), cases: Vec::new() }),
        (_, false) => {
            Some(Caveat::NoStorage { what: "backend: none".into(), cases: if all { Vec::new() } else { cases } })
        }
        _ => None,
    }
}

/// Reads are planned over a range that the plan does not write first.
fn not_filled(plan: &Plan) -> Option<Caveat> {
    let reads = running(plan).any(|case| case.trial.streams.iter().any(|stream| stream.mix.reads()));
    (reads && plan.fill.is_none()).then_some(Caveat::NotFilled)
}

/// Reads of what is discarded or zeroed, by the same trial or by one before it. All cases work in one range; inside a
/// trial streams share bytes only where they name regions that overlap.
fn reads_erased(plan: &Plan) -> Option<Caveat> {
    let reads = |s: &&Stream| s.mix.reads();
    let erases = |s: &&Stream| s.mix.erases();
    let inside = |case: &Case| {
        let streams = &case.trial.streams;
        streams.iter().filter(reads).any(|r| streams.iter().filter(erases).any(|e| std::ptr::eq(r, e) || overlap(r, e)))
    };
    let at_once = running(plan).any(inside);
    // The same bytes in every trial of one case, but not always in those of cases that differ in an axis.
    let spans = |of: fn(&Stream) -> bool| -> BTreeSet<(u64, u64)> {
        running(plan).flat_map(|case| spans(&case.trial, of)).map(|span| (span.start, span.end)).collect()
    };
    let (read, erased) = (spans(|s| s.mix.reads()), spans(|s| s.mix.erases()));
    let later = read.iter().any(|read| erased.iter().any(|erased| read.0 < erased.1 && erased.0 < read.1));
    (at_once || later).then_some(Caveat::ReadsErased { at_once })
}

/// Whether two streams that run together work on the same bytes.
fn overlap(a: &Stream, b: &Stream) -> bool {
    matches!((a.region, b.region), (Some(a), Some(b)) if a.overlaps(b))
}

/// The first two streams of a case whose regions have bytes in common.
fn streams_overlap(plan: &Plan) -> Option<Caveat> {
    running(plan).find_map(|case| {
        let streams = &case.trial.streams;
        let mut pairs = (0..streams.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
        let (first, second) = pairs.find(|&(i, j)| overlap(&streams[i], &streams[j]))?;
        Some(Caveat::StreamsOverlap { case: case.label(), first: first as u32 + 1, second: second as u32 + 1 })
    })
}

/// Cases that load only some of several targets at any moment, because fewer jobs than those go through the range in order.
fn targets_in_turn(plan: &Plan) -> Option<Caveat> {
    let in_order = |stream: &Stream| {
        let ordered = matches!(stream.pattern, Pattern::Sequential | Pattern::Reverse | Pattern::Strided { .. });
        stream.region.is_none() && (stream.pattern.is_shared() || ordered && stream.jobs < plan.targets)
    };
    let in_turn = |case: &&Case| case.trial.parts < plan.targets && case.trial.streams.iter().all(in_order);
    let cases = running(plan).filter(in_turn).count() as u32;
    (plan.targets > 1 && cases > 0).then_some(Caveat::TargetsInTurn { cases, targets: plan.targets })
}

/// Traces of which something else is replayed than was recorded, each told once for each way in which it is.
fn traces_changed(plan: &Plan) -> Vec<Caveat> {
    let mut found = Vec::new();
    for (range, stream) in running(plan).flat_map(|case| case.trial.streams.iter().map(move |s| (case.trial.region, s)))
    {
        let Some(replay) = stream.replay else { continue };
        let Some(facts) = plan.traces.get(replay.trace as usize) else { continue };
        let outside = replay.end > stream.region.unwrap_or(range).len;
        let caveat = Caveat::TraceChanged {
            trace: facts.source.file.clone(),
            ios: facts.count(),
            aligned: facts.aligned,
            left_out: facts.left_out.no_io,
            wrapped: outside && replay.beyond == Beyond::Wrap,
            scaled: outside && replay.beyond == Beyond::Scale,
        };
        let changed = outside || facts.aligned > 0 || facts.left_out.no_io > 0;
        if changed && !found.contains(&caveat) {
            found.push(caveat);
        }
    }
    found
}

/// What is said of each of several targets: the same thing once, with all devices that it is said of.
fn each<T: IntoIterator<Item = Caveat>>(targets: &[TargetFacts], of: impl Fn(&TargetFacts) -> T) -> Vec<Caveat> {
    let mut found: Vec<Caveat> = Vec::new();
    for caveat in targets.iter().flat_map(of) {
        if !found.iter_mut().any(|known| folded(known, &caveat)) {
            found.push(caveat);
        }
    }
    found
}

/// Whether a caveat says what a known one says, which then stands for both.
fn folded(known: &mut Caveat, other: &Caveat) -> bool {
    let join = |all: &mut String, one: &String| {
        if !all.split(", ").any(|name| name == one) {
            *all = format!("{all}, {one}");
        }
    };
    match (&mut *known, other) {
        (Caveat::VirtualDisk { device }, Caveat::VirtualDisk { device: one })
        | (Caveat::Removable { device }, Caveat::Removable { device: one })
        | (Caveat::Encrypted { device }, Caveat::Encrypted { device: one })
        | (Caveat::InMemory { what: device }, Caveat::InMemory { what: one }) => join(device, one),
        (Caveat::OverFabric { device, transport }, Caveat::OverFabric { device: one, transport: same })
            if transport == same =>
        {
            join(device, one);
        }
        // A drive below several targets was looked at once for each; the most that was seen counts.
        (
            Caveat::OtherLoad { device, iops, bytes_per_s },
            Caveat::OtherLoad { device: same, iops: more, bytes_per_s: bytes },
        ) if device == same => (*iops, *bytes_per_s) = (iops.max(*more), bytes_per_s.max(*bytes)),
        (known, other) => return known == other,
    }
    true
}

/// With several targets each reason names its own.
fn in_use(targets: &[TargetFacts]) -> Option<Caveat> {
    let told = |target: &TargetFacts, refusal: &Refusal| {
        let (Say { en, ru }, path) = (refusal.say(), &target.path);
        if targets.len() > 1 { say!("`{path}` {en}", "`{path}` {ru}") } else { Say { en, ru } }
    };
    let of = |target: &TargetFacts| match &target.access {
        WriteAccess::Refused(all) => all.iter().filter(|r| is_in_use(r)).map(|r| told(target, r)).collect(),
        WriteAccess::OwnDirectory | WriteAccess::Confirm { .. } | WriteAccess::Nowhere => Vec::new(),
    };
    let reasons: Vec<Say> = targets.iter().flat_map(of).collect();
    (!reasons.is_empty()).then_some(Caveat::TargetInUse { reasons })
}

/// Whether a refusal means that others may do I/O to the target while it is measured.
fn is_in_use(refusal: &Refusal) -> bool {
    use Refusal::*;
    matches!(
        refusal,
        Mounted { .. }
            | RelativeMounted { .. }
            | MountedElsewhere { .. }
            | Swap { .. }
            | Member { .. }
            | Holder { .. }
            | HeldBy { .. }
            | RootDisk { .. }
            | InUseByRun { .. }
    )
}

fn other_load(target: &TargetFacts) -> Option<Caveat> {
    let busy = target.busy.as_ref().filter(|busy| busy.span > Nanos(0))?;
    let seconds = busy.span.as_secs();
    let (iops, bytes_per_s) = (busy.ops as f64 / seconds, busy.bytes.0 as f64 / seconds);
    let much = iops >= OTHER_IOPS || bytes_per_s >= OTHER_BYTES_PER_S;
    much.then(|| Caveat::OtherLoad { device: busy.device.clone(), iops, bytes_per_s })
}

/// Where the bytes go, if not simply to a drive of this machine.
fn medium(target: &TargetFacts) -> Option<Caveat> {
    let memory_device = target.devices.iter().find(|device| matches!(device.kind.as_str(), "zram" | "ram"));
    let kind = target.file_system.as_deref().unwrap_or_default();
    let file_system = kind.to_string();
    match kind {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => Some(Caveat::InMemory { what: file_system }),
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p" | "virtiofs" | "lustre" | "afs" | "beegfs" | "gpfs"
        | "fuse.glusterfs" | "fuse.sshfs" => Some(Caveat::OverNetwork { file_system }),
        _ if kind == "fuseblk" || kind == "fuse" || kind.starts_with("fuse.") => Some(Caveat::Fuse { file_system }),
        _ => match memory_device {
            Some(device) => Some(Caveat::InMemory { what: device.name.clone() }),
            None => {
                let unknown = target.devices.is_empty() && target.kind != TargetKind::NullDevice;
                unknown.then_some(Caveat::NoDevice)
            }
        },
    }
}

/// A device of another host: nothing below it is of this one, as it is where this host hands it out to itself.
fn fabric(target: &TargetFacts) -> Option<Caveat> {
    let devices = &target.devices;
    let is_last = |index: usize| devices.get(index + 1).is_none_or(|next| next.depth <= devices[index].depth);
    let mut far = devices.iter().enumerate().filter(|(index, _)| is_last(*index)).filter_map(|(_, device)| {
        let transport =
            device.transport.clone().filter(|how| matches!(how.as_str(), "tcp" | "rdma" | "fc" | "iscsi" | "nbd"))?;
        Some(Caveat::OverFabric { device: device.name.clone(), transport })
    });
    far.next()
}

/// Layers between the I/O and the drives that change it on its way.
fn layers(target: &TargetFacts) -> Vec<Caveat> {
    let options = || target.mount_options.as_deref().unwrap_or_default().split(',');
    let mut found = Vec::new();
    match target.file_system.as_deref() {
        Some("overlay") => found.push(Caveat::Overlay),
        // The one way to make btrfs write in place.
        Some("btrfs") if options().any(|option| option == "nodatacow") => {}
        Some(kind @ ("btrfs" | "zfs" | "bcachefs" | "nilfs2")) => {
            found.push(Caveat::CopyOnWrite { file_system: kind.to_string() });
        }
        _ => {}
    }
    found.extend(options().find(|o| compresses(o)).map(|option| Caveat::Compressed { option: option.to_string() }));
    let encrypted = target.devices.iter().find(|device| {
        // Device mapper: the UUID of a mapping begins with the subsystem that made it.
        device.identity.as_deref().is_some_and(|identity| identity.starts_with("dm:CRYPT-"))
    });
    found.extend(encrypted.map(|device| Caveat::Encrypted { device: device.name.clone() }));
    found.extend(cache(target));
    found
}

/// A cache below a target. LVM: dm-cache over a part with the data alone, dm-writecache over the whole volume that holds them. A
/// stand: a mapping over the slow device and, behind it, the fast one.
//= LVM 2.03, lib/activate/dev_manager.c, build_dm_uuid(): "cdata", "cvol"
fn cache(target: &TargetFacts) -> Option<Caveat> {
    let part = |suffix: &str| {
        target.devices.iter().find(|device| {
            device.identity.as_deref().is_some_and(|own| own.starts_with("dm:LVM-") && own.ends_with(suffix))
        })
    };
    let device = part("-cdata").or_else(|| part("-cvol")).or_else(|| second_below(target, "dm:STEND-CACHE-"))?;
    Some(Caveat::Cached { device: device.name.clone(), size: device.size })
}

/// The second of the devices that lie directly below the first one whose identity begins so.
fn second_below<'a>(target: &'a TargetFacts, identity: &str) -> Option<&'a Device> {
    let is = |device: &Device| device.identity.as_deref().is_some_and(|own| own.starts_with(identity));
    let mut from = target.devices.iter().skip_while(|device| !is(device));
    let depth = from.next()?.depth;
    from.take_while(|device| device.depth > depth).filter(|device| device.depth == depth + 1).nth(1)
}

/// btrfs `compress=zstd:3`, `compress-force=…`; f2fs `compress_algorithm=…`; bcachefs `compression=…`.
pub(crate) fn compresses(option: &str) -> bool {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    matches!(name, "compress" | "compress-force" | "compress_algorithm" | "compression")
        && !matches!(value, "no" | "none" | "off")
}

fn drives(target: &TargetFacts) -> Vec<Caveat> {
    let lowest = |holds: fn(&&Device) -> bool| target.devices.iter().filter(holds).max_by_key(|d| d.depth);
    let name = |device: &Device| device.name.clone();
    let removable = lowest(|d| d.removable).map(|d| Caveat::Removable { device: name(d) });
    let virtual_disk = lowest(|d| d.is_virtual).map(|d| Caveat::VirtualDisk { device: name(d) });
    virtual_disk.into_iter().chain(removable).collect()
}

fn nearly_full(target: &TargetFacts, plan: &Plan) -> Option<Caveat> {
    let file: Bytes = plan.files.iter().copied().sum();
    if plan.files.is_empty() || target.size == Bytes(0) {
        return None;
    }
    let used = target.size.0.saturating_sub(target.free.0).saturating_add(file.0);
    let share = used as f64 / target.size.0 as f64;
    (share >= NEARLY_FULL).then_some(Caveat::NearlyFull { used: Share(share) })
}

/// A working set that a cache of the size of this machine's memory would hold for the larger part.
fn memory_sized(host: &HostFacts, targets: &[TargetFacts], plan: &Plan) -> Option<Caveat> {
    // The data of an application lie beside the range.
    let working_set = running(plan).filter(|case| case.trial.app.is_none()).map(|case| case.trial.region.len).max()?;
    // In memory anyway, or far away: this machine's memory is not the question.
    let is_elsewhere = |caveat: Caveat| matches!(caveat, Caveat::InMemory { .. } | Caveat::OverNetwork { .. });
    let elsewhere = targets.iter().all(|target| medium(target).is_some_and(is_elsewhere));
    if elsewhere || working_set.0 >= host.memory.0.saturating_mul(MEMORY_SIZES) {
        return None;
    }
    // ZFS and most FUSE servers keep data in memory even for direct I/O.
    let keeps = |file_system: &str| file_system == "zfs" || file_system.starts_with("fuse");
    let goes_around = !targets.iter().filter_map(|target| target.file_system.as_deref()).any(keeps);
    let direct = goes_around && running(plan).all(|case| case.trial.direct);
    Some(Caveat::MemorySized { working_set, memory: host.memory, direct })
}

/// What another engine means otherwise by the cases that it runs.
fn other_engine(plan: &Plan) -> Option<Caveat> {
    let others = || running(plan).filter(|case| case.trial.engine != Engine::Native);
    let differences: BTreeSet<Difference> = others().flat_map(|case| differences(&case.trial)).collect();
    let cases = others().count() as u32;
    let told = Difference::ALL.into_iter().filter(|difference| differences.contains(difference)).collect();
    (cases > 0).then_some(Caveat::OtherEngine { cases, differences: told })
}

fn few_cpus(host: &HostFacts) -> Option<Caveat> {
    (host.cpus > 0 && host.cpus <= FEW_CPUS).then_some(Caveat::FewCpus { cpus: host.cpus })
}

fn will_write(targets: &[TargetFacts], plan: &Plan) -> Option<Caveat> {
    let writes = |case: u32| plan.cases.get(case as usize).filter(|case| case.trial.writes());
    let one = |case: &Case| case.trial.ramp.0.saturating_add(case.trial.window.0);
    let trials = plan.order.iter().filter_map(|&(_, case)| writes(case)).map(one);
    let searched = plan.ladders.iter().filter_map(|ladder| {
        Some(one(writes(*ladder.cells.first()?)?).saturating_mul(u64::from(ladder.usual_trials())))
    });
    let rounds =
        (0..plan.cases.len() as u32).filter(|case| writes(*case).is_some()).map(|case| plan.rounds_time(case).0);
    let trials = Nanos(trials.chain(searched).chain(rounds).fold(0, u64::saturating_add));
    let fill = plan.fill_bytes();
    let solid = |d: &&Device| d.kind == "disk" && d.rotational == Some(false) && !d.is_virtual;
    let solid: Vec<&Device> = devices(targets).into_iter().filter(solid).collect();
    let drive = match solid.as_slice() {
        [drive] => Some((drive.name.clone(), drive.size)),
        _ => None,
    };
    (fill > Bytes(0) || trials > Nanos(0)).then_some(Caveat::WillWrite { fill, trials, drive })
}

#[cfg(test)]
mod tests;
