//! A suite as a job file of fio, with a list of what fio has no words for. Pure; must not know which version will read it.

pub(super) mod cells;

use super::notes::in_one_line;
use stend_base::{Lang, Say, say};
use stend_spec::as_fio::{self, percent};
use stend_spec::calibration::Calibrate;
use stend_spec::pattern::Pattern;
use stend_spec::prober::ProberKey;
use stend_spec::region::Extent;
use stend_spec::suite::{JobsOf, StreamSpec, Suite, SuiteCase};
use stend_spec::workload::{Backend, Data, Mix, Pages, Stream, Sync};

/// Most sections of a file; a suite can have more combinations than anybody runs.
const SECTIONS_MAX: usize = 10_000;

/// A job file, and what it lacks.
#[derive(Debug)]
pub struct Exported {
    /// What the suite asks for and the jobs do not do, or do otherwise; whole cases that are left out begin with their name.
    pub lacks: Vec<Say>,
    sections: String,
    name: String,
    /// Whether a job changes what is on its target.
    writes: bool,
}

impl Exported {
    /// The file, with what it lacks as comments in `lang`.
    pub fn text(&self, lang: Lang) -> String {
        let name = in_one_line(&self.name);
        let head = say!("The suite `{name}` as jobs of fio", "Набор `{name}` в виде заданий fio");
        let how = match self.writes {
            true => say!(
                "These jobs WRITE: all data on TARGET are lost. TARGET=/dev/XXX fio FILE",
                "Задания ПИШУТ: данные на TARGET пропадут. TARGET=/dev/XXX fio ФАЙЛ"
            ),
            false => say!("Name the target: TARGET=/dev/XXX fio FILE", "Укажите объект: TARGET=/dev/XXX fio ФАЙЛ"),
        };
        let mut out = format!("; {}\n; {}\n", head.get(lang), how.get(lang));
        if !self.lacks.is_empty() {
            let title = say!("What is missing or different:", "Чего в нём нет или что отличается:");
            out.push_str(&format!("; {}\n", title.get(lang)));
            self.lacks.iter().for_each(|lack| out.push_str(&format!(";   {}\n", in_one_line(lack.get(lang)))));
        }
        out.push_str(&self.sections);
        out
    }
}

/// All cells of a suite as sections, one `stonewall` for each cell.
pub fn fio(suite: &Suite) -> Exported {
    let mut lacks = of_suite(suite);
    let mut sections = String::from("[global]\nfilename=${TARGET}\ntime_based=1\nrefill_buffers=1\n");
    let (mut count, mut writes) = (0, false);
    for case in &suite.cases {
        if case.app.is_some() {
            let name = &case.name;
            lacks.push(say!(
                "`{name}` is left out: an application is its load",
                "`{name}` опущен: его нагрузка — приложение"
            ));
            continue;
        }
        for (label, streams) in cells::cells(case, SECTIONS_MAX) {
            count += streams.len();
            if count > SECTIONS_MAX {
                lacks.push(say!(
                    "more than {SECTIONS_MAX} sections: the rest of the cells",
                    "больше {SECTIONS_MAX} разделов: остальные ячейки"
                ));
                return Exported { lacks, sections, name: suite.name.clone(), writes };
            }
            match cell(case, &label, &streams, &mut lacks) {
                Ok(text) => {
                    writes |= streams.iter().any(|stream| stream.mix.writes());
                    sections.push_str(&text);
                }
                Err(Say { en, ru }) => lacks.push(say!("`{label}` is left out: {en}", "`{label}` опущен: {ru}")),
            }
        }
    }
    Exported { lacks, sections, name: suite.name.clone(), writes }
}

fn of_suite(suite: &Suite) -> Vec<Say> {
    let mut lacks = Vec::new();
    let mut lack = |is: bool, say: Say| lacks.extend(is.then_some(say));
    let blocks = suite.blocks;
    lack(
        true,
        say!(
            "repeats: each job runs once, not {blocks} times in mixed order",
            "повторы: каждое задание идёт один раз, а не {blocks} вперемешку"
        ),
    );
    lack(
        suite.fill.is_some() || suite.precondition.is_some(),
        say!(
            "`fill` and `precondition`: nothing is written beforehand",
            "`fill` и `precondition`: заранее ничего не пишется"
        ),
    );
    lack(suite.files.is_some(), say!("`files`: there is one target", "`files`: объект один"));
    lack(
        !suite.arms.is_empty(),
        say!("`arms`: there is only the machine as it is", "`arms`: есть лишь машина как она есть"),
    );
    lack(
        suite.calibrate != Calibrate::default() || suite.ceilings.is_some(),
        say!(
            "`calibrate` and `ceilings`: no limits of the storage are measured or stated",
            "`calibrate` и `ceilings`: пределы хранилища не измеряются и не указываются"
        ),
    );
    lack(
        !suite.confirm.is_empty(),
        say!("`confirm`: no tests of what the limit is", "`confirm`: причины предела не проверяются"),
    );
    lack(
        !suite.observe.is_empty(),
        say!("`observe`: its commands are not executed", "`observe`: его команды не выполняются"),
    );
    of_cases(&suite.cases, &mut lacks);
    lacks
}

fn of_cases(cases: &[SuiteCase], lacks: &mut Vec<Say>) {
    let mut lack = |is: bool, say: Say| lacks.extend(is.then_some(say));
    let any = |of: fn(&SuiteCase) -> bool| cases.iter().any(of);
    lack(
        any(|case| !case.faults.is_empty()),
        say!(
            "`events`: nothing is done to the storage under load",
            "`events`: под нагрузкой с хранилищем ничего не происходит"
        ),
    );
    lack(
        any(|case| case.io_log.is_some()),
        say!("`io_log`: no log of every I/O is kept", "`io_log`: журнала всех операций нет"),
    );
    lack(
        any(|case| case.pages == Pages::Huge),
        say!(
            "`pages: huge`: fio takes huge pages that are reserved, 2 MiB each: `sysctl vm.nr_hugepages=N`, N at least the buffers of all jobs",
            "`pages: huge`: fio берёт зарезервированные большие страницы по 2 МиБ: `sysctl vm.nr_hugepages=N`, N — не меньше буферов всех заданий"
        ),
    );
    lack(
        any(|case| matches!(case.prober, ProberKey::At { .. })),
        say!("`prober`: no single I/Os beside the load", "`prober`: одиночных операций рядом с нагрузкой нет"),
    );
    lack(
        any(|case| case.steady.is_some()),
        say!("`steady`: jobs do not wait for a steady state", "`steady`: задания не ждут установившегося режима"),
    );
    lack(
        any(|case| case.streams.iter().any(|stream| stream.rate.iter().any(|rate| rate.level().is_some()))),
        say!(
            "`rate`: fio's latency begins when it submits, not when an I/O was due",
            "`rate`: задержка fio начинается с подачи, а не со срока операции"
        ),
    );
}

/// The sections of a cell, or why there are none.
fn cell(case: &SuiteCase, label: &str, streams: &[StreamSpec], lacks: &mut Vec<Say>) -> Result<String, Say> {
    let engine = engine(case.backend)?;
    let micros = |nanos: u64| nanos.div_ceil(1000);
    let total: u64 = streams.iter().map(|stream| u64::from(stream.jobs[0])).sum();
    let (mut out, mut before) = (String::new(), 0);
    for (index, stream) in streams.iter().enumerate() {
        let name: String = label.chars().map(|c| if matches!(c, '[' | ']') { '_' } else { c }).take(200).collect();
        let suffix = if streams.len() > 1 { format!(" s{}", index + 1) } else { String::new() };
        let mut lines = vec![format!("\n[{}{name}{suffix}]", if name.starts_with("global") { "_" } else { "" })];
        lines.extend((index == 0).then(|| "stonewall".to_string()));
        lines.push(format!("ioengine={engine}\ndirect={}\nruntime={}us", u8::from(case.direct), micros(case.window.0)));
        lines.extend((case.ramp.0 > 0).then(|| format!("ramp_time={}us", micros(case.ramp.0))));
        if case.pages == Pages::Huge {
            lines.push("mem=shmhuge\nhugepage-size=2m".into());
        }
        if case.backend == Backend::IoUringIopoll {
            lines.push("hipri=1".into());
        }
        if case.backend == Backend::IoUringSqpoll {
            lines.push("sqthread_poll=1".into());
        }
        lines.extend(kinds(stream)?);
        lines.extend(load(stream, label, lacks)?);
        lines.extend(place(stream, (before, total), label, lacks)?);
        before += u64::from(stream.jobs[0]);
        out.push_str(&(lines.join("\n") + "\n"));
    }
    if engine == "psync" && streams.iter().any(|stream| stream.queue_depth[0] > 1) {
        return Err(say!("a job of `psync` has one I/O in flight", "у задания `psync` одна операция одновременно"));
    }
    Ok(out)
}

fn engine(backend: Backend) -> Result<&'static str, Say> {
    match backend {
        Backend::Auto | Backend::IoUring | Backend::IoUringIopoll | Backend::IoUringSqpoll => Ok("io_uring"),
        Backend::NvmePassthrough => Ok("io_uring_cmd"),
        Backend::Libaio => Ok("libaio"),
        Backend::Psync => Ok("psync"),
        Backend::Null => Ok("null"),
    }
}

/// `rw`, sizes and the order of offsets.
fn kinds(stream: &StreamSpec) -> Result<Vec<String>, Say> {
    let unknown = |key: &str| Err(say!("fio has no equivalent of `{key}`", "в fio нет соответствия для `{key}`"));
    if stream.trace.is_some() {
        return unknown("trace");
    }
    let kind = match stream.mix {
        Mix { read: 100, .. } => "read",
        Mix { write: 100, .. } => "write",
        Mix { discard: 100, .. } => "trim",
        Mix { discard: 0, write_zeroes: 0, .. } => "rw",
        _ => return unknown("discard, write_zeroes"),
    };
    if stream.pattern == Pattern::Sequential && kind == "rw" {
        return Err(say!(
            "fio keeps a position for reads and one for writes",
            "fio ведёт отдельные позиции чтений и записей"
        ));
    }
    let random = if stream.pattern == Pattern::Sequential { "" } else { "rand" };
    let mut lines = vec![format!("rw={random}{kind}")];
    lines.extend(as_fio::lines(as_fio::order(&stream.pattern)?));
    lines.extend((kind == "rw").then(|| format!("rwmixread={}", stream.mix.read)));
    lines.push(match stream.block_mix.as_slice() {
        [] => format!("bs={}", stream.block_size[0].0),
        mix => format!("bssplit={}", as_fio::shares(mix, |size| size.0.to_string())),
    });
    Ok(lines)
}

/// Depth, syncs, data, rate and rests.
fn load(stream: &StreamSpec, label: &str, lacks: &mut Vec<Say>) -> Result<Vec<String>, Say> {
    let depth = stream.queue_depth[0];
    let mut lines = vec![format!("iodepth={depth}\nnumjobs={}", stream.jobs[0])];
    lines.extend(sync(stream.sync, label, lacks)?);
    if stream.data.dedup_thousandths != Data::default().dedup_thousandths {
        return Err(say!(
            "a share of equal buffers is not a ratio of `dedup`",
            "доля равных буферов — не коэффициент `dedup`"
        ));
    }
    let least = stream.block_mix.iter().map(|share| share.size).min().unwrap_or(stream.block_size[0]);
    lines.extend(as_fio::lines(as_fio::contents(stream.data, least)));
    if stream.verify.is_some() {
        return Err(say!("marks of fio detect less than `verify`", "метки fio выявляют меньше, чем `verify`"));
    }
    if stream.search.is_some() {
        return Err(say!("fio has no such search for a rate", "в fio нет такого поиска частоты"));
    }
    if let Some(rate) = stream.rate.first() {
        let plain = Stream {
            rate: Some(rate.clone()),
            jobs: stream.jobs[0],
            ..Stream::new(stream.mix, Pattern::Random, stream.block_size[0])
        };
        let Some(rate) = as_fio::rate(&plain) else {
            return Err(say!(
                "the rate is not a whole number for each job and kind",
                "частота не делится на целые по заданиям и видам"
            ));
        };
        lines.extend(as_fio::lines(rate));
    }
    if let Some(think) = stream.think {
        if depth > 1 {
            return Err(say!(
                "in fio a whole job rests, not each place in flight",
                "у fio отдыхает всё задание, а не каждое место"
            ));
        }
        lines.push(format!("thinktime={}us\nthinktime_blocks={}", think.time.0.div_ceil(1000), think.every));
    }
    lines.extend(as_fio::lines(as_fio::batch(stream.batch, stream.submit, depth)));
    if stream.placement.numa.is_some() {
        lacks.push(say!("`{label}`: `numa` is left out", "`{label}`: `numa` опущена"));
    }
    lines.extend(as_fio::lines(as_fio::cpus(&stream.placement.cpus)));
    Ok(lines)
}

/// When writes are durable.
fn sync(sync: Sync, label: &str, lacks: &mut Vec<Say>) -> Result<Option<String>, Say> {
    match sync {
        Sync::Dsync => {
            lacks.push(say!(
                "`{label}`: `dsync` is that of the open target, not of each write",
                "`{label}`: `dsync` — у открытого объекта, а не у каждой записи"
            ));
            Ok(Some("sync=dsync".into()))
        }
        Sync::SyncFileRange(_) => Err(say!(
            "fio has no `sync_file_range` over the area of a job",
            "в fio нет `sync_file_range` по области задания"
        )),
        other => Ok(as_fio::lines(as_fio::sync(other)).next()),
    }
}

/// The part of the target: each job has its own, as our engine gives it.
fn place(
    stream: &StreamSpec,
    (before, total): (u64, u64),
    label: &str,
    lacks: &mut Vec<Say>,
) -> Result<Vec<String>, Say> {
    let jobs = u64::from(stream.jobs[0]);
    if stream.jobs_of == JobsOf::Target {
        lacks.push(say!(
            "`{label}`: jobs of each target; there is one",
            "`{label}`: задания на каждый объект; объект один"
        ));
    }
    let rounded = || say!("parts of the target that are not whole percents", "части объекта не в целых процентах");
    let (start, size) = match stream.region {
        None => {
            // Whole percent are all that fio takes; what they leave out lies at the end.
            let part = 100 / total.max(1);
            if part == 0 {
                return Err(say!("more than 100 jobs share the target", "больше 100 заданий делят объект"));
            }
            if 100 % total != 0 {
                lacks.push(say!(
                    "`{label}`: each job has {part} % of the target",
                    "`{label}`: у каждого задания {part} % объекта"
                ));
            }
            (part * before, Some(part))
        }
        Some(part) => match (part.start, part.size) {
            (Extent::Share(start), size) => {
                let start = u64::from(percent(start).ok_or_else(rounded)?);
                let len = match size {
                    None => 100 - start,
                    Some(Extent::Share(size)) => u64::from(percent(size).ok_or_else(rounded)?),
                    Some(Extent::Size(size)) if jobs == 1 => {
                        return Ok(vec![format!("offset={start}%\nsize={}", size.0)]);
                    }
                    Some(Extent::Size(_)) => return Err(rounded()),
                };
                if len / jobs > 0 && len % jobs != 0 {
                    let part = len / jobs;
                    lacks.push(say!(
                        "`{label}`: each job has {part} % of the target, and the rest of the region is left out",
                        "`{label}`: у каждого задания {part} % объекта, остаток области опущен"
                    ));
                }
                (start, (len / jobs > 0).then_some(len / jobs))
            }
            (Extent::Size(start), size) => {
                let len = match size {
                    Some(Extent::Size(size)) if jobs == 1 => format!("\nsize={}", size.0),
                    None if jobs == 1 => String::new(),
                    _ => {
                        return Err(say!(
                            "several jobs in a part that is given in bytes",
                            "несколько заданий в части, заданной в байтах"
                        ));
                    }
                };
                return Ok(vec![format!("offset={}{len}", start.0)]);
            }
        },
    };
    let Some(size) = size else { return Err(rounded()) };
    let mut lines = vec![format!("offset={start}%\nsize={size}%")];
    lines.extend((jobs > 1).then(|| format!("offset_increment={size}%")));
    Ok(lines)
}

#[cfg(test)]
mod tests;
