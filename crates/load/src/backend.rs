//! Chooses how I/O is submitted, by trying. Must not choose silently: the reason travels with the choice.

use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::Chosen;
use stend_spec::workload::{Backend, Stream, Sync, Trial};
use stend_sys::aio::{self, Syncs};
use stend_sys::passthrough::Passthrough;
use stend_sys::uring::{Polling, Ring};
use stend_sys::{IoFile, Obstacle};

/// A way of submitting I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// One ring per job, and what it polls for.
    IoUring(Polling),
    /// One ring of NVMe commands per job.
    NvmePassthrough,
    /// One context of Linux AIO per job, and how it syncs.
    Libaio(Syncs),
    /// `pread` and `pwrite`, one thread per I/O in flight.
    Psync,
    /// Nothing: every I/O is complete at once.
    Null,
}

/// The plain ring, which `Auto` may choose.
const RING: Lane = Lane::IoUring(Polling::Off);

/// Most threads that `Auto` starts to make I/O by plain calls; more would measure the scheduler.
const THREADS_MAX: u64 = 64;

/// The chosen way and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The way.
    pub lane: Lane,
    /// Why this one.
    pub chosen: Chosen,
    /// Why not each way that comes before it, in English; empty if nobody asked for another.
    pub fallback_reason: String,
}

impl Lane {
    /// Name in the run file.
    pub fn name(self) -> &'static str {
        match self {
            Lane::IoUring(Polling::Off) => "io_uring",
            Lane::IoUring(Polling::Submissions) => "io_uring_sqpoll",
            Lane::IoUring(Polling::Completions) => "io_uring_iopoll",
            Lane::NvmePassthrough => "nvme_passthrough",
            Lane::Libaio(_) => "libaio",
            Lane::Psync => "psync",
            Lane::Null => "none",
        }
    }
}

/// Finds the lane for a trial.
///
/// `Auto` takes io_uring if a no-op gets through it, else libaio if the I/O is direct and the kernel has
/// room for as many requests, else psync. A trial that waits for syncs inside a call takes psync at once, with one thread
/// per I/O in flight, so that the experiment is the same: io_uring and AIO never sync inline but hand each sync to a
/// kernel worker thread, and the hand-over would be measured as the target's. Direct writes with `dsync` or `o_dsync` do
/// not wait so and take io_uring. The same applies to discards and zeroes, and for every I/O on a target that cannot
/// begin one without blocking, all up to 64 I/Os in flight. The discards of a block device, which io_uring and AIO do not
/// know at all, and `sync_file_range` take psync at any depth.
/// A way that was named and does not work is an error of kind `Preflight`.
pub fn choose_backend(trial: &Trial, file: &IoFile) -> Result<Choice> {
    if trial.backend == Backend::IoUringIopoll {
        Ring::polls(file).map_err(|obstacle| refused("io_uring_iopoll", &obstacle))?;
    }
    if trial.backend == Backend::NvmePassthrough {
        let most = Passthrough::probe(file).map_err(|obstacle| refused("nvme_passthrough", &obstacle))?;
        fits_a_command(trial, most)?;
    }
    decide(trial, Nature { device: file.is_device(), begins: file.begins_without_blocking() })
}

/// Whether a ring of io_uring can be made here.
pub(crate) fn ring_works() -> std::result::Result<(), Obstacle> {
    Ring::probe(Polling::Off)
}

/// What of a target decides.
#[derive(Debug, Clone, Copy)]
struct Nature {
    /// It is a block device.
    device: bool,
    /// I/O on it can begin without blocking.
    begins: bool,
}

fn decide(trial: &Trial, target: Nature) -> Result<Choice> {
    let named = |lane| Choice { lane, chosen: Chosen::Named, fallback_reason: String::new() };
    match trial.backend {
        Backend::Auto => {
            let choice = choose(trial, target);
            if choice.lane == Lane::Psync && batches(trial) {
                return Err(no_batches(&choice.fallback_reason));
            }
            Ok(choice)
        }
        Backend::IoUring | Backend::IoUringSqpoll | Backend::IoUringIopoll => {
            if only_by_calls(trial, target.device) {
                return Err(no_discards());
            }
            let polling = match trial.backend {
                Backend::IoUringSqpoll => Polling::Submissions,
                Backend::IoUringIopoll => Polling::Completions,
                _ => Polling::Off,
            };
            let lane = Lane::IoUring(polling);
            Ring::probe(polling).map(|()| named(lane)).map_err(|o| refused(lane.name(), &o))
        }
        Backend::Libaio => {
            aio::probe(trial.in_flight()).map(|s| named(Lane::Libaio(s))).map_err(|o| refused("libaio", &o))
        }
        // Whether it works was asked of the target.
        Backend::NvmePassthrough => Ok(named(Lane::NvmePassthrough)),
        Backend::Psync => Ok(named(Lane::Psync)),
        Backend::Null => Ok(named(Lane::Null)),
    }
}

/// Refuses blocks that one command does not move: the block layer would split them, but nothing is between.
fn fits_a_command(trial: &Trial, most: u64) -> Result<()> {
    let Some(largest) = trial.streams.iter().map(|stream| stream.block_size).max().filter(|size| size.0 > most) else {
        return Ok(());
    };
    let (most, largest) = (Bytes(most), largest);
    let [en, ru] = [Lang::En, Lang::Ru].map(|lang| [largest, most].map(|size| format::bytes(size, lang)));
    let (size, limit, size_ru, limit_ru) = (&en[0], &en[1], &ru[0], &ru[1]);
    let message = say!(
        "an I/O of {size} is larger than one NVMe command to this drive, at most {limit}",
        "операция в {size_ru} больше одной команды NVMe к этому накопителю: не более {limit_ru}"
    );
    let hint = say!(
        "use smaller blocks, or `backend: io_uring`, where the kernel splits them",
        "уменьшите блоки или укажите `backend: io_uring`: там их делит ядро"
    );
    Err(Error::preflight(message).hint(hint))
}

/// Whether a stream begins or waits for several I/Os together, which plain calls cannot.
fn batches(trial: &Trial) -> bool {
    trial.streams.iter().any(|stream| stream.batch.is_any())
}

fn no_batches(why: &str) -> Box<Error> {
    let reason = if why.is_empty() { String::new() } else { format!(": {why}") };
    Error::preflight(say!(
        "`batch` needs io_uring or libaio, but neither is available for this case{reason}",
        "для `batch` нужен io_uring или libaio, а для этого случая недоступны оба{reason}"
    ))
    .hint(say!("leave out `batch`", "уберите `batch`"))
}

/// Whether a trial does what only a plain call does.
fn only_by_calls(trial: &Trial, on_device: bool) -> bool {
    // What the page cache holds of a device is only let go by the descriptor that has it alone, which plain calls use.
    let zeroes = |stream: &Stream| on_device && !trial.direct && stream.mix.write_zeroes > 0;
    let discards = |stream: &Stream| on_device && stream.mix.discard > 0;
    let only = |stream: &Stream| discards(stream) || zeroes(stream) || matches!(stream.sync, Sync::SyncFileRange(_));
    trial.streams.iter().any(only)
}

/// Whether a thread has to wait inside a call for what makes writes durable. Direct writes that are durable by
/// themselves end as any others do: a device gets them with FUA, a file system syncs when they are complete.
fn waits_in_call(sync: Sync, direct: bool) -> bool {
    match sync {
        Sync::None => false,
        Sync::Dsync | Sync::ODsync => !direct,
        Sync::Fdatasync(_) | Sync::Fsync(_) | Sync::SyncFileRange(_) => true,
    }
}

/// Whether a stream makes a thread wait so, by its own syncs or those of its trace.
fn syncs(stream: &Stream, direct: bool) -> bool {
    waits_in_call(stream.sync, direct) || stream.replay.is_some_and(|replay| replay.syncs || replay.durable && !direct)
}

fn no_discards() -> Box<Error> {
    Error::preflight(say!(
        "io_uring has no request for discards of a block device, nor for zeroes past what the page cache holds of one",
        "в io_uring нет запроса для освобождений на блочном устройстве и для нулей мимо его данных в кэше страниц"
    ))
    .hint(say!("set `backend: auto` or `backend: psync`", "укажите `backend: auto` или `backend: psync`"))
}

fn choose(trial: &Trial, target: Nature) -> Choice {
    let (syncs, erases) = (trial.streams.iter().any(|s| syncs(s, trial.direct)), trial.erases());
    let few = trial.in_flight() <= THREADS_MAX;
    let few = few && !batches(trial);
    if (syncs || erases || !target.begins) && few || only_by_calls(trial, target.device) {
        let chosen = match (erases, syncs || only_by_calls(trial, target.device)) {
            (true, _) => Chosen::Erases,
            (_, true) => Chosen::Syncs,
            _ => Chosen::Punts,
        };
        return Choice { lane: Lane::Psync, chosen, fallback_reason: String::new() };
    }
    let fallback = |lane, fallback_reason| Choice { lane, chosen: Chosen::Fallback, fallback_reason };
    let Err(no_ring) = Ring::probe(Polling::Off) else {
        return Choice { lane: RING, chosen: Chosen::Works, fallback_reason: String::new() };
    };
    if !trial.direct {
        let reason = "libaio would make buffered I/O inside io_submit, one after the other";
        return fallback(Lane::Psync, format!("{no_ring}; {reason}"));
    }
    if erases {
        return fallback(Lane::Psync, format!("{no_ring}; libaio has no requests for discards and zeroes"));
    }
    match aio::probe(trial.in_flight()) {
        Ok(syncs) => fallback(Lane::Libaio(syncs), no_ring.to_string()),
        Err(no_aio) => fallback(Lane::Psync, format!("{no_ring}; {no_aio}")),
    }
}

/// The way called `name` was asked for and cannot be had.
pub(crate) fn refused(name: &str, obstacle: &Obstacle) -> Box<Error> {
    let Say { en, ru } = &obstacle.cause;
    let message = say!("cannot submit I/O through {name}: {en}", "не удаётся подавать ввод-вывод через {name}: {ru}");
    let hint = match obstacle.cure {
        Some(cure) => {
            let command = cure.command(true);
            say!(
                "fix it with `{command}`; or set `backend: auto` or `backend: psync`",
                "поможет `{command}`; или укажите `backend: auto` либо `backend: psync`"
            )
        }
        None => say!("set `backend: auto` or `backend: psync`", "укажите `backend: auto` либо `backend: psync`"),
    };
    Error::preflight(message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use stend_base::Kind;
    use stend_base::Nanos;
    use stend_spec::workload::{Mix, Op, Pattern, Region};
    use stend_sys::seccomp::{forbid_aio, forbid_io_uring};

    fn trial(backend: Backend, queue_depth: u32, sync: Sync) -> Trial {
        let writes = Stream::new(Mix::only(Op::Write), Pattern::Random, Bytes::kib(4));
        let (stream, region) = (Stream { queue_depth, sync, ..writes }, Region { start: Bytes(0), len: Bytes::mib(1) });
        Trial { backend, ..Trial::new(vec![stream], Nanos::SECOND, region) }
    }

    const FILE: Nature = Nature { device: false, begins: true };
    const DEVICE: Nature = Nature { device: true, begins: true };

    /// The choice, or the error, where seccomp forbids what `forbid` says.
    fn choose_without(forbid: &[fn() -> std::io::Result<()>], trial: &Trial) -> Result<Choice> {
        std::thread::scope(|scope| {
            let filtered = || {
                forbid.iter().for_each(|forbid| forbid().unwrap());
                decide(trial, FILE)
            };
            scope.spawn(filtered).join().unwrap()
        })
    }

    #[test]
    fn auto_goes_from_io_uring_to_libaio_to_psync_and_says_why_at_each_step() {
        let direct = trial(Backend::Auto, 1, Sync::None);
        let step = choose_without(&[forbid_io_uring], &direct).unwrap();
        assert_eq!((step.lane.name(), step.chosen), ("libaio", Chosen::Fallback));
        assert!(step.fallback_reason.contains("io_uring is forbidden"), "{step:?}");
        assert!(!step.fallback_reason.contains("AIO"), "{step:?}");
        let step = choose_without(&[forbid_io_uring, forbid_aio], &direct).unwrap();
        assert_eq!((step.lane, step.chosen), (Lane::Psync, Chosen::Fallback));
        assert!(step.fallback_reason.contains("io_uring is forbidden"), "{step:?}");
        assert!(step.fallback_reason.contains("AIO is forbidden"), "{step:?}");
        let buffered = choose_without(&[forbid_io_uring], &Trial { direct: false, ..direct }).unwrap();
        assert_eq!(buffered.lane, Lane::Psync);
        assert!(buffered.fallback_reason.contains("inside io_submit"), "{buffered:?}");
    }

    #[test]
    fn a_way_that_was_named_and_does_not_work_is_an_error_with_the_command() {
        for (backend, forbid) in [(Backend::IoUring, forbid_io_uring as fn() -> _), (Backend::Libaio, forbid_aio)] {
            let error = choose_without(&[forbid], &trial(backend, 1, Sync::None)).unwrap_err();
            assert_eq!(error.kind, Kind::Preflight);
            assert!(error.hint.unwrap().en.contains("seccomp=unconfined"));
        }
    }

    #[test]
    fn requests_beyond_the_machine_s_limit_name_the_sysctl_and_auto_goes_on_without() {
        let limit: u32 = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap().trim().parse().unwrap();
        let greedy = |backend| trial(backend, limit + 1, Sync::None);
        let error = decide(&greedy(Backend::Libaio), FILE).unwrap_err();
        assert!(error.message.en.contains("fs.aio-max-nr") && error.message.ru.contains("fs.aio-max-nr"), "{error}");
        assert!(error.hint.unwrap().en.contains("sysctl -w fs.aio-max-nr="));
        let step = choose_without(&[forbid_io_uring], &greedy(Backend::Auto)).unwrap();
        assert_eq!(step.lane, Lane::Psync);
        assert!(step.fallback_reason.contains("sysctl -w fs.aio-max-nr="), "{step:?}");
    }

    #[test]
    fn polling_is_never_chosen_only_named_and_a_target_that_cannot_is_refused() {
        let choice = decide(&trial(Backend::IoUringSqpoll, 4, Sync::None), FILE).unwrap();
        assert_eq!((choice.lane.name(), choice.chosen), ("io_uring_sqpoll", Chosen::Named));
        let memory = IoFile::create_scratch(Path::new("/dev/shm"), 4096, false).unwrap();
        let error = choose_backend(&trial(Backend::IoUringIopoll, 1, Sync::None), &memory).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.ru.contains("очередей для опроса"), "{error}");
        let error = choose_without(&[forbid_io_uring], &trial(Backend::IoUringSqpoll, 1, Sync::None)).unwrap_err();
        assert!(error.message.en.contains("io_uring_sqpoll"), "{error}");
    }

    #[test]
    fn commands_are_never_chosen_only_named_and_what_takes_none_is_refused() {
        let file = IoFile::create_scratch(Path::new("/var/tmp"), 1 << 20, true).unwrap();
        let error = choose_backend(&trial(Backend::NvmePassthrough, 1, Sync::None), &file).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.en.contains("not an NVMe namespace"), "{error}");
        assert!(error.message.ru.contains("не пространство имён NVMe"), "{error}");
        let of = |len| fits_a_command(&trial(Backend::NvmePassthrough, 1, Sync::None), len);
        assert!(of(4096).is_ok());
        let error = of(2048).unwrap_err();
        assert!(error.message.en.contains("4 KiB is larger than one NVMe command"), "{error}");
        assert!(error.message.ru.contains("не более 2 КиБ"), "{error}");
    }

    #[test]
    fn psync_asked_for_needs_no_excuse() {
        let choice = decide(&trial(Backend::Psync, 1, Sync::None), FILE).unwrap();
        assert_eq!((choice.lane, choice.fallback_reason.as_str()), (Lane::Psync, ""));
    }

    #[test]
    fn syncs_are_made_by_plain_calls_unless_that_takes_too_many_threads() {
        let lane = |depth, sync| decide(&trial(Backend::Auto, depth, sync), FILE).unwrap().lane;
        assert_eq!(lane(1, Sync::Fdatasync(1)), Lane::Psync);
        assert_eq!(lane(1, Sync::None), RING);
        assert_eq!(lane(128, Sync::Fsync(1)), RING);
        assert_eq!((lane(1, Sync::Dsync), lane(1, Sync::ODsync)), (RING, RING));
        let buffered = |depth, sync| {
            let trial = Trial { direct: false, ..trial(Backend::Auto, depth, sync) };
            decide(&trial, FILE).unwrap().lane
        };
        assert_eq!((buffered(1, Sync::Dsync), buffered(128, Sync::Dsync)), (Lane::Psync, RING));
        assert_eq!(buffered(128, Sync::SyncFileRange(1)), Lane::Psync, "there is no other way");
    }

    #[test]
    fn discards_and_zeroes_are_made_by_plain_calls_and_those_of_a_device_only_so() {
        let of = |backend, depth, op| {
            let mut trial = trial(backend, depth, Sync::None);
            trial.streams[0].mix = Mix::only(op);
            trial
        };
        let auto = |depth, op, on_device| {
            let choice = decide(&of(Backend::Auto, depth, op), if on_device { DEVICE } else { FILE }).unwrap();
            (choice.lane, choice.chosen)
        };
        for op in [Op::Discard, Op::WriteZeroes] {
            assert_eq!(auto(1, op, false), (Lane::Psync, Chosen::Erases));
            assert_eq!(auto(128, op, false), (RING, Chosen::Works));
        }
        assert_eq!(auto(128, Op::Discard, true), (Lane::Psync, Chosen::Erases));
        assert_eq!(auto(128, Op::WriteZeroes, true), (RING, Chosen::Works));
        let step = choose_without(&[forbid_io_uring], &of(Backend::Auto, 128, Op::Discard)).unwrap();
        assert_eq!((step.lane, step.chosen), (Lane::Psync, Chosen::Fallback));
        assert!(step.fallback_reason.contains("libaio has no requests"), "{step:?}");
        let named = |op| decide(&of(Backend::IoUring, 1, op), DEVICE);
        assert!(named(Op::WriteZeroes).is_ok());
        let error = named(Op::Discard).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.ru.contains("освобождений"), "{error}");
    }

    #[test]
    fn a_target_that_io_uring_would_hand_to_kernel_workers_gets_as_many_plain_calls_at_a_time() {
        let memory = IoFile::create_scratch(Path::new("/dev/shm"), 4096, false).unwrap();
        let choose = |backend, depth| choose_backend(&trial(backend, depth, Sync::None), &memory).unwrap();
        let few = choose(Backend::Auto, 32);
        assert_eq!((few.lane, few.chosen), (Lane::Psync, Chosen::Punts));
        assert_eq!(choose(Backend::Auto, 65).lane, RING, "not with that many threads");
        assert_eq!(choose(Backend::IoUring, 32).lane, RING, "and not if somebody wants to see it");
    }

    #[test]
    fn batches_are_not_made_by_plain_calls() {
        let batched = |backend, sync| {
            let mut trial = trial(backend, 8, sync);
            trial.streams[0].batch.size = 4;
            trial
        };
        let lane = |sync| decide(&batched(Backend::Auto, sync), FILE).unwrap().lane;
        assert_eq!((lane(Sync::None), lane(Sync::Fdatasync(1))), (RING, RING));
        let error = choose_without(&[forbid_io_uring, forbid_aio], &batched(Backend::Auto, Sync::None)).unwrap_err();
        assert!(error.kind == Kind::Preflight && error.message.en.contains("io_uring is forbidden"), "{error}");
    }

    #[test]
    fn the_null_backend_is_never_chosen_only_named() {
        let choice = decide(&trial(Backend::Null, 4, Sync::None), FILE).unwrap();
        assert_eq!((choice.lane, choice.chosen), (Lane::Null, Chosen::Named));
    }
}
