//! Sentences of caveats about runs that another tool made.

use super::Words;
use stend_base::{Say, say, say_in};

/// Missing parts that a sentence names; more are counted.
const NAMED: usize = 2;

pub(super) fn imported(by: &str, (after_submission, printed): (bool, bool), snapshots: u32) -> Words {
    let text = Say::both(|l| {
        let whole = say_in!(
            l,
            "Imported from what {by} printed; Stend did not see these trials. Host, target, fill and other load are unknown. Trials of one case ran one after the other.",
            "Импортировано из того, что напечатал {by}; самих испытаний Stend не видел. Машина, объект, заполнение и прочая нагрузка неизвестны. Испытания одного случая шли подряд."
        );
        let clat = l.pick(
            " Latencies are clat: without the time that submitting took.",
            " Задержки — clat: без времени отправки.",
        );
        let percentiles = l.pick(
            " Percentiles without a histogram are shown as printed and never merged or averaged.",
            " Процентили без гистограммы показаны как напечатаны; они не объединяются и не усредняются.",
        );
        let superseded = match snapshots {
            0 => String::new(),
            n => say_in!(
                l,
                " Snapshots of --status-interval that later results hold were left out: {n}.",
                " Промежуточные результаты --status-interval, вошедшие в следующие, пропущены: {n}."
            ),
        };
        whole + if after_submission { clat } else { "" } + if printed { percentiles } else { "" } + &superseded
    });
    let of_fio = say!(
        "Let Stend measure where the difference matters (`stend run --engine fio` keeps the engine); with fio, print `json+` and `--lat_percentiles=1`, so that histograms of the whole latency come along.",
        "Где различие важно, измеряйте с помощью Stend (`stend run --engine fio` сохранит генератор); от fio берите `json+` с `--lat_percentiles=1`, тогда придут и гистограммы полной задержки."
    );
    let of_others = say!(
        "Let Stend measure where the difference matters. Compare an import with imports of the same tool first: tools differ in what they call latency, and over which time they count.",
        "Где различие важно, измеряйте с помощью Stend. Сравнивайте импорт прежде всего с импортом того же инструмента: что считать задержкой и за какое время вести счёт, инструменты понимают по-разному."
    );
    let advice = if by.starts_with("fio") { of_fio } else { of_others };
    Words { text, advice }
}

pub(super) fn in_part(dropped: &[Say]) -> Words {
    let text = Say::both(|l| {
        let named: Vec<&str> = dropped.iter().take(NAMED).map(|what| what.get(l)).collect();
        let more = match dropped.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => say_in!(l, "; and {n} more", "; и ещё {n}"),
        };
        let head =
            l.pick("Only a part of the files was imported. Left out: ", "Файлы импортированы не целиком. Пропущено: ");
        format!("{head}{}{more}.", named.join("; "))
    });
    let advice = say!(
        "Look at these lines; `stend export --format json` lists all of them.",
        "Посмотрите на эти строки; все они есть в `stend export --format json`."
    );
    Words { text, advice }
}
