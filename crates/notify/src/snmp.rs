//! A message as traps of SNMP, one for each thing that happened, by the program `snmptrap`. What they carry is in
//! `monitoring/snmp/STEND-MIB.txt`.

use crate::item::{Happening, Item, Message, Unsent, in_turn};
use crate::program::Program;
use crate::secret;
use crate::words::subject;
use std::path::Path;
use stend_base::{Lang, Say, say};
use stend_spec::notify::{MessageLang, Snmp, SnmpUser};

/// `stend` of the MIB.
const ROOT: &str = "1.3.6.1.4.1.8072.9999.9999.7833";
/// Longest text that receivers take without trouble, bytes: the packet stays below that of an Ethernet frame.
const TEXT_MAX: usize = 255;

/// Sends the traps; `scratch` is a directory of ours, for the settings of the program while it runs.
pub fn send(to: &Snmp, message: &Message, host: &str, lang: MessageLang, scratch: &Path) -> Result<(), Unsent> {
    let settings = settings(&to.user)?;
    // Each receiver has its own: several get messages at the same time.
    let place = scratch.join(format!("snmp-{}", message.receiver));
    // Left over by a process that was killed.
    drop(std::fs::remove_dir_all(&place));
    let sent = crate::store::private_directory(&place)
        .and_then(|()| crate::store::write_private(&place.join("snmp.conf"), settings.as_bytes()))
        .map_err(|error| {
            say!(
                "cannot write settings for `snmptrap`: {error}",
                "не удаётся записать настройки для `snmptrap`: {error}"
            )
            .into()
        })
        .and_then(|()| in_turn(traps(message, host, lang), |values| one(to, values, &place)));
    // The passwords go with it, also where something failed.
    drop(std::fs::remove_dir_all(&place));
    sent
}

fn one(to: &Snmp, values: Vec<String>, settings: &Path) -> Result<(), Say> {
    let place = settings.to_string_lossy().into_owned();
    let mut arguments: Vec<String> = to.inform.then(|| "-Ci".to_string()).into_iter().collect();
    // No MIB is needed: all names are numbers.
    arguments.extend(["-m", "", "-r", "1", "-t", "5", &to.to, ""].map(String::from));
    arguments.extend(values);
    let environment = vec![("SNMPCONFPATH", place.clone()), ("SNMP_PERSISTENT_DIR", place), ("MIBS", String::new())];
    Program { name: "snmptrap", arguments, input: "", hidden: None, environment }.run().map(drop)
}

/// The settings that `snmptrap` reads from its file, so that no list of processes shows a password.
fn settings(user: &SnmpUser) -> Result<String, Say> {
    let quoted = |of: &stend_spec::notify::Secret| {
        let found = secret::read(of)?;
        match found.contains(['"', '\\']) {
            false => Ok(format!("\"{found}\"")),
            true => Err(say!(
                "a password of SNMP has no quotes and no backslash",
                "в пароле SNMP нет кавычек и обратной косой черты"
            )),
        }
    };
    Ok(match user {
        SnmpUser::Community(community) => format!("defVersion 2c\ndefCommunity {}\n", quoted(community)?),
        SnmpUser::User { name, auth, privacy } => format!(
            "defVersion 3\ndefSecurityName \"{name}\"\ndefSecurityLevel authPriv\ndefAuthType SHA\ndefPrivType AES\ndefAuthPassphrase {}\ndefPrivPassphrase {}\n",
            quoted(auth)?,
            quoted(privacy)?
        ),
    })
}

/// Words of `snmptrap` behind the receiver: the trap, and its objects with types and values.
fn traps(message: &Message, host: &str, lang: MessageLang) -> Vec<Vec<String>> {
    let text = |number: u32, value: &str| [object(number), "s".to_string(), cut(value)];
    if message.items.is_empty() {
        let told = subject(message, host, lang);
        let objects = [text(1, host), text(6, &told)].into_iter().flatten();
        return vec![std::iter::once(format!("{ROOT}.0.3")).chain(objects).collect()];
    }
    let trap = |item: &Item| {
        let of = |say: &Say| match lang {
            MessageLang::En => say.en.clone(),
            MessageLang::Ru => say.ru.clone(),
            MessageLang::Both => format!("{} / {}", say.en, say.ru),
        };
        let number = if item.happened == Happening::Closed { 2 } else { 1 };
        let severity = [object(4), "i".to_string(), if item.is_critical { "2" } else { "1" }.to_string()];
        let opened = [object(8), "u".to_string(), u32::try_from(item.opened).unwrap_or_default().to_string()];
        let told = Say::both(|lang: Lang| format!("{}: {}", item.name.get(lang), item.evidence.get(lang)));
        let objects = [
            text(1, host),
            text(2, &item.rule),
            text(3, &item.category),
            severity,
            text(5, &item.object),
            text(6, &of(&told)),
            text(7, &of(&item.advice)),
            opened,
        ];
        std::iter::once(format!("{ROOT}.0.{number}")).chain(objects.into_iter().flatten()).collect()
    };
    message.items.iter().map(trap).collect()
}

fn object(number: u32) -> String {
    format!("{ROOT}.1.{number}.0")
}

/// So much of a text as fits, without a letter that is parted.
fn cut(text: &str) -> String {
    let mut short = String::new();
    for letter in text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }) {
        if short.len() + letter.len_utf8() > TEXT_MAX {
            break;
        }
        short.push(letter);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tests::{item, message};
    use stend_spec::notify::Secret;

    #[test]
    fn a_trap_has_the_objects_of_the_mib_and_texts_are_cut_between_letters() {
        let two = message(vec![item("md0", Happening::Opened), item(&"ё".repeat(200), Happening::Closed)]);
        let traps = traps(&two, "nas", MessageLang::Both);
        assert_eq!(traps[0][0], format!("{ROOT}.0.1"));
        assert_eq!(traps[0][1..4], [format!("{ROOT}.1.1.0"), "s".into(), "nas".into()]);
        assert!(traps[0].contains(&"array without redundancy: lacks 1 of 4 drives / массив без избыточности: не хватает накопителей: 1 из 4".to_string()));
        assert_eq!((traps[0].len(), traps[1][0].as_str()), (25, &*format!("{ROOT}.0.2")));
        assert_eq!(traps[1][15].chars().count(), 127);
        assert_eq!(super::traps(&message(Vec::new()), "nas", MessageLang::En)[0][0], format!("{ROOT}.0.3"));
    }

    #[test]
    fn settings_have_the_secrets_and_refuse_what_would_end_their_line() {
        let dir = tempfile::tempdir().unwrap();
        let secret = |name: &str, text: &str| {
            std::fs::write(dir.path().join(name), text).unwrap();
            Secret::File(dir.path().join(name).to_string_lossy().into_owned())
        };
        let community = SnmpUser::Community(secret("c", "pub lic\n"));
        assert_eq!(settings(&community).unwrap(), "defVersion 2c\ndefCommunity \"pub lic\"\n");
        let broken = SnmpUser::Community(secret("d", "a\" b"));
        assert!(settings(&broken).unwrap_err().en.contains("no quotes"));
    }
}
