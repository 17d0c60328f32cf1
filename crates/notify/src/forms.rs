//! What is posted to which service. Pure.

use crate::item::{Happening, Item, Message};
use crate::words::{subject, text};
use serde_json::{Value, json};
use stend_base::format::rfc3339;
use stend_spec::notify::MessageLang;

/// Most letters of a message of Telegram are 4096.
const TELEGRAM_MAX: usize = 4000;
/// Alertmanager forgets an alert that is not sent again; Stend sends a problem once, with an end a year ahead.
const YEAR: i64 = 366 * 86_400;

/// For `sendMessage` of a bot of Telegram.
pub fn telegram(message: &Message, host: &str, lang: MessageLang, chat: &str) -> Value {
    let text: String = text(message, host, lang).chars().take(TELEGRAM_MAX).collect();
    json!({"chat_id": chat, "text": text, "disable_web_page_preview": true})
}

/// For an incoming webhook of Mattermost, Slack and Rocket.Chat.
pub fn mattermost(message: &Message, host: &str, lang: MessageLang) -> Value {
    json!({"text": text(message, host, lang)})
}

/// The problems themselves.
pub fn webhook(message: &Message, host: &str, lang: MessageLang) -> Value {
    json!({
        "schema": "stend-notification",
        "schema_version": 1,
        "host": host,
        "kind": match (message.items.is_empty(), message.is_digest) {
            (true, _) => "test",
            (_, true) => "digest",
            _ => "now",
        },
        "subject": subject(message, host, lang),
        "text": text(message, host, lang),
        "lost": message.lost,
        "muted": message.muted,
        "problems": message.items.iter().map(|item| json!({
            "happened": item.happened,
            "rule": item.rule,
            "category": item.category,
            "severity": item.severity(),
            "object": item.object,
            "opened_unix_s": item.opened,
            "closed_unix_s": item.closed,
            "name": item.name,
            "evidence": item.evidence,
            "advice": item.advice,
        })).collect::<Vec<_>>(),
    })
}

/// For version 2 of Alertmanager's API.
pub fn alertmanager(message: &Message, host: &str) -> Value {
    if message.items.is_empty() {
        let labels = json!({"alertname": "StendTest", "instance": host, "severity": "none", "job": "stend"});
        let ends = rfc3339(message.made + 60);
        return json!([{"labels": labels, "annotations": {"summary": "test message of Stend"}, "startsAt": rfc3339(message.made), "endsAt": ends}]);
    }
    message.items.iter().flat_map(|item| alerts(item, host)).collect()
}

/// The alert of a problem. One that became worse has other labels: the earlier alert ends.
fn alerts(item: &Item, host: &str) -> Vec<Value> {
    let alert = |severity: &str, ends: i64| {
        json!({
            "labels": {
                "alertname": format!("Stend_{}", item.rule),
                "instance": host,
                "job": "stend",
                "category": item.category,
                "severity": severity,
                "object": item.object,
            },
            "annotations": {
                "summary": format!("{}: {}: {}", item.object, item.name.en, item.evidence.en),
                "summary_ru": format!("{}: {}: {}", item.object, item.name.ru, item.evidence.ru),
                "advice": item.advice.en,
                "advice_ru": item.advice.ru,
            },
            "startsAt": rfc3339(item.opened),
            "endsAt": rfc3339(ends),
        })
    };
    let now = alert(item.severity(), item.closed.unwrap_or(item.opened + YEAR));
    match item.happened {
        Happening::Worse => vec![alert("warning", item.opened + 1), now],
        _ => vec![now],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tests::{item, message};

    #[test]
    fn an_alert_lasts_until_its_problem_is_over_and_keeps_its_labels() {
        let opened = alertmanager(&message(vec![item("md0", Happening::Opened)]), "nas");
        let closed = alertmanager(&message(vec![item("md0", Happening::Closed)]), "nas");
        assert_eq!(opened[0]["labels"], closed[0]["labels"]);
        assert_eq!(opened[0]["labels"]["alertname"], "Stend_array_degraded");
        assert_eq!(
            (opened[0]["endsAt"].as_str(), closed[0]["endsAt"].as_str()),
            (Some("2027-11-22T21:30:00Z"), Some("2026-11-21T22:30:00Z"))
        );
        let worse = alertmanager(&message(vec![item("md0", Happening::Worse)]), "nas");
        assert_eq!(worse[0]["labels"]["severity"], "warning");
        assert_eq!(worse[1]["labels"]["severity"], "critical");
        assert_eq!(alertmanager(&message(Vec::new()), "nas")[0]["labels"]["alertname"], "StendTest");
    }

    #[test]
    fn telegram_gets_no_more_than_it_takes() {
        let many = message((0..50).map(|n| item(&format!("md{n}-{}", "x".repeat(90)), Happening::Opened)).collect());
        let posted = telegram(&many, "nas", MessageLang::Both, "-100");
        assert_eq!(posted["text"].as_str().map(|text| text.chars().count()), Some(TELEGRAM_MAX));
        assert_eq!(posted["chat_id"], "-100");
    }
}
