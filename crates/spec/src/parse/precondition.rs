//! `precondition`: purge and passes before the trials.

use super::{Map, bytes, whole, word};
use crate::keys::precondition as keys;
use crate::precondition::{Precondition, Purge};
use crate::suite::Fill;
use crate::yaml::Node;
use stend_base::{Bytes, Result, say};

/// What comes before the trials of a suite with this fill.
pub(super) fn precondition(node: &Node, fill: Option<Fill>) -> Result<Precondition> {
    let mut map = Map::of(node, &keys::PRECONDITION)?;
    let found = Precondition {
        purge: map.optional("purge", |n| word(n, keys::PURGES))?.unwrap_or(Purge::None),
        passes: map.optional("passes", |n| whole(n, keys::PASSES))?.unwrap_or(keys::PASSES_DEFAULT),
        block_size: map.optional("block_size", block_size)?.unwrap_or(keys::BLOCK_DEFAULT),
    };
    map.finish()?;
    if fill.is_none() {
        let message = say!("`precondition` needs `fill`", "`precondition` требует `fill`");
        return Err(node.error(message).hint(say!(
            "say how much there is to precondition, e.g. `fill: {{size: auto}}`",
            "укажите, сколько подготовить, например `fill: {{size: auto}}`"
        )));
    }
    if found.passes == 0 && found.purge == Purge::None {
        let message = say!("`passes: 0` without `purge` does nothing", "`passes: 0` без `purge` ничего не делает");
        return Err(node.error(message).hint(say!(
            "say `purge: discard`, or leave `precondition` out",
            "укажите `purge: discard` или уберите `precondition`"
        )));
    }
    Ok(found)
}

fn block_size(node: &Node) -> Result<Bytes> {
    let size = bytes(node)?;
    if !keys::BLOCK_SIZE.hold(&size) || !size.0.is_power_of_two() {
        return Err(node.error(say!(
            "a preconditioning write has 4 KiB to 1 MiB, a power of two",
            "запись при подготовке — от 4 КиБ до 1 МиБ, степень двойки"
        )));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::precondition::{Precondition, Purge};
    use expect_test::{Expect, expect};
    use stend_base::{Bytes, Lang};

    fn text(head: &str) -> String {
        format!("suite: x\n{head}cases:\n  - {{name: a, streams: [{{op: read, pattern: random, block_size: 4KiB}}]}}\n")
    }

    fn check_error(head: &str, expected: Expect) {
        let error = suite(&text(head), "s.yaml").unwrap_err();
        expected.assert_eq(&format!("{}\n{}\n", error.render(Lang::En), error.render(Lang::Ru)));
    }

    #[test]
    fn the_defaults_are_those_of_the_standard() {
        let of = |words: &str| {
            suite(&text(&format!("fill: {{size: auto}}\nprecondition: {words}\n")), "s.yaml").unwrap().precondition
        };
        let (purge, passes, block_size) = (Purge::None, 2, Bytes::kib(128));
        assert_eq!(of("{}"), Some(Precondition { purge, passes, block_size }));
        let (purge, passes, block_size) = (Purge::Discard, 1, Bytes::mib(1));
        assert_eq!(
            of("{purge: discard, passes: 1, block_size: 1MiB}"),
            Some(Precondition { purge, passes, block_size })
        );
        assert_eq!(suite(&text(""), "s.yaml").unwrap().precondition, None);
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        check_error(
            "precondition: {}\n",
            expect![[r#"
            error: s.yaml:2:15: `precondition` needs `fill`
            hint: say how much there is to precondition, e.g. `fill: {size: auto}`
            ошибка: s.yaml:2:15: `precondition` требует `fill`
            совет: укажите, сколько подготовить, например `fill: {size: auto}`
        "#]],
        );
        check_error(
            "fill: {size: auto}\nprecondition: {passes: 101}\n",
            expect![[r#"
                error: s.yaml:3:24: 101 is outside 0 to 100
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:3:24: 101 вне пределов от 0 до 100
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "fill: {size: auto}\nprecondition: {passes: 0}\n",
            expect![[r#"
            error: s.yaml:3:15: `passes: 0` without `purge` does nothing
            hint: say `purge: discard`, or leave `precondition` out
            ошибка: s.yaml:3:15: `passes: 0` без `purge` ничего не делает
            совет: укажите `purge: discard` или уберите `precondition`
        "#]],
        );
        check_error(
            "fill: {size: auto}\nprecondition: {purge: secure_erase}\n",
            expect![[r#"
                error: s.yaml:3:23: `secure_erase` is not one of `none`, `discard`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:3:23: `secure_erase` — не одно из `none`, `discard`
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "fill: {size: auto}\nprecondition: {block_size: 96KiB}\n",
            expect![[r#"
                error: s.yaml:3:28: a preconditioning write has 4 KiB to 1 MiB, a power of two
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
                ошибка: s.yaml:3:28: запись при подготовке — от 4 КиБ до 1 МиБ, степень двойки
                совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`
            "#]],
        );
        check_error(
            "fill: {size: auto}\nprecondition: {rounds: 2}\n",
            expect![[r#"
            error: s.yaml:3:16: precondition: unknown key `rounds`
            hint: known keys: `purge`, `passes`, `block_size`
            ошибка: s.yaml:3:16: precondition: неизвестный ключ `rounds`
            совет: известные ключи: `purge`, `passes`, `block_size`
        "#]],
        );
    }
}
