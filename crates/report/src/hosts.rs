//! Several load hosts in words and rows, the same on a terminal, on a page and in a table. Nothing is computed here.

use crate::figures::NONE;
use crate::rates;
use stend_analyse::Findings;
use stend_analyse::findings::{
    CaseFinding, ClockFinding, Estimate, Headline, HostsFinding, LoadHostFinding, LossFinding,
};
use stend_base::text::counted;
use stend_base::{Lang, Nanos, Say, format, say, say_in};
use stend_spec::workload::Op;

/// From this part of the median host on the slowest one is not named in short (by eye).
const ALIKE: f64 = 0.95;

/// The load hosts of a run in a sentence or two; `None` where there is one.
pub(crate) fn in_short(findings: &Findings) -> Option<Say> {
    let apart = |case: &CaseFinding| Some(case.hosts.as_ref()?.slowest.as_ref()?.1.value);
    let farthest = findings.cases.iter().filter_map(|case| Some((case, apart(case)?)));
    let farthest = farthest.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(case, _)| case);
    let lost = lost(findings);
    count(findings).map(|count| {
        Say::both(|lang| {
            let how = farthest.and_then(|case| Some((case, case.hosts.as_ref()?)));
            let how = how.map_or(String::new(), |(case, found)| format!(", {}", alike(case, found, lang)));
            let lost: String = lost.iter().map(|lost| format!(" {}", lost.get(lang))).collect();
            format!("{}{how}.{lost}", count.get(lang))
        })
    })
}

/// `4 load hosts`; `None` where there is one.
pub(crate) fn count(findings: &Findings) -> Option<Say> {
    let words = (["load host", "load hosts"], ["нагружающая машина", "нагружающие машины", "нагружающих машин"]);
    let hosts = findings.hosts.len() as u64;
    (hosts > 0).then(|| counted(hosts, words.0, words.1))
}

/// That load hosts share their devices, and how much of each is whose; `None`: each has its own.
pub(crate) fn shared(findings: &Findings) -> Option<Say> {
    let part = findings.hosts.iter().find_map(|host| host.part)?;
    Some(say!(
        |lang| "The load hosts share the devices; each loaded a part of its own, {size} of each device.",
        "Устройства у нагружающих машин общие; каждая нагружала свою часть — по {size} на устройстве.",
        size = format::bytes(part.len, lang)
    ))
}

/// Load hosts that were lost, each in a sentence.
pub(crate) fn lost(findings: &Findings) -> Vec<Say> {
    let of = |host: &LoadHostFinding| {
        let (name, LossFinding { why, after, trials }) = (&host.name, host.lost.as_ref()?);
        let (en, ru) = (format::duration(*after, Lang::En), format::duration(*after, Lang::Ru));
        let count = trials.len();
        let without = match count {
            0 => Say::same(""),
            _ => say!("; trials without it: {count}", "; испытаний без неё: {count}"),
        };
        let (without_en, without_ru) = (without.en, without.ru);
        Some(say!(
            "Load host {name} was lost {en} after the run began: {why}{without_en}.",
            "Нагружающая машина {name} потеряна через {ru} после начала прогона: {why}{without_ru}."
        ))
    };
    findings.hosts.iter().filter_map(of).collect()
}

fn alike(case: &CaseFinding, found: &HostsFinding, lang: Lang) -> String {
    let Some((name, ratio)) = slowest(found) else { return String::new() };
    let percent = format::percent(ratio.value, lang);
    let (label, fairness) = (&case.label, fairness(found));
    match ratio.value >= ALIKE {
        true => say_in!(
            lang,
            "in every case each at {percent} of the median host or more",
            "в каждом случае каждая даёт не менее {percent} от медианы"
        ),
        false => say_in!(
            lang,
            "the slowest in {label}: {name}, {percent} of the median host{fairness}",
            "медленнее всех в {label}: {name}, {percent} от медианы{fairness}",
            fairness = fairness.get(lang)
        ),
    }
}

fn slowest(found: &HostsFinding) -> Option<(&str, &Estimate)> {
    let (at, ratio) = found.slowest.as_ref()?;
    Some((found.hosts.get(*at as usize)?.name.as_str(), ratio))
}

fn fairness(found: &HostsFinding) -> Say {
    let Some(fairness) = &found.fairness else { return Say::same("") };
    let (en, ru) = (index(fairness.value, Lang::En), index(fairness.value, Lang::Ru));
    say!(", fairness {en}", ", справедливость {ru}")
}

fn index(value: f64, lang: Lang) -> String {
    format::fixed(value, 3, lang)
}

/// How the hosts of a case differ, as sentences.
pub(crate) fn beside(found: &HostsFinding) -> Say {
    let fair = found.fairness.as_ref();
    Say::both(|lang| {
        let mut said = Vec::new();
        if !found.without.is_empty() {
            let without = found.without.join(", ");
            said.push(say_in!(lang, "Lost before: {without}.", "Потеряны раньше: {without}."));
        }
        if let Some((name, ratio)) = slowest(found) {
            let interval = ratio.interval.map_or(String::new(), |(low, high)| {
                format!(" ({} … {})", format::percent(low, lang), format::percent(high, lang))
            });
            let percent = format::percent(ratio.value, lang);
            said.push(say_in!(
                lang,
                "The slowest: {name}, {percent} of the median host{interval}.",
                "Медленнее всех: {name}, {percent} от медианы{interval}."
            ));
        }
        if let Some(fair) = fair {
            let index = index(fair.value, lang);
            said.push(say_in!(
                lang,
                "Fairness of rates (Jain): {index}.",
                "Справедливость скоростей (индекс Джейна): {index}."
            ));
        }
        let [began, ended] = [found.began_apart, found.ended_apart].map(|apart| format::latency(apart, lang));
        let clocks = match found.apart_uncertainty {
            Nanos(0) => String::new(),
            off => format!(" (± {})", format::latency(off, lang)),
        };
        let in_step = found.began_apart == Nanos(0) && found.ended_apart == Nanos(0);
        said.push(match in_step {
            true => say_in!(
                lang,
                "All began and ended at the planned times{clocks}.",
                "Все начали и закончили в назначенное время{clocks}."
            ),
            false => say_in!(
                lang,
                "Loads began within {began} of each other, windows ended within {ended}{clocks}.",
                "Нагрузка началась с разницей до {began}, окна закончились с разницей до {ended}{clocks}."
            ),
        });
        said.join(" ")
    })
}

/// Both rates of each host of a case, without units: rounded so that they add up to the total as it is shown.
pub(crate) fn rates_of(case: &CaseFinding, found: &HostsFinding) -> Vec<[Say; 2]> {
    let of = |headline: Headline| {
        let each: Vec<(Op, &Estimate)> = found.hosts.iter().map(|host| (Op::Read, host.total.of(headline))).collect();
        rates::parts(case.total.of(headline).value, &each, headline)
    };
    let [iops, throughput] = rates::BOTH.map(of);
    iops.into_iter().zip(throughput).map(|(iops, throughput)| [iops, throughput]).collect()
}

/// The first of the two rates of a host that its case shows, with its unit.
pub(crate) fn rate(case: &CaseFinding, [iops, throughput]: &[Say; 2]) -> Say {
    match case.headline {
        Headline::Iops => rates::with_unit(iops, Headline::Iops),
        Headline::Throughput => rates::with_unit(throughput, Headline::Throughput),
    }
}

/// How far the times of a host may be off, and how its clock drifted; a dash where it has the clock of the run.
pub(crate) fn clock(clock: Option<ClockFinding>) -> [Say; 3] {
    let Some(clock) = clock else { return [(); 3].map(|()| Say::same(NONE)) };
    let signed = |ns: i64, lang| {
        let sign = if ns < 0 { "−" } else { "+" };
        format!("{sign}{}", format::latency(Nanos(ns.unsigned_abs()), lang))
    };
    let drift = clock.drift.map_or(Say::same(NONE), |(drift, time)| {
        Say::both(|lang| format!("{} / {}", signed(drift, lang), format::duration(time, lang)))
    });
    let uncertainty = Say::both(|lang| format!("± {}", format::latency(Nanos(clock.uncertainty_ns), lang)));
    [Say::both(|lang| signed(clock.shift_ns, lang)), uncertainty, drift]
}

/// The hosts of each case that has several, with their rates.
pub(crate) fn of_cases(findings: &Findings) -> impl Iterator<Item = (&CaseFinding, &HostsFinding)> {
    findings.cases.iter().filter(|case| case.trials > 0).filter_map(|case| Some((case, case.hosts.as_ref()?)))
}
