//! Gates: of `--gate FILE` and `--expect LIMIT`, or of an order; what they say as JUnit, and for the end of the program.

use crate::out::Out;
use crate::save::Output;
use clap::ArgMatches;
use stend_analyse::gate::{GateFinding, Open, Outcome};
use stend_base::{Error, Kind, Lang, Result, Say, say};
use stend_record::{GateText, RunRecord};
use stend_spec::arm::Arm;
use stend_spec::gate::Gate;
use stend_spec::order::{NamedText, Order, Work};
use stend_spec::parse::nearest;
use stend_spec::suite::Suite;

/// A gate to begin with; both languages have the same rules.
pub fn sample(lang: Lang) -> &'static str {
    lang.pick(include_str!("gate.yaml"), include_str!("gate.ru.yaml"))
}

/// The gate that `--gate` and `--expect` give together; `None` without either.
///
/// Errors: `Spec` of the file, `Usage` of a limit on the command line.
pub fn of(arguments: &ArgMatches) -> Result<Option<Gate>> {
    together(text(arguments)?.as_ref(), &super::many(arguments, "expect"))
}

/// The gate of one run that is asked for.
///
/// Errors: as [`of_one_run`], and limits that no case of the suite can be about.
pub fn of_order(order: &Order) -> Result<Option<Gate>> {
    let gate = with_limits(together(order.gate.as_ref(), &order.expect)?)?;
    if let (Some(gate), Work::Suite(work)) = (&gate, &order.work) {
        let suite = stend_session::suite(&work.suite)?;
        check_cases(gate, &suite)?;
    }
    Ok(gate)
}

/// What a run was held against when it ended; the results say the same later.
pub fn of_record(run: &RunRecord, out: &Out) -> Option<Gate> {
    let GateText { file, text, expect } = run.header.gate.as_ref()?;
    let named = NamedText { file: file.clone(), text: text.clone() };
    let gate = together((!text.is_empty()).then_some(&named), expect);
    gate.and_then(with_limits).unwrap_or_else(|error| {
        out.note(error.message.get(out.lang));
        None
    })
}

fn together(file: Option<&NamedText>, expected: &[String]) -> Result<Option<Gate>> {
    let file = file.map(|NamedText { file, text }| stend_spec::parse::gate(text, file)).transpose()?;
    let limits = expected.iter().map(|text| stend_spec::parse::expect(text)).collect::<Result<Vec<_>>>()?;
    let bare = || Gate { name: None, margin: None, rules: Vec::new(), limits: Vec::new() };
    let Some(mut gate) = file.or_else(|| (!limits.is_empty()).then(bare)) else { return Ok(None) };
    gate.limits.extend(limits);
    Ok(Some(gate))
}

/// The same for one run, which only limits can be about.
pub fn of_one_run(arguments: &ArgMatches) -> Result<Option<Gate>> {
    with_limits(of(arguments)?)
}

fn with_limits(gate: Option<Gate>) -> Result<Option<Gate>> {
    match &gate {
        Some(gate) if gate.limits.is_empty() => {
            let name = gate.name.as_deref().unwrap_or_default();
            Err(Error::usage(say!(
                "gate `{name}` has no `limits`, and its `rules` are about comparisons",
                "в пороге `{name}` нет пределов (`limits`), а правила (`rules`) — для сравнений"
            ))
            .hint(say!(
                "use it with a comparison: `stend compare RUN RUN --gate FILE`; or add `limits`",
                "используйте его для сравнения: `stend compare ПРОГОН ПРОГОН --gate ФАЙЛ`; или добавьте `limits`"
            )))
        }
        _ => Ok(gate),
    }
}

/// Refuses limits about cases that no case of the suite can be: nobody should learn that after an hour of measuring.
///
/// Errors: `Usage`.
fn check_cases(gate: &Gate, suite: &Suite) -> Result<()> {
    let names: Vec<&str> = suite.cases.iter().map(|case| case.name.as_str()).collect();
    let in_arm = |arm: &Arm| names.iter().map(|name| format!("{}: {name}", arm.name)).collect::<Vec<_>>();
    let in_arms: Vec<String> = suite.arms.iter().flat_map(in_arm).collect();
    let all = || names.iter().copied().chain(in_arms.iter().map(String::as_str));
    let strange = |limit: &&stend_spec::gate::GateLimit| !all().any(|name| limit.may_be_about(name));
    let Some(limit) = gate.limits.iter().find(strange) else { return Ok(()) };
    let (text, cases) = (&limit.text, &limit.cases);
    let message = match limit.line {
        Some(line) => say!(
            "line {line} of the gate, `{text}`: the suite has no case `{cases}`",
            "строка {line} порога, `{text}`: в наборе нет случая `{cases}`"
        ),
        None => {
            say!(
                "--expect '{text}': the suite has no case `{cases}`",
                "--expect '{text}': в наборе нет случая `{cases}`"
            )
        }
    };
    let known = names.join("`, `");
    Err(Error::usage(message).hint(match nearest(cases, all()) {
        Some(near) => say!("did you mean `{near}`?", "возможно, `{near}`?"),
        None => say!("its cases: `{known}`", "случаи набора: `{known}`"),
    }))
}

/// What the gate says, as the end of the program.
pub fn verdict(gate: &GateFinding) -> Result<()> {
    let hint = say!(
        "the result shows each value with its limit, or with the line of its rule",
        "в результате названо каждое значение — с пределом или строкой правила"
    );
    let message = match (&gate.name, gate.outcome) {
        (_, Outcome::Passed) => return Ok(()),
        (Some(name), Outcome::Failed) => say!("gate `{name}` failed", "порог `{name}` не пройден"),
        (None, Outcome::Failed) => say!("`--expect` does not hold", "требование `--expect` не выполнено"),
        (Some(name), Outcome::Undecided) => say!(
            "gate `{name}` is undecided: nothing failed, but there were too few data for some limits",
            "порог `{name}`: нарушений нет, но для части пределов мало данных"
        ),
        (None, Outcome::Undecided) => say!(
            "`--expect` is undecided: nothing failed, but there are too few data",
            "выполнено ли требование `--expect`, неясно: нарушений нет, но данных мало"
        ),
    };
    match gate.outcome {
        Outcome::Passed => Ok(()),
        Outcome::Failed => Err(Error::new(Kind::GateFailed, message).hint(hint)),
        Outcome::Undecided => Err(Error::new(Kind::Inconclusive, message).hint(match blocks_needed(gate) {
            Some(blocks) => {
                say!("repeat the run with `--repeats {blocks}`", "повторите прогон с `--repeats {blocks}`")
            }
            None => say!(
                "the result shows what each value needs; `inconclusive: pass` in a gate file lets such values pass",
                "в результате сказано, чего не хватает каждому значению; `inconclusive: pass` в файле порогов их пропустит"
            ),
        })),
    }
}

/// How many blocks decide about all limits that are undecided; `None` where more blocks would not.
fn blocks_needed(gate: &GateFinding) -> Option<u32> {
    let undecided = gate.limits.iter().filter(|value| value.outcome == Outcome::Undecided);
    let needed = undecided.map(|value| match &value.open {
        Some(Open::BothSides(blocks) | Open::NoInterval(blocks)) => blocks.need,
        Some(Open::Failed(_) | Open::Printed) | None => None,
    });
    needed.collect::<Option<Vec<u32>>>()?.into_iter().max()
}

/// The gate file that the command line names.
pub fn text(arguments: &ArgMatches) -> Result<Option<NamedText>> {
    arguments.get_one::<String>("gate").map(|file| read(file)).transpose()
}

fn read(file: &str) -> Result<NamedText> {
    let text = stend_sys::regular::text(file, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::spec(say!("cannot read the gate `{file}`: {en}", "не удаётся прочитать порог `{file}`: {ru}")).hint(
            say!("`stend compare --sample-gate` prints a sample", "образец напечатает `stend compare --sample-gate`"),
        )
    })?;
    Ok(NamedText { file: file.to_string(), text })
}

/// Where what a gate says of one run is written as JUnit.
pub enum Junit {
    /// To the standard output, in place of the findings.
    Printed,
    /// To a file.
    File(Output),
}

impl Junit {
    /// What `--junit` names.
    ///
    /// Errors: those of a file that cannot be written.
    pub fn of(arguments: &ArgMatches) -> Result<Option<Junit>> {
        if super::to_standard_output(arguments, "junit") {
            return Ok(Some(Junit::Printed));
        }
        let file = super::output(arguments, "junit", say!("the gate", "решение порога"));
        file.iter().try_for_each(|file| file.check().map(drop))?;
        Ok(file.map(Junit::File))
    }

    /// Writes it; `true` if that was to the standard output.
    pub fn write(&self, gate: &GateFinding, out: &Out) -> Result<bool> {
        let text = stend_report::junit(None, gate, out.lang);
        match self {
            Junit::Printed => out.result(&text).map(|()| true),
            Junit::File(file) => {
                file.save(|to| to.write_all(text.as_bytes()))?;
                out.note(&file.path().display().to_string());
                Ok(false)
            }
        }
    }
}
