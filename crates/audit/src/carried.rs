//! H85: more than the links carry that a table states. Data that did not pass them came from a cache in front of them, or the links
//! are others.

use super::direction::is_one_way;
use super::link::Link;
use super::settings::Settings;
use super::{Cell, Found, Severity, block_size, cell, compared, doubt};
use stend_analyse::findings::CheckId;
use stend_base::{format, say};
use stend_record::published::{Claim, Dimension, Unread};

/// Metrics that are bytes, or I/Os, per second.
const THROUGHPUTS: [&str; 2] = ["throughput", "peak_throughput"];
const RATES: [&str; 2] = ["iops", "peak_iops"];

/// The links of a table.
pub(super) struct Links<'a>(Vec<(&'a Claim, Link)>);

impl<'a> Links<'a> {
    /// Rows with the metric `config_link`, or one that begins with `config_link_`. Cells that are not understood are listed as unread.
    pub(super) fn of(rows: &'a [Claim], unread: &mut Vec<Unread>) -> Links<'a> {
        let mut links = Vec::new();
        let is_link = |row: &&Claim| row.metric == "config_link" || row.metric.starts_with("config_link_");
        for row in rows.iter().filter(is_link) {
            match Link::parse(&row.printed) {
                Ok(link) => links.push((row, link)),
                Err(why) => unread.push(Unread { row: row.row, column: "value".into(), why }),
            }
        }
        Links(links)
    }

    /// The narrowest links that the data of a number pass, with what they carry for its mix of reads and writes, bytes per second.
    pub(super) fn narrowest(&self, settings: &Settings<'_>, claim: &Claim) -> Option<(&'a Claim, f64)> {
        let one_way = is_one_way(claim);
        let of = self.0.iter().filter(|(row, _)| settings.concern(row, claim));
        let limits = of.map(|(row, link)| (*row, if one_way { link.one_way } else { link.both_ways }));
        limits.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

pub(super) fn carried(rows: &[Claim], settings: &Settings<'_>, links: &Links<'_>) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for claim in rows {
        let Some(moved) = moved(claim) else { continue };
        let Some((row, limit)) = links.narrowest(settings, claim) else { continue };
        places += 1;
        if moved.value - moved.half <= limit {
            continue;
        }
        let (name, line, ratio) = (&row.printed, row.row, moved.value / limit);
        let why = say!(
            |lang| "`{n}` (row {r}) carries at most {l}, but this is {x}. Either part of the data never crossed this link (a cache or compression in front of it), or the test used another link.",
            "Канал `{n}` (строка {r}) пропускает не больше {l}, а здесь {x}. Либо часть данных по нему не шла (кэш или сжатие перед ним), либо использовался другой канал.",
            l = format::throughput(limit, lang),
            x = compared(ratio, lang),
            r = line,
            n = name
        );
        doubts.push(doubt(CheckId::H85, Severity::Wrong, claim, &[row], why));
    }
    Found::new(CheckId::H85, places, doubts)
}

/// Bytes per second that a number stands for.
fn moved(claim: &Claim) -> Option<Cell<'_>> {
    let metric = claim.metric.as_str();
    if THROUGHPUTS.contains(&metric) {
        return cell(claim, Dimension::Throughput);
    }
    let rate = cell(claim, Dimension::Rate).filter(|_| RATES.contains(&metric))?;
    let block = block_size(claim)?;
    Some(Cell { value: rate.value * block, half: rate.half * block, ..rate })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::claim;
    use super::*;

    fn link(row: u32, text: &str) -> Claim {
        Claim { printed: text.into(), value: None, ..claim(row, "", "config_link", "text", "1") }
    }

    fn of(rows: &[Claim]) -> (Found, Vec<Unread>) {
        let mut unread = Vec::new();
        let links = Links::of(rows, &mut unread);
        (carried(rows, &Settings::new(rows), &links), unread)
    }

    #[test]
    fn two_ports_of_3_gbit_carry_no_1500_mb() {
        let (found, _) = of(&[link(2, "2 x SATA 3G"), claim(3, "seq-read", "throughput", "MB/s", "1500")]);
        let [doubt] = found.doubts.as_slice() else { panic!("{:?}", found.doubts) };
        assert_eq!((doubt.check, doubt.row, doubt.against.as_slice()), (CheckId::H85, 3, &[2][..]));
        assert_eq!((doubt.severity, doubt.right.as_deref()), (Severity::Wrong, None));
        let (en, ru) = (&doubt.why.en, &doubt.why.ru);
        assert!(
            en.starts_with("`2 x SATA 3G` (row 2) carries at most 600 MB/s, but this is 2.50 times as much."),
            "{en}"
        );
        assert!(ru.contains("не больше 600 МБ/с, а здесь в\u{a0}2,50\u{a0}раза больше"), "{ru}");
    }

    #[test]
    fn what_the_links_carry_passes_with_its_rounding() {
        for (link_text, test, metric, unit, printed) in [
            ("2 x SATA 3G", "seq-read", "throughput", "MB/s", "560"),
            // 0.6 with one digit may be 0.55.
            ("SATA 6G", "seq-read", "peak_throughput", "MB/s", "600"),
            // 1,400,000 × 4 KiB are 5734 MB/s.
            ("4 x FC 16G", "rand-read-4k", "iops", "IOPS", "1400000"),
            // Both directions carry together.
            ("PCIe 3.0 x4", "mixed", "throughput", "MB/s", "5000"),
        ] {
            let (found, unread) = of(&[link(2, link_text), claim(3, test, metric, unit, printed)]);
            assert_eq!((found.places, found.doubts.len(), unread.len()), (1, 0, 0), "{link_text}: {:?}", found.doubts);
        }
        let one_way =
            |test: &str| of(&[link(2, "PCIe 3.0 x4"), claim(3, test, "throughput", "MB/s", "5000")]).0.doubts.len();
        assert_eq!(["seq-read", "randread", "запись", "random writes"].map(one_way), [1; 4]);
        let both = ["read 70 / write 30", "randrw", "mixed read", "64 threads", "readwrite", "чтение и запись"];
        assert_eq!(both.map(one_way), [0; 6]);
    }

    #[test]
    fn the_narrowest_of_several_links_on_the_way_counts() {
        let rows = [
            link(2, "8 x SAS 3G"),
            Claim { metric: "config_link_host".into(), ..link(3, "PCIe 1.1 x4") },
            claim(4, "rand-write-4k", "iops", "IOPS", "300000"),
        ];
        let (found, _) = of(&rows);
        assert_eq!((found.doubts.len(), found.doubts[0].against.as_slice()), (1, &[3][..]));
    }

    #[test]
    fn links_of_another_system_or_experiment_say_nothing() {
        let other = |row: Claim| Claim { layout: "other".into(), ..row };
        let rows = [
            other(link(2, "SATA 3G")),
            other(claim(3, "seq-read", "throughput", "MB/s", "250")),
            claim(4, "seq-read", "throughput", "MB/s", "1500"),
        ];
        assert_eq!((of(&rows).0.places, of(&rows).0.doubts.len()), (1, 0));
        let foreign = Claim { source: "elsewhere".into(), ..link(2, "SATA 3G") };
        assert_eq!(of(&[foreign, claim(3, "seq-read", "throughput", "MB/s", "1500")]).0.places, 0);
    }

    #[test]
    fn a_link_that_is_not_understood_is_told_with_its_row() {
        let (found, unread) = of(&[link(2, "two ports"), claim(3, "seq-read", "throughput", "MB/s", "1500")]);
        assert_eq!((found.places, unread.len(), unread[0].row, unread[0].column.as_str()), (0, 1, 2, "value"));
    }
}
