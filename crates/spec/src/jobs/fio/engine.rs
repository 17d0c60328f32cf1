//! How a job of fio submits its I/Os: `ioengine`, `direct`, polling, and the depth that it really has. Must not know what the
//! I/Os are, beyond whether they erase.

use super::super::told::{Told, shown};
use super::access::Kinds;
use super::job::Job;
use crate::workload::Backend;
use stend_base::{Result, say};

/// Whether the page cache is bypassed, the way of submitting, and the depth.
pub(super) fn way(job: &Job, kinds: Kinds, told: &mut Told) -> Result<(bool, Backend, u32)> {
    let direct = match job.last(["direct", "buffered"]) {
        Some(option) => option.flag()? == (option.name == "direct"),
        None => false,
    };
    let asked = job.get("iodepth").map_or(Ok(1), |option| option.small())?;
    let engine = job.get("ioengine");
    let name = engine.map_or(Ok("psync"), |option| option.text())?;
    let place = engine.map_or(&job.place, |option| &option.place);
    let backend = match name {
        "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" => Backend::Psync,
        "libaio" if !direct => Backend::Psync,
        // fio makes discards by plain calls, whatever the engine is.
        "libaio" if kinds.mix.erases() => Backend::Auto,
        "libaio" => Backend::Libaio,
        "io_uring" => polled(job, told)?,
        "io_uring_cmd" => Backend::NvmePassthrough,
        "null" => Backend::Null,
        "posixaio" => {
            let text = say!(
                "`posixaio` is threads that each make one plain call: `psync`",
                "`posixaio` — это потоки с обычными вызовами: `psync`"
            );
            told.decided(place, text);
            Backend::Psync
        }
        other => {
            let other = shown(other);
            let text = say!("`ioengine={other}` is not there in Stend", "`ioengine={other}` в Stend нет");
            let hint = say!(
                "take `io_uring`, `libaio`, `psync` or `posixaio`",
                "возьмите `io_uring`, `libaio`, `psync` или `posixaio`"
            );
            told.changed(place, text, hint)?;
            Backend::Auto
        }
    };
    if name != "io_uring" {
        not_polled(job, told)?;
    }
    let depth = if backend == Backend::Psync && name != "posixaio" { alone(job, asked, told) } else { asked };
    Ok((direct || backend == Backend::Null, backend, depth))
}

/// The depth where I/Os are made one after the other.
fn alone(job: &Job, asked: u32, told: &mut Told) -> u32 {
    if let Some(option) = job.get("iodepth").filter(|_| asked > 1) {
        told.decided(
            &option.place,
            say!(
                "`iodepth={asked}` has no effect there: fio makes these I/Os one after the other",
                "`iodepth={asked}` там не действует: fio выполняет эти операции по одной"
            ),
        );
    }
    1
}

fn polled(job: &Job, told: &mut Told) -> Result<Backend> {
    match (job.flag("hipri")?, job.flag("sqthread_poll")?) {
        (false, false) => Ok(Backend::IoUring),
        (true, false) => Ok(Backend::IoUringIopoll),
        (false, true) => Ok(Backend::IoUringSqpoll),
        (true, true) => {
            let place = job.get("hipri").map_or(&job.place, |option| &option.place);
            let text = say!(
                "`hipri` and `sqthread_poll` do not go together here",
                "`hipri` и `sqthread_poll` здесь вместе не сочетаются"
            );
            told.changed(place, text, say!("leave one out", "уберите одно из двух"))?;
            Ok(Backend::IoUringIopoll)
        }
    }
}

/// Polling by engines that we do not let poll.
fn not_polled(job: &Job, told: &mut Told) -> Result<()> {
    for option in ["hipri", "sqthread_poll"].iter().filter_map(|name| job.get(name)) {
        if option.flag()? {
            let text = say!("polling is for `ioengine=io_uring`", "опрос — для `ioengine=io_uring`");
            let hint = say!("leave it out, or take `io_uring`", "уберите его или возьмите `io_uring`");
            told.changed(&option.place, text, hint)?;
        }
    }
    Ok(())
}
