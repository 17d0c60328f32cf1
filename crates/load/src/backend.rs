//! Chooses how I/O is submitted, by trying. Must not choose silently: the reason travels with the choice.

use stend_base::{Error, Kind, Result, say};
use stend_record::Chosen;
use stend_spec::workload::{Backend, Sync, Trial};
use stend_sys::uring::Ring;

/// A way of submitting I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// One ring per job.
    IoUring,
    /// `pread` and `pwrite`, one thread per I/O in flight.
    Psync,
}

/// Most threads that `Auto` starts to make syncs by plain calls; more would measure the scheduler.
const SYNC_THREADS_MAX: u64 = 64;

/// The chosen way and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The way.
    pub lane: Lane,
    /// Why this one.
    pub chosen: Chosen,
    /// Why not io_uring, in English; empty if it is, or if nobody asked for it.
    pub fallback_reason: String,
}

impl Lane {
    /// Name in the run file.
    pub fn name(self) -> &'static str {
        match self {
            Lane::IoUring => "io_uring",
            Lane::Psync => "psync",
        }
    }
}

/// Finds the lane for a trial.
///
/// `Auto` takes io_uring if a no-op gets through it, else psync. A trial that syncs takes psync at once,
/// with one thread per I/O in flight, so that the experiment is the same: io_uring never syncs inline but
/// hands each sync to a kernel worker thread, and the hand-over would be measured as the target's.
/// `IoUring` where io_uring does not work is an error of kind `Preflight`.
pub fn choose_backend(trial: &Trial) -> Result<Choice> {
    let choice = |lane, chosen| Ok(Choice { lane, chosen, fallback_reason: String::new() });
    if trial.backend == Backend::Psync {
        return choice(Lane::Psync, Chosen::Named);
    }
    let syncs = trial.streams.iter().any(|s| s.sync != Sync::None);
    if trial.backend == Backend::Auto && syncs && trial.in_flight() <= SYNC_THREADS_MAX {
        return choice(Lane::Psync, Chosen::Syncs);
    }
    match (Ring::probe(), trial.backend) {
        (Ok(()), Backend::Auto) => choice(Lane::IoUring, Chosen::Works),
        (Ok(()), _) => choice(Lane::IoUring, Chosen::Named),
        (Err(reason), Backend::IoUring) => Err(Error::new(
            Kind::Preflight,
            say!(
                "cannot submit I/O through io_uring: {reason}",
                "не удаётся подавать ввод-вывод через io_uring: {reason}"
            ),
        )
        .hint(say!(
            "allow io_uring here, or ask for `backend: auto` or `backend: psync`",
            "разрешите io_uring или укажите `backend: auto` либо `backend: psync`"
        ))),
        (Err(reason), _) => Ok(Choice { lane: Lane::Psync, chosen: Chosen::Fallback, fallback_reason: reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Bytes, Nanos};
    use stend_spec::workload::{Mix, Pattern, Region, Stream};

    fn trial(backend: Backend, queue_depth: u32, sync: Sync) -> Trial {
        let stream = Stream {
            mix: Mix { read_percent: 0 },
            pattern: Pattern::Random,
            block_size: Bytes::kib(4),
            queue_depth,
            jobs: 1,
            sync,
        };
        Trial {
            streams: vec![stream],
            ramp: Nanos(0),
            window: Nanos::SECOND,
            drain_limit: Nanos::SECOND,
            seed: 1,
            direct: true,
            backend,
            region: Region { start: Bytes(0), len: Bytes::mib(1) },
        }
    }

    #[test]
    fn without_io_uring_auto_falls_back_with_a_reason_and_io_uring_is_an_error() {
        std::thread::spawn(|| {
            stend_sys::seccomp::forbid_io_uring().unwrap();
            let choice = choose_backend(&trial(Backend::Auto, 1, Sync::None)).unwrap();
            assert_eq!(choice.lane, Lane::Psync);
            assert!(choice.fallback_reason.contains("io_uring"), "{choice:?}");
            let error = choose_backend(&trial(Backend::IoUring, 1, Sync::None)).unwrap_err();
            assert_eq!(error.kind, Kind::Preflight);
            assert!(error.hint.is_some());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn psync_asked_for_needs_no_excuse() {
        let choice = choose_backend(&trial(Backend::Psync, 1, Sync::None)).unwrap();
        assert_eq!((choice.lane, choice.fallback_reason.as_str()), (Lane::Psync, ""));
    }

    #[test]
    fn syncs_are_made_by_plain_calls_unless_that_takes_too_many_threads() {
        let lane = |depth, sync| choose_backend(&trial(Backend::Auto, depth, sync)).unwrap().lane;
        assert_eq!(lane(1, Sync::Fdatasync(1)), Lane::Psync);
        assert_eq!(lane(1, Sync::None), Lane::IoUring);
        assert_eq!(lane(128, Sync::Fsync(1)), Lane::IoUring);
    }
}
