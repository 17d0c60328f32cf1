//! How near a case is to its ceilings, in words. Must not judge.

use super::Demand;
use super::layout::in_words;
use crate::findings::{
    Bound, CeilingDoubt, CeilingFinding, CeilingUse, DemandFinding, Headline, LayoutFrom, LimitTest, RateFrom,
    Resource, UnknownCeiling,
};
use stend_base::{Lang, Say, format, say_in};
use stend_spec::calibration::Reading;
use stend_spec::confirm::Test;

/// Most drives that are named one by one.
const NAMED_MOST: usize = 3;

impl CeilingFinding {
    /// What bounds the case, how near it is, what comes next, and what is not known.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let (known, not_known) = (self.known(), self.not_known());
            let parts = [known.get(l), not_known.get(l)];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
        })
    }

    /// The same without what is not known, which is often the same for many cases.
    pub fn known(&self) -> Say {
        Say::both(|l| {
            let tests: String = self.relieved.iter().map(|test| test.in_words(l)).collect();
            let host = self
                .host
                .as_ref()
                .map_or(String::new(), |host| say_in!(l, "On load host {host}: ", "На нагружающей машине {host}: "));
            host + &self.bound_in_words(l) + &self.doubled_in_words(l) + &tests + &self.demand_in_words(l)
        })
    }

    /// What is not known, as a sentence; empty if all is.
    pub fn not_known(&self) -> Say {
        Say::both(|l| {
            let one = |u: &UnknownCeiling| format!("{} ({})", u.what.get(l), u.why.get(l));
            let all: Vec<String> = self.unknown.iter().map(one).collect();
            match all.is_empty() {
                true => String::new(),
                false => say_in!(l, "Not known: {all}.", "Неизвестно: {all}.", all = all.join("; ")),
            }
        })
    }

    fn bound_in_words(&self, l: Lang) -> String {
        let Some(first) = self.uses.first() else {
            return say_in!(l, "No possible limit is known.", "Возможные пределы неизвестны.");
        };
        let second = self.second().map(|other| other.in_short(l)).unwrap_or_default();
        let next = say_in!(l, " Next: {second}.", " Затем {second}.");
        let next = if second.is_empty() { "" } else { &next };
        let (used, ceiling) = (format::percent(first.used.0, l), first.ceiling_in_words(l));
        let room = format::percent((1.0 - first.used.0).max(0.0), l);
        let first = first.resource.name(l);
        match self.bound {
            Bound::Limited => say_in!(
                l,
                "Limited by {first}: {used} of {ceiling}.{next} Headroom {room}.",
                "Предел — {first}: {used} от {ceiling}.{next} Запас {room}."
            ),
            Bound::Together => say_in!(
                l,
                "Limited by {first}, {used} of {ceiling}, and as much by {second}.",
                "Пределов два: {first}, {used} от {ceiling}, и {second}."
            ),
            Bound::Latency => say_in!(
                l,
                "Bound by latency: with {depth} in flight each I/O takes about as long as alone. Nearest ceiling: {first}, {used} of {ceiling}{needed}.",
                "Предел — задержка: при глубине {depth} каждая операция длится почти как в одиночку. Ближайший потолок: {first}, {used} от {ceiling}{needed}.",
                depth = format::count(self.in_flight),
                needed = self.needed_in_words(l)
            ),
            Bound::Asked => say_in!(
                l,
                "The rate is what the load asks for. Nearest ceiling: {first}, {used} of {ceiling}.{next}",
                "Скорость задана самой нагрузкой. Ближайший потолок: {first}, {used} от {ceiling}.{next}"
            ),
            Bound::Unexplained => say_in!(
                l,
                "No known ceiling explains the rate. Nearest ceiling: {first}, {used} of {ceiling}.{next}",
                "Ни один из известных потолков скорость не объясняет. Ближайший потолок: {first}, {used} от {ceiling}.{next}"
            ),
        }
    }

    /// What an I/O takes of the drives, where that is more than one I/O of one drive or not what was counted.
    fn demand_in_words(&self, l: Lang) -> String {
        // One I/O of one drive for each is what everybody expects.
        let single = |demand: &DemandFinding| demand.modelled.is_some_and(|model| model.reads + model.writes <= 1.0);
        let worth = |demand: &DemandFinding| demand.differs || demand.layout.is_some() && !single(demand);
        let Some(demand) = self.demand.filter(worth) else { return String::new() };
        let pair = |of: &Demand| {
            let number = |count: f64| format::fixed(count, 2, l);
            let (reads, writes) = (number(of.reads), number(of.writes));
            match (of.reads > 0.0, of.writes > 0.0) {
                (true, false) => say_in!(l, "{reads} reads", "чтений {reads}"),
                (false, true) => say_in!(l, "{writes} writes", "записей {writes}"),
                _ => say_in!(l, "{reads} reads and {writes} writes", "чтений {reads} и записей {writes}"),
            }
        };
        let layout = demand.layout.map(|layout| {
            let from = match demand.from {
                LayoutFrom::Host => l.pick("as the host shows it", "как показывает хост"),
                LayoutFrom::Suite => l.pick("as the suite states", "как указано в наборе"),
            };
            format!(" {} ({from}):", in_words(layout, l))
        });
        let modelled = demand.modelled.as_ref().map(|model| {
            let pair = pair(model);
            match demand.layout {
                Some(_) => say_in!(
                    l,
                    " an I/O takes {pair} of drives by the model",
                    " на операцию по модели у накопителей {pair}"
                ),
                None => {
                    say_in!(l, " An I/O should take {pair} of drives", " На операцию у накопителей ожидается {pair}")
                }
            }
        });
        let counted = demand.counted.as_ref().map(|counted| {
            let pair = pair(counted);
            match &modelled {
                Some(_) => say_in!(l, "; counted: {pair}", "; сосчитано: {pair}"),
                None => {
                    say_in!(l, " {pair} of drives were counted per I/O", " на операцию у накопителей сосчитано: {pair}")
                }
            }
        });
        let doubt = demand.differs.then(|| {
            say_in!(
                l,
                " The bytes do not match: caches, journals, copies or other programs had a part in it.",
                " По байтам не сходится: сказываются кэши, журналы, запись в другое место или чужая нагрузка."
            )
        });
        if modelled.is_none() && counted.is_none() {
            return String::new();
        }
        let told: String = [layout, modelled, counted].into_iter().flatten().collect();
        format!("{}.{}", told, doubt.unwrap_or_default())
    }

    fn needed_in_words(&self, l: Lang) -> String {
        let Some(needed) = self.needed.filter(|needed| *needed > self.in_flight) else { return String::new() };
        say_in!(
            l,
            ", which would take about {n} in flight",
            ", для этого нужна глубина около {n}",
            n = format::count(needed)
        )
    }

    fn doubled_in_words(&self, l: Lang) -> String {
        let Some(doubled) = &self.doubled else { return String::new() };
        let case = doubled.case.as_ref().map(|label| say_in!(l, ": case `{label}`", ": случай `{label}`"));
        let depth = format::count(u64::from(doubled.queue_depth));
        let gain = signed(doubled.gain, l);
        let case = case.unwrap_or_default();
        match doubled.saturated {
            Some(true) => say_in!(
                l,
                " Twice the depth ({depth}{case}) confirms saturation: the rate changes by {gain}, and latency doubles.",
                " Вдвое большая глубина ({depth}{case}) подтверждает насыщение: скорость меняется на {gain}, а задержка удваивается."
            ),
            Some(false) => say_in!(
                l,
                " Twice the depth ({depth}{case}) does not confirm saturation: the rate changes by {gain}.",
                " Вдвое большая глубина ({depth}{case}) насыщения не подтверждает: скорость меняется на {gain}."
            ),
            None => say_in!(
                l,
                " Twice the depth ({depth}{case}) changes the rate by {gain}, which is not enough to decide about saturation.",
                " Вдвое большая глубина ({depth}{case}) меняет скорость на {gain}: этого мало, чтобы судить о насыщении."
            ),
        }
    }
}

impl LimitTest {
    /// What was changed, and what that says.
    fn in_words(&self, l: Lang) -> String {
        let case = self.case.as_ref().map(|label| say_in!(l, " (case `{label}`)", " (случай `{label}`)"));
        let gain = signed(self.gain, l);
        let case = case.unwrap_or_default();
        match (self.test, self.matters) {
            // Twice the depth has words of its own.
            (Test::Depth, _) => String::new(),
            (Test::Threads, Some(true)) => say_in!(
                l,
                " Twice the jobs with as much in flight{case} change the rate by {gain}: load threads bounded it.",
                " Вдвое больше заданий при той же общей глубине{case} меняют скорость на {gain}: её ограничивали потоки нагрузки."
            ),
            (Test::Threads, Some(false)) => say_in!(
                l,
                " Twice the jobs with as much in flight{case} change the rate by {gain}: load threads did not bound it.",
                " Вдвое больше заданий при той же общей глубине{case} меняют скорость на {gain}: потоки нагрузки её не ограничивали."
            ),
            (Test::Threads, None) => say_in!(
                l,
                " Twice the jobs with as much in flight{case} change the rate by {gain}, which is not enough to decide about load threads.",
                " Вдвое больше заданий при той же общей глубине{case} меняют скорость на {gain}: этого мало, чтобы судить о потоках нагрузки."
            ),
            (Test::Node, Some(true)) => say_in!(
                l,
                " On another NUMA node than that of the device{case} the rate changes by {gain}: the place of threads and memory matters.",
                " На другом узле NUMA, не на узле устройства{case}, скорость меняется на {gain}: место потоков и памяти важно."
            ),
            (Test::Node, Some(false)) => say_in!(
                l,
                " On another NUMA node than that of the device{case} the rate changes by {gain}: the place of threads and memory does not matter.",
                " На другом узле NUMA, не на узле устройства{case}, скорость меняется на {gain}: место потоков и памяти не важно."
            ),
            (Test::Node, None) => say_in!(
                l,
                " On another NUMA node than that of the device{case} the rate changes by {gain}, which is not enough to decide whether that matters.",
                " На другом узле NUMA, не на узле устройства{case}, скорость меняется на {gain}: этого мало, чтобы судить, важно ли это."
            ),
        }
    }
}

impl Resource {
    /// What it is.
    fn name(&self, l: Lang) -> String {
        match self {
            Resource::Drives { devices, .. } if devices.is_empty() => say_in!(l, "the drives", "накопители"),
            Resource::Drives { devices, .. } if devices.len() == 1 => {
                say_in!(l, "the drive {d}", "накопитель {d}", d = list(devices))
            }
            Resource::Drives { devices, .. } => {
                say_in!(l, "the drives {d}", "накопители {d}", d = list(devices))
            }
            Resource::Link { devices } => {
                say_in!(l, "the PCIe link of {d}", "канал PCIe у {d}", d = list(devices))
            }
            Resource::Network { interface: Some(name), .. } => {
                say_in!(l, "the network interface {name}", "сетевой интерфейс {name}")
            }
            Resource::Network { .. } => say_in!(l, "the network", "сеть"),
            Resource::Cpus => say_in!(l, "the CPUs of the machine", "процессоры машины"),
            Resource::Thread => say_in!(l, "the busiest load thread", "самый занятый поток нагрузки"),
            Resource::Engine => say_in!(l, "the engine itself", "сам генератор нагрузки"),
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
            Resource::Network { .. } => say_in!(l, "at its line rate", "при полной скорости канала"),
            Resource::Link { .. } => {
                say_in!(l, "what its lanes leave for data", "сколько его линии оставляют данным")
            }
            Resource::Cpus => {
                say_in!(l, "at full use, by any process", "при полной занятости любыми процессами")
            }
            Resource::Thread => say_in!(l, "at full use", "при полной занятости"),
            Resource::Engine => say_in!(l, "the same load without a target", "та же нагрузка без объекта"),
        };
        let doubt = match self.doubt {
            Some(CeilingDoubt::NeverWritten { share }) => say_in!(
                l,
                "; {share} of the blocks sampled were never written, so it may be too high",
                "; {share} просмотренных блоков никогда не записывались, так что он может быть завышен",
                share = format::percent(share.0, l)
            ),
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
            _ if one => l.pick("its own ceiling, read alone", "его собственный потолок при чтении"),
            RateFrom::Summed => l.pick("each read alone, summed", "сумма при чтении по одному"),
            _ => l.pick("read together", "при одновременном чтении"),
        };
        let reads = match reading {
            Reading::Random => l.pick("4 KiB at random, 32 in flight each", "4 КиБ вразброс, глубина 32 на каждый"),
            Reading::Sequential => l.pick("1 MiB in order, 8 in flight each", "1 МиБ подряд, глубина 8 на каждый"),
        };
        format!("{whose}: {reads}")
    });
    match (measured, source(written), source(read)) {
        (Some(measured), Some(written), _) => {
            say_in!(l, "{measured}; writes {written}", "{measured}; запись — {written}")
        }
        (Some(measured), None, _) => measured,
        (None, Some(stated), _) | (None, None, Some(stated)) => stated,
        (None, None, None) => String::new(),
    }
}

fn stated_in_words(source: &str, l: Lang) -> String {
    say_in!(l, "as the suite states from `{source}`", "как указано в наборе, источник — `{source}`")
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
