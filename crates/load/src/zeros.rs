//! Looks whether a range was ever written, and how far storage could make what is there smaller: blocks of only zeros are often
//! answered without the medium, and repeated or compressible ones from less of it. Must not judge; it counts.

use crate::Control;
use std::collections::HashSet;
use std::hash::Hasher;
use stend_base::random::Random;
use stend_base::{Error, Nanos, Result, say};
use stend_record::observed::{Contents, ZeroSample};
use stend_spec::workload::Region;
use stend_sys::buffer::Pool;
use stend_sys::{IoFile, clock};

/// Blocks read. With n = 1000 a share of 1 % of zero blocks is missed with probability 0.99^1000 < 10^-4.
const SAMPLES: u32 = 1000;
/// Longest time for that, a third of what a worker may be silent for: a target that needs longer has a sample of fewer blocks.
const LIMIT: Nanos = Nanos::secs(20);
/// Bytes per block.
const BLOCK: usize = 4096;

/// Level of zstd: as fast as what storage compresses with.
const LEVEL: i32 = 1;

/// Reads 1000 blocks of 4 KiB at random places of `region`, counts those that hold only zeros, and looks into the others. After 20 s,
/// and after a stop, the sample is of those that were read so far. A region without a whole block yields an empty one. A failed read is an
/// error of kind `TargetIo`.
pub fn sample_zeros(file: &IoFile, region: Region, seed: u64, control: &Control) -> Result<ZeroSample> {
    let end = clock::now() + LIMIT;
    let goes_on = &mut || !control.stopped() && clock::now() < end;
    sample(&mut |memory, offset| read_block(file, memory, offset), region, seed, goes_on)
}

/// The same of what `read` reads, as long as it may go on.
fn sample(
    read: &mut dyn FnMut(&mut [u8], u64) -> Result<()>,
    region: Region,
    seed: u64,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<ZeroSample> {
    let blocks = region.len.0 / BLOCK as u64;
    if blocks == 0 {
        return Ok(ZeroSample::default());
    }
    let mut pool = Pool::new(1, BLOCK)
        .map_err(|e| Error::preflight(say!("no memory for a buffer: {e}", "нет памяти под буфер: {e}")))?;
    let mut random = Random::new(seed);
    let mut sample = ZeroSample::default();
    let (mut contents, mut known, mut places) = (Contents::default(), HashSet::new(), HashSet::new());
    for _ in 0..SAMPLES {
        if !goes_on() {
            break;
        }
        let offset = region.start.0 + random.below(blocks) * BLOCK as u64;
        let memory = pool.slot_mut(0);
        read(memory, offset)?;
        sample.sampled += 1;
        if memory.iter().all(|&byte| byte == 0) {
            sample.zero += 1;
            continue;
        }
        let compressed =
            zstd::bulk::compress(memory, LEVEL).map_err(|e| Error::bug(say!("zstd failed: {e}", "сбой zstd: {e}")))?;
        contents.compressed.0 += compressed.len().min(BLOCK) as u64;
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(memory);
        // The same place may be drawn twice, which is no repetition.
        if places.insert(offset) && !known.insert(hasher.finish()) {
            contents.repeated += 1;
        }
    }
    sample.contents = Some(contents);
    Ok(sample)
}

fn read_block(file: &IoFile, memory: &mut [u8], offset: u64) -> Result<()> {
    let failed = |text| Err(Error::target_io(text));
    loop {
        match file.read_at(memory, offset) {
            Ok(BLOCK) => return Ok(()),
            Ok(len) => {
                return failed(say!(
                    "reading {BLOCK} bytes at byte {offset} of the target gave only {len}",
                    "чтение {BLOCK} байт со смещения {offset} объекта дало только {len}"
                ));
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => {
                return failed(say!(
                    "reading at byte {offset} of the target failed: {e}",
                    "ошибка чтения объекта со смещения {offset}: {e}"
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Bytes;

    const REGION: Region = Region { start: Bytes(0), len: Bytes::mib(64) };

    #[test]
    fn a_slow_target_has_a_sample_of_the_blocks_that_were_read_in_time() {
        let (mut read, mut left) = (0, 7);
        let mut blocks = |memory: &mut [u8], _: u64| {
            read += 1;
            memory.fill(read);
            Ok(())
        };
        let mut goes_on = || {
            left -= 1;
            left >= 0
        };
        let found = sample(&mut blocks, REGION, 1, &mut goes_on).unwrap();
        assert_eq!((found.sampled, found.zero, read), (7, 0, 7));
        assert_eq!(found.contents.unwrap().repeated, 0);
    }

    #[test]
    fn a_stop_is_heard_before_the_next_block_is_read() {
        let file = IoFile::create_scratch(std::path::Path::new("/var/tmp"), REGION.len.0, false).unwrap();
        let control = Control::new();
        assert_eq!(sample_zeros(&file, REGION, 1, &control).unwrap().sampled, SAMPLES);
        control.stop();
        assert_eq!(sample_zeros(&file, REGION, 1, &control).unwrap().sampled, 0);
    }
}
