//! What workers of tests answer: facts of a directory, and trials that ended. Made up, and the same every time.

use stend_base::{Bytes, Nanos};
use stend_record::{HostFacts, TargetFacts, TargetKind, TrialOutcome, TrialStatus, WriteAccess};
use stend_wire::Facts;

/// A directory with room.
pub(crate) fn target() -> TargetFacts {
    TargetFacts {
        size: Bytes::gib(100),
        free: Bytes::gib(50),
        ..TargetFacts::new("/t", TargetKind::Directory, WriteAccess::OwnDirectory)
    }
}

/// What a worker knows of it.
pub(crate) fn facts() -> Facts {
    let (host, ports) = (HostFacts::default(), vec!["eth0".to_string()]);
    Facts { host, ports, targets: vec![target()], writes: Ok(()), shares_drive: true }
}

/// A trial that ended so and saw no I/O.
pub(crate) fn outcome(status: TrialStatus) -> TrialOutcome {
    TrialOutcome { status, ..TrialOutcome::empty(Nanos(0), (Nanos(0), Nanos(1))) }
}
