//! The rests of a closed loop. Must not allocate after it was made, or look at a clock.

use std::collections::VecDeque;
use stend_base::Nanos;
use stend_spec::workload::Think;

/// The places of a job that rest. All rest equally long, so those that began first wake first.
#[derive(Debug)]
pub(crate) struct Rests {
    think: Think,
    /// I/Os since its last rest, by place.
    made: Box<[u32]>,
    /// (place, when it wakes, ns).
    resting: VecDeque<(u32, u64)>,
}

impl Rests {
    /// For so many places, none of which rests.
    pub fn new(think: Think, places: u32) -> Rests {
        let resting = VecDeque::with_capacity(places as usize);
        Rests { think, made: vec![0; places as usize].into_boxed_slice(), resting }
    }

    /// Notes that an I/O of a place ended; whether the place rests now and comes back from [`wake`](Self::wake).
    pub fn ended(&mut self, place: u32, now: Nanos) -> bool {
        let made = &mut self.made[place as usize];
        *made += 1;
        if *made < self.think.every {
            return false;
        }
        *made = 0;
        self.resting.push_back((place, now.0.saturating_add(self.think.time.0)));
        true
    }

    /// Frees the places that have rested; when the next one wakes, if any rests on.
    pub fn wake(&mut self, now: Nanos, free: &mut Vec<u32>) -> Option<Nanos> {
        while let Some(&(place, at)) = self.resting.front() {
            if at > now.0 {
                return Some(Nanos(at));
            }
            self.resting.pop_front();
            free.push(place);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_rests_after_so_many_of_its_own_and_wakes_in_order() {
        let mut rests = Rests::new(Think { time: Nanos(100), every: 2 }, 3);
        let mut free = Vec::new();
        assert!(!rests.ended(0, Nanos(5)) && !rests.ended(1, Nanos(6)));
        assert!(rests.ended(0, Nanos(10)) && rests.ended(1, Nanos(30)));
        assert_eq!((rests.wake(Nanos(109), &mut free), free.as_slice()), (Some(Nanos(110)), &[][..]));
        assert_eq!((rests.wake(Nanos(110), &mut free), free.as_slice()), (Some(Nanos(130)), &[0][..]));
        assert!(!rests.ended(0, Nanos(120)), "its count began anew");
        assert_eq!((rests.wake(Nanos(500), &mut free), free.as_slice()), (None, &[0, 1][..]));
    }
}
