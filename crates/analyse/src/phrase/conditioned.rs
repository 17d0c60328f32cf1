//! What was done to the range before measuring, in words.

use stend_base::{Bytes, Lang, Say, format, say};
use stend_record::observed::{FillOutcome, PurgeMethod};

/// All of it, with its time.
pub fn conditioned(fill: &FillOutcome) -> Say {
    if fill.written == Bytes(0) {
        return method(fill);
    }
    let (method, Say { en, ru }) = (method(fill), Say::both(|l| format::bytes(fill.written, l)));
    let [time_en, time_ru] = [Lang::En, Lang::Ru].map(|l| format::duration(fill.elapsed, l));
    Say {
        en: format!("{en} written in order with incompressible data in {time_en}; {}", method.en),
        ru: format!("{ru} записаны подряд несжимаемыми данными за {time_ru}; {}", method.ru),
    }
}

/// The method of preconditioning as SNIA's PTS has it reported: purge, passes, block size.
pub fn method(fill: &FillOutcome) -> Say {
    if fill.passes == 0 && fill.written == Bytes(0) {
        return say!(
            |l| "purge method: {p}; not written after that",
            "метод очистки: {p}; после неё не записывалось",
            p = purged(fill.purge, l)
        );
    }
    say!(
        |l| "purge method: {p}; passes: {n}, blocks of {b}",
        "метод очистки: {p}; проходов: {n}, блоки по {b}",
        p = purged(fill.purge, l),
        n = fill.passes,
        b = format::bytes(fill.block_size, l)
    )
}

fn purged(method: PurgeMethod, l: Lang) -> &'static str {
    match method {
        PurgeMethod::None => l.pick("none", "нет"),
        PurgeMethod::Discard => "discard (TRIM, UNMAP, deallocate)",
        PurgeMethod::Holes => l.pick("holes punched into the test file", "дыры в тестовом файле"),
        PurgeMethod::Zeroes => {
            l.pick("zeroed, because the target takes no discards", "обнуление, так как объект не принимает discard")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Nanos;

    #[test]
    fn the_method_is_told_whole_in_both_languages() {
        let fill = FillOutcome {
            written: Bytes::gib(2),
            elapsed: Nanos::secs(9),
            passes: 2,
            block_size: Bytes::kib(128),
            purge: PurgeMethod::Zeroes,
            purge_elapsed: Nanos::secs(1),
        };
        let said = conditioned(&fill);
        assert_eq!(
            said.en,
            "2 GiB written in order with incompressible data in 9 s; purge method: zeroed, because the target takes no \
             discards; passes: 2, blocks of 128 KiB"
        );
        assert!(said.ru.contains("проходов: 2, блоки по 128 КиБ"), "{}", said.ru);
        let untouched = conditioned(&FillOutcome { written: Bytes(0), passes: 0, ..fill });
        let zeroed = "purge method: zeroed, because the target takes no discards";
        assert_eq!(untouched.en, format!("{zeroed}; not written after that"));
        let plain = method(&FillOutcome { passes: 1, purge: PurgeMethod::None, ..fill });
        assert_eq!(plain.en, "purge method: none; passes: 1, blocks of 128 KiB");
    }
}
