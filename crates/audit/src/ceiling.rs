//! H07: more than the hardware of the table can give. An array with one I/O in flight cannot be faster than its fastest
//! member; with any load it cannot exceed all members together. Which number is wrong is not known: the data came from a cache,
//! or there was more in flight than the table says.

use super::{Cell, Found, Severity, as_printed, block_size, cell, compared, doubt, same_load};
use stend_analyse::findings::CheckId;
use stend_analyse::limits::ABOVE_CEILING;
use stend_base::{Say, format, say_in};
use stend_record::published::{Claim, Dimension};

/// The experiment that measures drives one by one.
const MEMBERS: &str = "member-drives";

/// The smallest part of an array that lies on one drive, bytes: md, LVM and ZFS go down to 4 KiB.
const SMALLEST_CHUNK: f64 = 4096.0;

/// From this many times the fastest drive on, the text says how many I/Os in flight that takes (by eye: below, a cache that held a
/// part explains it as well).
const IN_FLIGHT_TOLD: f64 = 2.0;

pub(super) fn ceiling(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    let dimensions = [Dimension::Throughput, Dimension::Rate];
    for (claim, dimension) in rows.iter().flat_map(|claim| dimensions.map(|dimension| (claim, dimension))) {
        let Some(measured) = cell(claim, dimension).filter(|_| claim.experiment != MEMBERS) else { continue };
        let members: Vec<Cell<'_>> =
            rows.iter().filter(|row| is_member(row, claim)).filter_map(|row| cell(row, dimension)).collect();
        let Some(fastest) = members.iter().copied().max_by(|a, b| a.value.total_cmp(&b.value)) else { continue };
        places += 1;
        // A larger block may lie on several drives, which serve one I/O together.
        let small = block_size(claim).is_some_and(|bytes| bytes <= SMALLEST_CHUNK);
        let alone = small && claim.queue_depth == Some(1) && claim.jobs == Some(1);
        let sum: f64 = members.iter().map(|member| member.value).sum();
        let most = if alone { fastest.value } else { sum };
        if measured.value <= most * ABOVE_CEILING {
            continue;
        }
        let why = why(measured.value / most, alone, members.len(), &as_printed(claim, most).unwrap_or_default());
        let against: Vec<&Claim> = match alone {
            true => vec![fastest.claim],
            false => members.iter().map(|member| member.claim).collect(),
        };
        doubts.push(doubt(CheckId::H07, Severity::Wrong, claim, &against, why));
    }
    Found::new(CheckId::H07, places, doubts)
}

/// Above how much of what: `most` as printed is the fastest of `count` drives (`alone`), or all of them together.
fn why(ratio: f64, alone: bool, count: usize, most: &str) -> Say {
    Say::both(|lang| {
        let this = compared(ratio, lang);
        match (alone, ratio >= IN_FLIGHT_TOLD) {
            (true, false) => say_in!(
                lang,
                "With one I/O in flight, as the table states, the fastest drive gives {most}; this is {this}. Either a cache served part of it, or more was in flight.",
                "С одной операцией в очереди, как указано в таблице, самый быстрый диск даёт {most}, а здесь {this}. Либо часть операций обслужил кэш, либо в очереди их было больше."
            ),
            (true, true) => say_in!(
                lang,
                "With one I/O in flight, as the table states, the fastest drive gives {most}. At the latency of that drive this result takes about {flying} in flight: either there were more than the table states, or a cache served them.",
                "С одной операцией в очереди, как указано в таблице, самый быстрый диск даёт {most}. При задержке этого диска для такого результата нужно около {flying} операций в очереди: либо их было больше, чем указано, либо их обслужил кэш.",
                flying = format::count(ratio.round() as u64)
            ),
            (false, _) => say_in!(
                lang,
                "All {count} drives of the table together give {most}; this is {this}. Either a cache served part of it, or the system has drives that the table lacks.",
                "Все диски таблицы (их {count}) вместе дают {most}, а здесь {this}. Либо часть операций обслужил кэш, либо в системе есть диски, которых нет в таблице."
            ),
        }
    })
}

/// The same load on a drive alone.
fn is_member(row: &Claim, claim: &Claim) -> bool {
    row.experiment == MEMBERS
        && (&row.source, &row.test, &row.metric) == (&claim.source, &claim.test, &claim.metric)
        && same_load(row, claim)
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
        // The drive's 90.70 MB/s is a limit, not the value that should stand here.
        assert_eq!((doubt.row, doubt.against.as_slice(), doubt.right.as_deref()), (4, &[3][..], None));
        assert!(doubt.why.en.contains("gives 90.70 MB/s; this is 18.0 % more"), "{}", doubt.why.en);
    }

    #[test]
    fn one_large_io_may_be_served_by_several_drives_at_once() {
        let large = |row: Claim| Claim { block_size: Some(stend_base::Bytes::mib(1)), ..row };
        let with = |array: &str| ceiling(&table(1, array).into_iter().map(large).collect::<Vec<_>>()).doubts.len();
        assert_eq!((with("175.00"), with("200.00")), (0, 1));
    }

    #[test]
    fn sixty_four_threads_are_not_called_one_io_in_flight() {
        let doubts = ceiling(&table(1, "1439.00")).doubts;
        let (en, ru) = (&doubts[0].why.en, &doubts[0].why.ru);
        assert!(
            en.starts_with("With one I/O in flight, as the table states") && en.contains("about 16 in flight"),
            "{en}"
        );
        assert!(ru.starts_with("С одной операцией в очереди, как указано") && ru.contains("около 16 операций"), "{ru}");
    }

    #[test]
    fn a_deep_queue_may_use_all_of_them_and_no_more() {
        assert!(ceiling(&table(32, "181.00")).doubts.is_empty());
        let doubts = ceiling(&table(32, "200.00")).doubts;
        assert!(
            doubts[0].why.en.starts_with("All 2 drives of the table together give 181.00 MB/s"),
            "{}",
            doubts[0].why.en
        );
    }

    #[test]
    fn without_drives_in_the_table_nothing_can_be_said() {
        assert_eq!(ceiling(&table(1, "107.00")[2..]).places, 0);
    }

    #[test]
    fn drives_under_another_load_or_in_another_machine_bound_nothing() {
        let with = |change: fn(Claim) -> Claim| {
            let mut rows = table(1, "1439.00");
            rows[2] = change(rows[2].clone());
            ceiling(&rows).places
        };
        assert_eq!(with(|row| row), 1);
        assert_eq!(with(|row| Claim { pattern: "randread".into(), ..row }), 0);
        assert_eq!(with(|row| Claim { stand: "another".into(), ..row }), 0);
    }
}
