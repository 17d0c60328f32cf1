//! Sentences of caveats about the arms of a run.

use super::Words;
use stend_base::{Say, say};

pub(super) fn suspended(arm: &str, instruction: &str) -> Words {
    let instruction = instruction.trim_end_matches('.');
    Words {
        text: say!(
            "The run waits for you before arm `{arm}`: {instruction}.",
            "Прогон ждёт вас перед вариантом `{arm}`: {instruction}."
        ),
        advice: say!(
            "Do that, then continue with `stend run --resume`; what has been measured is kept.",
            "Сделайте это и продолжите командой `stend run --resume`; измеренное сохранено."
        ),
    }
}

pub(super) fn in_sequence() -> Words {
    Words {
        text: say!(
            "Each arm was measured completely before the next: drift in that time looks like a difference between arms.",
            "Каждый вариант измерен целиком до следующего: всё, что за это время сместилось, выглядит как различие вариантов."
        ),
        advice: say!(
            "Measure the first arm once more at the end, as an arm of its own: its difference from itself is the uncertainty.",
            "Измерьте первый вариант ещё раз в конце отдельным вариантом: его отличие от самого себя и есть погрешность."
        ),
    }
}

pub(super) fn without_change(arm: &str) -> Words {
    Words {
        text: say!(
            "No known condition of host and target changed with arm `{arm}`: the switch may not have worked.",
            "С вариантом `{arm}` ни одно известное условие машины и объекта не изменилось: возможно, переключение не сработало."
        ),
        advice: say!(
            "Look at what the arm changes with `observe`, and name it in `expect`.",
            "Добавьте в `observe` команду, которая показывает изменение, и назовите её в `expect`."
        ),
    }
}

pub(super) fn drifted(arm: &str, conditions: &[Say]) -> Words {
    let names = Say::both(|lang| conditions.iter().map(|c| c.get(lang)).collect::<Vec<_>>().join(", "));
    let (en, ru) = (names.en, names.ru);
    Words {
        text: say!(
            "Arm `{arm}` was not the same each time; different: {en}.",
            "Вариант `{arm}` не каждый раз был одинаков; различается: {ru}."
        ),
        advice: say!(
            "Find out what else changes the machine, and measure again.",
            "Выясните, что ещё изменяет машину, и измерьте заново."
        ),
    }
}
