//! The command line: verbs, flags and their help in both languages. Only words; `cmd` does the work.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;
use std::process::ExitCode;
use stend_base::{Error, Kind, Lang, Say, say};

/// Language of the session: `--lang`, else the locale.
pub fn language(arguments: &[OsString]) -> Lang {
    let mut words = arguments.iter().map(|a| a.to_string_lossy());
    while let Some(word) = words.next() {
        let value = if word == "--lang" { words.next() } else { word.strip_prefix("--lang=").map(|v| v.to_string().into()) };
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
        "Exit codes: 0 ok (caveats too), 1 our bug, 2 usage, 3 suite invalid, 4 preflight failed, 5 refused as unsafe,\n\
         6 target I/O error, 7 verification mismatch, 8 worker lost, 12 run file cannot be written, 130/143 interrupted.",
        "Коды выхода: 0 — успех (и с оговорками), 1 — наша ошибка, 2 — командная строка, 3 — неверный набор,\n\
         4 — условия не выполнены, 5 — отказ ради сохранности данных, 6 — ошибка ввода-вывода объекта,\n\
         7 — данные не совпали, 8 — рабочий процесс потерян, 12 — файл прогона не записывается, 130/143 — прервано."
    );
    base("stend", about, "stend run quick --on /mnt/test\nstend inspect /dev/nvme0n1\nstend show last", lang)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .arg(flag("version", Some('V'), say!("print the version", "показать версию"), lang).action(ArgAction::Version))
        .after_help(codes.get(lang).to_string())
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading(say!("Commands", "Команды").get(lang).to_string())
        .subcommand_value_name(say!("COMMAND", "КОМАНДА").get(lang).to_string())
        .subcommands([run(lang), show(lang), report(lang), inspect(lang), worker(lang)])
}

fn run(lang: Lang) -> Command {
    let about = say!("measure a target with a suite", "измерить объект набором испытаний");
    let examples = "stend run quick --on /mnt/test\n\
                    stend run quick --on /mnt/test --time-budget 1min -o before.stend\n\
                    stend run my-suite.yaml --on /dev/sdb --confirm serial:S5XYNX0R1";
    base("run", about, examples, lang)
        .arg(positional(
            "SUITE",
            say!("`quick` or a suite file", "`quick` или файл набора (YAML)"),
            lang,
        ))
        .arg(option("on", "PATH", say!("directory, file or block device (by path or identity)", "каталог, файл или блочное устройство (путь или идентичность)"), lang).required(true))
        .arg(option("confirm", "ID", say!("allow writing to the device with this identity, as `stend inspect` prints it", "разрешить запись на устройство с этой идентичностью (её печатает `stend inspect`)"), lang).action(ArgAction::Append))
        .arg(option("overwrite-signature", "NAME", say!("the signature found on the device that may be overwritten, e.g. ext4", "найденная на устройстве метка, которую можно затереть, например ext4"), lang).action(ArgAction::Append))
        .arg(option("time-budget", "TIME", say!("wall time the run should take, e.g. 90s, 5min", "сколько времени должен занять прогон, например 90s, 5min"), lang))
        .arg(option("seed", "N", say!("seed of all random choices (default: from the clock)", "зерно всех случайных выборов (по умолчанию — от часов)"), lang))
        .arg(option("output", "FILE", say!("run file to write; the report goes beside it", "файл прогона; отчёт ляжет рядом"), lang).short('o'))
        .arg(option("progress", "HOW", say!("auto, tty, plain or none", "auto, tty, plain или none"), lang).value_parser(["auto", "tty", "plain", "none"]).hide_possible_values(true).default_value("auto").hide_default_value(true))
}

fn show(lang: Lang) -> Command {
    let about = say!("show a run on one screen", "показать прогон на одном экране");
    base("show", about, "stend show last\nstend show R-20261121T18 --lang ru\nstend show before.stend --json", lang).arg(run_argument(lang))
}

fn report(lang: Lang) -> Command {
    let about = say!("write the report of a run as one HTML file", "записать отчёт о прогоне одним файлом HTML");
    base("report", about, "stend report last -o report.html\nstend report before.stend -o before.html --lang ru", lang)
        .arg(run_argument(lang))
        .arg(option("output", "FILE", say!("HTML file to write; `-` is the standard output", "файл HTML; `-` — стандартный вывод"), lang).short('o').required(true))
}

fn inspect(lang: Lang) -> Command {
    let about = say!("what a target is, who uses it, and whether it is safe to write", "что это за объект, кто им пользуется и можно ли на него писать");
    base("inspect", about, "stend inspect /dev/nvme0n1\nstend inspect /var/lib\nstend inspect /dev/disk/by-id/wwn-0x5002538e40a1b2c3 --json", lang)
        .arg(positional("PATH", say!("directory, file, block device or identity", "каталог, файл, блочное устройство или идентичность"), lang))
}

fn worker(lang: Lang) -> Command {
    let about = say!("serve a coordinator on standard input and output", "обслуживать координатор через стандартные потоки");
    base("worker", about, "ssh HOST stend worker", lang).hide(true)
}

/// A command with the flags that every verb has, help with examples first, and nothing in the wrong language.
fn base(name: &'static str, about: Say, examples: &str, lang: Lang) -> Command {
    let (example, usage) = match lang {
        Lang::En => ("Examples:", "Usage:"),
        Lang::Ru => ("Примеры:", "Использование:"),
    };
    let examples: String = examples.lines().map(|line| format!("  {}\n", line.trim())).collect();
    Command::new(name)
        .about(about.get(lang).to_string())
        .help_template(format!("{{about}}\n\n{example}\n{examples}\n{usage} {{usage}}\n\n{{all-args}}{{after-help}}\n"))
        .disable_help_flag(true)
        .arg(flag("help", Some('h'), say!("print this help", "показать эту справку"), lang).action(ArgAction::Help).global(true))
        .arg(option("lang", "LANG", say!("en or ru (default: from the locale)", "en или ru (по умолчанию — из локали)"), lang).value_parser(["en", "ru"]).hide_possible_values(true).global(true))
        .arg(flag("json", None, say!("machine-readable result on standard output", "машиночитаемый результат в стандартный вывод"), lang).global(true))
        .arg(option("color", "WHEN", say!("auto, always or never", "auto, always или never"), lang).value_parser(["auto", "always", "never"]).hide_possible_values(true).default_value("auto").hide_default_value(true).global(true))
}

fn run_argument(lang: Lang) -> Arg {
    positional("RUN", say!("id, unique prefix, path, or `last`", "номер, его начало, путь или `last`"), lang)
}

fn positional(name: &'static str, help: Say, lang: Lang) -> Arg {
    Arg::new(name).help(help.get(lang).to_string()).required(true).help_heading(say!("Arguments", "Аргументы").get(lang).to_string())
}

fn option(name: &'static str, value: &'static str, help: Say, lang: Lang) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help.get(lang).to_string()).help_heading(say!("Options", "Параметры").get(lang).to_string())
}

fn flag(name: &'static str, short: Option<char>, help: Say, lang: Lang) -> Arg {
    let arg = Arg::new(name).long(name).help(help.get(lang).to_string()).help_heading(say!("Options", "Параметры").get(lang).to_string()).action(ArgAction::SetTrue);
    match short {
        Some(letter) => arg.short(letter),
        None => arg,
    }
}

/// Prints help or version as asked, or says in the user's language what is wrong with the command line.
pub fn refuse(error: &clap::Error, lang: Lang) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Written by clap to the standard output; a closed pipe there is the reader's choice.
        drop(error.print());
        return ExitCode::SUCCESS;
    }
    crate::out::print_error(&usage_error(error), lang, false);
    ExitCode::from(Kind::Usage.exit_code())
}

fn usage_error(error: &clap::Error) -> Box<Error> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let argument = text(ContextKind::InvalidArg);
    let message = match error.kind() {
        ErrorKind::UnknownArgument => say!("unknown argument `{argument}`", "неизвестный аргумент `{argument}`"),
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand);
            say!("unknown command `{name}`", "неизвестная команда `{name}`")
        }
        ErrorKind::MissingRequiredArgument => say!("`{argument}` is required", "не указан обязательный аргумент `{argument}`"),
        ErrorKind::MissingSubcommand => say!("no command given", "команда не указана"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = text(ContextKind::InvalidValue);
            let valid = text(ContextKind::ValidValue);
            match valid.is_empty() {
                true => say!("`{argument}` needs a value", "для `{argument}` нужно значение"),
                false => say!("`{value}` is not a value of `{argument}`: {valid}", "`{value}` — недопустимое значение `{argument}`: {valid}"),
            }
        }
        ErrorKind::ArgumentConflict => say!("`{argument}` was given twice", "`{argument}` указан дважды"),
        _ => Say::same(StyledStr::to_string(&error.render()).lines().next().unwrap_or_default().trim_start_matches("error: ")),
    };
    let near = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand].map(text).into_iter().find(|t| !t.is_empty());
    let hint = match near {
        Some(near) => say!("did you mean `{near}`?", "возможно, имелось в виду `{near}`?"),
        None => say!("`stend --help` and `stend COMMAND --help` show what there is", "`stend --help` и `stend КОМАНДА --help` покажут, что есть"),
    };
    Error::new(Kind::Usage, message).hint(hint)
}
