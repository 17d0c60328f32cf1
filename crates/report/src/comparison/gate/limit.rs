//! Values under limits in words, for a comparison and for one run.

use crate::comparison::letter;
use crate::figures::{self, LatencyUnit, NONE};
use crate::{rates, words};
use stend_analyse::findings::{CheckId, Estimate, Headline, Quantile, QuantileValue};
use stend_analyse::gate::{Blocks, Limited, LimitedValue, Open, UnfitLimit};
use stend_base::{Lang, Nanos, Say, say};
use stend_spec::gate::{Bound, GateLimit};

/// `B, rand-read, p99, read: 4.91 ms (4.52 … 5.46 ms); p99 < 5ms: undecided, the interval …`.
pub fn sentence(value: &LimitedValue) -> Say {
    let run = value.run.map(|run| format!("{}, ", letter(run))).unwrap_or_default();
    let (label, name, shown, asked) = (&value.label, name(value), shown(value), asked(&value.limit));
    let open = value.open.as_ref().map(reason);
    Say::both(|lang| {
        let [name, shown, asked] = [&name, &shown, &asked].map(|say| say.get(lang));
        let open = open.as_ref().map(|open| format!(": {}", open.get(lang))).unwrap_or_default();
        format!("{run}{label}, {name}: {shown}; {asked}{open}")
    })
}

/// The limit as it was written, and the line of the file.
pub fn asked(limit: &GateLimit) -> Say {
    let text = &limit.text;
    match limit.line {
        Some(line) => say!("line {line} asks for `{text}`", "строка {line} требует `{text}`"),
        None => say!("asked for `{text}`", "требуется `{text}`"),
    }
}

/// What a value is: `p99, read`.
pub fn name(value: &LimitedValue) -> Say {
    let metric = match value.limit.bound {
        Bound::Iops(_) => say!("rate", "скорость"),
        Bound::Throughput(_) => say!("throughput", "пропускная способность"),
        Bound::Latency(q, _) => figures::quantile_name(stend_base::Share(q.as_share())),
    };
    let Some((stream, op)) = value.part else { return metric };
    let (Say { en, ru }, op, stream) = (metric, words::op(op), u32::from(stream) + 1);
    let (op_en, op_ru) = (op.en, op.ru);
    match value.streams {
        true => say!("{en}, stream {stream}: {op_en}", "{ru}, поток {stream}: {op_ru}"),
        false => say!("{en}, {op_en}", "{ru}, {op_ru}"),
    }
}

/// The value with its interval: `4.91 ms (4.52 … 5.46 ms)`.
pub fn shown(value: &LimitedValue) -> Say {
    let (at, interval) = match (&value.value, value.limit.bound) {
        (Limited::Rate(rate), Bound::Throughput(_)) => estimate(rate, Headline::Throughput),
        (Limited::Rate(rate), _) => estimate(rate, Headline::Iops),
        (Limited::Latency(quantile), _) => latency(quantile),
    };
    match interval {
        Some(interval) => Say::both(|lang| format!("{} ({})", at.get(lang), interval.get(lang))),
        None => at,
    }
}

fn estimate(rate: &Estimate, headline: Headline) -> (Say, Option<Say>) {
    (rates::rate(rate, headline), figures::interval(rate, headline))
}

fn latency(quantile: &Quantile) -> (Say, Option<Say>) {
    let smallest = match quantile.value {
        QuantileValue::At(at) | QuantileValue::Above(at) => Some(at.0),
        QuantileValue::Printed(range) => range.map(|(least, _)| least.0),
        QuantileValue::NotEnough { .. } => None,
    };
    let unit = LatencyUnit::for_smallest(smallest);
    let with_unit = |text: String, lang: Lang| match text == NONE {
        true => text,
        false => format!("{text} {}", unit.name().get(lang)),
    };
    let at = figures::quantile(quantile, unit);
    let ends = |(low, high): (Nanos, Nanos)| {
        Say::both(|lang| with_unit(format!("{} … {}", unit.number(low, lang), unit.number(high, lang)), lang))
    };
    (Say::both(|lang| with_unit(at.get(lang).to_string(), lang)), quantile.interval.map(ends))
}

/// Why it cannot be told, and how many blocks would tell.
pub fn reason(open: &Open) -> Say {
    let blocks = |Blocks { have, need }: Blocks| match need {
        Some(need) => say!("needs about {need} blocks, has {have}", "нужно блоков: около {need}, есть: {have}"),
        None => say!(
            "with this spread more than 1000 blocks would be needed: quieten the machine or use longer trials",
            "при таком разбросе понадобилось бы больше 1000 блоков: уберите помехи или удлините испытания"
        ),
    };
    match open {
        Open::Failed(checks) => {
            let checks = CheckId::codes(checks).join(", ");
            say!(
                "undecided, check {checks} failed: this number is not of what it is called",
                "ответа нет: не пройдена проверка {checks}, число относится не к тому, чем названо"
            )
        }
        Open::BothSides(some) => {
            let Say { en, ru } = blocks(*some);
            say!("undecided, the limit is inside the interval; {en}", "ответа нет: предел внутри интервала; {ru}")
        }
        Open::NoInterval(some) => {
            let Say { en, ru } = blocks(*some);
            say!("undecided, too little was measured; {en}", "ответа нет: измерено слишком мало; {ru}")
        }
        Open::Printed => say!(
            "undecided, another tool printed this number, without an interval",
            "ответа нет: число напечатано другой программой, без интервала"
        ),
    }
}

/// A limit that fits nothing, and what it may have meant.
pub fn unfit(unfit: &UnfitLimit) -> Say {
    let (Say { en, ru }, near) = (asked(&unfit.limit), &unfit.near);
    match near {
        Some(near) => say!(
            "{en}: no such case was measured; did you mean `{near}`?",
            "{ru}: такой случай не измерялся; возможно, имелось в виду `{near}`?"
        ),
        None => say!("{en}: nothing like this was measured", "{ru}: такого не измеряли"),
    }
}
