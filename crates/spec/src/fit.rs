//! Whether a case fits its target: permission, size, block sizes, what the target can do. Pure.

use crate::plan::PlanTarget;
use crate::workload::{Pattern, Region, Stream, Trial};
use stend_base::{Bytes, Lang, Millionths, Say, format, say};

/// The reason why a case cannot run on a target, if there is one.
pub(crate) fn why_not(trial: &Trial, target: &PlanTarget) -> Option<Say> {
    if let (true, Err(reason)) = (trial.writes(), &target.writes) {
        return Some(reason.clone());
    }
    if !target.discards && trial.streams.iter().any(|stream| stream.mix.discard > 0) {
        return Some(say!("the target takes no discards", "объект не принимает discard"));
    }
    if let Some(reason) = written_by_others(trial) {
        return Some(reason);
    }
    for stream in &trial.streams {
        let region = stream.region.unwrap_or(trial.region);
        if !trial.region.holds(region) {
            return Some(ends_behind(region, trial.region));
        }
        let blocks = region.blocks(trial.region.start, stream.block_size);
        if blocks.end.saturating_sub(blocks.start) < u64::from(stream.jobs) {
            return Some(say!("the range is smaller than one block per job", "область меньше одного блока на задание"));
        }
        if let Some(reason) = too_small_for(&stream.pattern, stream.block_size, least_of_a_job(trial, stream)) {
            return Some(reason);
        }
        let misfit = |size: Bytes| !size.0.is_multiple_of(target.logical_block.0.max(1));
        if trial.direct && stream.sizes().any(|share| misfit(share.size)) {
            let block = target.logical_block.0;
            return Some(say!(
                "direct I/O on this target needs block sizes that are multiples of {block} B",
                "прямой ввод-вывод на этом объекте требует блоков, кратных {block} Б"
            ));
        }
    }
    None
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

fn ends_behind(region: Region, range: Region) -> Say {
    let told = |lang| (format::bytes(Bytes(region.end() - range.start.0), lang), format::bytes(range.len, lang));
    let ((end, all), (end_ru, all_ru)) = (told(Lang::En), told(Lang::Ru));
    Say {
        en: format!("the region of a stream ends at {end}, behind the range of {all}"),
        ru: format!("область потока кончается на {end_ru}, за пределами общей области в {all_ru}"),
    }
}

/// Bytes of the smallest region that a job of a stream may get.
fn least_of_a_job(trial: &Trial, stream: &Stream) -> u64 {
    let jobs = |stream: &Stream| u64::from(stream.jobs);
    match stream.region {
        Some(region) => region.len.0 / jobs(stream).max(1),
        // The others share the range equally.
        None => trial.region.len.0 / trial.streams.iter().map(jobs).sum::<u64>().max(1),
    }
}
