//! The words of `stend watch`, `stend record`, `stend top`, `stend journal`, `stend bundle` and `stend monitoring`.

use super::{action, choice, flag, force, option, positional, run_argument, verb, with_commands};
use clap::{ArgGroup, Command, value_parser};
use stend_base::{Lang, Say, say};

pub(super) fn watch(lang: Lang) -> Command {
    let about = say!("follow a run that another terminal started", "следить за прогоном из другого терминала");
    let arguments = vec![
        run_argument(lang),
        choice("progress", "HOW", &["auto", "tty", "plain", "none"], lang),
        option("metrics", "ADDRESS", metrics(), lang),
    ];
    let examples = "stend watch last\nstend watch before.stend\nstend watch last --metrics 9102";
    verb("watch", about, examples, "RUN", arguments, lang)
}

/// Where else the counters go.
fn metrics() -> Say {
    say!(
        "also answer Prometheus at http://ADDRESS/metrics: a port of this machine alone, or an address with a port",
        "ещё и отвечать Prometheus по http://АДРЕС/metrics: порт только этой машины или адрес с портом"
    )
}

pub(super) fn record(lang: Lang) -> Command {
    let about = say!(
        "record what this machine and its drives do, without a load, until Ctrl-C",
        "записывать работу машины и её накопителей без нагрузки, до Ctrl-C"
    );
    let examples = "stend record\nstend record --every 100ms --for 10min -o night.stend\nstend record --metrics 9101\nstend record --notify receivers.yaml --test\nstend record --notify receivers.yaml\nstend record --keep 1s:48h,10s:14d,5min:400d --size-max 500MiB";
    let every =
        say!("time between two samples, 100ms to 1h (default: 1s)", "шаг отсчётов, от 100ms до 1h (по умолчанию 1s)");
    let keep = say!(
        "steps and up to which age each is kept (default: 1s:2d,10s:14d,5min:400d)",
        "шаги и до какого возраста каждый хранится (по умолчанию 1s:2d,10s:14d,5min:400d)"
    );
    let size = say!(
        "limit for samples in the file; the oldest go first (default: 1GiB)",
        "предел для отсчётов в файле; первыми удаляются старые (по умолчанию 1GiB)"
    );
    let lasts = say!("end by itself after this time", "закончить через это время");
    let name = say!("a label by which commands find the recording", "метка, по которой команды найдут запись");
    let notify = say!(
        "send problems of the journal to the receivers in this file: mail, webhooks, syslog, SNMP (docs/formats/notify.md)",
        "сообщать о проблемах журнала получателям из этого файла: почта, вебхуки, syslog, SNMP (docs/formats/notify.md)"
    );
    let test = say!(
        "send each of them a test message, record nothing",
        "отправить каждому пробное сообщение, ничего не записывая"
    );
    let output = say!(
        "file to write (default: in the directory of runs, so that `stend list` shows it)",
        "файл записи (по умолчанию в каталоге прогонов, его показывает `stend list`)"
    );
    let arguments = vec![
        option("every", "TIME", every, lang).default_value("1s").hide_default_value(true),
        option("keep", "STEPS", keep, lang),
        option("size-max", "SIZE", size, lang),
        option("for", "TIME", lasts, lang),
        option("metrics", "ADDRESS", metrics(), lang),
        option("notify", "FILE", notify, lang),
        flag("test", None, test, lang).requires("notify"),
        option("name", "LABEL", name, lang),
        option("output", "FILE", output, lang).short('o'),
    ];
    verb("record", about, examples, "", arguments, lang)
}

pub(super) fn top(lang: Lang) -> Command {
    let about = say!(
        "what this machine and its drives do now, or did in a recording; with --json a line for each step",
        "что машина и её накопители делают сейчас или делали в записи; с --json по строке на шаг"
    );
    let examples = "stend top\nstend top last\nstend top --every 5s --json\nstend top --count 10 --json > steps.jsonl";
    let run = say!(
        "a recording instead of this machine: id, unique prefix, label, path, or `last`",
        "запись вместо этой машины: номер, его начало, метка, путь или `last`"
    );
    let every = say!("length of a step, 100ms to 1h (default: 1s)", "длина шага, от 100ms до 1h (по умолчанию 1s)");
    let count = say!(
        "end after so many steps; a recording shows its last ones",
        "закончить после стольких шагов; из записи выводятся последние"
    );
    let arguments = vec![
        positional("RECORDING", run, lang).required(false),
        option("every", "TIME", every, lang).conflicts_with("RECORDING"),
        option("count", "N", count, lang).value_parser(value_parser!(u64).range(1..)),
    ];
    verb("top", about, examples, "[RECORDING]", arguments, lang)
}

/// What is said of a problem, one thing at a time.
const OF_PROBLEMS: [&str; 4] = ["acknowledge", "unacknowledge", "mute", "unmute"];

pub(super) fn journal(lang: Lang) -> Command {
    let about = say!(
        "problems of a host that was recorded or measured: drives, arrays, paths, ports, temperatures, memory",
        "проблемы машины по записи или прогону: накопители, массивы, пути, порты, температуры, память"
    );
    let open = say!("only problems that are open", "только открытые проблемы");
    let acknowledge = say!(
        "note that you know of a problem of a recording: it is not reported again; its ID is in brackets behind it",
        "пометить проблему записи как принятую к сведению: о ней больше не сообщают; её ID указан в скобках"
    );
    let unacknowledge = say!("take that back", "снять эту пометку");
    let comment = say!("why, one line of up to 500 characters", "почему; одна строка до 500 знаков");
    let mute = say!(
        "do not report a problem, even if it comes back; `object:NAME` means every problem of an object",
        "не сообщать о проблеме, даже если она повторится; `object:ИМЯ` — обо всех проблемах объекта"
    );
    let until = say!(
        "when a mute ends: after a time such as 2h, or at a time in UTC such as 2026-11-22T06:00Z",
        "до какого времени заглушить: срок (2h) или время по UTC (2026-11-22T06:00Z)"
    );
    let unmute = say!("send messages again", "снова сообщать");
    let others = |but: &'static str| OF_PROBLEMS.into_iter().filter(move |name| *name != but);
    let arguments = vec![
        run_argument(lang),
        flag("open", None, open, lang),
        option("acknowledge", "ID", acknowledge, lang).conflicts_with_all(others("acknowledge")),
        option("comment", "TEXT", comment, lang).conflicts_with_all(["unacknowledge", "unmute"]),
        option("unacknowledge", "ID", unacknowledge, lang).conflicts_with_all(others("unacknowledge")),
        option("mute", "ID", mute, lang).conflicts_with_all(others("mute")).requires("until"),
        option("until", "TIME", until, lang).requires("mute"),
        option("unmute", "ID", unmute, lang).conflicts_with_all(others("unmute")),
    ];
    let group = ArgGroup::new("noted").args(["acknowledge", "mute"]);
    let examples = "stend journal last\nstend journal night.stend --open --json\nstend journal last --acknowledge 3fa9c1d2 --comment \"fan ordered\"\nstend journal last --mute object:sda --until 8h";
    verb("journal", about, examples, "RUN", arguments, lang)
        .group(group)
        .mut_arg("comment", |comment| comment.requires("noted"))
}

pub(super) fn bundle(lang: Lang) -> Command {
    let about = say!(
        "pack what is known of a host into one file for the support of a vendor: drives, checkup, the last 48 hours of its recording, journal, runs",
        "собрать всё известное о машине в один файл для поддержки производителя: накопители, проверку, последние 48 часов записи, журнал, прогоны"
    );
    let host =
        say!("a host that `ssh` knows (default: this machine)", "машина, известная `ssh` (по умолчанию — эта машина)");
    let output = say!(
        "file to write, a ZIP archive (default: stend-bundle-TIME.zip in this directory)",
        "файл, архив ZIP (по умолчанию stend-bundle-ВРЕМЯ.zip в текущем каталоге)"
    );
    let plain = say!(
        "leave names of hosts, serial numbers, paths, addresses and kernel command lines in it",
        "оставить имена машин, серийные номера, пути, адреса и командные строки ядра"
    );
    let dry_run =
        say!("list what would be in it with sizes, write nothing", "показать состав и размеры, ничего не записывая");
    let quick = say!(
        "do not ask drives for their health and temperature",
        "не спрашивать накопители о состоянии и температуре"
    );
    let arguments = vec![
        positional("HOST", host, lang).required(false),
        option("output", "FILE", output, lang).short('o'),
        force(lang),
        flag("no-redact", None, plain, lang),
        flag("dry-run", None, dry_run, lang),
        flag("quick", None, quick, lang),
    ];
    let examples = "stend bundle\nstend bundle -o case-4711.zip\nstend bundle --dry-run\nstend bundle db1 --no-redact";
    verb("bundle", about, examples, "[HOST]", arguments, lang)
}

/// Notices to a vendor.
pub(super) fn notify(lang: Lang) -> Command {
    let about = say!(
        "notices to a vendor that wait for your approval, and the log of what was sent",
        "сообщения производителю, которые ждут вашего решения, и журнал отправленного"
    );
    let vendor = say!(
        "show what waits, byte for byte; approve or withhold one",
        "показать байт в байт, что ждёт; одобрить или отменить"
    );
    let file = say!(
        "file of receivers with `vendor` (docs/formats/notify.md)",
        "файл получателей с `vendor` (docs/formats/notify.md)"
    );
    let approve = say!(
        "send this notice as it is shown; later ones of its kind go by themselves",
        "отправить это сообщение как показано; следующие такие пойдут сами"
    );
    let withhold = say!(
        "drop this notice; the next one of its kind waits again",
        "отменить это сообщение; следующее такое снова будет ждать"
    );
    let log = say!("also print the log", "показать и журнал");
    let number = |name, text| option(name, "ID", text, lang).value_parser(value_parser!(u64));
    let arguments = vec![
        positional("FILE", file, lang),
        number("approve", approve),
        number("withhold", withhold).conflicts_with("approve"),
        flag("log", None, log, lang),
    ];
    let examples = "stend notify vendor receivers.yaml\nstend notify vendor receivers.yaml --approve 3\nstend notify vendor receivers.yaml --log";
    let vendor = action(("notify", "vendor"), vendor, examples, "FILE", arguments, lang);
    let notify = verb("notify", about, "stend notify vendor receivers.yaml", "COMMAND", Vec::new(), lang);
    with_commands(notify, lang).subcommand(vendor)
}

pub(super) fn monitoring(lang: Lang) -> Command {
    let about = say!(
        "list the built-in files for other monitors, or print one: dashboards of Grafana, alert rules of Prometheus",
        "показать встроенные файлы для других систем мониторинга или текст одного из них: панели Grafana, правила Prometheus"
    );
    let file = say!("print this file, to be loaded there", "напечатать этот файл, чтобы загрузить его туда");
    let examples = "stend monitoring\nstend monitoring grafana/en/host.json > host.json\nstend monitoring prometheus/rules.yaml > /etc/prometheus/stend.yaml";
    verb("monitoring", about, examples, "[FILE]", vec![positional("FILE", file, lang).required(false)], lang)
}
