//! Brings a range to a known state: purge, then passes over it. Must not be used for measuring.

use crate::Control;
use crate::fill::fill_parts;
use stend_base::random::draw;
use stend_base::{Bytes, Error, Result, say};
use stend_record::observed::{FillOutcome, PurgeMethod};
use stend_spec::precondition::{Precondition, Purge};
use stend_spec::workload::Region;
use stend_sys::{IoFile, clock};

/// Largest range that one call empties: a stop is heard between two of them (by eye: a second on slow drives).
const PURGE_CHUNK: Bytes = Bytes::gib(1);
/// The same where zeroes may have to be written: each call is progress, also at 2 MB/s (half a minute).
const ZEROES_CHUNK: Bytes = Bytes::mib(64);

/// Does what `how` says with a region of so many equal parts; `progress` gets the bytes written so far, of all passes together.
/// After a stop the outcome says what was done. Errors are of kind `TargetIo`, and `Preflight` where the target can be emptied in
/// no way.
pub fn precondition(
    file: &IoFile,
    parts: (Region, u32),
    how: &Precondition,
    seed: u64,
    control: &Control,
    progress: &mut dyn FnMut(Bytes),
) -> Result<FillOutcome> {
    let started = clock::now();
    let purge = match how.purge {
        Purge::None => PurgeMethod::None,
        Purge::Discard => purge(file, parts.0, control, &mut || progress(Bytes(0)))?,
    };
    let purged = clock::now();
    let mut outcome = FillOutcome { purge, purge_elapsed: purged - started, ..FillOutcome::default() };
    for pass in 0..how.passes {
        if control.stopped() {
            break;
        }
        let before = outcome.written;
        // Each pass its own data, so that none can be taken for the one before.
        let seed = if pass == 0 { seed } else { draw(seed, u64::from(pass)) };
        let done = fill_parts(file, parts, how.block_size, seed, control, &mut |bytes| progress(before + bytes))?;
        outcome = FillOutcome { written: before + done.written, block_size: done.block_size, ..outcome };
        outcome.passes += u32::from(!control.stopped());
    }
    Ok(FillOutcome { elapsed: clock::now() - started, ..outcome })
}

/// Empties a region in the first way that the target knows.
fn purge(file: &IoFile, region: Region, control: &Control, progress: &mut dyn FnMut()) -> Result<PurgeMethod> {
    let mut method = if file.is_device() { PurgeMethod::Discard } else { PurgeMethod::Holes };
    let (mut at, end) = (region.start.0, region.start.0 + region.len.0);
    while at < end && !control.stopped() {
        let len = piece(file, method, at, end);
        let done = match method {
            PurgeMethod::Zeroes => file.zero_at(at, len),
            PurgeMethod::None | PurgeMethod::Discard | PurgeMethod::Holes => file.discard_at(at, len),
        };
        match done {
            Ok(()) => at += len,
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported && method != PurgeMethod::Zeroes => {
                // What was emptied so far is zeroed as well: one method for all of the range.
                (method, at) = (PurgeMethod::Zeroes, region.start.0);
            }
            Err(e) => return Err(failed(&e, at)),
        }
        progress();
    }
    Ok(method)
}

/// Bytes from `at` that the next call empties: none crosses from one file into the next.
fn piece(file: &IoFile, method: PurgeMethod, at: u64, end: u64) -> u64 {
    let most = if method == PurgeMethod::Zeroes { ZEROES_CHUNK } else { PURGE_CHUNK };
    most.0.min(file.room_at(at)).min(end - at)
}

fn failed(error: &std::io::Error, at: u64) -> Box<Error> {
    if error.kind() == std::io::ErrorKind::Unsupported {
        let message = say!(
            "the target cannot be purged: it takes neither discards nor writes of zeroes",
            "объект нельзя очистить: он не принимает ни освобождения блоков, ни записи нулей"
        );
        return Error::preflight(message).hint(say!(
            "leave `purge` out of `precondition`; the result will show that the target was not purged",
            "уберите `purge` из `precondition`; в результате будет отмечено, что очистки не было"
        ));
    }
    Error::target_io(say!("purging failed at byte {at}: {error}", "ошибка очистки со смещения {at}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::support::{contents, filled};

    const LEN: Bytes = Bytes::mib(4);
    /// The middle half.
    const MIDDLE: Region = Region { start: Bytes::mib(1), len: Bytes::mib(2) };

    fn how(purge: Purge, passes: u32) -> Precondition {
        Precondition { purge, passes, block_size: Bytes::kib(128) }
    }

    #[test]
    fn every_pass_writes_all_of_the_range_and_nothing_else_with_data_of_its_own() {
        let file = filled(LEN);
        let before = contents(&file, LEN.0 as usize);
        let after_passes = |passes| {
            let mut seen = Vec::new();
            let how = how(Purge::None, passes);
            let done = precondition(&file, (MIDDLE, 1), &how, 5, &Control::new(), &mut |b| seen.push(b)).unwrap();
            assert!(seen.is_sorted() && seen.last().is_none_or(|last| *last <= done.written), "{seen:?}");
            assert_eq!((done.written, done.passes), (Bytes(MIDDLE.len.0 * u64::from(passes)), passes));
            assert_eq!((done.block_size, done.purge), (Bytes::kib(128), PurgeMethod::None));
            contents(&file, LEN.0 as usize)
        };
        let (once, twice) = (after_passes(1), after_passes(2));
        let (first, last) = (1 << 20, 3 << 20);
        let same =
            |a: &[u8], b: &[u8]| a[first..last].chunks(4096).zip(b[first..last].chunks(4096)).any(|(a, b)| a == b);
        assert!(!same(&before, &once) && !same(&once, &twice));
        assert!(twice[..first] == before[..first] && twice[last..] == before[last..], "outside the range");
    }

    #[test]
    fn a_test_file_is_purged_by_holes_inside_the_range_only() {
        let file = filled(LEN);
        let before = contents(&file, LEN.0 as usize);
        let control = Control::new();
        // Stopped by the first sign of progress, which is that of the purge: nothing is written.
        let how = how(Purge::Discard, 2);
        let done = precondition(&file, (MIDDLE, 1), &how, 5, &control, &mut |_| control.stop()).unwrap();
        assert_eq!((done.written, done.passes, done.purge), (Bytes(0), 0, PurgeMethod::Holes));
        let after = contents(&file, LEN.0 as usize);
        let (first, last) = (1 << 20, 3 << 20);
        assert!(after[first..last].iter().all(|&byte| byte == 0));
        assert!(after[..first] == before[..first] && after[last..] == before[last..], "outside the range");
        let whole = precondition(&file, (MIDDLE, 1), &how, 5, &Control::new(), &mut |_| {}).unwrap();
        assert_eq!((whole.written, whole.passes), (Bytes(2 * MIDDLE.len.0), 2));
        assert!(contents(&file, LEN.0 as usize).chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)));
    }

    #[test]
    fn zeroes_that_may_have_to_be_written_are_made_in_smaller_pieces() {
        let file = IoFile::create_scratch(std::path::Path::new("/var/tmp"), 4 << 30, false).unwrap();
        let pieces = |method| piece(&file, method, 1 << 20, 4 << 30);
        assert_eq!(pieces(PurgeMethod::Discard), 1 << 30);
        assert_eq!(pieces(PurgeMethod::Zeroes), 64 << 20);
        assert_eq!(piece(&file, PurgeMethod::Zeroes, (4 << 30) - 4096, 4 << 30), 4096);
    }

    #[test]
    fn several_targets_are_emptied_in_large_pieces_up_to_each_border() {
        let len = [(100 << 20) + 12_288, (100 << 20) + 12_288, 8192];
        let files = len.map(|len| IoFile::create_scratch(std::path::Path::new("/var/tmp"), len, false).unwrap());
        let all = IoFile::joined(files.into(), &len).unwrap();
        let end: u64 = len.iter().sum();
        let (mut at, mut pieces) = (4096, Vec::new());
        while at < end {
            pieces.push(piece(&all, PurgeMethod::Discard, at, end));
            at += pieces[pieces.len() - 1];
        }
        assert_eq!(pieces, [len[0] - 4096, len[1], len[2]]);
        assert_eq!(piece(&all, PurgeMethod::Zeroes, 0, end), 64 << 20);
    }

    #[test]
    fn what_can_be_purged_in_no_way_is_refused_before_anything_is_written() {
        let full = IoFile::open_read(std::path::Path::new("/dev/full"), false).unwrap();
        let refused = precondition(&full, (MIDDLE, 1), &how(Purge::Discard, 1), 1, &Control::new(), &mut |_| {});
        let error = refused.unwrap_err();
        assert!(error.message.en.contains("purg") && !error.message.ru.is_empty(), "{error}");
    }
}
