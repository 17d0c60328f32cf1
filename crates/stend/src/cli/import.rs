//! The words of `stend import`.

use super::{flag, force, option, positional, verb};
use clap::{ArgAction, Command};
use stend_base::{Lang, say};

pub(super) fn import(lang: Lang) -> Command {
    let about = say!(
        "make a run from results of another tool (fio, elbencho, vdbench) or from fio's logs; several files of one load are its trials. With --suite, make a suite from job files of other tools",
        "сделать прогон из результатов другого инструмента (fio, elbencho, vdbench) или журналов fio: несколько файлов одной нагрузки — её испытания; с --suite — набор из заданий других программ"
    );
    let examples = "stend import result.json\nstend import run1.json run2.json run3.json -o before.stend\n\
                    stend import job_lat.1.log job_lat.2.log -o intervals.stend\nstend import elbencho.csv\nstend import bench-fio-folder/\n\
                    stend import --suite jobs.fio -o suite.yaml\n\
                    stend import --suite -- fio --name=a --filename=/dev/sdb --rw=randread --runtime=60";
    let file = say!(
        "results as the tool prints them, recognised by their content (docs/formats/import.md). With --suite: job files, a command line after `--`, or a folder; for a folder Stend prints how each file imports (docs/formats/jobs.md)",
        "результаты, как их печатает инструмент; вид узнаётся по содержимому (docs/formats/import.md). С --suite — файлы заданий, команда после `--` или каталог: для него печатается таблица, как импортируется каждый файл (docs/formats/jobs.md)"
    );
    let suite = say!(
        "make a suite from job files, not a run from results",
        "сделать набор из заданий, а не прогон из результатов"
    );
    let lenient = say!(
        "with --suite: do not reject options that mean something else here, but list them in the suite",
        "с --suite: параметры, которые здесь значат другое, не отвергать, а перечислить в наборе"
    );
    let output = say!(
        "file to write (with --suite by default the standard output)",
        "файл результата (с --suite по умолчанию — стандартный вывод)"
    );
    let arguments = vec![
        positional("FILE", file, lang).num_args(1..).action(ArgAction::Append),
        flag("suite", None, suite, lang),
        flag("lenient", None, lenient, lang).requires("suite"),
        option("output", "FILE", output, lang).short('o'),
        force(lang).requires("suite").requires("output"),
    ];
    verb("import", about, examples, "FILE…", arguments, lang)
}
