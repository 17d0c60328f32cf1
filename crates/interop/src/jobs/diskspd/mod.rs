//! Command lines and XML profiles of diskspd as suites. Facts: `CmdLineParser.cpp` of diskspd 2.x and its wiki. Must not run it or open what it names.

mod options;
mod order;
mod profile;
mod word;

use super::draft::{Draft, DraftCase, directory_of};
use super::notes::Notes;
use super::{ImportContext, Imported, JobPlace, words};
use options::{Limit, Options};
use order::Order;
use stend_base::{Bytes, MilliIops, Millionths, Result, say};
use stend_spec::keys::files::UNIT as SIZE_UNIT;
use stend_spec::pattern::{Pattern, Zone};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::region::{Extent, Part};
use stend_spec::suite::{Fill, JobsOf, StreamSpec};
use stend_spec::workload::{Backend, Mix, Sync, Think};
use word::Given;

/// The suite of commands of diskspd; each with the number of its first word.
pub(super) fn commands(parts: &[(usize, &[String])], mut notes: Notes) -> Result<Imported> {
    let mut draft = Draft { name: "diskspd".into(), from: "diskspd command line".into(), ..Draft::default() };
    for (first, words) in parts {
        let (skipped, _) = words::program(words);
        let options = options::read(first + skipped, &words[skipped..], &mut notes)?;
        let place = options.place.clone();
        add(&mut draft, &options, &place, &mut notes)?;
    }
    in_directories(&mut draft);
    draft.imported(notes)
}

/// The suite of profiles: a case for each time span.
pub(super) fn files(sources: &[(String, Vec<u8>)], context: &ImportContext) -> Result<Imported> {
    let mut notes = Notes::new(context.lenient);
    let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
    let mut draft = Draft { name: "diskspd".into(), from: names.join(", "), ..Draft::default() };
    for (name, bytes) in sources {
        for options in profile::read(name, bytes, &mut notes)? {
            let place = options.place.clone();
            add(&mut draft, &options, &place, &mut notes)?;
        }
    }
    in_directories(&mut draft);
    draft.imported(notes)
}

/// Files are named by the directories that they are made in.
fn in_directories(draft: &mut Draft) {
    if draft.fill.is_none() {
        return;
    }
    let mut found: Vec<String> = draft.targets.iter().map(|path| directory_of(path)).collect();
    if draft.files.is_some() {
        found.dedup();
    }
    draft.targets = found;
}

fn add(draft: &mut Draft, options: &Options, place: &JobPlace, notes: &mut Notes) -> Result<()> {
    let targets: Vec<String> = options.targets.iter().map(|(path, _)| path.clone()).collect();
    let files = options.create.as_ref().map(|size| (targets.len(), size.value));
    let known = draft.files.map(|(_, size)| size).or(match draft.fill {
        Some(Fill::Size(size)) => Some(size),
        _ => None,
    });
    if !draft.cases.is_empty() && (targets != draft.targets || files.map(|(_, size)| size) != known) {
        return Err(place
            .error(say!("the commands do not have the same targets", "у команд разные объекты"))
            .hint(say!("import them apart", "импортируйте их отдельно")));
    }
    if let Some((count, size)) = files {
        if !size.0.is_multiple_of(SIZE_UNIT) || size.0 < SIZE_UNIT || count > 64 || size.0 > u64::MAX / 64 {
            return Err(place
                .error(say!(
                    "Stend makes no files of that size, or so many",
                    "Stend не создаёт файлы такого размера или столько файлов"
                ))
                .hint(say!("take a multiple of 4 KiB", "возьмите кратное 4 КиБ")));
        }
        (draft.fill, draft.files) = match options.in_one_directory() {
            true => (Some(Fill::Auto), Some((count as u32, size))),
            // A test file in each directory that is a target.
            false => (Some(Fill::Size(size)), None),
        };
    }
    draft.targets = targets;
    let case = case(options, place, notes)?;
    draft.cases.push(case);
    Ok(())
}

fn case(options: &Options, place: &JobPlace, notes: &mut Notes) -> Result<DraftCase> {
    let count = options.targets.len() as u32;
    let block = options.block.value;
    let mix = Mix::of_reads(100 - options.writes);
    let pattern = pattern(options, notes)?;
    let mut spec = StreamSpec::new(mix, pattern, block);
    threads(&mut spec, options, count, place, notes)?;
    if options.in_one_directory() && spec.pattern == Pattern::SharedSequential {
        notes.changed(
            &options.order.place,
            say!(
                "one sequence would go over all files; in diskspd each file has one",
                "последовательность шла бы по всем файлам; в diskspd она у каждого своя"
            ),
            say!("import a command for each file", "импортируйте по команде на файл"),
        )?;
    }
    if options.through && mix.write > 0 {
        notes.decided(place, say!("write-through is `o_dsync`", "сквозная запись — это `o_dsync`"));
        spec.sync = Sync::ODsync;
    }
    contents(options, place, notes);
    pace(&mut spec, options, count, notes)?;
    spec.region = region(options, count)?;
    let backend = Backend::Auto;
    let name = format!(
        "{} {}",
        if options.writes == 0 {
            "read"
        } else if options.writes == 100 {
            "write"
        } else {
            "mix"
        },
        block.0 >> 10
    );
    Ok(DraftCase {
        place: place.clone(),
        name: format!("{name}K"),
        streams: vec![spec],
        ramp: options.warmup,
        window: options.duration,
        direct: options.direct,
        pages: options.pages,
        backend,
    })
}

/// Options about the data: where files come from, and what is written.
fn contents(options: &Options, place: &JobPlace, notes: &mut Notes) {
    if options.create.is_some() {
        notes.decided(
            place,
            say!(
                "test files are made by Stend in the directories that `--on` names, and written once before measuring",
                "тестовые файлы Stend создаёт в каталогах из `--on` и один раз записывает до измерений"
            ),
        );
    }
    if options.writes > 0 && !options.random_data {
        notes.decided(
            place,
            say!(
                "diskspd writes the bytes 0 to 255 over and over, which storage compresses; here data are incompressible",
                "diskspd пишет байты 0–255 снова и снова, и хранилище их сжимает; здесь данные несжимаемы"
            ),
        );
    }
}

/// Limits and bursts.
fn pace(spec: &mut StreamSpec, options: &Options, count: u32, notes: &mut Notes) -> Result<()> {
    let block = options.block.value;
    // Each thread of `-F` works on all targets, and the limit is one of each target of each thread.
    let threads = options.total.unwrap_or(options.threads).saturating_mul(count);
    if let Some(Given { value, place }) = &options.limit {
        let per = match value {
            Limit::Iops(n) => n.saturating_mul(1000),
            Limit::BytesPerMs(n) => (u128::from(*n) * 1_000_000 / u128::from(block.0)) as u64,
        };
        notes.decided(
            place,
            say!(
                "the limits of all threads and targets become one rate: latency counts from when an I/O was due",
                "пределы всех потоков и объектов становятся одной частотой; задержка считается от срока операции"
            ),
        );
        spec.rate = vec![Rate::constant(MilliIops(per.saturating_mul(u64::from(threads))), Gaps::Even)];
    }
    if let Some(Given { value: (every, time), place }) = &options.burst {
        if spec.queue_depth != [1] || !spec.rate.is_empty() {
            let text = say!(
                "in diskspd the whole thread rests; here each I/O in flight would",
                "в diskspd отдыхает весь поток; здесь отдыхала бы каждая операция"
            );
            notes.changed(
                place,
                text,
                say!("take `-o1`, or leave `-i` and `-j` out", "возьмите `-o1` или уберите `-i` и `-j`"),
            )?;
        } else {
            spec.think = Some(Think { time: *time, every: *every });
        }
    }
    Ok(())
}

fn pattern(options: &Options, notes: &mut Notes) -> Result<Pattern> {
    let block = options.block.value;
    Ok(match &options.order.value {
        Order::Sequential(stride) if *stride == block => Pattern::Sequential,
        Order::Sequential(stride) if stride.0 >= 2 * block.0 && stride.0.is_multiple_of(block.0) => {
            Pattern::Strided { stride: *stride }
        }
        Order::Sequential(_) => {
            let text = say!("steps that are not a multiple of the block", "шаг не кратен блоку");
            notes.changed(&options.order.place, text, say!("leave the step out", "уберите шаг"))?;
            Pattern::Sequential
        }
        Order::Interlocked(step) => {
            if *step != block {
                let text = say!(
                    "threads that share a sequence go on by a block here, not by a step of their own",
                    "потоки с общей последовательностью идут здесь блок за блоком, без своего шага"
                );
                notes.changed(&options.order.place, text, say!("write `-si` alone", "напишите просто `-si`"))?;
            }
            Pattern::SharedSequential
        }
        Order::Random(align) => {
            aligned(options, *align, notes)?;
            Pattern::Uniform
        }
        Order::Share(percent, align) => {
            aligned(options, *align, notes)?;
            Pattern::Mixed { sequential: Millionths::percent(100 - percent) }
        }
        Order::Zones(zones, align) => {
            aligned(options, *align, notes)?;
            let zone = |(accesses, space): &(u32, u32)| Zone {
                space: Millionths::percent(*space),
                accesses: Millionths::percent(*accesses),
            };
            Pattern::Zones(zones.iter().map(zone).collect())
        }
    })
}

/// Offsets are multiples of the block here.
fn aligned(options: &Options, align: Option<Bytes>, notes: &mut Notes) -> Result<()> {
    if align.is_none_or(|align| align == options.block.value) {
        return Ok(());
    }
    let text = say!("here I/Os are aligned to their size", "здесь операции выровнены по своему размеру");
    notes.changed(&options.order.place, text, say!("write `-r` alone", "напишите просто `-r`"))
}

fn threads(spec: &mut StreamSpec, options: &Options, count: u32, place: &JobPlace, notes: &mut Notes) -> Result<()> {
    spec.queue_depth = vec![options.depth];
    if let Some(total) = options.total {
        if count > 1 {
            notes.decided(
                place,
                say!(
                    "each thread of `-F` works on all {count} targets: they are one range",
                    "каждый поток `-F` работает со всеми объектами ({count}): они составляют одну область"
                ),
            );
            spec.queue_depth =
                vec![if options.per_thread { options.depth } else { options.depth.saturating_mul(count) }];
        }
        spec.jobs = vec![total];
    } else {
        spec.jobs = vec![options.threads];
        if count > 1 {
            (spec.jobs, spec.jobs_of) = match options.create {
                Some(_) if options.in_one_directory() => (vec![options.threads.saturating_mul(count)], JobsOf::Files),
                _ => (vec![options.threads], JobsOf::Target),
            };
        }
    }
    if options.threads.max(options.total.unwrap_or(1)) > 1 && spec.pattern == Pattern::Sequential {
        notes.decided(
            place,
            say!(
                "in diskspd all threads of a target begin at the same offset and read the same blocks; here each has its own part (`-si` shares one sequence)",
                "в diskspd все потоки объекта начинают с одного места и читают одно и то же; здесь у каждого своя часть (`-si` делит одну последовательность)"
            ),
        );
    }
    Ok(())
}

fn region(options: &Options, count: u32) -> Result<Option<Part>> {
    let Some(Given { value: (start, len), place }) = &options.part else { return Ok(None) };
    if count > 1 {
        return Err(place
            .error(say!("a part of several targets", "часть нескольких объектов"))
            .hint(say!("import a command for each target", "импортируйте по команде на объект")));
    }
    Ok(Some(Part { start: Extent::Size(*start), size: len.map(Extent::Size) }))
}

#[cfg(test)]
mod tests;
