//! H60: did every PCIe link run as fast and wide as both its ends can, and without errors?

use super::Check;
use super::readings::{no_readings, readings};
use super::stretch::stretches;
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::parts::{Link, LinkState};
use stend_record::targets::devices;
use stend_record::{Parts, RunRecord};

/// A link over the trials of a case.
#[derive(Debug, Clone, PartialEq)]
struct ReportedLink {
    device: String,
    /// The slowest that it was while the load ran.
    now: Link,
    best: Link,
    /// Errors corrected in the trials; `None` if the kernel does not report them.
    corrected: Option<u64>,
}

/// H60: speed and width under load, and errors that the link corrected.
pub fn links(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H60,
        limit: say!("what both ends can do, without errors", "на что способны оба конца, без ошибок"),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let readings = readings(run, case);
    if readings.is_empty() {
        return check.not_measurable(no_readings());
    }
    if readings.iter().flatten().all(|parts| parts.links.is_empty()) {
        return match devices(&run.load().targets).iter().any(|device| device.is_virtual) {
            true => check.not_measurable(say!(
                "the drive is virtual: the links of its host are not visible",
                "накопитель виртуальный: каналы его хоста не видны"
            )),
            false => check.not_applicable(say!(
                "No drive below the target is on a PCIe link that the kernel reports.",
                "Ни один накопитель под объектом не на канале PCIe, о котором сообщает ядро."
            )),
        };
    }
    // A link may save power while nothing is asked of it, so that only readings under load count.
    let under_load = stretches(run, case);
    let under_load = under_load.iter().flat_map(|stretch| stretch.samples).filter_map(|s| s.parts.as_deref());
    let found = told(under_load, &readings);
    if found.is_empty() {
        return check.not_measurable(say!(
            "no reading of the link falls into the load: a link at rest may save power",
            "ни одно показание о канале не пришлось на нагрузку: в покое канал может экономить энергию"
        ));
    }
    let measured = Say::both(|l| found.iter().map(|link| in_words(link, l)).collect::<Vec<_>>().join("; "));
    if found.iter().any(is_slower) {
        return check.measured(measured).fail(slower());
    }
    if found.iter().any(|link| link.corrected.is_some_and(|n| n > 0)) {
        return check.measured(measured).fail(errors());
    }
    check.pass(measured)
}

fn slower() -> Say {
    say!(
        "The link runs below what device and slot can do: the number is that of the link. Reseat the device, look at the slot, its risers and the BIOS; `lspci -vv` shows LnkCap and LnkSta.",
        "Канал работает ниже возможностей устройства и слота: измерен канал. Переставьте устройство, проверьте слот, переходники и BIOS; `lspci -vv` показывает LnkCap и LnkSta."
    )
}

fn errors() -> Say {
    say!(
        "The link had to send again during the trials, which costs time and indicates a bad contact, cable or riser. Reseat it and repeat.",
        "Во время испытаний канал повторял передачи: это стоит времени и говорит о плохом контакте, кабеле или переходнике. Переставьте и повторите."
    )
}

fn told<'a>(under_load: impl Iterator<Item = &'a Parts>, around: &[Vec<&Parts>]) -> Vec<ReportedLink> {
    let mut found: Vec<(String, ReportedLink)> = Vec::new();
    for link in under_load.flat_map(|parts| &parts.links) {
        match found.iter_mut().find(|(address, _)| *address == link.address) {
            Some((_, known)) => {
                known.now.speed_mt_per_s = known.now.speed_mt_per_s.min(link.now.speed_mt_per_s);
                known.now.width = known.now.width.min(link.now.width);
            }
            None => {
                let corrected = corrected(around, &link.address);
                let told = ReportedLink { device: link.device.clone(), now: link.now, best: link.best, corrected };
                found.push((link.address.clone(), told));
            }
        }
    }
    found.into_iter().map(|(_, told)| told).collect()
}

/// Errors that a link corrected in all trials.
fn corrected(trials: &[Vec<&Parts>], address: &str) -> Option<u64> {
    let count = |parts: &&Parts| {
        let link: &LinkState = parts.links.iter().find(|link| link.address == address)?;
        link.corrected
    };
    let of = |trial: &Vec<&Parts>| count(trial.last()?)?.checked_sub(count(trial.first()?)?);
    let counts = trials.iter().map(of).collect::<Option<Vec<u64>>>()?;
    Some(counts.into_iter().fold(0, u64::saturating_add))
}

fn is_slower(link: &ReportedLink) -> bool {
    link.now.speed_mt_per_s < link.best.speed_mt_per_s || link.now.width < link.best.width
}

fn in_words(link: &ReportedLink, lang: Lang) -> String {
    let of = |link: Link| {
        let speed = format::fixed(f64::from(link.speed_mt_per_s) / 1000.0, 1, lang);
        format!("{speed} GT/s ×{}", link.width)
    };
    let best = match is_slower(link) {
        true => format!("{}{}", lang.pick(" of ", " из "), of(link.best)),
        false => String::new(),
    };
    let corrected = link
        .corrected
        .filter(|&n| n > 0)
        .map(|n| say_in!(lang, ", {n} errors corrected", ", исправлено ошибок: {n}", n = format::count(n)));
    format!("{} {}{best}{}", link.device, of(link.now), corrected.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;

    fn link(speed_mt_per_s: u32, width: u32, corrected: u64) -> Parts {
        let link = LinkState {
            device: "nvme0n1".into(),
            address: "0000:01:00.0".into(),
            now: Link { speed_mt_per_s, width },
            best: Link { speed_mt_per_s: 16_000, width: 4 },
            corrected: Some(corrected),
        };
        Parts { links: vec![link], ..Parts::default() }
    }

    /// A check of a run in which the parts of sample number n are made by `parts`; the second one begins the load.
    fn check(parts: fn(usize) -> Parts) -> CheckResult {
        let mut record = run().trial(0).done().record();
        let each = record.load_mut().samples.iter_mut().enumerate();
        each.for_each(|(at, sample)| sample.parts = Some(Box::new(parts(at))));
        links(&record, &by_case(&record)[0])
    }

    #[test]
    fn a_link_at_its_best_under_load_passes_whatever_it_does_at_rest() {
        let found = check(|at| link(if at == 0 { 2_500 } else { 16_000 }, 4, 3));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "nvme0n1 16.0 GT/s ×4"));
    }

    #[test]
    fn a_link_of_half_the_lanes_or_of_an_older_generation_fails() {
        let narrow = check(|_| link(16_000, 2, 0));
        assert_eq!(
            (narrow.status, narrow.measured.en.as_str()),
            (CheckStatus::Fail, "nvme0n1 16.0 GT/s ×2 of 16.0 GT/s ×4")
        );
        let once = check(|at| link(if at == 3 { 8_000 } else { 16_000 }, 4, 0));
        assert_eq!((once.status, once.measured.ru.contains("8,0 GT/s ×4 из")), (CheckStatus::Fail, true), "{once:?}");
    }

    #[test]
    fn errors_that_were_corrected_during_a_trial_fail_and_older_ones_do_not() {
        let found = check(|at| link(16_000, 4, at as u64));
        assert_eq!(
            (found.status, found.measured.en.contains("5 errors corrected")),
            (CheckStatus::Fail, true),
            "{found:?}"
        );
        assert_eq!(check(|_| link(16_000, 4, 900)).status, CheckStatus::Pass);
    }

    #[test]
    fn what_has_no_link_or_hides_it_says_so() {
        assert_eq!(check(|_| Parts::default()).status, CheckStatus::NotApplicable);
        let mut hidden = run().trial(0).done().record();
        hidden.load_mut().targets[0].devices[1].is_virtual = true;
        assert_eq!(links(&hidden, &by_case(&hidden)[0]).status, CheckStatus::NotMeasurable);
        let mut at_rest = run().trial(0).done().record();
        for (at, sample) in at_rest.load_mut().samples.iter_mut().enumerate() {
            sample.parts = (at == 0).then(|| Box::new(link(2_500, 1, 0)));
        }
        let end = at_rest.trials[0].outcome.as_ref().unwrap().window_end;
        let after = stend_record::Sample { at: end + stend_base::Nanos(1), ..stend_record::Sample::default() };
        at_rest.load_mut().samples.push(stend_record::Sample { parts: Some(Box::new(link(2_500, 1, 0))), ..after });
        assert_eq!(links(&at_rest, &by_case(&at_rest)[0]).status, CheckStatus::NotMeasurable);
    }
}
