//! What arrays of md and volumes of ZFS read at their members because a write was only a part of a stripe or of a record. By counters, not
//! by sizes: a cache may have the rest, and writes may have been put together on their way.

use crate::check::stretch::{self, Stretch, stretches};
use crate::findings::CheckStatus;
use crate::limits::{AMPLIFICATION_DEVIATION, READ_AMPLIFIED, READ_FOR_WRITES};
use crate::trials::CaseTrials;
use stend_base::{Bytes, Say, format, say, say_in};
use stend_record::{Device, RunRecord, TargetFacts};
use stend_spec::workload::Op;

/// What is to be said of the layer that reads most.
pub(super) struct ReadBack {
    pub status: CheckStatus,
    pub measured: Say,
    pub meaning: Say,
}

/// Whether a target is a volume of ZFS.
pub(super) fn is_volume(target: &TargetFacts) -> bool {
    target.devices.first().is_some_and(|device| device.kind == "zvol")
}

/// A layer with the devices right below it.
struct Layer<'a> {
    device: &'a Device,
    members: Vec<&'a Device>,
}

/// Judges the layers of a case that only writes, or only reads; `None` where there is none, or its counters are missing.
pub(super) fn judged(run: &RunRecord, case: &CaseTrials<'_>) -> Option<ReadBack> {
    let share = |op: Op| case.asked.streams.iter().any(|stream| stream.replay.is_some() || stream.mix.share(op) > 0);
    let (reads, writes) = (share(Op::Read), share(Op::Write));
    if reads == writes || share(Op::Discard) || share(Op::WriteZeroes) {
        return None;
    }
    let stretches = stretches(run, case);
    let found = layers(&run.load().targets).into_iter().filter(|layer| writes || layer.device.kind == "zvol");
    let (layer, ratio) = found
        .filter_map(|layer| Some((beyond_own(&stretches, &layer, writes)?, layer)))
        .map(|(ratio, layer)| (layer, ratio))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(if writes { of_writes(case, layer.device, ratio) } else { of_reads(layer.device, ratio) })
}

/// Bytes that the members of a layer read and it did not, per byte that it wrote (or read).
fn beyond_own(stretches: &[Stretch<'_>], layer: &Layer<'_>, writes: bool) -> Option<f64> {
    let read = |device: &Device| stretch::sum(stretches, |s| s.disk(&device.name, |disk| disk.read_bytes));
    let members = layer.members.iter().map(|member| read(member)).sum::<Option<u64>>()?;
    let own = read(layer.device)?;
    let moved = match writes {
        true => stretch::sum(stretches, |s| s.disk(&layer.device.name, |disk| disk.write_bytes))?,
        false => own,
    };
    (moved > 0).then(|| members.saturating_sub(own) as f64 / moved as f64)
}

/// Arrays of md and volumes of ZFS whose members are visible.
fn layers(targets: &[TargetFacts]) -> Vec<Layer<'_>> {
    let mut found = Vec::new();
    for devices in targets.iter().map(|target| target.devices.as_slice()) {
        for (index, device) in devices.iter().enumerate() {
            let below = devices[index + 1..].iter().take_while(|next| next.depth > device.depth);
            let members: Vec<&Device> = below.filter(|next| next.depth == device.depth + 1).collect();
            if matches!(device.kind.as_str(), "md" | "zvol") && !members.is_empty() {
                found.push(Layer { device, members });
            }
        }
    }
    found
}

/// Drives of parity of an array.
fn parity(array: &Device) -> Option<u32> {
    match array.level.as_deref()? {
        "raid4" | "raid5" => Some(1),
        "raid6" => Some(2),
        _ => None,
    }
}

fn of_writes(case: &CaseTrials<'_>, layer: &Device, ratio: f64) -> ReadBack {
    let modifies = ratio > READ_FOR_WRITES;
    let measured = Say::both(|l| {
        let name =
            if modifies { l.pick("read-modify-write: ", "чтение-изменение-запись: ") } else { "" };
        let digits = if modifies { 2 } else { 3 };
        say_in!(
            l,
            "{name}{r} bytes read below {d} per byte written",
            "{name}{r} байта прочитано под {d} на записанный байт",
            r = format::fixed(ratio, digits, l),
            d = layer.name
        )
    });
    if !modifies {
        return ReadBack { status: CheckStatus::Pass, measured, meaning: Say::same("") };
    }
    if layer.kind == "zvol" {
        let meaning = say!(
            "Writes of a part of a record make ZFS read the rest of it first: the rate is that of reading and writing. Use blocks of the volume's record (volblocksize), or a volume with smaller ones.",
            "При записи части блока тома ZFS сначала читает остальное: это скорость чтения вместе с записью. Возьмите блоки размером с блок тома (volblocksize) или том с блоками меньше."
        );
        return ReadBack { status: CheckStatus::Warn, measured, meaning };
    }
    let Some(parity) = parity(layer) else {
        let meaning = say!(
            "A level without parity reads nothing for a write: a layer below it writes parts of larger blocks, or another program reads there. Look at the layers below and at H26.",
            "Уровень без чётности для записи ничего не читает: что-то под ним пишет части больших блоков либо там кто-то читает. Проверьте нижние слои и H26."
        );
        return ReadBack { status: CheckStatus::Warn, measured, meaning };
    };
    let data = layer.members.map_or(0, |members| members.saturating_sub(parity));
    let stripe = Bytes(layer.chunk.unwrap_or_default().0 * u64::from(data));
    let whole = |size: Bytes| stripe.0 > 0 && size.0.is_multiple_of(stripe.0);
    let all_whole = case.asked.streams.iter().flat_map(|s| s.sizes()).all(|share| whole(share.size));
    let scattered = case.asked.streams.iter().all(|stream| stream.pattern.is_scattered());
    // The old data and the old parity, once each: method.md, 5.2.
    let most = f64::from(1 + parity) * (1.0 + AMPLIFICATION_DEVIATION);
    if scattered && !all_whole && ratio <= most {
        return ReadBack { status: CheckStatus::Pass, measured, meaning: Say::same("") };
    }
    let meaning = say!(
        |l| "Writes of less than a stripe of {s}, or across its borders, make the array read before it writes, more than this load needs. Write whole stripes, and begin partitions and files at a stripe.",
        "Запись меньше полосы в {s} или поперёк её границ заставляет массив сначала читать, и больше, чем нужно этой нагрузке. Пишите полными полосами и начинайте разделы и файлы с границы полосы.",
        s = format::bytes(stripe, l)
    );
    ReadBack { status: CheckStatus::Warn, measured, meaning }
}

fn of_reads(layer: &Device, ratio: f64) -> ReadBack {
    let measured = say!(
        |l| "{r} bytes more read below {d} per byte read",
        "на {r} байта больше прочитано под {d} на прочитанный байт",
        r = format::fixed(ratio, 2, l),
        d = layer.name
    );
    if ratio <= READ_AMPLIFIED {
        return ReadBack { status: CheckStatus::Pass, measured, meaning: Say::same("") };
    }
    let meaning = say!(
        "Reads of a part of a record make ZFS read all of it. Use blocks of the volume's record (volblocksize), or a volume with smaller ones.",
        "При чтении части блока тома ZFS читает его целиком. Возьмите блоки размером с блок тома (volblocksize) или том с блоками меньше."
    );
    ReadBack { status: CheckStatus::Warn, measured, meaning }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FOREIGN_SHARE;
    use stend_base::random::Random;

    /// Chunks that an array with so many data and parity drives reads for a write of `written` whole chunks of a stripe: the others of the
    /// data, or the old contents of what changes with the parity, whichever is less.
    fn read_for(written: u32, data: u32, parity: u32) -> u32 {
        match written {
            whole if whole == data => 0,
            part => (data - part).min(part + parity),
        }
    }

    #[test]
    fn the_limit_of_reads_for_writes_lies_between_what_others_may_read_and_what_the_least_part_of_a_stripe_costs() {
        const { assert!(FOREIGN_SHARE / (1.0 - FOREIGN_SHARE) < READ_FOR_WRITES) };
        for parity in [1, 2] {
            for data in 2..=20 {
                let costs = (1..data).map(|part| f64::from(read_for(part, data, parity)) / f64::from(part));
                let least = costs.fold(f64::INFINITY, f64::min);
                assert!(least > READ_FOR_WRITES, "{data} + {parity}: {least}");
            }
        }
    }

    #[test]
    fn writes_in_order_of_whole_stripes_stay_below_the_limit_and_those_that_begin_in_a_stripe_do_not() {
        for (data, parity) in [(3, 1), (6, 2), (14, 2)] {
            // 1,000 writes of a stripe each, of which an array sees one at a time.
            let ratio = |shift: u32| {
                let parts = if shift == 0 { vec![data] } else { vec![data - shift, shift] };
                let read: u32 = parts.iter().map(|part| read_for(*part, data, parity)).sum();
                f64::from(read) / f64::from(data)
            };
            assert!(ratio(0) < READ_FOR_WRITES);
            assert!((1..data).all(|shift| ratio(shift) > READ_FOR_WRITES), "{data} + {parity}");
        }
    }

    /// Bytes read beyond those asked for, per byte: random aligned reads of `block` of records of `record`, of which the volume's cache holds
    /// the last `cached`.
    fn amplified(block: u64, record: u64, cached: usize) -> f64 {
        let (mut random, mut cache) = (Random::new(29), std::collections::VecDeque::new());
        let (records, reads) = (4096, 20_000);
        let mut read = 0;
        for _ in 0..reads {
            let place = random.below(records * (record / block)) * block / record;
            if !cache.contains(&place) {
                read += record;
                cache.push_back(place);
            }
            if cache.len() > cached {
                cache.pop_front();
            }
        }
        (read as f64 - (reads * block) as f64) / (reads * block) as f64
    }

    #[test]
    fn whole_records_stay_below_the_limit_of_reads_and_halves_are_above_it_unless_most_are_cached() {
        let (whole, half, quarter) = (amplified(16, 16, 0), amplified(8, 16, 0), amplified(4, 16, 0));
        assert_eq!((whole, half, quarter), (0.0, 1.0, 3.0));
        assert!(whole <= READ_AMPLIFIED && half > READ_AMPLIFIED);
        // A fifth of the volume is cached: a fifth of the reads cost nothing.
        assert!(amplified(8, 16, 819) > READ_AMPLIFIED);
        assert!(amplified(8, 16, 2048) <= READ_AMPLIFIED, "half of the volume cached");
    }
}
