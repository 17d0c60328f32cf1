//! The words of `stend compare`.

use super::{flag, force, option, run_argument, verb};
use clap::{ArgAction, ArgGroup, Command};
use stend_base::{Lang, say};

pub(super) fn compare(lang: Lang) -> Command {
    let about = say!(
        "compare runs with the first of them, or the arms of one run: what changed, and a verdict on every case",
        "сравнить прогоны с первым из них или варианты одного прогона: что изменилось и вердикт по каждому случаю"
    );
    let examples = "stend compare before.stend after.stend\nstend compare last --margin 5%\nstend compare last --published published/nvme-soft-raid.csv --layout raid0\nstend compare R-20261121T18 last -o compare.html --lang ru";
    let margin = say!(
        "difference that does not matter (default: 2%; better and worse are also beyond the noise)",
        "различие, которое не важно (по умолчанию 2%; лучше и хуже — ещё и вне шума)"
    );
    let output =
        say!("HTML file to write as well; `-` is the standard output", "записать и файл HTML; `-` — стандартный вывод");
    let baseline = say!(
        "which of the runs, or which arm of one, is 100 % (default: the first)",
        "какой из прогонов или вариантов принять за 100 % (по умолчанию первый)"
    );
    let floor = say!(
        "a repetition of the baseline, or a run with two arms of one configuration: smaller differences are noise",
        "повтор базы или прогон с двумя вариантами одной конфигурации: меньшие различия — шум"
    );
    let gate = say!(
        "rules that the comparison is held against, see docs/formats/gate.md: exit code 10 failed, 11 not decided",
        "правила, которым сравнение должно удовлетворять, см. docs/formats/gate.md: код 10 — не пройден, 11 — не решён"
    );
    let junit = say!("write what the gate says as JUnit", "записать решение порога в формате JUnit");
    let markdown = say!("write the comparison as Markdown", "записать сравнение в формате Markdown");
    let factor = say!(
        "conditions that are meant to differ, as --json names them, separated by commas",
        "условия, которые и должны различаться, через запятую; имена — как в --json"
    );
    let history = say!(
        "follow each value over 4 to 1000 runs in the order of time, and tell where it changed and stayed so",
        "проследить каждую величину по 4–1000 прогонам в порядке времени и показать, где она изменилась и осталась такой"
    );
    let published = say!(
        "put one run beside the numbers of a table, see docs/formats/published.md; no verdict, every difference told",
        "поставить один прогон рядом с числами таблицы, см. docs/formats/published.md; без вердикта, все отличия названы"
    );
    let layout = say!(
        "only what the table calls so, or a part of it",
        "только то, что в таблице названо так, или часть названия"
    );
    let arguments = vec![
        run_argument(lang).num_args(1..).action(ArgAction::Append),
        option("published", "TABLE", published, lang)
            .conflicts_with_all(["baseline", "margin", "floor", "factor", "gate", "markdown", "history"]),
        option("layout", "TEXT", layout, lang).requires("published"),
        option("baseline", "RUN", baseline, lang),
        option("margin", "SHARE", margin, lang),
        option("floor", "RUN", floor, lang),
        option("factor", "CONDITION", factor, lang).action(ArgAction::Append).value_delimiter(','),
        option("gate", "FILE", gate, lang),
        option("junit", "FILE", junit, lang).requires("gate"),
        option("markdown", "FILE", markdown, lang),
        option("output", "FILE", output, lang).short('o'),
        force(lang).requires("result"),
        flag("history", None, history, lang)
            .conflicts_with_all(["markdown", "baseline", "margin", "floor", "factor", "gate"]),
    ];
    let results = ArgGroup::new("result").args(["output", "junit", "markdown"]).multiple(true);
    verb("compare", about, examples, "RUN RUN…", arguments, lang).group(results)
}
