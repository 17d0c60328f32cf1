//! One suite on several sides: `--stand A --stand B …` puts each stand up, measures it and takes it down, one after the other, or, with
//! `--rebuild`, anew for every block; `--on A --against B …` measures the targets in turn, block by block. Then the frontend compares
//! them. A side that fails does not keep the others from being measured.

use crate::Progress;
use crate::control::Control;
use crate::execute::to_its_end;
use crate::frontend::Frontend;
use crate::inputs;
use crate::setup::{resumed_at, setup};
use std::path::{Path, PathBuf};
use stend_base::{Code, Error, Kind, Result, Say, say};
use stend_plan::order::of_stands;
use stend_record::targets::in_line;
use stend_spec::order::{Order, SuiteWork};
use stend_spec::suite::Suite;

/// One stand or target, and how far its run is.
pub(crate) struct Side {
    /// Name of the stand, or the targets.
    name: String,
    /// The order of its run alone.
    pub(crate) order: Order,
    /// The run file, once there is one.
    run: Option<PathBuf>,
    /// Something is left to be measured.
    waits: bool,
}

/// What is measured, and how.
pub(crate) struct Sides {
    /// The first is what the others are compared with.
    pub(crate) all: Vec<Side>,
    /// A session measures one block, and then it is the next side's turn.
    pub(crate) in_blocks: bool,
}

/// A campaign that is going on.
struct Campaign<'a> {
    work: &'a SuiteWork,
    control: &'a Control,
    frontend: &'a Frontend<'a>,
    in_blocks: bool,
    sides: Vec<Side>,
    /// Sides that failed, and the code of each.
    failed: Vec<(String, Code)>,
    /// The user ended it.
    ended: Option<Box<Error>>,
}

/// Runs the suite on every stand or target.
pub(crate) fn campaign(order: &Order, work: &SuiteWork, control: &Control, frontend: &Frontend) -> Result<()> {
    let Sides { all: sides, in_blocks } = sides(order, work, frontend)?;
    let mut campaign = Campaign { work, control, frontend, in_blocks, sides, failed: Vec::new(), ended: None };
    campaign.measure();
    let run_files: Vec<&Path> = campaign.sides.iter().filter_map(|side| side.run.as_deref()).collect();
    frontend.tell(Progress::Campaign { run_files: &run_files });
    match (campaign.ended, campaign.failed.first()) {
        (ended, None) => ended.map_or(Ok(()), Err),
        (ended, Some((_, code))) => {
            ended.iter().for_each(|error| frontend.tell(Progress::Failed(error)));
            Err(not_whole(&campaign.failed, campaign.sides.len()).instead(*code))
        }
    }
}

/// What an order with several stands or targets measures. Notes why targets do not alternate.
///
/// Errors: `Usage` and `Spec` of the order, before the first drive is written to.
pub(crate) fn sides(order: &Order, work: &SuiteWork, frontend: &Frontend) -> Result<Sides> {
    let sides = each(order)?;
    if order.output.is_some() && sides.len() > 1 {
        return Err(Error::usage(say!(
            "`--output` is for one run, and these are several",
            "`--output` — для одного прогона, а здесь их несколько"
        ))
        .hint(say!("without it each run has a file of its own", "без него у каждого прогона будет свой файл")));
    }
    let whole = why_whole(&inputs::asked(work)?);
    if let (true, Some(why)) = (order.rebuild, &whole) {
        return Err(not_rebuilt(why));
    }
    let in_turn = !order.against.is_empty();
    if let (true, Some(Say { en, ru })) = (in_turn, &whole) {
        frontend.note(say!(
            "targets are measured one after the other, and not in turn: {en}; what changes meanwhile looks like a difference between them",
            "объекты измеряются один за другим, а не поочерёдно: {ru}; всё, что изменится за это время, будет выглядеть как различие между ними"
        ));
    }
    Ok(Sides { all: sides, in_blocks: order.rebuild || in_turn && whole.is_none() })
}

/// The stands, or the targets of `on` together and then each of `against`.
fn each(order: &Order) -> Result<Vec<Side>> {
    let side = |name: String, order: Order| Side { name, order, run: None, waits: true };
    let alone = Order { stands: Vec::new(), against: Vec::new(), ..order.clone() };
    if order.stands.is_empty() {
        let others = order.against.iter().map(|target| vec![target.clone()]);
        let all = std::iter::once(order.on.clone()).chain(others);
        return Ok(all.map(|on| side(in_line(&on), Order { on, ..alone.clone() })).collect());
    }
    let of_stand = |file: &stend_spec::order::NamedText| {
        let name = inputs::stand_text(file.clone())?.name;
        Ok(side(name, Order { stands: vec![file.clone()], ..alone.clone() }))
    };
    order.stands.iter().map(of_stand).collect()
}

impl Campaign<'_> {
    /// Rounds until nothing is left: one, or one for each block.
    fn measure(&mut self) {
        for block in 0.. {
            let order = match self.in_blocks {
                true => of_stands(self.sides.len(), block, self.work.seed),
                false => (0..self.sides.len()).collect(),
            };
            let waiting: Vec<usize> = order.into_iter().filter(|side| self.sides[*side].waits).collect();
            if waiting.is_empty() {
                return;
            }
            for (side, number) in waiting.iter().zip(1..) {
                self.announce(*side, block + 1, number, waiting.len());
                if !self.visit(*side) {
                    return;
                }
            }
        }
    }

    fn announce(&self, side: usize, block: u32, number: usize, count: usize) {
        let Side { name, order, .. } = &self.sides[side];
        let (stand, block) = (!order.stands.is_empty(), self.in_blocks.then_some(block));
        self.frontend.tell(Progress::Next { name, stand, number, count, block });
    }

    /// Measures what is to be measured on a side, on a stand that is built for it and taken down again; `false` if the user ended that.
    fn visit(&mut self, side: usize) -> bool {
        let Campaign { work, control, frontend, .. } = *self;
        let Side { order, run, .. } = &self.sides[side];
        let setup = match run {
            Some(run) => resumed_at(run, order, frontend),
            None => setup(order, work, order.stands.first(), false, frontend),
        };
        let ended = setup.and_then(|mut setup| {
            setup.one_block = self.in_blocks;
            to_its_end(setup, order, control, frontend)
        });
        // Between runs Ctrl-C ends all of it.
        control.aim(None);
        let mut stopped = None;
        let side = &mut self.sides[side];
        let side_name = side.name.clone();
        let error = match ended {
            Ok(ended) => {
                side.run = ended.run_file.or(side.run.take());
                side.waits = ended.waits;
                stopped = ended.stopped;
                ended.error
            }
            Err(error) => {
                side.waits = false;
                Some(error)
            }
        };
        if let Some(run_file) = side.run.as_deref().filter(|_| !side.waits) {
            frontend.tell(Progress::Ended { run_file });
        }
        let others = self.sides.iter().any(|side| side.waits);
        let Some(error) = error.or_else(|| stopped.filter(|_| others).map(before_the_next)) else { return true };
        if matches!(error.kind, Kind::Interrupted | Kind::Terminated) {
            self.ended = Some(error);
            return false;
        }
        frontend.tell(Progress::Failed(&error));
        self.failed.push((side_name, error.code));
        true
    }
}

/// The end of a campaign whose failures were reported when they happened.
fn not_whole(failed: &[(String, Code)], count: usize) -> Box<Error> {
    let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    let (failed, names) = (failed.len(), names.join("`, `"));
    Error::preflight(say!(
        "{failed} of {count} not measured to the end: `{names}`",
        "измерены не до конца: {failed} из {count}: `{names}`"
    ))
}

/// The user ended the campaign while the last side that was measured was cleaned up.
fn before_the_next(kind: Kind) -> Box<Error> {
    Error::new(
        kind,
        say!(
            "stopped before the next one; what was measured is kept",
            "остановлено перед следующим; измеренное сохранено"
        ),
    )
}

/// Why stands cannot be built for every block.
fn not_rebuilt(Say { en, ru }: &Say) -> Box<Error> {
    Error::usage(say!(
        "`--rebuild` builds the stands for every block: {en}",
        "`--rebuild` собирает стенды для каждого блока: {ru}"
    ))
    .hint(say!(
        "without it every stand is built once and measured completely",
        "без него каждый стенд собирается один раз и измеряется целиком"
    ))
}

/// Why the work of a suite cannot be cut between blocks; `None`: it can.
fn why_whole(suite: &Suite) -> Option<Say> {
    if suite.blocks < 2 {
        return Some(say!("the suite has one block (`repeats`)", "в наборе один блок (`repeats`)"));
    }
    if !suite.arms.is_empty() {
        return Some(say!("the suite has arms of its own", "у набора есть собственные варианты"));
    }
    if suite.cases.iter().flat_map(|case| &case.faults).any(stend_spec::fault::Fault::is_cut) {
        return Some(say!(
            "after `power.cut` the same stand must come back, not a new one",
            "после `power.cut` должен вернуться прежний стенд, а не новый"
        ));
    }
    let searches = |case: &stend_spec::suite::SuiteCase| {
        let searched = case.load_hosts.search().is_some() || case.streams.iter().any(|stream| stream.search.is_some());
        case.app.is_some() || case.steady.is_some() || searched
    };
    let name = &suite.cases.iter().find(|case| searches(case))?.name;
    Some(say!(
        "the case `{name}` needs its earlier results (`steady`, `search`, `application`)",
        "случаю `{name}` нужны его прежние результаты (`steady`, `search`, `application`)"
    ))
}
