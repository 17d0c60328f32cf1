//! What others do to the devices below a target at this moment: their counters, read twice. Reads only.

use crate::roots::{Roots, text};
use std::time::{Duration, Instant};
use stend_base::{Bytes, Nanos};
use stend_record::{Busy, Device};

/// How long one look takes: long enough that 50 I/Os per second show as ten, short enough that nobody
/// waits for it (by eye).
const LOOK: Duration = Duration::from_millis(200);
/// The kernel counts in sectors of this size whatever the device (Linux Documentation/block/stat.rst).
const SECTOR: u64 = 512;

/// I/O of the busiest of these devices during a short look. Before a run all of it belongs to others.
/// `None` if no device shows its counters.
pub(crate) fn look(roots: &Roots, devices: &[Device]) -> Option<Busy> {
    look_at_all(roots, &[devices]).pop()?
}

/// The same of several lists of devices, during one look at all of them.
pub(crate) fn look_at_all(roots: &Roots, stacks: &[&[Device]]) -> Vec<Option<Busy>> {
    let before: Vec<Vec<Counters>> = stacks.iter().map(|devices| counters(roots, devices)).collect();
    if before.iter().all(Vec::is_empty) {
        return vec![None; stacks.len()];
    }
    let began = Instant::now();
    std::thread::sleep(LOOK);
    let span = Nanos(began.elapsed().as_nanos() as u64);
    let after = stacks.iter().map(|devices| counters(roots, devices));
    before.iter().zip(after).map(|(before, after)| busiest(before, &after, span)).collect()
}

/// Reads and writes of a device since boot.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counters {
    device: String,
    ops: u64,
    bytes: u64,
}

fn counters(roots: &Roots, devices: &[Device]) -> Vec<Counters> {
    let read = |device: &Device| {
        let stat = text(roots.sys.join("class/block").join(&device.name).join("stat"))?;
        parse(&device.name, &stat)
    };
    devices.iter().filter_map(read).collect()
}

/// Fields: reads, merged, sectors, ms, then the same of writes.
fn parse(device: &str, stat: &str) -> Option<Counters> {
    let fields: Vec<u64> = stat.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let sectors = fields.get(2)?.checked_add(*fields.get(6)?)?;
    Some(Counters {
        device: device.to_string(),
        ops: fields.first()?.checked_add(*fields.get(4)?)?,
        bytes: sectors.checked_mul(SECTOR)?,
    })
}

fn busiest(before: &[Counters], after: &[Counters], span: Nanos) -> Option<Busy> {
    let moved = after.iter().filter_map(|now| {
        let then = before.iter().find(|then| then.device == now.device)?;
        // Counters that went backwards belong to another device of the same name.
        let (ops, bytes) = (now.ops.checked_sub(then.ops)?, now.bytes.checked_sub(then.bytes)?);
        Some(Busy { device: now.device.clone(), span, ops, bytes: Bytes(bytes) })
    });
    moved.reduce(|most, next| if (next.bytes, next.ops) > (most.bytes, most.ops) { next } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(device: &str, ops: u64, bytes: u64) -> Counters {
        Counters { device: device.into(), ops, bytes }
    }

    #[test]
    fn the_kernels_line_is_read_and_a_short_one_is_not() {
        let stat = " 100 5 2048 12 50 7 4096 30 0 40 42 0 0 0 0 3 1";
        assert_eq!(parse("sda", stat), Some(at("sda", 150, 6144 * 512)));
        assert_eq!(parse("sda", "100 5 2048 12 50 7"), None);
        assert_eq!(parse("sda", &format!("1 0 {} 0 1 0 1 0", u64::MAX)), None);
    }

    #[test]
    fn the_busiest_device_is_told_and_an_idle_one_has_zeros() {
        let span = Nanos::millis(200);
        let before = [at("sda1", 10, 100), at("sda", 10, 100)];
        let busy = busiest(&before, &[at("sda1", 11, 4196), at("sda", 31, 81_920)], span);
        assert_eq!(busy, Some(Busy { device: "sda".into(), span, ops: 21, bytes: Bytes(81_820) }));
        let idle = busiest(&before, &before, span).unwrap();
        assert_eq!((idle.ops, idle.bytes), (0, Bytes(0)));
        assert_eq!(busiest(&before, &[at("sda", 1, 1), at("sdb", 9, 9)], span), None, "replaced in between");
    }

    #[test]
    fn a_device_without_counters_is_not_idle_but_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let device = Device { name: "sda".into(), ..Device::default() };
        assert_eq!(look(&Roots::under(dir.path()), &[device]), None);
        assert_eq!(look(&Roots::host(), &[]), None);
    }
}
