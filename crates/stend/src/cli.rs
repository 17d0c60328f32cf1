//! The command line: verbs, flags and their help in both languages. Only words; `cmd` does the work.

mod compare;
mod export;
mod import;
mod lab;
mod placeholder;
mod refuse;
mod run;
mod serve;
mod stand;
mod vm;
mod watching;

pub use refuse::{print_help, refuse};

use clap::{Arg, ArgAction, Command};
use placeholder::placeholder;
use std::ffi::OsString;
use stend_base::{Lang, Say, say};

/// Language of the session: `--lang`, else the locale.
pub fn language(arguments: &[OsString]) -> Lang {
    let mut words = arguments.iter().map(|a| a.to_string_lossy());
    while let Some(word) = words.next() {
        let value =
            if word == "--lang" { words.next() } else { word.strip_prefix("--lang=").map(|v| v.to_string().into()) };
        if let Some(value) = value {
            return Lang::from_locale(&value);
        }
    }
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("LC_ALL").or_else(|| set("LC_MESSAGES")).or_else(|| set("LANG")).map_or(Lang::En, |l| Lang::from_locale(&l))
}

/// The whole command line in one language.
pub fn command(lang: Lang) -> Command {
    let about = say!(
        "Stend, a storage test laboratory: measures storage, judges the numbers, publishes what a sceptic can check.",
        "Стенд — лаборатория испытаний СХД: измеряет хранилище, оценивает числа и публикует то, что может проверить скептик."
    );
    let codes = say!(
        "Exit codes: 0 ok (also with caveats), 10 gate failed, 11 gate not decided, 130/143 interrupted. \
         Errors: 1 bug in Stend, 2 usage, 3 suite invalid, 4 not possible here or now, 5 refused as unsafe, 6 target I/O error, \
         7 verification mismatch, 8 worker lost, 12 run file cannot be read, written or resumed.",
        "Коды выхода: 0 — успех (и с оговорками), 10 — порог не пройден, 11 — для проверки порога мало данных, 130/143 — прервано. \
         Ошибки: 1 — ошибка в Стенде, 2 — командная строка, 3 — неверный набор, 4 — здесь или сейчас невозможно, \
         5 — отказ ради сохранности данных. 6 — ошибка ввода-вывода объекта, 7 — данные не совпали, \
         8 — рабочий процесс потерян, 12 — файл прогона не прочитать, не записать или не продолжить."
    );
    let examples = "stend run quick --on /mnt/test\nstend inspect /dev/nvme0n1\nstend show last";
    verb("stend", about, examples, word(lang, "COMMAND", "КОМАНДА"), Vec::new(), lang)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .arg(flag("version", Some('V'), say!("print the version", "показать версию"), lang).action(ArgAction::Version))
        .after_help(codes.get(lang).to_string())
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading(word(lang, "Commands", "Команды"))
        .subcommand_value_name(word(lang, "COMMAND", "КОМАНДА"))
        .subcommands([
            run::run(lang),
            watching::watch(lang),
            stop(lang),
            watching::record(lang),
            watching::top(lang),
            watching::journal(lang),
            watching::bundle(lang),
            watching::notify(lang),
            watching::monitoring(lang),
            list(lang),
            rm(lang),
            suites(lang),
            show(lang),
            compare::compare(lang),
            audit(lang),
            report(lang),
            export::export(lang),
            import::import(lang),
            inspect(lang),
            doctor(lang),
            hosts_verb(lang),
            stand::stand(lang),
            stand::stands(lang),
            lab::lab(lang),
            vm::vm(lang),
            serve::serve(lang),
            completions(lang),
            man(lang),
            help(lang),
            worker(lang),
            lab::guest(lang),
        ])
}

fn stop(lang: Lang) -> Command {
    let about = say!(
        "stop a run that another terminal started; what was measured is kept",
        "остановить прогон из другого терминала; измеренное сохраняется"
    );
    let now = say!("do not wait for the trial in progress", "не ждать текущего испытания");
    let arguments = vec![run_argument(lang), flag("now", None, now, lang)];
    verb("stop", about, "stend stop last\nstend stop before.stend --now", "RUN", arguments, lang)
}

fn show(lang: Lang) -> Command {
    let about = say!("show a run on one screen", "показать прогон на одном экране");
    let examples = "stend show last\nstend show last -v\nstend show last --expect 'rand-read p99 < 5ms' --junit gate.xml\nstend show R-20261121T18 --lang ru\nstend show before.stend --json";
    let verbose = say!(
        "show everything: warnings, what limits the result, caveats",
        "показать всё: предупреждения, чем ограничен результат, оговорки"
    );
    let mut arguments = vec![run_argument(lang), flag("verbose", Some('v'), verbose, lang)];
    arguments.extend(compare::gate(lang));
    arguments.extend([compare::junit(lang), force(lang).requires("junit")]);
    verb("show", about, examples, "RUN", arguments, lang).group(compare::gates())
}

fn report(lang: Lang) -> Command {
    let about = say!(
        "write the report of a run as one HTML file, or its results as Markdown",
        "записать отчёт о прогоне одним файлом HTML или его результаты в формате Markdown"
    );
    let open = say!(
        "open the report in your browser; without -o it is written beside the run file",
        "открыть отчёт в браузере; без -o он записывается рядом с файлом прогона"
    );
    let examples = "stend report last --open\nstend report last -o report.html\nstend report before.stend -o before.html --lang ru\nstend report last -o report.html --expect 'rand-read p99 < 5ms'\nstend report last --markdown results.md\nstend report last --redact -o shared.html";
    let output = say!("HTML file to write; `-` is the standard output", "файл HTML; `-` — стандартный вывод");
    let markdown = say!(
        "write verdict, tables and caveats as Markdown; `-` is the standard output",
        "записать вердикт, таблицы и оговорки в формате Markdown; `-` — стандартный вывод"
    );
    let full = say!(
        "print every section; without it a printer gets the first screen, the results and the caveats",
        "печатать все разделы; без `--full` печатаются первый экран, результаты и оговорки"
    );
    let mut arguments = vec![
        run_argument(lang),
        option("output", "FILE", output, lang).short('o').required_unless_present_any(["markdown", "open"]),
        option("markdown", "FILE", markdown, lang).conflicts_with("output"),
        flag("open", None, open, lang).conflicts_with("markdown"),
        force(lang),
        flag("full", None, full, lang).conflicts_with("markdown"),
        redact(lang),
    ];
    arguments.extend(compare::gate(lang));
    verb("report", about, examples, "RUN [-o FILE]", arguments, lang)
}

fn list(lang: Lang) -> Command {
    let about = say!(
        "list the runs on this machine, newest first, also those that were made with `-o FILE`",
        "показать прогоны на этой машине, новые сверху, в том числе выполненные с `-o ФАЙЛ`"
    );
    let all = say!("all of them, not the newest 20", "все, а не 20 последних");
    let condition = say!(
        "only runs whose facts meet this, such as 'model contains PM9A3 and block = 4k' (docs/conditions.md)",
        "только прогоны с такими сведениями, например 'model contains PM9A3 and block = 4k' (docs/conditions.md)"
    );
    let examples =
        "stend list\nstend list --all\nstend list --where 'model contains PM9A3 and block = 4k'\nstend list --json";
    let arguments = vec![flag("all", None, all, lang), option("where", "CONDITION", condition, lang)];
    verb("list", about, examples, "", arguments, lang)
}

fn rm(lang: Lang) -> Command {
    let about = say!(
        "remove runs: the run file, the report that Stend wrote beside it, and the link of a run made with `-o`",
        "удалить прогоны: файл прогона, отчёт Стенда рядом с ним и ссылку на прогон, выполненный с `-o`"
    );
    let run = say!(
        "id, unique prefix, label, path, or `last`; several",
        "номер, его начало, метка, путь или `last`; можно несколько"
    );
    let yes = say!("remove without asking", "удалить без вопроса");
    let arguments = vec![positional("RUN", run, lang).num_args(1..), flag("yes", Some('y'), yes, lang)];
    verb("rm", about, "stend rm last\nstend rm R-20261121T18 before.stend --yes", "RUN…", arguments, lang)
}

fn suites(lang: Lang) -> Command {
    let about = say!(
        "list the built-in suites with their time and space, or print one",
        "показать встроенные наборы, их время и место или текст одного из них"
    );
    let examples = "stend suites\nstend suites block-sweep > my-sweep.yaml";
    let suite = say!(
        "print the file of this suite, to be copied and changed",
        "показать файл этого набора, чтобы взять его за основу"
    );
    verb("suites", about, examples, "[SUITE]", vec![positional("SUITE", suite, lang).required(false)], lang)
}

fn audit(lang: Lang) -> Command {
    let about = say!(
        "check published numbers without a run: units, Little's law, percentages, copied values, limits of the drives",
        "проверить опубликованные числа без прогона: единицы, закон Литтла, проценты, повторы, значения выше возможностей дисков"
    );
    let examples = "stend audit table.csv\nstend audit nvme-soft-raid -o audit.html --lang ru\nstend audit table.csv --suite six.yaml --json";
    let tables = stend_session::embedded::TABLES.all().iter().map(|file| file.name).collect::<Vec<_>>().join(", ");
    let table = say!(
        "table as CSV (docs/formats/published.md), or a built-in one: {tables}",
        "таблица CSV, см. docs/formats/published.md, или встроенная: {tables}"
    );
    let output =
        say!("HTML file to write as well; `-` is the standard output", "записать и файл HTML; `-` — стандартный вывод");
    let suite = say!(
        "the suite behind the numbers: tests are matched by name",
        "набор, по которому получены числа: испытания сопоставляются по именам"
    );
    let arguments = vec![
        positional("TABLE", table, lang),
        option("suite", "SUITE", suite, lang),
        option("output", "FILE", output, lang).short('o'),
        force(lang).requires("output"),
    ];
    verb("audit", about, examples, "TABLE", arguments, lang)
}

/// Names of the shells as the command line takes them.
const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "pwsh"];

fn completions(lang: Lang) -> Command {
    let about = say!("print a completion script for a shell", "вывести сценарий автодополнения для оболочки");
    let examples = "stend completions bash > ~/.local/share/bash-completion/completions/stend\n\
                    stend completions zsh > ~/.zfunc/_stend";
    let shell = positional("SHELL", Say::same(SHELLS.join(", ")), lang).value_parser(SHELLS).hide_possible_values(true);
    verb("completions", about, examples, "SHELL", vec![shell], lang)
}

fn man(lang: Lang) -> Command {
    let about = say!("write the manual pages into a directory", "записать страницы руководства в каталог");
    let examples = "stend man ~/.local/share/man/man1\nstend man ~/.local/share/man/ru/man1 --lang ru";
    let directory = say!("directory, made if it does not exist", "каталог; создаётся, если его нет");
    verb("man", about, examples, "DIR", vec![positional("DIR", directory, lang), force(lang)], lang)
}

fn inspect(lang: Lang) -> Command {
    let about = say!(
        "what a target is, who uses it, and whether it is safe to write; without a target: all drives of this host and what is built on them",
        "что это за объект, кто им пользуется и можно ли на него писать; без объекта — все накопители машины и то, что на них построено"
    );
    let examples = "stend inspect\nstend inspect /dev/nvme0n1\nstend inspect /var/lib\nstend inspect --ssh db1 --ssh db2\nstend inspect /dev/disk/by-id/wwn-0x5002538e40a1b2c3 --json";
    let path = say!("directory, file, block device or identity", "каталог, файл, блочное устройство или идентификатор");
    let quick = say!(
        "do not ask drives for their health and temperature, and read no sample of the data on a target",
        "не спрашивать накопители о состоянии и температуре и не читать образцы данных объекта"
    );
    let mut arguments = vec![positional("PATH", path, lang).required(false), flag("quick", None, quick, lang)];
    arguments.extend(hosts(lang));
    verb("inspect", about, examples, "[PATH]", arguments, lang)
}

fn doctor(lang: Lang) -> Command {
    let about = say!(
        "check whether this machine can measure; each obstacle comes with the command that removes it",
        "проверить, пригодна ли машина для измерений; к каждому препятствию — команда, которая его устраняет"
    );
    let examples = "stend doctor\nstend doctor --on /srv/data\nstend doctor --ssh db1 --ssh db2\nstend doctor --hosts hosts.yaml --group rack1\nstend doctor --json";
    let on = say!("also look at this target", "осмотреть и этот объект");
    let [ssh, file, group] = hosts(lang);
    verb("doctor", about, examples, "", vec![option("on", "PATH", on, lang), ssh, file, group], lang)
}

/// Hosts that are looked at instead of this one.
fn hosts(lang: Lang) -> [Arg; 3] {
    let ssh = say!(
        "look at this host instead (a name that `ssh` knows); repeat for several hosts",
        "осмотреть эту машину, а не свою (имя, известное `ssh`); для нескольких машин повторите"
    );
    [option("ssh", "HOST", ssh, lang).action(ArgAction::Append), hosts_file(lang), group(lang)]
}

/// A file of hosts.
fn hosts_file(lang: Lang) -> Arg {
    let file = say!(
        "file of hosts: names, how each is reached (`ssh`, or a command such as `kubectl exec -i`), roles, groups, targets",
        "файл машин: имена, как до них добраться (`ssh` или команда вроде `kubectl exec -i`), роли, группы, объекты"
    );
    option("hosts", "FILE", file, lang)
}

fn group(lang: Lang) -> Arg {
    let group = say!(
        "only hosts of this group of `--hosts`; repeat for several groups",
        "только машины этой группы из `--hosts`; для нескольких групп повторите"
    );
    option("group", "NAME", group, lang).action(ArgAction::Append).requires("hosts")
}

/// Copies of this program on other hosts.
fn hosts_verb(lang: Lang) -> Command {
    let about = say!(
        "hosts that `--ssh` and `--observe` have used",
        "другие машины, на которых работали `--ssh` и `--observe`"
    );
    let clean = say!(
        "remove the copies of this program from hosts; a run in progress there is not disturbed",
        "убрать с машин копии этой программы; идущему там прогону это не мешает"
    );
    let host = say!("the host, as `ssh` knows it", "машина, известная `ssh`");
    let host = positional("HOST", host, lang).num_args(1..).required(false).required_unless_present("hosts");
    let examples = "stend hosts clean db1 db2\nstend hosts clean --hosts hosts.yaml";
    let arguments = vec![host, hosts_file(lang), group(lang)];
    let clean = action(("hosts", "clean"), clean, examples, "[HOST…]", arguments, lang);
    let hosts = verb("hosts", about, "stend hosts clean db1 db2", "COMMAND", Vec::new(), lang);
    with_commands(hosts, lang).subcommand(clean)
}

/// Clap has a verb of this name, whose own words are English in both languages.
fn help(lang: Lang) -> Command {
    let about = say!("print the help of a command, as `--help` does", "показать справку о команде, как `--help`");
    let of = say!("the command; without one, the general help", "команда; без неё — общая справка");
    let arguments = vec![positional("COMMAND", of, lang).required(false)];
    verb("help", about, "stend help run\nstend help list --lang ru", "[COMMAND]", arguments, lang)
}

fn worker(lang: Lang) -> Command {
    let about =
        say!("serve a coordinator on standard input and output", "обслуживать координатор через стандартные потоки");
    let far = say!("exit when the coordinator is silent for 30 s", "завершиться, если координатор молчит 30 с");
    verb("worker", about, "ssh HOST stend worker --far", "", vec![flag("far", None, far, lang)], lang).hide(true)
}

/// Says that a result may take the place of a file that Stend did not write.
fn force(lang: Lang) -> Arg {
    let text = say!(
        "replace a file that Stend did not write; run files, devices and the targets of links are never replaced",
        "заменить и файл, созданный не Стендом; файл прогона, устройство и файл по ссылке не заменяются никогда"
    );
    flag("force", None, text, lang)
}

/// Leaves out what says whose a result is.
fn redact(lang: Lang) -> Arg {
    let text = say!(
        "leave out names of hosts, serial numbers, paths, addresses and kernel command lines, to share the result",
        "убрать имена машин, серийные номера, пути, адреса и командные строки ядра, чтобы поделиться результатом"
    );
    flag("redact", None, text, lang)
}

/// A command with the flags that every verb has, help with examples first, and nothing in the wrong language.
fn verb(name: &'static str, about: Say, examples: &str, usage: &str, arguments: Vec<Arg>, lang: Lang) -> Command {
    let (example, heading, options) = match lang {
        Lang::En => ("Examples:", "Usage:", "[OPTIONS]"),
        Lang::Ru => ("Примеры:", "Использование:", "[ПАРАМЕТРЫ]"),
    };
    let examples: String = examples.lines().map(|line| format!("\n  {}", line.trim())).collect();
    let full = if name == "stend" { name.to_string() } else { format!("stend {name}") };
    let usage = placeholder::usage(&format!("{full} {usage} {options}").replace("  ", " "), lang);
    let language = say!("en or ru (default: from the locale)", "en или ru (по умолчанию — из локали)");
    let json = say!("machine-readable result on standard output", "машиночитаемый результат в стандартный вывод");
    let server = say!(
        "ask `stend serve` at this address, not this machine (or set STEND_SERVER)",
        "спросить `stend serve` по этому адресу, а не эту машину (или переменная STEND_SERVER)"
    );
    let token =
        say!("file with the token (or put the token in STEND_TOKEN)", "файл с токеном (или сам токен в STEND_TOKEN)");
    let fingerprint = say!(
        "SHA-256 of the certificate that it must have (or set STEND_SERVER_FINGERPRINT)",
        "SHA-256 сертификата, который у него должен быть (или переменная STEND_SERVER_FINGERPRINT)"
    );
    let asks = crate::remote::can_ask(name);
    let help = say!("print this help", "показать эту справку");
    Command::new(name)
        .about(about.get(lang).to_string())
        .before_help(format!("{example}{examples}"))
        .help_template(format!("{{about}}\n\n{{before-help}}{heading} {{usage}}\n\n{{all-args}}{{after-help}}\n"))
        .override_usage(usage)
        .disable_help_flag(true)
        .args(arguments.into_iter().enumerate().map(in_order))
        .arg(option("lang", "LANG", language, lang).value_parser(["en", "ru"]).hide_possible_values(true).global(true))
        .arg(flag("json", None, json, lang).global(true))
        .arg(option("server", "URL", server, lang).global(true).hide(!asks))
        .arg(option("token-file", "FILE", token, lang).global(true).hide(!asks))
        .arg(option("server-fingerprint", "SHA256", fingerprint, lang).global(true).hide(!asks))
        .arg(choice("color", "WHEN", &["auto", "always", "never"], lang).global(true))
        .arg(flag("help", Some('h'), help, lang).action(ArgAction::Help).global(true))
}

/// One of the commands of a verb, with the help that every verb has.
fn action(
    (of, name): (&str, &'static str),
    about: Say,
    examples: &str,
    usage: &str,
    arguments: Vec<Arg>,
    lang: Lang,
) -> Command {
    let options = word(lang, "[OPTIONS]", "[ПАРАМЕТРЫ]");
    let usage = placeholder::usage(&format!("stend {of} {name} {usage} {options}").replace("  ", " "), lang);
    verb(name, about, examples, "", arguments, lang).override_usage(usage)
}

/// A verb that does nothing without one of its commands.
fn with_commands(verb: Command, lang: Lang) -> Command {
    verb.subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading(word(lang, "Commands", "Команды"))
        .subcommand_value_name(word(lang, "COMMAND", "КОМАНДА"))
}

/// What has a place on the command line has it in the help, too. Under a heading of ours clap would sort it by its name.
fn in_order((place, argument): (usize, Arg)) -> Arg {
    if argument.is_positional() { argument.display_order(place) } else { argument }
}

/// A heading; clap takes these only as static text.
fn word(lang: Lang, en: &'static str, ru: &'static str) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::Ru => ru,
    }
}

fn run_argument(lang: Lang) -> Arg {
    positional(
        "RUN",
        say!("id, unique prefix, label, path, or `last`", "номер, его начало, метка, путь или `last`"),
        lang,
    )
}

fn positional(name: &'static str, help: Say, lang: Lang) -> Arg {
    let arg = Arg::new(name).value_name(placeholder(name, lang)).required(true);
    arg.help(help.get(lang).to_string()).help_heading(word(lang, "Arguments", "Аргументы"))
}

fn option(name: &'static str, value: &'static str, help: Say, lang: Lang) -> Arg {
    let heading = word(lang, "Options", "Параметры");
    // A number below zero is a wrong value, not an unknown option.
    let arg = Arg::new(name).long(name).value_name(placeholder(value, lang)).allow_negative_numbers(true);
    arg.help(help.get(lang).to_string()).help_heading(heading)
}

/// An option that takes one of a few words; the first is the default.
fn choice(name: &'static str, value: &'static str, words: &'static [&'static str], lang: Lang) -> Arg {
    let list = words.join(", ");
    option(name, value, Say::same(list), lang)
        .value_parser(words.to_vec())
        .hide_possible_values(true)
        .default_value(words[0])
        .hide_default_value(true)
}

fn flag(name: &'static str, short: Option<char>, help: Say, lang: Lang) -> Arg {
    let arg = Arg::new(name)
        .long(name)
        .help(help.get(lang).to_string())
        .help_heading(word(lang, "Options", "Параметры"))
        .action(ArgAction::SetTrue);
    match short {
        Some(letter) => arg.short(letter),
        None => arg,
    }
}
