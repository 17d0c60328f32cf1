//! `steady`: rounds until the rate of a case is steady.

use super::{Map, span, whole};
use crate::keys::steady as keys;
use crate::steady::Steady;
use crate::suite::{StreamSpec, SuiteCase};
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// The rounds, or none.
pub(super) fn steady(node: &Node) -> Result<Option<Steady>> {
    if let Value::Text(word) = &node.value
        && word == "none"
    {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::STEADY)?;
    let found = Steady {
        rounds: map.optional("rounds", |n| whole(n, keys::ROUNDS))?.unwrap_or(keys::ROUNDS_DEFAULT),
        round: map.optional("round", round)?.unwrap_or(keys::ROUND_DEFAULT),
    };
    map.finish()?;
    Ok(Some(found))
}

fn round(node: &Node) -> Result<stend_base::Nanos> {
    let span = span(node)?;
    if !keys::ROUND.hold(&span) {
        return Err(
            node.error(say!("a round lasts at least 200 ms and at most 7 days", "раунд длится от 200 мс до 7 дней"))
        );
    }
    Ok(span)
}

/// Refuses rounds of a load whose rate is given, so that it says nothing about the storage.
pub(super) fn fits(case: &Node, streams: &[StreamSpec]) -> Result<()> {
    let open = streams.iter().any(|s| !s.rate.is_empty() || s.search.is_some());
    let traced = streams.iter().any(|s| s.trace.is_some());
    let (message, why) = match (open, traced) {
        (true, _) => (
            say!("`steady` cannot be used with `rate`", "`steady` нельзя использовать с `rate`"),
            say!("its rate is given, and so always steady", "скорость задана и потому всегда постоянна"),
        ),
        (_, true) => (
            say!("`steady` cannot be used with `trace`", "`steady` нельзя использовать с `trace`"),
            say!(
                "its I/Os change with the trace, not with the storage",
                "операции меняются с трассой, а не с хранилищем"
            ),
        ),
        (false, false) => return Ok(()),
    };
    let (en, ru) = (why.en, why.ru);
    Err(case.error(message).hint(say!(
        "{en}; give the case `steady: none` and let a closed loop of similar I/Os go first",
        "{ru}; укажите для случая `steady: none` и пустите перед ним замкнутый цикл похожих операций"
    )))
}

/// Arms are compared block by block, which rounds before each would take apart.
pub(super) fn not_with_arms(suite: &Node, cases: &[SuiteCase]) -> Result<()> {
    if cases.iter().all(|case| case.steady.is_none()) {
        return Ok(());
    }
    let message =
        say!("`steady` cannot be used in a suite with `arms`", "`steady` нельзя использовать в наборе с `arms`");
    Err(suite.error(message).hint(say!(
        "arms alternate, and every switch would take a load out of its steady state; compare two runs with `stend compare`",
        "варианты чередуются, и каждое переключение выводило бы нагрузку из установившегося режима; сравните два прогона командой `stend compare`"
    )))
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::steady::Steady;
    use expect_test::{Expect, expect};
    use stend_base::{Lang, Nanos};

    const STREAM: &str = "{op: write, pattern: random, block_size: 4KiB}";

    fn text(steady: &str, more: &str, stream: &str) -> String {
        format!("suite: x\ndefaults: {{steady: {steady}}}\n{more}cases:\n  - {{name: a, streams: [{stream}]}}\n")
    }

    fn steady(words: &str) -> Option<Steady> {
        suite(&text(words, "", STREAM), "s.yaml").unwrap().cases[0].steady
    }

    fn check_error(steady: &str, more: &str, stream: &str, expected: Expect) {
        let error = suite(&text(steady, more, stream), "s.yaml").unwrap_err();
        expected.assert_eq(&format!("{}\n{}\n", error.render(Lang::En), error.render(Lang::Ru)));
    }

    #[test]
    fn the_defaults_are_those_of_the_standard_and_a_case_wins() {
        assert_eq!(steady("{}"), Some(Steady { rounds: 25, round: Nanos::secs(60) }));
        assert_eq!(steady("{rounds: 5, round: 300ms}"), Some(Steady { rounds: 5, round: Nanos::millis(300) }));
        assert_eq!(steady("none"), None);
        let cases = format!("  - {{name: b, steady: none, streams: [{STREAM}]}}\n");
        let two = text("{}", "", STREAM) + &cases;
        assert_eq!(suite(&two, "s.yaml").unwrap().cases[1].steady, None);
    }

    #[test]
    fn what_cannot_be_steady_or_never_told_is_refused() {
        check_error(
            "{rounds: 4}",
            "",
            STREAM,
            expect![[r#"
                error: s.yaml:2:29: 4 is outside 5 to 1000
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:2:29: 4 вне пределов от 5 до 1000
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "{round: 100ms}",
            "",
            STREAM,
            expect![[r#"
                error: s.yaml:2:28: a round lasts at least 200 ms and at most 7 days
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:2:28: раунд длится от 200 мс до 7 дней
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "{window: 5}",
            "",
            STREAM,
            expect![[r#"
            error: s.yaml:2:21: steady: unknown key `window`
            hint: known keys: `rounds`, `round`
            ошибка: s.yaml:2:21: steady: неизвестный ключ `window`
            совет: известные ключи: `rounds`, `round`
        "#]],
        );
        check_error(
            "yes",
            "",
            STREAM,
            expect![[r#"
                error: s.yaml:2:20: steady: keys are expected, such as `rounds: …`, found text
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:2:20: steady: нужны ключи, например `rounds: …`, найдено: текст
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "{}",
            "",
            "{op: read, pattern: random, block_size: 4KiB, rate: 100/s}",
            expect![[r#"
                error: s.yaml:4:5: `steady` cannot be used with `rate`
                hint: its rate is given, and so always steady; give the case `steady: none` and let a closed loop of similar I/Os go first
                ошибка: s.yaml:4:5: `steady` нельзя использовать с `rate`
                совет: скорость задана и потому всегда постоянна; укажите для случая `steady: none` и пустите перед ним замкнутый цикл похожих операций
            "#]],
        );
        check_error(
            "{}",
            "",
            "{trace: {file: a.log}}",
            expect![[r#"
                error: s.yaml:4:5: `steady` cannot be used with `trace`
                hint: its I/Os change with the trace, not with the storage; give the case `steady: none` and let a closed loop of similar I/Os go first
                ошибка: s.yaml:4:5: `steady` нельзя использовать с `trace`
                совет: операции меняются с трассой, а не с хранилищем; укажите для случая `steady: none` и пустите перед ним замкнутый цикл похожих операций
            "#]],
        );
        check_error(
            "{}",
            "arms: [{name: a}, {name: b}]\n",
            STREAM,
            expect![[r#"
            error: s.yaml:1:1: `steady` cannot be used in a suite with `arms`
            hint: arms alternate, and every switch would take a load out of its steady state; compare two runs with `stend compare`
            ошибка: s.yaml:1:1: `steady` нельзя использовать в наборе с `arms`
            совет: варианты чередуются, и каждое переключение выводило бы нагрузку из установившегося режима; сравните два прогона командой `stend compare`
        "#]],
        );
    }
}
