//! Cells of the tables of density, the same on a terminal and on a page.

use crate::figures::NONE;
use stend_analyse::findings::{DensityFinding, DensityPoint};
use stend_base::{Lang, Nanos, Say, Share, format, say, say_in};

/// Headings: the number of instances, and what was seen of it.
pub(crate) fn columns(found: &DensityFinding) -> Vec<Say> {
    let percent = found.slo.quantile.0 / 10_000;
    vec![
        Say::same("N"),
        say!("held", "выдержано"),
        say!("within", "в норме"),
        say!("all, /s", "все, /с"),
        say!("slowest / median", "худший / медиана"),
        Say::same(format!("p{percent}")),
        Say::same("CPU"),
        say!("drive", "накопитель"),
        say!("held back", "сдержано"),
    ]
}

/// One number of instances, without its own cell.
pub(crate) fn cells(point: &DensityPoint) -> Vec<Say> {
    let share = |share: Option<Share>| of(share.map(|share| share.0), format::percent);
    vec![
        Say::same(format!("{} / {}", point.held, point.trials)),
        share(Some(point.within)),
        Say::both(|lang| format::number(point.rate, lang)),
        of(point.fairness, |part, lang| format::fixed(part, 2, lang)),
        of(point.latency, |(least, most): (Nanos, Nanos), lang| {
            format!("{}–{}", format::latency(least, lang), format::latency(most, lang))
        }),
        share(point.cpu),
        share(point.drive),
        share(point.held_back),
    ]
}

/// Programs and limits behind the numbers, in words.
pub(crate) fn origin(found: &DensityFinding) -> Say {
    let versions = found.versions.join("; ");
    let latency = found.program.latency();
    let (objective, groups) = (found.objective(), found.groups);
    Say::both(|lang| {
        let groups = match groups {
            None => say_in!(lang, "Instances had no resource limits.", "Экземпляры ничем не ограничены."),
            Some(version) => say_in!(
                lang,
                "Limits were held by control groups of version {version}.",
                "Пределы держали контрольные группы версии {version}."
            ),
        };
        let (objective, latency) = (objective.get(lang), latency.get(lang));
        say_in!(
            lang,
            "N: instances; held: trials in which all of them held; within: least part of them that did; p: least and most of a window, as printed. Objective: {objective}. Latency as the client prints it: {latency}. {groups} {versions}",
            "N — экземпляры; выдержано — испытания, в которых выдержали все; в норме — наименьшая доля выдержавших; p — наименьшее и наибольшее по окнам, как напечатано. Цель: {objective}. Задержка, как её печатает клиент: {latency}. {groups} {versions}"
        )
    })
}

fn of<T>(value: Option<T>, text: impl Fn(T, Lang) -> String) -> Say
where
    T: Copy,
{
    value.map_or(Say::same(NONE), |value| Say::both(|lang| text(value, lang)))
}
