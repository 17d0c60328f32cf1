//! One message to one receiver, and whether it was taken. Must not decide what is sent or when.

use crate::item::{Message, Unsent};
use crate::policy::test_message;
use crate::program::{HIDDEN, Program};
use crate::{forms, mail, secret, snmp, syslog};
use serde_json::Value;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use stend_base::{Say, say};
use stend_spec::notify::{Mail, MailBy, MessageLang, NotifyFile, Receiver, Secret, Way};

/// Longest time for a connection and for a message, seconds.
const CONNECT: u32 = 10;
const WHOLE: u32 = 30;

/// Sends a message; what is said is why it was not taken, and how much of it was.
pub fn send(
    receiver: &Receiver,
    message: &Message,
    host: &str,
    lang: MessageLang,
    scratch: &Path,
) -> Result<(), Unsent> {
    let post = |url: &str, token: Option<&Secret>, body: Value| posted(url, token, &body.to_string());
    match &receiver.way {
        // A test message fails if one address does. A real one goes to the others.
        Way::Mail(to) => by_mail(to, &mail::mail(message, host, lang, to), !message.items.is_empty())?,
        Way::Telegram { chat, token, url } => {
            let token = secret::read(token)?;
            post(&format!("{url}/bot{token}/sendMessage"), None, forms::telegram(message, host, lang, chat))?;
        }
        Way::Mattermost { url } => post(&hook_of(url)?, None, forms::mattermost(message, host, lang))?,
        Way::Alertmanager { url } => post(&format!("{url}/api/v2/alerts"), None, forms::alertmanager(message, host))?,
        Way::Webhook { url, token } => post(url, token.as_ref(), forms::webhook(message, host, lang))?,
        Way::Syslog { socket } => syslog::send(socket, message, host, lang)?,
        Way::Snmp(to) => snmp::send(to, message, host, lang, scratch)?,
    }
    Ok(())
}

/// The bytes of a message to a receiver by mail or webhook; of other ways nothing. What was lost before is not in them, so that they stay the same.
pub fn rendered(receiver: &Receiver, message: &Message, host: &str, lang: MessageLang) -> String {
    let message = &Message { lost: 0, ..message.clone() };
    match &receiver.way {
        Way::Mail(to) => mail::mail(message, host, lang, to),
        Way::Webhook { .. } => forms::webhook(message, host, lang).to_string(),
        _ => String::new(),
    }
}

/// Sends bytes that [`rendered`] made, as they are.
pub fn deliver(way: &Way, bytes: &str) -> Result<(), Unsent> {
    match way {
        // The host is not named in the greeting either.
        Way::Mail(Mail { to, from, by: MailBy::Server { url, tls, login } }) => {
            let by = MailBy::Server { url: format!("{url}/localhost"), tls: *tls, login: login.clone() };
            Ok(by_mail(&Mail { to: to.clone(), from: from.clone(), by }, bytes, false)?)
        }
        Way::Mail(to) => Ok(by_mail(to, bytes, false)?),
        Way::Webhook { url, token } => posted(url, token.as_ref(), bytes),
        _ => Err(say!("a vendor has no such way", "у производителя нет такого способа").into()),
    }
}

/// The address in a secret. What is none is not handed to `curl`, which would print it.
fn hook_of(url: &Secret) -> Result<String, Say> {
    let address = secret::read(url)?;
    match ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) {
        true => Ok(address),
        false => Err(say!(
            "what its secret holds is no address: it must begin with `https://` or `http://`",
            "в секрете не адрес: он должен начинаться с `https://` или `http://`"
        )),
    }
}

/// Sends a test message to every receiver, and says of each in the order of the file whether it was taken.
///
/// To all at once: of several that never answer each would take its half minute.
pub fn test(file: &NotifyFile, host: &str, scratch: &Path) -> Vec<(String, Result<(), Say>)> {
    let unix = unix();
    let one = &|receiver: &Receiver| {
        let message = test_message(&receiver.name, unix);
        (receiver.name.clone(), send(receiver, &message, host, file.lang, scratch).map_err(|unsent| unsent.why))
    };
    std::thread::scope(|scope| {
        let sending: Vec<_> = file.receivers.iter().map(|receiver| scope.spawn(move || one(receiver))).collect();
        sending.into_iter().map(|sent| sent.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Seconds since 1970.
pub fn unix() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Posts JSON by `curl`, which every distribution has and keeps. Addresses and tokens are in a file in memory, not among its words.
///
/// Errors: why it was not taken, for people.
pub fn post(url: &str, token: Option<&Secret>, body: &str) -> Result<(), Say> {
    posted(url, token, body).map_err(|unsent| unsent.why)
}

fn posted(url: &str, token: Option<&Secret>, body: &str) -> Result<(), Unsent> {
    let mut settings =
        format!("{}proto = \"=http,https\"\nheader = \"Content-Type: application/json\"\n", common(url)?);
    if let Some(token) = token {
        let token = secret::read(token)?;
        settings.push_str(&format!("header = {}\n", quoted(&format!("Authorization: Bearer {token}"))?));
    }
    settings.push_str("request = \"POST\"\nfail\noutput = \"/dev/null\"\ndata-binary = \"@-\"\n");
    settings.push_str("write-out = \"%{http_code}\"\n");
    answered(curl(&settings, body)?.trim())
}

/// What an answer's code means. `fail` of `curl` is about 400 and more. What sends us elsewhere has not said that it took the message, and a
/// redirection is not followed: it would get the token.
fn answered(code: &str) -> Result<(), Unsent> {
    let begins_with = |digit: char| code.len() == 3 && code.starts_with(digit);
    if begins_with('2') {
        return Ok(());
    }
    let why = say!(
        "the server answers with code {code} and not with 2xx; is the address right?",
        "сервер отвечает кодом {code}, а не 2xx; верен ли адрес?"
    );
    Err(Unsent { has_moved: begins_with('3'), ..Unsent::from(why) })
}

fn by_mail(to: &Mail, text: &str, others_get_it: bool) -> Result<(), Say> {
    let MailBy::Server { url, tls, login } = &to.by else {
        let mut arguments = vec!["-i".to_string(), "-f".to_string(), to.from.clone(), "--".to_string()];
        arguments.extend(to.to.iter().cloned());
        return Program { name: "sendmail", arguments, input: text, hidden: None, environment: Vec::new() }
            .run()
            .map(drop);
    };
    let mut settings = format!("{}proto = \"=smtp,smtps\"\nmail-from = {}\n", common(url)?, quoted(&to.from)?);
    for address in &to.to {
        settings.push_str(&format!("mail-rcpt = {}\n", quoted(address)?));
    }
    if others_get_it && to.to.len() > 1 && sends_in_spite_of_refusals() {
        settings.push_str("mail-rcpt-allowfails\n");
    }
    if *tls {
        settings.push_str("ssl-reqd\n");
    }
    if let Some((user, password)) = login {
        settings.push_str(&format!("user = {}\n", quoted(&format!("{user}:{}", secret::read(password)?))?));
    }
    settings.push_str("upload-file = \"-\"\n");
    curl(&settings, text).map(drop)
}

/// Whether `curl` can send a mail although the server refuses one of its addresses; it ends at an option that it does not know.
/// Source: `--mail-rcpt-allowfails` in the manual of curl, since 7.69.
fn sends_in_spite_of_refusals() -> bool {
    static KNOWS: OnceLock<bool> = OnceLock::new();
    let asked = || {
        let arguments = vec!["--version".to_string()];
        Program { name: "curl", arguments, input: "", hidden: None, environment: Vec::new() }.run()
    };
    *KNOWS.get_or_init(|| asked().is_ok_and(|text| version(&text) >= Some((7, 69))))
}

/// Major and minor number in what `curl --version` prints.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("curl ")?.split('.').map_while(|part| part.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

fn common(url: &str) -> Result<String, Say> {
    let url = quoted(url)?;
    Ok(format!("url = {url}\ngloboff\nsilent\nshow-error\nconnect-timeout = {CONNECT}\nmax-time = {WHOLE}\n"))
}

/// What `curl` printed.
fn curl(settings: &str, input: &str) -> Result<String, Say> {
    // `-q` first: the settings of the user that runs it do not count.
    let arguments = ["-q", "--config", HIDDEN].map(String::from).to_vec();
    let environment = Vec::new();
    Program { name: "curl", arguments, input, hidden: Some(settings), environment }.run()
}

/// A value in the settings of `curl`.
fn quoted(text: &str) -> Result<String, Say> {
    match text.chars().any(char::is_control) {
        false => Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
        true => {
            Err(say!("an address or a secret has a control character", "в адресе или секрете есть управляющий символ"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_secret_that_is_no_address_is_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("url");
        std::fs::write(&file, "abc123hookid\n").unwrap();
        let why = hook_of(&Secret::File(file.display().to_string())).unwrap_err();
        assert!(why.en.contains("no address") && !why.en.contains("abc123"), "{why:?}");
    }

    #[test]
    fn only_2xx_is_taken_and_only_3xx_points_elsewhere() {
        let moved = |code: &str| answered(code).map_err(|unsent| (unsent.has_moved, unsent.through));
        assert_eq!([moved("200"), moved("204")], [Ok(()), Ok(())]);
        assert_eq!([moved("302"), moved("308")], [Err((true, 0)), Err((true, 0))]);
        assert_eq!([moved("100"), moved("000"), moved("")], [Err((false, 0)); 3]);
    }

    #[test]
    fn test_messages_wait_for_no_other_receiver() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Neither gets an answer before both have asked.
        let answers = std::thread::spawn(move || {
            let mut all = [(); 2].map(|()| listener.accept().unwrap().0);
            for stream in &mut all {
                assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            }
            // `curl` closes when it has its answer.
            all.iter_mut().for_each(|stream| drop(stream.read_to_end(&mut Vec::new())));
        });
        let hook = |name: &str| format!("{name}: {{webhook: {{url: \"http://{address}/{name}\"}}}}");
        let hooks = ["b", "a"].map(hook).join(", ");
        let file = stend_spec::parse::notify(&format!("receivers: {{{hooks}}}"), "n.yaml").unwrap();
        let sent = test(&file, "nas", Path::new("/"));
        let in_order = sent.iter().map(|(name, _)| name).eq(file.receivers.iter().map(|receiver| &receiver.name));
        assert!(in_order, "{sent:?}");
        assert!(sent.iter().all(|(_, sent)| sent.is_ok()), "{sent:?}");
        answers.join().unwrap();
    }

    #[test]
    fn the_version_of_curl_is_read() {
        assert_eq!(version("curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1"), Some((7, 88)));
        assert_eq!(version("curl 8.5.0 (x)"), Some((8, 5)));
        assert_eq!((version("curl 7"), version("wget 1.2.3")), (None, None));
    }

    #[test]
    fn an_address_is_never_an_option_of_curl() {
        assert_eq!(quoted("http://x/\"y\\").unwrap(), "\"http://x/\\\"y\\\\\"");
        assert!(quoted("http://x/\noutput = /etc/x").unwrap_err().en.contains("control character"));
        assert!(post("http://x/\r\noutput = /etc/x", None, "{}").is_err());
    }
}
