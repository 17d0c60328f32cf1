//! From the clock of samples to wall-clock time. Must not read a clock.

use crate::event::{Event, EventKind};
use crate::run::RunRecord;
use stend_base::Nanos;

/// What is added to a time of the host to get ns since 1970. That changes in a recording when its host slept or its clock was set, because
/// CLOCK_MONOTONIC does neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WallClock {
    /// At the begin, ns.
    begin_ns: i64,
    /// From so late on, ascending, ns.
    changes: Vec<(Nanos, i64)>,
}

impl WallClock {
    /// One that has been ahead by so many ns, until an event says otherwise.
    pub fn ahead_by(begin_ns: i64) -> WallClock {
        WallClock { begin_ns, changes: Vec::new() }
    }

    /// That of a run or recording.
    pub fn of(run: &RunRecord) -> WallClock {
        let mut clock = WallClock::ahead_by(run.header.realtime_offset_ns);
        run.events.iter().for_each(|event| clock.note(event));
        clock
    }

    /// Takes note of an event: those about the wall clock count.
    pub fn note(&mut self, event: &Event) {
        if let EventKind::WallClock { ahead_ns } = event.kind {
            let place = self.changes.partition_point(|(at, _)| *at <= event.at);
            self.changes.insert(place, (event.at, ahead_ns));
        }
    }

    /// Wall-clock time minus the clock of samples at a time of the latter, ns.
    pub fn ahead_ns(&self, at: Nanos) -> i64 {
        let later = self.changes.partition_point(|(since, _)| *since <= at);
        later.checked_sub(1).map_or(self.begin_ns, |last| self.changes[last].1)
    }

    /// A time of the host in ns since 1970.
    pub fn unix_ns(&self, at: Nanos) -> i64 {
        self.ahead_ns(at).saturating_add_unsigned(at.0)
    }

    /// A time of the host in whole seconds since 1970, rounded down.
    pub fn unix_s(&self, at: Nanos) -> i64 {
        self.unix_ns(at).div_euclid(1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_has_the_difference_of_its_stretch_whatever_the_order_of_the_events() {
        let mut clock = WallClock::ahead_by(1_000);
        let set = |at, ahead_ns| Event::new(Nanos(at), EventKind::WallClock { ahead_ns });
        for event in [set(50, 500), set(20, 9_000), Event::new(Nanos(30), EventKind::StopRequested)] {
            clock.note(&event);
        }
        let times = [0, 19, 20, 49, 50, 70].map(|at| clock.unix_ns(Nanos(at)));
        assert_eq!(times, [1_000, 1_019, 9_020, 9_049, 550, 570]);
        assert_eq!(WallClock::ahead_by(-1).unix_s(Nanos(0)), -1, "before 1970 it is rounded down, too");
    }
}
