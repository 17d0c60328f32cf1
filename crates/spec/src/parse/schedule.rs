//! The `schedule` of a rate: its steps, and whether they fit into a trial.

use super::frequency::{frequency, within};
use super::{Map, list, word};
use crate::keys;
use crate::rate::{Rate, Shape, Step};
use crate::suite::StreamSpec;
use crate::yaml::{Node, Value};
use stend_base::{Lang, MilliIops, Nanos, Result, Say, format, say};

/// Refuses a schedule of which a part would never come: `length` is that of a trial of the case, ramp and window.
pub(super) fn fits(case: &Node, length: Nanos, streams: &[StreamSpec]) -> Result<()> {
    for (stream, spec) in streams.iter().enumerate() {
        for (value, rate) in spec.rate.iter().enumerate() {
            let Some(step) = rate.steps.iter().position(|step| step.is_late(length)) else { continue };
            let node = node_of(case, stream, value, step).unwrap_or(case);
            let told = |time: Nanos| [Lang::En, Lang::Ru].map(|lang| format::exact(time, lang));
            let ([ends, ends_ru], [needed, needed_ru]) = (told(length), told(needed(rate)));
            let message = say!(
                "this step never comes: a trial of the case ends {ends} after its start, `ramp` included",
                "до этого шага дело не дойдёт: испытание этого случая кончается через {ends_ru} после начала, вместе с `ramp`"
            );
            return Err(node.error(message).hint(say!(
                "the last step is at {needed}: give the case a longer `trial`",
                "последний шаг — через {needed_ru} после начала: задайте случаю более длинное `trial`"
            )));
        }
    }
    Ok(())
}

fn needed(rate: &Rate) -> Nanos {
    rate.steps.last().map_or(Nanos(0), |step| step.at)
}

/// Where the step stands in the file: in one schedule, or in one of several that are an axis.
fn node_of(case: &Node, stream: usize, value: usize, step: usize) -> Option<&Node> {
    let rate = item(under(case, "streams")?, stream).and_then(|stream| under(stream, "rate"))?;
    let rate = if matches!(rate.value, Value::List(_)) { item(rate, value)? } else { rate };
    item(under(rate, "schedule")?, step)
}

fn under<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let Value::Map(pairs) = &node.value else { return None };
    pairs.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
}

fn item(node: &Node, index: usize) -> Option<&Node> {
    let Value::List(items) = &node.value else { return None };
    items.get(index)
}

/// The steps, ascending.
pub(super) fn schedule(node: &Node) -> Result<Vec<Step>> {
    let items = list(node)?;
    if !keys::rate::STEPS.hold(&items.len()) {
        return Err(node.error(say!("a schedule has 1 to 1000 steps", "в расписании от 1 до 1000 шагов")));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(items.len());
    for item in items {
        let next = step(item)?;
        follows(steps.last(), &next).map_err(|why| item.error(why))?;
        steps.push(next);
    }
    if steps.iter().all(|step| step.rate.0 == 0 && !matches!(step.shape, Shape::Burst { .. })) {
        return Err(node.error(say!(
            "a schedule with no rate above 0/s has no I/O",
            "в расписании без частоты выше 0/s нет операций"
        )));
    }
    Ok(steps)
}

/// Whether a step may come after the one before it.
fn follows(before: Option<&Step>, next: &Step) -> std::result::Result<(), Say> {
    match before {
        None if next.at > Nanos(0) => {
            Err(say!("the first step of a schedule is at `0s`", "первый шаг расписания — в `0s`"))
        }
        None if next.shape == Shape::Ramp => Err(say!(
            "the first step has no rate before it to ramp from",
            "у первого шага нет прежней частоты, от которой идти"
        )),
        Some(before) if before.at >= next.at => {
            Err(say!("a step must be later than the one before it", "шаг должен быть позже предыдущего"))
        }
        Some(Step { shape: Shape::Sine { .. } | Shape::Burst { .. }, .. }) if next.shape == Shape::Ramp => Err(say!(
            "a ramp cannot begin inside a sine or bursts: put a step with `shape: jump` before it",
            "нарастание не может начаться внутри синуса или всплесков: поставьте перед ним шаг с `shape: jump`"
        )),
        _ => Ok(()),
    }
}

fn step(node: &Node) -> Result<Step> {
    let mut map = Map::of(node, &keys::rate::STEP)?;
    let at = map.required("at", |node| within(node, keys::rate::STEP_AT))?;
    let rate = map.required("rate", |node| frequency(node, keys::rate::RATE_OR_PAUSE))?;
    let shape = map.optional("shape", |node| shape(node, rate))?.unwrap_or(Shape::Jump);
    map.finish()?;
    Ok(Step { at, rate, shape })
}

fn shape(node: &Node, around: MilliIops) -> Result<Shape> {
    if !matches!(node.value, Value::Map(_)) {
        return word(node, keys::rate::SHAPES);
    }
    let mut map = Map::of(node, &keys::rate::SHAPE)?;
    let (sine, burst) = (map.optional("sine", |n| sine(n, around))?, map.optional("burst", burst)?);
    map.finish()?;
    match (sine, burst) {
        (Some(shape), None) | (None, Some(shape)) => Ok(shape),
        _ => Err(node.error(say!(
            "`shape` is `jump`, `ramp`, `{{sine: …}}` or `{{burst: …}}`",
            "`shape` — это `jump`, `ramp`, `{{sine: …}}` или `{{burst: …}}`"
        ))),
    }
}

fn sine(node: &Node, around: MilliIops) -> Result<Shape> {
    let mut map = Map::of(node, &keys::rate::SINE)?;
    let amplitude = map.required("amplitude", |node| frequency(node, keys::rate::RATE))?;
    let period = map.required("period", |node| within(node, keys::rate::PERIOD))?;
    map.finish()?;
    if amplitude > around {
        return Err(node.error(say!("a sine must not swing below 0/s", "синус не должен опускаться ниже 0/s")));
    }
    Ok(Shape::Sine { amplitude, period })
}

fn burst(node: &Node) -> Result<Shape> {
    let mut map = Map::of(node, &keys::rate::BURST)?;
    let rate = map.required("rate", |node| frequency(node, keys::rate::RATE))?;
    let every = map.required("every", |node| within(node, keys::rate::PERIOD))?;
    let lasting = map.required("lasting", |node| within(node, keys::rate::PERIOD))?;
    map.finish()?;
    if lasting >= every {
        return Err(node
            .error(say!("a burst must end before the next begins", "всплеск должен кончиться до начала следующего")));
    }
    Ok(Shape::Burst { rate, every, lasting })
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use expect_test::{Expect, expect};
    use stend_base::Lang;

    fn text(rate: &str, settings: &str) -> String {
        let stream = format!("{{op: read, pattern: random, block_size: 4KiB, rate: {rate}}}");
        format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n{settings}")
    }

    fn check_error(rate: &str, expected: Expect) {
        expected.assert_eq(&suite(&text(rate, ""), "s.yaml").unwrap_err().render(Lang::En));
    }

    /// By default a trial takes 1 s of ramp and 3 s of window.
    #[test]
    fn a_step_that_never_comes_is_refused_at_its_place() {
        let steps =
            |at: &str, more: &str| format!("{{schedule: [{{at: 0s, rate: 5/s}}, {{at: {at}, rate: 6/s{more}}}]}}");
        check_error(
            &steps("4s", ""),
            expect![[r#"
            error: s.yaml:5:94: this step never comes: a trial of the case ends 4 s after its start, `ramp` included
            hint: the last step is at 4 s: give the case a longer `trial`"#]],
        );
        check_error(
            &format!("[5/s, {}]", steps("20s", ", shape: ramp")),
            expect![[r#"
            error: s.yaml:5:100: this step never comes: a trial of the case ends 4 s after its start, `ramp` included
            hint: the last step is at 20 s: give the case a longer `trial`"#]],
        );
        for (fits, settings) in [
            (steps("3999ms", ""), ""),
            (steps("4s", ", shape: ramp"), ""),
            (steps("4s", ""), "    trial: 4s\n"),
            (steps("4s", ""), "    ramp: 2s\n"),
            (steps("4s", ""), "defaults: {trial: 10s}\n"),
        ] {
            suite(&text(&fits, settings), "s.yaml").unwrap();
        }
        // What a case has of its own wins, also if it is shorter.
        let shorter = text(&steps("3s", ""), "    trial: 1s\ndefaults: {trial: 10s}\n");
        expect![[r#"
            ошибка: s.yaml:5:94: до этого шага дело не дойдёт: испытание этого случая кончается через 2 с после начала, вместе с `ramp`
            совет: последний шаг — через 3 с после начала: задайте случаю более длинное `trial`"#]].assert_eq(&suite(&shorter, "s.yaml").unwrap_err().render(Lang::Ru));
    }

    #[test]
    fn schedules_without_meaning_are_refused() {
        check_error(
            "{schedule: []}",
            expect![[r#"
            error: s.yaml:5:72: a schedule has 1 to 1000 steps
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 1s, rate: 5/s}]}",
            expect![[r#"
                error: s.yaml:5:73: the first step of a schedule is at `0s`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: ramp}]}",
            expect![[r#"
                error: s.yaml:5:73: the first step has no rate before it to ramp from
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s}, {at: 0s, rate: 6/s}]}",
            expect![[r#"
                error: s.yaml:5:94: a step must be later than the one before it
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 0/s}]}",
            expect![[r#"
                error: s.yaml:5:72: a schedule with no rate above 0/s has no I/O
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: {sine: {amplitude: 6/s, period: 1s}}}]}",
            expect![[r#"
                error: s.yaml:5:107: a sine must not swing below 0/s
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: {burst: {rate: 6/s, every: 1s, lasting: 1s}}}]}",
            expect![[r#"
                error: s.yaml:5:108: a burst must end before the next begins
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: {sine: {amplitude: 5/s, period: 1s}}}, {at: 3s, rate: 1/s, shape: ramp}]}",
            expect![[r#"
                error: s.yaml:5:139: a ramp cannot begin inside a sine or bursts: put a step with `shape: jump` before it
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
    }
}
