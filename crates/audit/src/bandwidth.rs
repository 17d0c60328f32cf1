//! H01: I/Os per second times block size is throughput. Where it is not, which slip of units would explain it.

use super::slip::{self, Product, Slip};
use super::{Found, Severity, as_printed, compared, doubt};
use stend_analyse::findings::CheckId;
use stend_base::{Say, say_in};
use stend_record::published::Claim;

/// Rows with the same slip that a sentence names.
const ROWS_SHOWN: usize = 5;

pub(super) fn bandwidth(rows: &[Claim]) -> Found {
    let products = slip::products(rows);
    let mut doubts = Vec::new();
    for product in products.iter().filter(|product| product.off) {
        let expected = as_printed(product.throughput.claim, product.expected).unwrap_or_default();
        let why = why(product.throughput.value / product.expected, product.slip, &expected, &alike(&products, product));
        let found = doubt(CheckId::H01, Severity::Wrong, product.throughput.claim, &[product.rate.claim], why);
        // Only where the slip is one of bytes, the IOPS cannot be what is wrong.
        doubts.push(match product.slip.is_some_and(|slip| slip.of_bytes) {
            true => found.right(product.throughput.claim, product.expected),
            false => found,
        });
    }
    Found::new(CheckId::H01, products.len(), doubts)
}

/// Rows of the other numbers with the same slip.
fn alike(products: &[Product<'_>], of: &Product<'_>) -> Vec<u32> {
    let factor = |product: &Product<'_>| product.slip.map(|slip| slip.factor);
    let same = |other: &&Product<'_>| {
        factor(other).is_some()
            && factor(other) == factor(of)
            && other.throughput.claim.source == of.throughput.claim.source
    };
    let rows = products.iter().filter(same).map(|other| other.throughput.claim.row);
    rows.filter(|row| *row != of.throughput.claim.row).collect()
}

fn why(ratio: f64, slip: Option<&Slip>, expected: &str, alike: &[u32]) -> Say {
    Say::both(|lang| {
        let printed = compared(ratio, lang);
        let text = match slip {
            Some(slip) => say_in!(
                lang,
                "The IOPS of this test give {expected}, but the printed throughput is {printed}. This looks like an error of units: {unit}.",
                "По IOPS этого теста выходит {expected}, а напечатано {printed}. Похоже на ошибку единиц: {unit}.",
                unit = lang.pick(slip.en, slip.ru)
            ),
            None => say_in!(
                lang,
                "The IOPS of this test give {expected}, but the printed throughput is {printed}. No common error of units explains it, so one of the two numbers is wrong.",
                "По IOPS этого теста выходит {expected}, а напечатано {printed}. Обычной ошибкой единиц это не объяснить: одно из двух чисел неверно."
            ),
        };
        let shown = alike.iter().take(ROWS_SHOWN).map(u32::to_string).collect::<Vec<_>>().join(", ");
        let more = alike.len().saturating_sub(ROWS_SHOWN);
        text + &match alike.len() {
            0 => String::new(),
            1 => say_in!(lang, " The same in row {shown}.", " То же в строке {shown}."),
            2..=ROWS_SHOWN => say_in!(lang, " The same in rows {shown}.", " То же в строках {shown}."),
            _ => {
                say_in!(lang, " The same in rows {shown} and {more} more.", " То же в строках {shown} и ещё в {more}.")
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::Doubt;
    use super::super::fixture::claim;
    use super::*;

    fn one(rate: &str, throughput: &str) -> Vec<Doubt> {
        let rows = [claim(2, "rr", "throughput", "MB/s", throughput), claim(3, "rr", "iops", "IOPS", rate)];
        let found = bandwidth(&rows);
        assert_eq!(found.places, 1);
        found.doubts
    }

    #[test]
    fn numbers_that_fit_pass() {
        assert!(one("24269.23", "99.50").is_empty());
        // 5.994 MB/s: printed with one digit.
        assert!(one("1534.41", "6").is_empty());
    }

    #[test]
    fn slips_of_units_are_named_and_the_right_value_is_given() {
        let cases = [
            ("2817002.93", "11827.20", "GB/s multiplied by 1024", Some("11538.44 MB/s")),
            ("1534.41", "6.14", "KiB/s divided by 1000", Some("6.28 MB/s")),
            ("100000", "390.6", "MiB/s printed as MB/s", Some("409.6 MB/s")),
            ("100000", "381.5", "GiB/s printed as GB/s", Some("409.6 MB/s")),
            ("100000", "3277", "bits printed as bytes", Some("410 MB/s")),
            ("100000", "41.0", "a decimal point", None),
            ("100000", "409600", "a unit 1000 times too large", None),
            ("100000", "205", "The IOPS of this test give 410 MB/s, but ", None),
        ];
        for (rate, throughput, slip, right) in cases {
            let doubts = one(rate, throughput);
            let [doubt] = doubts.as_slice() else { panic!("{doubts:?}") };
            assert!(doubt.why.en.contains(slip), "{}", doubt.why.en);
            assert_eq!((doubt.right.as_deref(), doubt.row, doubt.against.as_slice()), (right, 2, &[3][..]));
        }
    }

    #[test]
    fn cells_with_the_same_slip_name_each_other() {
        let of = |test: &str, row: u32, rate: &str, throughput: &str| {
            [claim(row, test, "throughput", "MB/s", throughput), claim(row + 1, test, "iops", "IOPS", rate)]
        };
        let rows =
            [of("a", 2, "2817002.93", "11827.20"), of("b", 4, "2503104.94", "10444.80"), of("c", 6, "100000", "409.6")];
        let doubts = bandwidth(&rows.concat()).doubts;
        assert_eq!(doubts.len(), 2);
        assert!(doubts[0].why.en.ends_with("The same in row 4."), "{}", doubts[0].why.en);
        assert!(doubts[1].why.ru.ends_with("То же в строке 2."), "{}", doubts[1].why.ru);
    }

    #[test]
    fn without_a_block_size_nothing_can_be_said() {
        let blank = |claim: Claim| Claim { block_size: None, ..claim };
        let rows = [claim(2, "rr", "throughput", "MB/s", "1"), claim(3, "rr", "iops", "IOPS", "9")].map(blank);
        assert_eq!(bandwidth(&rows).places, 0);
    }

    #[test]
    fn reads_and_writes_in_rows_without_a_name_are_two_tests() {
        let of = |pattern: &str, claim: Claim| Claim { pattern: pattern.into(), ..claim };
        let rows = [
            of("randread", claim(2, "", "iops", "IOPS", "100000")),
            of("randwrite", claim(3, "", "throughput", "MB/s", "204.8")),
        ];
        assert_eq!((bandwidth(&rows).places, bandwidth(&rows).doubts.len()), (0, 0));
        let on = |stand: &str, claim: Claim| Claim { stand: stand.into(), ..claim };
        let rows =
            [on("a", claim(2, "rr", "iops", "IOPS", "100000")), on("b", claim(3, "rr", "throughput", "MB/s", "204.8"))];
        assert_eq!(bandwidth(&rows).places, 0);
    }

    #[test]
    fn a_throughput_in_a_unit_of_its_own_is_shown_in_that_unit() {
        let rows = [claim(2, "rr", "iops", "IOPS", "100000"), claim(3, "rr", "throughput", "GB/s", "3.28")];
        let doubts = bandwidth(&rows).doubts;
        assert_eq!((doubts[0].printed.as_str(), doubts[0].right.as_deref()), ("3.28 GB/s", Some("0.41 GB/s")));
    }
}
