//! A message in words: a subject of one line and a text. Pure.

use crate::item::{Happening, Item, Message};
use stend_base::format::utc;
use stend_base::{Lang, Say, say};
use stend_spec::notify::MessageLang;

/// Most problems that a text names.
const NAMED_MAX: usize = 50;

/// The languages of a message, in order.
fn langs(lang: MessageLang) -> &'static [Lang] {
    match lang {
        MessageLang::En => &[Lang::En],
        MessageLang::Ru => &[Lang::Ru],
        MessageLang::Both => &[Lang::En, Lang::Ru],
    }
}

/// In one line what it is about.
pub fn subject(message: &Message, host: &str, lang: MessageLang) -> String {
    let said = match message.items.as_slice() {
        [] => say!("{host}: test message of Stend", "{host}: пробное сообщение Стенда"),
        [only] if !message.is_digest => {
            let Line { glyph, object, name, state } = line(only);
            let (en, ru, state_en, state_ru) = (&name.en, &name.ru, state.en, state.ru);
            say!("{glyph} {host}: {object}: {en} ({state_en})", "{glyph} {host}: {object}: {ru} ({state_ru})")
        }
        items => {
            let (count, open) = (items.len(), items.iter().filter(|item| item.closed.is_none()).count());
            say!("{host}: problems {count}, open {open}", "{host}: проблем {count}, открыто {open}")
        }
    };
    // One line has one language.
    plain(said.get(langs(lang)[0]))
}

/// All of it.
pub fn text(message: &Message, host: &str, lang: MessageLang) -> String {
    langs(lang).iter().map(|lang| in_lang(message, host, *lang)).collect::<Vec<_>>().join("\n")
}

fn in_lang(message: &Message, host: &str, lang: Lang) -> String {
    let mut lines: Vec<String> = Vec::new();
    if message.items.is_empty() {
        let told = say!(
            "Problems of {host} will arrive here. This one is a test.",
            "Сюда будут приходить сообщения о проблемах {host}. Это — пробное."
        );
        lines.push(told.get(lang).to_string());
    }
    for item in message.items.iter().take(NAMED_MAX) {
        let Line { glyph, object, name, state } = line(item);
        lines.push(format!("{glyph} {host}: {object}: {} ({})", name.get(lang), state.get(lang)));
        lines.push(format!("  {}; {}", item.evidence.get(lang), span(item).get(lang)));
        if item.closed.is_none() {
            lines.push(format!("  → {}", item.advice.get(lang)));
        }
    }
    let more = message.items.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        lines.push(
            say!("and {more} more: `stend journal last`", "и ещё {more}: `stend journal last`").get(lang).to_string(),
        );
    }
    let muted = message.muted;
    if muted > 0 {
        let told = say!(
            "Muted problems: {muted}. `stend journal last` has them.",
            "Заглушено проблем: {muted}. Они есть в `stend journal last`."
        );
        lines.push(told.get(lang).to_string());
    }
    let lost = message.lost;
    if lost > 0 {
        let told = say!(
            "Messages lost before this one: {lost}. Look at `stend journal` of this recording and of those before.",
            "Потеряно сообщений до этого: {lost}. Посмотрите `stend journal` этой записи и предыдущих."
        );
        lines.push(told.get(lang).to_string());
    }
    lines.iter().map(|line| format!("{}\n", plain(line))).collect()
}

/// What a line says of a problem.
struct Line<'a> {
    glyph: &'static str,
    object: &'a str,
    name: &'a Say,
    state: Say,
}

fn line(item: &Item) -> Line<'_> {
    let (glyph, state) = match (item.happened, item.is_critical) {
        (Happening::Closed, _) => ("✔", say!("over", "устранено")),
        (_, true) => ("✖", say!("critical", "критично")),
        (_, false) => ("!", say!("warning", "предупреждение")),
    };
    Line { glyph, object: &item.object, name: &item.name, state }
}

fn span(item: &Item) -> Say {
    let opened = utc(item.opened);
    match item.closed.map(utc) {
        None => say!("open since {opened}", "открыта с {opened}"),
        Some(closed) => say!("from {opened} to {closed}", "с {opened} до {closed}"),
    }
}

/// Names of devices come from outside: nothing in them ends a line or steers a terminal.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::policy::test_message;

    pub fn item(object: &str, happened: Happening) -> Item {
        Item {
            happened,
            rule: "array_degraded".into(),
            category: "array".into(),
            is_critical: true,
            object: object.into(),
            name: say!("array without redundancy", "массив без избыточности"),
            evidence: say!("lacks 1 of 4 drives", "не хватает накопителей: 1 из 4"),
            advice: say!("Replace it.", "Замените его."),
            opened: 1_795_296_600,
            closed: (happened == Happening::Closed).then_some(1_795_300_200),
        }
    }

    pub fn message(items: Vec<Item>) -> Message {
        Message { id: 7, items, ..test_message("a", 1_795_296_601) }
    }

    #[test]
    fn a_message_says_what_where_since_when_and_what_to_do_in_both_languages() {
        let one = message(vec![item("md0", Happening::Opened)]);
        assert_eq!(subject(&one, "nas", MessageLang::En), "✖ nas: md0: array without redundancy (critical)");
        assert_eq!(subject(&one, "nas", MessageLang::Ru), "✖ nas: md0: массив без избыточности (критично)");
        assert_eq!(
            text(&one, "nas", MessageLang::Both),
            "✖ nas: md0: array without redundancy (critical)\n  lacks 1 of 4 drives; open since 2026-11-21 21:30 UTC\n  → Replace it.\n\n\
             ✖ nas: md0: массив без избыточности (критично)\n  не хватает накопителей: 1 из 4; открыта с 2026-11-21 21:30 UTC\n  → Замените его.\n"
        );
        let over = message(vec![item("md0", Happening::Closed)]);
        assert_eq!(
            text(&over, "nas", MessageLang::En),
            "✔ nas: md0: array without redundancy (over)\n  lacks 1 of 4 drives; from 2026-11-21 21:30 UTC to 2026-11-21 22:30 UTC\n"
        );
    }

    #[test]
    fn a_digest_counts_a_test_says_that_it_is_one_and_names_from_outside_cannot_break_a_line() {
        let many = Message {
            is_digest: true,
            lost: 3,
            muted: 2,
            ..message((0..60).map(|n| item(&format!("md{n}\r\nx"), Happening::Opened)).collect())
        };
        assert_eq!(subject(&many, "nas", MessageLang::En), "nas: problems 60, open 60");
        let told = text(&many, "nas", MessageLang::En);
        assert_eq!(told.lines().count(), 3 * NAMED_MAX + 3, "{told}");
        assert!(
            told.contains("and 10 more")
                && told.contains("\nMuted problems: 2. `stend journal last` has them.\n")
                && told.ends_with(
                    "Messages lost before this one: 3. Look at `stend journal` of this recording and of those before.\n"
                )
        );
        assert!(text(&message(Vec::new()), "nas", MessageLang::Ru).contains("пробное"));
    }
}
