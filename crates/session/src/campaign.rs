//! `stend run SUITE --stand A --stand B …`: each stand is put up, measured and taken down, one after the other, or, with `--rebuild`,
//! anew for every block; then the frontend compares them. A stand that fails does not keep the others from being measured.

use crate::Progress;
use crate::control::Control;
use crate::execute::to_its_end;
use crate::frontend::Frontend;
use crate::inputs;
use crate::setup::{resumed, setup};
use std::path::{Path, PathBuf};
use stend_base::{Error, Kind, Result, Say, say};
use stend_plan::order::of_stands;
use stend_spec::order::{NamedText, Order, SuiteWork};
use stend_spec::suite::Suite;

/// One stand, and how far its run is.
struct Side {
    name: String,
    file: NamedText,
    /// The run file, once there is one.
    run: Option<PathBuf>,
    /// Something is left to be measured.
    waits: bool,
}

/// A campaign that is going on.
struct Campaign<'a> {
    order: &'a Order,
    work: &'a SuiteWork,
    control: &'a Control,
    frontend: &'a Frontend<'a>,
    /// Each block is measured on a stand that is built for it.
    rebuild: bool,
    sides: Vec<Side>,
    failed: Option<Box<Error>>,
}

/// Runs the suite on every stand.
pub(crate) fn campaign(order: &Order, work: &SuiteWork, control: &Control, frontend: &Frontend) -> Result<()> {
    if order.output.is_some() && order.stands.len() > 1 {
        return Err(Error::new(Kind::Usage, say!("`--output` is for one stand", "`--output` — для одного стенда"))
            .hint(say!("without it each run has a file of its own", "без него у каждого прогона будет свой файл")));
    }
    if order.rebuild {
        whole_in_blocks(&inputs::asked(work)?)?;
    }
    // What is wrong with the last file is said before the first drive is written to.
    let sides = order.stands.iter().map(|file| {
        let name = inputs::stand_text(file.clone())?.name;
        Ok(Side { name, file: file.clone(), run: None, waits: true })
    });
    let sides = sides.collect::<Result<Vec<Side>>>()?;
    let mut campaign = Campaign { order, work, control, frontend, rebuild: order.rebuild, sides, failed: None };
    campaign.measure();
    let run_files: Vec<&Path> = campaign.sides.iter().filter_map(|side| side.run.as_deref()).collect();
    frontend.tell(Progress::Campaign { run_files: &run_files });
    campaign.failed.map_or(Ok(()), Err)
}

impl Campaign<'_> {
    /// Rounds until nothing is left: one, or one for each block.
    fn measure(&mut self) {
        for block in 0.. {
            let order = match self.rebuild {
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

    fn announce(&self, side: usize, build: u32, number: usize, count: usize) {
        let build = self.rebuild.then_some(build);
        self.frontend.tell(Progress::Stand { name: &self.sides[side].name, number, count, build });
    }

    /// Builds a stand, measures what is to be measured on it, and takes it down; `false` if the user ended that.
    fn visit(&mut self, side: usize) -> bool {
        let Campaign { order, work, control, frontend, .. } = *self;
        let Side { file, run, .. } = &self.sides[side];
        let setup = match run {
            Some(run) => resumed(&run.to_string_lossy(), order, frontend),
            None => setup(order, work, Some(file), false, frontend),
        };
        let ended = setup.and_then(|mut setup| {
            setup.one_block = self.rebuild;
            to_its_end(setup, order, control, frontend)
        });
        // Between runs Ctrl-C ends all of it.
        control.aim(None);
        let mut stopped = None;
        let side = &mut self.sides[side];
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
        frontend.tell(Progress::Failed(&error));
        let goes_on = !matches!(error.kind, Kind::Interrupted | Kind::Terminated);
        self.failed.get_or_insert(error);
        goes_on
    }
}

/// The user ended the campaign while the last stand that was measured was taken down.
fn before_the_next(kind: Kind) -> Box<Error> {
    Error::new(
        kind,
        say!(
            "stopped before the next stand; what was measured is kept",
            "остановлено перед следующим стендом; измеренное сохранено"
        ),
    )
}

/// Whether the work of a suite can be cut between blocks.
fn whole_in_blocks(suite: &Suite) -> Result<()> {
    let refused = |why: Say| {
        let Say { en, ru } = why;
        Err(Error::new(
            Kind::Usage,
            say!(
                "`--rebuild` builds the stands for every block: {en}",
                "`--rebuild` собирает стенды для каждого блока: {ru}"
            ),
        )
        .hint(say!(
            "without it every stand is built once, and measured as a whole",
            "без него каждый стенд собирается один раз и измеряется целиком"
        )))
    };
    if suite.blocks < 2 {
        return refused(say!("the suite has one block (`repeats`)", "в наборе один блок (`repeats`)"));
    }
    if !suite.arms.is_empty() {
        return refused(say!("the suite has arms of its own", "у набора есть собственные варианты"));
    }
    if suite.cases.iter().flat_map(|case| &case.faults).any(stend_spec::fault::Fault::is_cut) {
        return refused(say!(
            "a stand whose power is cut has to be there again, and not anew (`power.cut`)",
            "стенд, питание которого отключено, должен вернуться прежним, а не новым (`power.cut`)"
        ));
    }
    let searches = |case: &stend_spec::suite::SuiteCase| {
        case.app.is_some() || case.steady.is_some() || case.streams.iter().any(|stream| stream.search.is_some())
    };
    match suite.cases.iter().find(|case| searches(case)) {
        Some(case) => {
            let name = &case.name;
            refused(say!(
                "the case `{name}` needs what it measured before (`steady`, `search`, `application`)",
                "случаю `{name}` нужно то, что он измерил раньше (`steady`, `search`, `application`)"
            ))
        }
        None => Ok(()),
    }
}
