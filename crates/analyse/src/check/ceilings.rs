//! H07 and H42: is the rate more than the drives gave, and had the engine room to spare?

use super::Check;
use crate::ceilings::is_known;
use crate::ceilings::measured::{is_calibrated, of_engine};
use crate::ceilings::storage::{Held, bounding};
use crate::ceilings::work::work;
use crate::findings::{CheckId, CheckResult, Estimate, Headline};
use crate::limits::{ABOVE_CEILING, ENGINE_HEADROOM};
use crate::phrase;
use crate::rates;
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::RunRecord;
use stend_spec::calibration::{Reading, engine_trial};
use stend_spec::workload::Op;

/// H07: rate of a case against what its drives gave when they were read, or are stated to give.
pub fn above(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H07, limit: Say::both(|l| format!("≤ {}", format::percent(ABOVE_CEILING, l))) };
    if !is_known(run) {
        return check.not_applicable(nothing_calibrated());
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let rates = rates::rates(case, None, &Op::IO);
    let (mut held, mut why) = (Vec::new(), Say::same(""));
    let work = work(run, case);
    for (reading, ceiling) in bounding(run, case, &work, &work.modelled()) {
        let estimate = if reading == Reading::Random { &rates.iops } else { &rates.throughput };
        match ceiling {
            Ok(of) => held.push((reading, estimate, of)),
            Err(reason) => why = reason,
        }
    }
    let part = |(_, estimate, of): &(Reading, &Estimate, Held)| estimate.value / of.per_second;
    let Some(highest) = held.into_iter().max_by(|a, b| part(a).total_cmp(&part(b))) else {
        return check.not_measurable(why);
    };
    let above = part(&highest) > ABOVE_CEILING;
    let (reading, estimate, held) = highest;
    let ceiling = held.per_second;
    let measured = Say::both(|l| told(reading, (estimate.value, ceiling), l));
    if !above {
        return check.pass(measured);
    }
    if held.is_stated() {
        return check.measured(measured).warn(say!(
            "This is more than the numbers in the suite allow: they are too low, the layout is wrong, or a cache answered. Correct `ceilings`, or measure longer.",
            "Это больше, чем позволяют указанные в наборе числа: они занижены, схема накопителей не та или ответил кэш. Исправьте `ceilings` или измерьте дольше."
        ));
    }
    // A rate whose interval reaches below the limit may be above it by chance.
    let sure = estimate.interval.is_none_or(|(low, _)| low / ceiling > ABOVE_CEILING);
    if !(sure && case.asked.direct) {
        return check.measured(measured).warn(say!(
            "This is more than the drives gave: a cache may have answered, or the drives were slower during calibration. Measure longer, and calibrate again.",
            "Это больше, чем дали накопители: мог ответить кэш, или при калибровке они были медленнее. Измерьте дольше и повторите калибровку."
        ));
    }
    check.measured(measured).fail(say!(
        "This is more than the drives can give, so a part came from a cache. Use a larger range, or find and name that cache.",
        "Это больше, чем накопители могут дать, значит, часть пришла из кэша. Увеличьте область или найдите и назовите этот кэш."
    ))
}

fn told(reading: Reading, (rate, ceiling): (f64, f64), l: Lang) -> String {
    let value = |rate: f64| match reading {
        Reading::Random => format!("{} IOPS", format::iops(rate, l)),
        Reading::Sequential => format::throughput(rate, l),
    };
    say_in!(
        l,
        "{part} of the ceiling ({rate} of {ceiling})",
        "{part} потолка ({rate} от {ceiling})",
        part = format::near_limit::percent(rate / ceiling, ABOVE_CEILING, l),
        rate = value(rate),
        ceiling = value(ceiling)
    )
}

/// H42: the same load against nothing, over the rate of the case.
pub fn headroom(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H42,
        limit: say!(|l| "≥ {n} times the rate", "≥ {n} скорости", n = format::fixed(ENGINE_HEADROOM, 1, l)),
    };
    if !is_calibrated(run) {
        return check.not_applicable(nothing_calibrated());
    }
    if engine_trial(case.asked).is_none() {
        return check.not_applicable(say!(
            "a load with pauses, verification or replay, or without a target, is not repeated without a target",
            "нагрузка с ожиданием, сверкой или воспроизведением и нагрузка без объекта без него не повторяется"
        ));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let (iops, bytes) = match of_engine(run, case) {
        Ok(found) => found,
        Err(why) => return check.not_measurable(why),
    };
    let rates = rates::rates(case, None, &Op::IO);
    let (rate, ceiling) = match phrase::headline(case.asked) {
        Headline::Iops => (rates.iops.value, iops),
        Headline::Throughput => (rates.throughput.value, bytes),
    };
    if rate <= 0.0 {
        return check.not_measurable(say!("the case did no I/O", "случай не выполнил ни одной операции"));
    }
    let times = ceiling / rate;
    let measured = Say::both(|l| {
        let shown = format::near_limit::fixed(times, ENGINE_HEADROOM, 1, l);
        say_in!(l, "{shown} times", "в {shown} раза больше")
    });
    if times >= ENGINE_HEADROOM {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "Without a target the same load is hardly faster: the engine and its CPUs limit this rate. Use more jobs, more CPUs or larger blocks, or treat the rate as a lower bound.",
        "Без объекта та же нагрузка почти не быстрее: эту скорость ограничивают генератор и его процессоры. Возьмите больше заданий, процессоров или крупнее блоки либо считайте скорость нижней границей."
    ))
}

fn nothing_calibrated() -> Say {
    say!("The suite does not calibrate (`calibrate: members`).", "Набор не задаёт калибровку (`calibrate: members`).")
}

#[cfg(test)]
mod tests;
