//! The words of `stend run`.

use super::{choice, flag, force, option, positional, verb};
use clap::{Arg, ArgAction, Command};
use stend_base::{Lang, say};

pub(super) fn run(lang: Lang) -> Command {
    let about = say!("measure a target with a suite", "измерить объект набором испытаний");
    let examples = "stend run quick --on /mnt/test\n\
                    stend run quick --on /mnt/test --dry-run\n\
                    stend run quick --on /mnt/test --time-budget 1min -o before.stend\n\
                    stend run my-suite.yaml --on /dev/sdb --confirm serial:S5XYNX0R1\n\
                    stend run quick --stand a.yaml --stand b.yaml\n\
                    stend run quick --stand a.yaml --stand b.yaml --rebuild\n\
                    stend run --resume last";
    let suite = say!(
        "a suite that `stend suites` lists, such as `quick`, or a suite file",
        "набор из списка `stend suites`, например `quick`, или файл набора (YAML)"
    );
    let resume = say!(
        "go on with a run that ended early, also after a reboot",
        "продолжить прерванный прогон, в том числе после перезагрузки"
    );
    let commands = say!(
        "allow what the arms of the suite execute or change on this host; --dry-run lists it",
        "разрешить то, что варианты набора выполняют и изменяют на этой машине; список даёт --dry-run"
    );
    let beside = say!(
        "run although another run of Stend loads the same drives; both results say so",
        "запустить, хотя те же накопители нагружает другой прогон Stend; об этом скажут оба результата"
    );
    let budget = say!(
        "wall time the run should take, e.g. 90s, 5min",
        "сколько времени должен занять прогон, например 90s, 5min"
    );
    let seed = say!(
        "seed of all random choices (default: from the clock)",
        "зерно всех случайных выборов (по умолчанию — от часов)"
    );
    let engine = say!(
        "native, or fio to check Stend against it (default: the suite's)",
        "native или fio для проверки Stend (по умолчанию — из набора)"
    );
    let dry_run = say!(
        "print what the run would do, write and take, and change nothing",
        "показать, что прогон сделает, запишет и займёт, ничего не меняя"
    );
    let output = say!("run file to write; the report goes beside it", "файл прогона; отчёт ляжет рядом");
    let mut arguments = vec![positional("SUITE", suite, lang).required(false).required_unless_present("resume")];
    arguments.extend(places(lang));
    arguments.extend([
        option("resume", "RUN", resume, lang).conflicts_with_all(["SUITE", "time-budget", "seed", "engine", "output"]),
        flag("dry-run", None, dry_run, lang).conflicts_with("resume"),
        flag("allow-commands", None, commands, lang),
        flag("beside", None, beside, lang),
        option("time-budget", "TIME", budget, lang),
        option("seed", "N", seed, lang),
        option("engine", "ENGINE", engine, lang).value_parser(["native", "fio"]).hide_possible_values(true),
        option("output", "FILE", output, lang).short('o'),
        force(lang),
        choice("progress", "HOW", &["auto", "tty", "plain", "none"], lang),
    ]);
    verb("run", about, examples, "SUITE --on PATH", arguments, lang)
}

/// What is measured, where, and what may be lost there.
fn places(lang: Lang) -> Vec<Arg> {
    let on = say!(
        "directory, file or block device (by path or identity); several of one kind are loaded at the same time; with --resume only where the next arm replaces the target",
        "каталог, файл или блочное устройство (путь или идентичность); несколько одного вида нагружаются одновременно; с --resume — только если следующий вариант заменяет объект"
    );
    let stand = say!(
        "stand file to put up first, measure and take down again; several are measured one after the other and compared with the first",
        "файл стенда: поднять, измерить и убрать; несколько измеряются по очереди и сравниваются с первым"
    );
    let rebuild = say!(
        "build the stands anew for every block of the suite, in alternating order: what differs between builds, and what drifts, then counts as it should",
        "собирать стенды заново для каждого блока набора, в чередующемся порядке: тогда различие сборок и дрейф учтены верно"
    );
    let confirm = say!(
        "allow writing to the device with this identity, as `stend inspect` prints it; once for each device",
        "разрешить запись на устройство с этой идентичностью (её печатает `stend inspect`); для каждого устройства отдельно"
    );
    let overwrite = say!(
        "the signature found on the device that may be overwritten, e.g. ext4",
        "найденная на устройстве метка, которую можно затереть, например ext4"
    );
    let storage = say!(
        "for a stand with `across`: the host that has its drives and hands them out: `ssh:HOST`, or the name of a machine of the lab that is up",
        "для стенда с `across`: машина, у которой его накопители и которая их отдаёт: `ssh:HOST` или имя запущенной машины лаборатории"
    );
    let ssh = say!(
        "run on another host, as `ssh` knows it (root@db1); PATH is one of its drives or directories; this program is copied there once",
        "выполнить на другой машине, известной `ssh` (root@db1); PATH — её накопитель или каталог; программа копируется туда один раз"
    );
    let lab = say!(
        "machine file: start this virtual machine and run in it; or the name of one that is up; PATH is one of its drives or directories",
        "файл машины: запустить эту виртуальную машину и выполнить прогон в ней; или имя запущенной; PATH — её накопитель или каталог"
    );
    vec![
        option("on", "PATH", on, lang).action(ArgAction::Append).required_unless_present_any(["resume", "stand"]),
        option("stand", "FILE", stand, lang).action(ArgAction::Append).conflicts_with_all([
            "on",
            "resume",
            "confirm",
            "overwrite-signature",
        ]),
        flag("rebuild", None, rebuild, lang).requires("stand").conflicts_with_all(["on", "resume"]),
        option("lab", "FILE|NAME", lab, lang),
        option("ssh", "HOST", ssh, lang).conflicts_with("lab"),
        option("storage", "NAME", storage, lang),
        option("confirm", "ID", confirm, lang).action(ArgAction::Append),
        option("overwrite-signature", "NAME", overwrite, lang).action(ArgAction::Append),
    ]
}
