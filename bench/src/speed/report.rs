//! The result as Markdown.

use super::contenders::{Compared, Found, fio_arguments};
use super::experiment::{Mark, Peer, Place, Quantity};
use super::{Extent, t_io_uring};
use crate::fio::Fio;
use crate::{Outcome, Settings, machine, page, say};
use std::path::Path;
use std::time::Duration;

/// Writes the page, or prints what there is of it.
pub fn write(settings: &Settings, extent: Extent, fio: &Fio, start_up: Duration, results: &[Found]) -> Outcome<()> {
    if settings.only.is_some() {
        say(&table(results));
        return Ok(());
    }
    page::write(&settings.page("speed.md"), &document(settings, extent, fio, start_up, results))
}

fn document(settings: &Settings, extent: Extent, fio: &Fio, start_up: Duration, results: &[Found]) -> String {
    let (rounds, window) = (extent.rounds, extent.window.as_millis());
    let mut text = format!(
        "# What an I/O costs\n\n\
         Written by `make speed`; everything above \"Notes\" is replaced by the next run.\n\n\
         Blocks of 4 KiB at random over 512 MiB, {rounds} rounds of {window} ms each, the order of contenders reversed every other\n\
         round. The ratio is the median of the rounds' own ratios, Stend / peer, with its 95 % interval by order statistics. CPU\n\
         time is user and system time of the whole process, kernel workers of io_uring included; from fio's {} ms are taken off,\n\
         what it costs to start it. Stend is the released binary at its defaults, with a histogram of the latency of every\n\
         I/O. fio is run with the settings that Stend has by default, with its own defaults, and in batches of 16, whose latencies hold the waiting of\n\
         fifteen others. A bare ring is the same queue in a loop that only draws offsets, submits and reaps: what the kernel takes, below which\n\
         no program comes that uses io_uring so. The A/A floor is the 95th percentile of the distance of Stend from itself in the same rounds. A goal is reached when\n\
         the lower end of the interval is, missed when the upper end is not, and undecided between; that of a log of every I/O, if at that end an I/O takes no more than so many nanoseconds longer.\n\n\
         | what | |\n|---|---|\n",
        start_up.as_millis()
    );
    for (name, value) in machine::facts(settings, fio) {
        text += &format!("| {name} | {value} |\n");
    }
    text + "\n" + &table(results) + "\n" + &latencies(results) + "\n" + &commands(extent, results)
}

fn table(results: &[Found]) -> String {
    let mut text =
        "| load | backend | against | in | Stend | peer | ratio | 95 % interval | A/A floor | goal | reached |\n\
                    |---|---|---|---|---|---|---|---|---|---|---|\n"
            .to_string();
    for result in results {
        for Compared { goal, stend, peer, middle, floor } in &result.compared {
            let quantity = match goal.quantity {
                Quantity::Iops => "IOPS",
                Quantity::PerCpu => "ns of CPU per I/O",
                Quantity::Time => "ns per I/O",
            };
            let number = |value: f64| match goal.quantity {
                Quantity::Iops => format!("{value:.0}"),
                Quantity::PerCpu | Quantity::Time => format!("{:.0}", 1e9 / value),
            };
            let (low, high) = middle.interval;
            let (wanted, reached) = match goal.mark {
                None => ("–".to_string(), "–"),
                Some(Mark { id, must, stretch }) if goal.quantity == Quantity::Time => {
                    let most = more(*peer, low);
                    let reached = match most {
                        _ if most <= stretch => "yes, and the further goal",
                        _ if most <= must => "yes",
                        _ if more(*peer, high) <= must => "undecided",
                        _ => "**no**",
                    };
                    (format!("{id} ≤ {must} ns more (aim {stretch}): at most {most:.1}"), reached)
                }
                Some(Mark { id, must, stretch }) => {
                    let reached = match low {
                        _ if low >= stretch => "yes, and the further goal",
                        _ if low >= must => "yes",
                        _ if high >= must => "undecided",
                        _ => "**no**",
                    };
                    (format!("{id} ≥ {must} (aim {stretch})"), reached)
                }
            };
            text += &format!(
                "| {} | {} | {} | {quantity} | {} | {} | {:.2} | {low:.2} to {high:.2} | ±{:.1} % | {wanted} | {reached} |\n",
                result.experiment.name,
                result.backend,
                name(goal.peer),
                number(*stend),
                number(*peer),
                middle.ratio,
                floor * 100.0,
            );
        }
    }
    text
}

/// What each of those who measure latencies measured: what a batch costs.
fn latencies(results: &[Found]) -> String {
    let mut text = "| load | measured by | median, µs | p99, µs |\n|---|---|--:|--:|\n".to_string();
    for result in results.iter().filter(|result| result.latencies.len() > 1) {
        for (who, (p50, p99)) in &result.latencies {
            let who = who.map_or("Stend", name);
            text += &format!("| {} | {who} | {:.1} | {:.1} |\n", result.experiment.name, p50 / 1e3, p99 / 1e3);
        }
    }
    text
}

/// How much longer an I/O takes than one of the peer's, ns, if there are `ratio` times as many per second.
fn more(peer: f64, ratio: f64) -> f64 {
    1e9 / peer * (1.0 / ratio - 1.0)
}

fn commands(extent: Extent, results: &[Found]) -> String {
    let mut text = "Command lines:\n\n".to_string();
    for result in results {
        let target = if result.experiment.place == Place::DevNull { "/dev/null" } else { "TARGET" };
        for peer in result.experiment.peers().into_iter().filter(|peer| {
            !matches!(
                peer,
                Peer::OneThread | Peer::OneJob | Peer::OneFile | Peer::NoLog | Peer::Bare | Peer::BareTogether
            )
        }) {
            let (target, window) = (Path::new(target), extent.window);
            let (program, words) = match peer {
                Peer::TIoUring => ("t/io_uring", t_io_uring::arguments(&result.experiment, target, window)),
                _ => ("fio", fio_arguments(&result.experiment, peer, target, window, 1)),
            };
            text += &format!("- {}, {}: `{program} {}`\n", result.experiment.name, name(peer), words.join(" "));
        }
    }
    text + "\n"
}

fn name(peer: Peer) -> &'static str {
    match peer {
        Peer::FioSame => "fio, the same settings",
        Peer::FioDefault => "fio, its defaults",
        Peer::FioBatches => "fio, batches of 16",
        Peer::FioPsync => "fio, psync",
        Peer::FioNull => "fio, null, *clat* only",
        Peer::OneThread => "Stend, 1 thread",
        Peer::OneJob => "Stend, as many in one job",
        Peer::OneFile => "Stend, one file",
        Peer::NoLog => "Stend, no log",
        Peer::TIoUring => "t/io_uring, no latency",
        Peer::Bare => "a bare ring, nothing measured",
        Peer::BareTogether => "a bare ring, submitted together",
    }
}

#[cfg(test)]
mod tests {
    use super::super::experiment;
    use super::*;
    use stend_stats::paired;

    fn shown(effects: [f64; 6]) -> String {
        row("write /dev/null, depth 1, plain calls", 5e6, 2e6, effects)
    }

    fn row(name: &str, stend: f64, peer: f64, effects: [f64; 6]) -> String {
        let experiment = experiment::all().into_iter().find(|e| e.name == name).unwrap();
        let goal = experiment.goals[0];
        let middle = paired::middle(&effects).unwrap();
        let compared = vec![Compared { goal, stend, peer, middle, floor: 0.01 }];
        table(&[Found { experiment, compared, backend: "io_uring".into(), latencies: Vec::new() }])
    }

    #[test]
    fn a_goal_is_reached_by_the_lower_end_and_not_by_the_middle() {
        let row = shown([1.2; 6]);
        assert!(row.contains("| yes, and the further goal |") && row.contains("| 200 | 500 |"), "{row}");
        assert!(shown([0.6; 6]).contains("| yes |"));
        assert!(shown([-0.5, 1.2, 1.2, 1.2, 1.2, 1.2]).contains("| undecided |"));
        assert!(shown([-0.5; 6]).contains("| **no** |"));
    }

    #[test]
    fn a_goal_of_time_is_reached_by_what_it_takes_at_most() {
        // Without a log 40 ns; with one half as fast, so 40 ns more, or 8 ns more.
        let of = |share: f64| row("no I/O, depth 32, with a log", 25e6 * share, 25e6, [share.ln(); 6]);
        assert!(of(0.5).contains("at most 40.0 | **no** |"), "{}", of(0.5));
        assert!(of(40.0 / 60.0).contains("at most 20.0 | yes |") && of(40.0 / 48.0).contains("| yes, and the"));
    }
}
