//! Runs against the first of them, or the arms of one run, for every caller. Must not know where runs lie: its caller reads
//! them.

use stend_analyse::compare::{Floor, Options};
use stend_analyse::{Comparison, Findings};
use stend_base::units::parse_millionths;
use stend_base::{Error, Millionths, Result, Say, say};
use stend_record::RunRecord;
use stend_spec::gate::Gate;
use stend_spec::keys::gate::MARGIN;

/// More runs no longer fit a table or an eye: all layouts of an article on one machine are thirty.
const RUNS_MAX: usize = 64;

/// A run with what it says.
pub type Judged = (RunRecord, Findings);

/// Reads a run by its name.
pub type Read<'a> = &'a dyn Fn(&str) -> Result<RunRecord>;

/// What is compared, and how.
#[derive(Default)]
pub struct Asked<'a> {
    /// Runs by their names; a single one is compared with itself, by its arms.
    pub names: Vec<String>,
    /// The difference that does not matter, as a share in words (`5%`).
    pub margin: Option<String>,
    /// Which of the runs, or which arm of one, is 100 %; `None`: the first.
    pub baseline: Option<String>,
    /// A run that shows how much the baseline differs from itself.
    pub floor: Option<String>,
    /// Conditions that are meant to differ.
    pub factors: Vec<String>,
    /// What the comparison must hold.
    pub gate: Option<&'a Gate>,
    /// With charts.
    pub drawn: bool,
}

/// The comparison; `changed` may take something out of the runs before they are judged.
///
/// Errors: `Usage` of what is asked; those of reading and judging a run.
pub fn of(
    asked: &Asked,
    read_one: Read,
    changed: impl FnOnce(Vec<RunRecord>) -> Result<Vec<RunRecord>>,
) -> Result<Comparison> {
    let Asked { names, baseline, gate, .. } = asked;
    let margin = margin_of(asked)?;
    // All together, so that one machine has one stand-in in all of them.
    let mut runs = judged(changed(read(names, read_one)?)?, stend_analyse::judge)?;
    if let (Some(baseline), 2..) = (baseline, runs.len()) {
        let place = place(baseline, names, &runs)?;
        runs[..=place].rotate_right(1);
    }
    let options = Options {
        margin,
        floor: asked.floor.as_ref().map(|name| floor(name, &runs[0], read_one)).transpose()?,
        baseline_arm: baseline.clone().filter(|_| runs.len() == 1),
        factors: asked.factors.clone(),
    };
    let mut comparison = match &runs[..] {
        [(run, findings)] => arms(run, findings, &options)?,
        _ => {
            let runs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
            let mut comparison = stend_analyse::compare(&runs, &options);
            if asked.drawn {
                stend_analyse::compare::draw(&mut comparison, &runs);
            }
            comparison
        }
    };
    known(&options.factors, &comparison)?;
    let found: Vec<&Findings> = runs.iter().map(|(_, findings)| findings).collect();
    comparison.gate = gate.map(|gate| stend_analyse::gate::of_comparison(gate, &comparison, &found));
    Ok(comparison)
}

/// What a workbook says of differences: between runs, or between the arms of the only one.
///
/// Errors: those of comparing arms.
pub fn of_workbook(runs: &[Judged]) -> Result<Option<Comparison>> {
    match runs {
        [(run, findings)] => stend_analyse::compare_arms(run, findings, &Options::default()),
        _ => {
            let runs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
            Ok(Some(stend_analyse::compare(&runs, &Options::default())))
        }
    }
}

/// Runs that belong in one table, by name.
///
/// Errors: `Usage` if there are too many; those of reading a run.
pub fn read(names: &[String], read_one: Read) -> Result<Vec<RunRecord>> {
    let given = names.len();
    if !(1..=RUNS_MAX).contains(&given) {
        return Err(Error::usage(say!(
            "1 to {RUNS_MAX} runs can be compared, {given} given",
            "сравнить можно от 1 до {RUNS_MAX} прогонов, указано: {given}"
        ))
        .hint(say!("`stend list` shows your runs", "`stend list` покажет, какие прогоны есть")));
    }
    names.iter().map(|name| read_one(name)).collect()
}

/// Runs with what is `found` in each: with charts, or without.
///
/// Errors: those of judging a run.
pub fn judged(runs: Vec<RunRecord>, found: fn(&RunRecord) -> Result<Findings>) -> Result<Vec<Judged>> {
    runs.into_iter().map(|run| found(&run).map(|findings| (run, findings))).collect()
}

fn margin_of(asked: &Asked) -> Result<Option<f64>> {
    let given = asked.margin.as_deref().map(margin).transpose()?;
    let declared = asked.gate.and_then(|gate| gate.margin).map(Millionths::as_share);
    if given.is_some() && declared.is_some() {
        return Err(Error::usage(say!("the gate already has a margin", "допуск уже задан в пороге"))
            .hint(say!("leave `--margin` out", "уберите `--margin`")));
    }
    Ok(given.or(declared))
}

/// Which of the runs is meant: by the word that names it on the command line, or by its id or the beginning of that.
fn place(baseline: &str, names: &[String], runs: &[Judged]) -> Result<usize> {
    let word = names.iter().position(|name| name == baseline);
    let mut by_id = runs.iter().enumerate().filter(|(_, (_, findings))| findings.run.starts_with(baseline));
    let only = by_id.next().map(|(i, _)| i).filter(|_| by_id.next().is_none());
    word.or(only.filter(|_| !baseline.is_empty())).ok_or_else(|| {
        let given = names.join(", ");
        Error::usage(say!(
            "`--baseline {baseline}` is not one of the runs",
            "`--baseline {baseline}` — не один из прогонов"
        ))
        .hint(say!("name one of the compared runs: {given}", "укажите один из сравниваемых: {given}"))
    })
}

/// The A/A floor that another run shows.
fn floor(name: &str, baseline: &Judged, read_one: Read) -> Result<Floor> {
    let run = read_one(name)?;
    let findings = stend_analyse::judge(&run)?;
    if findings.run == baseline.1.run && run.header.inputs.suite.arms.is_empty() {
        return Err(Error::usage(say!(
            "`--floor {name}` is the baseline itself, so it would show no noise",
            "`--floor {name}` — сама база, шума у неё не было бы"
        ))
        .hint(repetition()));
    }
    let found = stend_analyse::compare::floor((&run, &findings), (&baseline.0, &baseline.1))?;
    found.ok_or_else(|| {
        Error::usage(say!(
            "`--floor {name}` shows no noise: fewer than six of its blocks match those of the baseline",
            "`--floor {name}` не показывает шума: сопоставить удалось меньше шести блоков"
        ))
        .hint(repetition())
    })
}

fn repetition() -> Say {
    say!(
        "name a repetition of the baseline with six blocks, or a run with two arms of one configuration",
        "укажите повтор базы из шести блоков или прогон с двумя вариантами одной конфигурации"
    )
}

/// A factor must be a condition that is known of these runs: a slip would excuse nothing and say nothing.
fn known(factors: &[String], comparison: &Comparison) -> Result<()> {
    let keys = || comparison.changed.iter().chain(&comparison.same).map(|condition| condition.key.as_str());
    match factors.iter().find(|factor| !keys().any(|key| key == factor.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let changed = comparison.changed.iter().map(|c| c.key.as_str()).collect::<Vec<_>>().join(", ");
            Err(Error::usage(say!(
                "`--factor {unknown}` is not a condition of these runs",
                "`--factor {unknown}` — не условие этих прогонов"
            ))
            .hint(say!("these changed: {changed}", "изменились: {changed}")))
        }
    }
}

/// A single run is compared with itself: its arms with the first of them.
fn arms(run: &RunRecord, findings: &Findings, options: &Options) -> Result<Comparison> {
    stend_analyse::compare_arms(run, findings, options)?.ok_or_else(|| {
        let id = &findings.run;
        let message = match run.header.inputs.suite.arms.is_empty() {
            true => say!(
                "one run is given, `{id}`, and it has no arms: nothing to compare",
                "указан один прогон без вариантов, `{id}`: сравнивать не с чем"
            ),
            false => say!(
                "one run is given, `{id}`, and fewer than two of its arms were measured: nothing to compare",
                "указан один прогон, `{id}`, и в нём измерено меньше двух вариантов: сравнивать не с чем"
            ),
        };
        Error::usage(message).hint(say!(
            "name another run, or use a suite with `arms`",
            "укажите ещё один прогон или возьмите набор с `arms`"
        ))
    })
}

fn margin(text: &str) -> Result<f64> {
    match parse_millionths(text) {
        Ok(margin) if MARGIN.hold(&margin) => Ok(margin.as_share()),
        _ => {
            let (least, most) = (MARGIN.least.as_percent(), MARGIN.most.as_percent());
            Err(Error::usage(say!("`--margin {text}` is not a margin", "`--margin {text}` — не допуск")).hint(say!(
                "a share from {least}% to {most}%, e.g. 5%: the difference that does not matter",
                "доля от {least}% до {most}%, например 5%: различие, которое не важно"
            )))
        }
    }
}
