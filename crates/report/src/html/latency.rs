//! Latencies in the cells of a table.

use super::Page;
use crate::figures::{self, NONE};
use crate::markup::Markup;
use stend_analyse::findings::{Quantile, QuantileValue};
use stend_base::{Nanos, Say, format, say};

/// A mean in the unit of the page; a dash where there is none.
pub(super) fn mean(page: &Page, ns: Option<f64>) -> Say {
    let Some(ns) = ns.filter(|ns| ns.is_finite() && *ns >= 0.0) else { return Say::same(NONE) };
    Say::both(|lang| page.unit.number(Nanos(ns.round() as u64), lang))
}

/// A percentile with its interval, or why there is none.
pub(super) fn quantile_cell(m: &mut Markup, page: &Page, quantile: &Quantile) {
    if let QuantileValue::NotEnough { have, need } = quantile.value {
        let (have, need) = (format::count(have), format::count(need));
        return m.line("span", "note", &say!("not enough data: {have} of {need}", "мало данных: {have} из {need}"));
    }
    if let QuantileValue::Printed(None) = quantile.value {
        return m.line("span", "note", &say!("not printed by the tool", "инструмент не напечатал"));
    }
    m.say(&figures::quantile(quantile, page.unit));
    if let QuantileValue::Printed(Some(_)) = quantile.value {
        m.line("span", "note", &say!("as printed", "как напечатано"));
    }
    if let Some((low, high)) = quantile.interval {
        let text = Say::both(|lang| format!("{} … {}", page.unit.number(low, lang), page.unit.number(high, lang)));
        m.line("span", "note", &text);
    }
}
