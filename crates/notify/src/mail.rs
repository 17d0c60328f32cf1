//! A message as a mail (RFC 5322): header and text. Pure.

use crate::item::Message;
use crate::words::{subject, text};
use stend_base::format::rfc5322;
use stend_spec::notify::{Mail, MessageLang};

/// Letters of a line of base64.
const LINE: usize = 76;
/// Bytes of a text that fit into one encoded word of a header.
const WORD: usize = 42;

/// The whole mail, lines ended by CR and LF.
pub fn mail(message: &Message, host: &str, lang: MessageLang, mail: &Mail) -> String {
    let (to, from) = (mail.to.join(", "), &mail.from);
    let domain = from.rsplit('@').next().unwrap_or("localhost");
    let header = [
        ("From", from.clone()),
        ("To", to),
        ("Subject", encoded(&subject(message, host, lang))),
        ("Date", rfc5322(message.made)),
        ("Message-ID", format!("<stend-{}-{}@{domain}>", message.made, message.id)),
        // Absence notes and the like do not answer it.
        ("Auto-Submitted", "auto-generated".to_string()),
        ("MIME-Version", "1.0".to_string()),
        ("Content-Type", "text/plain; charset=utf-8".to_string()),
        ("Content-Transfer-Encoding", "base64".to_string()),
    ];
    let mut all: String = header.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    all.push_str("\r\n");
    let body = base64(text(message, host, lang).replace('\n', "\r\n").as_bytes());
    for line in body.as_bytes().chunks(LINE) {
        all.push_str(&String::from_utf8_lossy(line));
        all.push_str("\r\n");
    }
    all
}

/// A text of a header: what is not ASCII in encoded words (RFC 2047), none of which parts a letter.
fn encoded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_string();
    }
    let mut words: Vec<String> = vec![String::new()];
    for letter in text.chars() {
        if words.last().is_some_and(|word| word.len() + letter.len_utf8() > WORD) {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|word| word.push(letter));
    }
    words.iter().map(|word| format!("=?utf-8?B?{}?=", base64(word.as_bytes()))).collect::<Vec<_>>().join("\r\n ")
}

//= RFC 4648, section 4
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Happening;
    use crate::words::tests::{item, message};
    use stend_spec::notify::MailBy;

    #[test]
    fn base64_is_that_of_the_standard() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn a_mail_is_of_short_ascii_lines_whatever_it_says() {
        let to = Mail { to: vec!["a@x".into(), "b@y".into()], from: "stend@nas".into(), by: MailBy::Sendmail };
        let told = mail(&message(vec![item("md0", Happening::Opened)]), "nas", MessageLang::Both, &to);
        assert!(told.is_ascii() && told.split("\r\n").all(|line| line.len() <= 78 && !line.contains('\n')), "{told}");
        assert!(told.starts_with("From: stend@nas\r\nTo: a@x, b@y\r\nSubject: =?utf-8?B?"), "{told}");
        assert!(told.contains("\r\nMessage-ID: <stend-1795296601-7@nas>\r\n") && told.contains("\r\n\r\n"));
        assert_eq!(encoded("plain"), "plain");
        let long = encoded(&"ё".repeat(60));
        assert_eq!(long.matches("=?utf-8?B?").count(), 3, "{long}");
    }
}
