//! H07: more than the hardware of the table can give. An array with one I/O in flight cannot be faster than its fastest
//! member; with any load it cannot exceed all members together. What is above came from a cache, or is no measurement.

use super::{Cell, Found, Gravity, cell, doubt, off};
use crate::limits::ABOVE_CEILING;
use crate::phrase::{both, pick};
use stend_base::say;
use stend_record::published::{Claim, Dimension};

/// The experiment that measures drives one by one.
const MEMBERS: &str = "member-drives";

pub(super) fn ceiling(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    let dimensions = [Dimension::Throughput, Dimension::Rate];
    for (claim, dimension) in rows.iter().flat_map(|claim| dimensions.map(|dimension| (claim, dimension))) {
        let Some(measured) = cell(claim, dimension).filter(|_| claim.experiment != MEMBERS) else { continue };
        let members: Vec<Cell<'_>> =
            rows.iter().filter(|row| is_member(row, claim)).filter_map(|row| cell(row, dimension)).collect();
        let Some(fastest) = members.iter().copied().max_by(|a, b| a.value.total_cmp(&b.value)) else { continue };
        places += 1;
        let alone = claim.queue_depth == Some(1) && claim.jobs == Some(1);
        let sum: f64 = members.iter().map(|member| member.value).sum();
        let most = if alone { fastest.value } else { sum };
        if measured.value <= most * ABOVE_CEILING {
            continue;
        }
        let count = members.len();
        let why = both(|lang| {
            let text = if alone {
                pick(
                    lang,
                    "With one I/O in flight an array cannot be faster than its fastest drive, and this is {x}: part of it came from a cache, or the load was another one.",
                    "С одной операцией в полёте массив не может быть быстрее самого быстрого диска, а здесь {x}: часть пришла из кэша, или нагрузка была другой.",
                )
            } else {
                pick(
                    lang,
                    "It is {x} above all {n} drives of the table together: it came from a cache.",
                    "Это на {x} выше всех дисков таблицы вместе (их {n}): данные пришли из кэша.",
                )
            };
            text.replace("{x}", &off(measured.value / most - 1.0, lang)).replace("{n}", &count.to_string())
        });
        let against: Vec<&Claim> = match alone {
            true => vec![fastest.claim],
            false => members.iter().map(|member| member.claim).collect(),
        };
        doubts.push(doubt("H07", Gravity::Wrong, claim, &against, why).right(claim, most));
    }
    let name = say!("no faster than the drives", "не быстрее дисков");
    Found { id: "H07", name, places, doubts }
}

/// The same load on a drive alone.
fn is_member(row: &Claim, claim: &Claim) -> bool {
    row.experiment == MEMBERS
        && (&row.source, &row.test, &row.metric) == (&claim.source, &claim.test, &claim.metric)
        && (row.block_size, row.queue_depth, row.jobs) == (claim.block_size, claim.queue_depth, claim.jobs)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{claim, of_layout};
    use super::*;

    fn table(queue: u32, array: &str) -> Vec<Claim> {
        let of = |claim: Claim| Claim { queue_depth: Some(queue), jobs: Some(1), ..claim };
        let drive = |row, value| Claim {
            experiment: MEMBERS.into(),
            ..of_layout(&format!("d{row}"), of(claim(row, "rr", "throughput", "MB/s", value)))
        };
        vec![drive(2, "90.30"), drive(3, "90.70"), of(claim(4, "rr", "throughput", "MB/s", array))]
    }

    #[test]
    fn one_io_in_flight_goes_to_one_drive() {
        assert!(ceiling(&table(1, "93.00")).doubts.is_empty());
        let found = ceiling(&table(1, "107.00"));
        let [doubt] = found.doubts.as_slice() else { panic!("{:?}", found.doubts) };
        assert_eq!((doubt.row, doubt.against.as_slice(), doubt.right.as_deref()), (4, &[3][..], Some("90.70 MB/s")));
        assert!(doubt.why.en.contains("+18"), "{}", doubt.why.en);
    }

    #[test]
    fn a_deep_queue_may_use_all_of_them_and_no_more() {
        assert!(ceiling(&table(32, "181.00")).doubts.is_empty());
        let doubts = ceiling(&table(32, "200.00")).doubts;
        assert!(doubts[0].why.en.contains("all 2 drives"), "{}", doubts[0].why.en);
    }

    #[test]
    fn without_drives_in_the_table_nothing_can_be_said() {
        assert_eq!(ceiling(&table(1, "107.00")[2..]).places, 0);
    }
}
