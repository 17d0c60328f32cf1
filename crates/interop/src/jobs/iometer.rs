//! Configuration files of Iometer (`.icf`) as suites. Facts: `PageSetup.cpp`, `AccessSpecList.cpp` and `Manager.cpp` of Iometer
//! 1.1. Must not open what it names.

use super::draft::{Draft, DraftCase};
use super::notes::{Notes, shown};
use super::{ImportContext, Imported, JobPlace, decoded};
use stend_base::{Bytes, Error, Millionths, Nanos, Result, format, say};
use stend_spec::pattern::Pattern;
use stend_spec::suite::{JobsOf, StreamSpec};
use stend_spec::workload::{Backend, BlockShare, Mix, Pages};

/// Rows of an access specification; Iometer has at most 100.
const ROWS_MAX: usize = 100;
/// The least that an I/O is aligned to.
const SECTOR: u32 = 512;

/// A line that names what follows, and the line below with its values.
struct Entry<'a> {
    key: &'a str,
    values: &'a str,
    place: JobPlace,
}

/// A row: so many percent of the I/Os are like this.
struct Row {
    size: Bytes,
    share: u32,
    reads: u32,
    random: u32,
}

/// An access specification.
struct Access {
    name: String,
    rows: Vec<Row>,
    place: JobPlace,
}

/// What a worker has in flight, and which specifications and targets are its own.
#[derive(Default)]
struct Worker {
    depth: u32,
    accesses: Vec<String>,
    targets: Vec<String>,
}

/// The suite of configuration files.
pub(super) fn files(sources: &[(String, Vec<u8>)], context: &ImportContext) -> Result<Imported> {
    let mut notes = Notes::new(context.lenient);
    let mut draft = Draft {
        from: sources.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
        ..Draft::default()
    };
    for (name, bytes) in sources {
        let stem = name.rsplit('/').next().unwrap_or(name);
        draft.name = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).to_string();
        let text = decoded(bytes, name)?;
        one(&mut draft, name, text, &mut notes)?;
    }
    draft.imported(notes)
}

/// Lines that begin with `'` name what the line behind them holds.
fn entries<'a>(file: &str, text: &'a str) -> Vec<Entry<'a>> {
    let mut found: Vec<Entry<'a>> = Vec::new();
    let mut key = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('\'') {
            key = name.trim();
            if key.contains("====") {
                found.push(Entry { key, values: "", place: JobPlace::new(file, index as u32 + 1) });
            }
            continue;
        }
        if !line.is_empty() {
            found.push(Entry { key, values: line, place: JobPlace::new(file, index as u32 + 1) });
        }
    }
    found
}

fn is(entry: &Entry, key: &str) -> bool {
    entry.key.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key))
}

fn one(draft: &mut Draft, file: &str, text: &str, notes: &mut Notes) -> Result<()> {
    let entries = entries(file, text);
    let (mut window, mut ramp) = (Nanos(0), Nanos(0));
    let (mut accesses, mut workers): (Vec<Access>, Vec<Worker>) = (Vec::new(), Vec::new());
    for entry in &entries {
        if is(entry, "hours") {
            let [hours, minutes, seconds] = numbers::<3>(entry)?;
            window = Nanos::secs(u64::from(hours) * 3600 + u64::from(minutes) * 60 + u64::from(seconds));
        } else if is(entry, "Ramp Up Time") {
            let [seconds] = numbers::<1>(entry)?;
            ramp = Nanos::secs(u64::from(seconds));
        } else if is(entry, "Test Type") {
            if !entry.values.eq_ignore_ascii_case("NORMAL") {
                let value = shown(entry.values);
                let text = say!(
                    "the test type `{value}` changes workers or depth as it runs",
                    "вид испытания `{value}` по ходу меняет число рабочих или глубину"
                );
                notes.changed(
                    &entry.place,
                    text,
                    say!("write axes: `queue_depth: [1, 8, 32]`", "впишите оси: `queue_depth: [1, 8, 32]`"),
                )?;
            }
        } else if is(entry, "Access specification name") {
            let name = entry.values.rsplit_once(',').map_or(entry.values, |(name, _)| name);
            accesses.push(Access { name: name.trim().to_string(), rows: Vec::new(), place: entry.place.clone() });
        } else if is(entry, "size,") {
            let Some(access) = accesses.last_mut().filter(|access| access.rows.len() < ROWS_MAX) else {
                return Err(wrong(entry, "at most 100 rows below a name", "не больше 100 строк под именем"));
            };
            access.rows.push(row(entry, notes)?);
        } else if is(entry, "Worker type") {
            workers.push(Worker { depth: 1, ..Worker::default() });
            if !entry.values.eq_ignore_ascii_case("DISK") {
                notes.changed(
                    &entry.place,
                    say!("Stend has no network workers", "сетевых рабочих в Stend нет"),
                    say!("leave them out", "уберите их"),
                )?;
                workers.pop();
            }
        } else if let Some(worker) = workers.last_mut() {
            of_worker(entry, worker, notes)?;
        }
    }
    if accesses.is_empty() {
        return Err(JobPlace::new(file, 1)
            .error(say!("there is no access specification in it", "в нём нет описаний доступа"))
            .hint(say!(
                "save the configuration in Iometer with all its parts",
                "сохраните в Iometer конфигурацию целиком"
            )));
    }
    if window == Nanos(0) {
        window = super::draft::WINDOW;
        notes.decided(
            &JobPlace::new(file, 1),
            say!("no run time: a trial lasts 30 s", "нет времени испытания: оно длится 30 с"),
        );
    }
    cases(draft, &accesses, &workers, (window, ramp), notes)
}

fn of_worker(entry: &Entry, worker: &mut Worker, notes: &mut Notes) -> Result<()> {
    if is(entry, "Number of outstanding IOs") {
        let first = entry.values.split(',').next().unwrap_or_default().trim();
        worker.depth = first
            .parse()
            .ok()
            .filter(|n| (1..=4096).contains(n))
            .ok_or_else(|| wrong(entry, "1 to 4096 I/Os in flight", "от 1 до 4096 операций"))?;
        if entry.values.to_ascii_uppercase().contains("ENABLED") {
            let text = say!("connections are not opened and closed", "соединения не открываются и не закрываются");
            notes.changed(
                &entry.place,
                text,
                say!("disable the test connection rate", "отключите test connection rate"),
            )?;
        }
    } else if is(entry, "Disk maximum size") {
        let all = entry.values.split(',').take(2).all(|value| value.trim() == "0");
        if !all {
            let text = say!("a part of the disk in sectors", "часть диска в секторах");
            notes.changed(&entry.place, text, say!("write `region` into the streams", "впишите `region` в потоки"))?;
        }
    } else if is(entry, "Assigned access specs") {
        worker.accesses.push(entry.values.to_string());
    } else if entry.key.eq_ignore_ascii_case("Target") {
        worker.targets.push(entry.values.to_string());
    }
    Ok(())
}

/// Iometer runs one specification after the other, on all workers at once.
fn cases(
    draft: &mut Draft,
    accesses: &[Access],
    workers: &[Worker],
    (window, ramp): (Nanos, Nanos),
    notes: &mut Notes,
) -> Result<()> {
    for target in workers.iter().flat_map(|worker| &worker.targets) {
        if !draft.targets.contains(target) {
            draft.targets.push(target.clone());
        }
    }
    let assigned: Vec<&Access> =
        accesses.iter().filter(|access| workers.iter().any(|w| w.accesses.contains(&access.name))).collect();
    let chosen = if assigned.is_empty() { accesses.iter().collect() } else { assigned };
    let busy: Vec<&Worker> = workers.iter().filter(|worker| !worker.targets.is_empty()).collect();
    let depth = busy.iter().map(|worker| worker.depth).max().unwrap_or(1);
    // A worker keeps its depth on each of its targets. Where all of them have all targets, each target has as many jobs as there are workers.
    let targets = draft.targets.len();
    let all_have_all = busy.iter().all(|worker| draft.targets.iter().all(|target| worker.targets.contains(target)));
    let pairs = busy.iter().map(|worker| worker.targets.len()).sum::<usize>().max(1) as u32;
    let (jobs, jobs_of) = match all_have_all && targets > 1 {
        true => (busy.len().max(1) as u32, JobsOf::Target),
        false => (pairs, JobsOf::Range),
    };
    for access in chosen {
        if busy.iter().any(|worker| worker.accesses != busy[0].accesses) {
            let text = say!(
                "workers run different specifications at a time; here all run the same, one after the other",
                "рабочие одновременно выполняют разные описания; здесь все выполняют одно и то же, по очереди"
            );
            notes.changed(
                &access.place,
                text,
                say!("assign the same to all workers", "назначьте всем рабочим одинаковые"),
            )?;
        }
        if jobs_of == JobsOf::Range && targets > 1 {
            notes.decided(
                &access.place,
                say!(
                    "workers have targets of their own: here {jobs} jobs share the range of all {targets}",
                    "у рабочих свои объекты: здесь {jobs} заданий делят область всех {targets}"
                ),
            );
        }
        if busy.iter().any(|worker| worker.depth != depth) {
            let text = say!(
                "workers have different depths; here all have {depth}",
                "у рабочих разная глубина; здесь у всех {depth}"
            );
            notes.changed(&access.place, text, say!("give all the same", "задайте всем одинаковую"))?;
        }
        let mut spec = stream(access, notes)?;
        (spec.queue_depth, spec.jobs, spec.jobs_of) = (vec![depth], vec![jobs], jobs_of);
        draft.cases.push(DraftCase {
            place: access.place.clone(),
            name: access.name.clone(),
            streams: vec![spec],
            ramp,
            window,
            direct: true,
            pages: Pages::Ordinary,
            backend: Backend::Auto,
        });
    }
    Ok(())
}

/// One stream for all rows: they may differ in size, or in reads, but not in both at once.
fn stream(access: &Access, notes: &mut Notes) -> Result<StreamSpec> {
    let rows: Vec<&Row> = access.rows.iter().filter(|row| row.share > 0).collect();
    let sum: u32 = rows.iter().map(|row| row.share).sum();
    let (Some(first), 100) = (rows.first(), sum) else {
        return Err(access
            .place
            .error(say!(
                "the shares of its rows add up to {sum} %, not to 100",
                "доли его строк дают вместе {sum} %, а не 100"
            ))
            .hint(say!("each row has its share of the I/Os", "у каждой строки своя доля операций")));
    };
    if rows.iter().any(|row| row.random != first.random || (row.size != first.size && row.reads != first.reads)) {
        let text = say!("rows differ in more than one property", "строки отличаются больше чем одним свойством");
        notes.changed(
            &access.place,
            text,
            say!("write a stream for each row, with rates", "напишите поток на каждую строку, с частотами"),
        )?;
    }
    let hundredths: u32 = rows.iter().map(|row| row.reads * row.share).sum();
    let reads = (hundredths + 50) / 100;
    if !hundredths.is_multiple_of(100) {
        notes.decided(
            &access.place,
            say!(
                |l| "its rows read {exact} % of the I/Os; here it is {reads} %",
                "его строки читают {exact} % операций; здесь — {reads} %",
                exact = format::fixed(f64::from(hundredths) / 100.0, 2, l)
            ),
        );
    }
    let pattern = match first.random {
        0 => Pattern::Sequential,
        100 => Pattern::Uniform,
        percent => Pattern::Mixed { sequential: Millionths::percent(100 - percent) },
    };
    let mut spec = StreamSpec::new(Mix::of_reads(reads as u8), pattern, first.size);
    let mut mix: Vec<BlockShare> = Vec::new();
    for row in &rows {
        match mix.iter_mut().find(|known| known.size == row.size) {
            Some(known) => known.percent += row.share as u8,
            None => mix.push(BlockShare { size: row.size, percent: row.share as u8 }),
        }
    }
    mix.sort_by_key(|share| share.size);
    if let Some(odd) = mix.iter().find(|share| !share.size.0.is_multiple_of(mix[0].size.0)) {
        let size = odd.size.0;
        return Err(access
            .place
            .error(say!("{size} B is not a multiple of the smallest size", "{size} Б не кратно наименьшему размеру"))
            .hint(say!("take a specification for each size", "возьмите по описанию на каждый размер")));
    }
    if mix.len() > 1 {
        spec.block_size = mix.last().map(|share| share.size).into_iter().collect();
        spec.block_mix = mix;
    }
    Ok(spec)
}

/// `size,% of size,% reads,% random,delay,burst,align,reply`.
fn row(entry: &Entry, notes: &mut Notes) -> Result<Row> {
    let [size, share, reads, random, delay, burst, align, reply] = numbers::<8>(entry)?;
    let fits = (512..=64 << 20).contains(&size) && size.is_multiple_of(512);
    if !fits || share > 100 || reads > 100 || random > 100 {
        return Err(wrong(
            entry,
            "a size that is a multiple of 512 B up to 64 MiB, and percentages",
            "размер, кратный 512 Б, не больше 64 МиБ, и проценты",
        ));
    }
    if delay > 0 && burst > 0 {
        let text = say!(
            "bursts of a worker; here each I/O in flight would rest",
            "всплески рабочего; здесь отдыхала бы каждая операция"
        );
        notes.changed(
            &entry.place,
            text,
            say!("write `think` or a `schedule` with `burst`", "напишите `think` или `schedule` с `burst`"),
        )?;
    }
    if align == 0 && random > 0 && size > SECTOR {
        notes.decided(
            &entry.place,
            say!(
                "Iometer begins random I/Os at any sector (alignment 0); here they are aligned to their size",
                "Iometer начинает случайные операции с любого сектора (выравнивание 0); здесь смещения кратны размеру"
            ),
        );
    }
    if align > 0 && align != size {
        notes.changed(
            &entry.place,
            say!("here I/Os are aligned to their size", "здесь операции выровнены по своему размеру"),
            say!("align I/Os on their request size", "задайте выравнивание по размеру операции"),
        )?;
    }
    if reply > 0 {
        notes.changed(
            &entry.place,
            say!("there are no replies to I/Os of a disk", "ответов на операции с диском нет"),
            say!("set it to 0", "задайте 0"),
        )?;
    }
    Ok(Row { size: Bytes(u64::from(size)), share, reads, random })
}

/// So many whole numbers with commas or blanks between them.
fn numbers<const N: usize>(entry: &Entry) -> Result<[u32; N]> {
    let words = entry.values.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let found: Option<Vec<u32>> = words.map(|word| word.parse().ok()).collect();
    let numbers = found.and_then(|found| <[u32; N]>::try_from(found).ok());
    numbers.ok_or_else(|| {
        wrong(entry, "whole numbers, as many as its heading names", "целые числа, столько, сколько названо в заголовке")
    })
}

fn wrong(entry: &Entry, en: &str, ru: &str) -> Box<Error> {
    let (key, values) = (shown(entry.key), shown(entry.values));
    entry.place.error(say!("`{key}` needs {en}, not `{values}`", "`{key}` требует {ru}, а не `{values}`"))
}
