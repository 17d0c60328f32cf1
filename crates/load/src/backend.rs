//! Chooses how I/O is submitted, by trying. Must not choose silently: the reason travels with the choice.

use stend_base::{Error, Kind, Result, say};
use stend_spec::workload::Backend;
use stend_sys::uring::Ring;

/// A way of submitting I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// One ring per job.
    IoUring,
    /// `pread` and `pwrite`, one thread per I/O in flight.
    Psync,
}

/// The chosen way and why it is not the first choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The way.
    pub lane: Lane,
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

/// Finds the lane for what was asked. `Auto` takes io_uring if a no-op gets through it, else psync;
/// `IoUring` where that fails is an error of kind `Preflight`.
pub fn choose_backend(asked: Backend) -> Result<Choice> {
    if asked == Backend::Psync {
        return Ok(Choice { lane: Lane::Psync, fallback_reason: String::new() });
    }
    match (Ring::probe(), asked) {
        (Ok(()), _) => Ok(Choice { lane: Lane::IoUring, fallback_reason: String::new() }),
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
        (Err(reason), _) => Ok(Choice { lane: Lane::Psync, fallback_reason: reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_io_uring_auto_falls_back_with_a_reason_and_io_uring_is_an_error() {
        std::thread::spawn(|| {
            stend_sys::seccomp::forbid_io_uring().unwrap();
            let choice = choose_backend(Backend::Auto).unwrap();
            assert_eq!(choice.lane, Lane::Psync);
            assert!(choice.fallback_reason.contains("io_uring"), "{choice:?}");
            let error = choose_backend(Backend::IoUring).unwrap_err();
            assert_eq!(error.kind, Kind::Preflight);
            assert!(error.hint.is_some());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn psync_asked_for_needs_no_excuse() {
        let choice = choose_backend(Backend::Psync).unwrap();
        assert_eq!((choice.lane, choice.fallback_reason.as_str()), (Lane::Psync, ""));
    }
}
