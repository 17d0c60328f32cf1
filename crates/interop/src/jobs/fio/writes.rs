//! What a job of fio writes, and when that must be durable. Must not know how I/Os are submitted.

use super::super::notes::Notes;
use super::access::Kinds;
use super::job::Job;
use super::lines::Opt;
use super::names::Why;
use stend_base::{Result, say};
use stend_spec::suite::StreamSpec;
use stend_spec::workload::{Backend, Data, Sync, Verify};

pub(super) fn sync(job: &Job, kinds: Kinds, notes: &mut Notes) -> Result<Sync> {
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
        notes.decided(
            &option.place,
            say!("`{name}` has no effect: nothing is written", "`{name}` не действует: ничего не пишется"),
        );
        return Ok(Sync::None);
    }
    if let (Some(_), Some(second)) = (first, second) {
        let text = say!("two kinds of durable writes at once", "два вида подтверждения записи сразу");
        notes.changed(&second.place, text, say!("leave one out", "уберите один из них"))?;
    }
    match (first, opened) {
        (Some((option, n)), _) => {
            if kinds.mix.read > 0 || job.get("iodepth").map_or(Ok(1), Opt::small)? > 1 {
                notes.decided(
                    &option.place,
                    say!(
                        "with reads, or several I/Os in flight, fio syncs more often than it says; here after each {n} writes of a job",
                        "при чтениях или нескольких операциях сразу fio синхронизирует чаще заявленного; здесь — после каждых {n} записей задания"
                    ),
                );
            }
            Ok(if option.name == "fsync" { Sync::Fsync(n) } else { Sync::Fdatasync(n) })
        }
        (None, Some((option, whole))) => {
            if whole {
                notes.decided(
                    &option.place,
                    say!(
                        "`O_SYNC` becomes `o_dsync`: the same for a device; in a file, times are not durable with each write",
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

pub(super) fn data(job: &Job, kinds: Kinds, notes: &mut Notes) -> Result<Data> {
    let plain = Data::default();
    if kinds.mix.write == 0 {
        return Ok(plain);
    }
    let contents = |notes: &mut Notes, option: &Opt| {
        let (name, why) = (&option.name, Why::Contents.say());
        let (en, ru) = (why.en, why.ru);
        notes.changed(&option.place, say!("`{name}`: {en}", "`{name}`: {ru}"), Why::Contents.instead())
    };
    if let Some(option) = job.get("zero_buffers")
        && option.flag()?
    {
        contents(notes, option)?;
    }
    if let Some(option) = job.get("dedupe_percentage")
        && option.whole()? > 0
    {
        contents(notes, option)?;
    }
    let Some(option) = job.get("buffer_compress_percentage") else { return Ok(plain) };
    match option.small()? {
        0 => Ok(plain),
        percent @ 1..=99 => {
            let compress_thousandths = (100_000 / (100 - percent)).min(100_000);
            notes.decided(
                &option.place,
                say!(
                    "{percent} % less is a ratio of 100 / (100 - {percent})",
                    "на {percent} % меньше — это коэффициент 100 / (100 - {percent})"
                ),
            );
            Ok(Data { compress_thousandths, ..plain })
        }
        _ => {
            contents(notes, option)?;
            Ok(plain)
        }
    }
}

/// `verify=…`: what is written is read again and compared. Marks are ours, whatever kind fio has.
pub(super) fn verify(job: &Job, spec: &StreamSpec, backend: Backend, notes: &mut Notes) -> Result<Option<Verify>> {
    let Some(option) = job.get("verify").filter(|option| option.value.as_deref() != Some("0")) else { return Ok(None) };
    let by_hand = || {
        say!(
            "write `verify: {{after: true}}` into the stream that writes",
            "впишите `verify: {{after: true}}` в поток, который пишет"
        )
    };
    let after = job.get("do_verify").map_or(Ok(true), Opt::flag)?;
    if let Some(only) = job.get("verify_only")
        && only.flag()?
    {
        let text = say!(
            "what an earlier run of fio wrote is not known here",
            "что записал прошлый запуск fio, здесь не известно"
        );
        notes.changed(&only.place, text, by_hand())?;
        return Ok(None);
    }
    if spec.mix.write == 0 {
        if after && spec.mix.read > 0 {
            notes.changed(
                &option.place,
                say!(
                    "fio compares what an earlier job wrote; here these reads are not compared",
                    "fio сверяет то, что записало раньше другое задание; здесь эти чтения не сверяются"
                ),
                by_hand(),
            )?;
        }
        return Ok(None);
    }
    if !after && spec.mix.read == 0 {
        notes.decided(
            &option.place,
            say!(
                "`do_verify=0`: what is written is not read again, so it has no marks here",
                "`do_verify=0`: записанное не перечитывается, поэтому меток здесь нет"
            ),
        );
        return Ok(None);
    }
    backlog(job, notes)?;
    if spec.mix.erases() || !spec.block_mix.is_empty() || spec.data != Data::default() || backend == Backend::Null {
        notes.changed(
            &option.place,
            say!(
                "only writes of one block size and of data of Stend's own are compared, and none beside discards or without I/O",
                "сверяются записи одного размера с данными самого Stend; рядом с освобождением и без ввода-вывода — нет"
            ),
            say!("leave it out", "уберите её"),
        )?;
        return Ok(None);
    }
    notes.decided(
        &option.place,
        say!(
            "marks are Stend's own and in every sector; what a trial wrote is read back and compared after its window",
            "метки — Stend, в каждом секторе; записанное испытанием перечитывается и сверяется после окна"
        ),
    );
    Ok(Some(Verify { after, crash: false }))
}

/// `verify_backlog=…`: reading back between the writes.
fn backlog(job: &Job, notes: &mut Notes) -> Result<()> {
    let Some(option) = job.get("verify_backlog") else { return Ok(()) };
    if option.whole()? == 0 {
        return Ok(());
    }
    notes.changed(
        &option.place,
        say!(
            "fio reads back amid its writes, which slows them down; here that is after the window",
            "fio перечитывает записанное вперемежку с записями и замедляет их; здесь это делается после окна"
        ),
        say!("leave it out", "уберите её"),
    )
}
