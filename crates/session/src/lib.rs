//! Carries an order out: places workers, puts stands up and takes them down, runs, resumes. Must not print,
//! read a command line, or decide what is measured: it tells its [`Frontend`] what happens, and the order says what is asked.
#![forbid(unsafe_code)]

mod campaign;
pub mod catalogue;
pub mod comparison;
mod complete;
mod control;
pub mod embedded;
mod execute;
mod frontend;
mod inputs;
mod look;
mod machine;
mod observe;
mod place;
mod setup;
mod stand;
mod storage_host;
pub mod suites;
mod traces;

pub use complete::complete;
pub use control::Control;
pub use frontend::{Frontend, Progress, Ready};
pub use inputs::{plan_of, read_run, stand_text, suite, written};
pub use look::{Looked, clean, look};
pub use machine::{answers, read_machine, start as start_machine};
pub use place::Hosts;
pub use stand::{Action, Answer, Request, stand};

use stend_analyse::preview::Preview;
use stend_base::{Error, Kind, Result, say};
use stend_record::Checkup;
use stend_spec::order::{Order, Work};

/// Whether this machine can measure, on a target if one is named. Changes nothing.
pub fn checkup(on: Option<&str>) -> Checkup {
    stend_stand::doctor(on)
}

/// Carries the order out. What it measured is in the run files that [`Progress::Ended`] names.
///
/// Errors: the first that ended a run or kept it from beginning; those of a campaign do not keep its other stands from being measured.
pub fn carry_out(order: &Order, control: &Control, frontend: &Frontend) -> Result<()> {
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

/// What carrying the order out would do. Makes no file.
///
/// Errors: those of the run; `Usage` where that cannot be told ahead.
pub fn preview(order: &Order, control: &Control, frontend: &Frontend) -> Result<Preview> {
    let work = match &order.work {
        _ if !order.stands.is_empty() => return Err(unforeseen_on_a_stand()),
        _ if !order.against.is_empty() => {
            return Err(Error::new(
                Kind::Usage,
                say!(
                    "a dry run is of one run, and `--against` makes several",
                    "пробный режим показывает один прогон, а с `--against` их несколько"
                ),
            )
            .hint(say!(
                "look at each target by itself: `stend run SUITE --on PATH --dry-run`",
                "посмотрите каждый объект отдельно: `stend run НАБОР --on ПУТЬ --dry-run`"
            )));
        }
        Work::Resume { .. } => {
            return Err(Error::new(
                Kind::Usage,
                say!("`--resume` cannot be a dry run", "`--resume` не работает вместе с предпросмотром"),
            ));
        }
        Work::Suite(work) => work,
    };
    let setup = setup::setup(order, work, None, true, frontend)?;
    stend_record::store::may_create(&setup.run_file)?;
    let (channel, stopper) = stend_run::channel();
    control.aim(Some(stopper));
    stend_run::preview(setup, channel)
}

fn unforeseen_on_a_stand() -> Box<Error> {
    Error::new(
        Kind::Usage,
        say!(
            "a dry run needs its stand to be up",
            "для предпросмотра стенд должен быть поднят"
        ),
    )
    .hint(say!(
        "`stend stand plan FILE` shows what the stand does; after `stend stand up FILE` a dry run takes its target with `--on`",
        "что сделает стенд, покажет `stend stand plan ФАЙЛ`; после `stend stand up ФАЙЛ` объект стенда можно указать в `--on`"
    ))
}
