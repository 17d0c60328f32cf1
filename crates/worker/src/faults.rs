//! Has the events of a trial happen beside its load, at their times, and undoes each. Must not decide what they are done to.

use crate::outbox::Outbox;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stend_base::{Error, Nanos, Result, Say, say};
use stend_load::{Control, INTERVAL};
use stend_record::{EventKind, FaultMoment};
use stend_spec::fault::Fault;
use stend_stand::Faults;
use stend_sys::clock;

/// How often the time is looked at: events carry the time at which they were done, so this moves none of them.
const TICK: Duration = Duration::from_millis(1);
/// How often arrays are asked whether they are whole again.
const LOOK: Duration = Duration::from_millis(100);

/// When the load began, by the first interval that it told; CLOCK_MONOTONIC ns, 0: not yet.
#[derive(Debug, Default)]
pub(crate) struct Begin(AtomicU64);

impl Begin {
    /// Notes that an interval was reported; the first one ends when the load is as old.
    pub(crate) fn told(&self) {
        if self.0.load(Ordering::Relaxed) == 0 {
            self.0.store(clock::now().saturating_sub(INTERVAL).0.max(1), Ordering::Release);
        }
    }

    fn at(&self) -> Option<Nanos> {
        Some(Nanos(self.0.load(Ordering::Acquire))).filter(|at| at.0 > 0)
    }
}

/// What happens when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    /// From the begin of the window.
    at: Nanos,
    fault: usize,
    ends: bool,
}

/// Begins and ends of events, in the order of time.
fn schedule(faults: &[Fault]) -> Vec<Due> {
    let begins = faults.iter().zip(0..).map(|(fault, index)| Due { at: fault.at, fault: index, ends: false });
    let ends = faults.iter().zip(0..).filter_map(|(fault, index)| {
        Some(Due { at: Nanos(fault.at.0.saturating_add(fault.lasts?.0)), fault: index, ends: true })
    });
    let mut all: Vec<Due> = begins.chain(ends).collect();
    all.sort_unstable();
    all
}

/// Tells what happens in one trial.
struct FaultReporter<'a> {
    outbox: &'a Outbox,
    trial: u32,
    /// An array was not whole since arrays were last told to be.
    broken: AtomicBool,
}

impl FaultReporter<'_> {
    fn tell(&self, fault: usize, moment: FaultMoment, what: Say) {
        self.outbox.event(EventKind::Fault { trial: self.trial, fault: fault as u32, moment, what });
    }

    fn begin(&self, faults: &mut Faults, index: usize, ended: &dyn Fn() -> bool) -> Result<()> {
        self.tell(index, FaultMoment::Begins, faults.say(index));
        faults.begin(index, ended, &mut |kind| self.outbox.event(kind))?;
        self.tell(index, FaultMoment::Done, faults.say_done(index));
        if faults.copies(index) {
            // The copy of little data is complete before anybody looks.
            self.broken.store(true, Ordering::Relaxed);
        }
        self.tell_whole(faults);
        Ok(())
    }

    /// Tells, once, that arrays which were not whole are so again.
    fn tell_whole(&self, faults: &Faults) {
        match (faults.is_whole(), self.broken.load(Ordering::Relaxed)) {
            (false, _) => self.broken.store(true, Ordering::Relaxed),
            (true, true) if !faults.hides() => {
                self.broken.store(false, Ordering::Relaxed);
                self.tell(0, FaultMoment::Whole, say!("arrays are whole", "массивы целы"));
            }
            (true, _) => {}
        }
    }

    fn end(&self, faults: &mut Faults, index: usize) -> Result<()> {
        self.tell(index, FaultMoment::Ends, faults.say_undone(index));
        faults.end(index, &mut |kind| self.outbox.event(kind))?;
        self.tell(index, FaultMoment::Undone, faults.say_undone(index));
        // What is put back by a rebuild lacks redundancy from now on.
        self.tell_whole(faults);
        Ok(())
    }
}

/// Runs `load` with the events of its trial beside it. Afterwards what is left of them is undone, and arrays have their redundancy
/// again, unless the run was stopped. The error of an event counts more than what the load says: it was not the trial that was asked
/// for.
pub(crate) fn beside<T: Send>(
    mut faults: Faults,
    (events, ramp, trial): (&[Fault], Nanos, u32),
    (control, outbox): (&Control, &Outbox),
    load: impl FnOnce(&Begin) -> Result<T>,
) -> Result<T> {
    let (begin, over) = (Begin::default(), AtomicBool::new(false));
    let reporter = FaultReporter { outbox, trial, broken: AtomicBool::new(false) };
    let happened = std::thread::scope(|scope| {
        let work = || happen(&mut faults, &schedule(events), ramp, &reporter, (&begin, &over, control));
        let thread = std::thread::Builder::new().name("events".into()).spawn_scoped(scope, work);
        let result = thread.is_ok().then(|| load(&begin));
        over.store(true, Ordering::Release);
        let happened = thread.map(|thread| thread.join());
        (result, happened)
    });
    let mut failed = None;
    reporter.tell_whole(&faults);
    let finished = faults.finish(&|| control.stopped(), &mut |kind| outbox.event(kind));
    failed = failed.or(finished.err());
    reporter.tell_whole(&faults);
    for index in faults.open() {
        failed = match (failed, reporter.end(&mut faults, index).err()) {
            // The last one knows all that is left to a person.
            (Some(first), Some(last)) => Some(Box::new(Error { hint: last.hint, ..*first })),
            (first, last) => first.or(last),
        };
    }
    let settled = faults.settle(&|| control.stopped(), &mut |kind| outbox.event(kind));
    failed = failed.or(settled.err());
    reporter.tell_whole(&faults);
    match happened {
        (Some(result), Ok(Ok(Ok(())))) if failed.is_none() => result,
        (_, Ok(Ok(Err(error)))) => Err(error),
        (_, Ok(Ok(Ok(())))) => Err(failed.unwrap_or_else(no_thread)),
        (_, Ok(Err(_)) | Err(_)) => Err(no_thread()),
    }
}

fn no_thread() -> Box<Error> {
    Error::bug(say!("the thread of the events ended early", "поток событий завершился раньше времени"))
}

/// Waits for each moment and does what is due, until the load is over.
fn happen(
    faults: &mut Faults,
    schedule: &[Due],
    ramp: Nanos,
    reporter: &FaultReporter,
    (begin, over, control): (&Begin, &AtomicBool, &Control),
) -> Result<()> {
    let ended = || over.load(Ordering::Acquire) || control.stopped();
    let mut looked = Instant::now();
    let mut wait_for = |due: Option<&Due>, faults: &Faults| {
        loop {
            if ended() {
                return false;
            }
            if due.is_some_and(|due| begin.at().is_some_and(|at| clock::now() >= at + ramp + due.at)) {
                return true;
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                reporter.tell_whole(faults);
            }
            std::thread::sleep(TICK);
        }
    };
    for due in schedule {
        if !wait_for(Some(due), faults) {
            return Ok(());
        }
        match due.ends {
            true => reporter.end(faults, due.fault)?,
            false => match reporter.begin(faults, due.fault, &ended) {
                // The run was stopped: nothing has to come of it any more.
                Err(_) if control.stopped() => return Ok(()),
                done => done?,
            },
        }
    }
    // A rebuild may end within the window.
    wait_for(None, faults);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_spec::fault::{Act, Which};

    #[test]
    fn begins_and_ends_come_in_the_order_of_time() {
        let fault = |at, lasts: Option<u64>| Fault {
            at: Nanos::secs(at),
            lasts: lasts.map(Nanos::secs),
            act: Act::DriveFail(Which::Number(1)),
        };
        let due: Vec<(u64, usize, bool)> = schedule(&[fault(5, Some(10)), fault(7, None), fault(9, Some(1))])
            .into_iter()
            .map(|due| (due.at.0 / 1_000_000_000, due.fault, due.ends))
            .collect();
        assert_eq!(due, [(5, 0, false), (7, 1, false), (9, 2, false), (10, 2, true), (15, 0, true)]);
    }
}
