//! From single probes to what is recorded of them. Pure.

use std::collections::BTreeMap;
use stend_base::{Bytes, Histogram, Nanos};
use stend_record::probes::{Probes, Silence};

/// One probe. All times are CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    /// When it should have begun.
    pub due: Nanos,
    /// When it began.
    pub begun: Nanos,
    /// When it ended, if it has, and how: an error number, 0 for a short transfer.
    pub ended: Option<(Nanos, Result<(), i32>)>,
}

impl Probe {
    fn answered(&self) -> Option<Nanos> {
        self.ended.filter(|(_, answer)| answer.is_ok()).map(|(at, _)| at)
    }
}

/// What was seen of a trial's probes.
pub(super) struct Seen<'a> {
    /// Those that began.
    pub log: &'a [Probe],
    /// Bytes of each.
    pub block: Bytes,
    /// Begin and end of the measuring window.
    pub window: (Nanos, Nanos),
    /// Until when was looked.
    pub until: Nanos,
}

impl Seen<'_> {
    /// What is recorded, with the times when those were due that never began.
    pub fn probes(&self, never_begun: impl Iterator<Item = Nanos> + Clone) -> Probes {
        let (from, to) = self.window;
        let counts = |due: Nanos| (from..to).contains(&due);
        let (mut response, mut service, mut unanswered) = (Histogram::new(), Histogram::new(), Histogram::new());
        let mut errors = BTreeMap::new();
        for probe in self.log.iter().filter(|probe| counts(probe.due)) {
            match probe.ended {
                Some((at, Ok(()))) => {
                    response.record(at.saturating_sub(probe.due));
                    service.record(at.saturating_sub(probe.begun));
                }
                Some((_, Err(errno))) => *errors.entry(errno).or_insert(0) += 1,
                None => unanswered.record(self.until.saturating_sub(probe.due)),
            }
        }
        never_begun
            .clone()
            .filter(|due| counts(*due))
            .for_each(|due| unanswered.record(self.until.saturating_sub(due)));
        let inside = self.log.iter().filter_map(Probe::answered).filter(|at| (from..to).contains(at)).count();
        Probes {
            response: response.sparse(),
            service: service.sparse(),
            unanswered: unanswered.sparse(),
            errors: errors.into_iter().collect(),
            longest: self.longest(never_begun),
            bytes: inside as u64 * self.block.0,
            begun: self.log.len() as u64,
            lasted: Nanos(0),
            cpu_ns: None,
            cpus: Vec::new(),
        }
    }

    /// The longest silence. One that began before the window counts from its begin; one that goes on behind it to its end.
    fn longest(&self, mut never_begun: impl Iterator<Item = Nanos>) -> Option<Silence> {
        let (from, to) = self.window;
        let mut answers: Vec<Nanos> = self.log.iter().filter_map(Probe::answered).collect();
        answers.sort_unstable();
        let first = self.log.iter().map(|probe| probe.due).min();
        // Before the first probe there was nothing to answer.
        let mut since = first.map_or(from, |first| first.max(from));
        let mut longest: Option<Silence> = None;
        let mut note = |silence: Silence| {
            if longest.is_none_or(|longest| longest.length() < silence.length()) {
                longest = Some(silence);
            }
        };
        for &at in answers.iter().filter(|at| **at >= from) {
            if since >= to {
                break;
            }
            note(Silence { since, until: at.max(since), ended: true });
            since = at;
        }
        // Failed ones, too: an error is no answer.
        let open = |probe: &Probe| probe.ended.is_none_or(|(at, answer)| answer.is_err() && at > since);
        let waiting = self.log.iter().any(|p| p.due < to && open(p)) || never_begun.any(|due| due < to);
        if since < to && waiting {
            note(Silence { since, until: self.until.max(since), ended: false });
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: (Nanos, Nanos) = (Nanos::millis(100), Nanos::millis(1000));

    /// A probe due at a time that began 1 ms later and was answered at another, all in ms.
    fn probe(due: u64, answered: Option<u64>) -> Probe {
        let ended = answered.map(|at| (Nanos::millis(at), Ok(())));
        Probe { due: Nanos::millis(due), begun: Nanos::millis(due + 1), ended }
    }

    fn probes(log: &[Probe], never_begun: &[u64], until: u64) -> Probes {
        let seen = Seen { log, block: Bytes::kib(4), window: WINDOW, until: Nanos::millis(until) };
        seen.probes(never_begun.iter().map(|due| Nanos::millis(*due)))
    }

    /// (since, until, ended), ms.
    fn longest(probes: &Probes) -> Option<(u64, u64, bool)> {
        probes.longest.map(|s| (s.since.0 / 1_000_000, s.until.0 / 1_000_000, s.ended))
    }

    #[test]
    fn probes_count_by_when_they_were_due_and_bytes_by_when_they_ended() {
        let log = [probe(50, Some(120)), probe(100, Some(105)), probe(900, Some(1100)), probe(1000, Some(1001))];
        let found = probes(&log, &[], 1200);
        assert_eq!((found.response.count(), found.service.count(), found.begun, found.bytes), (2, 2, 4, 8192));
        let (response, service) = (found.response.dense().max().unwrap(), found.service.dense().max().unwrap());
        assert_eq!((response, service), (Nanos::millis(200), Nanos::millis(199)));
    }

    #[test]
    fn the_longest_silence_lies_between_answers_whoever_they_answered() {
        let steady: Vec<Probe> = (0..12).map(|i| probe(i * 100, Some(i * 100 + 5))).collect();
        assert_eq!(longest(&probes(&steady, &[], 1200)), Some((105, 205, true)));
        let stalled: Vec<Probe> =
            (0..12).map(|i| probe(i * 100, Some(if (3..7).contains(&i) { 640 } else { i * 100 + 5 }))).collect();
        assert_eq!(longest(&probes(&stalled, &[], 1200)), Some((205, 640, true)));
    }

    #[test]
    fn a_silence_is_cut_at_the_begin_of_the_window_and_followed_behind_its_end() {
        let early = [
            probe(0, Some(2)),
            probe(50, Some(400)),
            probe(450, Some(700)),
            probe(950, Some(960)),
            probe(1050, Some(1051)),
        ];
        assert_eq!(longest(&probes(&early, &[], 1200)), Some((100, 400, true)));
        let late = [probe(800, Some(801)), probe(900, Some(2500)), probe(2600, Some(9000))];
        assert_eq!(longest(&probes(&late, &[], 9100)), Some((801, 2500, true)));
    }

    #[test]
    fn what_is_never_answered_or_never_begins_is_told_with_its_age() {
        let log = [probe(100, Some(101)), probe(200, None)];
        let found = probes(&log, &[300, 999, 1000], 5000);
        assert_eq!((found.response.count(), found.unanswered.count()), (1, 3));
        assert_eq!(found.unanswered.dense().max(), Some(Nanos::millis(4800)));
        assert_eq!(longest(&found), Some((101, 5000, false)));
        assert_eq!(longest(&probes(&[], &[150], 3000)), Some((100, 3000, false)));
        assert_eq!(longest(&probes(&[], &[], 3000)), None, "nobody asked");
    }

    #[test]
    fn failed_probes_are_no_answers_and_have_their_number() {
        let failed = |due| Probe { ended: Some((Nanos::millis(due + 2), Err(5))), ..probe(due, None) };
        let log = [probe(100, Some(101)), failed(200), failed(300), probe(400, Some(401))];
        let found = probes(&log, &[], 1200);
        assert_eq!((found.errors.as_slice(), found.response.count(), found.unanswered.count()), (&[(5, 2)][..], 2, 0));
        assert_eq!(longest(&found), Some((101, 401, true)));
        assert_eq!(
            longest(&probes(&log[..3], &[], 1200)),
            Some((101, 1200, false)),
            "nothing but errors from there on"
        );
    }
}
