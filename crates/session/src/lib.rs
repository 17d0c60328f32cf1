//! Carries an order out: places workers, puts stands up and takes them down, runs, resumes. Must not print,
//! read a command line, or decide what is measured: it tells its [`Frontend`] what happens, and the order says what is asked.
#![forbid(unsafe_code)]

mod campaign;
pub mod catalogue;
pub mod comparison;
mod complete;
mod concurrent_runs;
mod condition;
mod control;
mod descriptions;
mod device_news;
mod drive_health;
pub mod embedded;
mod execute;
mod frontend;
mod hosts_again;
mod inputs;
mod load_hosts;
mod look;
mod machine;
mod marks;
mod metrics;
mod observe;
pub mod ordered;
mod preview;
mod reaching;
mod recording;
mod retention;
pub mod run_facts;
mod sampler;
mod setup;
mod sources;
mod stand;
mod stopping;
mod storage_hosts;
pub mod suites;
mod traces;
pub mod vms;
mod worker_host;

pub use complete::complete;
pub use concurrent_runs::concurrent_runs;
pub use condition::Condition;
pub use control::Control;
pub use drive_health::DriveHealth;
pub use frontend::{Frontend, Progress, Ready};
pub use inputs::{plan_of, read_run, stand_text, suite, written};
pub use look::{Looked, clean, hosts, look};
pub use machine::{answers, read_machine, start as start_machine};
pub use marks::{Marked, WatchedMarks, mark, marks, marks_of};
pub use metrics::MetricsServer;
pub use preview::{preview, stand_plans, stands};
pub use recording::{RecordOrder, RecordingNews, make_parent, notify_directory, record};
pub use retention::{pace, retention};
pub use sampler::Sampler;
pub use stand::{Action, Answer, Request, stand};
pub use stopping::ask_to_stop;
pub use worker_host::Hosts;

use stend_base::Result;
use stend_record::{Checkup, HostFacts};
use stend_spec::order::{Order, Work};

/// Whether this machine can measure, on a target if one is named. Changes nothing.
pub fn checkup(on: Option<&str>) -> Checkup {
    let mut checkup = stend_stand::doctor(on);
    checkup.items.push(stend_probe::reading_cost(std::path::Path::new("/")));
    checkup
}

/// Facts of this machine. Changes nothing.
pub fn host_facts() -> HostFacts {
    stend_stand::host_facts()
}

/// Carries the order out. What it measured is in the run files that [`Progress::Ended`] names.
///
/// Errors: the first that ended a run or kept it from beginning; those of a campaign do not keep its other stands from being measured.
pub fn carry_out(order: &Order, control: &Control, frontend: &Frontend) -> Result<()> {
    let order = &complete::with_whole_targets(order)?;
    load_hosts::may(order)?;
    let setup = match &order.work {
        Work::Resume { resume } => setup::resumed(resume, order, frontend)?,
        Work::Suite(work) if order.stands.len() > 1 || order.rebuild || !order.against.is_empty() => {
            return campaign::campaign(order, work, control, frontend);
        }
        Work::Suite(work) => setup::setup(order, work, order.stands.first(), false, frontend)?,
    };
    let done = execute::to_its_end(setup, order, control, frontend)?;
    if let Some(run_file) = &done.run_file {
        frontend.tell(Progress::Ended { run_file });
    }
    done.error.map_or(Ok(()), Err)
}
