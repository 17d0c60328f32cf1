//! What follows from the facts of a target before anything is changed: the same for a run and for a dry run
//! of it. Pure.

use crate::ending::named;
use crate::same_hosts::same_hosts;
use crate::step::Asked;
use crate::upload;
use stend_base::text::listed;
use stend_base::{Bytes, Error, Kind, Lang, Nanos, Result, Say, format, say};
use stend_plan::{NullDevice, Plan, PlanInputs, PlanTarget, Room};
use stend_record::{HostId, TargetFacts, TargetKind, WriteAccess};
use stend_spec::suite::Fill;
use stend_spec::topology::Topology;
use stend_spec::workload::Stream;
use stend_wire::{Facts, Prepare, StandFile};

/// Time between telemetry samples.
pub(crate) const SAMPLE_EVERY: Nanos = Nanos::millis(500);
/// Space taken per second and stream by counters and histograms, measured on runs of `quick`: 2 to 5 KiB.
const BYTES_PER_STREAM_SECOND: u64 = 8 << 10;
/// Space taken per trial by its start, its outcome and its job histograms.
const BYTES_PER_TRIAL: u64 = 32 << 10;
/// Most space that is reserved for a run file.
const RESERVE_MAX: Bytes = Bytes::gib(1);

/// What the plan must know of the targets: what holds for each of them.
pub(crate) fn plan_target(facts: &Facts) -> PlanTarget {
    let targets = &facts.targets;
    let directory = |target: &TargetFacts| target.kind == TargetKind::Directory;
    let size = |target: &TargetFacts| if directory(target) { Bytes(0) } else { target.size };
    // What its own device says; whether a file system frees what a discard names shows at the discard.
    let discards = |target: &TargetFacts| {
        directory(target) || target.devices.iter().all(|d| d.depth > 0 || d.discards != Some(false))
    };
    PlanTarget {
        count: targets.len().max(1) as u32,
        hosts: 1,
        size: targets.iter().map(size).min().unwrap_or_default(),
        room: least_room(targets.iter().filter(|target| directory(target))),
        logical_block: targets.iter().map(|target| target.logical_block).max().unwrap_or_default(),
        discards: targets.iter().all(discards),
        null: targets.iter().find_map(null_device),
        topology: Topology { nodes: facts.host.numa_nodes.clone(), device: device_node(targets) },
        writes: facts.writes.clone(),
    }
}

/// The room of the file system that is nearest to being four fifths full, which none may be filled beyond: what fits there
/// fits everywhere.
fn least_room<'a>(directories: impl Iterator<Item = &'a TargetFacts>) -> Option<Room> {
    let rooms = directories.map(|target| Room { total: target.size, free: target.free });
    rooms.min_by_key(|room| i128::from(room.free.0) - i128::from(room.total.0 / 5))
}

fn null_device(target: &TargetFacts) -> Option<NullDevice> {
    let zero = target.path == "/dev/zero";
    (target.kind == TargetKind::NullDevice).then_some(if zero { NullDevice::Zero } else { NullDevice::Null })
}

/// The NUMA node of the drives, if all of those that tell are on one.
fn device_node(targets: &[TargetFacts]) -> Option<u32> {
    let devices = targets.iter().flat_map(|target| &target.devices);
    let mut nodes = devices.filter_map(|device| u32::try_from(device.numa_node?).ok());
    let first = nodes.next()?;
    nodes.all(|node| node == first).then_some(first)
}

/// Whether a plan keeps a ledger for the judgement of a crash.
pub(crate) fn keeps_ledger(plan: &Plan) -> bool {
    let kept = |stream: &Stream| stream.verify.is_some_and(|verify| verify.crash);
    plan.cases.iter().any(|case| case.not_run.is_none() && case.trial.streams.iter().any(kept))
}

/// Whether its stand keeps a log of every write: then states of it are examined after the trials, nothing crashes, and the worker has
/// the ledgers in its memory.
pub(crate) fn replays(asked: &Asked) -> bool {
    let Some(StandFile { text, file, .. }) = &asked.stand else { return false };
    // One that cannot be parsed is refused by the worker, with its place.
    stend_spec::parse::stand(text, file).is_ok_and(|stand| stand.log_writes().is_some())
}

/// Where the ledger of a run lies: beside the run file, whose place the user chose; in a machine whose power is in our hands where
/// that takes nothing away.
pub(crate) fn ledger_of(asked: &Asked) -> String {
    match &asked.keeps {
        Some(directory) => format!("{directory}/{}.ledger", asked.run),
        None => format!("{}.ledger", asked.run_file),
    }
}

/// The plan, unless what it asks of its ledger cannot be. Nothing crashes where a log is replayed.
pub(crate) fn with_its_ledger(plan: Plan, facts: &Facts, asked: &Asked) -> Result<Plan> {
    if replays(asked) { Ok(plan) } else { with_ledger_outside(plan, facts, asked) }
}

/// The plan, unless its ledger would be lost together with what it is to judge.
fn with_ledger_outside(plan: Plan, facts: &Facts, asked: &Asked) -> Result<Plan> {
    if !keeps_ledger(&plan) {
        return Ok(plan);
    }
    // The worker writes the ledger, and on another machine that would be inside of what crashes.
    if asked.coordinator == 0 && asked.keeps.is_none() {
        let message = say!(
            "`verify: {{crash: true}}` is not possible from another machine yet: the worker could keep its ledger only there",
            "`verify: {{crash: true}}` с другой машины пока невозможен: рабочий процесс мог бы вести журнал только там"
        );
        return Err(Error::preflight(message)
            .hint(say!(
                "run it on the machine of the target, or in a machine of the lab that stays up (`stend lab up FILE`)",
                "запустите прогон на машине объекта или в машине лаборатории, которая остаётся запущенной (`stend lab up ФАЙЛ`)"
            )));
    }
    if facts.targets.len() > 1 {
        let message = say!(
            "`verify: {{crash: true}}` keeps a ledger of one target only",
            "`verify: {{crash: true}}` ведёт журнал лишь для одного объекта"
        );
        return Err(Error::preflight(message).hint(say!("name one target with `--on`", "укажите в `--on` один объект")));
    }
    if !facts.shares_drive {
        return Ok(plan);
    }
    let message = say!(
        "`verify: {{crash: true}}` keeps a ledger beside the run file, but that is on a drive of the target: a crash would hit both",
        "`verify: {{crash: true}}` ведёт журнал рядом с файлом прогона, а это место — на накопителе объекта: сбой затронет и его"
    );
    Err(Error::preflight(message).hint(say!(
        "put the run file on another drive or machine with `-o FILE`; in `/dev/shm` it survives killed processes, but not a crash of this machine",
        "поместите файл прогона в другое место (`-o ФАЙЛ`): на другой накопитель или другую машину; в `/dev/shm` он переживёт гибель процессов, но не сбой этой машины"
    )))
}

/// The plan of a run, and what it follows from: of one that is resumed those of its first session. `facts` hold on each host, `each` are
/// those of every host.
pub(crate) fn planned(asked: &Asked, facts: &Facts, each: &[(HostId, Facts)]) -> Result<(PlanInputs, Plan)> {
    let (inputs, plan) = match &asked.resume {
        Some(earlier) => {
            same_hosts(earlier, each, asked.stand.is_some())?;
            (earlier.inputs.clone(), earlier.plan.clone())
        }
        None => {
            let inputs = PlanInputs {
                suite: asked.suite.clone(),
                seed: asked.seed,
                target: PlanTarget { hosts: asked.hosts.len() as u32, ..plan_target(facts) },
                time_budget: asked.time_budget,
                traces: upload::facts(&asked.traces),
            };
            has_data(&inputs, facts)?;
            let plan = fitted(&inputs, facts, each);
            let plan = plan.map_err(|error| of_its_host(error, &inputs, &asked.hosts, each))?;
            (inputs, plan)
        }
    };
    Ok((inputs, with_its_ledger(plan, facts, asked)?))
}

/// The plan on targets that have what it needs.
fn fitted(inputs: &PlanInputs, facts: &Facts, each: &[(HostId, Facts)]) -> Result<Plan> {
    has_the_range(inputs, facts, each)?;
    Plan::new(inputs).map_err(|error| with_way_out(error, facts))
}

/// The error of a plan for several hosts: where the targets of some of them alone are fit for it, that of the first whose targets are not,
/// with its name.
fn of_its_host(error: Box<Error>, inputs: &PlanInputs, names: &[String], each: &[(HostId, Facts)]) -> Box<Error> {
    let alone = |(host, own): &(HostId, Facts)| {
        let target = PlanTarget { hosts: inputs.target.hosts, ..plan_target(own) };
        Some((*host, fitted(&PlanInputs { target, ..inputs.clone() }, own, &[]).err()?))
    };
    let refused: Vec<(HostId, Box<Error>)> = each.iter().filter_map(alone).collect();
    let are_some_fit = refused.len() < each.len();
    let first = refused.into_iter().next().filter(|_| are_some_fit);
    first.and_then(|(host, own)| Some(named(names.get(host.index())?, own))).unwrap_or(error)
}

/// The error of a plan; where every case writes and may not, with what helps on these targets.
fn with_way_out(error: Box<Error>, facts: &Facts) -> Box<Error> {
    if error.kind != Kind::Unsafe {
        return error;
    }
    let refused = facts.targets.iter().find_map(|target| match &target.access {
        WriteAccess::Refused(reasons) => reasons.first(),
        _ => None,
    });
    if let Some(reason) = refused {
        return match reason.way_out() {
            Some(hint) => error.hint(hint),
            None => error,
        };
    }
    let confirm = |target: &TargetFacts| match &target.access {
        WriteAccess::Confirm { identity, signatures } => {
            let named = signatures.iter().map(|name| format!(" --overwrite-signature={name}")).collect::<String>();
            Some((target.path.clone(), format!("--confirm={identity}{named}")))
        }
        _ => None,
    };
    let all: Vec<(String, String)> = facts.targets.iter().filter_map(confirm).collect();
    let Some((path, _)) = all.first() else { return error };
    let flags = all.iter().map(|(_, flags)| flags.as_str()).collect::<Vec<_>>().join(" ");
    let message = say!(
        "`{path}` is read-only for Stend until you confirm it, and every case writes",
        "без подтверждения Стенд только читает `{path}`, а каждый случай пишет"
    );
    Error::refused(message)
        .hint(say!("if all data on it may be lost: {flags}", "если все данные на нём можно потерять: {flags}"))
}

/// Whether there is something to read for a suite that writes nothing: a file that is made for it would be a hole.
fn has_data(inputs: &PlanInputs, facts: &Facts) -> Result<()> {
    let directory = facts.targets.iter().find(|target| target.kind == TargetKind::Directory);
    let Some(directory) = directory.filter(|_| inputs.suite.needs_data()) else { return Ok(()) };
    let path = &directory.path;
    let message = say!(
        "the suite only reads, and a new file in `{path}` holds no data",
        "набор только читает, а в новом файле в `{path}` данных нет"
    );
    Err(Error::usage(message).hint(say!(
        "name a device or file that holds data, or add `fill: {{size: auto}}` to the suite",
        "укажите устройство или файл с данными либо добавьте в набор `fill: {{size: auto}}`"
    )))
}

/// Whether targets that exist already are as large as the range that the suite names: a part of it would be another measurement. `each`: what
/// every host has; where they share devices, that is more than the part of one.
fn has_the_range(inputs: &PlanInputs, facts: &Facts, each: &[(HostId, Facts)]) -> Result<()> {
    let target = &inputs.target;
    let Some(Fill::Size(size)) = inputs.suite.fill else { return Ok(()) };
    if target.room.is_some() || target.null.is_some() || size <= target.size {
        return Ok(());
    }
    let smallest = facts.targets.iter().min_by_key(|target| target.size);
    let path = smallest.map(|target| target.path.as_str()).unwrap_or_default();
    let told = |lang| (format::bytes(size, lang), format::bytes(target.size, lang));
    let ((size, has), (size_ru, has_ru)) = (told(Lang::En), told(Lang::Ru));
    let hosts = each.len();
    let has_more = |(_, own): &(HostId, Facts)| own.targets.iter().all(|own| own.size > target.size);
    let message = match hosts > 1 && each.iter().all(has_more) {
        true => say!(
            "the range (`--size`, in a suite `fill: {{size: …}}`) is {size}, more than the part that each of {hosts} hosts has of `{path}` ({has})",
            "область (`--size`, в наборе `fill: {{size: …}}`) — {size_ru}, больше, чем часть `{path}` на одну машину ({has_ru}; машин: {hosts})"
        ),
        false => say!(
            "the range (`--size`, in a suite `fill: {{size: …}}`) is {size}, more than `{path}` has ({has})",
            "область (`--size`, в наборе `fill: {{size: …}}`) — {size_ru}, больше, чем `{path}` ({has_ru})"
        ),
    };
    Err(Error::preflight(message)
        .hint(say!("name a smaller size, or a larger target", "укажите размер поменьше или объект побольше")))
}

/// How the targets are made ready for a plan.
pub(crate) fn prepare(asked: &Asked, plan: &Plan) -> Prepare {
    Prepare {
        files: plan.files.clone(),
        share: plan.share,
        begin: None,
        write: plan.fill.is_some() || plan.cases.iter().any(|c| c.not_run.is_none() && c.trial.writes()),
        run: asked.run.clone(),
        run_file: asked.run_file.clone(),
        ledger: (keeps_ledger(plan) && !replays(asked)).then(|| ledger_of(asked)),
        coordinator: asked.coordinator,
        sample_every: SAMPLE_EVERY,
    }
}

/// Whether anything is read that somebody may have written; then blocks are sampled for zeros before the first trial.
pub(crate) fn reads(plan: &Plan, target: &PlanTarget) -> bool {
    target.null.is_none()
        && plan.cases.iter().any(|c| c.not_run.is_none() && c.trial.streams.iter().any(|s| s.mix.reads()))
}

/// Space a run of so many load hosts is expected to take; it is reserved before the first trial.
pub(crate) fn expected_size(plan: &Plan, hosts: usize) -> Bytes {
    let searched = plan.ladders.iter().flat_map(|ladder| {
        let cell = ladder.cells.first().map(|cell| (0, *cell));
        std::iter::repeat_n(cell, ladder.usual_trials() as usize).flatten()
    });
    let per_trial = |(_, case): (u32, u32)| {
        let trial = &plan.cases[case as usize].trial;
        let seconds = (trial.ramp.0 + trial.window.0).div_ceil(Nanos::SECOND.0);
        let log = trial.io_log.unwrap_or_default().0;
        BYTES_PER_TRIAL + log + seconds * trial.streams.len() as u64 * BYTES_PER_STREAM_SECOND
    };
    let rounds = (0..plan.cases.len() as u32).map(|case| {
        let rounds = plan.cases[case as usize].rounds().map_or(0, |steady| u64::from(steady.rounds));
        let seconds = plan.rounds_time(case).0.div_ceil(Nanos::SECOND.0);
        let streams = plan.cases[case as usize].trial.streams.len() as u64;
        rounds * BYTES_PER_TRIAL + seconds * streams * BYTES_PER_STREAM_SECOND
    });
    let trials = plan.order.iter().copied().chain(searched).map(per_trial);
    let on_one = trials.chain(rounds).fold(0, u64::saturating_add);
    Bytes(on_one.saturating_mul(hosts as u64)).min(RESERVE_MAX)
}
/// Which cases will not run; a reason that holds for many is given once.
pub(crate) fn not_run(plan: &Plan) -> Vec<Say> {
    let mut reasons: Vec<(&Say, Vec<String>)> = Vec::new();
    for (case, index) in plan.cases.iter().zip(0..) {
        if let (Some(why), Some(label)) = (&case.not_run, plan.listed_as(index)) {
            match reasons.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, labels)) => labels.push(label),
                None => reasons.push((why, vec![label])),
            }
        }
    }
    let told = |(Say { en, ru }, labels): (&Say, Vec<String>)| {
        let labels = listed(&labels);
        let (which, which_ru) = (labels.en, labels.ru);
        say!("not run: {which}: {en}", "не выполняется: {which_ru}: {ru}")
    };
    reasons.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use stend_record::Refusal;

    /// A device of 512 MiB, and why it may not be written.
    fn device(access: WriteAccess) -> Facts {
        let target =
            TargetFacts { size: Bytes::mib(512), ..TargetFacts::new("/dev/x", TargetKind::BlockDevice, access) };
        Facts { targets: vec![target], writes: Err(Say::same("needs --confirm=serial:A")), ..fixture::facts() }
    }

    fn inputs(facts: &Facts, head: &str, op: &str) -> PlanInputs {
        let case = format!("{{name: a, streams: [{{op: {op}, pattern: random, block_size: 4KiB}}]}}");
        let suite = stend_spec::parse::suite(&format!("suite: x\n{head}cases: [{case}]\n"), "x.yaml").unwrap();
        PlanInputs { suite, seed: 1, target: plan_target(facts), time_budget: None, traces: Vec::new() }
    }

    #[test]
    fn a_range_that_a_device_does_not_have_is_refused_by_its_size() {
        let facts = device(WriteAccess::Refused(vec![Refusal::ReadOnly]));
        let of = |size: &str| has_the_range(&inputs(&facts, &format!("fill: {{size: {size}}}\n"), "read"), &facts, &[]);
        assert!(of("512MiB").is_ok());
        let error = of("1GiB").unwrap_err();
        assert_eq!(error.kind, Kind::Preflight);
        assert!(error.message.en.ends_with("is 1 GiB, more than `/dev/x` has (512 MiB)"), "{error}");
        assert!(has_the_range(&inputs(&facts, "", "read"), &facts, &[]).is_ok(), "all of it");
        let directory = fixture::facts();
        assert!(has_the_range(&inputs(&directory, "fill: {size: 1GiB}\n", "read"), &directory, &[]).is_ok());
    }

    #[test]
    fn a_range_that_is_more_than_the_part_of_a_host_is_refused_by_that_part() {
        let whole = device(WriteAccess::Refused(vec![Refusal::ReadOnly]));
        let mut part = whole.clone();
        part.targets[0].size = Bytes::mib(256);
        let of = |each: [&Facts; 2]| {
            let each: Vec<(HostId, Facts)> = (0..).map(HostId).zip(each.map(Facts::clone)).collect();
            has_the_range(&inputs(&part, "fill: {size: 512MiB}\n", "read"), &part, &each).unwrap_err().message
        };
        let Say { en, ru } = of([&whole, &whole]);
        assert!(en.contains("more than the part that each of 2 hosts has of `/dev/x` ("), "{en}");
        assert!(ru.contains("часть `/dev/x` на одну машину (") && ru.contains("машин: 2)"), "{ru}");
        assert!(of([&whole, &part]).en.contains("more than `/dev/x` has ("), "each has a device of its own");
    }

    #[test]
    fn what_only_some_hosts_lack_is_reported_with_the_name_of_the_first_of_them() {
        let names = ["a", "b"].map(String::from);
        let of = |together: &Facts, (head, op): (&str, &str), each: [&Facts; 2]| {
            let each: Vec<(HostId, Facts)> = (0..).map(HostId).zip(each.map(Facts::clone)).collect();
            let inputs = inputs(together, head, op);
            let error = fitted(&inputs, together, &each).unwrap_err();
            of_its_host(error, &inputs, &names, &each)
        };
        let (large, mut small) = (fixture::facts(), fixture::facts());
        small.targets[0].free = Bytes::gib(1);
        let filled = ("fill: {size: 64MiB}\n", "read");
        let error = of(&small, filled, [&large, &small]);
        assert_eq!(error.kind, Kind::Preflight);
        let Say { en, ru } = error.message;
        assert!(en.starts_with("`b`: no room for a test file") && ru.starts_with("`b`: нет места"), "{en} {ru}");
        assert!(of(&small, filled, [&small, &small]).message.en.starts_with("no room"), "both lack it");
        let confirm = |id: &str| device(WriteAccess::Confirm { identity: id.into(), signatures: Vec::new() });
        let (first, second) = (Facts { writes: Ok(()), ..confirm("serial:A") }, confirm("serial:B"));
        let together = Facts { writes: second.writes.clone(), ..first.clone() };
        let error = of(&together, ("", "write"), [&first, &second]);
        assert!(error.message.en.starts_with("`b`: `/dev/x` is read-only"), "{error}");
        assert!(error.hint.is_some_and(|hint| hint.en.ends_with("--confirm=serial:B")), "not that of the first host");
    }

    #[test]
    fn a_suite_that_only_reads_is_refused_where_its_file_would_be_a_hole() {
        let directory = fixture::facts();
        let error = has_data(&inputs(&directory, "", "read"), &directory).unwrap_err();
        assert!(error.kind == Kind::Usage && error.message.en.contains("a new file in `/t` holds no data"), "{error}");
        assert!(has_data(&inputs(&directory, "fill: {size: auto}\n", "read"), &directory).is_ok());
        assert!(has_data(&inputs(&directory, "", "{read: 50, write: 50}"), &directory).is_ok());
        let device = device(WriteAccess::Refused(vec![Refusal::ReadOnly]));
        assert!(has_data(&inputs(&device, "", "read"), &device).is_ok());
    }

    #[test]
    fn a_suite_that_only_writes_is_answered_with_what_lets_it_write() {
        let of = |access| {
            let facts = device(access);
            let error = Plan::new(&inputs(&facts, "", "write")).unwrap_err();
            with_way_out(error, &facts)
        };
        let confirm = of(WriteAccess::Confirm { identity: "serial:A".into(), signatures: vec!["ext4".into()] });
        assert_eq!(confirm.kind, Kind::Unsafe);
        assert_eq!(confirm.message.en, "`/dev/x` is read-only for Stend until you confirm it, and every case writes");
        let hint = confirm.hint.unwrap().en;
        assert_eq!(hint, "if all data on it may be lost: --confirm=serial:A --overwrite-signature=ext4");
        let file = of(WriteAccess::Refused(vec![Refusal::ForeignFile])).hint.unwrap().en;
        assert!(file.starts_with("name its directory instead"), "{file}");
    }
}
