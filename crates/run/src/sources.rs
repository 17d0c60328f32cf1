//! Values that are read beside a run where no worker can run: their answers on the way to the run file. Must not ask for them, or end a run.

use std::sync::mpsc::{Receiver, Sender};
use stend_base::Nanos;
use stend_record::{Entry, Event, EventKind, SourceAnswer, SourceInfo};

/// An answer on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHeard {
    /// Name of the source.
    pub source: String,
    /// When it was asked for, CLOCK_MONOTONIC of the coordinator.
    pub asked: Nanos,
    /// How long it took, or was waited, ns.
    pub took_ns: u64,
    /// What came.
    pub answer: SourceAnswer,
}

/// Sources that are asked while this lives.
pub struct Sources {
    infos: Vec<SourceInfo>,
    from: Receiver<SourceHeard>,
    /// Asking ends when these are gone.
    _asking: Vec<Sender<()>>,
}

impl Sources {
    /// These, whose answers come here. Each of `asking` is dropped when the run is over: then nothing more is asked.
    pub fn new(infos: Vec<SourceInfo>, from: Receiver<SourceHeard>, asking: Vec<Sender<()>>) -> Sources {
        Sources { infos, from, _asking: asking }
    }

    /// What is new for the run file at `now`: which sources there are, once, and what they have answered.
    pub(crate) fn heard(&mut self, now: Nanos) -> Vec<Entry> {
        let declared = std::mem::take(&mut self.infos).into_iter();
        let declared = declared.map(|info| Event::new(now, EventKind::Source(Box::new(info))));
        let read = |SourceHeard { source, asked, took_ns, answer }| {
            Event::new(asked, EventKind::SourceRead { source, took_ns, answer })
        };
        declared.chain(self.from.try_iter().map(read)).map(Entry::Event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn sources_are_declared_once_and_answers_keep_the_time_of_their_question() {
        let ((to, from), (asking, asked)) = (channel(), channel());
        let info = SourceInfo { name: "array1".into(), ..SourceInfo::default() };
        let mut sources = Sources::new(vec![info.clone()], from, vec![asking]);
        let heard =
            |at| SourceHeard { source: "array1".into(), asked: Nanos(at), took_ns: 2, answer: SourceAnswer::Late };
        to.send(heard(3)).unwrap();
        let event = |at, kind| Entry::Event(Event::new(Nanos(at), kind));
        let late =
            |at| event(at, EventKind::SourceRead { source: "array1".into(), took_ns: 2, answer: SourceAnswer::Late });
        assert_eq!(sources.heard(Nanos(5)), [event(5, EventKind::Source(Box::new(info))), late(3)]);
        to.send(heard(6)).unwrap();
        assert_eq!(sources.heard(Nanos(9)), [late(6)]);
        drop(sources);
        assert!(asked.recv().is_err(), "those who ask hear that it is over");
    }
}
