//! Job files and command lines of fio as suites. What is read is [`lines`], [`names`] and [`value`]; what it means, [`access`],
//! [`load`], [`area`] and [`layout`]; what becomes of several jobs is here. Must never run fio or open what a job names.

mod access;
mod area;
mod command;
mod engine;
mod job;
mod layout;
mod lines;
mod load;
mod names;
mod value;
mod writes;

use super::draft::{Draft, DraftCase};
use super::notes::Notes;
use super::{ImportContext, Imported};
use area::Area;
use job::Job;
use layout::Range;
use lines::Section;
use load::Load;
use stend_base::{Error, Millionths, Result, say};
use stend_spec::keys::STREAMS;
use stend_spec::pattern::Pattern;
use stend_spec::region::{Extent, Part};
use stend_spec::suite::StreamSpec;
use stend_spec::workload::Backend;

pub(super) use command::commands;

/// Options of which a file has at least one if it is for fio; names that other programs have in their settings, too, are left out.
const TELLING: [&str; 10] =
    ["rw", "readwrite", "bs", "blocksize", "bssplit", "bsrange", "ioengine", "iodepth", "numjobs", "rwmixread"];

/// Whether a text with sections is jobs of fio: it begins with a section, and has an option that only fio has.
pub(super) fn is_job_file(text: &str) -> bool {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    let name = |line: &str| line.split(['=', ' ']).next().is_some_and(|name| TELLING.contains(&name));
    let begins =
        lines().next().is_some_and(|line| line.starts_with("include ") || line.starts_with('[') && line.contains(']'));
    begins && lines().any(|line| line.contains('=') && name(line))
}

/// The suite of the jobs of these files, of which each begins a case of its own. Names of files with their bytes; errors have
/// kind `Spec` and begin with file and line.
pub(super) fn files(sources: &[(String, Vec<u8>)], context: &ImportContext) -> Result<Imported> {
    let mut notes = Notes::new(context.lenient);
    let mut jobs: Vec<Job> = Vec::new();
    for (name, bytes) in sources {
        let sections = lines::sections(name, bytes, context, &mut notes)?;
        let first = jobs.last().map_or(0, |job| job.case + 1);
        jobs.extend(of_file(name, &sections, first, &mut notes)?);
    }
    let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
    suite(jobs, &names.join(", "), notes)
}

fn of_file(file: &str, sections: &[Section], first: usize, notes: &mut Notes) -> Result<Vec<Job>> {
    let jobs = job::jobs(sections, first, notes)?;
    if let Some(first) = sections.iter().find(|section| jobs.is_empty() && !section.is_global()) {
        let message =
            say!("none of its jobs reads or writes storage", "ни одно из его заданий не читает и не пишет хранилище");
        return Err(first.place.error(message).hint(say!(
            "what is measured here is reads, writes and discards of blocks",
            "здесь измеряются чтения, записи и освобождение блоков"
        )));
    }
    if jobs.is_empty() {
        let place = super::JobPlace::new(file, 1);
        return Err(place.error(say!("there is no job in it", "в нём нет ни одного задания")).hint(say!(
            "a job is a section whose name does not begin with `global`",
            "задание — это раздел, имя которого не начинается с `global`"
        )));
    }
    Ok(jobs)
}

/// All jobs as one suite.
fn suite(jobs: Vec<Job>, from: &str, mut notes: Notes) -> Result<Imported> {
    let placed: Vec<(Job, Area)> = jobs
        .into_iter()
        .map(|job| {
            let area = Area::of(&job)?;
            Ok((job, area))
        })
        .collect::<Result<_>>()?;
    if placed.is_empty() {
        return Err(Error::spec(say!("{from}: there is no job", "{from}: нет ни одного задания")));
    }
    let range = layout::range(&placed, &mut notes)?;
    let mut cases: Vec<DraftCase> = Vec::new();
    for of_case in placed.chunk_by(|(a, _), (b, _)| a.case == b.case) {
        cases.push(case(of_case, &range, &mut notes)?);
    }
    filled_first(&placed, &cases, &range, &mut notes);
    let file = from.split(", ").next().unwrap_or(from);
    let stem = file.rsplit('/').next().unwrap_or(file);
    let name = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).to_string();
    let Range { targets, fill, files, .. } = range;
    Draft { name, from: from.to_string(), fill, files, cases, targets }.imported(notes)
}

/// Jobs that run at the same time.
fn case(jobs: &[(Job, Area)], range: &Range, notes: &mut Notes) -> Result<DraftCase> {
    let mut streams = Vec::new();
    let mut common: Option<Load> = None;
    let mut own = 0;
    let clones: usize = jobs.iter().map(|(_, area)| area.clones as usize).sum();
    for (job, area) in jobs {
        let mut load = load::load(job, notes)?;
        if let Some(first) = &mut common {
            one_backend(job, first, &mut load, notes);
            alike(job, first, &load, notes)?;
        }
        // All clones of the case can be streams of their own, or none.
        let room = if clones <= STREAMS.most { STREAMS.most } else { 0 };
        // Clones with steps between them are streams in any case: too many are refused before they are made.
        let more = if area.steps() { area.clones as usize } else { 1 };
        fits(streams.len() + more, jobs)?;
        for (region, jobs) in range.parts(job, area, own, &load.spec.pattern, room, notes)? {
            let mut spec = load.spec.clone();
            spec.region = region;
            spec.jobs = vec![jobs];
            for rate in &mut spec.rate {
                // fio's is of each clone, ours of all.
                for step in &mut rate.steps {
                    step.rate.0 = step.rate.0.saturating_mul(u64::from(jobs));
                }
            }
            streams.push(spec);
        }
        own += area.own_files();
        common = common.or(Some(load));
    }
    side_by_side(jobs, &streams, notes);
    verified_alone(jobs, &mut streams, notes)?;
    if streams.len() > 1 {
        let all = Part { start: Extent::Share(Millionths(0)), size: None };
        streams.iter_mut().for_each(|stream| stream.region = stream.region.or(Some(all)));
    }
    fits(streams.len(), jobs)?;
    let Some(Load { ramp, window, direct, pages, backend, .. }) = common else {
        return Err(Error::bug(say!("a case without jobs", "случай без заданий")));
    };
    let name = match jobs {
        [(job, _)] => job.name.clone(),
        [(job, _), rest @ ..] => format!("{} +{}", job.name, rest.len()),
        [] => String::new(),
    };
    let place = jobs.first().map_or_else(|| super::JobPlace::new("", 1), |(job, _)| job.place.clone());
    Ok(DraftCase { place, name, streams, ramp, window, direct, pages, backend })
}

/// fio makes discards by plain calls beside any engine; here a case has one way for all, and the best there is makes both.
fn one_backend(job: &Job, first: &mut Load, load: &mut Load, notes: &mut Notes) {
    let discards = |load: &Load| load.spec.mix.erases() && load.backend != Backend::Null;
    if first.backend != load.backend && (discards(first) || discards(load)) {
        (first.backend, load.backend) = (Backend::Auto, Backend::Auto);
        notes.decided(
            &job.place,
            say!(
                "discards and other I/O of a case are submitted in one way: the best that the host has",
                "освобождение и прочие операции случая подаются одним способом: лучшим на этом хосте"
            ),
        );
    }
}

/// Sections that go in order over the same place begin together in fio, and at places of their own here. The note about clones says it for
/// them.
fn side_by_side(jobs: &[(Job, Area)], streams: &[StreamSpec], notes: &mut Notes) {
    let [_, (second, area), ..] = jobs else { return };
    let ordered: Vec<_> = streams.iter().filter(|stream| stream.pattern == Pattern::Sequential).collect();
    let together =
        ordered.iter().enumerate().any(|(n, one)| ordered[..n].iter().any(|other| other.region == one.region));
    if together && area.clones == 1 && !area.has_own_files() {
        notes.decided(
            &second.place,
            say!(
                "in fio jobs over the same blocks begin at one offset, so a cache may answer all but one; here each begins at its own",
                "задания, идущие по одним и тем же блокам, в fio начинают с одного места, и кэш может ответить всем, кроме одного; здесь каждое начинает со своего"
            ),
        );
    }
}

/// What others of the case write over cannot be compared: marks are of one stream.
fn verified_alone(jobs: &[(Job, Area)], streams: &mut [StreamSpec], notes: &mut Notes) -> Result<()> {
    let begin_end = |stream: &StreamSpec| match stream.region {
        Some(Part { start: Extent::Size(start), size: Some(Extent::Size(size)) }) => {
            Some((start.0, start.0.saturating_add(size.0), true))
        }
        Some(Part { start: Extent::Share(Millionths(0)), size: Some(Extent::Size(size)) }) => Some((0, size.0, true)),
        Some(Part { start: Extent::Share(start), size: Some(Extent::Share(size)) }) => {
            Some((u64::from(start.0), u64::from(start.0 + size.0), false))
        }
        _ => None,
    };
    let apart = |one: &StreamSpec, other: &StreamSpec| match (begin_end(one), begin_end(other)) {
        (Some((a, a_end, a_bytes)), Some((b, b_end, b_bytes))) => a_bytes == b_bytes && (a_end <= b || b_end <= a),
        _ => false,
    };
    let shared = streams.iter().enumerate().any(|(n, one)| {
        let others = streams.iter().enumerate().filter(|(m, other)| *m != n && other.mix.writes());
        one.verify.is_some() && others.into_iter().any(|(_, other)| !apart(one, other))
    });
    let Some(option) = jobs.iter().find_map(|(job, _)| job.get("verify")).filter(|_| shared) else { return Ok(()) };
    notes.changed(
        &option.place,
        say!(
            "other jobs write to the same blocks at the same time, so nothing could be compared",
            "другие задания в это время пишут в те же блоки, сверять было бы нечего"
        ),
        say!("give each job a place of its own", "дайте каждому заданию своё место"),
    )?;
    streams.iter_mut().for_each(|stream| stream.verify = None);
    Ok(())
}

/// What was to be written before the rest is measured: a device is filled only with `fill` in the suite, and cases have no
/// order.
fn filled_first(placed: &[(Job, Area)], cases: &[DraftCase], range: &Range, notes: &mut Notes) {
    let last = placed.last().map_or(0, |(job, _)| job.case);
    let fills = |job: &Job, case: &DraftCase| {
        let by_volume = job.get("runtime").is_none() && job.case < last;
        by_volume && case.streams.iter().all(|stream| stream.mix.write == 100 && stream.pattern == Pattern::Sequential)
    };
    let of_case = placed.chunk_by(|(a, _), (b, _)| a.case == b.case);
    let Some((jobs, _)) = of_case.zip(cases).find(|(jobs, case)| fills(&jobs[0].0, case)) else { return };
    if range.is_of_devices() {
        let name = super::notes::shown(&jobs[0].0.name);
        notes.decided(
            &jobs[0].0.place,
            say!(
                "cases run in mixed order and repeat, so others may run before `{name}` and on a device that it has not filled; to fill it first, write `fill: {{size: …}}` with the size of the device",
                "случаи измеряются вперемешку и по нескольку раз: другие могут пойти раньше `{name}` и по незаполненному устройству; чтобы оно было заполнено, впишите `fill: {{size: …}}` с размером устройства"
            ),
        );
    }
}

/// Refuses more streams than a case has.
fn fits(count: usize, jobs: &[(Job, Area)]) -> Result<()> {
    let most = STREAMS.most;
    if count <= most {
        return Ok(());
    }
    Err(jobs[0]
        .0
        .place
        .error(say!(
            "{count} streams or more run at once, the limit is {most}",
            "одновременно {count} или больше потоков, предел — {most}"
        ))
        .hint(say!(
            "put `stonewall` between jobs, or import them in parts",
            "поставьте между заданиями `stonewall` или импортируйте их по частям"
        )))
}

/// What all streams of a case have in common.
fn alike(job: &Job, first: &Load, load: &Load, notes: &mut Notes) -> Result<()> {
    let differing = [
        ("direct", first.direct != load.direct),
        ("mem", first.pages != load.pages),
        ("ioengine", first.backend != load.backend),
        ("runtime", first.window != load.window),
        ("ramp_time", first.ramp != load.ramp),
    ];
    for (name, _) in differing.iter().filter(|(_, differs)| *differs) {
        let place = job.get(name).map_or(&job.place, |option| &option.place);
        notes.changed(
            place,
            say!(
                "`{name}` differs between jobs that run at once, and streams of a case share it",
                "`{name}` у одновременных заданий разная, а у потоков случая она общая"
            ),
            say!(
                "put `stonewall` between them, or give them the same",
                "поставьте между ними `stonewall` или задайте одинаковую"
            ),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod parts_tests;
