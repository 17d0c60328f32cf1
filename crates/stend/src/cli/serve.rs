//! The words of `stend serve`.

use super::{flag, force, option, positional, verb};
use clap::Command;
use stend_base::{Lang, say};

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
                    stend serve install --dry-run\nsudo stend serve install";
    let action = say!(
        "`install`: write a unit with which systemd keeps the server running; without it the server runs here",
        "`install`: записать юнит, с которым systemd держит сервер запущенным; без него сервер работает здесь"
    );
    let dry_run = say!("print the unit, write nothing", "показать юнит и ничего не записывать");
    let output = say!("file of the unit (default: {UNIT})", "файл юнита (по умолчанию {UNIT})");
    let listen = say!(
        "address and port, of this machine alone (default: {LISTEN}); port 0 takes a free one",
        "адрес и порт, только этой машины (по умолчанию {LISTEN}); порт 0 — любой свободный"
    );
    let new_token = say!(
        "make a new token and print it; the old one is no longer valid",
        "сделать и напечатать новый токен; старый больше не действует"
    );
    let arguments = vec![
        positional("ACTION", action, lang).required(false).value_parser(["install"]).hide_possible_values(true),
        option("listen", "ADDRESS", listen, lang).default_value(LISTEN).hide_default_value(true),
        flag("new-token", None, new_token, lang).conflicts_with("ACTION"),
        flag("dry-run", None, dry_run, lang).requires("ACTION"),
        option("output", "FILE", output, lang)
            .short('o')
            .default_value(UNIT)
            .hide_default_value(true)
            .requires("ACTION"),
        force(lang).requires("ACTION"),
    ];
    verb("serve", about, examples, "[install]", arguments, lang)
}
