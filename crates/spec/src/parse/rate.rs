//! The `rate` of a stream: a frequency, a Poisson process, a schedule, or a search.

use super::frequency::{frequency, within};
use super::schedule::schedule;
use super::{Map, axis, list, share, word};
use crate::keys::{self};
use crate::rate::{Gaps, Rate};
use crate::search::Search;
use crate::suite::{StreamSpec, SuiteCase};
use crate::yaml::{Node, Value};
use stend_base::{Millionths, Result, say};

/// Arrivals of a stream, empty for a closed loop; or that its rate is searched.
pub(super) fn rates(node: &Node) -> Result<(Vec<Rate>, Option<Search>)> {
    match &node.value {
        Value::Text(word) if word == "none" => Ok((Vec::new(), None)),
        Value::Map(pairs) if pairs.iter().any(|(key, _)| key.name == "search") => {
            if pairs.len() > 1 {
                return Err(no_rate(node));
            }
            Ok((Vec::new(), Some(search(&pairs[0].1)?)))
        }
        _ => Ok((axis(node, rate)?, None)),
    }
}

fn search(node: &Node) -> Result<Search> {
    let mut map = Map::of(node, &keys::rate::SEARCH)?;
    let from = map.required("from", |node| frequency(node, keys::rate::RATE))?;
    let to = map.required("to", |node| {
        let to = frequency(node, keys::rate::RATE)?;
        match to > from {
            true => Ok(to),
            false => Err(node.error(say!("`to` must be above `from`", "`to` должно быть больше `from`"))),
        }
    })?;
    let found = Search {
        from,
        to,
        gaps: map.optional("gaps", |n| word(n, keys::rate::GAPS))?.unwrap_or(Gaps::Poisson),
        quantile: map.required("quantile", |n| share(n, keys::rate::QUANTILE))?,
        limit: map.required("limit", |n| within(n, keys::rate::LIMIT))?,
        precision: map
            .optional("precision", |n| share(n, keys::rate::PRECISION))?
            .unwrap_or(keys::rate::PRECISION_DEFAULT),
        curve: map.optional("curve", curve)?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(found)
}

fn curve(node: &Node) -> Result<Vec<Millionths>> {
    let parts = list(node)?;
    if !keys::rate::CURVE_PARTS.hold(&parts.len()) {
        return Err(node.error(say!("a curve has 1 to 100 points", "в кривой от 1 до 100 точек")));
    }
    parts.iter().map(|part| share(part, keys::rate::CURVE_PART)).collect()
}

fn rate(node: &Node) -> Result<Rate> {
    let Value::Map(pairs) = &node.value else {
        return Ok(Rate::constant(frequency(node, keys::rate::RATE)?, Gaps::Even));
    };
    // As the whole of `rate` it never gets here.
    if pairs.iter().any(|(key, _)| key.name == "search") {
        let message = say!(
            "a search is no value of an axis: the rates that it tries make the cells",
            "поиск не может быть значением оси: ячейки получаются из частот, которые он пробует"
        );
        return Err(node.error(message).hint(say!(
            "write `rate: {{search: {{…}}}}`, and other rates in a case of their own",
            "напишите `rate: {{search: {{…}}}}`, а прочие частоты — в отдельном случае"
        )));
    }
    let mut map = Map::of(node, &keys::rate::RATE_MAP)?;
    let poisson = map.optional("poisson", |node| frequency(node, keys::rate::RATE))?;
    let steps = map.optional("schedule", schedule)?;
    let gaps = map.optional("gaps", |node| word(node, keys::rate::GAPS))?;
    map.finish()?;
    match (poisson, steps, gaps) {
        (Some(rate), None, None) => Ok(Rate::constant(rate, Gaps::Poisson)),
        (None, Some(steps), gaps) => Ok(Rate { gaps: gaps.unwrap_or(Gaps::Even), steps }),
        _ => Err(no_rate(node)),
    }
}

/// Two rates searched at once would have no answer.
pub(super) fn one_search(case: &Node, streams: &[StreamSpec]) -> Result<()> {
    match streams.iter().filter(|stream| stream.search.is_some()).count() {
        0 | 1 => Ok(()),
        _ => Err(case.error(say!(
            "only one stream of a case may search its rate",
            "искать частоту может только один поток случая"
        ))),
    }
}

/// A search goes its own way in every arm, so that blocks of arms have nothing in common.
pub(super) fn no_search(suite: &Node, cases: &[SuiteCase]) -> Result<()> {
    if cases.iter().flat_map(|case| &case.streams).all(|stream| stream.search.is_none()) {
        return Ok(());
    }
    let message = say!("a rate cannot be searched in a suite with `arms`", "в наборе с `arms` частоту искать нельзя");
    Err(suite.error(message).hint(say!(
        "make a run of its own for each arm and compare them",
        "сделайте по прогону на каждый вариант и сравните их"
    )))
}

fn no_rate(node: &Node) -> Box<stend_base::Error> {
    node.error(say!(
        "`rate` is a frequency such as `5000/s`, `{{poisson: 5000/s}}`, `{{schedule: […], gaps: poisson}}` or `{{search: {{…}}}}`",
        "`rate` — это частота, например `5000/s`, либо `{{poisson: 5000/s}}`, `{{schedule: […], gaps: poisson}}` или `{{search: {{…}}}}`"
    ))
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
        let steps = "{gaps: poisson, schedule: [{at: 0s, rate: 1000/s}, {at: 10s, rate: 5000/s, shape: ramp}, \
                        {at: 20s, rate: 3000/s, shape: {sine: {amplitude: 3000/s, period: 10s}}}, \
                        {at: 60s, rate: 0/s, shape: {burst: {rate: 9000/s, every: 5s, lasting: 500ms}}}]}";
        let found = &suite(&text(steps).replace("- name: a", "- name: a\n    trial: 2min"), "x").unwrap().cases[0]
            .streams[0]
            .rate[0];
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
            expect![[r#"
                error: s.yaml:5:88: `to` must be above `from`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{search: {from: 100/s, to: 200/s, quantile: 99%}}",
            expect![[r#"
                error: s.yaml:5:70: search: the key `limit` is missing
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        let curve =
            |curve: &str| format!("{{search: {{from: 100/s, to: 200/s, quantile: 99%, limit: 5ms, curve: {curve}}}}}");
        check_error(
            &curve("50%"),
            expect![[r#"
            error: s.yaml:5:129: expected a list, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            &curve("[]"),
            expect![[r#"
            error: s.yaml:5:129: a curve has 1 to 100 points
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            &curve(&format!("[{}]", ["1%"; 101].join(", "))),
            expect![[r#"
                error: s.yaml:5:129: a curve has 1 to 100 points
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        assert!(suite(&text(&curve("[100%]")), "x").is_ok());
        check_error(
            "[100/s, {search: {from: 100/s, to: 200/s, quantile: 99%, limit: 5ms}}]",
            expect![[r#"
                error: s.yaml:5:69: a search is no value of an axis: the rates that it tries make the cells
                hint: write `rate: {search: {…}}`, and other rates in a case of their own"#]],
        );
        check_error(
            "{poisson: 5/s, search: {from: 100/s, to: 200/s, quantile: 99%, limit: 5ms}}",
            expect![[r#"
                error: s.yaml:5:61: `rate` is a frequency such as `5000/s`, `{poisson: 5000/s}`, `{schedule: […], gaps: poisson}` or `{search: {…}}`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        let one = "{op: read, pattern: random, block_size: 4KiB, rate: {search: {from: 1/s, to: 2/s, quantile: 99%, limit: 5ms}}}";
        let both = format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {one}\n      - {one}\n");
        expect![[r#"
            error: s.yaml:3:5: only one stream of a case may search its rate
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
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
            expect![[r#"
                error: s.yaml:5:61: not a rate: `/min` is not a unit of frequency; write I/Os per second, such as `5000/s`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "0/s",
            expect![[r#"
            error: s.yaml:5:61: a rate is 0.001/s to 10 000 000/s
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "true",
            expect![[r#"
            error: s.yaml:5:61: expected a rate such as `5000/s`, found a truth value
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        check_error(
            "{poisson: 5/s, gaps: even}",
            expect![[r#"
                error: s.yaml:5:61: `rate` is a frequency such as `5000/s`, `{poisson: 5000/s}`, `{schedule: […], gaps: poisson}` or `{search: {…}}`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
    }
}
