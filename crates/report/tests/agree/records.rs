//! Rules for documents that programs read: fields whose names say what they are of, and every text in them.

use crate::agreement::contradiction;
use crate::{Found, screens};
use serde_json::{Map, Value};

/// Computed numbers are equal up to what computers make of decimals.
const EQUAL: f64 = 1e-6;

/// Holds every rule against a JSON document.
pub fn json(text: &str, found: &mut Found) {
    value(&serde_json::from_str(text).expect("JSON"), found);
}

fn value(at: &Value, found: &mut Found) {
    match at {
        Value::Object(fields) => {
            fields.values().for_each(|field| value(field, found));
            for (of, ends) in [("value", "interval_95"), ("value_ns", "interval_95_ns"), ("ours", "ours_interval")] {
                interval(fields.get(of), fields.get(ends), found);
            }
            check(fields, found);
            quotients(fields, found);
        }
        Value::Array(items) => items.iter().for_each(|item| value(item, found)),
        Value::String(text) => screens::screen(text, found),
        _ => {}
    }
}

fn interval(of: Option<&Value>, ends: Option<&Value>, found: &mut Found) {
    let Some([low, high]) = ends.and_then(Value::as_array).map(Vec::as_slice) else { return };
    if let (Some(of), Some(low), Some(high)) = (of.and_then(Value::as_f64), low.as_f64(), high.as_f64()) {
        found.judge("interval", low <= of && of <= high, || format!("{of} in [{low}, {high}]"));
    }
}

fn check(fields: &Map<String, Value>, found: &mut Found) {
    let passed = match fields.get("status").and_then(Value::as_str) {
        Some("pass") => true,
        Some("warn" | "fail" | "screening_only") => false,
        _ => return,
    };
    for language in ["en", "ru"] {
        let text = |key: &str| fields.get(key)?.get(language)?.as_str();
        let (Some(measured), Some(limit)) = (text("measured"), text("limit")) else { continue };
        let wrong = contradiction(passed, measured, limit);
        found.judge("check", wrong.is_none(), || wrong.unwrap_or_default());
    }
}

fn quotients(fields: &Map<String, Value>, found: &mut Found) {
    let number = |of: &Value, path: &str| of.pointer(path).and_then(Value::as_f64);
    let mut judge = |a: Option<f64>, b: Option<f64>, ratio: Option<f64>| {
        if let (Some(a), Some(b), Some(ratio)) = (a, b, ratio) {
            let holds = (a * ratio - b).abs() <= b.abs() * EQUAL;
            found.judge("quotient", holds, || format!("{b} of {a} is told as {ratio}"));
        }
    };
    let of = |key: &str| fields.get(key).and_then(Value::as_f64);
    judge(of("theirs"), of("ours"), of("ratio"));
    let Some([base, others @ ..]) = fields.get("sides").and_then(Value::as_array).map(Vec::as_slice) else { return };
    for other in others {
        let at = other.pointer("/rate_ratio/state").is_some_and(|state| state == "at");
        let ratio = number(other, "/rate_ratio/value").filter(|_| at);
        judge(number(base, "/rate/value"), number(other, "/rate/value"), ratio);
    }
}

/// Holds the rules against a table with a heading, separated by commas or semicolons.
pub fn csv(text: &str, found: &mut Found) {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let Some(heading) = lines.next() else { return };
    let separator = if heading.contains(';') { ';' } else { ',' };
    let place = |name: &str| heading.split(separator).position(|known| known == name);
    let [Some(value), Some(low), Some(high)] = ["value", "interval_95_low", "interval_95_high"].map(place) else {
        return;
    };
    for line in lines {
        // A label in quotes may hold separators.
        let cells: Vec<&str> = line.split(separator).collect();
        if cells.len() != heading.split(separator).count() {
            continue;
        }
        let number = |at: usize| cells.get(at)?.replace(',', ".").parse::<f64>().ok();
        if let (Some(value), Some(low), Some(high)) = (number(value), number(low), number(high)) {
            found.judge("interval", low <= value && value <= high, || line.to_string());
        }
    }
}
