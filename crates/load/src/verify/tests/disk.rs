//! A disk in memory behind the trait of a queue, which does wrong as told.

use crate::verify::marks::Marks;
use crate::verify::sector::{SECTOR, stamp};
use std::io;
use std::sync::{Arc, Mutex};
use stend_base::Nanos;
use stend_base::random::Random;
use stend_sys::queue::{Completion, Queue, Request};

/// Bytes that outlive their queues.
pub type Bytes = Arc<Mutex<Vec<u8>>>;

/// What the disk does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing. Whatever is in flight together takes effect in any order.
    None,
    /// A write to this place is acknowledged and forgotten.
    Forget(u64),
    /// Reads of this place return what was there before the last write.
    OldCopy(u64),
    /// Only the first sectors of a write to this place arrive.
    Tear(u64),
    /// A write to this place goes to the place `by` further.
    Misdirect { from: u64, by: u64 },
    /// A bit of what is written to this place turns over.
    Flip(u64),
    /// This place gets a whole block that nobody sent.
    Invent(u64, Marks),
    /// When the last write to this place has been read, the one before it takes effect, and stays.
    Late(u64),
    /// Writes to this place fail half way.
    FailWrite(u64),
    /// Every sync fails, and what was written to this place is gone.
    FailSync(u64),
}

struct Io {
    slot: u32,
    request: Request,
    at: usize,
    len: usize,
    offset: u64,
}

/// See the module.
pub struct Disk {
    bytes: Bytes,
    /// The place of the fault, before the last write to it.
    before: Vec<u8>,
    /// The place of the fault does not change any more.
    stuck: bool,
    fault: Fault,
    slots: Vec<Vec<u8>>,
    pending: Vec<Io>,
    submitted: usize,
    done: Vec<Completion>,
    random: Random,
}

impl Disk {
    /// A queue of so many slots of so many bytes.
    pub fn new(bytes: Bytes, fault: Fault, slots: u32, len: usize) -> Disk {
        let slots = (0..slots).map(|_| vec![0; len]).collect();
        let random = Random::new(17);
        Disk {
            bytes,
            before: Vec::new(),
            stuck: false,
            fault,
            slots,
            pending: Vec::new(),
            submitted: 0,
            done: Vec::new(),
            random,
        }
    }

    /// Carries one request out; its result.
    fn carry_out(&mut self, io: &Io) -> i32 {
        let shared = self.bytes.clone();
        let mut bytes = shared.lock().unwrap();
        let (place, data) = (io.offset as usize, &mut self.slots[io.slot as usize][io.at..io.at + io.len]);
        match io.request {
            Request::Write | Request::WriteDsync => {
                let old = bytes[place..place + io.len].to_vec();
                if !(self.stuck && touches(self.fault, io.offset)) {
                    write(self.fault, io.offset, data, &mut bytes);
                }
                if touches(self.fault, io.offset) {
                    self.before = old;
                }
                if self.fault == Fault::FailWrite(io.offset) { -5 } else { io.len as i32 }
            }
            Request::Read => {
                data.copy_from_slice(&bytes[place..place + io.len]);
                match self.fault {
                    Fault::OldCopy(at) if at == io.offset && !self.before.is_empty() => {
                        data.copy_from_slice(&self.before)
                    }
                    Fault::Late(at) if at == io.offset && !self.before.is_empty() => {
                        bytes[place..place + io.len].copy_from_slice(&self.before);
                        self.stuck = true;
                    }
                    _ => {}
                }
                io.len as i32
            }
            Request::Fsync | Request::Fdatasync => match self.fault {
                Fault::FailSync(at) => {
                    bytes[at as usize..at as usize + 4096].fill(0);
                    -5
                }
                _ => 0,
            },
            // Operation not supported.
            Request::PunchHole | Request::ZeroRange => -95,
        }
    }
}

fn touches(fault: Fault, offset: u64) -> bool {
    matches!(fault, Fault::OldCopy(at) | Fault::Late(at) if at == offset)
}

/// What a write really does.
fn write(fault: Fault, offset: u64, data: &[u8], bytes: &mut [u8]) {
    let (mut to, mut len) = (offset as usize, data.len());
    match fault {
        Fault::Forget(at) if at == offset => return,
        Fault::Tear(at) | Fault::FailWrite(at) if at == offset => len = 3 * SECTOR,
        Fault::Misdirect { from, by } if from == offset => to += by as usize,
        _ => {}
    }
    bytes[to..to + len].copy_from_slice(&data[..len]);
    match fault {
        Fault::Flip(at) if at == offset => bytes[to + 1000] ^= 16,
        Fault::Invent(at, marks) if at == offset => stamp(&mut bytes[to..to + len], marks, offset, 1 << 20),
        _ => {}
    }
}

impl Queue for Disk {
    fn registered(&self) -> bool {
        false
    }

    fn in_flight(&self) -> u32 {
        (self.pending.len() + self.done.len()) as u32
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(self.pending.iter().all(|io| io.slot != slot), "slot {slot} is in flight");
        &mut self.slots[slot as usize]
    }

    fn push(&mut self, slot: u32, request: Request, at: usize, len: usize, offset: u64) {
        self.pending.push(Io { slot, request, at, len, offset });
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn is_ready(&mut self) -> bool {
        false
    }

    /// Some of what is in flight takes effect and ends, in any order.
    fn submit_and_wait(&mut self, want: u32, _: Nanos) -> io::Result<()> {
        self.submitted = self.pending.len();
        let count = want as u64 + self.random.below(self.submitted as u64);
        for _ in 0..count.min(self.submitted as u64) {
            let io = self.pending.swap_remove(self.random.below(self.pending.len() as u64) as usize);
            let result = self.carry_out(&io);
            self.done.push(Completion { slot: io.slot, result });
        }
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.done);
    }
}
