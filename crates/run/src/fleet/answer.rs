//! Whether what one of several load hosts says can be an answer to what all were asked. What cannot is the fault of that host alone. Pure.

use stend_record::{Event, EventKind, TrialOutcome};
use stend_spec::workload::Trial;
use stend_wire::{Reply, Request};

/// A message that the host was not asked for, as the run file has it.
pub(super) const OUT_OF_TURN: &str = "it answered what it was not asked";
const OTHER_STREAM: &str = "it reported a stream that the trial does not have";
const LONGER_WINDOW: &str = "it reported a longer measuring window than that of the trial";
const EVENT_OF_OURS: &str = "it reported an event that only the coordinator can see";

/// Whether this answer ends what was asked for.
pub(super) fn ends(asked: &Request, reply: &Reply) -> bool {
    match (asked, reply) {
        (Request::Trial { ordinal: asked, .. }, Reply::TrialDone { ordinal, .. }) => asked == ordinal,
        (Request::Inspect(_), Reply::Facts(_))
        | (Request::Stand(_), Reply::Stand(_))
        | (Request::Judge(_), Reply::Judged(_))
        | (Request::Prepare(_), Reply::Prepared)
        | (Request::Trace { .. } | Request::Foresee(_), Reply::Taken)
        | (Request::Calibrate { .. }, Reply::Calibrated)
        | (Request::Fill { .. }, Reply::Filled(_))
        | (Request::Switch(_), Reply::Switched(_))
        | (Request::SampleZeros { .. }, Reply::Zeros(_)) => true,
        _ => false,
    }
}

/// What of a message cannot be true, or is not for a host to say, where `trial` was asked for last; `None`: nothing.
pub(super) fn oddity(trial: Option<&Trial>, reply: &Reply) -> Option<&'static str> {
    let streams = trial.map_or(usize::MAX, |trial| trial.streams.len());
    let is_other = |stream: u16| usize::from(stream) >= streams;
    match reply {
        Reply::Slices { slices, .. } => slices.iter().any(|slice| is_other(slice.stream)).then_some(OTHER_STREAM),
        Reply::Log { chunk, .. } => is_other(chunk.stream).then_some(OTHER_STREAM),
        Reply::TrialDone { outcome, .. } if streams_of(outcome).any(is_other) => Some(OTHER_STREAM),
        Reply::TrialDone { outcome, .. } => {
            // An engine ends its window when that was planned, or earlier.
            let window = outcome.window_end.saturating_sub(outcome.window_start);
            trial.is_some_and(|trial| window > trial.window).then_some(LONGER_WINDOW)
        }
        Reply::Event(Event { kind, .. }) => is_of_coordinator(kind).then_some(EVENT_OF_OURS),
        _ => None,
    }
}

fn streams_of(outcome: &TrialOutcome) -> impl Iterator<Item = u16> {
    let jobs = outcome.jobs.iter().map(|job| job.stream);
    let drained = outcome.drained.iter().map(|drained| drained.stream);
    let censored = outcome.censored.iter().map(|censored| censored.stream);
    let open = outcome.open.iter().map(|open| open.stream);
    let errors = outcome.errors.iter().map(|errors| errors.stream);
    jobs.chain(drained).chain(censored).chain(open).chain(errors)
}

/// Events by which readers divide a run into sessions and know its hosts: from one host they would change what the others measured.
fn is_of_coordinator(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Phase(_)
            | EventKind::StopRequested
            | EventKind::Resumed { .. }
            | EventKind::HostClock { .. }
            | EventKind::HostLost { .. }
            | EventKind::Arm { .. }
            | EventKind::Back(_)
            | EventKind::NoSpool { .. }
            | EventKind::RunFileFull { .. }
            | EventKind::Unwatched { .. }
            | EventKind::Source(_)
            | EventKind::SourceRead { .. }
    )
}
