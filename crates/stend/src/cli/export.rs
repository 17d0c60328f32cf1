//! The words of `stend export`.

use super::{choice, flag, force, option, redact, run_argument, verb};
use clap::{ArgAction, Command};
use stend_base::{Lang, say};

/// Forms of an export, the default first. `docs/formats/export.md` says what is in each.
pub const FORMATS: [&str; 10] =
    ["json", "csv", "csv-ru", "csv-trials", "csv-sources", "xlsx", "fio-json", "fio-job", "fio", "run"];

pub(super) fn export(lang: Lang) -> Command {
    let about = say!(
        "write a run for other programs: all (json), results (csv, csv-ru, xlsx, fio-json), trials (csv-trials), sources (csv-sources), the suite as a fio job file (fio-job, also of a suite), every I/O (--ios), or a copy of the run file (run)",
        "выгрузить прогон для других программ: целиком (json), результаты (csv, csv-ru, xlsx, fio-json), испытания (csv-trials), источники (csv-sources), его набор в виде заданий fio (fio-job, в том числе из набора), каждую операцию (--ios) или копию файла прогона (run)"
    );
    let examples = "stend export last --format xlsx -o results.xlsx\n\
                    stend export before.stend after.stend --format xlsx -o compared.xlsx\n\
                    stend export last --format csv -o results.csv\n\
                    stend export last --format run --redact -o shared.stend\n\
                    stend export last --format fio-json -o plots/\n\
                    stend export my-suite.yaml --format fio-job -o jobs.fio\n\
                    stend export last --ios --trial 3 --format fio -o lat.log";
    let ios = say!(
        "the log of every I/O, if the suite keeps one (`io_log`): csv, or fio for a latency log of fio",
        "журнал операций, если он заказан в наборе (`io_log`): csv или fio — журнал задержек, как у fio"
    );
    let trial = say!("only the log of this trial of the run", "только журнал этого испытания прогона");
    let output = say!(
        "file to write (default: the standard output); for fio-json also a folder, with a file for each case",
        "файл (по умолчанию — стандартный вывод); для fio-json можно каталог, тогда на каждый случай свой файл"
    );
    let arguments = vec![
        run_argument(lang).num_args(1..).action(ArgAction::Append),
        flag("ios", None, ios, lang),
        option("trial", "N", trial, lang)
            .requires("ios")
            // Without it clap does not miss `--ios` beside `--redact`.
            .conflicts_with("redact")
            .value_parser(clap::value_parser!(u32)),
        choice("format", "FORMAT", &FORMATS, lang),
        option("output", "FILE", output, lang).short('o'),
        force(lang).requires("output"),
        redact(lang).conflicts_with("ios"),
    ];
    verb("export", about, examples, "RUN… [--format FORMAT]", arguments, lang)
}
