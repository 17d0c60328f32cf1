//! The thread that reads telemetry while the target is prepared. It never touches the load's state.

use crate::outbox::Outbox;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use stend_base::{Error, Nanos, Result, say};
use stend_probe::Probe;
use stend_record::{Sample, TargetFacts};
use stend_wire::protocol::Reply;

/// Reads samples at a fixed pace until dropped, and on demand at the edges of trials.
pub struct Telemetry {
    probe: Arc<Mutex<Probe>>,
    outbox: Outbox,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Starts reading for what lies below the targets; `coordinator` is the process whose cost is reported too.
    pub fn start(targets: &[TargetFacts], coordinator: u32, every: Nanos, outbox: &Outbox) -> Result<Telemetry> {
        let devices = stend_record::targets::devices(targets).into_iter().map(|d| d.name.clone()).collect();
        let root = std::path::Path::new("/");
        let probe = Probe::new(root, devices, std::process::id(), (coordinator > 0).then_some(coordinator));
        let mut telemetry = Telemetry {
            probe: Arc::new(Mutex::new(probe)),
            outbox: outbox.clone(),
            stopped: Arc::new(AtomicBool::new(false)),
            thread: None,
        };
        let (probe, outbox, stopped) = (telemetry.probe.clone(), telemetry.outbox.clone(), telemetry.stopped.clone());
        let thread = std::thread::Builder::new().name("telemetry".into()).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                read(&probe, &outbox, Probe::read);
                std::thread::park_timeout(every.duration());
            }
        });
        telemetry.thread = Some(thread.map_err(|e| {
            Error::preflight(say!("cannot start telemetry: {e}", "не удалось запустить телеметрию: {e}"))
        })?);
        Ok(telemetry)
    }

    /// Reads one sample with everything now, so that the counters of a trial are bracketed exactly.
    pub fn mark(&self) {
        read(&self.probe, &self.outbox, Probe::read_at_edge);
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread has already been reported on stderr; there is nothing to save.
            drop(thread.join());
        }
    }
}

fn read(probe: &Mutex<Probe>, outbox: &Outbox, take: fn(&mut Probe, Nanos) -> Sample) {
    // The lock also orders the samples: none may reach the coordinator before an earlier one.
    let mut probe = probe.lock().unwrap_or_else(PoisonError::into_inner);
    let sample = take(&mut probe, stend_sys::clock::now());
    outbox.send(Reply::Sample(Box::new(sample)));
}
