//! `stend serve`: starts the server and says where it is.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Result, say};
use stend_record::store;
use stend_serve::{Server, Settings};

/// Serves until the process ends.
pub fn serve(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let settings = Settings {
        listen: super::required(arguments, "listen").to_string(),
        new_token: arguments.get_flag("new-token"),
        runs: store::directory()?,
        program: super::this_program()?,
        stend_version: env!("CARGO_PKG_VERSION"),
    };
    // Nothing has to be undone: a signal may end the process at any time.
    let server = Server::open(settings)?;
    let url = format!("http://{}/", server.address);
    let link = server.token.as_ref().map(|token| format!("{url}login#token={token}"));
    let told = match &link {
        Some(link) => say!(
            "Stend answers at {url}\nSign in with this link; it is shown only now:\n  {link}\nPrograms send what follows `token=`: `Authorization: Bearer TOKEN`. Ctrl-C ends the server.",
            "Стенд отвечает на {url}\nВход по этой ссылке; она показывается только сейчас:\n  {link}\nПрограммы присылают то, что стоит после `token=`: `Authorization: Bearer ТОКЕН`. Ctrl-C завершает сервер."
        ),
        None => say!(
            "Stend answers at {url}\nThe link to sign in was shown at the first start; `stend serve --new-token` makes another. Ctrl-C ends the server.",
            "Стенд отвечает на {url}\nСсылка для входа показана при первом запуске; новую сделает `stend serve --new-token`. Ctrl-C завершает сервер."
        ),
    };
    out.result(&match out.json {
        true => stend_report::serving_json(&url, server.token.as_deref()),
        false => told.get(out.lang).to_string(),
    })?;
    server.run()
}
