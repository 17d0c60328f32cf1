//! Frequencies and durations within limits, as they stand in a `rate`.

use super::{expected, span, text};
use crate::keys::Limits;
use crate::yaml::{Node, Value};
use stend_base::units::parse_rate;
use stend_base::{Lang, MilliIops, Nanos, Result, Say, format, say};

/// So many per second.
pub(super) fn frequency(node: &Node, limits: Limits<MilliIops>) -> Result<MilliIops> {
    if let Value::Int(number) = node.value {
        return Err(node
            .error(say!("`{number}` has no unit", "у `{number}` нет единицы"))
            .hint(say!("write `{number}/s`", "напишите `{number}/s`")));
    }
    let text = text(node).map_err(|_| expected(node, say!("a rate such as `5000/s`", "частота, например `5000/s`")))?;
    let rate = parse_rate(&text).map_err(|Say { en, ru }| node.error(say!("not a rate: {en}", "не частота: {ru}")))?;
    if !limits.hold(&rate) {
        let ends = |lang: Lang| (format::rate(limits.least, lang), format::rate(limits.most, lang));
        let ((least, most), (least_ru, most_ru)) = (ends(Lang::En), ends(Lang::Ru));
        return Err(node.error(say!("a rate is {least} to {most}", "частота — от {least_ru} до {most_ru}")));
    }
    Ok(rate)
}

/// A duration.
pub(super) fn within(node: &Node, limits: Limits<Nanos>) -> Result<Nanos> {
    let found = span(node)?;
    if !limits.hold(&found) {
        let ends = |lang: Lang| (format::duration(limits.least, lang), format::duration(limits.most, lang));
        let ((least, most), (least_ru, most_ru)) = (ends(Lang::En), ends(Lang::Ru));
        return Err(node.error(say!("it lasts {least} to {most}", "длительность — от {least_ru} до {most_ru}")));
    }
    Ok(found)
}
