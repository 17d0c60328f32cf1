//! What a way of submitting cannot do. Must not know this machine: what it lacks is found by probing.

use crate::suite::StreamSpec;
use crate::workload::{Backend, Sync};
use stend_base::{Say, say};

/// Whether a stream makes nothing but reads and writes.
fn only_transfers(stream: &StreamSpec) -> bool {
    stream.sync == Sync::None && stream.trace.is_none()
}

/// Why a case cannot be run the way it names, and what to write instead; `None` if it can.
pub(super) fn contradiction(backend: Backend, direct: bool, streams: &[StreamSpec]) -> Option<(Say, Say)> {
    let ranges = streams.iter().any(|stream| matches!(stream.sync, Sync::SyncFileRange(_)));
    if ranges && direct {
        return Some((
            say!(
                "`sync_file_range` contradicts `direct: true`: direct writes leave nothing in the page cache",
                "`sync_file_range` противоречит `direct: true`: прямые записи ничего не оставляют в кэше страниц"
            ),
            say!(
                "use `direct: false`, or `sync: dsync` for durable direct writes",
                "укажите `direct: false`, а для надёжных прямых записей — `sync: dsync`"
            ),
        ));
    }
    let erases = streams.iter().any(|stream| stream.mix.erases());
    let name = if backend == Backend::IoUringSqpoll { "io_uring_sqpoll" } else { "io_uring" };
    match backend {
        Backend::Libaio if !direct => Some((
            say!(
                "`backend: libaio` contradicts `direct: false`: AIO makes buffered I/O one after the other",
                "`backend: libaio` противоречит `direct: false`: AIO выполняет буферизованные операции по одной"
            ),
            say!(
                "use `direct: true`, or for buffered I/O `backend: io_uring` or `backend: psync`",
                "укажите `direct: true`, а для буферизованного ввода-вывода — `backend: io_uring` или `backend: psync`"
            ),
        )),
        Backend::Libaio if erases => Some((
            say!(
                "`backend: libaio` contradicts `discard` and `write_zeroes`: AIO has no requests for them",
                "`backend: libaio` противоречит `discard` и `write_zeroes`: в AIO нет таких запросов"
            ),
            say!("use `backend: auto` or `backend: psync`", "укажите `backend: auto` или `backend: psync`"),
        )),
        Backend::Null if streams.iter().any(|stream| stream.verify.is_some()) => Some((
            say!(
                "`backend: none` contradicts `verify`: nothing is written that could be read back",
                "`backend: none` противоречит `verify`: не пишется ничего, что можно было бы прочитать"
            ),
            say!("leave out one of the two", "уберите одно из двух"),
        )),
        Backend::Psync if streams.iter().any(|stream| stream.batch.is_any()) => Some((
            say!(
                "`backend: psync` contradicts `batch`: a thread makes one I/O at a time",
                "`backend: psync` противоречит `batch`: поток выполняет операции по одной"
            ),
            say!("use `backend: auto`, or leave out `batch`", "укажите `backend: auto` или уберите `batch`"),
        )),
        Backend::IoUringIopoll | Backend::NvmePassthrough
            if !direct || erases || !streams.iter().all(only_transfers) =>
        {
            Some(no_transfers(backend))
        }
        Backend::IoUring | Backend::IoUringSqpoll if ranges => Some((
            say!(
                "`backend: {name}` contradicts `sync_file_range`: io_uring would hand each to a kernel worker thread, at most 4 GiB",
                "`backend: {name}` противоречит `sync_file_range`: io_uring передал бы каждый рабочему потоку ядра, не больше 4 ГиБ"
            ),
            say!("use `backend: auto` or `backend: psync`", "укажите `backend: auto` или `backend: psync`"),
        )),
        _ => None,
    }
}

/// Why a way that makes nothing but direct reads and writes cannot make a case.
fn no_transfers(backend: Backend) -> (Say, Say) {
    let why = match backend {
        Backend::NvmePassthrough => say!(
            "`backend: nvme_passthrough` sends commands for direct reads and writes and for nothing else",
            "`backend: nvme_passthrough` посылает команды прямого чтения и прямой записи и больше ничего"
        ),
        _ => say!(
            "`backend: io_uring_iopoll` polls for direct reads and writes and for nothing else",
            "`backend: io_uring_iopoll` опрашивает только прямые чтения и записи и больше ничего"
        ),
    };
    let hint = say!(
        "use `direct: true` without `sync`, `discard`, `write_zeroes` and `trace`, or `backend: io_uring`",
        "укажите `direct: true` без `sync`, `discard`, `write_zeroes` и `trace` либо `backend: io_uring`"
    );
    (why, hint)
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;

    fn told(backend: &str, direct: bool, more: &str) -> Option<String> {
        let stream = format!("{{op: write, pattern: random, block_size: 4KiB{more}}}");
        let case = format!("{{name: a, backend: {backend}, direct: {direct}, streams: [{stream}]}}");
        suite(&format!("suite: x\ncases:\n  - {case}\n"), "s.yaml").err().map(|error| error.to_string())
    }

    #[test]
    fn polling_for_completions_and_commands_are_for_direct_reads_and_writes_alone() {
        assert_eq!(told("io_uring_iopoll", true, ", queue_depth: 4"), None);
        let refused = |found: Option<String>| found.is_some_and(|text| text.contains("for direct reads and writes"));
        assert!(refused(told("io_uring_iopoll", false, "")));
        assert!(refused(told("io_uring_iopoll", true, ", sync: dsync")));
        assert!(refused(told("io_uring_iopoll", true, ", sync: {fdatasync: 1}")));
        assert_eq!(told("io_uring_sqpoll", false, ", sync: {fdatasync: 1}"), None);
        assert_eq!(told("nvme_passthrough", true, ", queue_depth: 4"), None);
        assert!(refused(told("nvme_passthrough", false, "")));
        assert!(refused(told("nvme_passthrough", true, ", sync: dsync")));
        let ranges = told("io_uring_sqpoll", false, ", sync: {sync_file_range: 8}").unwrap();
        assert!(ranges.contains("`backend: io_uring_sqpoll` contradicts `sync_file_range`"), "{ranges}");
    }
}
