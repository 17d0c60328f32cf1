//! `repeats`: how often cases are repeated, and when that is enough.

use super::{Map, share, whole};
use crate::arm::Arm;
use crate::keys::repeats as keys;
use crate::until::{FIRST_LOOK, Until};
use crate::yaml::{Node, Value};
use stend_base::{Millionths, Result, say};

/// Blocks, and the precision at which they are enough.
pub(super) fn repeats(node: &Node) -> Result<(u32, Option<Until>)> {
    let mut map = Map::of(node, &keys::REPEATS)?;
    let blocks = map.required("blocks", |node| whole(node, keys::BLOCKS))?;
    let until = map.optional("until", |node| until(node, blocks))?;
    map.finish()?;
    Ok((blocks, until))
}

fn until(node: &Node, blocks: u32) -> Result<Until> {
    let mut map = Map::of(node, &keys::UNTIL)?;
    let found = Until {
        width: map.optional("width", |n| share(n, keys::WIDTH))?.unwrap_or(keys::WIDTH_DEFAULT),
        p99: map.optional("p99", p99)?.unwrap_or(Some(keys::P99_DEFAULT)),
    };
    map.finish()?;
    if blocks < FIRST_LOOK {
        let message = say!(
            "`until` needs at least {FIRST_LOOK} blocks: before that no precision is looked at",
            "для `until` нужно не менее {FIRST_LOOK} блоков: раньше точность не оценивается"
        );
        return Err(node.error(message).hint(say!(
            "say how many there may be at most, e.g. `blocks: 20`",
            "укажите, сколько их может быть самое большее, например `blocks: 20`"
        )));
    }
    Ok(found)
}

fn p99(node: &Node) -> Result<Option<Millionths>> {
    match &node.value {
        Value::Text(word) if word == "none" => Ok(None),
        _ => share(node, keys::WIDTH).map(Some),
    }
}

/// How arms differ shows while they alternate. Where a person or a reboot switches, the first is over before the next begins.
pub(super) fn not_in_turn(suite: &Node, until: Option<Until>, arms: &[Arm]) -> Result<()> {
    let by_person = arms.iter().find(|arm| arm.switch.instruction().is_some());
    let Some(name) = by_person.filter(|_| until.is_some()).map(|arm| &arm.name) else { return Ok(()) };
    let message = say!(
        "`until` cannot be used where arms follow one another: a person or a reboot switches to `{name}`",
        "`until` нельзя использовать, когда варианты идут друг за другом: на `{name}` переключает человек или перезагрузка"
    );
    Err(suite.error(message).hint(say!(
        "say how many `blocks` there are: how arms differ shows only when the last of them is measured",
        "задайте число `blocks`: чем различаются варианты, видно лишь после измерения последнего"
    )))
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::until::Until;
    use expect_test::{Expect, expect};
    use stend_base::{Lang, Millionths};

    fn text(repeats: &str, more: &str) -> String {
        let case = "{name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}";
        format!("suite: x\nrepeats: {repeats}\n{more}cases:\n  - {case}\n")
    }

    fn until(repeats: &str) -> Option<Until> {
        suite(&text(repeats, ""), "s.yaml").unwrap().until
    }

    fn check_error(repeats: &str, more: &str, expected: Expect) {
        let error = suite(&text(repeats, more), "s.yaml").unwrap_err();
        expected.assert_eq(&format!("{}{}", error.render(Lang::En), error.render(Lang::Ru)));
    }

    #[test]
    fn the_defaults_are_those_of_the_method_and_p99_may_be_left_out() {
        let (two, five) = (Millionths::percent(2), Some(Millionths::percent(5)));
        assert_eq!(until("{blocks: 20, until: {}}"), Some(Until { width: two, p99: five }));
        assert_eq!(until("{blocks: 6, until: {width: 1%, p99: none}}").unwrap().p99, None);
        assert_eq!(until("{blocks: 6}"), None);
    }

    #[test]
    fn what_could_never_be_looked_at_or_held_is_refused() {
        check_error(
            "{blocks: 5, until: {width: 2%}}",
            "",
            expect![[r#"
            error: s.yaml:2:29: `until` needs at least 6 blocks: before that no precision is looked at
            hint: say how many there may be at most, e.g. `blocks: 20`ошибка: s.yaml:2:29: для `until` нужно не менее 6 блоков: раньше точность не оценивается
            совет: укажите, сколько их может быть самое большее, например `blocks: 20`"#]],
        );
        check_error(
            "{blocks: 20, until: {width: 60%}}",
            "",
            expect![[r#"
                error: s.yaml:2:38: 60% is outside 0.1% to 50%
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy fromошибка: s.yaml:2:38: 60% вне пределов от 0.1% до 50%
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`"#]],
        );
        check_error(
            "{blocks: 20, until: {p: 0.05}}",
            "",
            expect![[r#"
                error: s.yaml:2:31: until: unknown key `p`
                hint: known keys: `width`, `p99`ошибка: s.yaml:2:31: until: неизвестный ключ `p`
                совет: известные ключи: `width`, `p99`"#]],
        );
        check_error(
            "{blocks: 20, until: {}}",
            "arms: [{name: a}, {name: b, switch: {person: pull the drive}}]\n",
            expect![[r#"
                error: s.yaml:1:1: `until` cannot be used where arms follow one another: a person or a reboot switches to `b`
                hint: say how many `blocks` there are: how arms differ shows only when the last of them is measuredошибка: s.yaml:1:1: `until` нельзя использовать, когда варианты идут друг за другом: на `b` переключает человек или перезагрузка
                совет: задайте число `blocks`: чем различаются варианты, видно лишь после измерения последнего"#]],
        );
    }

    #[test]
    fn arms_that_alternate_may_go_on_until_their_difference_is_precise() {
        let found = suite(&text("{blocks: 20, until: {}}", "arms: [{name: a}, {name: b}]\n"), "s.yaml").unwrap();
        assert_eq!((found.until.is_some(), found.arms.len()), (true, 2));
    }
}
