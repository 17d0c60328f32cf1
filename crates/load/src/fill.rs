//! Writes a region once, in order, so that reads find data and not holes. Same engine as a trial, with an
//! end by count. Must not be used for measuring: nothing is kept but bytes and time.

use crate::backend::choose_backend;
use crate::engine;
use crate::target::{Target, share};
use crate::task::Task;
use crate::{Control, layout};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use stend_base::random::draw;
use stend_base::{Bytes, Error, Nanos, Result, Say, say};
use stend_record::observed::{FillOutcome, IoErrors, TrialOutcome, TrialStatus};
use stend_spec::workload::{Mix, Op, Pages, Pattern, Region, Stream, Trial};
use stend_sys::{IoFile, clock};

/// Bytes per write: large enough for any device's full throughput, small enough to be sent whole.
pub const BLOCK: Bytes = Bytes::mib(1);
/// The end of a region that is not a multiple of [`BLOCK`] is written in these.
const TAIL_BLOCK: Bytes = Bytes::kib(4);
/// Writes of [`BLOCK`] in flight; of smaller ones as many more as are as many bytes, up to [`DEPTH_MAX`].
const DEPTH: u32 = 8;
/// Most writes in flight; deeper queues fill nothing faster.
const DEPTH_MAX: u64 = 128;
/// Most writes in flight of several targets together, and the fewest of each that keep a drive busy (by eye: 64 writes of
/// 1 MiB take 64 MiB of memory).
const DEPTH_ALL: u32 = 128;
/// See [`DEPTH_ALL`].
const DEPTH_EACH: u32 = 2;
/// A target that completes nothing for this long has stalled: twice the usual timeout of a Linux block
/// device (30 s), after which the kernel itself would have failed or retried the request.
const STALL: Nanos = Nanos::secs(60);
/// Emptying a volatile cache of many GiB takes minutes; no device takes longer than this.
const SYNC_LIMIT: Nanos = Nanos::secs(600);
/// How often a waiting fill looks whether somebody asked to stop.
const POLL: Duration = Duration::from_millis(100);

/// Writes every block of `region` (aligned to 4 KiB) once with incompressible data, then makes it
/// durable. `progress` gets the bytes written so far about every 100 ms. After a stop the outcome says
/// what was written. A failed or stalled target is an error of kind `TargetIo`.
pub fn fill(
    file: &IoFile,
    region: Region,
    seed: u64,
    control: &Control,
    progress: &mut dyn FnMut(Bytes),
) -> Result<FillOutcome> {
    fill_parts(file, (region, 1), BLOCK, seed, control, progress)
}

/// The same of a region of so many equal parts, which are written at the same time: the shares of several targets; in writes of
/// `block` bytes, a power of two from 4 KiB to 1 MiB.
pub fn fill_parts(
    file: &IoFile,
    (region, parts): (Region, u32),
    block: Bytes,
    seed: u64,
    control: &Control,
    progress: &mut dyn FnMut(Bytes),
) -> Result<FillOutcome> {
    let file = share(file)?;
    let started = clock::now();
    // No write crosses from one file into the next.
    let block = Bytes(file.grain().map_or(block.0, |grain| grain.min(block.0)));
    let whole = region.len.align_down(block);
    let tail = Region { start: region.start + whole, len: Bytes(region.len.0 - whole.0).align_down(TAIL_BLOCK) };
    let mut written = Bytes(0);
    // Borders of parts are borders of files, so what the parts hold are whole blocks and there is no tail.
    let parts =
        if tail.len.0 == 0 && whole.0.is_multiple_of(u64::from(parts.max(1)) * block.0) { parts.max(1) } else { 1 };
    for (part, block) in [((Region { len: whole, ..region }, parts), block), ((tail, 1), TAIL_BLOCK)] {
        if part.0.len.0 > 0 && !control.stopped() {
            let before = written;
            let now = write(&file, part, block, seed, control, &mut |bytes| progress(before + bytes))?;
            written = written + now;
        }
    }
    if !control.stopped() {
        let file = file.clone();
        make_durable(move || file.sync_data(), control, &mut || progress(written))?;
    }
    let passes = u32::from(!control.stopped());
    Ok(FillOutcome { written, elapsed: clock::now() - started, passes, block_size: block, ..FillOutcome::default() })
}

/// Writes all parts of a region in blocks of one size; returns the bytes written.
fn write(
    file: &Arc<IoFile>,
    (region, parts): (Region, u32),
    block: Bytes,
    seed: u64,
    control: &Control,
    progress: &mut dyn FnMut(Bytes),
) -> Result<Bytes> {
    let writes = Stream::new(Mix::only(Op::Write), Pattern::Sequential, block);
    // It ends by count; no clock of ours reaches this window.
    let queue_depth = (u64::from(DEPTH) * BLOCK.0 / block.0).clamp(1, DEPTH_MAX) as u32;
    // Many targets together need no more in flight than keeps each of them busy.
    let queue_depth = queue_depth.min((DEPTH_ALL / parts).max(DEPTH_EACH));
    let (never, stream) = (Nanos(u64::MAX / 4), Stream { queue_depth, jobs: parts, ..writes });
    let trial = Trial {
        drain_limit: STALL,
        // Each part its own data: equal seeds would write equal blocks.
        seed: draw(seed, region.start.0),
        direct: file.is_direct(),
        // Nobody measures it; the sooner it is over, the better.
        pages: Pages::Huge,
        parts,
        ..Trial::new(vec![stream], never, region)
    };
    let jobs = layout::jobs(&trial, region.len.0 / u64::from(parts) / block.0)?;
    let (lane, target) = (choose_backend(&trial, file)?.lane, Target::new(file, &trial, &[])?);
    let task = Task { trial: &trial, jobs: &jobs, lane, target: &target, fault_limit: 1 };
    let (inner, mut bytes, mut last, mut stalled) = (Control::new(), 0, clock::now(), false);
    let outcome = engine::run(&task, &inner, &mut |slices| {
        let more: u64 = slices.iter().map(|slice| slice.bytes).sum();
        if more > 0 {
            (bytes, last) = (bytes + more, clock::now());
        }
        stalled |= clock::now().saturating_sub(last) >= STALL;
        if stalled || control.stopped() {
            inner.stop();
        }
        progress(Bytes(bytes));
    })?;
    judge(&outcome, stalled)?;
    Ok(Bytes(bytes + drained(&outcome) * block.0))
}

fn drained(outcome: &TrialOutcome) -> u64 {
    outcome.drained.iter().map(|d| d.latency.count()).sum()
}

/// What became of the writes, as an error if it is one.
fn judge(outcome: &TrialOutcome, stalled: bool) -> Result<()> {
    if let Some(error) = outcome.errors.first() {
        return Err(failed(error));
    }
    if stalled || outcome.status == TrialStatus::Stalled {
        let seconds = STALL.as_secs();
        return Err(Error::target_io(say!(
            "the target stopped answering while it was filled: no write completed for {seconds} s",
            "объект перестал отвечать во время заполнения: за {seconds} с не завершилось ни одной записи"
        )));
    }
    Ok(())
}

fn failed(error: &IoErrors) -> Box<Error> {
    let Say { en, ru } = match error.first_offset {
        Some(offset) => say!(" at byte {offset}", " со смещения {offset}"),
        None => Say::same(""),
    };
    Error::target_io(match error.errno {
        0 => say!(
            "filling failed{en}: the target took only part of a write",
            "ошибка заполнения{ru}: объект принял запись лишь частично"
        ),
        errno => {
            let reason = std::io::Error::from_raw_os_error(errno);
            say!("filling failed{en}: {reason}", "ошибка заполнения{ru}: {reason}")
        }
    })
}

/// `fdatasync`, which `sync` does, on a thread of its own so that a stop is heard meanwhile; `progress` is called while it lasts: a fill
/// that waits for a cache to be emptied has not stalled.
fn make_durable(
    sync: impl FnOnce() -> io::Result<()> + Send + 'static,
    control: &Control,
    progress: &mut dyn FnMut(),
) -> Result<()> {
    let (done, result) = channel();
    std::thread::spawn(move || {
        // Nobody listens any more after a stop.
        let _ = done.send(sync());
    });
    let refused = |text: Say| Err(Error::target_io(text));
    let deadline = clock::now() + SYNC_LIMIT;
    while !control.stopped() {
        match result.recv_timeout(POLL) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(e)) => {
                return refused(say!(
                    "cannot make the fill durable (fdatasync): {e}",
                    "не удалось сохранить заполненное (fdatasync): {e}"
                ));
            }
            Err(RecvTimeoutError::Timeout) if clock::now() < deadline => progress(),
            Err(_) => {
                return refused(say!(
                    "the target did not make the fill durable in time (fdatasync)",
                    "объект не сохранил заполненное за отведённое время (fdatasync)"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_takes_its_time_to_be_emptied_is_progress_and_no_silence() {
        let (go_on, sync) = channel();
        let mut heard = 0;
        let mut progress = || {
            heard += 1;
            if heard == 2 {
                go_on.send(()).unwrap();
            }
        };
        // Without a word of progress it would never end.
        let waits = move || sync.recv_timeout(POLL * 100).map_err(io::Error::other);
        make_durable(waits, &Control::new(), &mut progress).unwrap();
        assert!(heard >= 2, "{heard}");
        let refused = make_durable(|| Err(io::ErrorKind::StorageFull.into()), &Control::new(), &mut || {});
        assert!(refused.unwrap_err().message.en.contains("fdatasync"));
    }
}
