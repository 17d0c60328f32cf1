//! From YAML nodes to receivers of problems.

mod vendor;

use super::{Map, boolean, list, span, text, word};
use crate::keys::{Limits, notify as known};
use crate::notify::{Mail, MailBy, NotifyFile, Policy, Quiet, Receiver, Secret, Snmp, SnmpUser, Way, When};
use crate::yaml::{self, Node, Value};
use stend_base::{Nanos, Result, say};

/// Parses a file of receivers. `file` names it in errors; kind of every error is `Spec`.
pub fn notify(text: &str, file: &str) -> Result<NotifyFile> {
    parsed(text, file).map_err(|error| {
        error.or_hint(say!(
            "docs/formats/notify.md describes every key of a file of receivers",
            "все ключи файла получателей описаны в docs/formats/notify.md"
        ))
    })
}

fn parsed(text: &str, file: &str) -> Result<NotifyFile> {
    let root = yaml::parse(text, file)?;
    let mut map = Map::of(&root, &known::FILE)?;
    let lang = map.optional("lang", |node| word(node, known::LANGS))?.unwrap_or_default();
    let mut policy = vec![
        Policy { category: None, is_critical: true, when: When::Now },
        Policy { category: None, is_critical: false, when: When::Digest },
    ];
    policy.extend(map.optional("send", |node| send(node, None))?.unwrap_or_default());
    policy.extend(map.optional("categories", categories)?.unwrap_or_default());
    let digest = map.optional("digest", digest)?.unwrap_or(Nanos::secs(6 * 3600));
    let quiet = map.optional("quiet", quiet)?;
    let receivers = map.required("receivers", receivers)?;
    let vendor = map.optional("vendor", vendor::vendor)?;
    map.finish()?;
    Ok(NotifyFile { lang, policy, digest, quiet, receivers, vendor })
}

fn send(node: &Node, category: Option<&'static str>) -> Result<Vec<Policy>> {
    let mut map = Map::of(node, &known::SEND)?;
    let when = |node: &Node| word(node, known::WHENS);
    let (critical, warning) = (map.optional("critical", when)?, map.optional("warning", when)?);
    map.finish()?;
    let of = |is_critical, when: Option<When>| when.map(|when| Policy { category, is_critical, when });
    Ok(of(true, critical).into_iter().chain(of(false, warning)).collect())
}

fn categories(node: &Node) -> Result<Vec<Policy>> {
    let mut map = Map::of(node, &known::BY_CATEGORY)?;
    let mut all = Vec::new();
    for category in known::CATEGORIES {
        all.extend(map.optional(category, |node| send(node, Some(category)))?.unwrap_or_default());
    }
    map.finish()?;
    Ok(all)
}

fn digest(node: &Node) -> Result<Nanos> {
    let found = span(node)?;
    match known::DIGEST.hold(&found) {
        true => Ok(found),
        false => Err(node.error(say!(
            "a digest comes every minute to every week",
            "сводка бывает от раза в минуту до раза в неделю"
        ))),
    }
}

fn quiet(node: &Node) -> Result<Quiet> {
    let mut map = Map::of(node, &known::QUIET)?;
    let (from, to) = (map.required("from", minute)?, map.required("to", minute)?);
    map.finish()?;
    match from == to {
        false => Ok(Quiet { from, to }),
        true => {
            Err(node.error(say!("quiet hours end when they begin", "тихие часы кончаются тогда же, когда начинаются")))
        }
    }
}

/// A time of day in minutes.
fn minute(node: &Node) -> Result<u16> {
    let read = |found: &str| {
        let (hour, minute) = found.split_once(':')?;
        let two = |part: &str| part.parse::<u16>().ok().filter(|_| part.len() == 2);
        Some(two(hour).filter(|hour| *hour < 24)? * 60 + two(minute).filter(|minute| *minute < 60)?)
    };
    let Value::Text(found) = &node.value else {
        return Err(node
            .error(say!("a time of day is text", "время суток — это текст"))
            .hint(say!("in quotes, for example `\"23:00\"`", "в кавычках, например `\"23:00\"`")));
    };
    read(found).ok_or_else(|| {
        let shown: String = found.chars().take(60).collect();
        node.error(say!("`{shown}` is no time of day", "`{shown}` — не время суток"))
            .hint(say!("for example `\"23:00\"`", "например `\"23:00\"`"))
    })
}

fn receivers(node: &Node) -> Result<Vec<Receiver>> {
    let Value::Map(pairs) = &node.value else {
        let told =
            say!("`receivers` is a mapping from names to receivers", "`receivers` — отображение имён на получателей");
        return Err(node.error(told).hint(say!(
            "for example `receivers: {{log: {{syslog: {{}}}}}}`",
            "например `receivers: {{log: {{syslog: {{}}}}}}`"
        )));
    };
    let Limits { least, most } = known::RECEIVERS;
    if !known::RECEIVERS.hold(&pairs.len()) {
        let count = pairs.len();
        let told = say!(
            "{count} receivers; a file has {least} to {most}",
            "получателей: {count}; в файле их бывает от {least} до {most}"
        );
        return Err(node.error(told));
    }
    let mut all = Vec::with_capacity(pairs.len());
    for (key, node) in pairs {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if key.name.is_empty() || key.name.len() > 64 || !key.name.chars().all(fits) {
            let told = say!(
                "a receiver has a name of 1 to 64 letters, digits, `.`, `_`, `-`",
                "имя получателя — от 1 до 64 латинских букв, цифр, `.`, `_`, `-`"
            );
            return Err(key.error(told));
        }
        all.push(Receiver { name: key.name.clone(), way: way(node)? });
    }
    Ok(all)
}

fn way(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::RECEIVER)?;
    let ways = [
        map.optional("mail", mail)?,
        map.optional("telegram", telegram)?,
        map.optional("mattermost", mattermost)?,
        map.optional("alertmanager", alertmanager)?,
        map.optional("webhook", webhook)?,
        map.optional("syslog", syslog)?,
        map.optional("snmp", snmp)?,
    ];
    map.finish()?;
    let mut ways = ways.into_iter().flatten();
    match (ways.next(), ways.next()) {
        (Some(way), None) => Ok(way),
        _ => {
            Err(node
                .error(say!("a receiver has exactly one way of delivery", "у получателя ровно один способ доставки")))
        }
    }
}

fn mail(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::MAIL)?;
    let to = map.required("to", |node| {
        let items = list(node)?;
        match known::ADDRESSES.hold(&items.len()) {
            true => items.iter().map(address).collect::<Result<Vec<_>>>(),
            false => Err(node.error(say!("a mail has 1 to 32 addresses", "у письма от 1 до 32 адресов"))),
        }
    })?;
    let from = map.required("from", address)?;
    let server = map.optional("server", |node| url(node, &["smtp://", "smtps://"]))?;
    let tls = map.optional("tls", |node| word(node, known::TLS))?;
    let user = map.optional("user", line)?;
    let password = map.optional("password", secret)?;
    map.finish()?;
    let login = match (user, password) {
        (Some(user), Some(password)) => Some((user, password)),
        (None, None) => None,
        _ => {
            return Err(node.error(say!("`user` and `password` go together", "`user` и `password` указывают вместе")));
        }
    };
    let by = match server {
        Some(url) => MailBy::Server { url, tls: tls.unwrap_or(true), login },
        None if tls.is_some() || login.is_some() => {
            return Err(node.error(say!("`tls` and `user` need `server`", "для `tls` и `user` нужен `server`")));
        }
        None => MailBy::Sendmail,
    };
    Ok(Way::Mail(Mail { to, from, by }))
}

fn telegram(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::TELEGRAM)?;
    let (chat, token) = (map.required("chat", line)?, map.required("token", secret)?);
    let url = map.optional("url", http)?.unwrap_or_else(|| "https://api.telegram.org".into());
    map.finish()?;
    Ok(Way::Telegram { chat, token, url })
}

fn mattermost(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::MATTERMOST)?;
    let url = map.required("url", secret)?;
    map.finish()?;
    Ok(Way::Mattermost { url })
}

fn alertmanager(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::ALERTMANAGER)?;
    let url = map.required("url", http)?;
    map.finish()?;
    Ok(Way::Alertmanager { url })
}

fn webhook(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::WEBHOOK)?;
    let (url, token) = (map.required("url", http)?, map.optional("token", secret)?);
    map.finish()?;
    Ok(Way::Webhook { url, token })
}

fn syslog(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::SYSLOG)?;
    let socket = map.optional("socket", line)?.unwrap_or_else(|| "/dev/log".into());
    map.finish()?;
    Ok(Way::Syslog { socket })
}

fn snmp(node: &Node) -> Result<Way> {
    let mut map = Map::of(node, &known::SNMP)?;
    let to = map.required("to", receiver_of_traps)?;
    let (community, name) = (map.optional("community", secret)?, map.optional("user", line)?);
    let (auth, privacy) = (map.optional("auth", secret)?, map.optional("privacy", secret)?);
    let inform = map.optional("inform", boolean)?.unwrap_or(true);
    map.finish()?;
    let user = match (community, name, auth, privacy) {
        (Some(community), None, None, None) => SnmpUser::Community(community),
        (None, Some(name), Some(auth), Some(privacy)) => SnmpUser::User { name, auth, privacy },
        _ => {
            let told = say!(
                "version 2c needs `community` alone, version 3 `user`, `auth` and `privacy`",
                "версии 2c нужен только `community`, версии 3 — `user`, `auth` и `privacy`"
            );
            return Err(node.error(told));
        }
    };
    if let (SnmpUser::User { .. }, false) = (&user, inform) {
        // A trap of version 3 is keyed by the engine of its sender, which is a new one for each message: no receiver could read it.
        let told = say!("version 3 needs `inform: true`", "версии 3 нужен `inform: true`");
        let hint = say!(
            "leave `inform` out: a receiver tells its engine before it gets an INFORM",
            "уберите `inform`: перед INFORM получатель сообщает свой engine id"
        );
        return Err(node.error(told).hint(hint));
    }
    Ok(Way::Snmp(Snmp { to, user, inform }))
}

fn secret(node: &Node) -> Result<Secret> {
    if let Value::Map(_) = &node.value {
        let mut map = Map::of(node, &known::SECRET)?;
        let (path, variable) = (map.optional("file", line)?, map.optional("env", line)?);
        map.finish()?;
        match (path, variable) {
            (Some(path), None) => return Ok(Secret::File(path)),
            (None, Some(variable)) => return Ok(Secret::Env(variable)),
            _ => {}
        }
    }
    Err(node
        .error(say!("a secret does not stand in this file", "секрет не пишут в этот файл"))
        .hint(say!("write `{{file: PATH}}` or `{{env: NAME}}`", "напишите `{{file: ПУТЬ}}` или `{{env: ИМЯ}}`")))
}

fn line(node: &Node) -> Result<String> {
    let found = text(node)?;
    match known::TEXT.hold(&found.len()) && !found.chars().any(char::is_control) {
        true => Ok(found),
        false => Err(node.error(say!(
            "not 1 to 1024 bytes without control characters",
            "нужно от 1 до 1024 байт без управляющих символов"
        ))),
    }
}

/// What becomes a word of a command: it is not taken for an option.
fn receiver_of_traps(node: &Node) -> Result<String> {
    let found = line(node)?;
    match found.starts_with('-') || found.contains(char::is_whitespace) {
        false => Ok(found),
        true => Err(node.error(say!("this names no host", "это не имя машины"))),
    }
}

fn address(node: &Node) -> Result<String> {
    let found = line(node)?;
    let strange = |letter: char| letter.is_whitespace() || "<>,;\"".contains(letter);
    let is_one =
        found.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty() && !host.contains('@'));
    // `sendmail` gets addresses as words.
    match is_one && !found.contains(strange) && !found.starts_with('-') {
        true => Ok(found),
        false => Err(node.error(say!("this is no address of mail", "это не адрес почты"))),
    }
}

fn http(node: &Node) -> Result<String> {
    url(node, &["http://", "https://"])
}

fn url(node: &Node, schemes: &[&str]) -> Result<String> {
    let found = line(node)?;
    let begins = schemes.iter().any(|scheme| found.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    match begins && !found.contains(char::is_whitespace) && !found.contains(['"', '\\', '@']) {
        true => Ok(found.trim_end_matches('/').to_string()),
        false => {
            let schemes = schemes.join(", ");
            Err(node.error(say!("this is no address", "это не адрес")).hint(say!(
                "it begins with {schemes} and has no user in it",
                "он начинается с {schemes}, имени пользователя в нём нет"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::MessageLang;

    const ALL: &str = r#"
lang: both
send: {critical: now, warning: digest}
categories: {temperature: {warning: never}, drive: {warning: now}}
digest: 1h
quiet: {from: "23:00", to: "07:30"}
receivers:
  mail: {mail: {to: [ops@example.com], from: stend@nas, server: "smtp://mail:587", user: u, password: {file: /etc/p}}}
  local: {mail: {to: [root@localhost], from: stend@nas}}
  chat: {telegram: {chat: "-100", token: {env: TOKEN}}}
  room: {mattermost: {url: {file: /etc/url}}}
  am: {alertmanager: {url: "http://am:9093/"}}
  hook: {webhook: {url: "https://x/y", token: {env: T}}}
  log: {syslog: {}}
  noc: {snmp: {to: "noc:162", community: {env: C}, inform: false}}
  noc3: {snmp: {to: noc, user: stend, auth: {env: A}, privacy: {env: P}}}
"#;

    #[test]
    fn a_trap_that_no_receiver_could_read_is_refused() {
        let text = "receivers: {noc: {snmp: {to: noc, user: u, auth: {env: A}, privacy: {env: P}, inform: false}}}";
        let error = notify(text, "n.yaml").unwrap_err();
        assert!(error.message.en.contains("version 3 needs `inform: true`"), "{error:?}");
    }

    #[test]
    fn a_file_with_every_way_is_read() {
        let file = notify(ALL, "notify.yaml").unwrap();
        assert_eq!((file.lang, file.digest, file.receivers.len()), (MessageLang::Both, Nanos::secs(3600), 9));
        let server = MailBy::Server {
            url: "smtp://mail:587".into(),
            tls: true,
            login: Some(("u".into(), Secret::File("/etc/p".into()))),
        };
        let mail = Mail { to: vec!["ops@example.com".into()], from: "stend@nas".into(), by: server };
        assert_eq!(file.receivers[0], Receiver { name: "mail".into(), way: Way::Mail(mail) });
        assert_eq!(file.receivers[4].way, Way::Alertmanager { url: "http://am:9093".into() });
        let all = [("drive", true), ("drive", false), ("temperature", false), ("array", false)];
        assert_eq!(
            all.map(|(category, is_critical)| file.when(category, is_critical)),
            [When::Now, When::Now, When::Never, When::Digest]
        );
        let quiet = file.quiet.unwrap();
        let minutes = [22 * 60 + 59, 23 * 60, 0, 7 * 60 + 29, 7 * 60 + 30];
        assert_eq!(minutes.map(|minute| quiet.holds(minute)), [false, true, true, true, false]);
    }

    #[test]
    fn secrets_wrong_times_two_ways_and_unknown_keys_are_refused_with_their_place() {
        let refused = |receivers: &str, told: &str| {
            let error = notify(&format!("receivers:\n  a: {receivers}\n"), "n.yaml").unwrap_err();
            assert!(error.message.en.contains(told) && error.to_string().contains("n.yaml:2"), "{error}");
        };
        refused("{telegram: {chat: \"1\", token: abc}}", "a secret does not stand in this file");
        refused("{telegram: {chat: \"1\", token: {file: a, env: b}}}", "a secret does not stand in this file");
        refused("{syslog: {}, webhook: {url: \"http://x\"}}", "exactly one way");
        refused("{}", "exactly one way");
        refused("{mail: {to: [\"a b@c\"], from: x@y}}", "no address of mail");
        refused("{mail: {to: [], from: x@y}}", "1 to 32 addresses");
        refused("{mail: {to: [a@b], from: x@y, tls: none}}", "need `server`");
        refused("{webhook: {url: \"file:///etc/passwd\"}}", "no address");
        refused("{webhook: {url: \"http://user:secret@x\"}}", "no address");
        refused("{snmp: {to: a, user: u}}", "version 2c needs");
        refused("{snmp: {to: \"-x\", community: {env: C}}}", "names no host");
        refused("{sylog: {}}", "unknown key `sylog`");
        for (quiet, told) in [
            ("{from: \"24:00\", to: \"07:00\"}", "no time of day"),
            ("{from: \"7:00\", to: \"07:00\"}", "no time of day"),
            ("{from: \"07:00\", to: \"07:00\"}", "end when they begin"),
        ] {
            let error = notify(&format!("quiet: {quiet}\nreceivers: {{a: {{syslog: {{}}}}}}\n"), "n.yaml").unwrap_err();
            assert!(error.message.en.contains(told), "{error}");
        }
    }
}
