//! The words of `stend serve`.

use super::{flag, option, verb};
use clap::Command;
use stend_base::{Lang, say};

/// Where the server listens unless the user says otherwise; no registered service has this port.
const LISTEN: &str = "127.0.0.1:8421";

pub(super) fn serve(lang: Lang) -> Command {
    let about = say!(
        "web console and API on this machine: runs as they go on, results, comparisons, and orders as tasks",
        "веб-консоль и API на этой машине: ход прогонов, результаты, сравнения и задачи по заказам"
    );
    let examples = "stend serve\nstend serve --listen 127.0.0.1:9000\nstend serve --new-token";
    let listen = say!(
        "address and port, of this machine alone (default: {LISTEN}); port 0 takes a free one",
        "адрес и порт, только этой машины (по умолчанию {LISTEN}); порт 0 — любой свободный"
    );
    let new_token = say!(
        "make a new token and print it; the old one is no longer valid",
        "сделать и напечатать новый токен; старый больше не действует"
    );
    let arguments = vec![
        option("listen", "ADDRESS", listen, lang).default_value(LISTEN).hide_default_value(true),
        flag("new-token", None, new_token, lang),
    ];
    verb("serve", about, examples, "", arguments, lang)
}
