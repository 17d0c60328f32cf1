//! How near a case is to its ceilings, in words. Must not judge.

use super::Demand;
use super::layout::in_words;
use crate::findings::{
    Bound, CeilingDoubt, CeilingFinding, CeilingUse, DemandFinding, Headline, LayoutFrom, RateFrom, Relieved, Resource,
    UnknownCeiling,
};
use crate::phrase::{both, pick};
use stend_base::{Lang, Say, format};
use stend_spec::calibration::Reading;
use stend_spec::confirm::Test;

/// Most drives that are named one by one.
const NAMED_MOST: usize = 3;

impl CeilingFinding {
    /// What bounds the case, how near it is, what comes next, and what is not known.
    pub fn say(&self) -> Say {
        both(|l| {
            let (known, not_known) = (self.known(), self.not_known());
            let parts = [known.get(l), not_known.get(l)];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
        })
    }

    /// The same without what is not known, which is often the same for many cases.
    pub fn known(&self) -> Say {
        both(|l| {
            let tests: String = self.relieved.iter().map(|test| test.in_words(l)).collect();
            let host = self.host.as_ref().map_or(String::new(), |host| {
                pick(l, "On load host {h}: ", "На нагружающей машине {h}: ").replace("{h}", host)
            });
            host + &self.bound_in_words(l) + &self.doubled_in_words(l) + &tests + &self.demand_in_words(l)
        })
    }

    /// What is not known, as a sentence; empty if all is.
    pub fn not_known(&self) -> Say {
        both(|l| {
            let one = |u: &UnknownCeiling| format!("{} ({})", u.what.get(l), u.why.get(l));
            let all: Vec<String> = self.unknown.iter().map(one).collect();
            match all.is_empty() {
                true => String::new(),
                false => pick(l, "Not known: {all}.", "Неизвестно: {all}.").replace("{all}", &all.join("; ")),
            }
        })
    }

    fn bound_in_words(&self, l: Lang) -> String {
        let Some(first) = self.uses.first() else {
            return pick(l, "No possible limit is known.", "Возможные пределы неизвестны.").to_string();
        };
        let text = match self.bound {
            Bound::Limited => pick(
                l,
                "Limited by {first}: {used} of {ceiling}.{next} Headroom {room}.",
                "Предел — {first}: {used} от {ceiling}.{next} Запас {room}.",
            ),
            Bound::Together => pick(
                l,
                "Limited by {first}, {used} of {ceiling}, and as much by {second}.",
                "Пределов два: {first}, {used} от {ceiling}, и {second}.",
            ),
            Bound::Latency => pick(
                l,
                "Bound by latency: with {depth} in flight each I/O takes about as long as alone. Nearest ceiling: {first}, {used} of {ceiling}{needed}.",
                "Предел — задержка: при глубине {depth} каждая операция длится почти как в одиночку. Ближайший потолок: {first}, {used} от {ceiling}{needed}.",
            ),
            Bound::Asked => pick(
                l,
                "The rate is what the load asks for. Nearest ceiling: {first}, {used} of {ceiling}.{next}",
                "Скорость задана самой нагрузкой. Ближайший потолок: {first}, {used} от {ceiling}.{next}",
            ),
            Bound::Unexplained => pick(
                l,
                "No known ceiling explains the rate. Nearest ceiling: {first}, {used} of {ceiling}.{next}",
                "Ни один из известных потолков скорость не объясняет. Ближайший потолок: {first}, {used} от {ceiling}.{next}",
            ),
        };
        let second = self.second().map(|other| other.in_short(l)).unwrap_or_default();
        let next = pick(l, " Next: {second}.", " Затем {second}.").replace("{second}", &second);
        text.replace("{first}", &first.resource.name(l))
            .replace("{used}", &format::percent(first.used.0, l))
            .replace("{ceiling}", &first.ceiling_in_words(l))
            .replace("{next}", if second.is_empty() { "" } else { &next })
            .replace("{second}", &second)
            .replace("{room}", &format::percent((1.0 - first.used.0).max(0.0), l))
            .replace("{depth}", &format::count(self.in_flight))
            .replace("{needed}", &self.needed_in_words(l))
    }

    /// What an I/O takes of the drives, where that is more than one I/O of one drive or not what was counted.
    fn demand_in_words(&self, l: Lang) -> String {
        // One I/O of one drive for each is what everybody expects.
        let single = |demand: &DemandFinding| demand.modelled.is_some_and(|model| model.reads + model.writes <= 1.0);
        let worth = |demand: &DemandFinding| demand.differs || demand.layout.is_some() && !single(demand);
        let Some(demand) = self.demand.filter(worth) else { return String::new() };
        let pair = |of: &Demand| {
            let number = |count: f64| format::fixed(count, 2, l);
            let text = match (of.reads > 0.0, of.writes > 0.0) {
                (true, false) => pick(l, "{r} reads", "чтений {r}"),
                (false, true) => pick(l, "{w} writes", "записей {w}"),
                _ => pick(l, "{r} reads and {w} writes", "чтений {r} и записей {w}"),
            };
            text.replace("{r}", &number(of.reads)).replace("{w}", &number(of.writes))
        };
        let layout = demand.layout.map(|layout| {
            let from = match demand.from {
                LayoutFrom::Host => pick(l, "as the host shows it", "как показывает хост"),
                LayoutFrom::Suite => pick(l, "as the suite states", "как указано в наборе"),
            };
            format!(" {} ({from}):", in_words(layout, l))
        });
        let modelled = demand.modelled.as_ref().map(|model| {
            let text = match demand.layout {
                Some(_) => pick(
                    l,
                    " an I/O takes {pair} of drives by the model",
                    " на операцию по модели у накопителей {pair}",
                ),
                None => pick(l, " An I/O should take {pair} of drives", " На операцию у накопителей ожидается {pair}"),
            };
            text.replace("{pair}", &pair(model))
        });
        let counted = demand.counted.as_ref().map(|counted| {
            let text = match &modelled {
                Some(_) => pick(l, "; counted: {pair}", "; сосчитано: {pair}"),
                None => {
                    pick(l, " {pair} of drives were counted per I/O", " на операцию у накопителей сосчитано: {pair}")
                }
            };
            text.replace("{pair}", &pair(counted))
        });
        let doubt = demand.differs.then(|| {
            pick(
                l,
                " The bytes do not match: caches, journals, copies or other programs had a part in it.",
                " По байтам не сходится: сказываются кэши, журналы, запись в другое место или чужая нагрузка.",
            )
            .to_string()
        });
        if modelled.is_none() && counted.is_none() {
            return String::new();
        }
        let told: String = [layout, modelled, counted].into_iter().flatten().collect();
        format!("{}.{}", told, doubt.unwrap_or_default())
    }

    fn needed_in_words(&self, l: Lang) -> String {
        let Some(needed) = self.needed.filter(|needed| *needed > self.in_flight) else { return String::new() };
        pick(l, ", which would take about {n} in flight", ", для этого нужна глубина около {n}")
            .replace("{n}", &format::count(needed))
    }

    fn doubled_in_words(&self, l: Lang) -> String {
        let Some(doubled) = &self.doubled else { return String::new() };
        let text = match doubled.saturated {
            Some(true) => pick(
                l,
                " Twice the depth ({depth}{case}) confirms saturation: the rate changes by {gain}, and latency doubles.",
                " Вдвое большая глубина ({depth}{case}) подтверждает насыщение: скорость меняется на {gain}, а задержка удваивается.",
            ),
            Some(false) => pick(
                l,
                " Twice the depth ({depth}{case}) does not confirm saturation: the rate changes by {gain}.",
                " Вдвое большая глубина ({depth}{case}) насыщения не подтверждает: скорость меняется на {gain}.",
            ),
            None => pick(
                l,
                " Twice the depth ({depth}{case}) changes the rate by {gain}, which is not enough to decide about saturation.",
                " Вдвое большая глубина ({depth}{case}) меняет скорость на {gain}: этого мало, чтобы судить о насыщении.",
            ),
        };
        let case = doubled.case.as_ref().map(|label| pick(l, ": case `{c}`", ": случай `{c}`").replace("{c}", label));
        text.replace("{depth}", &format::count(u64::from(doubled.queue_depth)))
            .replace("{gain}", &signed(doubled.gain, l))
            .replace("{case}", &case.unwrap_or_default())
    }
}

impl Relieved {
    /// What was changed, and what that says.
    fn in_words(&self, l: Lang) -> String {
        let text = match (self.test, self.matters) {
            // Twice the depth has words of its own.
            (Test::Depth, _) => "",
            (Test::Threads, Some(true)) => pick(
                l,
                " Twice the jobs with as much in flight{case} change the rate by {gain}: load threads bounded it.",
                " Вдвое больше заданий при той же общей глубине{case} меняют скорость на {gain}: её ограничивали потоки нагрузки.",
            ),
            (Test::Threads, Some(false)) => pick(
                l,
                " Twice the jobs with as much in flight{case} change the rate by {gain}: load threads did not bound it.",
                " Вдвое больше заданий при той же общей глубине{case} меняют скорость на {gain}: потоки нагрузки её не ограничивали.",
            ),
            (Test::Threads, None) => pick(
                l,
                " Twice the jobs with as much in flight{case} change the rate by {gain}, which is not enough to decide about load threads.",
                " Вдвое больше заданий при той же общей глубине{case} меняют скорость на {gain}: этого мало, чтобы судить о потоках нагрузки.",
            ),
            (Test::Node, Some(true)) => pick(
                l,
                " On another NUMA node than that of the device{case} the rate changes by {gain}: the place of threads and memory matters.",
                " На другом узле NUMA, не на узле устройства{case}, скорость меняется на {gain}: место потоков и памяти важно.",
            ),
            (Test::Node, Some(false)) => pick(
                l,
                " On another NUMA node than that of the device{case} the rate changes by {gain}: the place of threads and memory does not matter.",
                " На другом узле NUMA, не на узле устройства{case}, скорость меняется на {gain}: место потоков и памяти не важно.",
            ),
            (Test::Node, None) => pick(
                l,
                " On another NUMA node than that of the device{case} the rate changes by {gain}, which is not enough to decide whether that matters.",
                " На другом узле NUMA, не на узле устройства{case}, скорость меняется на {gain}: этого мало, чтобы судить, важно ли это.",
            ),
        };
        let case = self.case.as_ref().map(|label| pick(l, " (case `{c}`)", " (случай `{c}`)").replace("{c}", label));
        text.replace("{gain}", &signed(self.gain, l)).replace("{case}", &case.unwrap_or_default())
    }
}

impl Resource {
    /// What it is.
    fn name(&self, l: Lang) -> String {
        match self {
            Resource::Drives { devices, .. } if devices.is_empty() => pick(l, "the drives", "накопители").to_string(),
            Resource::Drives { devices, .. } if devices.len() == 1 => {
                pick(l, "the drive {d}", "накопитель {d}").replace("{d}", &list(devices))
            }
            Resource::Drives { devices, .. } => {
                pick(l, "the drives {d}", "накопители {d}").replace("{d}", &list(devices))
            }
            Resource::Link { devices } => {
                pick(l, "the PCIe link of {d}", "канал PCIe у {d}").replace("{d}", &list(devices))
            }
            Resource::Network { interface: Some(name), .. } => {
                pick(l, "the network interface {n}", "сетевой интерфейс {n}").replace("{n}", name)
            }
            Resource::Network { .. } => pick(l, "the network", "сеть").to_string(),
            Resource::Cpus => pick(l, "the CPUs of the machine", "процессоры машины").to_string(),
            Resource::Thread => pick(l, "the busiest load thread", "самый занятый поток нагрузки").to_string(),
            Resource::Engine => pick(l, "the engine itself", "сам генератор нагрузки").to_string(),
        }
    }
}

impl CeilingUse {
    fn rate(&self, l: Lang) -> String {
        match self.unit {
            Headline::Iops => format!("{} IOPS", format::iops(self.ceiling, l)),
            Headline::Throughput => format::throughput(self.ceiling, l),
        }
    }

    /// The ceiling with how it is known.
    fn ceiling_in_words(&self, l: Lang) -> String {
        let how = match &self.resource {
            Resource::Drives { devices, reading, read, written } => {
                let one = devices.len() == 1;
                drives_in_words((*reading, one), read.as_ref(), written.as_ref(), l)
            }
            Resource::Network { interface: None, source } => stated_in_words(source.as_deref().unwrap_or_default(), l),
            Resource::Network { .. } => pick(l, "at its line rate", "при полной скорости канала").to_string(),
            Resource::Link { .. } => {
                pick(l, "what its lanes leave for data", "сколько его линии оставляют данным").to_string()
            }
            Resource::Cpus => {
                pick(l, "at full use, by any process", "при полной занятости любыми процессами").to_string()
            }
            Resource::Thread => pick(l, "at full use", "при полной занятости").to_string(),
            Resource::Engine => pick(l, "the same load without a target", "та же нагрузка без объекта").to_string(),
        };
        let doubt = match self.doubt {
            Some(CeilingDoubt::NeverWritten { share }) => pick(
                l,
                "; {share} of the blocks sampled were never written, so it may be too high",
                "; {share} просмотренных блоков никогда не записывались, так что он может быть завышен",
            )
            .replace("{share}", &format::percent(share.0, l)),
            None => String::new(),
        };
        format!("{} ({how}{doubt})", self.rate(l))
    }

    /// In few words.
    fn in_short(&self, l: Lang) -> String {
        format!("{} {}", self.resource.name(l), format::percent(self.used.0, l))
    }
}

/// How it is known what drives give.
fn drives_in_words(of: (Reading, bool), read: Option<&RateFrom>, written: Option<&RateFrom>, l: Lang) -> String {
    let (reading, one) = of;
    let source = |from: Option<&RateFrom>| match from {
        Some(RateFrom::Stated { source }) => Some(stated_in_words(source, l)),
        _ => None,
    };
    let measured = read.filter(|from| !matches!(from, RateFrom::Stated { .. })).map(|from| {
        let whose = match from {
            _ if one => pick(l, "its own ceiling, read alone", "его собственный потолок при чтении"),
            RateFrom::Summed => pick(l, "each read alone, summed", "сумма при чтении по одному"),
            _ => pick(l, "read together", "при одновременном чтении"),
        };
        let reads = match reading {
            Reading::Random => pick(l, "4 KiB at random, 32 in flight each", "4 КиБ вразброс, глубина 32 на каждый"),
            Reading::Sequential => pick(l, "1 MiB in order, 8 in flight each", "1 МиБ подряд, глубина 8 на каждый"),
        };
        format!("{whose}: {reads}")
    });
    match (measured, source(written), source(read)) {
        (Some(measured), Some(written), _) => pick(l, "{read}; writes {written}", "{read}; запись — {written}")
            .replace("{read}", &measured)
            .replace("{written}", &written),
        (Some(measured), None, _) => measured,
        (None, Some(stated), _) | (None, None, Some(stated)) => stated,
        (None, None, None) => String::new(),
    }
}

fn stated_in_words(source: &str, l: Lang) -> String {
    pick(l, "as the suite states from `{source}`", "как указано в наборе, источник — `{source}`")
        .replace("{source}", source)
}

/// A change in percent; what is rounded to nothing has no sign.
fn signed(share: f64, l: Lang) -> String {
    let tenths = (share * 1000.0).round() / 1000.0;
    let sign = if tenths < 0.0 { "−" } else { "" };
    format!("{sign}{}", format::percent(tenths.abs(), l))
}

/// Names, the first and the last of many.
fn list(names: &[String]) -> String {
    match names {
        [first, _, _, .., last] if names.len() > NAMED_MOST => format!("{first} … {last} ({})", names.len()),
        _ => names.join(", "),
    }
}
