//! Several test files that form one range: how many, and how large each is. Pure; must not know where they lie.

use crate::workload::{Backend, BlockShare, Engine, Sync, Trial};
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Lang, Say, format, say};

/// Shares are equal parts rounded down to this, where they are as large.
const WHOLE: Bytes = Bytes::mib(1);
/// Smaller ones to this: the smallest direct I/O of every common file system.
const SMALL: Bytes = Bytes::kib(4);

/// Test files, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// How many; at least 1.
    pub count: u32,
    /// Sizes with their shares of the files, which add up to 100 %; empty: equal parts of the range.
    pub sizes: Vec<BlockShare>,
}

impl Files {
    /// Bytes of all files together, where their sizes say it.
    pub fn total(&self) -> Option<Bytes> {
        (!self.sizes.is_empty()).then(|| self.each(Bytes(0)).into_iter().sum())
    }

    /// Size of each file, in the order of the range: equal parts of `range`, or the sizes asked for, each as often as its
    /// share says to the nearest file, and mixed so that any run of files has nearly these shares.
    pub fn each(&self, range: Bytes) -> Vec<Bytes> {
        let count = u64::from(self.count.max(1));
        if self.sizes.is_empty() {
            let equal = Bytes(range.0 / count);
            let unit = if equal >= WHOLE { WHOLE } else { SMALL };
            return vec![equal.align_down(unit).max(SMALL); count as usize];
        }
        let mut taken = vec![0u64; self.sizes.len()];
        let next = |made: u64| {
            // The size that is furthest behind its share; of equals the smaller.
            let behind = |i: &usize| u64::from(self.sizes[*i].percent) * (made + 1);
            let owed = |i: &usize| behind(i) as i128 - 100 * i128::from(taken[*i]);
            let most = (0..self.sizes.len()).rev().max_by_key(owed).unwrap_or(0);
            taken[most] += 1;
            self.sizes[most].size
        };
        (0..count).map(next).collect()
    }
}

/// Why a trial cannot run on `targets` targets that give these pieces to the range, files or shares, if they are several
/// and it cannot.
pub fn why_not(trial: &Trial, pieces: &[Bytes], targets: u32) -> Option<Say> {
    if pieces.len() < 2 {
        return None;
    }
    let files = targets < 2;
    let told = |of_files: Say, of_targets: Say| Some(if files { of_files } else { of_targets });
    if trial.engine != Engine::Native {
        return told(
            say!("fio is given one file, not several", "fio получает один файл, а не несколько"),
            say!("fio is given one target, not several", "fio получает один объект, а не несколько"),
        );
    }
    if trial.backend == Backend::NvmePassthrough {
        // Files are no namespace, and are refused as such where they are opened.
        return Some(say!(
            "NVMe commands go to one namespace, not to several",
            "команды NVMe идут в одно пространство имён, а не в несколько"
        ));
    }
    if trial.streams.iter().any(|stream| stream.replay.is_some()) {
        return told(
            say!(
                "a trace is replayed on one file, not on several",
                "трасса повторяется на одном файле, а не на нескольких"
            ),
            say!(
                "a trace is replayed on one target, not on several",
                "трасса повторяется на одном объекте, а не на нескольких"
            ),
        );
    }
    if trial.streams.iter().any(|stream| !stream.block_mix.is_empty()) {
        return told(
            say!(
                "I/Os of a mixture of sizes could cross from one file into the next",
                "операции смеси размеров могли бы переходить из одного файла в следующий"
            ),
            say!(
                "I/Os of a mixture of sizes could cross from one target into the next",
                "операции смеси размеров могли бы переходить с одного объекта на следующий"
            ),
        );
    }
    if trial.streams.iter().any(|s| matches!(s.sync, Sync::Fdatasync(2..) | Sync::Fsync(2..))) {
        return told(
            say!(
                "a sync after several writes is of one file, and they may have gone to others",
                "синхронизация после нескольких записей касается одного файла, а записи могли идти в разные"
            ),
            say!(
                "a sync after several writes is of one target, and they may have gone to others",
                "синхронизация после нескольких записей касается одного объекта, а записи могли идти на разные"
            ),
        );
    }
    crossing(trial, pieces, files)
}

/// Why blocks of a trial would cross from one piece into the next, if they would.
fn crossing(trial: &Trial, pieces: &[Bytes], files: bool) -> Option<Say> {
    let crosses = |block: Bytes| pieces.iter().find(|piece| !piece.0.is_multiple_of(block.0.max(1)));
    trial.streams.iter().find_map(|stream| {
        let piece = *crosses(stream.block_size)?;
        let sizes = |lang: Lang| (format::bytes(stream.block_size, lang), format::bytes(piece, lang));
        let ((block, piece), (block_ru, piece_ru)) = (sizes(Lang::En), sizes(Lang::Ru));
        Some(match files {
            true => Say {
                en: format!("blocks of {block} do not divide the files of {piece}"),
                ru: format!("блоки по {block_ru} не делят нацело файлы по {piece_ru}"),
            },
            false => Say {
                en: format!("blocks of {block} do not divide the {piece} that each target gives"),
                ru: format!("блоки по {block_ru} не делят нацело {piece_ru}, которые даёт каждый объект"),
            },
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Mix, Op, Pattern, Region, Stream};
    use stend_base::Nanos;

    fn mixed(count: u32, sizes: &[(u64, u8)]) -> Vec<u64> {
        let sizes = sizes.iter().map(|&(kib, percent)| BlockShare { size: Bytes::kib(kib), percent }).collect();
        Files { count, sizes }.each(Bytes(0)).into_iter().map(|size| size.0 >> 10).collect()
    }

    #[test]
    fn equal_parts_are_whole_and_never_empty() {
        let each = |count, range| Files { count, sizes: Vec::new() }.each(range);
        assert_eq!(each(3, Bytes::mib(10)), [Bytes::mib(3); 3]);
        assert_eq!(each(3, Bytes::mib(1)), [Bytes::kib(340); 3]);
        assert_eq!(each(2, Bytes(0)), [Bytes::kib(4); 2]);
    }

    #[test]
    fn sizes_come_as_often_as_their_shares_say_and_everywhere() {
        assert_eq!(mixed(3, &[(64, 100)]), [64; 3]);
        assert_eq!(mixed(5, &[(4, 60), (64, 40)]), [4, 64, 4, 64, 4]);
        let many = mixed(1000, &[(4, 50), (64, 30), (1024, 20)]);
        for part in many.chunks(100) {
            let count = |kib| part.iter().filter(|&&size| size == kib).count();
            assert_eq!([count(4), count(64), count(1024)], [50, 30, 20]);
        }
        let odd = mixed(7, &[(4, 99), (8, 1)]);
        assert_eq!(odd, [4; 7], "to the nearest file");
    }

    #[test]
    fn what_could_cross_from_one_file_into_the_next_is_not_run() {
        let region = Region { start: Bytes(0), len: Bytes::mib(1) };
        let trial = |stream| Trial::new(vec![stream], Nanos::SECOND, region);
        let reads = |block| Stream::new(Mix::only(Op::Read), Pattern::Random, block);
        let reason = |trial: &Trial, files: &[Bytes]| why_not(trial, files, 1).map(|say| say.en);
        let two = [Bytes::kib(64), Bytes::kib(960)];
        assert_eq!(reason(&trial(reads(Bytes::kib(64))), &two), None);
        assert!(
            reason(&trial(reads(Bytes::kib(128))), &two).unwrap().contains("128 KiB do not divide the files of 64 KiB")
        );
        assert_eq!(reason(&trial(reads(Bytes::kib(128))), &two[..1]), None, "one file has no next");
        let fio = Trial { engine: Engine::Fio, ..trial(reads(Bytes::kib(64))) };
        assert!(reason(&fio, &two).unwrap().contains("fio"));
        let commands = Trial { backend: Backend::NvmePassthrough, ..trial(reads(Bytes::kib(64))) };
        assert!(why_not(&commands, &[Bytes::mib(1); 2], 2).unwrap().en.contains("one namespace"));
        assert_eq!(why_not(&commands, &[Bytes::mib(1)], 1), None);
        let synced =
            |sync| trial(Stream { sync, ..Stream::new(Mix::only(Op::Write), Pattern::Random, Bytes::kib(64)) });
        assert_eq!(reason(&synced(Sync::Fsync(1)), &two), None);
        assert!(reason(&synced(Sync::Fdatasync(8)), &two).unwrap().contains("several writes"));
        let share = |size, percent| BlockShare { size, percent };
        let block_mix = vec![share(Bytes::kib(4), 50), share(Bytes::kib(64), 50)];
        let mixture = trial(Stream { block_mix, ..reads(Bytes::kib(64)) });
        assert!(reason(&mixture, &two).unwrap().contains("mixture"));
    }
}
