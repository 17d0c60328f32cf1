//! How a job of fio submits its I/Os: `ioengine`, `direct`, polling, and the depth that it really has. Must not know what the
//! I/Os are, beyond whether they erase.

use super::super::JobPlace;
use super::super::notes::{Notes, shown};
use super::access::Kinds;
use super::job::Job;
use stend_base::{Bytes, Result, say};
use stend_spec::workload::{Backend, Pages};

/// Whether the page cache is bypassed, the way of submitting, and the depth.
pub(super) fn way(job: &Job, kinds: Kinds, notes: &mut Notes) -> Result<(bool, Backend, u32)> {
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
        // fio makes discards by plain calls, whatever the engine is.
        "libaio" if kinds.mix.erases() => Backend::Auto,
        "libaio" if !direct => Backend::Psync,
        "libaio" => Backend::Libaio,
        "io_uring" if kinds.mix.erases() => Backend::Auto,
        "io_uring" => polled(job, notes)?,
        "io_uring_cmd" => commands(job, kinds, notes)?,
        "null" | "cpp_null" => Backend::Null,
        other => alike(job, other, place, notes)?,
    };
    if name != "io_uring" {
        not_polled(job, notes)?;
    }
    let always = matches!(backend, Backend::Null | Backend::NvmePassthrough) || name == "sg";
    cached(job, kinds, direct || always, notes)?;
    let depth = if backend == Backend::Psync && name != "posixaio" { alone(job, asked, notes) } else { asked };
    Ok((direct || always, backend, depth))
}

/// What buffers lie in. Where fio has ordinary memory, the kernel may join its pages; ours it does not.
pub(super) fn pages(job: &Job, notes: &mut Notes) -> Result<Pages> {
    let (size, memory) = (job.get("hugepage-size"), job.get("mem"));
    let kind = memory.map_or(Ok("malloc"), |option| option.text())?;
    // A file of huge pages may be named behind a colon.
    let kind = kind.split(':').next().unwrap_or(kind);
    if let (Some(option), "shmhuge" | "mmaphuge") = (memory, kind) {
        notes.decided(
            &option.place,
            say!(
                "huge pages that are reserved in fio are transparent ones of 2 MiB here: `pages: huge`",
                "большие страницы, у fio зарезервированные, здесь прозрачные, по 2 МиБ: `pages: huge`"
            ),
        );
        if let Some(size) = size
            && size.bytes(size.text()?, job.kb_base()?)? != Bytes::mib(2)
        {
            let text = say!("huge pages have 2 MiB here", "большие страницы здесь по 2 МиБ");
            notes.decided(&size.place, text);
        }
        return Ok(Pages::Huge);
    }
    size.iter().for_each(|option| notes.harmless(&option.place, "hugepage-size"));
    let Some(option) = memory else { return Ok(Pages::Ordinary) };
    match kind {
        "malloc" | "shm" | "mmap" | "mmapshared" => notes.harmless(&option.place, "mem"),
        other => {
            let other = shown(other);
            notes.changed(
                &option.place,
                say!("Stend has no memory `mem={other}`", "памяти `mem={other}` в Stend нет"),
                say!("leave it out: `pages: ordinary`", "уберите её: `pages: ordinary`"),
            )?;
        }
    }
    Ok(Pages::Ordinary)
}

/// Engines whose I/O means that of a way of ours, and all others.
fn alike(job: &Job, name: &str, place: &JobPlace, notes: &mut Notes) -> Result<Backend> {
    let (backend, text) = match name {
        "posixaio" => (
            Backend::Psync,
            say!(
                "`posixaio` is threads that each make one plain call: `psync`",
                "`posixaio` — это потоки с обычными вызовами: `psync`"
            ),
        ),
        "sg" => (
            Backend::Psync,
            say!(
                "`sg` sends a SCSI command and waits for it: here a direct read or write by `psync`",
                "`sg` отправляет команду SCSI и ждёт её; здесь — прямое чтение или запись через `psync`"
            ),
        ),
        "windowsaio" => (
            Backend::Auto,
            say!(
                "`windowsaio` is asynchronous I/O of Windows; here the best way of this host",
                "`windowsaio` — асинхронный ввод-вывод Windows; здесь лучший способ этого хоста"
            ),
        ),
        "libblkio" if job.get("libblkio_driver").and_then(|option| option.value.as_deref()) == Some("io_uring") => (
            Backend::IoUring,
            say!("`libblkio` with `io_uring` is `io_uring`", "`libblkio` с `io_uring` — это `io_uring`"),
        ),
        other => {
            let other = shown(other);
            let text = say!("Stend has no `ioengine={other}`", "`ioengine={other}` в Stend нет");
            let hint = say!(
                "take `io_uring`, `libaio`, `psync` or `posixaio`; a storage that is reached over a network can be mounted or attached first",
                "возьмите `io_uring`, `libaio`, `psync` или `posixaio`; хранилище по сети можно сначала подключить"
            );
            notes.changed(place, text, hint)?;
            return Ok(Backend::Auto);
        }
    };
    notes.decided(place, text);
    Ok(backend)
}

/// NVMe commands; ours are reads and writes without syncs.
fn commands(job: &Job, kinds: Kinds, notes: &mut Notes) -> Result<Backend> {
    let synced = ["fsync", "fdatasync"].iter().find_map(|name| job.get(name));
    let synced = match synced {
        Some(option) if kinds.mix.write > 0 && option.small()? > 0 => Some(option),
        _ => None,
    };
    let option = synced.or(job.get("rw").filter(|_| kinds.mix.erases()));
    let Some(option) = option else { return Ok(Backend::NvmePassthrough) };
    notes.changed(
        &option.place,
        say!(
            "NVMe commands past the block layer are reads and writes here, and nothing else",
            "команды NVMe в обход блочного слоя здесь — только чтение и запись"
        ),
        say!("take `ioengine=io_uring` for these", "возьмите для них `ioengine=io_uring`"),
    )?;
    Ok(Backend::Auto)
}

/// What the page cache answers: fio drops the file from it before it begins, and here a fill or earlier trials have left it there.
fn cached(job: &Job, kinds: Kinds, direct: bool, notes: &mut Notes) -> Result<()> {
    let option = job.get("invalidate");
    let place = option.map_or(&job.place, |option| &option.place);
    if direct || kinds.mix.read == 0 {
        option.iter().for_each(|option| notes.harmless(&option.place, "invalidate"));
        return Ok(());
    }
    let dropped = option.map_or(Ok(true), |option| option.flag())?;
    notes.decided(
        place,
        match dropped {
            true => say!(
                "without `direct=1` fio drops the file from the page cache and then reads; here reads may be answered from memory by what the fill or an earlier trial left there: `direct: true` reads the storage",
                "без `direct=1` fio выбрасывает файл из страничного кэша и потом читает; здесь чтения может обслужить память — то, что осталось от заполнения или прошлых испытаний: хранилище читает `direct: true`"
            ),
            false => say!(
                "with `invalidate=0` reads may be answered by the page cache, as here",
                "с `invalidate=0` чтения может обслужить страничный кэш, как и здесь"
            ),
        },
    );
    Ok(())
}

/// The depth where I/Os are made one after the other.
fn alone(job: &Job, asked: u32, notes: &mut Notes) -> u32 {
    if let Some(option) = job.get("iodepth").filter(|_| asked > 1) {
        notes.decided(
            &option.place,
            say!(
                "fio's default engine ignores `iodepth={asked}`: it makes these I/Os one after the other",
                "движок fio по умолчанию не учитывает `iodepth={asked}`: эти операции идут по одной"
            ),
        );
    }
    1
}

fn polled(job: &Job, notes: &mut Notes) -> Result<Backend> {
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
            notes.changed(place, text, say!("leave one out", "уберите одно из двух"))?;
            Ok(Backend::IoUringIopoll)
        }
    }
}

/// Polling by engines that we do not let poll.
fn not_polled(job: &Job, notes: &mut Notes) -> Result<()> {
    for option in ["hipri", "sqthread_poll"].iter().filter_map(|name| job.get(name)) {
        if option.flag()? {
            let text = say!("polling is for `ioengine=io_uring`", "опрос — для `ioengine=io_uring`");
            let hint = say!("leave it out, or take `io_uring`", "уберите его или возьмите `io_uring`");
            notes.changed(&option.place, text, hint)?;
        }
    }
    Ok(())
}
