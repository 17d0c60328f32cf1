//! A simulated host with the drives: watched beside the one that is measured, its messages on a way of their own, so that those of both
//! hosts arrive in any order. Decides nothing.

use super::cable::Cable;
use crate::observed::ObservedHost;
use std::collections::VecDeque;
use stend_base::Nanos;
use stend_base::random::Random;
use stend_record::{HostFacts, HostId, Parts, Role, Sample};
use stend_wire::protocol::write_frame;
use stend_wire::{Reply, Request};

/// Time between its samples.
const EVERY: Nanos = crate::ahead::SAMPLE_EVERY;

/// Its worker, and what is on its way.
pub struct Observer {
    cable: Cable,
    random: Random,
    delay: Nanos,
    /// When its stream ends by itself.
    dies: Option<Nanos>,
    next: Nanos,
    coming: VecDeque<(Nanos, Sample)>,
    told: u64,
    /// Samples that arrived, in order.
    pub said: Vec<Sample>,
}

impl Observer {
    /// One that is watched from now on, and what a run needs of it.
    pub fn new(seed: u64, delay: Nanos, now: Nanos) -> (Observer, ObservedHost) {
        let (cable, host) = Cable::new();
        let facts = Box::new(HostFacts { hostname: "array".into(), ..HostFacts::default() });
        cable.put(&frame(&Reply::Watched { host: facts, ports: Vec::new(), targets: Vec::new() }));
        let mut array = ObservedHost::new(HostId::STORAGE, Role::Storage, "array", Vec::new());
        array.watch(Ok(host), None).expect("a host that is watched");
        let mut random = Random::new(seed);
        let dies = (random.below(4) == 0).then(|| now + Nanos(random.below(Nanos::secs(20).0)));
        let (coming, said) = (VecDeque::new(), Vec::new());
        (Observer { cable, random, delay, dies, next: now + EVERY, coming, told: 0, said }, array)
    }

    /// When it next does something.
    pub fn due(&self) -> Nanos {
        let coming = self.coming.front().map(|(at, _)| *at);
        coming.into_iter().chain(self.dies).fold(self.next, Nanos::min)
    }

    /// Does it.
    pub fn act(&mut self, now: Nanos) {
        if self.dies.take_if(|at| *at <= now).is_some() {
            self.coming.clear();
            self.next = Nanos(u64::MAX);
            return self.cable.cut();
        }
        if self.next <= now {
            self.send(now, false);
            self.next = now + EVERY;
        }
        while let Some((_, sample)) = self.coming.pop_front_if(|(at, _)| *at <= now) {
            self.arrive(sample);
        }
    }

    /// Answers what it was asked.
    pub fn hear(&mut self, now: Nanos) {
        let marks = self.cable.asked().into_iter().filter(|request| *request == Request::Mark);
        marks.for_each(|_| self.send(now, true));
    }

    /// All that is on its way arrives while the run waits for the last of it.
    pub fn arrive_all(&mut self) {
        while let Some((_, sample)) = self.coming.pop_front() {
            self.arrive(sample);
        }
    }

    fn send(&mut self, now: Nanos, all: bool) {
        if self.next == Nanos(u64::MAX) {
            return;
        }
        self.told += 1;
        let parts = all.then(|| Box::new(Parts::default()));
        let at = now + Nanos(self.random.below(self.delay.0 + 1));
        let at = self.coming.back().map_or(at, |(front, _)| at.max(*front));
        self.coming.push_back((at, Sample { at: now, cost_ns: self.told, parts, ..Sample::default() }));
    }

    fn arrive(&mut self, sample: Sample) {
        self.cable.say(&frame(&Reply::Sample(Box::new(sample.clone()))));
        self.said.push(sample);
    }
}

fn frame(reply: &Reply) -> Vec<u8> {
    let mut frame = Vec::new();
    write_frame(&mut frame, reply).expect("a frame");
    frame
}
