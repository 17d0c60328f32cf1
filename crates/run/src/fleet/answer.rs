//! Whether what one of several load hosts says can be an answer to what all were asked. What cannot is the fault of that host alone. Pure.

use stend_analyse::intervals::INTERVAL;
use stend_base::{Say, say};
use stend_record::{Event, EventKind, Slice, TrialOutcome};
use stend_spec::workload::Trial;
use stend_wire::{Reply, Request};

/// What is wrong with a message of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oddity {
    /// It was not asked for that.
    OutOfTurn,
    /// The trial does not have such a stream.
    OtherStream,
    /// The trial is not measured for so long.
    LongerWindow,
    /// Intervals of the load, and none is among them: over and over, they would hold the trial.
    NoIntervals,
    /// The load of the trial has ended by then.
    BeyondEnd,
    /// Only the coordinator can see that.
    EventOfOurs,
}

impl Oddity {
    /// As the user reads it.
    pub fn say(self) -> Say {
        match self {
            Oddity::OutOfTurn => {
                say!("it answered what it was not asked", "она ответила на то, о чём её не спрашивали")
            }
            Oddity::OtherStream => say!(
                "it reported a stream that the trial does not have",
                "она сообщила о потоке, которого нет в испытании"
            ),
            Oddity::LongerWindow => say!(
                "it reported a longer measuring window than that of the trial",
                "она сообщила об окне измерения длиннее, чем в испытании"
            ),
            Oddity::NoIntervals => {
                say!("it reported intervals and sent none", "она сообщила об интервалах и не прислала ни одного")
            }
            Oddity::BeyondEnd => say!(
                "it reported an interval behind the end of the trial",
                "она сообщила об интервале после конца испытания"
            ),
            Oddity::EventOfOurs => say!(
                "it reported an event that it cannot see, or that cannot be in a run of several hosts",
                "она сообщила о событии, которое ей не видно или невозможно при нескольких нагружающих машинах"
            ),
        }
    }
}

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
pub(super) fn oddity(trial: Option<&Trial>, reply: &Reply) -> Option<Oddity> {
    let streams = trial.map_or(usize::MAX, |trial| trial.streams.len());
    let is_other = |stream: u16| usize::from(stream) >= streams;
    match reply {
        Reply::Slices { slices, .. } if slices.is_empty() => Some(Oddity::NoIntervals),
        Reply::Slices { slices, .. } if slices.iter().any(|slice| is_other(slice.stream)) => Some(Oddity::OtherStream),
        Reply::Slices { slices, .. } => {
            let is_beyond = |trial: &Trial| slices.iter().any(|slice| end_of(slice) > intervals_of(trial));
            trial.is_some_and(is_beyond).then_some(Oddity::BeyondEnd)
        }
        Reply::Log { chunk, .. } => is_other(chunk.stream).then_some(Oddity::OtherStream),
        Reply::TrialDone { outcome, .. } if streams_of(outcome).any(is_other) => Some(Oddity::OtherStream),
        Reply::TrialDone { outcome, .. } => {
            // An engine ends its window when that was planned, or earlier.
            let window = outcome.window_end.saturating_sub(outcome.window_start);
            trial.is_some_and(|trial| window > trial.window).then_some(Oddity::LongerWindow)
        }
        Reply::Event(Event { kind, .. }) => is_not_of_host(kind).then_some(Oddity::EventOfOurs),
        _ => None,
    }
}

/// The interval behind the last one of a slice.
fn end_of(slice: &Slice) -> u64 {
    u64::from(slice.interval) + u64::from(slice.span.max(1))
}

/// Intervals of the load of a trial, and one more for an I/O that is counted across the end. What is drained later has no slices.
fn intervals_of(trial: &Trial) -> u64 {
    (trial.ramp + trial.window).0.div_ceil(INTERVAL.0) + 1
}

fn streams_of(outcome: &TrialOutcome) -> impl Iterator<Item = u16> {
    let jobs = outcome.jobs.iter().map(|job| job.stream);
    let drained = outcome.drained.iter().map(|drained| drained.stream);
    let censored = outcome.censored.iter().map(|censored| censored.stream);
    let open = outcome.open.iter().map(|open| open.stream);
    let errors = outcome.errors.iter().map(|errors| errors.stream);
    jobs.chain(drained).chain(censored).chain(open).chain(errors)
}

/// Events that a host in a run of several cannot report: from one host they would change what the others measured. By some of them readers
/// divide a run into sessions and know its hosts. Others come of a load that several hosts cannot make (events of a case that a
/// worker does, checks after a crash), or are in recordings alone.
fn is_not_of_host(kind: &EventKind) -> bool {
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
            | EventKind::Fault { .. }
            | EventKind::Crash(_)
            | EventKind::Replaying { .. }
            | EventKind::Devices { .. }
            | EventKind::WallClock { .. }
            | EventKind::Problem(_)
    )
}
