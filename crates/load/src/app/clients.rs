//! Clients of instances: when each begins, and their runs one after the other until they end or are stopped.

use super::TICK;
use super::context::With;
use super::instance::Instance;
use super::programs::Programs;
use super::server::Serving;
use crate::Control;
use crate::child::{Ask, Cut, Ended, PATIENCE, Started};
use std::time::{Duration, Instant};
use stend_base::Nanos;
use stend_spec::app::App;
use stend_spec::workload::Trial;

/// What one client does: when it begins, and its runs.
pub(super) struct Load {
    /// After the start of the load.
    delay: Duration,
    /// Ramp of its own, seconds: all end together.
    pub ramp: u64,
    /// Words of its runs, last first.
    left: Vec<Vec<String>>,
}

/// Clients begin one window after the other within the ramp, so that they do not move in step.
pub(super) fn plan(
    trial: &Trial,
    app: &App,
    instances: &[Instance],
    serving: &[Serving],
    with: &With<'_>,
) -> Vec<Load> {
    let second = Nanos::SECOND.0;
    let (length, ramp) = (app.slo.window.0 / second, trial.ramp.0 / second);
    let (steps, windows) = ((ramp / length.max(1)).max(1), trial.window.0 / app.slo.window.0.max(1));
    let one = |(number, (instance, serving)): (u64, (&Instance, &Serving))| {
        let delay = number % steps * length;
        let ramp = ramp.saturating_sub(delay);
        let seed = stend_base::random::draw(trial.seed, number);
        let mut left = instance.load(serving, seed, (ramp, windows), with);
        left.reverse();
        Load { delay: Duration::from_secs(delay), ramp, left }
    };
    (0..).zip(instances.iter().zip(serving)).map(one).collect()
}

/// A client in the course of its runs.
pub(super) struct Client {
    pub load: Load,
    going: Option<(Started, Vec<String>)>,
    /// Its runs that ended, with their words.
    pub ended: Vec<(Ended, Vec<String>)>,
    /// Why it could not go on; empty if it could.
    pub failed: String,
}

/// Runs all clients to their ends, or until the user stops or time is up.
pub(super) fn run(
    instances: &[Instance],
    programs: &Programs,
    loads: Vec<Load>,
    limit: Duration,
    control: &Control,
) -> Vec<Client> {
    let client = |load| Client { load, going: None, ended: Vec::new(), failed: String::new() };
    let mut clients: Vec<Client> = loads.into_iter().map(client).collect();
    let begin = Instant::now();
    loop {
        let over = control.stopped() || begin.elapsed() > limit;
        if over {
            // All are asked before the first is waited for.
            clients.iter_mut().for_each(Client::ask);
        }
        let mut busy = false;
        for (client, instance) in clients.iter_mut().zip(instances) {
            busy |= client.go_on(instance, programs, begin.elapsed(), over);
        }
        if !busy {
            return clients;
        }
        std::thread::sleep(TICK);
    }
}

impl Client {
    /// Whether it was ended before it had done all that it should.
    pub fn was_cut_off(&self) -> bool {
        !self.load.left.is_empty() || self.ended.iter().any(|(ended, _)| ended.cut == Some(Cut::Stopped))
    }

    fn ask(&mut self) {
        if let Some((started, _)) = &mut self.going {
            // One that cannot be asked is killed.
            let _ = started.ask(Ask::Interrupt);
        }
    }

    /// Looks after it; `false` once it has nothing more to do.
    fn go_on(&mut self, instance: &Instance, programs: &Programs, at: Duration, over: bool) -> bool {
        if let Some((mut started, words)) = self.going.take() {
            let endless = started.talks_too_much().unwrap_or(true);
            if !over && !endless && !started.has_ended().unwrap_or(true) {
                self.going = Some((started, words));
                return true;
            }
            match started.end(PATIENCE) {
                Ok(ended) => {
                    // One that failed does not go on with its next run: its server is gone, or refuses.
                    if !ended.status.is_some_and(|status| status.success()) {
                        self.load.left.clear();
                    }
                    self.ended.push((ended, words));
                }
                Err(error) => self.fail(&error),
            }
        }
        if over || at < self.load.delay {
            return !over;
        }
        let Some(words) = self.load.left.pop() else { return false };
        match instance.client(programs, words.clone()) {
            Ok(started) => self.going = Some((started, words)),
            Err(error) => self.fail(&error),
        }
        self.going.is_some()
    }

    fn fail(&mut self, error: &std::io::Error) {
        self.failed = error.to_string();
        self.load.left.clear();
    }
}
