//! Answers of several load hosts as one for the walk. Pure.

use super::Notice;
use crate::channel::out_of_order;
use crate::step::Input;
use stend_base::text::counted;
use stend_base::{Bytes, Error, Result, Say, format, say};
use stend_record::{Entry, HostId, HostInfo, TargetFacts, TargetKind, TrialOutcome, joins_paths};
use stend_spec::workload::Region;
use stend_wire::{Facts, FromHost, Reply};

/// What answers of all hosts mean.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// For the walk and the run file.
    pub heard: Vec<Notice>,
    /// Length of the part that each host has of devices that they share, as soon as it is known.
    pub part: Option<Bytes>,
}

/// What answers of all hosts to one request mean; they come in the order of the hosts, of which this much is known. During a
/// trial that is not `whole` a host was lost.
///
/// Errors: the host whose answer does not go with that of the first, and why.
pub(super) fn joined(
    answers: Vec<(HostId, Reply)>,
    whole: bool,
    known: impl Fn(HostId) -> HostInfo,
) -> std::result::Result<Joined, (HostId, Box<Error>)> {
    let kind = |reply: &Reply| std::mem::discriminant(reply);
    let Some((_, first)) = answers.first() else { return Ok(Joined::default()) };
    if let Some((host, _)) = answers.iter().find(|(_, reply)| kind(reply) != kind(first)) {
        return Err((*host, out_of_order()));
    }
    let input = match first {
        Reply::Facts(_) => return of_facts(answers, known),
        Reply::TrialDone { ordinal, .. } => {
            Input::TrialDone { ordinal: *ordinal, parts: each(answers, trial_outcome), whole }
        }
        Reply::Filled(_) => Input::Filled(each(answers, |reply| match reply {
            Reply::Filled(outcome) => Some(outcome),
            _ => None,
        })),
        Reply::Zeros(_) => Input::Zeros(each(answers, |reply| match reply {
            Reply::Zeros(zeros) => Some(zeros),
            _ => None,
        })),
        other => Input::Host(FromHost::Reply(other.clone())),
    };
    Ok(Joined { heard: vec![Notice::Walk(input)], part: None })
}

fn each<T>(answers: Vec<(HostId, Reply)>, of: fn(Reply) -> Option<T>) -> Vec<(HostId, T)> {
    answers.into_iter().filter_map(|(host, reply)| Some((host, of(reply)?))).collect()
}

fn trial_outcome(reply: Reply) -> Option<TrialOutcome> {
    match reply {
        Reply::TrialDone { outcome, .. } => Some(*outcome),
        _ => None,
    }
}

/// What of an answer belongs in the run file, whatever the others say.
pub(super) fn kept(host: HostId, reply: &Reply) -> Vec<Notice> {
    match reply {
        Reply::Filled(outcome) => vec![Notice::Keep(Entry::Fill { host, outcome: *outcome })],
        Reply::Zeros(zeros) => vec![Notice::Keep(Entry::Zeros { host, zeros: *zeros })],
        _ => Vec::new(),
    }
}

/// Facts that hold on each host, for the plan; the run file gets those of each.
fn of_facts(
    answers: Vec<(HostId, Reply)>,
    known: impl Fn(HostId) -> HostInfo,
) -> std::result::Result<Joined, (HostId, Box<Error>)> {
    let all = answers.into_iter().filter_map(|(host, reply)| match reply {
        Reply::Facts(facts) => Some((host, *facts)),
        _ => None,
    });
    let all: Vec<(HostId, Facts)> = all.collect();
    let Some(Together { facts, part }) = together(&all)? else { return Ok(Joined::default()) };
    let mut heard = Vec::new();
    heard.extend(part.map(|part| Notice::Warn(shared(part))));
    heard.extend(doubt(&all, |host| known(host).name).map(Notice::Warn));
    for (host, facts) in &all {
        let part = part.map(|len| part_of(*host, len));
        let Facts { host: found, ports, targets, .. } = facts.clone();
        let info = HostInfo { facts: Some(found), ports, targets, part, ..known(*host) };
        heard.push(Notice::Keep(Entry::Host { host: *host, info: Box::new(info) }));
    }
    // The walk comes first: it makes the file in which the hosts are kept.
    heard.insert(0, Notice::Walk(Input::Facts { together: Box::new(facts), each: all }));
    Ok(Joined { heard, part })
}

fn shared(part: Bytes) -> Say {
    say!(
        |lang| "the load hosts share their devices: each loads a part of its own, {size} of each device",
        "устройства у нагружающих машин общие: каждая нагружает свою часть — по {size} на устройстве",
        size = format::bytes(part, lang)
    )
}

/// What holds on each of several hosts.
pub(crate) struct Together {
    /// Sizes are the smallest that any of them has, or the part of each where they share devices.
    pub facts: Facts,
    /// Length of the part that each host has of devices that they share; `None`: no two of them use one.
    pub part: Option<Bytes>,
}

/// The part of a host of each device that hosts share.
pub(crate) fn part_of(host: HostId, len: Bytes) -> Region {
    Region { start: Bytes(len.0 * u64::from(host.0)), len }
}

/// What holds on each host; `None` without any.
///
/// Errors: the host whose targets do not go with those of the others, and why.
pub(crate) fn together(all: &[(HostId, Facts)]) -> std::result::Result<Option<Together>, (HostId, Box<Error>)> {
    let Some(((_, first), others)) = all.split_first() else { return Ok(None) };
    let mut facts = first.clone();
    let share = others.iter().any(|(_, other)| are_the_same(&first.targets, &other.targets));
    for ((host, other), before) in others.iter().zip(1..) {
        add(&mut facts, other).map_err(|error| (*host, error))?;
        if share {
            must_be_the_same(&first.targets, &other.targets).map_err(|error| (*host, error))?;
        } else {
            not_shared(&all[..before], other).map_err(|error| (*host, error))?;
        }
    }
    let hosts = all.len() as u64;
    facts.targets.iter_mut().filter(|_| hosts > 1).for_each(|target| divide_room(target, hosts));
    let part = share.then(|| divide_devices(&mut facts.targets, hosts));
    Ok(Some(Together { facts, part }))
}

/// A directory without a device below it is one of a network, which hosts may share: then each has its part of the room.
fn divide_room(target: &mut TargetFacts, hosts: u64) {
    if target.kind == TargetKind::Directory && target.devices.is_empty() {
        (target.size.0, target.free.0) = (target.size.0 / hosts, target.free.0 / hosts);
    }
}

/// Each host has an equal part of every device, which begins where its blocks do; gives the length.
fn divide_devices(targets: &mut [TargetFacts], hosts: u64) -> Bytes {
    let least = targets.iter().map(|target| target.size.0).min().unwrap_or_default();
    let part = Bytes(least / hosts / PART_GRAIN.0 * PART_GRAIN.0);
    targets.iter_mut().for_each(|target| (target.size, target.free) = (part, part));
    part
}

/// Parts of devices begin at multiples of this: no block of any device lies in two of them.
const PART_GRAIN: Bytes = Bytes::mib(1);

/// Whether these are the same devices for two hosts, in the same order.
fn are_the_same(first: &[TargetFacts], other: &[TargetFacts]) -> bool {
    !first.is_empty() && first.len() == other.len() && first.iter().zip(other).all(|(a, b)| is_the_same(a, b))
}

/// Serial numbers repeat, above all those that people gave to disks of virtual machines: such a device has to look the same, too.
fn is_the_same(one: &TargetFacts, other: &TargetFacts) -> bool {
    let Some(identity) = own_identity(one).filter(|_| own_identity(one) == own_identity(other)) else { return false };
    let model = |target: &TargetFacts| target.devices.first().and_then(|device| device.model.clone());
    !identity.starts_with("serial:") || (one.size, model(one)) == (other.size, model(other))
}

/// What a device that is used calls itself, if that is the same on every host: a disk, or a part of one.
fn own_identity(target: &TargetFacts) -> Option<&str> {
    target.identity.as_deref().filter(|identity| target.kind == TargetKind::BlockDevice && is_worldwide(identity))
}

/// Whether every host knows a device by this: a disk, what joins paths to one, and an export of a stand.
fn is_worldwide(identity: &str) -> bool {
    let is_one_of = |prefixes: [&str; 3]| prefixes.iter().any(|prefix| identity.starts_with(prefix));
    is_one_of(["wwn:", "serial:", "nbd:"]) || identity.strip_prefix("dm:").is_some_and(joins_paths)
}

/// Where hosts share devices, each uses them all, in one order.
fn must_be_the_same(first: &[TargetFacts], other: &[TargetFacts]) -> Result<()> {
    if are_the_same(first, other) {
        return Ok(());
    }
    let message = say!(
        "its targets are not those of the first host, and other hosts share them",
        "её объекты не те, что у первой машины, а другие машины делят их с первой"
    );
    Err(Error::usage(message).hint(say!(
        "name the same devices in the same order on each host, or devices of its own on each",
        "укажите на каждой машине одни и те же устройства в одном порядке или на каждой — свои"
    )))
}

/// Whether it is a number that was drawn for what lies on a device: two hosts that see it see the same device, or a copy of it.
fn is_drawn(identity: &str) -> bool {
    ["md:", "drbd:", "fs-uuid:", "dm:LVM-", "dm:CRYPT-LUKS"].iter().any(|prefix| identity.starts_with(prefix))
}

/// Identities of what is used as a device, and of all below it.
fn identities(target: &TargetFacts) -> impl Iterator<Item = &str> {
    let used = target.kind == TargetKind::BlockDevice;
    let below = target.devices.iter().filter_map(|device| device.identity.as_deref());
    target.identity.as_deref().into_iter().chain(below).filter(move |_| used)
}

/// Whether none of these devices is among those of other hosts, which would write over one another.
fn not_shared(others: &[(HostId, Facts)], own: &Facts) -> Result<()> {
    let known: Vec<&str> = others.iter().flat_map(|(_, facts)| &facts.targets).flat_map(identities).collect();
    let mut identities = own.targets.iter().flat_map(identities);
    if let Some(shared) = identities.find(|identity| is_worldwide(identity) && known.contains(identity)) {
        return Err(reached_by_another(shared));
    }
    // Where one of both only reads, nothing is written over.
    let written = others.iter().filter(|(_, facts)| facts.writes.is_ok() && own.writes.is_ok());
    let mut pairs = written.flat_map(|(_, facts)| own.targets.iter().flat_map(move |one| both(one, &facts.targets)));
    pairs.find_map(|(one, other)| drawn_of_both(one, other)).map_or(Ok(()), |shared| Err(same_or_copied(shared)))
}

fn has(target: &TargetFacts, wanted: &str) -> bool {
    identities(target).any(|identity| identity == wanted)
}

fn both<'a>(
    one: &'a TargetFacts,
    others: &'a [TargetFacts],
) -> impl Iterator<Item = (&'a TargetFacts, &'a TargetFacts)> {
    others.iter().map(move |other| (one, other))
}

/// A drawn number by which two targets may lie on the same blocks. Two volumes that have other numbers lie on other blocks, whatever
/// is below both, unless one of them is below the other.
fn drawn_of_both<'a>(one: &'a TargetFacts, other: &TargetFacts) -> Option<&'a str> {
    let used = |target: &TargetFacts| target.identity.clone().filter(|identity| is_drawn(identity));
    if used(one).zip(used(other)).is_some_and(|(used, other_used)| !has(other, &used) && !has(one, &other_used)) {
        return None;
    }
    identities(one).find(|identity| is_drawn(identity) && has(other, identity))
}

fn reached_by_another(shared: &str) -> Box<Error> {
    let message = say!(
        "another load host reaches the same device (`{shared}`), but not all hosts have the same targets",
        "то же устройство (`{shared}`) доступно и другой нагружающей машине, но объекты не у всех машин одни и те же"
    );
    Error::usage(message).hint(say!(
        "hosts would load the same blocks; name the same devices on each, which then has a part of its own, or a device of its own on each",
        "машины нагружали бы одни и те же блоки; укажите на каждой одни и те же устройства, и у каждой будет своя часть, или на каждой — своё устройство"
    ))
}

fn same_or_copied(shared: &str) -> Box<Error> {
    Error::usage(say!(
        "its device has the identity of a device of another load host (`{shared}`), so both may be one device",
        "у её устройства тот же идентификатор, что у устройства другой нагружающей машины (`{shared}`): возможно, это одно устройство"
    ))
    .hint(say!(
        "hosts share a device only if its drive has a WWN or a serial number; name a device of its own on each host, and give a copy a new UUID",
        "машины делят устройство, только если у накопителя есть WWN или серийный номер; укажите на каждой машине своё устройство, а копии дайте новый UUID"
    ))
}

/// What a user should know of devices of two hosts that may be one: both are written, have the same size, and nothing on them says which
/// device it is. `name` is what a host is called.
pub(crate) fn doubt(all: &[(HostId, Facts)], name: impl Fn(HostId) -> String) -> Option<Say> {
    let is_nameless = |target: &&TargetFacts| {
        let place = |identity: &str| identity.starts_with("path:");
        target.kind == TargetKind::BlockDevice && target.identity.as_deref().is_none_or(place)
    };
    let written = all.iter().filter(|(_, facts)| facts.writes.is_ok());
    let nameless =
        written.flat_map(|(host, facts)| facts.targets.iter().filter(is_nameless).map(move |one| (*host, one)));
    let nameless: Vec<(HostId, &TargetFacts)> = nameless.collect();
    let pairs =
        nameless.iter().enumerate().flat_map(|(at, one)| nameless[at + 1..].iter().map(move |other| (one, other)));
    let mut alike = pairs.filter(|((host, one), (other_host, other))| host != other_host && one.size == other.size);
    let ((host, one), (other_host, other)) = alike.next()?;
    Some(perhaps_one((&name(*host), &one.path), (&name(*other_host), &other.path), alike.count() as u64))
}

/// `more`: pairs of which the same holds.
fn perhaps_one((one_host, one): (&str, &str), (other_host, other): (&str, &str), more: u64) -> Say {
    let Say { en: count, ru: count_ru } = counted(more, ["more pair", "more pairs"], ["пара", "пары", "пар"]);
    let others = if more > 0 { say!(" (and {count})", " (и ещё {count_ru})") } else { Say::same("") };
    let (en, ru) = (others.en, others.ru);
    say!(
        "`{one_host}:{one}` and `{other_host}:{other}` may be one device{en}: they have the same size, and no WWN or serial number; if so, the hosts write over one another's data",
        "`{one_host}:{one}` и `{other_host}:{other}` могут быть одним устройством{ru}: размер у них одинаковый, а WWN и серийного номера нет; в таком случае машины затирают данные друг друга"
    )
}

/// Narrows facts to what also holds on another host.
fn add(together: &mut Facts, other: &Facts) -> Result<()> {
    let kinds = |facts: &Facts| facts.targets.iter().map(|target| target.kind).collect::<Vec<_>>();
    if kinds(together) != kinds(other) {
        let message = say!(
            "its targets are not of the kinds of those of the first host",
            "виды её объектов не такие, как у первой машины"
        );
        return Err(Error::usage(message).hint(say!(
            "name a directory on each, or a device on each",
            "укажите на каждой каталог или на каждой устройство"
        )));
    }
    let narrow = |one: &mut TargetFacts, other: &TargetFacts| {
        one.size = one.size.min(other.size);
        one.free = one.free.min(other.free);
        one.logical_block = one.logical_block.max(other.logical_block);
    };
    together.targets.iter_mut().zip(&other.targets).for_each(|(one, other)| narrow(one, other));
    together.shares_drive |= other.shares_drive;
    if together.writes.is_ok() {
        together.writes.clone_from(&other.writes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Bytes;
    use stend_base::Kind;
    use stend_record::Device;

    /// What a host says of a target with this below it, by which the first one is known.
    fn facts(kind: TargetKind, identities: &[&str]) -> Facts {
        let device = |identity: &&str| Device { identity: Some(identity.to_string()), ..Device::default() };
        let mut facts = crate::fixture::facts();
        facts.targets[0] = TargetFacts {
            kind,
            identity: identities.first().map(|first| first.to_string()),
            size: Bytes(1000),
            free: Bytes(600),
            devices: identities.iter().map(device).collect(),
            ..facts.targets[0].clone()
        };
        facts
    }

    fn device(identities: &[&str]) -> Facts {
        facts(TargetKind::BlockDevice, identities)
    }

    fn of(all: [Facts; 2]) -> std::result::Result<Facts, (HostId, Box<Error>)> {
        let [one, other] = all;
        Ok(together(&[(HostId(0), one), (HostId(1), other)])?.expect("two").facts)
    }

    #[test]
    fn hosts_that_name_the_same_device_have_parts_of_it_that_do_not_overlap() {
        for identity in ["wwn:0x5", "dm:mpath-36001405", "dm:STEND-mpath-1", "nbd:stend-s-1"] {
            let sized = |bytes: u64| {
                let mut facts = device(&[identity, "wwn:0x9"]);
                facts.targets[0].size = Bytes(bytes);
                facts
            };
            // The second sees less of it than the others.
            let sizes = [Bytes::mib(100).0, Bytes::mib(95).0 + 4096, Bytes::mib(100).0];
            let all: Vec<(HostId, Facts)> = (0..).map(HostId).zip(sizes.map(sized)).collect();
            let Together { facts, part } = together(&all).unwrap().expect("three");
            let part = part.expect("shared");
            assert_eq!((part, facts.targets[0].size, facts.targets[0].free), (Bytes::mib(31), part, part));
            let parts: Vec<Region> = all.iter().map(|(host, _)| part_of(*host, part)).collect();
            assert!(parts.windows(2).all(|two| two[0].start.0 + two[0].len.0 <= two[1].start.0), "{parts:?}");
            assert!(parts.last().is_some_and(|last| last.start.0 + last.len.0 <= sizes[1]), "within the smallest");
        }
        let serial = || device(&["serial:S1-part2"]);
        assert!(together(&[(HostId(0), serial()), (HostId(1), serial())]).unwrap().expect("two").part.is_some());
        let own = together(&[(HostId(0), device(&["wwn:0x5"])), (HostId(1), device(&["wwn:0x6"]))]).unwrap();
        assert_eq!(own.expect("two").part, None, "each has a device of its own");
        let alone = together(&[(HostId(0), device(&["wwn:0x5"]))]).unwrap();
        assert_eq!(alone.expect("one").part, None);
    }

    #[test]
    fn a_device_that_two_hosts_reach_otherwise_is_refused_and_one_that_is_called_alike_is_not() {
        for (one, other) in
            [(&["md:1", "wwn:0x5"][..], &["wwn:0x5"][..]), (&["dm:LVM-a", "wwn:0x5"], &["dm:LVM-a", "wwn:0x5"])]
        {
            let (host, error) = of([device(one), device(other)]).unwrap_err();
            assert_eq!((host, error.kind), (HostId(1), Kind::Usage));
            assert!(error.message.en.contains("same device (`wwn:0x5`)") && error.message.ru.contains("wwn:0x5"));
        }
        let mut other = device(&["serial:disk0"]);
        other.targets[0].size = Bytes(2000);
        let (_, error) = of([device(&["serial:disk0"]), other]).unwrap_err();
        assert!(error.message.en.contains("same device (`serial:disk0`)"), "serial numbers repeat: {error}");
        let pair = |first: &str, second: &str| {
            let mut facts = device(&[first]);
            facts.targets.extend(device(&[second]).targets);
            facts
        };
        let (_, error) = of([pair("nbd:a", "nbd:b"), pair("nbd:b", "nbd:a")]).unwrap_err();
        assert!(error.message.en.contains("same device (`nbd:"), "in another order: {error}");
        let third = [device(&["wwn:0x5"]), device(&["wwn:0x5"]), device(&["wwn:0x6"])];
        let (host, error) = together(&(0..).map(HostId).zip(third).collect::<Vec<_>>()).map(|_| ()).unwrap_err();
        assert_eq!((host, error.kind), (HostId(2), Kind::Usage));
        assert!(error.message.en.contains("not those of the first host") && error.message.ru.contains("делят"));
        assert!(of([device(&["wwn:0x5"]), device(&["wwn:0x6", "serial:5"])]).is_ok());
        let place = of([device(&["loop:8:1:77"]), device(&["loop:8:1:77"])]).unwrap();
        assert_eq!(place.targets[0].size, Bytes(1000), "a place on a host is nothing that they share");
        let directory = || facts(TargetKind::Directory, &["wwn:0x5"]);
        assert!(of([directory(), directory()]).is_ok(), "each has files of its own");
    }

    #[test]
    fn a_device_that_two_hosts_know_by_what_lies_on_it_is_refused() {
        for identity in ["fs-uuid:5e1f", "drbd:5e1f", "md:5e1f", "dm:LVM-5e1f", "dm:CRYPT-LUKS2-5e1f-a"] {
            for other in [device(&[identity]), device(&["dm:linear", identity])] {
                let (host, error) = of([device(&[identity]), other]).unwrap_err();
                assert_eq!((host, error.kind), (HostId(1), Kind::Usage));
                let (en, ru) = (&error.message.en, &error.message.ru);
                assert!(en.contains(&format!("(`{identity}`)")) && ru.contains(identity) && en.contains("one device"));
            }
        }
        let read_only =
            || Facts { writes: Err(say!("needs --confirm", "нужен --confirm")), ..device(&["drbd:x"]) };
        assert!(of([read_only(), read_only()]).is_ok(), "none of them writes");
        assert!(of([device(&["drbd:x"]), read_only()]).is_ok(), "one of them writes");
        for place in ["zvol:tank/a", "dm:STEND-a-1", "zram:1", "loop:8:1:7", "path:pci-0000:00:04.0,8388608"] {
            assert!(of([device(&[place]), device(&[place])]).is_ok(), "{place} is of one host");
        }
        let directory = || facts(TargetKind::Directory, &["fs-uuid:5e1f"]);
        assert!(of([directory(), directory()]).is_ok(), "a file system of a cluster");
    }

    #[test]
    fn two_volumes_with_a_copy_of_one_drive_below_are_two_devices_and_one_below_the_other_is_not() {
        let volume = |name: &str| device(&[name, "fs-uuid:p"]);
        assert!(of([volume("dm:LVM-a"), volume("dm:LVM-b")]).is_ok());
        for (one, other) in [("dm:LVM-a", "dm:LVM-a"), ("dm:LVM-a", "dm:linear"), ("dm:linear", "dm:LVM-a")] {
            let (_, error) = of([volume(one), volume(other)]).unwrap_err();
            assert!(error.message.en.contains("both may be one device"), "{one} and {other}: {error}");
        }
        for (one, other) in [(&["drbd:x", "md:y"][..], &["md:y"][..]), (&["md:y"], &["drbd:x", "md:y"])] {
            let (_, error) = of([device(one), device(other)]).unwrap_err();
            assert!(error.message.en.contains("(`md:y`)"), "one lies below the other: {error}");
        }
    }

    #[test]
    fn devices_of_one_size_that_nothing_tells_apart_are_warned_of_if_they_are_written() {
        let warned = |one: Facts, other: Facts| {
            let answers = vec![(HostId(0), Reply::Facts(Box::new(one))), (HostId(1), Reply::Facts(Box::new(other)))];
            let known = |host: HostId| HostInfo { name: format!("node{}", host.0), ..HostInfo::default() };
            let heard = joined(answers, true, known).map_err(|(_, error)| error).unwrap().heard;
            let warning = |notice| if let Notice::Warn(say) = notice { Some(say.en) } else { None };
            heard.into_iter().filter_map(warning).collect::<Vec<_>>()
        };
        let nameless = || device(&["path:pci-0000:00:04.0,1000"]);
        let found = warned(nameless(), nameless());
        let [text] = found.as_slice() else { panic!("{found:?}") };
        assert!(text.starts_with("`node0:/t` and `node1:/t` may be one device"), "{text}");
        assert!(text.contains("one device: they"), "{text}");
        assert_eq!(warned(device(&[]), nameless()).len(), 1);
        let all: Vec<(HostId, Facts)> = (0..3).map(|at| (HostId(at), nameless())).collect();
        let Say { en, ru } = doubt(&all, |host| format!("node{}", host.0)).expect("three pairs");
        assert!(en.contains("may be one device (and 2 more pairs): they"), "{en}");
        assert!(ru.contains("могут быть одним устройством (и ещё 2 пары): размер"), "{ru}");
        let mut larger = nameless();
        larger.targets[0].size = Bytes(2000);
        assert_eq!(warned(nameless(), larger), [""; 0]);
        let mut read = nameless();
        read.writes = Err(say!("needs --confirm", "нужен --confirm"));
        assert_eq!(warned(nameless(), read), [""; 0]);
        assert_eq!(warned(device(&["wwn:0x5"]), device(&["wwn:0x6"])), [""; 0]);
        let network = || facts(TargetKind::Directory, &[]);
        assert_eq!(warned(network(), network()), [""; 0]);
    }

    #[test]
    fn hosts_that_may_share_a_file_system_share_its_room() {
        let room = |facts: &Facts| (facts.targets[0].size.0, facts.targets[0].free.0);
        let network = || facts(TargetKind::Directory, &[]);
        assert_eq!(room(&of([network(), network()]).unwrap()), (500, 300));
        let own = || facts(TargetKind::Directory, &["wwn:0x5"]);
        assert_eq!(room(&of([own(), own()]).unwrap()), (1000, 600));
        let alone = together(&[(HostId(0), network())]).unwrap().expect("one");
        assert_eq!(room(&alone.facts), (1000, 600));
    }

    #[test]
    fn targets_of_different_kinds_are_refused() {
        let (host, error) = of([facts(TargetKind::Directory, &[]), facts(TargetKind::BlockDevice, &[])]).unwrap_err();
        assert_eq!(host, HostId(1));
        assert!(error.message.en.contains("kinds"), "{error}");
    }
}
