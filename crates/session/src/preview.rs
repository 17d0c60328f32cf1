//! What carrying an order out would do. Must not change anything, nor make a file.

use crate::campaign;
use crate::complete::with_whole_targets;
use crate::control::Control;
use crate::frontend::Frontend;
use crate::setup::{ended_early, resumed, setup};
use crate::stand::{Action, Answer, Request, stand};
use crate::worker_host::Hosts;
use crate::{inputs, load_hosts, sources};
use stend_analyse::preview::Preview;
use stend_base::{Error, Result, say};
use stend_record::StandText;
use stend_run::Setup;
use stend_spec::order::{Order, SuiteWork, Work};

/// What carrying the order out would do: one run, or with `against` one for each side. Makes no file.
///
/// Errors: those of the run, of several the first; `Usage` where that cannot be told ahead.
pub fn preview(order: &Order, control: &Control, frontend: &Frontend) -> Result<Vec<Preview>> {
    let order = &with_whole_targets(order)?;
    load_hosts::may(order)?;
    let work = match &order.work {
        _ if !order.stands.is_empty() => return Err(unforeseen_on_a_stand()),
        Work::Resume { resume } => {
            sources::try_once(order, frontend)?;
            let setup = resumed(resume, order, frontend)?;
            return match setup.stand {
                Some(_) => Err(unforeseen_on_a_stand()),
                None if !order.storage.is_empty() => Err(load_hosts::no_stand()),
                None => Ok(vec![of_setup(setup, control)?]),
            };
        }
        Work::Suite(work) => work,
    };
    sources::try_once(order, frontend)?;
    if order.against.is_empty() {
        return Ok(vec![of_run(order, work, false, control, frontend)?]);
    }
    let sides = campaign::sides(order, work, frontend)?;
    let of_side = |order: &Order| of_run(order, work, sides.in_blocks, control, frontend);
    sides.all.iter().map(|side| of_side(&side.order)).collect()
}

/// The stands that an order puts up: those of the order, or that of the run that it resumes.
///
/// Errors: those of the parser, and of finding a run that can be resumed.
pub fn stands(order: &Order) -> Result<Vec<StandText>> {
    match &order.work {
        // Which newer ones are gone comes when the run itself is looked at.
        Work::Resume { resume } => Ok(ended_early(resume, &|_| {})?.1.header.stand.into_iter().collect()),
        Work::Suite(_) => order.stands.iter().cloned().map(inputs::stand_text).collect(),
    }
}

/// What putting up these stands of an order would do: where they are not up, more cannot be told ahead.
///
/// Errors: those of the hosts and of `hear`; `Usage` where a stand does not fit the hosts.
pub fn stand_plans(
    order: &Order,
    stands: Vec<StandText>,
    control: &Control,
    frontend: &Frontend,
    hear: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<()> {
    load_hosts::may(order)?;
    stands.into_iter().try_for_each(|text| {
        let name = Some(text.name.clone());
        stand(
            &Request { action: Action::Plan, text: Some(text), name, hosts: Hosts::of(order) },
            control,
            frontend,
            hear,
        )
    })
}

fn of_run(order: &Order, work: &SuiteWork, one_block: bool, control: &Control, frontend: &Frontend) -> Result<Preview> {
    let setup = Setup { one_block, ..setup(order, work, None, true, frontend)? };
    stend_record::store::may_create(&setup.run_file)?;
    of_setup(setup, control)
}

fn of_setup(setup: Setup, control: &Control) -> Result<Preview> {
    let (channel, stopper) = stend_run::channel();
    control.aim(Some(stopper));
    stend_run::preview(setup, channel)
}

fn unforeseen_on_a_stand() -> Box<Error> {
    Error::usage(say!(
        "a dry run needs its stand to be up",
        "для предпросмотра стенд должен быть поднят"
    ))
    .hint(say!(
        "`stend stand plan FILE` shows what the stand does; after `stend stand up FILE` a dry run takes its target with `--on`",
        "что сделает стенд, покажет `stend stand plan ФАЙЛ`; после `stend stand up ФАЙЛ` объект стенда можно указать в `--on`"
    ))
}
