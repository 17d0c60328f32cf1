//! Open loops in words, in both languages: their rate, and what a schedule does when.

use stend_base::{Lang, format, say_in};
use stend_spec::rate::{Gaps, Rate, Shape, Step};

/// Steps of a schedule that are put into words; the suite is shown as written anyway.
const STEPS_TOLD: usize = 12;

/// An open loop: `5000/s Poisson, at most 64 in flight`.
pub(super) fn paced(rate: &Rate, most: &str, lang: Lang) -> String {
    let level = match rate.level() {
        Some(level) => format::rate(level, lang),
        None => say_in!(lang, "by schedule", "по расписанию"),
    };
    let gaps = if rate.gaps == Gaps::Poisson { lang.pick(" Poisson", " по Пуассону") } else { "" };
    format!("{}, {}", level + gaps, at_most(most, lang))
}

pub(super) fn at_most(most: &str, lang: Lang) -> String {
    say_in!(lang, "at most {most} in flight", "не более {most} в очереди")
}

/// An open loop with the steps of its schedule: `by schedule, at most 64 in flight (0 s: 1000/s; until 10 s evenly to 5000/s)`.
pub fn rate_of(rate: &Rate, most: u32, lang: Lang) -> String {
    let text = paced(rate, &most.to_string(), lang);
    if rate.level().is_some() {
        return text;
    }
    let told = rate.steps.iter().take(STEPS_TOLD).map(|step| step_in_words(step, lang));
    let more = (rate.steps.len() > STEPS_TOLD).then(|| "…".to_string());
    format!("{text} ({})", told.chain(more).collect::<Vec<_>>().join("; "))
}

fn step_in_words(step: &Step, lang: Lang) -> String {
    let (at, rate) = (format::duration(step.at, lang), format::rate(step.rate, lang));
    match step.shape {
        Shape::Jump => format!("{at}: {rate}"),
        Shape::Ramp => say_in!(lang, "until {at} evenly to {rate}", "до {at} равномерно к {rate}"),
        Shape::Sine { amplitude, period } => {
            let (amplitude, period) = (format::rate(amplitude, lang), format::duration(period, lang));
            say_in!(lang, "{at}: {rate} ± {amplitude} in {period}", "{at}: {rate} ± {amplitude} за {period}")
        }
        Shape::Burst { rate: burst, every, lasting } => say_in!(
            lang,
            "{at}: {rate}, {burst} for {lasting} every {every}",
            "{at}: {rate}, {burst} на {lasting} каждые {every}",
            burst = format::rate(burst, lang),
            lasting = format::duration(lasting, lang),
            every = format::duration(every, lang)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use stend_base::{MilliIops, Nanos};

    fn schedule(steps: &[(u64, Shape)]) -> String {
        let step = |&(at, shape): &(u64, Shape)| Step { at: Nanos::secs(at), rate: MilliIops::per_second(1000), shape };
        let rate = Rate { gaps: Gaps::Even, steps: steps.iter().map(step).collect() };
        [Lang::En, Lang::Ru].map(|lang| rate_of(&rate, 64, lang)).join("\n")
    }

    #[test]
    fn every_shape_of_a_schedule_has_its_words() {
        let (amplitude, period) = (MilliIops::per_second(500), Nanos::secs(60));
        let (rate, every, lasting) = (MilliIops::per_second(9000), Nanos::secs(90), Nanos::millis(1500));
        let all = [
            (0, Shape::Jump),
            (10, Shape::Ramp),
            (20, Shape::Sine { amplitude, period }),
            (80, Shape::Burst { rate, every, lasting }),
        ];
        expect![[r#"
            by schedule, at most 64 in flight (0 s: 1000/s; until 10 s evenly to 1000/s; 20 s: 1000/s ± 500/s in 1 min 00 s; 1 min 20 s: 1000/s, 9000/s for 1.5 s every 1 min 30 s)
            по расписанию, не более 64 в очереди (0 с: 1000/с; до 10 с равномерно к 1000/с; 20 с: 1000/с ± 500/с за 1 мин 00 с; 1 мин 20 с: 1000/с, 9000/с на 1,5 с каждые 1 мин 30 с)"#]].assert_eq(&schedule(&all));
        let constant = Rate::constant(MilliIops(500), Gaps::Poisson);
        assert_eq!(rate_of(&constant, 8, Lang::En), "0.5/s Poisson, at most 8 in flight");
    }

    #[test]
    fn a_long_schedule_is_not_told_to_its_end() {
        let steps = |count| (0..count).map(|at| (at, Shape::Jump)).collect::<Vec<_>>();
        let told = |count| schedule(&steps(count)).lines().map(|line| line.matches("; ").count()).collect::<Vec<_>>();
        assert_eq!((told(12), told(13)), (vec![11, 11], vec![12, 12]));
        assert!(schedule(&steps(13)).ends_with("; …)") && schedule(&steps(12)).contains("11"));
    }
}
