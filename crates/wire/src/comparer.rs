//! Questions for the time of another machine. Their answers come with all else that its worker says, and the listener hands them to `Drift`.
//! Must not read a stream.

use crate::drift::{Clock, Drift};
use crate::protocol::{Request, write_frame};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often the clock of another machine is asked for; the shortest way there and back counts.
pub(crate) const CLOCK_TRIES: u32 = 8;
/// How often it is looked whether a question has its answer.
const ANSWER_POLL: Duration = Duration::from_millis(1);

pub(crate) type ToWorker = Box<dyn Write + Send>;

/// Compares the clock of another machine while its host is held and listened to.
pub struct Comparer {
    to: Weak<Mutex<ToWorker>>,
    drift: Arc<Mutex<Drift>>,
}

impl Comparer {
    pub(crate) fn new(to: &Arc<Mutex<ToWorker>>, drift: Arc<Mutex<Drift>>) -> Comparer {
        Comparer { to: Arc::downgrade(to), drift }
    }

    /// How its clock stands to ours: of several comparisons the one that took the shortest time. `None` where it does not answer within
    /// `limit`.
    pub fn compare(&self, limit: Duration) -> Option<Clock> {
        let deadline = Instant::now() + limit;
        let mut best: Option<Clock> = None;
        for _ in 0..CLOCK_TRIES {
            ask_clock(&*self.to.upgrade()?, Some(&self.drift)).ok()?;
            while !lock(&self.drift).is_answered() {
                if Instant::now() >= deadline {
                    return best;
                }
                std::thread::sleep(ANSWER_POLL);
            }
            let latest = lock(&self.drift).latest();
            best = best.filter(|best| best.uncertainty_ns <= latest.uncertainty_ns).or(Some(latest));
        }
        best
    }
}

/// Asks for the time once. Questions are noted in the order in which they are sent.
pub(crate) fn ask_clock(to: &Mutex<impl Write>, drift: Option<&Mutex<Drift>>) -> io::Result<()> {
    let mut to = lock(to);
    drift.into_iter().for_each(|drift| lock(drift).ask(stend_sys::clock::now()));
    write_frame(&mut *to, &Request::Clock)
}

pub(crate) fn lock<T: ?Sized>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::read_frame;
    use stend_base::Nanos;

    #[test]
    fn a_clock_is_compared_while_the_host_is_listened_to_and_not_beyond_a_limit() {
        let (mut asked, to_worker) = std::io::pipe().unwrap();
        let to: ToWorker = Box::new(to_worker);
        let to = Arc::new(Mutex::new(to));
        let drift = Arc::new(Mutex::new(Drift::new(Nanos(0), Clock { shift_ns: 0, uncertainty_ns: 1 })));
        let comparer = Comparer::new(&to, drift.clone());
        // A worker whose clock is 5 s behind, and what listens to it.
        let answers = std::thread::spawn(move || {
            while let Ok(Some(Request::Clock)) = read_frame(&mut asked) {
                let now = stend_sys::clock::now();
                lock(&drift).answered(Nanos(now.0 - 5_000_000_000), now);
            }
        });
        let clock = comparer.compare(Duration::from_secs(60)).unwrap();
        assert!(clock.shift_ns.abs_diff(5_000_000_000) <= clock.uncertainty_ns, "{clock:?}");
        drop(to);
        assert_eq!(comparer.compare(Duration::from_secs(60)), None, "the host is not held any more");
        answers.join().unwrap();
        let silent: ToWorker = Box::new(std::io::sink());
        let silent = Arc::new(Mutex::new(silent));
        let comparer = Comparer { to: Arc::downgrade(&silent), ..comparer };
        assert_eq!(comparer.compare(Duration::ZERO), None, "it does not answer");
    }
}
