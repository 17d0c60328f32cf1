//! `application`: the programs that a case runs, their limits and their objective.

use super::frequency::{frequency, within};
use super::{Map, bytes, share, span, thousandths, whole, word};
use crate::app::{App, AppSpec, Density, Limits, Slo};
use crate::keys::app as keys;
use crate::keys::rate::{LIMIT, RATE};
use crate::suite::SuiteCase;
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Millionths, Nanos, Result, Say, say};

/// Keys of a case that are about I/O that Stend makes.
const OF_STREAMS: [&str; 10] =
    ["streams", "direct", "pages", "backend", "engine", "io_log", "prober", "steady", "events", "load_hosts"];
/// Keys of a suite that an application has no use for.
const OF_SUITE: [&str; 8] = ["fill", "precondition", "files", "calibrate", "ceilings", "confirm", "arms", "repeats"];

/// The application of a case.
pub(super) fn application(node: &Node) -> Result<AppSpec> {
    let mut map = Map::of(node, &keys::APPLICATION)?;
    let program = map.required("run", |node| word(node, keys::PROGRAMS))?;
    let density = map.required("instances", density)?;
    let rate = map.optional("rate", |node| match &node.value {
        Value::Text(word) if word == "none" => Ok(None),
        _ if program.has_rate() => {
            let rate = frequency(node, RATE)?;
            if rate.0.is_multiple_of(1000) {
                return Ok(Some(rate));
            }
            Err(node.error(say!("sysbench takes whole numbers per second", "sysbench принимает целое число в секунду")))
        }
        _ => Err(node.error(say!("wrk has no rate", "у wrk нет частоты"))),
    })?;
    let app = App {
        program,
        instances: density.from,
        data: map.required("data", |node| size(node, keys::DATA))?,
        clients: map.optional("clients", |node| whole(node, keys::CLIENTS))?.unwrap_or(8),
        rate: rate.flatten(),
        limits: map.optional("limits", limits)?.flatten(),
        slo: map.required("slo", |node| {
            let slo = slo(node)?;
            if program.prints(slo.quantile) {
                return Ok(slo);
            }
            Err(node.error(say!(
                "the client prints no such percentile; sysbench prints whole per cent, wrk 50, 75, 90 and 99",
                "клиент не печатает такой процентиль; sysbench печатает целые проценты, wrk — 50, 75, 90 и 99"
            )))
        })?,
    };
    map.finish()?;
    Ok(AppSpec { app, density })
}

fn density(node: &Node) -> Result<Density> {
    let mut map = Map::of(node, &keys::COUNT)?;
    let from = map.optional("from", |node| whole(node, keys::INSTANCES))?.unwrap_or(1);
    let to = map.required("to", |node| whole(node, keys::INSTANCES))?;
    map.finish()?;
    if to < from {
        return Err(node.error(say!("`to` must not be below `from`", "`to` не может быть меньше `from`")));
    }
    Ok(Density { from, to })
}

fn limits(node: &Node) -> Result<Option<Limits>> {
    if matches!(&node.value, Value::Text(word) if word == "none") {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::LIMITS)?;
    let found = Limits {
        cpu_thousandths: map.required("cpu", |node| thousandths(node, keys::CPU))?,
        memory: map.required("memory", |node| size(node, keys::MEMORY))?,
        iops: map.optional("iops", |node| whole(node, keys::IOPS))?,
    };
    map.finish()?;
    Ok(Some(found))
}

fn slo(node: &Node) -> Result<Slo> {
    let mut map = Map::of(node, &keys::SLO)?;
    let part = |node: &Node| share(node, keys::PART);
    let found = Slo {
        quantile: map.required("quantile", |node| share(node, keys::QUANTILE))?,
        limit: map.required("limit", |node| within(node, LIMIT))?,
        served: map.optional("served", part)?.unwrap_or(Millionths::percent(95)),
        window: map.optional("window", window)?.unwrap_or(Nanos::secs(30)),
        windows: map.optional("windows", part)?.unwrap_or(Millionths::percent(95)),
    };
    map.finish()?;
    Ok(found)
}

fn window(node: &Node) -> Result<Nanos> {
    let length = span(node)?;
    if keys::SLO_WINDOW.hold(&length) && length.0.is_multiple_of(Nanos::SECOND.0) {
        return Ok(length);
    }
    Err(node
        .error(say!("a window lasts 1 s to 1 h, in whole seconds", "окно длится от 1 с до 1 ч, целое число секунд")))
}

fn size(node: &Node, limits: crate::keys::Limits<Bytes>) -> Result<Bytes> {
    let size = bytes(node)?;
    if limits.hold(&size) {
        return Ok(size);
    }
    let [least, most] = [limits.least, limits.most].map(|size| size.0 >> 20);
    Err(node.error(say!("this is outside {least} MiB to {most} MiB", "вне пределов от {least} до {most} МиБ")))
}

/// Refuses keys of a case that mean nothing beside an application, and lengths that its windows do not fill.
pub(super) fn fits(case: &Node, spec: &AppSpec, ramp: Nanos, trial: Nanos) -> Result<()> {
    if let Some(key) = first_of(case, &OF_STREAMS) {
        return Err(of_streams(case, key));
    }
    let window = spec.app.slo.window.0;
    if trial.0.is_multiple_of(window) && ramp.0.is_multiple_of(window) {
        return Ok(());
    }
    let seconds = window / Nanos::SECOND.0;
    Err(case
        .error(say!(
            "`ramp` and `trial` must be multiples of the `window` of {seconds} s",
            "`ramp` и `trial` должны быть кратны `window` ({seconds} с)"
        ))
        .hint(say!("change them, or `window` in `slo`", "измените их или `window` в `slo`")))
}

/// Refuses what a suite of applications cannot have: other cases, and preparation that it has no use for.
pub(super) fn alone(root: &Node, cases: &[SuiteCase]) -> Result<()> {
    if cases.iter().all(|case| case.app.is_none()) {
        return Ok(());
    }
    let refused = |Say { en, ru }: Say| Err(root.error(Say { en, ru }));
    if cases.iter().any(|case| case.app.is_none()) {
        return refused(say!(
            "cases with `application` and cases with `streams` need suites of their own",
            "случаям с `application` и случаям со `streams` нужны отдельные наборы"
        ));
    }
    if let Value::Map(pairs) = &root.value
        && let Some((_, defaults)) = pairs.iter().find(|(key, _)| key.name == "defaults")
        && let Some(key) = first_of(defaults, &OF_STREAMS)
    {
        return Err(of_streams(defaults, key));
    }
    match first_of(root, &OF_SUITE) {
        None => Ok(()),
        Some(key) => refused(say!(
            "`{key}` contradicts `application`: instances make their own data, and the search says how often each number is tried",
            "`{key}` противоречит `application`: экземпляры сами создают свои данные, а число повторов задаёт поиск"
        )),
    }
}

fn of_streams(node: &Node, key: &str) -> Box<stend_base::Error> {
    node.error(say!(
        "`{key}` contradicts `application`: Stend makes no I/O of its own then",
        "`{key}` противоречит `application`: сам Stend тогда не создаёт ввода-вывода"
    ))
}

fn first_of<'k>(node: &Node, keys: &[&'k str]) -> Option<&'k str> {
    let Value::Map(pairs) = &node.value else { return None };
    keys.iter().copied().find(|key| pairs.iter().any(|(own, _)| own.name == *key))
}

#[cfg(test)]
mod tests {
    use crate::app::{Limits, Program};
    use crate::parse::suite;
    use expect_test::expect;
    use stend_base::{Bytes, Lang, MilliIops, Millionths, Nanos, Result};

    const APP: &str = "{run: sysbench-postgresql, instances: {to: 64}, data: 100MiB, rate: 20/s, limits: {cpu: 0.5, memory: 256MiB, iops: 500}, slo: {quantile: 99%, limit: 100ms}}";

    fn parse(head: &str, case: &str, app: &str) -> Result<crate::suite::Suite> {
        suite(
            &format!("suite: x\n{head}cases:\n  - {{name: a, ramp: 30s, trial: 1min{case}, application: {app}}}\n"),
            "s.yaml",
        )
    }

    #[test]
    fn an_application_has_its_defaults_and_says_what_must_hold() {
        let spec = parse("", "", APP).unwrap().cases[0].app.unwrap();
        assert_eq!((spec.density.from, spec.density.to, spec.app.clients), (1, 64, 8));
        assert_eq!((spec.app.program, spec.app.rate), (Program::SysbenchPostgresql, Some(MilliIops::per_second(20))));
        assert_eq!(spec.app.limits, Some(Limits { cpu_thousandths: 500, memory: Bytes::mib(256), iops: Some(500) }));
        let slo = spec.app.slo;
        assert_eq!(
            (slo.served, slo.windows, slo.window),
            (Millionths::percent(95), Millionths::percent(95), Nanos::secs(30))
        );
    }

    #[test]
    fn no_key_of_a_case_is_unknown_beside_an_application() {
        for key in crate::keys::CASE.keys.iter().map(|key| key.name).filter(|key| *key != "application") {
            if ["name", "ramp", "trial"].contains(&key) {
                continue;
            }
            let error = parse("", &format!(", {key}: [1]"), APP).unwrap_err().message.en;
            assert!(!error.contains("unknown"), "{error}");
        }
    }

    #[test]
    fn defaults_that_an_application_ignores_are_refused() {
        let of = |defaults: &str| parse(&format!("defaults: {{{defaults}}}\n"), "", APP);
        for (key, value) in [("prober", "off"), ("direct", "false"), ("engine", "fio"), ("io_log", "{size: 1GiB}")] {
            let error = of(&format!("{key}: {value}")).unwrap_err().message.en;
            assert!(error.contains(&format!("`{key}` contradicts `application`")), "{error}");
        }
        of("ramp: 30s, trial: 1min").unwrap();
    }

    #[test]
    fn what_contradicts_an_application_is_refused() {
        let streams = ", streams: [{op: read, pattern: random, block_size: 4KiB}]";
        let other = |from: &str, to: &str| APP.replace(from, to);
        let all = [
            parse("", streams, APP),
            parse("", ", engine: fio", APP),
            parse("fill: {size: auto}\n", "", APP),
            parse("repeats: {blocks: 2}\n", "", APP),
            parse("", "", &other("100ms", "100ms, window: 45s")),
            parse("", "", &other("99%", "99.9%")),
            parse("", "", &other("sysbench-postgresql", "nginx-wrk")),
            parse("", "", &other("{to: 64}", "{from: 9, to: 8}")),
            parse("", "", &other("256MiB", "1MiB")),
            parse("", "", &other("100ms", "100ms, window: 1500ms")),
        ];
        let told = all.map(|result| result.map_or_else(|error| error.render(Lang::En), |_| "taken".into()));
        expect![[r#"
            error: s.yaml:3:5: `streams` contradicts `application`: Stend makes no I/O of its own then
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:5: `engine` contradicts `application`: Stend makes no I/O of its own then
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:1:1: `fill` contradicts `application`: instances make their own data, and the search says how often each number is tried
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:1:1: `repeats` contradicts `application`: instances make their own data, and the search says how often each number is tried
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:5: `ramp` and `trial` must be multiples of the `window` of 45 s
            hint: change them, or `window` in `slo`
            error: s.yaml:3:189: 99.9% is outside 50% to 99%
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:110: wrk has no rate
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:90: `to` must not be below `from`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:153: this is outside 16 MiB to 1048576 MiB
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: s.yaml:3:216: a window lasts 1 s to 1 h, in whole seconds
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]].assert_eq(&told.join("\n"));
        let mixed = format!(
            "suite: x\ncases:\n  - {{name: a, ramp: 30s, trial: 1min, application: {APP}}}\n  - {{name: b{streams}}}\n"
        );
        assert!(suite(&mixed, "s.yaml").unwrap_err().message.en.contains("suites of their own"));
    }
}
