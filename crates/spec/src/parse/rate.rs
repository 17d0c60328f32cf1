//! The `rate` of a stream: a frequency, a Poisson process, or a schedule.

use super::{Map, axis, expected, list, share, span, text, word};
use crate::keys::{self, Limits};
use crate::rate::{Gaps, Rate, Shape, Step};
use crate::search::Search;
use crate::suite::{StreamSpec, SuiteCase};
use crate::yaml::{Node, Value};
use stend_base::units::parse_rate;
use stend_base::{Lang, MilliIops, Nanos, Result, Say, format, say};

/// Arrivals of a stream, empty for a closed loop; or that its rate is searched.
pub(super) fn rates(node: &Node, file: &str) -> Result<(Vec<Rate>, Option<Search>)> {
    match &node.value {
        Value::Text(word) if word == "none" => Ok((Vec::new(), None)),
        Value::Map(pairs) if pairs.iter().any(|(key, _)| key.name == "search") => {
            if pairs.len() > 1 {
                return Err(no_rate(node, file));
            }
            Ok((Vec::new(), Some(search(&pairs[0].1, file)?)))
        }
        _ => Ok((axis(node, file, rate)?, None)),
    }
}

fn search(node: &Node, file: &str) -> Result<Search> {
    let mut map = Map::of(node, file, &keys::rate::SEARCH)?;
    let from = map.required("from", |node, file| frequency(node, file, keys::rate::RATE))?;
    let to = map.required("to", |node, file| {
        let to = frequency(node, file, keys::rate::RATE)?;
        match to > from {
            true => Ok(to),
            false => Err(node.error(file, say!("`to` must be above `from`", "`to` должно быть больше `from`"))),
        }
    })?;
    let found = Search {
        from,
        to,
        gaps: map.optional("gaps", |n, f| word(n, f, keys::rate::GAPS))?.unwrap_or(Gaps::Poisson),
        quantile: map.required("quantile", |n, f| share(n, f, keys::rate::QUANTILE))?,
        limit: map.required("limit", |n, f| within(n, f, keys::rate::LIMIT))?,
        precision: map
            .optional("precision", |n, f| share(n, f, keys::rate::PRECISION))?
            .unwrap_or(keys::rate::PRECISION_DEFAULT),
        curve: map
            .optional("curve", |n, f| axis(n, f, |n, f| share(n, f, keys::rate::CURVE_PART)))?
            .unwrap_or_default(),
    };
    map.finish()?;
    if !keys::rate::CURVE_PARTS.hold(&found.curve.len()) {
        return Err(node.error(file, say!("a curve has at most 100 points", "в кривой не более 100 точек")));
    }
    Ok(found)
}

fn rate(node: &Node, file: &str) -> Result<Rate> {
    if !matches!(node.value, Value::Map(_)) {
        return Ok(Rate::constant(frequency(node, file, keys::rate::RATE)?, Gaps::Even));
    }
    let mut map = Map::of(node, file, &keys::rate::RATE_MAP)?;
    let poisson = map.optional("poisson", |node, file| frequency(node, file, keys::rate::RATE))?;
    let steps = map.optional("schedule", schedule)?;
    let gaps = map.optional("gaps", |node, file| word(node, file, keys::rate::GAPS))?;
    map.finish()?;
    match (poisson, steps, gaps) {
        (Some(rate), None, None) => Ok(Rate::constant(rate, Gaps::Poisson)),
        (None, Some(steps), gaps) => Ok(Rate { gaps: gaps.unwrap_or(Gaps::Even), steps }),
        _ => Err(no_rate(node, file)),
    }
}

/// Two rates searched at once would have no answer.
pub(super) fn one_search(case: &Node, file: &str, streams: &[StreamSpec]) -> Result<()> {
    match streams.iter().filter(|stream| stream.search.is_some()).count() {
        0 | 1 => Ok(()),
        _ => Err(case.error(
            file,
            say!("only one stream of a case may search its rate", "искать частоту может только один поток случая"),
        )),
    }
}

/// A search goes its own way in every arm, so that blocks of arms have nothing in common.
pub(super) fn no_search(suite: &Node, file: &str, cases: &[SuiteCase]) -> Result<()> {
    if cases.iter().flat_map(|case| &case.streams).all(|stream| stream.search.is_none()) {
        return Ok(());
    }
    let message = say!("a rate cannot be searched in a suite with `arms`", "в наборе с `arms` частоту искать нельзя");
    Err(suite.error(file, message).hint(say!(
        "make a run of its own for each arm and compare them",
        "сделайте по прогону на каждый вариант и сравните их"
    )))
}

fn no_rate(node: &Node, file: &str) -> Box<stend_base::Error> {
    node.error(
        file,
        say!(
            "`rate` is a frequency such as `5000/s`, `{{poisson: 5000/s}}`, `{{schedule: […], gaps: poisson}}` or `{{search: {{…}}}}`",
            "`rate` — это частота, например `5000/s`, либо `{{poisson: 5000/s}}`, `{{schedule: […], gaps: poisson}}` или `{{search: {{…}}}}`"
        ),
    )
}

fn schedule(node: &Node, file: &str) -> Result<Vec<Step>> {
    let items = list(node, file)?;
    if !keys::rate::STEPS.hold(&items.len()) {
        return Err(node.error(file, say!("a schedule has 1 to 1000 steps", "в расписании от 1 до 1000 шагов")));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(items.len());
    for item in items {
        let next = step(item, file)?;
        follows(steps.last(), &next).map_err(|why| item.error(file, why))?;
        steps.push(next);
    }
    if steps.iter().all(|step| step.rate.0 == 0 && !matches!(step.shape, Shape::Burst { .. })) {
        return Err(node.error(
            file,
            say!("a schedule with no rate above 0/s has no I/O", "в расписании без частоты выше 0/s нет операций"),
        ));
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

fn step(node: &Node, file: &str) -> Result<Step> {
    let mut map = Map::of(node, file, &keys::rate::STEP)?;
    let at = map.required("at", |node, file| within(node, file, keys::rate::STEP_AT))?;
    let rate = map.required("rate", |node, file| frequency(node, file, keys::rate::RATE_OR_PAUSE))?;
    let shape = map.optional("shape", |node, file| shape(node, file, rate))?.unwrap_or(Shape::Jump);
    map.finish()?;
    Ok(Step { at, rate, shape })
}

fn shape(node: &Node, file: &str, around: MilliIops) -> Result<Shape> {
    if !matches!(node.value, Value::Map(_)) {
        return word(node, file, keys::rate::SHAPES);
    }
    let mut map = Map::of(node, file, &keys::rate::SHAPE)?;
    let (sine, burst) = (map.optional("sine", |n, f| sine(n, f, around))?, map.optional("burst", burst)?);
    map.finish()?;
    match (sine, burst) {
        (Some(shape), None) | (None, Some(shape)) => Ok(shape),
        _ => Err(node.error(
            file,
            say!(
                "`shape` is `jump`, `ramp`, `{{sine: …}}` or `{{burst: …}}`",
                "`shape` — это `jump`, `ramp`, `{{sine: …}}` или `{{burst: …}}`"
            ),
        )),
    }
}

fn sine(node: &Node, file: &str, around: MilliIops) -> Result<Shape> {
    let mut map = Map::of(node, file, &keys::rate::SINE)?;
    let amplitude = map.required("amplitude", |node, file| frequency(node, file, keys::rate::RATE))?;
    let period = map.required("period", |node, file| within(node, file, keys::rate::PERIOD))?;
    map.finish()?;
    if amplitude > around {
        return Err(node.error(file, say!("a sine must not swing below 0/s", "синус не должен опускаться ниже 0/s")));
    }
    Ok(Shape::Sine { amplitude, period })
}

fn burst(node: &Node, file: &str) -> Result<Shape> {
    let mut map = Map::of(node, file, &keys::rate::BURST)?;
    let rate = map.required("rate", |node, file| frequency(node, file, keys::rate::RATE))?;
    let every = map.required("every", |node, file| within(node, file, keys::rate::PERIOD))?;
    let lasting = map.required("lasting", |node, file| within(node, file, keys::rate::PERIOD))?;
    map.finish()?;
    if lasting >= every {
        return Err(node.error(
            file,
            say!("a burst must end before the next begins", "всплеск должен кончиться до начала следующего"),
        ));
    }
    Ok(Shape::Burst { rate, every, lasting })
}

fn frequency(node: &Node, file: &str, limits: Limits<MilliIops>) -> Result<MilliIops> {
    if let Value::Int(number) = node.value {
        return Err(node
            .error(file, say!("`{number}` has no unit", "`{number}` без единицы измерения"))
            .hint(say!("write `{number}/s`", "напишите `{number}/s`")));
    }
    let text = text(node, file)
        .map_err(|_| expected(node, file, say!("a rate such as `5000/s`", "частота, например `5000/s`")))?;
    let rate = parse_rate(&text)
        .map_err(|why| node.error(file, say!("not a rate: {why}", "не частота: `{text}`; пример: `5000/s`")))?;
    if !limits.hold(&rate) {
        let ends = |lang: Lang| (format::rate(limits.least, lang), format::rate(limits.most, lang));
        let ((least, most), (least_ru, most_ru)) = (ends(Lang::En), ends(Lang::Ru));
        return Err(node.error(file, say!("a rate is {least} to {most}", "частота — от {least_ru} до {most_ru}")));
    }
    Ok(rate)
}

fn within(node: &Node, file: &str, limits: Limits<Nanos>) -> Result<Nanos> {
    let found = span(node, file)?;
    if !limits.hold(&found) {
        let ends = |lang: Lang| (format::duration(limits.least, lang), format::duration(limits.most, lang));
        let ((least, most), (least_ru, most_ru)) = (ends(Lang::En), ends(Lang::Ru));
        return Err(node.error(file, say!("it lasts {least} to {most}", "длительность — от {least_ru} до {most_ru}")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::rate::{Gaps, Rate, Shape};
    use expect_test::{Expect, expect};
    use stend_base::Millionths;
    use stend_base::{Lang, MilliIops, Nanos};

    fn text(rate: &str) -> String {
        let stream = format!("{{op: read, pattern: random, block_size: 4KiB, rate: {rate}}}");
        format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n")
    }

    fn rates(rate: &str) -> Vec<Rate> {
        suite(&text(rate), "x").unwrap().cases[0].streams[0].rate.clone()
    }

    fn check_error(rate: &str, expected: Expect) {
        expected.assert_eq(&suite(&text(rate), "s.yaml").unwrap_err().render(Lang::En));
    }

    #[test]
    fn a_rate_is_constant_poisson_or_a_schedule_and_a_list_is_an_axis() {
        assert_eq!(rates("none"), []);
        assert_eq!(rates("0.5/s"), [Rate::constant(MilliIops(500), Gaps::Even)]);
        let both = rates("[1000/s, {poisson: 2000/s}]");
        assert_eq!(both.iter().map(Rate::label).collect::<Vec<_>>(), ["1000/s", "poisson 2000/s"]);
        let schedule = "{gaps: poisson, schedule: [{at: 0s, rate: 1000/s}, {at: 10s, rate: 5000/s, shape: ramp}, \
                        {at: 20s, rate: 3000/s, shape: {sine: {amplitude: 3000/s, period: 10s}}}, \
                        {at: 60s, rate: 0/s, shape: {burst: {rate: 9000/s, every: 5s, lasting: 500ms}}}]}";
        let found = &rates(schedule)[0];
        assert_eq!((found.gaps, found.steps.len(), found.level()), (Gaps::Poisson, 4, None));
        let burst =
            Shape::Burst { rate: MilliIops::per_second(9000), every: Nanos::secs(5), lasting: Nanos::millis(500) };
        assert_eq!((found.steps[1].shape, found.steps[3].shape), (Shape::Ramp, burst));
    }

    #[test]
    fn a_rate_may_be_searched_by_one_stream_of_a_case_and_without_arms() {
        let stream =
            suite(&text("{search: {from: 100/s, to: 20000/s, quantile: 99%, limit: 5ms, curve: [10%, 100%]}}"), "x");
        let stream = &stream.unwrap().cases[0].streams[0];
        let search = stream.search.as_ref().unwrap();
        assert_eq!((search.gaps, search.precision, search.curve.len()), (Gaps::Poisson, Millionths::percent(3), 2));
        assert_eq!((stream.rate.len(), stream.queue_depth[0]), (0, 64));
        assert_eq!(stream.rates().len(), search.rates().len());
        check_error(
            "{search: {from: 100/s, to: 100/s, quantile: 99%, limit: 5ms}}",
            expect!["error: s.yaml:5:88: `to` must be above `from`"],
        );
        check_error(
            "{search: {from: 100/s, to: 200/s, quantile: 99%}}",
            expect!["error: s.yaml:5:70: search: the key `limit` is missing"],
        );
        check_error(
            "{poisson: 5/s, search: {from: 100/s, to: 200/s, quantile: 99%, limit: 5ms}}",
            expect![
                "error: s.yaml:5:61: `rate` is a frequency such as `5000/s`, `{poisson: 5000/s}`, `{schedule: […], gaps: poisson}` or `{search: {…}}`"
            ],
        );
        let one = "{op: read, pattern: random, block_size: 4KiB, rate: {search: {from: 1/s, to: 2/s, quantile: 99%, limit: 5ms}}}";
        let both = format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {one}\n      - {one}\n");
        expect!["error: s.yaml:3:5: only one stream of a case may search its rate"]
            .assert_eq(&suite(&both, "s.yaml").unwrap_err().render(Lang::En));
        let arms = format!(
            "{}arms: [{{name: a}}, {{name: b}}]\n",
            text("{search: {from: 1/s, to: 2/s, quantile: 99%, limit: 5ms}}")
        );
        expect![[r#"
            error: s.yaml:1:1: a rate cannot be searched in a suite with `arms`
            hint: make a run of its own for each arm and compare them"#]]
        .assert_eq(&suite(&arms, "s.yaml").unwrap_err().render(Lang::En));
    }

    #[test]
    fn an_open_loop_has_room_unless_it_names_its_depth() {
        let depth = |rate: &str| suite(&text(rate), "x").unwrap().cases[0].streams[0].queue_depth.clone();
        assert_eq!((depth("none"), depth("5/s"), depth("5/s, queue_depth: 8")), (vec![1], vec![64], vec![8]));
    }

    #[test]
    fn rates_without_meaning_are_refused() {
        check_error(
            "5000",
            expect![[r#"
            error: s.yaml:5:61: `5000` has no unit
            hint: write `5000/s`"#]],
        );
        check_error(
            "5000/min",
            expect![
                "error: s.yaml:5:61: not a rate: `/min` is not a unit of frequency; write I/Os per second, such as `5000/s`"
            ],
        );
        check_error("0/s", expect!["error: s.yaml:5:61: a rate is 0.001/s to 10 000 000/s"]);
        check_error("true", expect!["error: s.yaml:5:61: expected a rate such as `5000/s`, found a truth value"]);
        check_error(
            "{poisson: 5/s, gaps: even}",
            expect![
                "error: s.yaml:5:61: `rate` is a frequency such as `5000/s`, `{poisson: 5000/s}`, `{schedule: […], gaps: poisson}` or `{search: {…}}`"
            ],
        );
    }

    #[test]
    fn schedules_without_meaning_are_refused() {
        check_error("{schedule: []}", expect!["error: s.yaml:5:72: a schedule has 1 to 1000 steps"]);
        check_error(
            "{schedule: [{at: 1s, rate: 5/s}]}",
            expect!["error: s.yaml:5:73: the first step of a schedule is at `0s`"],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: ramp}]}",
            expect!["error: s.yaml:5:73: the first step has no rate before it to ramp from"],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s}, {at: 0s, rate: 6/s}]}",
            expect!["error: s.yaml:5:94: a step must be later than the one before it"],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 0/s}]}",
            expect!["error: s.yaml:5:72: a schedule with no rate above 0/s has no I/O"],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: {sine: {amplitude: 6/s, period: 1s}}}]}",
            expect!["error: s.yaml:5:107: a sine must not swing below 0/s"],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: {burst: {rate: 6/s, every: 1s, lasting: 1s}}}]}",
            expect!["error: s.yaml:5:108: a burst must end before the next begins"],
        );
        check_error(
            "{schedule: [{at: 0s, rate: 5/s, shape: {sine: {amplitude: 5/s, period: 1s}}}, {at: 9s, rate: 1/s, shape: ramp}]}",
            expect![
                "error: s.yaml:5:139: a ramp cannot begin inside a sine or bursts: put a step with `shape: jump` before it"
            ],
        );
    }
}
