//! The words of `stend serve`.

use super::{flag, force, option, positional, verb, word};
use clap::{Arg, ArgAction, Command};
use stend_base::{Lang, Say, say};

/// Where systemd looks for units of the administrator.
const UNIT: &str = "/etc/systemd/system/stend.service";
/// Where the server listens unless the user says otherwise; no registered service has this port.
const LISTEN: &str = "127.0.0.1:8421";

pub(super) fn serve(lang: Lang) -> Command {
    let about = say!(
        "web console and API of this machine: runs as they go on, results, comparisons, and orders as tasks",
        "веб-консоль и API этой машины: ход прогонов, результаты, сравнения и задачи по заказам"
    );
    let examples = "stend serve\nstend serve --listen 0.0.0.0:8421\nstend serve --new-token\n\
                    sudo stend serve install\nstend serve backup server.zip";
    let new_token = say!(
        "make a new token and print it; the old one is no longer valid",
        "сделать и напечатать новый токен; старый больше не действует"
    );
    let new_certificate = say!(
        "make a new certificate of its own; clients have to compare its fingerprint again",
        "сделать новый собственный сертификат; клиентам придётся снова сверить отпечаток"
    );
    let mut arguments = where_and_how(lang);
    arguments.push(flag("new-certificate", None, new_certificate, lang).conflicts_with("certificate"));
    arguments.push(flag("new-token", None, new_token, lang));
    verb("serve", about, examples, "[COMMAND]", arguments, lang)
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading(word(lang, "Commands", "Команды"))
        .subcommand_value_name(word(lang, "COMMAND", "КОМАНДА"))
        .subcommands([install(lang), backup(lang), restore(lang)])
}

/// Where the server listens and how it encrypts: the same for `serve` and for its unit.
fn where_and_how(lang: Lang) -> Vec<Arg> {
    let listen = say!(
        "address and port (default: {LISTEN}); on addresses that others can reach it always encrypts; port 0 takes a free one",
        "адрес и порт (по умолчанию {LISTEN}); на адресах, доступных другим машинам, сервер всегда шифрует; порт 0 — любой свободный"
    );
    let tls = say!("encrypt on 127.0.0.1, too", "шифровать и на 127.0.0.1");
    let certificate = say!(
        "certificate with its chain in PEM; without one the server makes its own and prints the fingerprint",
        "сертификат с цепочкой в PEM; без него сервер делает свой и печатает отпечаток"
    );
    let key = say!("private key of the certificate in PEM", "закрытый ключ сертификата в PEM");
    let name = say!(
        "another host name of this server, e.g. behind a proxy; repeatable",
        "ещё одно имя этого сервера, например за прокси; можно повторять"
    );
    vec![
        option("listen", "ADDRESS", listen, lang).default_value(LISTEN).hide_default_value(true),
        flag("tls", None, tls, lang),
        option("certificate", "FILE", certificate, lang).requires("key"),
        option("key", "FILE", key, lang).requires("certificate"),
        option("name", "NAME", name, lang).action(ArgAction::Append),
    ]
}

fn install(lang: Lang) -> Command {
    let about = say!(
        "write a unit with which systemd keeps the server running",
        "записать юнит, с которым systemd держит сервер запущенным"
    );
    let dry_run = say!("print the unit, write nothing", "показать юнит и ничего не записывать");
    let output = say!("file of the unit (default: {UNIT})", "файл юнита (по умолчанию {UNIT})");
    let mut arguments = where_and_how(lang);
    arguments.extend([
        flag("dry-run", None, dry_run, lang),
        option("output", "FILE", output, lang).short('o').default_value(UNIT).hide_default_value(true),
        force(lang),
    ]);
    let examples = "stend serve install --dry-run\nsudo stend serve install --listen 0.0.0.0:8421";
    action("install", about, examples, "", arguments, lang)
}

fn backup(lang: Lang) -> Command {
    let about = say!(
        "save tokens (as hashes), its own certificate, the log of changes and tasks to a new file; the server may be running",
        "сохранить токены (хешами), собственный сертификат, журнал изменений и задачи в новый файл; сервер может работать"
    );
    let file = say!("a ZIP archive; no file is replaced", "архив ZIP; существующий файл не заменяется");
    let runs = say!("the run files, too, except those of runs in progress", "и файлы прогонов, кроме идущих");
    let arguments = vec![positional("FILE", file, lang), flag("runs", None, runs, lang)];
    action("backup", about, "stend serve backup server.zip\nstend serve backup all.zip --runs", "FILE", arguments, lang)
}

fn restore(lang: Lang) -> Command {
    let about = say!("restore a backup; refused if a server exists", "восстановить из копии; если сервер есть — отказ");
    let file = say!("what `backup` wrote", "файл, записанный `backup`");
    let arguments = vec![positional("FILE", file, lang)];
    action("restore", about, "stend serve restore server.zip", "FILE", arguments, lang)
}

/// A command of the server, with the help that every verb has.
fn action(name: &'static str, about: Say, examples: &str, usage: &str, arguments: Vec<Arg>, lang: Lang) -> Command {
    super::action(("serve", name), about, examples, usage, arguments, lang)
}
