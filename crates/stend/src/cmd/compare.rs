//! `stend compare A B`: runs relative to the first of them, or the arms of one run.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use stend_analyse::compare::{Floor, Options};
use stend_analyse::{Comparison, Findings};
use stend_base::units::parse_millionths;
use stend_base::{Error, Kind, Millionths, Result, Say, say};
use stend_record::RunRecord;
use stend_spec::gate::Gate;
use stend_spec::keys::gate::MARGIN;

/// More runs no longer fit a table or an eye: all layouts of an article on one machine are thirty.
const RUNS_MAX: usize = 64;

/// Prints a comparison, or writes it as HTML.
pub fn compare(arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("history") {
        return super::history::history(arguments, out);
    }
    if let Some(table) = arguments.get_one::<String>("published") {
        return super::beside::beside(arguments, table, out);
    }
    if arguments.get_flag("sample-gate") {
        return out.result(super::gate::SAMPLE);
    }
    // What is wrong with a gate or an output is said before anything is read.
    let gate = super::gate::of(arguments)?;
    let what = || say!("the comparison", "сравнение");
    let outputs = ["output", "junit", "markdown"].map(|option| super::output(arguments, option, what()));
    crate::save::check(&outputs.iter().flatten().cloned().collect::<Vec<_>>())?;
    let comparison = of(arguments, gate.as_ref(), out)?;
    print(arguments, outputs, &comparison, out)?;
    comparison.gate.as_ref().map_or(Ok(()), super::gate::verdict)
}

fn print(arguments: &ArgMatches, outputs: [Option<Output>; 3], comparison: &Comparison, out: &Out) -> Result<()> {
    let write = |output: Option<Output>, text: &dyn Fn() -> String| -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        output.save(|to| to.write_all(text().as_bytes()))?;
        out.note(&output.path().display().to_string());
        Ok(())
    };
    let junit = || comparison.gate.as_ref().map(|gate| stend_report::junit(Some(comparison), gate, out.lang));
    let html = || stend_report::comparison_html(comparison, out.lang);
    let markdown = || stend_report::comparison_markdown(comparison, out.lang);
    let [page, checks, summary] = outputs;
    write(page, &html)?;
    write(checks, &|| junit().unwrap_or_default())?;
    write(summary, &markdown)?;
    let to_standard_output = |name| super::to_standard_output(arguments, name);
    out.result(&match () {
        () if to_standard_output("output") => html(),
        () if to_standard_output("junit") => junit().unwrap_or_default(),
        () if to_standard_output("markdown") => markdown(),
        () if out.json => stend_report::comparison_json(comparison),
        () if arguments.get_flag("verbose") => {
            stend_report::comparison_text(comparison, out.lang, out.width(), out.colour())
        }
        () => {
            let names = super::many(arguments, "RUN");
            stend_report::comparison_brief(comparison, &names, out.lang, out.width(), out.colour())
        }
    })
}

/// A run with what it says.
pub type Judged = (RunRecord, Findings);

fn of(arguments: &ArgMatches, gate: Option<&Gate>, out: &Out) -> Result<Comparison> {
    let names = super::many(arguments, "RUN");
    let asked = arguments.get_one::<String>("margin").map(|text| margin(text)).transpose()?;
    let declared = gate.and_then(|gate| gate.margin).map(Millionths::as_share);
    if asked.is_some() && declared.is_some() {
        return Err(usage(say!("the gate already has a margin", "допуск уже задан в пороге"))
            .hint(say!("leave `--margin` out", "уберите `--margin`")));
    }
    let margin = asked.or(declared);
    let mut runs = judged_all(arguments, &names, stend_analyse::judge, out)?;
    let baseline = arguments.get_one::<String>("baseline");
    if let (Some(baseline), 2..) = (baseline, runs.len()) {
        let place = place(baseline, &names, &runs)?;
        runs[..=place].rotate_right(1);
    }
    let options = Options {
        margin,
        floor: arguments.get_one::<String>("floor").map(|name| floor(name, &runs[0], out)).transpose()?,
        baseline_arm: baseline.cloned().filter(|_| runs.len() == 1),
        factors: super::many(arguments, "factor"),
    };
    let mut comparison = match &runs[..] {
        [(run, findings)] => arms(run, findings, &options)?,
        _ => {
            let runs: Vec<_> = runs.iter().map(|(run, findings)| (run, findings)).collect();
            let mut comparison = stend_analyse::compare(&runs, &options);
            if arguments.contains_id("output") {
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

/// Runs that are compared with the first of them, by name, with what is `found` in each: with charts, or without.
///
/// Errors: `Usage` if there are too many; those of reading a run.
pub fn judged_all(
    arguments: &ArgMatches,
    names: &[String],
    found: fn(&RunRecord) -> Result<Findings>,
    out: &Out,
) -> Result<Vec<Judged>> {
    let given = names.len();
    if !(1..=RUNS_MAX).contains(&given) {
        return Err(usage(say!(
            "1 to {RUNS_MAX} runs can be compared, {given} given",
            "сравнить можно от 1 до {RUNS_MAX} прогонов, указано: {given}"
        ))
        .hint(say!("`stend list` shows your runs", "`stend list` покажет, какие прогоны есть")));
    }
    let runs: Vec<RunRecord> = names.iter().map(|name| super::read(name, out)).collect::<Result<_>>()?;
    // All together, so that one machine has one stand-in in all of them.
    let runs = super::redact::records(arguments, runs, out)?;
    runs.into_iter().map(|run| found(&run).map(|findings| (run, findings))).collect()
}

fn judged(name: &str, found: fn(&RunRecord) -> Result<Findings>, out: &Out) -> Result<Judged> {
    let run = super::read(name, out)?;
    let findings = found(&run)?;
    Ok((run, findings))
}

/// Which of the runs is meant: by the word that names it on the command line, or by its id or the beginning of that.
fn place(baseline: &str, names: &[String], runs: &[Judged]) -> Result<usize> {
    let word = names.iter().position(|name| name == baseline);
    let mut by_id = runs.iter().enumerate().filter(|(_, (_, findings))| findings.run.starts_with(baseline));
    let only = by_id.next().map(|(i, _)| i).filter(|_| by_id.next().is_none());
    word.or(only.filter(|_| !baseline.is_empty())).ok_or_else(|| {
        let given = names.join(", ");
        usage(say!("`--baseline {baseline}` is not one of the runs", "`--baseline {baseline}` — не один из прогонов"))
            .hint(say!("name one of the compared runs: {given}", "укажите один из сравниваемых: {given}"))
    })
}

/// The A/A floor that another run shows.
fn floor(name: &str, baseline: &Judged, out: &Out) -> Result<Floor> {
    let (run, findings) = judged(name, stend_analyse::judge, out)?;
    if findings.run == baseline.1.run && run.header.inputs.suite.arms.is_empty() {
        return Err(usage(say!(
            "`--floor {name}` is the baseline itself, so it would show no noise",
            "`--floor {name}` — сама база, шума у неё не было бы"
        ))
        .hint(repetition()));
    }
    let found = stend_analyse::compare::floor((&run, &findings), (&baseline.0, &baseline.1))?;
    found.ok_or_else(|| {
        usage(say!(
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
            Err(usage(say!(
                "`--factor {unknown}` is not a condition of these runs",
                "`--factor {unknown}` — не условие этих прогонов"
            ))
            .hint(say!("these changed: {changed}", "изменились: {changed}")))
        }
    }
}

fn usage(message: Say) -> Box<Error> {
    Error::new(Kind::Usage, message)
}

/// A single run is compared with itself: its arms with the first of them.
fn arms(run: &RunRecord, findings: &Findings, options: &Options) -> Result<Comparison> {
    stend_analyse::compare_arms(run, findings, options)?.ok_or_else(|| {
        let id = &findings.run;
        Error::new(
            Kind::Usage,
            say!(
                "`{id}` alone has nothing to compare: fewer than two of its arms were measured",
                "в `{id}` нечего сравнивать: измерено меньше двух вариантов"
            ),
        )
        .hint(say!(
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
            Err(Error::new(Kind::Usage, say!("`--margin {text}` is not a margin", "`--margin {text}` — не допуск"))
                .hint(say!(
                    "a share from {least}% to {most}%, e.g. 5%: the difference that does not matter",
                    "доля от {least}% до {most}%, например 5%: различие, которое не важно"
                )))
        }
    }
}
