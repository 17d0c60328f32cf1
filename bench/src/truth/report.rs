//! The result as Markdown.

use super::{little, many, rates, stall, stamps};
use crate::fio::Fio;
use crate::{Outcome, Settings, machine, page, say};
use stend_base::{Bytes, Nanos, Share};
use stend_spec::rate::Gaps;

/// Everything that was measured.
pub struct Found {
    /// Stalls.
    pub stalls: Vec<stall::Row>,
    /// Rates.
    pub rates: Vec<rates::Row>,
    /// Loads of many threads.
    pub many: Vec<many::Row>,
    /// Depths.
    pub in_flight: Vec<little::Row>,
    /// Stamps by depth.
    pub stamps: Vec<stamps::Row>,
}

/// Distance from the truth that Stend must keep to.
const STALL: f64 = 0.01;
/// Least share of the depth that must be in flight.
const LITTLE: f64 = 0.9;
/// Largest share of the depth, and of what Stend counts the block layer's: reads of others, the drain and whole milliseconds.
const MORE: f64 = 1.05;

/// Writes the page, or prints what there is of it.
pub fn write(settings: &Settings, fio: &Fio, found: &Found) -> Outcome<()> {
    if settings.only.is_some() {
        say(&body(found));
        return Ok(());
    }
    let mut text = "# Does a load come as asked, and does a stall show?\n\n\
                    Written by `make truth`; everything above \"Notes\" is replaced by the next run.\n\n\
                    | what | |\n|---|---|\n"
        .to_string();
    for (name, value) in machine::facts(settings, fio) {
        text += &format!("| {name} | {value} |\n");
    }
    page::write(&settings.page("truth.md"), &(text + "\n" + &body(found)))
}

fn body(found: &Found) -> String {
    stalls(&found.stalls)
        + &rates(&found.rates)
        + &in_flight(&found.in_flight)
        + &stamps(&found.stamps)
        + &many(&found.many)
}

fn stalls(rows: &[stall::Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## A stall of a second\n\n\
         1000 writes of 4 KiB per second for 10 s, direct, on ext4 on a loop device over memory, which is frozen for a second\n\
         (`fsfreeze`). Truth is what everybody had to wait who arrived meanwhile, from the stamps around freezing and thawing.\n\
         Stend must be within {:.0} % of it.\n\n\
         | tool | frozen, ms | p95: truth, told, ms | p99: truth, told, ms | p99.9: truth, told, ms | holds |\n|---|---|---|---|---|---|\n",
        STALL * 100.0
    );
    for row in rows {
        let cells = super::QUANTILES.iter().zip(row.told).map(|(q, told)| {
            let (least, most) = row.truth(*q);
            let told = told.map_or("–".to_string(), |told| format!("{told:.1}"));
            format!("{least:.0} to {most:.0}, **{told}**")
        });
        let (least, most) = (row.stall.0.as_millis(), row.stall.1.as_millis());
        let holds = match row.tool {
            "Stend" if holds(row) => "yes",
            "Stend" => "**no**",
            _ => "–",
        };
        let cells = cells.collect::<Vec<_>>().join(" | ");
        text += &format!("| {} | {least} to {most} | {cells} | {holds} |\n", row.tool);
    }
    text + "\n"
}

fn holds(row: &stall::Row) -> bool {
    super::QUANTILES.iter().zip(row.told).all(|(q, told)| {
        let (least, most) = row.truth(*q);
        told.is_some_and(|told| told >= least * (1.0 - STALL) && told <= most * (1.0 + STALL))
    })
}

fn rates(rows: &[rates::Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "## The rate that was asked for\n\n\
                    4 s each: Stend writes to `/dev/null` through io_uring, fio uses its null engine. A share of 1 is what was asked;\n\
                    allowed are 0.1 %, and of a Poisson process two standard deviations where that is more.\n\n\
                    | rate | gaps | Stend | due, of these made | fio | Stend holds |\n|---|---|---|---|---|---|\n"
        .to_string();
    for row in rows {
        let gaps = if row.gaps == Gaps::Poisson { "poisson" } else { "even" };
        let holds = (row.stend - 1.0).abs() <= row.allowed() && row.due.0 == row.due.1;
        let verdict = if holds { "yes" } else { "**no**" };
        text += &format!(
            "| {}/s | {gaps} | {:.5} | {}, {} | {:.4} | {verdict} |\n",
            row.rate, row.stend, row.due.0, row.due.1, row.fio
        );
    }
    text + "\n"
}

fn in_flight(rows: &[little::Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## In flight\n\n\
         Random reads of 4 KiB of a loop device over memory, direct, one job, 4 s. At least {LITTLE} of the depth must be in flight by\n\
         latency times rate (Little), with those that wait for their turn to be submitted. The block layer counts for itself what is in its queue: less, because Stend also counts the way\n\
         there and back. How much less is shown and not judged; more may it not have.\n\n\
         | depth | latency × rate | wait for their turn | block layer | holds |\n|---|---|---|---|---|\n"
    );
    for row in rows {
        let verdict = if row.holds() { "yes" } else { "**no**" };
        text += &format!(
            "| {} | {:.2} | {:.2} | {:.2} | {verdict} |\n",
            row.depth, row.by_latency, row.waiting, row.by_device
        );
    }
    text + "\n"
}

fn stamps(rows: &[stamps::Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "## Stamps\n\n\
                    Random reads of 4 KiB of a loop device over memory, direct, one job, 1 s. How much later Stend stamps a completion than the kernel\n\
                    is done with the request (trace point `block_rq_complete`, whole µs, so up to 1 µs too much). It is part of the latency. Every\n\
                    result tells how late its stamps are at most on the mean, but for one wake-up of the thread, which depth 1 shows.\n\n\
                    | depth | I/Os | median latency, µs | late: median, µs | p99, µs | p99.9, µs | median late, of the median latency | mean late: traced, told at most, µs | holds |\n\
                    |---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    let wake_up = rows.iter().find(|row| row.depth == 1).map_or(0.0, stamps::Row::mean);
    for row in rows {
        let micros = |time: Option<Nanos>| time.map_or(f64::NAN, |time| time.0 as f64 / 1e3);
        let [median, p99, p999] = [0.5, 0.99, 0.999].map(|q| micros(row.late.quantile(Share(q))));
        let latency = row.latency / 1e3;
        text += &format!(
            "| {} | {} of {} | {latency:.1} | {median:.1} | {p99:.1} | {p999:.1} | {:.1} % | {:.1}, {:.1} | {} |\n",
            row.depth,
            row.found.0,
            row.found.1,
            median / latency * 100.0,
            row.mean() / 1e3,
            row.told / 1e3,
            if row.is_bounded(wake_up) { "yes" } else { "**no**" }
        );
    }
    text + "\n"
}

fn many(rows: &[many::Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "## Many threads\n\n\
                    No I/O is made (`backend: none`), 2 s; at a rate 100,000 per second of all threads together. Of what was due in the first\n\
                    100 ms that share began in it. Memory is the most that the worker held, less what it held before.\n\n\
                    | load | threads | memory, MiB | first interval | all |\n|---|---|---|---|---|\n"
        .to_string();
    for many::Row { name, threads, memory, first, all } in rows {
        let share = |share: Option<f64>| share.map_or("–".to_string(), |share| format!("{share:.4}"));
        let memory = memory.0 as f64 / Bytes::mib(1).0 as f64;
        text += &format!("| {name} | {threads} | {memory:.0} | {} | {} |\n", share(*first), share(*all));
    }
    text + "\n"
}

impl little::Row {
    fn holds(&self) -> bool {
        let share = (self.by_latency + self.waiting) / f64::from(self.depth);
        (LITTLE..=MORE).contains(&share) && self.by_device <= self.by_latency * MORE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_stall_holds_within_a_hundredth_and_a_tool_that_hides_it_does_not() {
        let stall = (Duration::from_millis(1000), Duration::from_millis(1004));
        let row = |told| stall::Row { tool: "Stend", stall, told };
        assert!(holds(&row([503.0, 905.0, 993.0].map(Some))));
        assert!(!holds(&row([503.0, 2.8, 993.0].map(Some))));
        assert!(!holds(&row([None, Some(905.0), Some(993.0)])));
    }

    #[test]
    fn what_is_in_flight_must_be_the_depth_and_the_device_may_not_see_more() {
        let row = |by_latency, waiting, by_device| little::Row { depth: 32, by_latency, waiting, by_device };
        let holds = |by_latency, by_device| row(by_latency, 0.0, by_device).holds();
        assert!(row(28.0, 3.0, 20.0).holds() && !row(28.0, 6.0, 20.0).holds());
        assert!(holds(31.8, 28.2) && holds(29.0, 29.0));
        assert!(!holds(28.0, 20.0) && !holds(34.0, 20.0), "not the depth");
        assert!(!holds(30.0, 32.0), "the device saw more than the latencies tell");
    }

    #[test]
    fn a_rate_must_come_and_nothing_may_be_lost() {
        let row = |stend, made| rates::Row { rate: 1000, gaps: Gaps::Even, stend, due: (4000, made), fio: 1.0 };
        assert!(rates(&[row(1.0005, 4000)]).contains("| yes |"));
        assert!(rates(&[row(1.002, 4000)]).contains("**no**") && rates(&[row(1.0, 3999)]).contains("**no**"));
    }
}
