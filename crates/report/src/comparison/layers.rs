//! What layers cost, as lines that page and terminal share.

use super::{interval, letter, percent};
use crate::figures::NONE;
use stend_analyse::Comparison;
use stend_analyse::compare::{LayerPrice, RatioValue};
use stend_base::{Lang, Say, say};

/// Heading of the whole.
pub fn heading() -> Say {
    say!("What each layer leaves", "Что остаётся после каждого слоя")
}

/// How to read it; `None` without any.
pub fn note(comparison: &Comparison) -> Option<Say> {
    (!comparison.layers.is_empty()).then(|| {
        say!(
            "The rate with a layer, in percent of the rate of the stack right below it; above 100 % where a layer combines drives. It applies to these cases only, as do the caveats of the table above.",
            "Скорость со слоем в процентах от скорости стека прямо под ним; больше 100 %, где слой объединяет накопители. Относится только к этим случаям, как и оговорки таблицы выше."
        )
    })
}

/// `md → ext4 (C over A)`.
pub fn title(price: &LayerPrice) -> Say {
    let (layers, below, above) = (&price.layers, letter(price.below), letter(price.above));
    say!("{layers} ({above} over {below})", "{layers} ({above} поверх {below})")
}

/// A line of the price: name of the case, ratio, interval; the mean last.
pub fn lines(price: &LayerPrice) -> Vec<(Say, Say, Say)> {
    let one = |rate: &stend_analyse::compare::LayerRate| {
        let ratio = match rate.value {
            RatioValue::At(value) => shown(value),
            RatioValue::Above(value) => with("> ", value),
            RatioValue::Below(value) => with("< ", value),
            RatioValue::Unknown => Say::same(NONE),
        };
        (Say::same(rate.label.clone()), ratio, rate.interval.map_or_else(|| Say::same(NONE), interval))
    };
    let mean = price.mean.map(|(value, range)| {
        let name = say!("geometric mean", "среднее геометрическое");
        (name, shown(value), range.map_or_else(|| Say::same(NONE), interval))
    });
    price.rates.iter().map(one).chain(mean).collect()
}

fn shown(value: f64) -> Say {
    with("", value)
}

fn with(sign: &str, value: f64) -> Say {
    let text = |lang: Lang| format!("{sign}{} %", percent(value, lang));
    Say { en: text(Lang::En), ru: text(Lang::Ru) }
}
