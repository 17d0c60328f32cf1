//! Values under limits in words, for a comparison and for one run.

use crate::comparison::letter;
use crate::figures::{self, LatencyUnit, NONE};
use crate::{rates, words};
use stend_analyse::findings::{CheckId, Estimate, Headline, Quantile, QuantileValue};
use stend_analyse::gate::{Blocks, Limited, LimitedValue, Open, UnfitLimit};
use stend_base::{Lang, Nanos, Say, format, say};
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

/// What tells a value from others under the same limit: the stream and the operation that the limit does not name.
pub fn part(value: &LimitedValue) -> Option<Say> {
    let (stream, op) = value.part?;
    let stream = value.streams.then(|| u32::from(stream) + 1).map(|n| say!("stream {n}", "поток {n}"));
    let op = value.limit.op.is_none().then(|| words::op(op));
    let parts: Vec<Say> = stream.into_iter().chain(op).collect();
    (!parts.is_empty()).then(|| Say::both(|l| parts.iter().map(|say| say.get(l)).collect::<Vec<_>>().join(", ")))
}

/// The value with its interval, in digits that tell them from the limit: `4.91 ms (4.52 … 5.46 ms)`.
pub fn shown(value: &LimitedValue) -> Say {
    let (at, interval) = match (&value.value, value.limit.bound) {
        (Limited::Rate(rate), Bound::Throughput(limit)) => estimate(rate, Headline::Throughput, limit.0 as f64),
        (Limited::Rate(rate), Bound::Iops(limit)) => estimate(rate, Headline::Iops, limit.as_iops()),
        (Limited::Latency(quantile), Bound::Latency(_, limit)) => latency(quantile, limit),
        (Limited::Rate(_), Bound::Latency(..)) | (Limited::Latency(_), _) => (Say::same(NONE), None),
    };
    match interval {
        Some(interval) => Say::both(|lang| format!("{} ({})", at.get(lang), interval.get(lang))),
        None => at,
    }
}

fn estimate(rate: &Estimate, headline: Headline, limit: f64) -> (Say, Option<Say>) {
    let unknown = rates::rate(rate, headline);
    if unknown.en == NONE {
        return (unknown, None);
    }
    let limit = rates::in_unit(limit, headline);
    let number = |value: f64, lang| format::near_limit::number(rates::in_unit(value, headline), limit, lang);
    let at = rates::with_unit(&Say::both(|lang| number(rate.value, lang)), headline);
    let known = rate.interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    let ends = known.map(|(low, high)| Say::both(|lang| format!("{} … {}", number(low, lang), number(high, lang))));
    (at, ends.map(|ends| rates::with_unit(&ends, headline)))
}

fn latency(quantile: &Quantile, limit: Nanos) -> (Say, Option<Say>) {
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
    let number = |value: Nanos, lang: Lang| unit.number_beside(value, limit, lang);
    let at = figures::quantile_in(quantile, number);
    let ends = |(low, high): (Nanos, Nanos)| {
        Say::both(|lang| with_unit(format!("{} … {}", number(low, lang), number(high, lang)), lang))
    };
    (Say::both(|lang| with_unit(at.get(lang).to_string(), lang)), quantile.interval.map(ends))
}

/// Why it cannot be told, and how many blocks would tell.
pub fn reason(open: &Open) -> Say {
    let blocks = |Blocks { have, need }: Blocks| match need {
        Some(need) => say!("needs about {need} blocks, has {have}", "нужно блоков: около {need}, есть: {have}"),
        None => say!(
            "with this spread more than 1000 blocks would be needed: reduce disturbances or use longer trials",
            "при таком разбросе понадобилось бы больше 1000 блоков: уберите помехи или удлините испытания"
        ),
    };
    match open {
        Open::Failed(checks) => {
            let checks = CheckId::codes(checks).join(", ");
            say!(
                "undecided, check {checks} failed: the number does not describe what its name says",
                "ответа нет: не пройдена проверка {checks}, число не соответствует своему названию"
            )
        }
        Open::BothSides(some) => {
            let Say { en, ru } = blocks(*some);
            say!("undecided, the limit is inside the interval; {en}", "ответа нет: предел внутри интервала; {ru}")
        }
        Open::NoInterval(some) => {
            let Say { en, ru } = blocks(*some);
            say!("undecided, too few data; {en}", "ответа нет: данных мало; {ru}")
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
            "{ru}: такой случай не измерялся; возможно, `{near}`?"
        ),
        None => say!("{en}: not measured", "{ru}: не измерялось"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_analyse::findings::Basis;
    use stend_analyse::gate::Outcome;

    fn held(limit: &str, value: Limited) -> String {
        let limit = stend_spec::parse::expect(limit).unwrap();
        let (label, outcome) = ("r".to_string(), Outcome::Failed);
        let value = LimitedValue { run: None, label, part: None, streams: false, value, limit, outcome, open: None };
        shown(&value).en.replace('\u{a0}', " ")
    }

    #[test]
    fn a_value_that_misses_its_limit_by_little_does_not_look_as_if_it_kept_it() {
        let rate = |value: f64, interval| Limited::Rate(Estimate { value, interval, basis: Basis::Trials { n: 6 } });
        assert_eq!(
            held("iops >= 20000", rate(19_999.4, Some((19_998.1, 19_999.8)))),
            "19 999 IOPS (19 998 … 19 999.8 IOPS)"
        );
        assert_eq!(held("throughput > 500MB/s", rate(499.96e6, None)), "499.96 MB/s");
        assert_eq!(held("iops >= 20000", rate(25_000.4, None)), "25 000 IOPS");
        let p99 = |ns: u64, interval| {
            Limited::Latency(Quantile { q: stend_base::Share(0.99), value: QuantileValue::At(Nanos(ns)), interval })
        };
        let interval = Some((Nanos(5_000_900), Nanos(5_120_000)));
        assert_eq!(held("p99 <= 5ms", p99(5_001_000, interval)), "5.001 ms (5.001 … 5.12 ms)");
    }
}
