//! The words of `stend serve`.

use super::{flag, force, option, positional, verb, word};
use clap::{Arg, Command};
use stend_base::{Lang, Say, say};

/// Where systemd looks for units of the administrator.
const UNIT: &str = "/etc/systemd/system/stend.service";
/// Where the server listens unless the user says otherwise; no registered service has this port.
const LISTEN: &str = "127.0.0.1:8421";

pub(super) fn serve(lang: Lang) -> Command {
    let about = say!(
        "web console and API on this machine: runs as they go on, results, comparisons, and orders as tasks",
        "веб-консоль и API на этой машине: ход прогонов, результаты, сравнения и задачи по заказам"
    );
    let examples = "stend serve\nstend serve --listen 127.0.0.1:9000\nstend serve --new-token\n\
                    sudo stend serve install\nstend serve backup server.zip";
    let new_token = say!(
        "make a new token and print it; the old one is no longer valid",
        "сделать и напечатать новый токен; старый больше не действует"
    );
    let arguments = vec![listen(lang), flag("new-token", None, new_token, lang)];
    verb("serve", about, examples, word(lang, "[COMMAND]", "[КОМАНДА]"), arguments, lang)
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading(word(lang, "Commands", "Команды"))
        .subcommand_value_name(word(lang, "COMMAND", "КОМАНДА"))
        .subcommands([install(lang), backup(lang), restore(lang)])
}

fn listen(lang: Lang) -> Arg {
    let text = say!(
        "address and port, of this machine alone (default: {LISTEN}); port 0 takes a free one",
        "адрес и порт, только этой машины (по умолчанию {LISTEN}); порт 0 — любой свободный"
    );
    option("listen", "ADDRESS", text, lang).default_value(LISTEN).hide_default_value(true)
}

fn install(lang: Lang) -> Command {
    let about = say!(
        "write a unit with which systemd keeps the server running",
        "записать юнит, с которым systemd держит сервер запущенным"
    );
    let dry_run = say!("print the unit, write nothing", "показать юнит и ничего не записывать");
    let output = say!("file of the unit (default: {UNIT})", "файл юнита (по умолчанию {UNIT})");
    let arguments = vec![
        listen(lang),
        flag("dry-run", None, dry_run, lang),
        option("output", "FILE", output, lang).short('o').default_value(UNIT).hide_default_value(true),
        force(lang),
    ];
    action("install", about, "stend serve install --dry-run\nsudo stend serve install", "", arguments, lang)
}

fn backup(lang: Lang) -> Command {
    let about = say!(
        "save tokens (as hashes), the log of changes and tasks to a new file; the server may be at work",
        "сохранить токены (хешами), журнал изменений и задачи в новый файл; сервер может работать"
    );
    let file = say!("a ZIP archive; no file is replaced", "архив ZIP; существующий файл не заменяется");
    let runs = say!("the run files, too, but for those of runs that go on", "и файлы прогонов, кроме идущих");
    let arguments = vec![positional("FILE", file, lang), flag("runs", None, runs, lang)];
    action("backup", about, "stend serve backup server.zip\nstend serve backup all.zip --runs", "FILE", arguments, lang)
}

fn restore(lang: Lang) -> Command {
    let about = say!(
        "make a server of a backup, where there is none; nothing is replaced",
        "создать сервер из резервной копии там, где его нет; ничего не заменяется"
    );
    let file = say!("what `backup` wrote", "файл, записанный `backup`");
    let arguments = vec![positional("FILE", file, lang)];
    action("restore", about, "stend serve restore server.zip", "FILE", arguments, lang)
}

/// A command of the server, with the help that every verb has.
fn action(name: &'static str, about: Say, examples: &str, usage: &str, arguments: Vec<Arg>, lang: Lang) -> Command {
    let options = word(lang, "[OPTIONS]", "[ПАРАМЕТРЫ]");
    verb(name, about, examples, usage, arguments, lang)
        .override_usage(format!("stend serve {name} {usage} {options}").replace("  ", " "))
}
