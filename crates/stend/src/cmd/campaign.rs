//! `stend run SUITE --stand A --stand B …`: each stand is put up, measured and taken down, one after the other, or, with `--rebuild`,
//! anew for every block; then all are compared with the first. A stand that fails does not keep the others from being measured.

use super::run::{conclude, resumed, seed, setup, to_its_end};
use super::signals::Stoppers;
use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use std::path::{Path, PathBuf};
use stend_analyse::compare::Options;
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::store;
use stend_spec::order;
use stend_spec::suite::Suite;

/// One stand, and how far its run is.
struct Side {
    name: String,
    file: String,
    /// The run file, once there is one.
    run: Option<PathBuf>,
    /// Something is left to be measured.
    waits: bool,
}

/// A campaign that is going on.
struct Campaign<'a> {
    arguments: &'a ArgMatches,
    stoppers: &'a Stoppers,
    out: &'a Out,
    seed: u64,
    /// Each block is measured on a stand that is built for it.
    rebuild: bool,
    sides: Vec<Side>,
    failed: Option<Box<Error>>,
}

/// Runs the suite on every stand, then prints the table and writes it as a page.
pub fn campaign(stands: &[String], arguments: &ArgMatches, stoppers: &Stoppers, out: &Out) -> Result<()> {
    if arguments.get_one::<String>("output").is_some() && stands.len() > 1 {
        return Err(Error::new(Kind::Usage, say!("`--output` is for one stand", "`--output` — для одного стенда"))
            .hint(say!("without it each run has a file of its own", "без него у каждого прогона будет свой файл")));
    }
    let rebuild = arguments.get_flag("rebuild");
    if rebuild {
        let (suite, ..) = super::run::read_suite(super::required(arguments, "SUITE"))?;
        whole_in_blocks(&suite)?;
    }
    // What is wrong with the last file is said before the first drive is written to.
    let sides = stands.iter().map(|file| {
        let name = super::stand::read(file)?.name;
        Ok(Side { name, file: file.clone(), run: None, waits: true })
    });
    let sides = sides.collect::<Result<Vec<Side>>>()?;
    let seed = seed(arguments)?;
    let mut campaign = Campaign { arguments, stoppers, out, seed, rebuild, sides, failed: None };
    campaign.measure();
    let done = campaign.sides.into_iter().filter_map(|side| side.run).collect::<Vec<PathBuf>>();
    table(&done, arguments.get_flag("force"), out)?;
    campaign.failed.map_or(Ok(()), Err)
}

impl Campaign<'_> {
    /// Rounds until nothing is left: one, or one for each block.
    fn measure(&mut self) {
        for block in 0.. {
            let order = match self.rebuild {
                true => order::of_stands(self.sides.len(), block, self.seed),
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
        let name = &self.sides[side].name;
        let told = match self.rebuild {
            true => say!(
                "build {build}, stand {number} of {count}: {name}",
                "сборка {build}, стенд {number} из {count}: {name}"
            ),
            false => say!("stand {number} of {count}: {name}", "стенд {number} из {count}: {name}"),
        };
        self.out.note(told.get(self.out.lang));
    }

    /// Builds a stand, measures what is to be measured on it, and takes it down; `false` if the user ended that.
    fn visit(&mut self, side: usize) -> bool {
        let Campaign { arguments, stoppers, out, .. } = *self;
        let Side { file, run, .. } = &self.sides[side];
        let setup = match run {
            Some(run) => resumed(&run.to_string_lossy(), arguments, out),
            None => setup(arguments, Some(file), self.seed, out),
        };
        let ended = setup.and_then(|mut setup| {
            setup.one_block = self.rebuild;
            to_its_end(setup, arguments, stoppers, out)
        });
        // Between runs Ctrl-C ends all of it.
        stoppers.aim(None);
        let side = &mut self.sides[side];
        let error = match ended {
            Ok(ended) => {
                side.run = ended.run_file.or(side.run.take());
                side.waits = ended.waits;
                ended.error
            }
            Err(error) => {
                side.waits = false;
                Some(error)
            }
        };
        if let Some(path) = side.run.as_ref().filter(|_| !side.waits)
            && let Err(unshown) = conclude(path, arguments.get_flag("force"), out)
        {
            out.error(&unshown);
        }
        let Some(error) = error else { return true };
        out.error(&error);
        let goes_on = !matches!(error.kind, Kind::Interrupted | Kind::Terminated);
        self.failed.get_or_insert(error);
        goes_on
    }
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

fn table(done: &[PathBuf], force: bool, out: &Out) -> Result<()> {
    let runs = done.iter().map(|path| {
        let run = store::read(path)?;
        let findings = stend_analyse::judge(&run)?;
        Ok((run, findings))
    });
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let Some(first) = done.first() else { return Ok(()) };
    if runs.len() < 2 {
        return Ok(());
    }
    let pairs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
    let comparison = stend_analyse::compare(&pairs, &Options::default());
    let page = Output::new(beside(first), say!("the comparison", "сравнение"), force);
    page.save(|to| to.write_all(stend_report::comparison_html(&comparison, out.lang).as_bytes()))?;
    out.note(&page.path().display().to_string());
    out.result(&match out.json {
        true => stend_report::comparison_json(&comparison),
        false => stend_report::campaign_text(&comparison, out.lang),
    })
}

/// Where the page of the campaign goes: beside the first run.
fn beside(first: &Path) -> PathBuf {
    let stem = first.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    first.with_file_name(format!("{stem}-campaign.html"))
}
