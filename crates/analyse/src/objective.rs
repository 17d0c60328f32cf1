//! Whether instances of an application held their objective in a trial (method §5.5). The rule that decides while a run goes on is the one
//! by which its file is judged.

use crate::limits::OFFERED_SIGMA;
use stend_base::{Millionths, Nanos};
use stend_plan::Plan;
use stend_record::TrialOutcome;
use stend_record::app::{AppWindow, Instance};
use stend_spec::app::App;

/// Whether all instances of a trial held. `case` is its index in the plan.
pub(crate) fn held(plan: &Plan, case: u32, outcome: &TrialOutcome) -> bool {
    let Some(trial) = plan.cases.get(case as usize).map(|case| &case.trial) else { return false };
    let (Some(app), Some(found)) = (&trial.app, &outcome.app) else { return false };
    let windows = windows(app, trial.window);
    found.instances.len() == app.instances as usize && found.instances.iter().all(|one| holds(app, windows, one))
}

/// Windows of a trial.
pub(crate) fn windows(app: &App, trial: Nanos) -> u64 {
    trial.0 / app.slo.window.0.max(1)
}

/// Whether enough windows of an instance held; one that its client did not tell did not.
pub(crate) fn holds(app: &App, windows: u64, instance: &Instance) -> bool {
    let good = instance.windows.iter().filter(|window| window_holds(app, window)).count() as u64;
    instance.failed.is_empty() && good >= needed(app, windows)
}

/// Windows that must hold, at least one. In whole numbers: 55 % of 100 is a little more than 55 in binary fractions.
pub(crate) fn needed(app: &App, windows: u64) -> u64 {
    windows.saturating_mul(u64::from(app.slo.windows.0)).div_ceil(u64::from(Millionths::ALL.0)).max(1)
}

pub(crate) fn window_holds(app: &App, window: &AppWindow) -> bool {
    let served = app.rate.is_none_or(|rate| {
        // Clients draw their arrivals as a Poisson process: chance alone takes so many from a window.
        let due = rate.as_iops() * app.slo.window.as_secs();
        let least = due * app.slo.served.as_share() - OFFERED_SIGMA * due.sqrt();
        window.rate_thousandths as f64 / 1000.0 * app.slo.window.as_secs() >= least
    });
    // A window without a transaction has a percentile of 0, which says nothing.
    let within = window.rate_thousandths > 0 && window.latency.is_some_and(|latency| latency <= app.slo.limit);
    served && within && window.errors == 0
}
