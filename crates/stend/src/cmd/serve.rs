//! `stend serve`: starts the server and says where it is.

use crate::out::Out;
use clap::ArgMatches;
use std::path::PathBuf;
use stend_base::{Error, Result, Say, format, say};
use stend_record::store;
use stend_report::{Serving, ServingCertificate};
use stend_serve::tls::Files;
use stend_serve::{Listen, Server, Settings};

/// Serves until the process ends.
pub fn serve(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let (listen, certificate) = (listen(arguments)?, files(arguments)?);
    let new_certificate = arguments.get_flag("new-certificate");
    if new_certificate && !listen.tls {
        return Err(encrypts_nothing("--new-certificate"));
    }
    let settings = Settings {
        listen,
        certificate,
        new_certificate,
        names: names(arguments)?,
        new_token: arguments.get_flag("new-token"),
        runs: store::directory()?,
        program: super::this_program()?,
        stend_version: env!("CARGO_PKG_VERSION"),
    };
    // Nothing has to be undone: a signal may end the process at any time.
    let server = Server::open(settings)?;
    out.result(&match out.json {
        true => as_json(&server),
        false => as_text(&server).get(out.lang).to_string(),
    })?;
    server.run()
}

/// Where the server shall listen.
///
/// Errors: `Usage`.
pub fn listen(arguments: &ArgMatches) -> Result<Listen> {
    let asked = arguments.get_flag("tls") || arguments.contains_id("certificate");
    stend_serve::listen(super::required(arguments, "listen"), asked)
}

/// The certificate that the user gave, with paths from the root.
///
/// Errors: `Usage` if there is no current directory.
pub fn files(arguments: &ArgMatches) -> Result<Option<Files>> {
    let path = |name| {
        let given = arguments.get_one::<String>(name);
        given.map(|file| std::path::absolute(file).map_err(|error| no_path(file, &error))).transpose()
    };
    let (certificate, key): (Option<PathBuf>, Option<PathBuf>) = (path("certificate")?, path("key")?);
    Ok(certificate.zip(key).map(|(certificate, key)| Files { certificate, key }))
}

/// More names of the server.
///
/// Errors: `Usage` for what is no name.
pub fn names(arguments: &ArgMatches) -> Result<Vec<String>> {
    let names: Vec<String> = arguments.get_many::<String>("name").into_iter().flatten().cloned().collect();
    match names.iter().find(|name| !stend_serve::is_name(name)) {
        Some(name) => Err(Error::usage(say!("`--name {name}` is not a name", "`--name {name}` — не имя")).hint(say!(
            "for example `--name db1.example.org`, without a port",
            "например `--name db1.example.org`, без порта"
        ))),
        None => Ok(names),
    }
}

fn no_path(file: &str, error: &std::io::Error) -> Box<Error> {
    Error::usage(say!("cannot find `{file}`: {error}", "не удаётся найти `{file}`: {error}"))
}

fn encrypts_nothing(option: &str) -> Box<Error> {
    Error::usage(say!(
        "`{option}` has no effect: the server does not encrypt on this address",
        "`{option}` не действует: на этом адресе сервер не шифрует"
    ))
    .hint(say!("add `--tls`", "добавьте `--tls`"))
}

fn as_json(server: &Server) -> String {
    let certificate = server.tls.as_ref().map(|tls| {
        let now = tls.now();
        ServingCertificate {
            fingerprint: now.fingerprint.to_string(),
            is_own: tls.is_own(),
            file: server.public_certificate.as_ref().map(|file| file.display().to_string()),
            names: now.facts.names.clone(),
            ends_unix: now.facts.ends_unix,
            warning: tls.warning_now(),
        }
    });
    let url = server.urls.first().map_or("", String::as_str);
    let link = link(server);
    stend_report::serving_json(&Serving::new(url, &server.urls, server.token.as_deref(), link.as_deref(), certificate))
}

/// Signs one browser in, if the token was made now. The code stands behind `#`, so it goes to no log.
fn link(server: &Server) -> Option<String> {
    let url = server.urls.first().map_or("", String::as_str);
    server.code.as_ref().map(|code| format!("{url}login#code={code}"))
}

fn as_text(server: &Server) -> Say {
    let url = server.urls.first().map_or("", String::as_str);
    let mut told = say!("Stend answers at {url}", "Стенд отвечает на {url}");
    if let [_, more @ ..] = server.urls.as_slice()
        && !more.is_empty()
    {
        let more = more.join(" ");
        told = joined(told, say!("\nand at {more}", "\nи на {more}"));
    }
    told = joined(told, of_certificate(server));
    joined(
        told,
        match link(server).zip(server.token.as_ref()) {
            Some((link, token)) => say!(
                "\nSign in with this link, once and within an hour:\n  {link}\nThe token for programs and other browsers, shown only now:\n  {token}\nCtrl-C ends the server.",
                "\nВход по этой ссылке — один раз и в течение часа:\n  {link}\nТокен для программ и других браузеров, показан только сейчас:\n  {token}\nCtrl-C завершает сервер."
            ),
            None => say!(
                "\nThe token to sign in was shown at the first start; `stend serve --new-token` makes another. Ctrl-C ends the server.",
                "\nТокен для входа показан при первом запуске; новый сделает `stend serve --new-token`. Ctrl-C завершает сервер."
            ),
        },
    )
}

/// What people compare before they trust the server, and what is wrong with it.
fn of_certificate(server: &Server) -> Say {
    let Some(tls) = &server.tls else { return Say::same("") };
    let now = tls.now();
    let (fingerprint, ends) = (now.fingerprint, format::utc(now.facts.ends_unix));
    let mut told = say!(
        "\nFingerprint of the certificate, valid until {ends}:\n  {fingerprint}",
        "\nОтпечаток сертификата, действует до {ends}:\n  {fingerprint}"
    );
    if let Some(file) = &server.public_certificate {
        let file = file.display();
        told = joined(
            told,
            say!(
                "\nThe server made it itself. Compare the fingerprint with what the browser shows, then trust it. Clients take `STEND_SERVER_CERTIFICATE={file}` or `--server-fingerprint`.",
                "\nСервер сделал его сам. Сверьте отпечаток с тем, что показывает браузер, и подтвердите доверие. Клиенты принимают `STEND_SERVER_CERTIFICATE={file}` или `--server-fingerprint`."
            ),
        );
    }
    if server.is_another_certificate {
        told = joined(
            told,
            say!(
                "\nIt takes the place of another one: everybody has to compare it again.",
                "\nОн заменил прежний: всем нужно сверить его снова."
            ),
        );
    }
    if let Some(Say { en, ru }) = tls.warning_now() {
        told = joined(told, say!("\n! warning: {en}", "\n! предупреждение: {ru}"));
    }
    told
}

fn joined(before: Say, after: Say) -> Say {
    Say { en: before.en + &after.en, ru: before.ru + &after.ru }
}
