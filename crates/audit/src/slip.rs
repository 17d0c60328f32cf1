//! Slips of units, and H87: whether one that the numbers of a table prove was carried on to its neighbours, where nothing else stands to
//! prove it. Who converts a column converts all of it.

use super::{Cell, Doubt, Found, Severity, as_printed, cell, doubt, groups, one_load};
use std::collections::{BTreeSet, HashMap};
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{BANDWIDTH_DEVIATION, COINCIDENCES_EXPECTED, SLIP_NEAR};
use stend_base::say;
use stend_record::published::{Claim, Dimension};

/// A slip, by what it multiplies a throughput with.
pub(super) struct Slip {
    pub factor: f64,
    pub en: &'static str,
    pub ru: &'static str,
    /// Whether only the throughput can have it: I/Os per second have neither bits nor binary thousands.
    pub of_bytes: bool,
}

const SLIPS: [Slip; 14] = [
    slip(1.024, "GB/s multiplied by 1024 instead of 1000", "ГБ/с умножены на 1024 вместо 1000", true),
    slip(1.0 / 1.024, "KiB/s divided by 1000 instead of 1024", "КиБ/с разделены на 1000 вместо 1024", true),
    slip(1.0 / 1.048_576, "MiB/s printed as MB/s", "МиБ/с напечатаны как МБ/с", true),
    slip(1.048_576, "MB/s printed as MiB/s", "МБ/с напечатаны как МиБ/с", true),
    slip(1.0 / 1.073_741_824, "GiB/s printed as GB/s", "ГиБ/с напечатаны как ГБ/с", true),
    slip(1.073_741_824, "GB/s printed as GiB/s", "ГБ/с напечатаны как ГиБ/с", true),
    slip(8.0, "bits printed as bytes", "биты напечатаны как байты", true),
    slip(1.0 / 8.0, "bytes printed as bits", "байты напечатаны как биты", true),
    slip(10.0, "a decimal point one place off", "десятичный знак сдвинут на один разряд", false),
    slip(0.1, "a decimal point one place off", "десятичный знак сдвинут на один разряд", false),
    slip(1000.0, "a unit 1000 times too large", "единица в 1000 раз крупнее нужной", false),
    slip(0.001, "a unit 1000 times too small", "единица в 1000 раз мельче нужной", false),
    slip(1024.0, "a unit 1024 times too large", "единица в 1024 раза крупнее нужной", true),
    slip(1.0 / 1024.0, "a unit 1024 times too small", "единица в 1024 раза мельче нужной", true),
];

const fn slip(factor: f64, en: &'static str, ru: &'static str, of_bytes: bool) -> Slip {
    Slip { factor, en, ru, of_bytes }
}

/// From here on a slip changes the order of magnitude, which the neighbours of a number show.
const COARSE: f64 = 4.0;
/// Numbers of other systems that a coarse slip is seen against.
const OTHERS: usize = 2;
/// Numbers from this part of the smallest proven one on are looked at (by eye: a little below where the tool changes its unit).
const FROM: f64 = 0.9;
/// Digits of what a tool printed and somebody then multiplied: fio gives three, the mean of two such numbers has four.
const DIGITS: i32 = 4;

/// A throughput beside the IOPS of the same test.
pub(super) struct Product<'a> {
    pub rate: Cell<'a>,
    pub throughput: Cell<'a>,
    /// What IOPS and block size make, bytes per second.
    pub expected: f64,
    /// Whether both do not fit.
    pub off: bool,
    /// The slip that explains it.
    pub slip: Option<&'static Slip>,
}

/// Every test that has IOPS, throughput and block size.
pub(super) fn products(rows: &[Claim]) -> Vec<Product<'_>> {
    let mut products = Vec::new();
    for group in groups(rows) {
        let (Some(rate), Some(throughput)) = (group.rate, group.throughput) else { continue };
        let Some(block) = rate.claim.block_size.or(throughput.claim.block_size) else { continue };
        let expected = rate.value * block.0 as f64;
        if expected <= 0.0 {
            continue;
        }
        let ratio = throughput.value / expected;
        let rounding = throughput.half / expected + rate.half / rate.value;
        let off = (ratio - 1.0).abs() > BANDWIDTH_DEVIATION.max(rounding);
        let slip = SLIPS.iter().find(|slip| off && (ratio / slip.factor - 1.0).abs() <= SLIP_NEAR);
        products.push(Product { rate, throughput, expected, off, slip });
    }
    products
}

pub(super) fn siblings(rows: &[Claim]) -> Found {
    let products = products(rows);
    let beside: BTreeSet<_> = products.iter().map(|product| place(product.throughput.claim)).collect();
    let alone = rows.iter().filter(|claim| claim.metric == "throughput" && !beside.contains(&place(claim)));
    let alone: Vec<Cell<'_>> = alone.filter_map(|claim| cell(claim, Dimension::Throughput)).collect();
    let mut doubts = Vec::new();
    for slip in &SLIPS {
        let is_proof = |product: &&Product<'_>| product.slip.is_some_and(|of| of.factor == slip.factor);
        let proofs: Vec<Cell<'_>> = products.iter().filter(is_proof).map(|product| product.throughput).collect();
        if proofs.is_empty() {
            continue;
        }
        let coarse = slip.factor.max(1.0 / slip.factor) > COARSE;
        doubts.extend(if coarse { out_of_line(rows, &alone, &proofs, slip) } else { multiplied(&alone, proofs, slip) });
    }
    let places = if products.is_empty() { 0 } else { products.len() + alone.len() };
    Found::new(CheckId::H87, places, doubts)
}

/// Where a number stands; in the wide form several share a line.
fn place(claim: &Claim) -> (u32, &str) {
    (claim.row, &claim.test)
}

/// Whether two numbers stand in one row or column: of the same system, or of the same test, in the same unit.
fn aligned(a: &Claim, b: &Claim) -> bool {
    (&a.source, &a.unit) == (&b.source, &b.unit)
        && (a.layout == b.layout && a.experiment == b.experiment
            || (&a.test, a.block_size) == (&b.test, b.block_size) && !a.test.is_empty())
}

/// Numbers that are a short one times 1.024, as proven ones are: what somebody multiplied. A slip in the other direction leaves no such
/// trace. Whatever stands in line with one that was found is looked at, too.
fn multiplied<'a>(alone: &[Cell<'a>], mut proofs: Vec<Cell<'a>>, slip: &Slip) -> Vec<Doubt> {
    let traced = |cell: &Cell<'_>| trace(cell, slip.factor);
    if slip.factor != SLIPS[0].factor || !proofs.iter().any(|proof| traced(proof).is_some()) {
        return Vec::new();
    }
    // Tools change to the larger unit from some size on: below it nobody multiplied.
    let least = proofs.iter().map(|proof| proof.value).fold(f64::INFINITY, f64::min) * FROM;
    let large = alone.iter().filter(|cell| cell.value >= least && by_chance(cell, slip.factor) < 1.0);
    let large: Vec<Cell<'a>> = large.copied().collect();
    let expected: f64 = large.iter().map(|cell| by_chance(cell, slip.factor)).sum();
    if expected >= COINCIDENCES_EXPECTED {
        return Vec::new();
    }
    let (mut doubts, mut done, mut at) = (Vec::new(), BTreeSet::new(), 0);
    while let Some(proof) = proofs.get(at).copied() {
        at += 1;
        for cell in large.iter().filter(|cell| aligned(cell.claim, proof.claim)) {
            let Some(right) = traced(cell).filter(|_| done.insert(place(cell.claim))) else { continue };
            proofs.push(*cell);
            doubts.push(carried(*cell, proof, slip, right));
        }
    }
    doubts
}

fn digits_unit(value: f64) -> f64 {
    10f64.powi(value.log10().floor() as i32 + 1 - DIGITS)
}

/// The short number that times `factor` makes a cell, in base units; `None`: it has more digits.
fn trace(cell: &Cell<'_>, factor: f64) -> Option<f64> {
    let before = cell.value / factor;
    let unit = digits_unit(before);
    let short = (before / unit).round() * unit;
    let is =
        cell.value > 0.0 && cell.half * 2.0 < unit && (short * factor - cell.value).abs() <= cell.half * (1.0 + 1e-6);
    // A number that is short as it stands was not multiplied.
    let shown = digits_unit(cell.value);
    let is_short = ((cell.value / shown).round() * shown - cell.value).abs() <= cell.half * 1e-3;
    (is && !is_short).then_some(short)
}

/// How likely any number of as many digits has such a trace.
fn by_chance(cell: &Cell<'_>, factor: f64) -> f64 {
    2.0 * cell.half / (digits_unit(cell.value / factor) * factor)
}

/// Numbers that lie outside what other systems have in the same test, and inside once the factor is taken off.
fn out_of_line(rows: &[Claim], alone: &[Cell<'_>], proofs: &[Cell<'_>], slip: &Slip) -> Vec<Doubt> {
    let mut tests: HashMap<(&str, &str, &str), Vec<Cell<'_>>> = HashMap::new();
    for cell in rows.iter().filter(|row| row.metric == "throughput").filter_map(|row| cell(row, Dimension::Throughput))
    {
        tests.entry((&cell.claim.source, &cell.claim.test, &cell.claim.unit)).or_default().push(cell);
    }
    let room = slip.factor.max(1.0 / slip.factor).sqrt();
    let mut doubts = Vec::new();
    for suspect in alone {
        let Some(proof) = proofs
            .iter()
            .find(|proof| aligned(suspect.claim, proof.claim) && suspect.claim.layout == proof.claim.layout)
        else {
            continue;
        };
        let claim = suspect.claim;
        let others = &tests[&(&*claim.source, &*claim.test, &*claim.unit)];
        let others = others.iter().filter(|other| other.claim.layout != claim.layout);
        let values: Vec<f64> = others
            .filter(|other| {
                other.claim.block_size == claim.block_size && one_load(other.claim, claim) && other.value > 0.0
            })
            .map(|other| other.value)
            .collect();
        let (low, high) = values.iter().fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(*v), high.max(*v)));
        let inside = |value: f64| value >= low / room && value <= high * room;
        let right = suspect.value / slip.factor;
        if values.len() >= OTHERS && !inside(suspect.value) && inside(right) {
            doubts.push(carried(*suspect, *proof, slip, right));
        }
    }
    doubts
}

fn carried(cell: Cell<'_>, proof: Cell<'_>, slip: &Slip, right: f64) -> Doubt {
    let (row, right) = (proof.claim.row, as_printed(cell.claim, right).unwrap_or_default());
    let why = say!(
        |lang| "This looks like the slip of row {r}: {s}. Without it the number would be {v}. The table has no IOPS of this test to confirm it.",
        "Похоже на ту же ошибку, что в строке {r}: {s}. Без неё было бы {v}. По IOPS этого не проверить: для этого теста их в таблице нет.",
        r = row,
        s = lang.pick(slip.en, slip.ru),
        v = right
    );
    doubt(CheckId::H87, Severity::Warn, cell.claim, &[proof.claim], why)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{claim, of_layout};
    use super::*;

    fn throughput(row: u32, layout: &str, test: &str, printed: &str) -> Claim {
        of_layout(layout, claim(row, test, "throughput", "MB/s", printed))
    }

    fn iops(row: u32, layout: &str, test: &str, printed: &str) -> Claim {
        of_layout(layout, claim(row, test, "iops", "IOPS", printed))
    }

    fn found(rows: &[Claim]) -> (usize, Vec<u32>) {
        let found = siblings(rows);
        (found.places, found.doubts.iter().map(|doubt| doubt.row).collect())
    }

    #[test]
    fn gigabytes_times_1024_are_seen_in_cells_without_iops_of_the_same_row_and_column() {
        let rows = [
            iops(2, "md", "rr", "2817002.93"),
            throughput(3, "md", "rr", "11827.20"),
            throughput(4, "md", "seq-read", "20275.20"),
            // In line with row 4 only, and the mean of two numbers of three digits.
            throughput(5, "lvm", "seq-read", "19302.40"),
            throughput(6, "zfs", "seq-read", "3123.00"),
            throughput(7, "zfs", "seq-read-b", "20275.20"),
            throughput(8, "md", "seq-write", "1398.50"),
        ];
        let doubts = siblings(&rows).doubts;
        assert_eq!(found(&rows), (6, vec![4, 5]));
        assert_eq!(doubts[0].against, [3]);
        let (en, ru) = (&doubts[0].why.en, &doubts[0].why.ru);
        assert!(en.contains("slip of row 3: GB/s multiplied by 1024") && en.contains("19800.00 MB/s"), "{en}");
        assert!(ru.contains("в строке 3: ГБ/с умножены на 1024") && ru.contains("19800.00"), "{ru}");
        // Without the proof nothing is said.
        assert_eq!(found(&rows[2..]), (0, vec![]));
        let sound = [iops(2, "md", "rr", "2887500.00"), throughput(3, "md", "rr", "11827.20"), rows[2].clone()];
        assert_eq!(found(&sound), (2, vec![]));
    }

    #[test]
    fn bits_for_bytes_are_seen_in_the_row_of_the_system_that_has_them() {
        // 100,000 × 4 KiB are 409.6 MB/s.
        let mut rows = vec![
            iops(2, "a", "rr", "100000"),
            throughput(3, "a", "rr", "3277"),
            throughput(4, "a", "seq-read", "8000"),
            throughput(5, "b", "seq-read", "900"),
            throughput(6, "c", "seq-read", "1100"),
            throughput(7, "a", "seq-write", "1000"),
            throughput(8, "b", "seq-write", "800"),
            throughput(9, "c", "seq-write", "1200"),
        ];
        assert_eq!(found(&rows), (7, vec![4]), "row 7 lies among its neighbours");
        let why = &siblings(&rows).doubts[0].why;
        assert!(why.en.contains("bits printed as bytes") && why.en.contains("1000 MB/s"), "{}", why.en);
        // One other system is no measure of what is usual.
        rows.remove(4);
        assert_eq!(found(&rows), (6, vec![]));
        rows[1] = throughput(3, "a", "rr", "410");
        assert_eq!(found(&rows), (6, vec![]), "no slip, so none is carried");
    }

    #[test]
    fn numbers_of_another_load_are_no_neighbours() {
        let rows = |pattern: &str| {
            let of = |claim: Claim| Claim { pattern: pattern.into(), ..claim };
            [
                iops(2, "a", "rr", "100000"),
                throughput(3, "a", "rr", "3277"),
                Claim { pattern: "read".into(), ..throughput(4, "a", "128k", "8000") },
                of(throughput(5, "b", "128k", "900")),
                of(throughput(6, "c", "128k", "1100")),
            ]
        };
        assert_eq!((found(&rows("read")).1, found(&rows("write")).1), (vec![4], vec![]));
    }
}
