//! Sentences of caveats about what made the I/O, and how.

use super::Words;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, Share, format, say, say_in};
use stend_spec::external::Difference;

pub(super) fn fallback(backend: &str, reason: &str) -> Words {
    Words {
        text: say!(
            "I/O was submitted through `{backend}`, not io_uring: {reason}. It costs more CPU per I/O; rates may be lower than the storage allows.",
            "Ввод-вывод шёл через `{backend}`, а не io_uring: {reason}. Он дороже для процессора; скорости могут быть ниже возможностей хранилища."
        ),
        advice: say!(
            "`stend doctor` names the one command that allows io_uring here; then run it again.",
            "`stend doctor` назовёт команду, которая разрешит здесь io_uring; затем запустите снова."
        ),
    }
}

pub(super) fn other_engine(cases: u32, differences: &[Difference]) -> Words {
    let text = Say::both(|l| {
        let case = match l {
            Lang::En => plural_en(u64::from(cases), "case", "cases"),
            Lang::Ru => plural_ru(u64::from(cases), "случае", "случаях", "случаях"),
        };
        let all: Vec<String> = differences.iter().map(|difference| sentence(difference.say().get(l))).collect();
        say_in!(
            l,
            "In {cases} {case} fio makes the I/O, not Stend's own engine. {d}",
            "В {cases} {case} ввод-вывод выполняет fio, а не генератор самого Стенда. {d}",
            d = all.join(" ")
        )
    });
    Words {
        text,
        advice: say!(
            "Use it to check one engine by the other, each in its own run or case; for results use `--engine native`.",
            "Так проверяют один генератор другим, каждый в своём прогоне или случае; для результатов нужен `--engine native`."
        ),
    }
}

/// Words as a sentence of their own.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

pub(super) fn kernel_workers(count: u32) -> Words {
    let word = plural_en(u64::from(count), "thread", "threads");
    Words {
        text: say!(
            "The kernel passed I/O on to {count} worker {word}: the latencies include that hand-over.",
            "Ядро передавало операции рабочим потокам ({count}): в задержки вошла и эта передача."
        ),
        advice: say!(
            "Compare only with runs on the same file system and kernel.",
            "Сравнивайте только с прогонами на той же файловой системе и том же ядре."
        ),
    }
}

pub(super) fn ordinary_pages(huge: Share) -> Words {
    let (en, ru) = (format::percent(huge.0, Lang::En), format::percent(huge.0, Lang::Ru));
    Words {
        text: say!(
            "The suite asks for buffers in huge pages, and the kernel gave it {en} of them: large blocks were split as with ordinary pages.",
            "Набор требует буферы в больших страницах, а ядро дало таких {ru}: крупные блоки дробились, как с обычными страницами."
        ),
        advice: say!(
            "Allow them (`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`), free memory, and repeat; or ask for `pages: ordinary`.",
            "Разрешите их (`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`), освободите память и повторите; либо укажите `pages: ordinary`."
        ),
    }
}
