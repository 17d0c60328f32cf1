//! A device as it was at an entry of its log: zeros, and every write up to there again. The only I/O of this module.

use super::{ALIGNED, GoOn, WINDOW, WriteLog, interrupted};
use std::io;
use stend_base::{Error, Result, say};
use stend_sys::IoFile;
use stend_sys::buffer::Pool;

/// Bytes copied at once.
const PIECE: usize = WINDOW as usize;
/// Bytes of one call that zeroes a device. One that writes them itself (a hard disk at 100 MB/s) is back within a second; as in a purge.
const ZEROES_PIECE: u64 = 64 << 20;

/// A log that is read past the page cache: the kernel writes it past that, too.
pub struct LogFile {
    file: IoFile,
    pool: Pool,
}

impl LogFile {
    /// Over an open log.
    pub fn new(file: IoFile) -> Result<LogFile> {
        let pool = Pool::new(1, PIECE)
            .map_err(|e| Error::preflight(say!("no memory for a buffer: {e}", "нет памяти под буфер: {e}")))?;
        Ok(LogFile { file, pool })
    }

    /// Fills memory of a sector of a log, or of a window.
    pub fn read(&mut self, memory: &mut [u8], at: u64) -> io::Result<()> {
        let start = at / ALIGNED * ALIGNED;
        let skip = (at - start) as usize;
        let len = (skip + memory.len()).next_multiple_of(ALIGNED as usize);
        fill(&self.file, &mut self.pool.slot_mut(0)[..len], start)?;
        memory.copy_from_slice(&self.pool.slot(0)[skip..skip + memory.len()]);
        Ok(())
    }
}

/// Makes a device of `size` bytes what it was behind entry number `last` of its log, given that it was blank when that began. `go_on` is asked
/// before each write of the log and before each 64 MiB of zeros.
///
/// Errors: `TargetIo` where reading or writing fails; `Interrupted` if `go_on` is false.
pub fn restore(log: &WriteLog, last: usize, from: &mut LogFile, to: &IoFile, size: u64, go_on: GoOn) -> Result<()> {
    zero(to, 0, size, go_on)?;
    for entry in log.entries.iter().take(last.saturating_add(1)).filter(|entry| entry.len > 0) {
        if entry.discard {
            zero(to, entry.to, entry.len, go_on)?;
            continue;
        }
        if !go_on() {
            return Err(interrupted());
        }
        copy(from, entry.from, to, entry.to, entry.len).map_err(failed)?;
    }
    to.sync_data().map_err(failed)
}

fn failed(error: io::Error) -> Box<Error> {
    Error::target_io(say!(
        "cannot rebuild a state of the device: {error}",
        "не удалось воссоздать состояние устройства: {error}"
    ))
}

fn zero(to: &IoFile, at: u64, len: u64, go_on: GoOn) -> Result<()> {
    let mut done = 0;
    while done < len {
        if !go_on() {
            return Err(interrupted());
        }
        let piece = (len - done).min(ZEROES_PIECE);
        to.zero_at(at + done, piece).map_err(failed)?;
        done += piece;
    }
    Ok(())
}

fn copy(from: &mut LogFile, start: u64, to: &IoFile, at: u64, len: u64) -> io::Result<()> {
    let mut done = 0;
    while done < len {
        let piece = (len - done).min(PIECE as u64) as usize;
        fill(&from.file, &mut from.pool.slot_mut(0)[..piece], start + done)?;
        let mut written = 0;
        while written < piece {
            match to.write_at(&from.pool.slot(0)[written..piece], at + done + written as u64)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                now => written += now,
            }
        }
        done += piece as u64;
    }
    Ok(())
}

fn fill(file: &IoFile, memory: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < memory.len() {
        match file.read_at(&mut memory[done..], at + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            now => done += now,
        }
    }
    Ok(())
}
