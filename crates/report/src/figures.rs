//! Numbers of findings as texts, shared by page and terminal, so that both print the same digits.

use crate::words;
use stend_analyse::chart::Unit;
use stend_analyse::findings::{CaseFinding, Estimate, Headline, OpFinding, Quantile, QuantileValue};
pub use stend_base::format::utc;
use stend_base::{Bytes, Lang, Nanos, Say, Share, format, say};

/// Stands for a number that is not there.
pub const NONE: &str = "—";

/// The one unit of latency of a table: cells of a column compare at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Nanoseconds.
    Nanosecond,
    /// Microseconds.
    Microsecond,
    /// Milliseconds.
    Millisecond,
    /// Seconds.
    Second,
}

impl LatencyUnit {
    /// The largest unit in which the smallest median still keeps three significant digits at three
    /// decimals (0.1 of the unit).
    pub fn for_cases(cases: &[CaseFinding]) -> LatencyUnit {
        let medians = cases.iter().flat_map(|c| &c.ops).filter_map(|op| match op.quantiles.first()?.value {
            QuantileValue::At(v) | QuantileValue::Above(v) => Some(v.0),
            QuantileValue::Printed(printed) => printed.map(|(least, _)| least.0),
            QuantileValue::NotEnough { .. } => None,
        });
        LatencyUnit::for_smallest(medians.min())
    }

    /// The same for the smallest value of a table, ns.
    pub fn for_smallest(smallest: Option<u64>) -> LatencyUnit {
        match smallest {
            Some(0..100) => LatencyUnit::Nanosecond,
            Some(100..100_000) | None => LatencyUnit::Microsecond,
            Some(100_000..100_000_000) => LatencyUnit::Millisecond,
            Some(_) => LatencyUnit::Second,
        }
    }

    /// Its sign.
    pub fn name(self) -> Say {
        match self {
            LatencyUnit::Nanosecond => say!("ns", "нс"),
            LatencyUnit::Microsecond => say!("µs", "мкс"),
            LatencyUnit::Millisecond => say!("ms", "мс"),
            LatencyUnit::Second => say!("s", "с"),
        }
    }

    /// A latency in this unit, without its sign.
    pub fn number(self, value: Nanos, lang: Lang) -> String {
        match self {
            LatencyUnit::Nanosecond => format::count(value.0),
            _ => format::number(value.0 as f64 / self.nanos(), lang),
        }
    }

    /// The same beside a limit.
    pub fn number_beside(self, value: Nanos, limit: Nanos, lang: Lang) -> String {
        match self {
            LatencyUnit::Nanosecond => format::count(value.0),
            _ => format::near_limit::number(value.0 as f64 / self.nanos(), limit.0 as f64 / self.nanos(), lang),
        }
    }

    fn nanos(self) -> f64 {
        match self {
            LatencyUnit::Nanosecond => 1.0,
            LatencyUnit::Microsecond => 1e3,
            LatencyUnit::Millisecond => 1e6,
            LatencyUnit::Second => 1e9,
        }
    }
}

/// A NUMA node of threads or memory, with a mark where the drive is: `threads on 0 (drive)`.
pub fn numa_node(node: Option<u32>, device: Option<u32>, of: &Say) -> Say {
    let number = node.map_or("?".to_string(), |node| node.to_string());
    let mark =
        if node.is_some() && node == device { say!(" (drive)", " (накопитель)") } else { Say::same("") };
    Say::both(|lang| format!("{} {number}{}", of.get(lang), mark.get(lang)))
}

/// Name of an operation; with its stream where a case has several.
pub fn op_name(case: &CaseFinding, op: &OpFinding) -> Say {
    let name = words::op(op.op);
    if case.ops.iter().all(|o| o.stream == 0) {
        return name;
    }
    let (number, en, ru) = (u32::from(op.stream) + 1, name.en, name.ru);
    say!("stream {number}: {en}", "поток {number}: {ru}")
}

/// Half the 95 % interval as a part of the value: `± 1.2 %`. `None` without an interval.
pub fn plus_minus(estimate: &Estimate) -> Option<Say> {
    let half = estimate.half_width().filter(|half| half.is_finite() && *half >= 0.0)?;
    Some(Say::both(|lang| format::plus_minus(half, lang)))
}

/// Both ends of an interval in the unit of the headline: `408 120 … 416 200 IOPS`.
pub fn interval(estimate: &Estimate, headline: Headline) -> Option<Say> {
    let (low, high) = estimate.interval.filter(|(l, h)| l.is_finite() && h.is_finite())?;
    Some(Say::both(|lang| match headline {
        Headline::Iops => format!("{} … {} IOPS", format::iops(low, lang), format::iops(high, lang)),
        Headline::Throughput => {
            format!("{} … {}", format::number(low / 1e6, lang), format::throughput(high, lang))
        }
    }))
}

/// A quantile in the unit of its table: `84.2`, `> 20 000`, or a dash when there is not enough data.
pub fn quantile(quantile: &Quantile, unit: LatencyUnit) -> Say {
    quantile_in(quantile, |value, lang| unit.number(value, lang))
}

/// The same with numbers as somebody writes them.
pub fn quantile_in(quantile: &Quantile, number: impl Fn(Nanos, Lang) -> String) -> Say {
    match quantile.value {
        QuantileValue::At(v) => Say::both(|lang| number(v, lang)),
        QuantileValue::Above(v) => Say::both(|lang| format!("> {}", number(v, lang))),
        QuantileValue::Printed(Some((least, most))) if least != most => {
            Say::both(|lang| format!("{}–{}", number(least, lang), number(most, lang)))
        }
        QuantileValue::Printed(Some((least, _))) => Say::both(|lang| number(least, lang)),
        QuantileValue::NotEnough { .. } | QuantileValue::Printed(None) => Say::same(NONE),
    }
}

/// A latency of an operation, if any of its I/Os has one: of imported results there may be none, and its 0 is no number.
pub fn known<T>(op: &OpFinding, latency: T) -> Option<T> {
    (op.count > 0).then_some(latency)
}

/// The largest latency of an operation, if it is known: a tool that tells a mean may tell no largest, and no I/O takes 0 ns.
pub fn largest(op: &OpFinding) -> Option<Nanos> {
    known(op, op.latency_max).filter(|max| max.0 > 0)
}

/// The largest latency, a dash where it is not known; with I/Os whose end was not seen it is only known to be more.
pub fn latency_max(max: Option<Nanos>, censored: u64, unit: LatencyUnit) -> Say {
    let Some(max) = max else { return Say::same(NONE) };
    let sign = if censored > 0 { "> " } else { "" };
    Say::both(|lang| format!("{sign}{}", unit.number(max, lang)))
}

/// `p50`, `p99.9`; with a comma in Russian.
pub fn quantile_name(q: Share) -> Say {
    let percent = (q.0 * 100.0 * 1e6).round() / 1e6;
    let name = format!("p{percent}");
    Say { ru: name.replace('.', ","), en: name }
}

/// A value of a chart with its unit where that is not in the name of the axis.
pub fn value(value: f64, unit: Unit) -> Say {
    Say::both(|lang| match unit {
        Unit::Plain | Unit::Seconds => format::number(value, lang),
        Unit::BytesPerSecond => format::number(value / 1e6, lang),
        // Nines in a share (99.999 %) are the point of it: no rounding to one decimal.
        Unit::Share => format!("{} %", format::fixed(value * 100.0, share_digits(value), lang)),
        Unit::LatencyNs => format::latency(Nanos(value.max(0.0) as u64), lang),
        Unit::Bytes => format::bytes(Bytes(value.max(0.0) as u64), lang),
    })
}

/// Decimals that keep one digit after the last nine. All of it has no nines.
fn share_digits(share: f64) -> usize {
    if share >= 1.0 {
        return 1;
    }
    let nines = -(1.0 - share).max(1e-9).log10();
    (nines.ceil().max(2.0) as usize).saturating_sub(1)
}

/// The targets of a run in a line; those that a stand made with the name of that: `md-raid5 (/dev/md127)`.
pub fn on(targets: &[String], stand: Option<&str>) -> String {
    let targets = stend_record::targets::in_line(targets);
    match stand {
        Some(stand) => format!("{stand} ({targets})"),
        None => targets,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_analyse::findings::Basis;

    #[test]
    fn the_relative_interval_is_half_its_width_and_absent_without_one() {
        let estimate = |interval| Estimate { value: 200.0, interval, basis: Basis::Trials { n: 6 } };
        assert_eq!(plus_minus(&estimate(Some((196.0, 204.0)))), Some(say!("± 2.0 %", "± 2,0 %")));
        assert_eq!(plus_minus(&estimate(Some((100.0, 300.0)))), Some(Say::same("± 50 %")));
        assert_eq!(plus_minus(&estimate(Some((0.0, 600.0)))), Some(Say::same("± 200 %")), "cut at 0");
        assert_eq!(plus_minus(&estimate(None)), None);
        assert_eq!(
            plus_minus(&Estimate { value: 0.0, interval: Some((0.0, 0.0)), basis: Basis::Trials { n: 6 } }),
            None
        );
    }

    #[test]
    fn a_share_has_a_digit_behind_its_last_nine_and_all_of_it_has_none() {
        let shown = |share| value(share, Unit::Share).en;
        let shown = [0.5, 0.999, 1.0, 1.25].map(shown).map(|text| text.replace('\u{a0}', " "));
        assert_eq!(shown, ["50.0 %", "99.90 %", "100.0 %", "125.0 %"]);
    }

    #[test]
    fn quantile_names_have_no_float_noise() {
        let names: Vec<_> = [0.5, 0.99, 0.999, 0.9999].map(|q| quantile_name(Share(q)).ru).to_vec();
        assert_eq!(names, ["p50", "p99", "p99,9", "p99,99"]);
    }
}
