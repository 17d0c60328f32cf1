//! The words of `stend import`.

use super::{option, positional, verb};
use clap::{ArgAction, Command};
use stend_base::{Lang, say};

pub(super) fn import(lang: Lang) -> Command {
    let about = say!(
        "make a run of results of fio (--output-format=json or json+) or of its logs: several files of one job are its trials",
        "сделать прогон из результатов fio (--output-format=json или json+) или его журналов: несколько файлов одного задания — его испытания"
    );
    let examples = "stend import result.json\nstend import run1.json run2.json run3.json -o before.stend\n\
                    stend import job_lat.1.log job_lat.2.log -o intervals.stend";
    let file = say!(
        "results as fio prints them, see docs/formats/import.md",
        "результаты, как их печатает fio, см. docs/formats/import.md"
    );
    let output = say!("run file to write", "файл прогона");
    let arguments = vec![
        positional("FILE", file, lang).num_args(1..).action(ArgAction::Append),
        option("output", "FILE", output, lang).short('o'),
    ];
    verb("import", about, examples, "FILE…", arguments, lang)
}
