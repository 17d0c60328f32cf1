//! What a job of fio writes, and when that must be durable. Must not know how I/Os are submitted.

use super::super::told::Told;
use super::access::Kinds;
use super::job::Job;
use super::lines::Opt;
use super::names::Why;
use crate::workload::{Data, Sync};
use stend_base::{Result, say};

pub(super) fn sync(job: &Job, kinds: Kinds, told: &mut Told) -> Result<Sync> {
    let calls: Vec<(&Opt, u32)> = ["fdatasync", "fsync"]
        .iter()
        .filter_map(|name| job.get(name))
        .map(|option| option.small().map(|n| (option, n)))
        .collect::<Result<_>>()?;
    let mut calls = calls.into_iter().filter(|(_, n)| *n > 0);
    let opened = opened(job)?;
    let (first, second) = (calls.next(), calls.next().map(|(option, _)| option).or(opened.map(|(option, _)| option)));
    let option = first.map(|(option, _)| option).or(second);
    if let (0, Some(option)) = (kinds.mix.write, option) {
        let name = &option.name;
        told.decided(
            &option.place,
            say!("`{name}` has no effect: nothing is written", "`{name}` не действует: ничего не пишется"),
        );
        return Ok(Sync::None);
    }
    if let (Some(_), Some(second)) = (first, second) {
        let text = say!("two kinds of durability at once", "два вида надёжности сразу");
        told.changed(&second.place, text, say!("leave one out", "уберите один из них"))?;
    }
    match (first, opened) {
        (Some((option, n)), _) => {
            if kinds.mix.read > 0 || job.get("iodepth").map_or(Ok(1), Opt::small)? > 1 {
                told.decided(
                    &option.place,
                    say!(
                        "among reads, or with several I/Os in flight, fio syncs more often than it says; here after each {n} writes of a job",
                        "среди чтений или при нескольких операциях сразу fio синхронизирует чаще заявленного; здесь — после каждых {n} записей задания"
                    ),
                );
            }
            Ok(if option.name == "fsync" { Sync::Fsync(n) } else { Sync::Fdatasync(n) })
        }
        (None, Some((option, whole))) => {
            if whole {
                told.decided(
                    &option.place,
                    say!(
                        "`O_SYNC` becomes `o_dsync`: the same for a device; of a file, its times are not made durable with each write",
                        "`O_SYNC` становится `o_dsync`: для устройства то же самое; у файла времена не сохраняются с каждой записью"
                    ),
                );
            }
            Ok(Sync::ODsync)
        }
        (None, None) => Ok(Sync::None),
    }
}

/// `sync=…`: whether the target is opened so, and whether all of it is durable then.
fn opened(job: &Job) -> Result<Option<(&Opt, bool)>> {
    let Some(option) = job.get("sync") else { return Ok(None) };
    match option.value.as_deref() {
        Some("none" | "0") => Ok(None),
        None | Some("sync" | "1") => Ok(Some((option, true))),
        Some("dsync") => Ok(Some((option, false))),
        Some(other) => Err(option.wrong(other, "`none`, `sync` or `dsync`", "`none`, `sync` или `dsync`")),
    }
}

pub(super) fn data(job: &Job, kinds: Kinds, told: &mut Told) -> Result<Data> {
    let plain = Data::default();
    if kinds.mix.write == 0 {
        return Ok(plain);
    }
    let contents = |told: &mut Told, option: &Opt| {
        let (name, why) = (&option.name, Why::Contents.say());
        let (en, ru) = (why.en, why.ru);
        told.changed(&option.place, say!("`{name}`: {en}", "`{name}`: {ru}"), Why::Contents.instead())
    };
    if let Some(option) = job.get("zero_buffers")
        && option.flag()?
    {
        contents(told, option)?;
    }
    if let Some(option) = job.get("dedupe_percentage")
        && option.whole()? > 0
    {
        contents(told, option)?;
    }
    let Some(option) = job.get("buffer_compress_percentage") else { return Ok(plain) };
    match option.small()? {
        0 => Ok(plain),
        percent @ 1..=99 => {
            let compress_thousandths = (100_000 / (100 - percent)).min(100_000);
            told.decided(
                &option.place,
                say!(
                    "{percent} % less is a ratio of 100 / (100 - {percent})",
                    "на {percent} % меньше — это коэффициент 100 / (100 - {percent})"
                ),
            );
            Ok(Data { compress_thousandths, ..plain })
        }
        _ => {
            contents(told, option)?;
            Ok(plain)
        }
    }
}
