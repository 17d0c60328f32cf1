//! Gates of the command line: `--gate FILE` and `--expect LIMIT`, and what they mean for the end of the program.

use clap::ArgMatches;
use stend_analyse::gate::{GateFinding, Outcome};
use stend_base::{Error, Kind, Result, Say, say};
use stend_spec::gate::Gate;
use stend_spec::parse::nearest;

/// A gate to begin with.
pub const SAMPLE: &str = include_str!("gate.yaml");
/// Name of the gate that `--expect` makes without a file.
const EXPECTED: &str = "expect";

/// The gate that `--gate` and `--expect` give together; `None` without either.
///
/// Errors: `Spec` of the file, `Usage` of a limit on the command line.
pub fn of(arguments: &ArgMatches) -> Result<Option<Gate>> {
    let file = arguments.get_one::<String>("gate").map(|file| read(file)).transpose()?;
    let expected = super::many(arguments, "expect");
    let limits = expected.iter().map(|text| stend_spec::parse::expect(text)).collect::<Result<Vec<_>>>()?;
    let bare = || Gate { name: EXPECTED.into(), margin: None, rules: Vec::new(), limits: Vec::new() };
    let Some(mut gate) = file.or_else(|| (!limits.is_empty()).then(bare)) else { return Ok(None) };
    gate.limits.extend(limits);
    Ok(Some(gate))
}

/// The same for one run, which only limits can be about.
pub fn of_one_run(arguments: &ArgMatches) -> Result<Option<Gate>> {
    let gate = of(arguments)?;
    match &gate {
        Some(gate) if gate.limits.is_empty() => {
            let name = &gate.name;
            Err(Error::new(
                Kind::Usage,
                say!(
                    "gate `{name}` has no `limits`, and its `rules` are about comparisons",
                    "в пороге `{name}` нет пределов (`limits`), а правила (`rules`) — для сравнений"
                ),
            )
            .hint(say!(
                "hold a comparison against it: `stend compare RUN RUN --gate FILE`; or add `limits`",
                "проверьте им сравнение: `stend compare ПРОГОН ПРОГОН --gate ФАЙЛ`; или добавьте `limits`"
            )))
        }
        _ => Ok(gate),
    }
}

/// Refuses limits about cases that no case of the suite can be: nobody should learn that after an hour of measuring.
///
/// Errors: `Usage`.
pub fn check_cases(gate: &Gate, names: &[&str]) -> Result<()> {
    let strange = |limit: &&stend_spec::gate::GateLimit| !names.iter().any(|name| limit.may_be_about(name));
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
    Err(Error::new(Kind::Usage, message).hint(match nearest(cases, names.iter().copied()) {
        Some(near) => say!("did you mean `{near}`?", "возможно, имелось в виду `{near}`?"),
        None => say!("its cases: `{known}`", "случаи набора: `{known}`"),
    }))
}

/// What the gate says, as the end of the program.
pub fn verdict(gate: &GateFinding) -> Result<()> {
    let name = &gate.name;
    let hint = say!(
        "the result names each value with its limit, or with the line of its rule",
        "в результате названо каждое значение — с пределом или строкой правила"
    );
    match gate.outcome {
        Outcome::Passed => Ok(()),
        Outcome::Failed => {
            Err(Error::new(Kind::GateFailed, say!("gate `{name}` failed", "порог `{name}` не пройден")).hint(hint))
        }
        Outcome::Undecided => Err(Error::new(
            Kind::Inconclusive,
            say!(
                "gate `{name}` is undecided: nothing failed, and not everything could be told",
                "порог `{name}`: ничто не превышено, но данных хватило не для всего"
            ),
        )
        .hint(say!(
            "the result says what each value needs; `inconclusive: pass` in a gate file lets such values pass",
            "в результате сказано, чего не хватает каждому значению; `inconclusive: pass` в файле порогов их пропустит"
        ))),
    }
}

fn read(file: &str) -> Result<Gate> {
    let text = stend_sys::regular::text(file, stend_spec::parse::SIZE_MAX as u64).map_err(|Say { en, ru }| {
        Error::new(Kind::Spec, say!("cannot read the gate `{file}`: {en}", "не удаётся прочитать порог `{file}`: {ru}"))
            .hint(say!(
                "`stend compare --sample-gate` prints one to begin with",
                "образец напечатает `stend compare --sample-gate`"
            ))
    })?;
    stend_spec::parse::gate(&text, file)
}
