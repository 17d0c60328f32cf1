//! Sentences of caveats about events of cases.

use super::Words;
use stend_base::say;
use stend_base::text::{plural_en, plural_ru};

pub(super) fn missing(trials: u32, case: &str, cases: u32) -> Words {
    let n = u64::from(trials);
    let (trial, ended) = (plural_en(n, "trial", "trials"), plural_ru(n, "закончилось", "закончились", "закончилось"));
    let word = plural_ru(n, "испытание", "испытания", "испытаний");
    let text = match u64::from(cases) - 1 {
        0 => say!(
            "{trials} {trial} of “{case}” ended before its events: the numbers are those of a load without them.",
            "{trials} {word} «{case}» {ended} раньше событий случая: эти числа — для нагрузки без них."
        ),
        more => {
            let others = plural_en(more, "other case", "other cases");
            say!(
                "{trials} {trial} of “{case}” and {more} {others} ended before the events: the numbers are those of a load without them.",
                "{trials} {word} «{case}» и других случаев ({more}) {ended} раньше событий: эти числа — для нагрузки без них."
            )
        }
    };
    let advice = say!(
        "Give `trial` the time that the events take, and run it again.",
        "Дайте `trial` столько времени, сколько занимают события, и запустите снова."
    );
    Words { text, advice }
}
