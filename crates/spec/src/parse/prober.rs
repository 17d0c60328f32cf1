//! `prober`: single I/Os beside the load.

use super::frequency::frequency;
use super::{Map, word};
use crate::keys::prober as keys;
use crate::prober::ProberKey;
use crate::suite::StreamSpec;
use crate::workload::{Backend, Op};
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

pub(super) fn prober(node: &Node) -> Result<ProberKey> {
    if !matches!(node.value, Value::Map(_)) {
        return word(node, keys::WORDS)
            .map_err(|e| e.hint(say!("or ask for a rate: `{{rate: 20/s}}`", "или задайте частоту: `{{rate: 20/s}}`")));
    }
    let mut map = Map::of(node, &keys::PROBER)?;
    let rate = map.required("rate", |node| frequency(node, keys::RATE))?;
    let op = map.optional("op", |node| word(node, keys::OPERATIONS))?.flatten();
    map.finish()?;
    Ok(ProberKey::At { rate, op })
}

/// Refuses a prober that a case names and cannot have. One that `defaults` ask for is left out where it does not fit, and
/// the result says why.
pub(super) fn fits(case: &Node, prober: ProberKey, backend: Backend, streams: &[StreamSpec]) -> Result<()> {
    let ProberKey::At { op, .. } = prober else { return Ok(()) };
    if backend == Backend::Null {
        let message = say!(
            "`prober` contradicts `backend: none`: nothing would answer",
            "`prober` противоречит `backend: none`: отвечать было бы некому"
        );
        return Err(case.error(message).hint(say!("leave out one of the two", "уберите одно из двух")));
    }
    let durable = |stream: &StreamSpec| stream.mix.write > 0 && stream.sync.is_durable();
    if op == Some(Op::Write) && !streams.iter().any(durable) {
        let message = say!(
            "a prober with `op: write` makes durable writes, and no stream of the case does",
            "пробы с `op: write` — записи с подтверждением, а в случае нет потока с такими записями"
        );
        return Err(case.error(message).hint(say!(
            "use `op: read`, or give a stream that writes a `sync` such as `dsync`",
            "укажите `op: read` или задайте пишущему потоку `sync`, например `dsync`"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::prober::ProberKey;
    use crate::workload::Op;
    use expect_test::{Expect, expect};
    use stend_base::{Lang, MilliIops};

    fn text(defaults: &str, case: &str, stream: &str) -> String {
        let stream = format!("{{op: write, pattern: random, block_size: 4KiB{stream}}}");
        format!("suite: x\n{defaults}cases:\n  - name: a\n{case}    streams: [{stream}]\n")
    }

    fn prober(defaults: &str, case: &str) -> ProberKey {
        suite(&text(defaults, case, ", sync: dsync"), "s.yaml").unwrap().cases[0].prober
    }

    fn check_error(case: &str, stream: &str, expected: Expect) {
        let error = suite(&text("", &format!("    {case}\n"), stream), "s.yaml").unwrap_err();
        expected.assert_eq(&format!("{}{}", error.render(Lang::En), error.render(Lang::Ru)));
    }

    #[test]
    fn a_case_has_the_prober_of_the_defaults_or_its_own() {
        let at = |rate, op| ProberKey::At { rate: MilliIops::per_second(rate), op };
        assert_eq!(prober("", ""), ProberKey::Auto);
        assert_eq!(prober("defaults: {prober: off}\n", ""), ProberKey::Off);
        assert_eq!(prober("defaults: {prober: off}\n", "    prober: {rate: 20/s}\n"), at(20, None));
        assert_eq!(prober("", "    prober: {rate: 1000/s, op: write}\n"), at(1000, Some(Op::Write)));
        assert_eq!(prober("defaults: {prober: {rate: 5/s, op: read}}\n", ""), at(5, Some(Op::Read)));
        assert_eq!(prober("defaults: {prober: {rate: 5/s}}\n", "    prober: auto\n"), ProberKey::Auto);
    }

    #[test]
    fn what_is_no_prober_is_refused_with_its_place() {
        check_error(
            "prober: on",
            "",
            expect![[r#"
            error: s.yaml:4:13: `on` is not one of `off`, `auto`
            hint: or ask for a rate: `{rate: 20/s}`ошибка: s.yaml:4:13: `on` — не одно из `off`, `auto`
            совет: или задайте частоту: `{rate: 20/s}`"#]],
        );
        check_error(
            "prober: {rate: 20}",
            "",
            expect![[r#"
            error: s.yaml:4:20: `20` has no unit
            hint: write `20/s`ошибка: s.yaml:4:20: у `20` нет единицы
            совет: напишите `20/s`"#]],
        );
        check_error(
            "prober: {rate: 2000/s}",
            "",
            expect![[r#"
                error: s.yaml:4:20: a rate is 1/s to 1000/s
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy fromошибка: s.yaml:4:20: частота — от 1/с до 1000/с
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`"#]],
        );
        check_error(
            "prober: {op: read}",
            "",
            expect![[r#"
                error: s.yaml:4:13: prober: the key `rate` is missing
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy fromошибка: s.yaml:4:13: prober: нет ключа `rate`
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`"#]],
        );
        check_error(
            "prober: {rate: 20/s, op: trim}",
            "",
            expect![[r#"
                error: s.yaml:4:30: `trim` is not one of `auto`, `read`, `write`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy fromошибка: s.yaml:4:30: `trim` — не одно из `auto`, `read`, `write`
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`"#]],
        );
        check_error(
            "prober: {rate: 20/s, op: write}",
            "",
            expect![[r#"
            error: s.yaml:3:5: a prober with `op: write` makes durable writes, and no stream of the case does
            hint: use `op: read`, or give a stream that writes a `sync` such as `dsync`ошибка: s.yaml:3:5: пробы с `op: write` — записи с подтверждением, а в случае нет потока с такими записями
            совет: укажите `op: read` или задайте пишущему потоку `sync`, например `dsync`"#]],
        );
        check_error(
            "backend: none\n    prober: {rate: 20/s}",
            "",
            expect![[r#"
            error: s.yaml:3:5: `prober` contradicts `backend: none`: nothing would answer
            hint: leave out one of the twoошибка: s.yaml:3:5: `prober` противоречит `backend: none`: отвечать было бы некому
            совет: уберите одно из двух"#]],
        );
    }
}
