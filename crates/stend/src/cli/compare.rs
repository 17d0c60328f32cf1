//! The words of `stend compare`.

use super::{flag, force, option, redact, run_argument, verb};
use clap::{Arg, ArgAction, ArgGroup, Command};
use stend_base::{Lang, say};

pub(super) fn compare(lang: Lang) -> Command {
    let about = say!(
        "compare runs with the first of them, or the arms of one run: what changed, and a verdict on every case",
        "сравнить прогоны с первым из них или варианты одного прогона: что изменилось и вердикт по каждому случаю"
    );
    let examples = "stend compare before.stend after.stend\nstend compare last --margin 5%\nstend compare last --published nvme-soft-raid --layout raid0\nstend compare before.stend last --expect 'p99 < 5ms' --gate nightly.yaml --junit gate.xml\nstend compare --sample-gate > nightly.yaml\nstend compare R-20261121T18 last -o compare.html --lang ru";
    let margin = say!(
        "difference that does not matter (default: 2%; better and worse must also exceed the noise)",
        "различие, которое не важно (по умолчанию 2%; «лучше» и «хуже» должны ещё превышать шум)"
    );
    let output =
        say!("HTML file to write as well; `-` is the standard output", "записать и файл HTML; `-` — стандартный вывод");
    let baseline = say!(
        "run, or arm of one run, that counts as 100 % (default: the first)",
        "какой из прогонов или вариантов принять за 100 % (по умолчанию первый)"
    );
    let floor = say!(
        "a repetition of the baseline, or a run with two arms of one configuration: smaller differences are noise",
        "повтор базы или прогон с двумя вариантами одной конфигурации: меньшие различия — шум"
    );
    let markdown = say!("write the comparison as Markdown", "записать сравнение в формате Markdown");
    let factor = say!(
        "conditions that are meant to differ, as --json names them, separated by commas",
        "условия, которые и должны различаться, через запятую; имена — как в --json"
    );
    let history = say!(
        "follow each value over 4 to 1000 runs in order of time, and show where it changed for good",
        "проследить каждую величину по 4–1000 прогонам в порядке времени и показать, где она изменилась надолго"
    );
    let verbose = say!(
        "everything: values of changed conditions, probabilities, means, checks, and what the verdicts mean",
        "всё: значения изменившихся условий, вероятности, средние, проверки и что означают вердикты"
    );
    let sample = say!(
        "print a sample gate file, and do nothing else",
        "напечатать образец файла порогов и ничего больше не делать"
    );
    let mut arguments = vec![
        run_argument(lang)
            .num_args(1..)
            .action(ArgAction::Append)
            .required(false)
            .required_unless_present("sample-gate"),
        option("baseline", "RUN", baseline, lang),
        option("margin", "SHARE", margin, lang),
        option("floor", "RUN", floor, lang),
        option("factor", "CONDITION", factor, lang).action(ArgAction::Append).value_delimiter(','),
        option("markdown", "FILE", markdown, lang),
        option("output", "FILE", output, lang).short('o'),
        force(lang).requires("result"),
        redact(lang).conflicts_with_all(["published", "history", "floor"]),
        flag("verbose", Some('v'), verbose, lang),
        flag("history", None, history, lang)
            .conflicts_with_all(["markdown", "baseline", "margin", "floor", "factor", "gate", "expect"]),
        flag("sample-gate", None, sample, lang).conflicts_with("RUN"),
    ];
    arguments.extend(published(lang));
    arguments.extend(gate(lang));
    arguments.push(junit(lang));
    let results = ArgGroup::new("result").args(["output", "junit", "markdown"]).multiple(true);
    verb("compare", about, examples, "RUN [RUN…]", arguments, lang).group(results).group(gates())
}

/// A table of somebody else's.
fn published(lang: Lang) -> [Arg; 2] {
    let published = say!(
        "show one run beside the numbers of a table, as `stend audit` reads it; every difference, no verdict",
        "показать один прогон рядом с числами таблицы (как у `stend audit`): все отличия, без вердикта"
    );
    let layout = say!(
        "only rows with this name, or with it as a part of their name",
        "только строки с таким названием или частью названия"
    );
    let published = option("published", "TABLE", published, lang)
        .conflicts_with_all(["baseline", "margin", "floor", "factor", "gate", "expect", "markdown", "history"]);
    [published, option("layout", "TEXT", layout, lang).requires("published")]
}

/// What results must hold.
pub(super) fn gate(lang: Lang) -> [Arg; 2] {
    let gate = say!(
        "file of limits (docs/formats/gate.md): exit code 10 missed, 11 too few data",
        "файл порогов (docs/formats/gate.md): код 10 — не пройден, 11 — мало данных"
    );
    let expect = say!(
        "one limit, such as 'rand-read p99 < 5ms' or 'iops >= 20000'; repeatable; exit codes as for --gate",
        "один предел, например 'rand-read p99 < 5ms' или 'iops >= 20000'; можно повторять, коды — как у --gate"
    );
    [
        option("gate", "FILE", gate, lang),
        option("expect", "LIMIT", expect, lang).action(ArgAction::Append).allow_hyphen_values(true),
    ]
}

/// What a gate says, as a file.
pub(super) fn junit(lang: Lang) -> Arg {
    let junit = say!("write the result of the gate as JUnit", "записать итог проверки порогов в формате JUnit");
    option("junit", "FILE", junit, lang).requires("gates")
}

/// Either of the options that make a gate.
pub(super) fn gates() -> ArgGroup {
    ArgGroup::new("gates").args(["gate", "expect"]).multiple(true)
}
