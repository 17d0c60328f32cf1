//! Whether a case fits its target: permission, size, block sizes, what the target can do. Pure.

use crate::target::{NullDevice, PlanTarget};
use std::ops::Range;
use stend_base::{Bytes, Error, Lang, Millionths, Say, format, say};
use stend_spec::case::Case;
use stend_spec::mixture::{self, Tiling};
use stend_spec::workload::{Backend, Pattern, Region, Stream, Trial};

/// The reason why a case cannot run on a target, if there is one.
pub(crate) fn why_not(trial: &Trial, target: &PlanTarget) -> Option<Say> {
    if let (true, Err(reason)) = (trial.writes(), &target.writes) {
        return Some(reason.clone());
    }
    if let Some(count) = trial.load_hosts.filter(|count| *count > target.hosts) {
        let hosts = target.hosts;
        return Some(say!(
            "it needs {count} load hosts; the run has {hosts}",
            "нужно нагружающих машин: {count}; в прогоне их {hosts}"
        ));
    }
    if trial.app.is_some() && (target.room.is_none() || target.count > 1) {
        return Some(say!(
            "the data of instances are files: name one directory with `--on`",
            "данные экземпляров — файлы: укажите в `--on` один каталог"
        ));
    }
    if !target.discards && trial.streams.iter().any(|stream| stream.mix.discard > 0) {
        return Some(say!("the target takes no discards", "объект не принимает освобождений (discard)"));
    }
    let appends = trial.streams.iter().any(|stream| stream.pattern == Pattern::Append);
    if appends && target.room.is_none() {
        return Some(say!(
            "appending is for files that Stend makes: name a directory with `--on`",
            "дописывать можно только в файлы, которые создаёт Stend: укажите каталог в `--on`"
        ));
    }
    if let Some(reason) = target.null.and_then(|device| nowhere(trial, device)) {
        return Some(reason);
    }
    if let Some(reason) = written_by_others(trial) {
        return Some(reason);
    }
    for stream in &trial.streams {
        let part = trial.region.part(trial.parts, 0);
        if let Some(region) = stream.region.filter(|region| !part.holds(*region)) {
            return Some(ends_behind(region, part, trial.parts));
        }
    }
    let areas = areas(trial);
    if areas.iter().any(Range::is_empty) {
        return Some(no_block_per_job(trial, target));
    }
    if let Some(reason) = too_small_for_shares(trial) {
        return Some(reason);
    }
    let mut areas = areas.into_iter();
    for stream in &trial.streams {
        let places = trial.parts.max(1);
        let least = least_of_a_job(stream, areas.by_ref().take((stream.jobs / places * places) as usize));
        // What a trace needs is asked where it is known.
        if stream.replay.is_some() {
            continue;
        }
        if let Some(reason) = too_small_for(&stream.pattern, stream.block_size, least) {
            return Some(reason);
        }
        let misfit = |size: Bytes| !size.0.is_multiple_of(target.logical_block.0.max(1));
        if in_whole_blocks(trial, stream, target) && stream.sizes().any(|share| misfit(share.size)) {
            let block = target.logical_block.0;
            return Some(say!(
                "direct I/O, discards and writes of zeroes on this target need block sizes that are multiples of {block} B",
                "прямой ввод-вывод, освобождение и запись нулей на этом объекте требуют блоков, кратных {block} Б"
            ));
        }
    }
    None
}

/// The jobs of a trial have no room for a block each.
fn no_block_per_job(trial: &Trial, target: &PlanTarget) -> Say {
    let places = trial.parts.max(1);
    let jobs = trial.streams.iter().map(|stream| stream.jobs).sum::<u32>() / places;
    let largest = trial.streams.iter().map(|stream| stream.block_size).max().unwrap_or(Bytes(0));
    let smallest = trial.streams.iter().filter_map(|stream| stream.region).map(|region| region.len).min();
    // The range is in whole pages: of a smaller target nothing is left.
    let (range, has_en, has_ru) = match smallest.unwrap_or(Bytes(trial.region.len.0 / u64::from(places))) {
        Bytes(0) => (target.size, "the target has", "у объекта"),
        range => (range, "the range has", "в области"),
    };
    let shown = |lang| (format::bytes(range, lang), format::bytes(largest, lang));
    let [(range_en, block_en), (range_ru, block_ru)] = [Lang::En, Lang::Ru].map(shown);
    match jobs {
        _ if range.0 / u64::from(jobs.max(1)) >= largest.0 => say!(
            "no whole block of {block_en} for each job lies in the range",
            "в области нет целого блока в {block_ru} для каждого задания"
        ),
        1 => say!("{has_en} {range_en}, a block {block_en}", "{has_ru} {range_ru}, а блок — {block_ru}"),
        _ => say!(
            "{has_en} {range_en}, and each of {jobs} jobs needs a block of {block_en}",
            "{has_ru} {range_ru}, а заданий {jobs}, и каждому нужен блок в {block_ru}"
        ),
    }
}

/// Whether I/Os of a stream must begin and end at blocks of the target.
pub(crate) fn in_whole_blocks(trial: &Trial, stream: &Stream, target: &PlanTarget) -> bool {
    // A device discards in blocks of its own, however it was opened.
    trial.direct || stream.mix.erases() && target.room.is_none()
}

/// Blocks of each job, counted in its own block size from the start of the trial's region; stream by stream, job by job.
/// An empty range is a job for which there is no room.
///
/// Each part of the region, usually one, is cut into equal cells, as many as there are jobs in it, and a job gets those blocks
/// that lie wholly inside its cell. The jobs of a stream with a shared pattern get all its cells of a part together. A stream
/// with a region of its own has no cells: its jobs in a part get equal numbers of the blocks that lie wholly inside.
pub fn areas(trial: &Trial) -> Vec<Range<u64>> {
    let sharing = || trial.streams.iter().filter(|stream| stream.region.is_none());
    let places = u64::from(trial.parts.max(1));
    let place_len = trial.region.len.0 / places;
    let count: u64 = sharing().map(|s| u64::from(s.jobs) / places).sum();
    let largest = sharing().map(|s| s.block_size).max().unwrap_or(Bytes(0));
    // A cell of whole largest blocks wastes nothing where block sizes divide one another.
    let reserved = trial.region.len.0 - trial.free_region().len.0;
    let cell = Bytes(place_len.saturating_sub(reserved) / count.max(1)).align_down(largest).0;
    let (mut areas, mut cells_before) = (Vec::new(), 0);
    for stream in &trial.streams {
        let size = stream.block_size.0.max(1);
        let jobs = u64::from(stream.jobs) / places;
        for job in 0..jobs * places {
            let (place, job) = (job / jobs, job % jobs);
            // Which of how many equal parts.
            let (part, parts) = if stream.pattern.is_shared() { (0, 1) } else { (job, jobs) };
            areas.push(match stream.region {
                // All jobs go where the trace says; counted from the start of its region.
                region if stream.replay.is_some() => 0..region.unwrap_or(trial.region).len.0 / size,
                Some(region) => {
                    let all = trial.in_part(region, place).blocks(trial.region.start, stream.block_size);
                    let each = all.end.saturating_sub(all.start) / parts;
                    all.start + part * each..all.start + (part + 1) * each
                }
                None => {
                    let (begin, cells) = (place * place_len + (cells_before + part) * cell, jobs / parts);
                    begin.div_ceil(size)..(begin + cells * cell) / size
                }
            });
        }
        cells_before += if stream.region.is_none() { jobs } else { 0 };
    }
    areas
}

/// The byte of the target from which the blocks of a stream's jobs are counted. A trace counts from the start of its region,
/// wherever that is.
pub fn origin(trial: &Trial, stream: &Stream) -> Bytes {
    stream.region.filter(|_| stream.replay.is_some()).unwrap_or(trial.region).start
}

/// Bytes of the jobs of those streams that `of` holds for, from the start of the target; see [`areas`].
pub fn spans(trial: &Trial, of: impl Fn(&Stream) -> bool) -> Vec<Range<u64>> {
    let jobs = trial.streams.iter().flat_map(|stream| std::iter::repeat_n(stream, stream.jobs as usize));
    let bytes = |(stream, blocks): (&Stream, Range<u64>)| {
        let at = |block: u64| origin(trial, stream).0 + block * stream.block_size.0.max(1);
        at(blocks.start)..at(blocks.end)
    };
    jobs.zip(areas(trial)).filter(|(stream, _)| of(stream)).map(bytes).collect()
}

/// What cannot be done to a device that keeps nothing.
fn nowhere(trial: &Trial, device: NullDevice) -> Option<Say> {
    if trial.streams.iter().any(|stream| stream.mix.erases()) {
        return Some(say!("it supports neither discards nor zeroes", "освобождать и обнулять там нечего"));
    }
    if device == NullDevice::Null && trial.streams.iter().any(|stream| stream.mix.reads()) {
        return Some(say!(
            "`/dev/null` has no data to read; use `/dev/zero`",
            "в `/dev/null` нет данных для чтения; возьмите `/dev/zero`"
        ));
    }
    (trial.direct && trial.backend != Backend::Null).then(|| {
        say!(
            "this device takes no direct I/O: write `direct: false` in the suite",
            "это устройство не принимает прямой ввод-вывод: укажите в наборе `direct: false`"
        )
    })
}

/// Why a pattern has no meaning in a region of so many bytes, if it has none.
fn too_small_for(pattern: &Pattern, block: Bytes, region: u64) -> Option<Say> {
    let part = |share: Millionths| (u128::from(region) * u128::from(share.0) / u128::from(Millionths::ALL.0)) as u64;
    match pattern {
        Pattern::Strided { stride } if region < stride.0 => {
            Some(say!("a job's region is smaller than one stride", "область задания меньше одного шага"))
        }
        Pattern::Zones(zones) if zones.iter().any(|z| z.accesses.0 > 0 && part(z.space) < 2 * block.0) => {
            Some(say!("a zone is smaller than two blocks", "зона меньше двух блоков"))
        }
        _ => None,
    }
}

/// Why the area of a job cannot hold a mixture of block sizes in its shares, where they lie side by side.
pub fn too_small_for_shares(trial: &Trial) -> Option<Say> {
    let jobs = trial.streams.iter().flat_map(|stream| std::iter::repeat_n(stream, stream.jobs as usize));
    let mixed = |stream: &Stream| !stream.block_mix.is_empty() && mixture::is_tiled(&stream.pattern);
    let len = |stream: &Stream, blocks: Range<u64>| (blocks.end - blocks.start) * stream.block_size.0;
    let mut mixtures =
        jobs.zip(areas(trial)).filter(|(stream, _)| mixed(stream)).map(|(stream, area)| (stream, len(stream, area)));
    let (stream, len) = mixtures.find(|(stream, len)| Tiling::new(&stream.block_mix, *len).is_none())?;
    let told = |lang| [len, mixture::cycle_len(&stream.block_mix)].map(|bytes| format::bytes(Bytes(bytes), lang));
    let ([is, needs], [is_ru, needs_ru]) = (told(Lang::En), told(Lang::Ru));
    Some(say!(
        "{is} for each job cannot hold the block sizes in their shares, which takes {needs}: use a larger range, fewer jobs, or `pattern: uniform`",
        "{is_ru} на задание не вмещают размеры блоков в их долях, нужно {needs_ru}: возьмите область больше, заданий меньше или `pattern: uniform`"
    ))
}

/// The first verified stream into whose region another one writes: what it finds there is not what it wrote.
fn written_by_others(trial: &Trial) -> Option<Say> {
    let streams = &trial.streams;
    let shares = |a: &Stream, b: &Stream| matches!((a.region, b.region), (Some(a), Some(b)) if a.overlaps(b));
    let disturbed = |(i, a): (usize, &Stream)| {
        a.verify.is_some() && streams.iter().enumerate().any(|(j, b)| i != j && b.mix.writes() && shares(a, b))
    };
    streams.iter().enumerate().any(disturbed).then(|| {
        say!(
            "another stream writes into the region of a verified one",
            "в область проверяемого потока пишет другой поток"
        )
    })
}

fn ends_behind(region: Region, range: Region, parts: u32) -> Say {
    let told = |lang| (format::bytes(Bytes(region.end() - range.start.0), lang), format::bytes(range.len, lang));
    let ((end, all), (end_ru, all_ru)) = (told(Lang::En), told(Lang::Ru));
    match parts {
        0 | 1 => say!(
            "the region of a stream ends at {end}, beyond the range of {all}",
            "область потока кончается на {end_ru}, за пределами общей области в {all_ru}"
        ),
        _ => say!(
            "the region of a stream ends at {end}, beyond the range of {all} of each target",
            "область потока кончается на {end_ru}, за пределами области в {all_ru} на каждом объекте"
        ),
    }
}

/// Bytes of the smallest of the areas that the jobs of a stream get.
fn least_of_a_job(stream: &Stream, areas: impl Iterator<Item = Range<u64>>) -> u64 {
    let blocks = areas.map(|area| area.end.saturating_sub(area.start)).min().unwrap_or(0);
    blocks.saturating_mul(stream.block_size.0)
}

/// Refusal when no case is left: as unsafe if only permission to write is missing.
pub(crate) fn nothing_to_run(cases: &[Case], target: &PlanTarget) -> Box<Error> {
    match &target.writes {
        Err(reason) if cases.iter().all(|c| c.trial.writes()) => {
            let (en, ru) = (&reason.en, &reason.ru);
            Error::refused(say!("every case of the suite writes: {en}", "каждый случай набора пишет: {ru}"))
        }
        _ => {
            let reason = cases.iter().find_map(|c| c.not_run.clone()).unwrap_or_else(|| Say::same(""));
            let (en, ru) = (reason.en, reason.ru);
            Error::preflight(say!(
                "no case of the suite can run: {en}",
                "ни один случай набора не может быть выполнен: {ru}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::target::Room;
    use stend_base::Nanos;
    use stend_spec::workload::{Mix, Op};

    #[test]
    fn a_job_has_what_is_left_of_its_cell_in_whole_blocks_of_the_largest() {
        // 3 MiB for two jobs: a cell of 1.5 MiB is cut to one block of 1 MiB.
        let small = |pattern| Stream { pattern, ..stream(Op::Read, Bytes(4096)) };
        let region = Region { start: Bytes(0), len: Bytes::mib(3) };
        let of = |stride: u64| {
            let streams = vec![small(Pattern::Strided { stride: Bytes::kib(stride) }), stream(Op::Read, Bytes::mib(1))];
            why_not(&Trial { region, ..trial(streams) }, &device()).map(|why| why.en)
        };
        assert_eq!(of(1280).as_deref(), Some("a job's region is smaller than one stride"));
        assert_eq!(of(1024), None);
    }

    /// A device of 64 MiB with blocks of 4 KiB.
    fn device() -> PlanTarget {
        PlanTarget { logical_block: Bytes(4096), ..fixture::device(Bytes::mib(64)) }
    }

    fn trial(streams: Vec<Stream>) -> Trial {
        let region = Region { start: Bytes(0), len: Bytes::mib(64) };
        Trial { direct: false, ..Trial::new(streams, Nanos::SECOND, region) }
    }

    fn stream(op: Op, block: Bytes) -> Stream {
        Stream::new(Mix::only(op), Pattern::Random, block)
    }

    fn reason(trial: &Trial, target: &PlanTarget) -> Option<String> {
        why_not(trial, target).map(|say| say.en)
    }

    #[test]
    fn jobs_of_all_streams_share_the_range_and_each_needs_a_block() {
        let large = |jobs| Stream { jobs, ..stream(Op::Read, Bytes::mib(8)) };
        assert_eq!(reason(&trial(vec![large(8)]), &device()), None);
        let found = reason(&trial(vec![large(8), large(8)]), &device());
        assert_eq!(found.as_deref(), Some("the range has 64 MiB, and each of 16 jobs needs a block of 8 MiB"));
        assert_eq!(areas(&trial(vec![large(2), stream(Op::Read, Bytes::kib(4))])), [0..2, 2..4, 8192..12288]);
        let mixed = trial(vec![large(2), stream(Op::Write, Bytes::kib(4))]);
        let span = |start, end| Bytes::mib(start).0..Bytes::mib(end).0;
        assert_eq!(spans(&mixed, |_| true), [span(0, 16), span(16, 32), span(32, 48)]);
        assert_eq!(spans(&mixed, |stream| stream.mix.writes()), [span(32, 48)]);
    }

    #[test]
    fn a_mixture_of_sizes_needs_room_for_its_shares_where_they_lie_side_by_side() {
        let share = |kib, percent| stend_spec::workload::BlockShare { size: Bytes::kib(kib), percent };
        let mixed = |pattern, jobs| {
            let block_mix = vec![share(4, 99), share(1024, 1)];
            trial(vec![Stream { pattern, jobs, block_mix, ..stream(Op::Read, Bytes::mib(1)) }])
        };
        assert_eq!(reason(&mixed(Pattern::Random, 32), &device()), None);
        let found = reason(&mixed(Pattern::Random, 64), &device()).unwrap();
        assert!(found.starts_with("1 MiB for each job") && found.contains("takes 1.39 MiB"), "{found}");
        assert_eq!(reason(&mixed(Pattern::Sequential, 64), &device()), Some(found));
        assert_eq!(reason(&mixed(Pattern::Uniform, 64), &device()), None, "sizes are drawn");
    }

    #[test]
    fn what_a_device_takes_away_is_whole_blocks_of_its_own_however_it_was_opened() {
        assert_eq!(reason(&trial(vec![stream(Op::Write, Bytes(512))]), &device()), None, "through the page cache");
        for op in [Op::Discard, Op::WriteZeroes] {
            let small = trial(vec![stream(op, Bytes(512))]);
            assert!(reason(&small, &device()).unwrap().contains("multiples of 4096 B"));
            let room = Some(Room { total: Bytes::gib(1), free: Bytes::gib(1) });
            assert_eq!(reason(&small, &PlanTarget { room, ..device() }), None, "a file zeroes any bytes");
        }
    }

    #[test]
    fn only_files_of_ours_are_appended_to() {
        let log = trial(vec![Stream { pattern: Pattern::Append, ..stream(Op::Write, Bytes::kib(4)) }]);
        assert!(reason(&log, &device()).unwrap().contains("name a directory"));
        let room = Some(Room { total: Bytes::gib(1), free: Bytes::gib(1) });
        assert_eq!(reason(&log, &PlanTarget { room, ..device() }), None);
    }

    #[test]
    fn what_a_null_device_cannot_do_is_not_run() {
        let of = |null| PlanTarget { null: Some(null), ..device() };
        let (null, zero) = (of(NullDevice::Null), of(NullDevice::Zero));
        let (reads, writes) =
            (trial(vec![stream(Op::Read, Bytes::kib(4))]), trial(vec![stream(Op::Write, Bytes::kib(4))]));
        assert_eq!((reason(&reads, &zero), reason(&writes, &zero), reason(&writes, &null)), (None, None, None));
        assert!(reason(&reads, &null).unwrap().contains("no data to read"));
        assert!(
            reason(&trial(vec![stream(Op::Discard, Bytes::kib(4))]), &null)
                .unwrap()
                .contains("neither discards nor zeroes")
        );
        let direct = Trial { direct: true, ..writes };
        assert!(reason(&direct, &null).unwrap().contains("`direct: false`"));
        assert_eq!(reason(&Trial { backend: Backend::Null, ..direct }, &null), None, "no I/O is made");
    }
}
