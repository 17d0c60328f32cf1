//! The words of `stend run`.

use super::{choice, flag, force, group, hosts_file, option, positional, verb, word};
use clap::{Arg, ArgAction, ArgGroup, Command};
use stend_base::{Lang, Say, say};

pub(super) fn run(lang: Lang) -> Command {
    let about = say!("measure a directory, file or device", "измерить каталог, файл или диск набором тестов");
    let examples = "stend run quick --on /mnt/test\n\
                    stend run --rw randread --bs 4k --qd 1,4,16,64 --on /mnt/test\n\
                    stend run --rw randrw --mix 70 --bs 8k,64k --jobs 4 --time 10s --on /mnt/test --print-suite\n\
                    stend run quick --on /mnt/test --dry-run\n\
                    stend run quick --on /mnt/test --time-budget 1min --name before -o before.stend\n\
                    stend run quick --on /mnt/test --expect 'rand-read p99 < 5ms' --expect 'iops >= 20000' --junit gate.xml\n\
                    stend run my-suite.yaml --on /dev/sdb --confirm serial:S5XYNX0R1\n\
                    stend run quick --on /mnt/a --against /mnt/b\n\
                    stend run quick --ssh db1 --ssh db2 --on db1:/dev/sdb --on db2:/dev/sdc --dry-run\n\
                    stend run quick --stand a.yaml --stand b.yaml\n\
                    stend run quick --stand a.yaml --stand b.yaml --rebuild\n\
                    stend run --resume last\n\
                    stend run quick --on /mnt/test --print-order > order.json\n\
                    stend run --order order.json";
    let suite = say!(
        "a suite that `stend suites` lists, such as `quick`, or a suite file",
        "набор из списка `stend suites`, например `quick`, или файл набора (YAML)"
    );
    let resume = say!(
        "continue a run that ended early, also after a reboot",
        "продолжить прерванный прогон, в том числе после перезагрузки"
    );
    let commands = say!(
        "allow the commands and changes on this host that the suite asks for; --dry-run lists them",
        "разрешить команды и изменения на этой машине, которые задаёт набор; их перечислит --dry-run"
    );
    let beside = say!(
        "run although another run of Stend loads the same drives; both results mention it",
        "запустить, хотя те же накопители нагружает другой прогон Стенда; это будет отмечено в обоих результатах"
    );
    let dry_run = say!(
        "show what the run would do, write and need; change nothing",
        "показать, что прогон сделает, запишет и займёт, ничего не меняя"
    );
    let mut arguments = vec![positional("SUITE", suite, lang).required(false)];
    arguments.extend(places(lang));
    arguments.extend(workload(lang));
    arguments.extend([
        option("resume", "RUN", resume, lang).conflicts_with_all([
            "SUITE",
            "time-budget",
            "seed",
            "engine",
            "repeats",
            "name",
            "output",
        ]),
        flag("dry-run", None, dry_run, lang),
        flag("allow-commands", None, commands, lang),
        flag("beside", None, beside, lang),
    ]);
    arguments.extend(instead_of_the_suite(lang));
    arguments.extend(kept(lang));
    arguments.extend(super::compare::gate(lang));
    arguments.push(super::compare::junit(lang));
    arguments.extend(orders(lang));
    // An order may hold a gate.
    let gates = ArgGroup::new("gates").args(["gate", "expect", "order"]).multiple(true);
    verb("run", about, examples, "[SUITE] --on PATH", arguments, lang).group(gates)
}

/// What holds whatever the suite says, or follows from nothing in it.
fn instead_of_the_suite(lang: Lang) -> [Arg; 4] {
    let repeats = say!(
        "trials of each case (default: from the suite; with --rw 6, the fewest for an interval that can be published)",
        "испытаний каждого случая (по умолчанию как в наборе; для --rw 6 — наименьшее для интервала, который можно публиковать)"
    );
    let budget = say!(
        "wall time the run should take, e.g. 90s, 5min",
        "сколько времени должен занять прогон, например 90s, 5min"
    );
    let seed = say!(
        "seed of all random choices (default: from the clock)",
        "начальное число всех случайных выборов (по умолчанию — по часам)"
    );
    let engine = say!(
        "native, or fio to check Stend against it (default: the suite's)",
        "native или fio для проверки Стенда (по умолчанию — из набора)"
    );
    [
        option("repeats", "N", repeats, lang),
        option("time-budget", "TIME", budget, lang),
        option("seed", "N", seed, lang),
        option("engine", "ENGINE", engine, lang).value_parser(["native", "fio"]).hide_possible_values(true),
    ]
}

/// What the run is called, where it goes, and what is seen of it meanwhile.
fn kept(lang: Lang) -> [Arg; 4] {
    let name = say!(
        "what to call the run in lists and reports; `stend show LABEL` finds the newest one",
        "как называть прогон в списках и отчётах; `stend show МЕТКА` найдёт самый новый"
    );
    let output = say!("run file to write; the report is written beside it", "файл прогона; отчёт записывается рядом");
    let name = option("name", "LABEL", name, lang);
    let output = option("output", "FILE", output, lang).short('o');
    [name, output, force(lang), choice("progress", "HOW", &["auto", "tty", "plain", "none"], lang)]
}

/// A workload in fio's words, instead of a suite.
fn workload(lang: Lang) -> Vec<Arg> {
    let rw = say!(
        "measure this instead of a suite, in fio's words: read, write, randread, randwrite, rw, randrw; several with commas",
        "измерить это вместо набора, в словах fio: read, write, randread, randwrite, rw, randrw; несколько — через запятую"
    );
    let bs =
        say!("size of an I/O: 4k or 4k,64k,1M (default: 4k)", "размер операции: 4k или 4k,64k,1M (по умолчанию 4k)");
    let qd = say!(
        "queue depth of each job: 32 or 1,4,16 (default: 1)",
        "глубина очереди каждого задания: 32 или 1,4,16 (по умолчанию 1)"
    );
    let jobs =
        say!("jobs (load threads): 4 or 1,2,4 (default: 1)", "задания (потоки нагрузки): 4 или 1,2,4 (по умолчанию 1)");
    let mix =
        say!("percent of reads of rw and randrw (default: 50)", "процент чтений для rw и randrw (по умолчанию 50)");
    let rate = say!(
        "I/Os per second of all jobs together (default: as many as the target can do)",
        "операций в секунду, все задания вместе (по умолчанию — сколько может объект)"
    );
    let time = say!("length of each trial (default: 2500ms)", "длительность каждого испытания (по умолчанию 2500ms)");
    let size = say!(
        "size of the measured range; it is written before measuring (default: auto)",
        "размер измеряемой области; перед измерением она записывается (по умолчанию auto)"
    );
    let sync = say!(
        "make writes durable: fsync or fdatasync after each, or dsync",
        "запись с подтверждением: fsync или fdatasync после каждой либо dsync"
    );
    let verify =
        say!("read everything back and compare it with what was written", "прочитать всё записанное и сверить");
    let print = say!(
        "print the suite for this command line, and do nothing else",
        "напечатать набор для этой командной строки и ничего не делать"
    );
    let words = crate::cmd::workload::KINDS.map(|(word, ..)| word);
    let of_rw = [
        option("bs", "SIZE", bs, lang),
        option("qd", "N", qd, lang).alias("iodepth"),
        option("jobs", "N", jobs, lang).alias("numjobs"),
        option("mix", "PERCENT", mix, lang).alias("rwmixread"),
        option("rate", "IOPS", rate, lang),
        option("time", "TIME", time, lang).alias("runtime"),
        option("size", "SIZE", size, lang),
        option("sync", "WORD", sync, lang).value_parser(["fsync", "fdatasync", "dsync"]).hide_possible_values(true),
        flag("verify", None, verify, lang),
    ];
    let mut all = vec![
        option("rw", "KIND", rw, lang)
            .value_delimiter(',')
            .value_parser(words)
            .hide_possible_values(true)
            .conflicts_with_all(["SUITE", "resume", "order"]),
    ];
    all.extend(of_rw.map(|argument| argument.requires("rw")));
    let heading = word(lang, "Workload instead of a suite", "Нагрузка вместо набора");
    let mut all: Vec<Arg> = all.into_iter().map(|argument| argument.help_heading(heading)).collect();
    all.push(flag("print-suite", None, print, lang).conflicts_with_all([
        "resume",
        "order",
        "dry-run",
        "print-order",
        "gate",
        "expect",
        "junit",
    ]));
    all
}

/// All of it as a file.
fn orders(lang: Lang) -> [Arg; 3] {
    let order = say!(
        "carry out this order instead of the command line (`-`: from the standard input)",
        "выполнить этот заказ вместо командной строки (`-` — со стандартного ввода)"
    );
    let print_order = say!(
        "print the order for this command line, with its seed, and do nothing else",
        "напечатать заказ для этой командной строки вместе с начальным числом и ничего не делать"
    );
    [
        option("order", "FILE", order, lang).conflicts_with_all(ORDERED),
        flag("print-order", None, print_order, lang).conflicts_with_all(["order", "dry-run", "junit"]),
        // Only `stend serve` says this.
        option("task", "DIR", Say::same(String::new()), lang).hide(true).requires("order").conflicts_with("dry-run"),
    ]
}

/// What an order says, so that nothing else does.
const ORDERED: [&str; 29] = [
    "SUITE",
    "rw",
    "on",
    "against",
    "stand",
    "rebuild",
    "lab",
    "ssh",
    "hosts",
    "vm",
    "group",
    "load",
    "on-loss",
    "storage",
    "observe",
    "sources",
    "confirm",
    "overwrite-signature",
    "resume",
    "allow-commands",
    "beside",
    "time-budget",
    "seed",
    "engine",
    "repeats",
    "name",
    "output",
    "gate",
    "expect",
];

/// Virtual machines as load hosts.
fn vm(lang: Lang) -> Arg {
    let vm = say!(
        "run in these virtual machines, which `stend vm up` has started: all of them load together, each its own disks, or PATH",
        "выполнить в этих виртуальных машинах, запущенных `stend vm up`: все нагружают одновременно, каждая свои диски или ПУТЬ"
    );
    option("vm", "NAME", vm, lang)
        .conflicts_with_all(["hosts", "ssh", "lab", "storage", "stand", "against", "resume", "confirm", "group"])
}

/// What several load hosts do together.
fn of_several(lang: Lang) -> [Arg; 2] {
    let on_loss = say!(
        "if one of several load hosts is lost: `stop` ends the run (default), `go-on` continues without it",
        "если одна из нагружающих машин потеряна: `stop` — закончить (по умолчанию), `go-on` — продолжить без неё"
    );
    let load = say!(
        "jobs, queue depths and rates of the suite are those of `each-host` (default), or of `all-hosts` together, each with an equal part",
        "задания, глубина очереди и частота в наборе — для каждой нагружающей машины, `each-host` (по умолчанию), или для всех вместе, `all-hosts`, поровну"
    );
    [
        option("load", "each-host|all-hosts", load, lang)
            .value_parser(["each-host", "all-hosts"])
            .hide_possible_values(true),
        option("on-loss", "stop|go-on", on_loss, lang).value_parser(["stop", "go-on"]).hide_possible_values(true),
    ]
}

/// What is watched beside the load.
fn beside(lang: Lang) -> [Arg; 2] {
    let observe = say!(
        "also watch this host during the run: `ssh:HOST`, or the name of a running machine of the lab; all its drives, or those below paths (ssh:nas=/srv/a,/srv/b); repeat for several hosts",
        "наблюдать во время прогона ещё и за этой машиной: `ssh:МАШИНА` или имя запущенной машины лаборатории; за всеми её накопителями или за теми, что под путями (ssh:nas=/srv/a,/srv/b); для нескольких машин повторите"
    );
    let sources = say!(
        "file of sources: values to read during the run where no program can be copied, such as those of a closed array: by a command, over ssh, HTTP or SNMP",
        "файл источников: значения, которые читать во время прогона там, куда программу не скопировать, например с закрытого массива: командой, по ssh, HTTP или SNMP"
    );
    [option("observe", "HOST", observe, lang).action(ArgAction::Append), option("sources", "FILE", sources, lang)]
}

/// What says where the load comes from in another way than a file of hosts.
const BESIDE_HOSTS: [&str; 5] = ["ssh", "lab", "storage", "stand", "against"];

/// What is measured, where, and what may be lost there.
fn places(lang: Lang) -> Vec<Arg> {
    let on = say!(
        "directory, file or block device (path or identity); several of one kind are loaded at the same time",
        "каталог, файл или блочное устройство (путь или идентификатор); несколько одного вида нагружаются одновременно"
    );
    let against = say!(
        "another target to compare with `--on`; both are measured alternately; repeatable",
        "ещё один объект для сравнения с `--on`; измеряются попеременно; можно повторять"
    );
    let stand = say!(
        "stand file, or the name of a built-in one (`stend stands`): put it up, measure it and take it down; several are measured in turn and compared with the first",
        "файл стенда или имя встроенного (`stend stands`): поднять, измерить и убрать; несколько измеряются по очереди и сравниваются с первым"
    );
    let rebuild = say!(
        "build each stand anew for every block: intervals then include differences between builds",
        "собирать стенд заново для каждого блока: интервал учтёт различие сборок"
    );
    let confirm = say!(
        "allow writing to the device with this identity (`stend inspect` prints it); once for each device",
        "разрешить запись на устройство с этим идентификатором (его печатает `stend inspect`); для каждого устройства отдельно"
    );
    let overwrite = say!(
        "allow overwriting this signature found on the device, e.g. ext4",
        "разрешить затереть эту найденную на устройстве метку, например ext4"
    );
    let storage = say!(
        "the host that has the drives of a stand over several hosts: `NAME=ssh:HOST`, or `NAME=MACHINE` with the name of a running machine of the lab; once for each; `NAME=` may be left out where there is one",
        "машина с накопителями для стенда на нескольких машинах: `ИМЯ=ssh:МАШИНА` или `ИМЯ=ИМЯ` запущенной машины лаборатории; для каждой отдельно; если она одна, `ИМЯ=` не нужно"
    );
    let ssh = say!(
        "run on another host that `ssh` knows (root@db1); PATH is one of its drives or directories; this program is copied there once; several hosts load together, each on its own PATH: `--on HOST:PATH`, or one PATH that is meant on each",
        "выполнить на другой машине, известной `ssh` (root@db1); ПУТЬ — её накопитель или каталог; программа копируется туда один раз; несколько машин нагружают одновременно, каждая свой ПУТЬ: `--on МАШИНА:ПУТЬ` или один ПУТЬ, который есть на каждой"
    );
    let lab = say!(
        "machine file, or the name of a built-in one (`stend lab machines`): start this virtual machine and run in it; or the name of a running machine; PATH is one of its drives or directories",
        "файл машины или имя встроенной (`stend lab machines`): запустить эту виртуальную машину и выполнить прогон в ней; или имя запущенной; ПУТЬ — её накопитель или каталог"
    );
    let [load, on_loss] = of_several(lang);
    let [observe, sources] = beside(lang);
    vec![
        option("on", "PATH", on, lang).action(ArgAction::Append),
        option("against", "PATH", against, lang)
            .action(ArgAction::Append)
            .requires("on")
            .conflicts_with_all(["stand", "resume", "output"]),
        option("stand", "FILE", stand, lang).action(ArgAction::Append).conflicts_with_all([
            "on",
            "resume",
            "confirm",
            "overwrite-signature",
        ]),
        flag("rebuild", None, rebuild, lang).requires("stand").conflicts_with_all(["on", "resume", "hosts", "vm"]),
        option("lab", "FILE|NAME", lab, lang),
        option("ssh", "HOST", ssh, lang).action(ArgAction::Append).conflicts_with("lab"),
        hosts_file(lang).conflicts_with_all(BESIDE_HOSTS),
        vm(lang),
        // `--hosts`, which it needs, is not missing to clap beside what that conflicts with.
        group(lang).conflicts_with_all(BESIDE_HOSTS),
        load,
        on_loss,
        option("storage", "NAME=HOST", storage, lang).action(ArgAction::Append),
        observe,
        sources,
        option("confirm", "ID", confirm, lang).action(ArgAction::Append),
        option("overwrite-signature", "NAME", overwrite, lang).action(ArgAction::Append),
    ]
}
