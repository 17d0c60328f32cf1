//! A run beside a published table: lines that its terminal text and its page share.

pub mod json;

use crate::figures::NONE;
use stend_analyse::comparison_with_published::{PublishedRow, Quantity};
use stend_analyse::findings::{CheckId, Estimate};
use stend_base::{Lang, Say, format, say};

/// Ours with its interval: `12 345 (12 000 to 12 700) IOPS`.
pub fn ours(row: &PublishedRow) -> Say {
    row.ours.as_ref().map_or_else(|| Say::same(NONE), |estimate| row.quantity.show(estimate.value))
}

/// Theirs as we read it, so that both stand in one unit.
pub fn theirs(row: &PublishedRow) -> Say {
    row.quantity.show(row.theirs)
}

/// Ours in percent of theirs, with the interval of ours.
pub fn ratio(row: &PublishedRow) -> Say {
    let Some(ratio) = row.ratio() else { return Say::same(NONE) };
    let percent = |value: f64, lang| format::number(value * 100.0, lang);
    let text = |lang: Lang| match row.interval() {
        Some((low, high)) => {
            format!("{} % ({}…{})", percent(ratio, lang), percent(low, lang), percent(high, lang))
        }
        None => format!("{} %", percent(ratio, lang)),
    };
    Say { en: text(Lang::En), ru: text(Lang::Ru) }
}

/// What speaks against holding the two against each other.
pub fn notes(row: &PublishedRow) -> Say {
    let doubts = (!row.doubts.is_empty()).then(|| {
        let list = CheckId::codes(&row.doubts).join(", ");
        say!("doubtful: {list}", "сомнительно: {list}")
    });
    let all: Vec<&Say> = doubts.iter().chain(&row.differences).collect();
    let join = |text: fn(&Say) -> &str| all.iter().map(|say| text(say)).collect::<Vec<_>>().join("; ");
    Say { en: join(|say| &say.en), ru: join(|say| &say.ru) }
}

/// `md raid0, throughput (row 12)`.
pub fn name(row: &PublishedRow) -> Say {
    let (layout, line, quantity) = (&row.layout, row.row, row.quantity.name());
    let (en, ru) = (&quantity.en, &quantity.ru);
    say!("{layout}, {en} (row {line})", "{layout}, {ru} (строка {line})")
}

/// Word of a quantity for machines, and its unit.
fn word(quantity: Quantity) -> (&'static str, &'static str) {
    match quantity {
        Quantity::Iops => ("iops", "1/s"),
        Quantity::Throughput => ("throughput", "bytes/s"),
        Quantity::Mean => ("latency_mean", "s"),
        Quantity::P99 => ("latency_p99", "s"),
    }
}

fn interval(estimate: &Estimate) -> Option<[f64; 2]> {
    estimate.interval.map(|(low, high)| [low, high])
}
