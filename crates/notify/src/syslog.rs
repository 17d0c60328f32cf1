//! A message in the log of this host, by the datagram that syslog and journald take. Must not wait.

use crate::item::{Happening, Item, Message, Unsent, in_turn};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;
use stend_base::{Lang, Say, say};
use stend_spec::notify::MessageLang;

/// Facility `daemon`; severities of RFC 5424.
const DAEMON: u8 = 3 << 3;
const CRITICAL: u8 = 2;
const WARNING: u8 = 4;
const NOTICE: u8 = 5;
/// A full log answers later.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a line for each thing that happened.
pub fn send(socket: &str, message: &Message, host: &str, lang: MessageLang) -> Result<(), Unsent> {
    let failed = |error: std::io::Error| {
        let Say { en, ru } = stend_sys::regular::why(&error);
        say!("cannot write to the log `{socket}`: {en}", "не удаётся записать в журнал `{socket}`: {ru}")
    };
    let to = UnixDatagram::unbound().map_err(failed)?;
    to.connect(socket).map_err(failed)?;
    to.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    let send = |line: &String| to.send(line.as_bytes()).map(drop).map_err(failed);
    in_turn(lines(message, host, lang), |of_item| of_item.iter().try_for_each(send))
}

/// The lines of each item, one for each language.
fn lines(message: &Message, host: &str, lang: MessageLang) -> Vec<Vec<String>> {
    let langs: &[Lang] = match lang {
        MessageLang::En => &[Lang::En],
        MessageLang::Ru => &[Lang::Ru],
        MessageLang::Both => &[Lang::En, Lang::Ru],
    };
    if message.items.is_empty() {
        let line = crate::words::subject(message, host, lang);
        return vec![vec![format!("<{}>stend: {line}", DAEMON | NOTICE)]];
    }
    message.items.iter().map(|item| langs.iter().map(|lang| line(item, *lang)).collect()).collect()
}

fn line(item: &Item, lang: Lang) -> String {
    let (priority, state) = match (item.happened, item.is_critical) {
        (Happening::Closed, _) => (NOTICE, say!("over", "устранено")),
        (_, true) => (CRITICAL, say!("critical", "критично")),
        (_, false) => (WARNING, say!("warning", "предупреждение")),
    };
    let text = format!(
        "{} ({}): {}; {}; {}",
        item.object,
        state.get(lang),
        item.name.get(lang),
        item.evidence.get(lang),
        item.advice.get(lang)
    );
    let text: String = text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    format!("<{}>stend: {text}", DAEMON | priority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tests::{item, message};

    #[test]
    fn a_line_for_each_problem_has_its_severity_and_no_line_break() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let log = UnixDatagram::bind(&path).unwrap();
        let socket = path.to_string_lossy();
        let two = message(vec![item("md0\nx", Happening::Opened), item("md1", Happening::Closed)]);
        send(&socket, &two, "nas", MessageLang::En).unwrap();
        let read = || {
            let mut bytes = [0; 1024];
            let count = log.recv(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes[..count]).into_owned()
        };
        assert_eq!(
            read(),
            "<26>stend: md0\u{fffd}x (critical): array without redundancy; lacks 1 of 4 drives; Replace it."
        );
        assert!(read().starts_with("<29>stend: md1 (over): "));
        send(&socket, &message(Vec::new()), "nas", MessageLang::Ru).unwrap();
        assert_eq!(read(), "<29>stend: nas: пробное сообщение Стенда");
        drop(log);
        std::fs::remove_file(&path).unwrap();
        assert!(send(&socket, &two, "nas", MessageLang::En).unwrap_err().why.en.contains("no such file"));
    }
}
