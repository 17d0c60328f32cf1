//! The load of one job of fio: everything about it but where it goes to. Must not know other jobs.

use super::super::draft::WINDOW;
use super::super::notes::Notes;
use super::access::{self, Kinds};
use super::engine;
use super::job::Job;
use super::lines::Opt;
use super::writes;
use stend_base::{Bytes, MilliIops, Nanos, Result, say};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::suite::StreamSpec;
use stend_spec::workload::{Backend, Batch, Pages, Think};

/// What a job asks for, as a stream, and what holds for its whole case.
#[derive(Debug)]
pub(super) struct Load {
    /// Load of one clone; without a region.
    pub spec: StreamSpec,
    pub ramp: Nanos,
    pub window: Nanos,
    pub direct: bool,
    pub pages: Pages,
    pub backend: Backend,
}

pub(super) fn load(job: &Job, notes: &mut Notes) -> Result<Load> {
    let kinds = access::kinds(job, notes)?;
    let (size, mixture) = access::sizes(job, kinds, notes)?;
    let pattern = access::pattern(job, kinds, !mixture.is_empty(), notes)?;
    let (window, ramp) = times(job, notes)?;
    let (direct, backend, depth) = engine::way(job, kinds, notes)?;
    let mut spec =
        StreamSpec { block_mix: mixture, queue_depth: vec![depth], ..StreamSpec::new(kinds.mix, pattern, size) };
    spec.sync = writes::sync(job, kinds, notes)?;
    spec.data = writes::data(job, kinds, notes)?;
    spec.rate = rate(job, kinds, size, !spec.block_mix.is_empty(), notes)?.into_iter().collect();
    spec.think = think(job, depth, !spec.rate.is_empty(), notes)?;
    spec.batch = batch(job, depth, backend, notes)?;
    spec.placement.cpus = cpus(job, notes)?;
    spec.verify = writes::verify(job, &spec, backend, notes)?;
    let pages = engine::pages(job, notes)?;
    Ok(Load { spec, ramp, window, direct, pages, backend })
}

fn times(job: &Job, notes: &mut Notes) -> Result<(Nanos, Nanos)> {
    let ramp = job.get("ramp_time").map_or(Ok(Nanos(0)), |option| option.nanos(Nanos::SECOND))?;
    if let Some(option) = job.get("startdelay")
        && option.nanos(Nanos::SECOND)? > Nanos(0)
    {
        let text = say!("all streams of a case begin together", "все потоки случая начинают вместе");
        notes.changed(
            &option.place,
            text,
            say!(
                "leave it out, or take a case of its own (`stonewall`)",
                "уберите её или сделайте отдельный случай (`stonewall`)"
            ),
        )?;
    }
    let runtime = match job.get("runtime") {
        Some(option) => Some((option, option.nanos(Nanos::SECOND)?)).filter(|(_, time)| *time > Nanos(0)),
        None => None,
    };
    let Some((option, runtime)) = runtime else {
        let seconds = WINDOW.0 / Nanos::SECOND.0;
        notes.decided(
            &job.place,
            say!(
                "fio ends after `size`; a trial ends by the clock, after {seconds} s",
                "fio заканчивает, пройдя `size`; испытание заканчивается по часам, через {seconds} с"
            ),
        );
        return Ok((WINDOW, ramp));
    };
    // Once over its volume is what fio does anyway.
    let asks = |option: &&Opt| {
        !matches!((option.name.as_str(), option.value.as_deref()), (_, Some("0")) | ("loops", Some("1")))
    };
    let ending = ["number_ios", "io_size", "loops"].iter().find_map(|name| job.get(name)).filter(asks);
    if !job.flag("time_based")? || ending.is_some() {
        let place = ending.map_or(&option.place, |option| &option.place);
        notes.decided(
            place,
            say!(
                "fio would end earlier, after its volume; a trial goes on until its time is over",
                "fio закончил бы раньше, пройдя свой объём; испытание идёт, пока не выйдет время"
            ),
        );
    }
    Ok((runtime, ramp))
}

fn rate(job: &Job, kinds: Kinds, size: Bytes, mixed_sizes: bool, notes: &mut Notes) -> Result<Option<Rate>> {
    let Some(option) = job.last(["rate", "rate_iops"]) else { return Ok(None) };
    let left_out = |notes: &mut Notes, en: &str, ru: &str| {
        notes
            .changed(
                &option.place,
                say!("{en}", "{ru}"),
                say!("write `rate` into the stream", "впишите `rate` в поток"),
            )
            .map(|()| None)
    };
    if job.get("rate").is_some() && job.get("rate_iops").is_some() {
        return left_out(notes, "two rates at once", "две частоты сразу");
    }
    let base = job.kb_base()?;
    let mut sum = 0u64;
    let mut each = [0u64; 3];
    for (index, text) in option.triple(option.text()?)?.into_iter().enumerate() {
        if !kinds.active()[index] {
            continue;
        }
        let Some(text) = text else {
            return left_out(
                notes,
                "one kind of I/O has a rate and another none",
                "у одного вида операций частота есть, у другого нет",
            );
        };
        let value = option.bytes(text, base)?.0;
        let thousandths = match option.name.as_str() {
            "rate" if mixed_sizes => {
                return left_out(
                    notes,
                    "bytes per second of several block sizes are no rate of I/Os",
                    "байты в секунду при разных размерах блоков не дают частоты операций",
                );
            }
            "rate" => value.saturating_mul(1000) / size.0.max(1),
            _ => value.saturating_mul(1000),
        };
        each[index] = thousandths;
        sum = sum.saturating_add(thousandths);
    }
    // Shares are whole percent, so what each kind has must be its share of the sum.
    let fits = |thousandths: u64, share: u8| u128::from(thousandths) * 100 == u128::from(sum) * u128::from(share);
    if !(fits(each[0], kinds.mix.read) && fits(each[1], kinds.mix.write) && fits(each[2], kinds.mix.discard)) {
        return left_out(
            notes,
            "the rates of reads and writes are not in the ratio of the mix",
            "частоты чтений и записей не в пропорции смеси",
        );
    }
    if sum == 0 {
        return Ok(None);
    }
    let gaps = match job.get("rate_process").map(Opt::text).transpose()? {
        None | Some("linear") => Gaps::Even,
        Some("poisson") => Gaps::Poisson,
        Some(other) => return Err(option.wrong(other, "`linear` or `poisson`", "`linear` или `poisson`")),
    };
    notes.decided(
        &option.place,
        say!(
            "latency counts from when an I/O was due; fio counts from the submission and leaves out the wait behind a stall",
            "задержка считается от срока операции; fio считает её с подачи, и ожидание за остановкой не входит"
        ),
    );
    Ok(Some(Rate::constant(MilliIops(sum), gaps)))
}

fn think(job: &Job, depth: u32, open: bool, notes: &mut Notes) -> Result<Option<Think>> {
    let Some(option) = job.get("thinktime") else { return Ok(None) };
    let time = option.nanos(Nanos(1000))?;
    if time == Nanos(0) {
        return Ok(None);
    }
    if let Some(spin) = job.get("thinktime_spin")
        && spin.nanos(Nanos(1000))? > Nanos(0)
    {
        let text = say!("a job rests without keeping its CPU busy", "задание отдыхает, не занимая процессор");
        notes.changed(&spin.place, text, say!("leave it out", "уберите её"))?;
    }
    if depth > 1 || open {
        notes.changed(
            &option.place,
            say!(
                "in fio the whole job rests; here each of the {depth} I/Os in flight would, and none beside a rate",
                "у fio отдыхает всё задание; здесь отдыхала бы каждая из {depth} операций, а рядом с частотой — ни одна"
            ),
            say!(
                "take `iodepth=1` with more `numjobs`, or leave it out",
                "возьмите `iodepth=1` и больше `numjobs` или уберите её"
            ),
        )?;
        return Ok(None);
    }
    let every = job.get("thinktime_blocks").map_or(Ok(1), Opt::small)?.max(1);
    Ok(Some(Think { time, every }))
}

fn batch(job: &Job, depth: u32, backend: Backend, notes: &mut Notes) -> Result<Batch> {
    let (submit, complete) = (job.get("iodepth_batch"), job.get("iodepth_batch_complete_min"));
    let waited = complete.map_or(Ok(1), Opt::small)?;
    let Some(option) = complete.filter(|_| waited > 1 && backend != Backend::Psync) else {
        if let Some(option) = submit.filter(|_| backend != Backend::Psync && depth > 1)
            && option.small()? > 1
        {
            notes.changed(
                &option.place,
                say!(
                    "here an I/O is submitted as soon as a place is free, not several at once",
                    "здесь операция подаётся, как только есть место, а не по нескольку сразу"
                ),
                say!(
                    "set `iodepth_batch_complete_min` to the same number, or leave it out",
                    "задайте тем же числом `iodepth_batch_complete_min` или уберите её"
                ),
            )?;
        }
        return Ok(Batch::default());
    };
    let submitted = submit.map_or(Ok(1), Opt::small)?;
    if submitted != waited || waited > depth || job.get("rate").or(job.get("rate_iops")).is_some() {
        notes.changed(
            &option.place,
            say!(
                "a batch has one number for waiting and submitting, at most the depth, and no rate",
                "у пачки одно число для ожидания и подачи, не больше глубины, и без частоты"
            ),
            say!("set `iodepth_batch_submit` to the same number", "задайте `iodepth_batch_submit` тем же числом"),
        )?;
        return Ok(Batch::default());
    }
    Ok(Batch { size: waited, one_stamp: false })
}

/// `0-3,8`.
fn cpus(job: &Job, notes: &mut Notes) -> Result<Vec<u32>> {
    let Some(option) = job.get("cpus_allowed") else { return Ok(Vec::new()) };
    let bad = || {
        option.wrong(
            option.value.as_deref().unwrap_or_default(),
            "CPUs such as `0-3,8`",
            "процессоры, например `0-3,8`",
        )
    };
    let mut cpus: Vec<u32> = Vec::new();
    for part in option.text()?.split([',', ':']) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n <= 8191).ok_or_else(bad);
        cpus.extend(number(from)?..=number(to)?);
        if cpus.len() > 8192 {
            return Err(bad());
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() || cpus.len() > 1024 {
        return Err(bad());
    }
    let split = job.get("cpus_allowed_policy").and_then(|option| option.value.as_deref()) == Some("split");
    if cpus.len() > 1 && !split {
        notes.decided(
            &option.place,
            say!(
                "each thread stays on one of these CPUs; in fio all may use all",
                "каждый поток остаётся на одном из этих CPU; у fio любой может занять любой"
            ),
        );
    }
    Ok(cpus)
}
