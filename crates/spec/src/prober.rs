//! The prober of a case: single I/Os beside its load, far enough apart to cost it nothing, that tell how long the target
//! stood still as one client sees it. Pure.

use crate::op::Op;
use crate::region::Region;
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Lang, MilliIops, Say, format, say};

/// A prober that nobody asked for makes one I/O for at least so many of the load: 0.5 %, which no result shows
/// (the noise of the best of them is larger).
pub const LOAD_PER_PROBE: u64 = 200;
/// It asks no more often than this: a stall is then told to 10 ms, which is less than what people notice.
pub const RATE_MOST: MilliIops = MilliIops::per_second(100);
/// Nor less often: it would tell a stall of a second from none by chance.
pub const RATE_LEAST: MilliIops = MilliIops::per_second(1);
/// Fewest probes of a window, below which none are made: nine tenths of a window would be as good as unseen with one.
pub const PROBES_LEAST: u64 = 10;

/// What a suite says of the prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProberKey {
    /// None.
    Off,
    /// One where the load comes at a rate of its own.
    #[default]
    Auto,
    /// One that asks this often.
    At {
        /// I/Os per second.
        rate: MilliIops,
        /// What they do; `None`: what suits the case.
        op: Option<Op>,
    },
}

/// Whether a trial has a prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probing {
    /// It has none.
    None(NoProber),
    /// It has this one.
    By(Prober),
}

/// A prober: single I/Os at equal distances from the start of the load on, each as late as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prober {
    /// I/Os per second.
    pub rate: MilliIops,
    /// Reads, or writes that are durable when they end.
    pub op: Op,
    /// Bytes of each.
    pub block: Bytes,
    /// Where, at random. Writes have it alone: no stream of the trial goes there.
    pub region: Region,
}

/// Why a trial has no prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoProber {
    /// The suite asks for it.
    #[default]
    Off,
    /// The case asks what the target can do at most, and a prober would be part of what it does.
    Capacity,
    /// It would need more than its share of the load to ask often enough.
    TooSlow,
    /// The window is too short for enough probes.
    TooShort,
    /// The target keeps nothing, or the case makes no I/O.
    Nowhere,
    /// There is nothing to read: the case does not read, and nothing is written before it.
    NothingToRead,
    /// There is no room that the streams leave free for durable writes.
    NoRoom,
    /// Durable writes were asked for, and no stream makes any.
    NotDurable,
}

impl NoProber {
    /// The reason in words.
    pub fn say(self) -> Say {
        let (least, share) = (format::rate(RATE_LEAST, Lang::En), LOAD_PER_PROBE);
        let least_ru = format::rate(RATE_LEAST, Lang::Ru);
        let load = |lang| format::rate(MilliIops(RATE_LEAST.0 * share), lang);
        let (load, load_ru) = (load(Lang::En), load(Lang::Ru));
        match self {
            NoProber::Off => say!("`prober: off` in the suite", "в наборе указано `prober: off`"),
            NoProber::Capacity => say!(
                "the load has no rate of its own, and probes would be part of what is measured",
                "у нагрузки нет своей частоты, и пробы стали бы частью измеряемого"
            ),
            NoProber::TooSlow => say!(
                "0.5 % of a load below {load} is less than {least}, too seldom to tell anything",
                "0,5 % нагрузки ниже {load_ru} — реже {least_ru}, слишком редко, чтобы что-то сказать"
            ),
            NoProber::TooShort => say!(
                "the window is too short for {PROBES_LEAST} probes that are 0.5 % of the load",
                "окно слишком короткое для {PROBES_LEAST} проб, составляющих 0,5 % нагрузки"
            ),
            NoProber::Nowhere => say!("no I/O goes to storage", "ввод-вывод не доходит до хранилища"),
            NoProber::NothingToRead => say!(
                "the case does not read, and nothing is written before it that could be read",
                "случай не читает, и до него не записано ничего, что можно было бы читать"
            ),
            NoProber::NoRoom => say!(
                "the streams leave no room for its durable writes",
                "потоки не оставляют места для записей с подтверждением"
            ),
            NoProber::NotDurable => say!(
                "the prober should make durable writes, but no stream of the case does",
                "пробы должны быть записями с подтверждением, а в случае нет потока с такими записями"
            ),
        }
    }
}
