//! From YAML nodes to a vendor who gets notices, and the consent in writing without which there is none.

use super::super::{Map, list, text, word};
use super::{line, mail, webhook};
use crate::keys::notify as known;
use crate::notify::{CONSENT, Consent, Policy, Vendor, When};
use crate::yaml::Node;
use stend_base::{Result, Say, calendar, say};

pub(super) fn vendor(node: &Node) -> Result<Vendor> {
    let mut map = Map::of(node, &known::VENDOR)?;
    let (mail, webhook) = (map.optional("mail", mail)?, map.optional("webhook", webhook)?);
    let words = |node: &Node| list(node)?.iter().map(|of| word(of, known::SEVERITIES)).collect::<Result<Vec<bool>>>();
    let severities = map.optional("severities", words)?.unwrap_or_else(|| vec![true]);
    let words = |node: &Node| list(node)?.iter().map(|of| word(of, known::CATEGORY_WORDS)).collect::<Result<Vec<_>>>();
    let categories = map.optional("categories", words)?;
    let agreed = map.optional("consent", consent)?;
    map.finish()?;
    let way = match (mail, webhook) {
        (Some(way), None) | (None, Some(way)) => way,
        _ => {
            return Err(node.error(say!(
                "a vendor is reached by exactly one of `mail` and `webhook`",
                "у производителя ровно один способ доставки: `mail` или `webhook`"
            )));
        }
    };
    let Some(consent) = agreed else {
        return Err(lacks(node, "`consent`"));
    };
    let all = || known::CATEGORIES.to_vec();
    let mut policy =
        [true, false].map(|is_critical| Policy { category: None, is_critical, when: When::Never }).to_vec();
    for category in categories.unwrap_or_else(all) {
        let sent = severities.iter().map(|&is_critical| (category, is_critical));
        policy.extend(sent.map(|(category, is_critical)| Policy {
            category: Some(category),
            is_critical,
            when: When::Now,
        }));
    }
    Ok(Vendor { way, policy, consent })
}

/// A consent that is whole; what it lacks is said all at once.
fn consent(node: &Node) -> Result<Consent> {
    let mut map = Map::of(node, &known::AGREED)?;
    let (by, on, text) = (map.optional("by", line)?, map.optional("on", line)?, map.optional("text", text)?);
    map.finish()?;
    let missing = [("`by`", by.is_none()), ("`on`", on.is_none()), ("`text`", text.is_none())];
    let missing: Vec<&str> = missing.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    let (Some(by), Some(on), Some(text)) = (by, on, text) else {
        return Err(lacks(node, &missing.join(", ")));
    };
    let date: Vec<Option<i64>> = on.split('-').map(|part| part.parse().ok()).collect();
    let is_date = match date.as_slice() {
        [Some(year), Some(month), Some(day)] => calendar::days_since_1970(*year, *month, *day).is_some(),
        _ => false,
    };
    if !is_date || on.len() != 10 {
        return Err(node
            .error(say!("`on` is no date", "`on` — не дата"))
            .hint(say!("for example `on: 2026-11-29`", "например `on: 2026-11-29`")));
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match CONSENT.contains(&words(&text).as_str()) {
        true => Ok(Consent { by, on }),
        false => Err(node
            .error(say!("`text` is not the text of the consent", "`text` — не текст согласия"))
            .hint(literally())),
    }
}

fn lacks(node: &Node, what: &str) -> Box<stend_base::Error> {
    let told = say!(
        "nothing is sent to a vendor without consent in writing; missing: {what}",
        "без письменного согласия производителю ничего не отправляется; не хватает: {what}"
    );
    node.error(told).hint(literally())
}

fn literally() -> Say {
    let [en, ru] = CONSENT;
    say!(
        "write `consent: {{by: NAME, on: DATE, text: \"{en}\"}}`",
        "напишите `consent: {{by: ИМЯ, on: ДАТА, text: \"{ru}\"}}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::NotifyFile;
    use crate::parse::notify;

    /// A file with a vendor whose consent is this.
    fn with_vendor(consent: &str) -> String {
        format!(
            "receivers: {{log: {{syslog: {{}}}}}}\nvendor:\n  webhook: {{url: \"https://vendor.example/t\"}}\n  severities: [critical, warning]\n  categories: [drive]\n{consent}"
        )
    }

    #[test]
    fn a_vendor_without_consent_in_writing_is_refused_with_what_is_missing() {
        let refused = |consent: &str| notify(&with_vendor(consent), "n.yaml").unwrap_err();
        let none = refused("");
        assert!(none.message.en.contains("missing: `consent`"), "{none}");
        assert!(
            none.hint.as_ref().is_some_and(|hint| hint.en.contains(CONSENT[0]) && hint.ru.contains(CONSENT[1])),
            "{none}"
        );
        let part = refused("  consent: {by: A. Customer}\n");
        assert!(part.message.en.contains("missing: `on`, `text`"), "{part}");
        let other = refused("  consent: {by: A. Customer, on: 2026-11-29, text: yes}\n");
        assert!(other.message.en.contains("not the text of the consent"), "{other}");
        let date = refused(&format!("  consent: {{by: A. Customer, on: 2026-13-29, text: {:?}}}\n", CONSENT[0]));
        assert!(date.message.en.contains("no date"), "{date}");
    }

    #[test]
    fn a_vendor_with_consent_in_either_language_gets_what_was_chosen() {
        for text in CONSENT {
            let consent = format!(
                "  consent:\n    by: A. Customer\n    on: 2026-11-29\n    text: >\n      {}\n",
                text.replace(". ", ".\n      ")
            );
            let vendor = notify(&with_vendor(&consent), "n.yaml").unwrap().vendor.unwrap();
            assert_eq!(vendor.consent, Consent { by: "A. Customer".into(), on: "2026-11-29".into() });
            let file = NotifyFile { policy: vendor.policy, ..notify(&with_vendor(&consent), "n.yaml").unwrap() };
            let when = [("drive", true), ("drive", false), ("array", true)].map(|(of, is)| file.when(of, is));
            assert_eq!(when, [When::Now, When::Now, When::Never]);
        }
    }
}
