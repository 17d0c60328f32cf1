//! H82: what the text and the table say of the load against the command that is printed beside them. Which of them is right the
//! table does not tell.

use super::command::{Command, block_size};
use super::settings::Settings;
use super::words::duration;
use super::{Found, Severity, doubt};
use stend_analyse::findings::CheckId;
use stend_base::{Bytes, Lang, Say, format, say_in};
use stend_record::published::{Claim, Dimension, Unread};

/// Metrics that hold a whole command line, as text.
const COMMANDS: [&str; 3] = ["command", "config_command", "fio_command"];

/// A length in words may be off by so much ("half an hour" for 28 minutes; by eye).
const WORDS_ROUND: f64 = 0.1;

/// What is said of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Runtime,
    WorkingSet,
    BlockSize,
    QueueDepth,
    Jobs,
}

/// One statement with where it stands.
struct Fact<'a> {
    claim: &'a Claim,
    kind: Kind,
    /// Seconds, bytes or a count.
    value: f64,
    /// What rounding or words leave open.
    half: f64,
    /// Any whole multiple will do: jobs of each of several targets or sections, of which the command does not tell how many.
    each: bool,
}

pub(super) fn stated(rows: &[Claim], settings: &Settings<'_>, unread: &mut Vec<Unread>) -> Found {
    let (mut said, mut run) = (Vec::new(), Vec::new());
    for claim in rows {
        if COMMANDS.contains(&claim.metric.as_str()) {
            match Command::parse(&claim.printed) {
                Ok(command) => run.extend(of_command(claim, &command)),
                Err(why) => unread.push(Unread { row: claim.row, column: "value".into(), why }),
            }
        } else if claim.metric.starts_with("fio_") {
            run.extend(of_setting(claim, claim.metric.trim_start_matches("fio_"), true));
        } else if claim.metric.starts_with("config_") {
            said.extend(of_setting(claim, claim.metric.trim_start_matches("config_"), false));
        }
        said.extend(of_columns(claim));
    }
    let (mut places, mut doubts, mut told) = (0, Vec::new(), Vec::new());
    for fact in &said {
        let commands: Vec<&Fact<'_>> =
            run.iter().filter(|run| run.kind == fact.kind && settings.concern(run.claim, fact.claim)).collect();
        if commands.is_empty() {
            continue;
        }
        places += 1;
        let against: Vec<&&Fact<'_>> = commands.iter().filter(|run| differ(fact, run)).collect();
        // Where one of several commands agrees, it may be the one that is meant.
        let Some(first) = against.first().filter(|_| against.len() == commands.len()) else { continue };
        // A column says the same in every row of its test: once is enough.
        let key = (fact.kind, &fact.claim.source, &fact.claim.experiment, &fact.claim.test, fact.value.to_bits());
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let rows: Vec<&Claim> = against.iter().map(|run| run.claim).collect();
        let rows: Vec<&Claim> = rows.into_iter().filter(|row| row.row != fact.claim.row).collect();
        doubts.push(doubt(CheckId::H82, Severity::Wrong, fact.claim, &rows, why(fact, first)));
    }
    Found::new(CheckId::H82, places, doubts)
}

/// What a command line says of its load.
fn of_command<'a>(claim: &'a Claim, command: &Command) -> Vec<Fact<'a>> {
    let fact = |kind, value: Option<f64>| {
        value.map(|value| Fact { claim, kind, value, half: 0.0, each: kind == Kind::Jobs && command.jobs_each })
    };
    let count = |count: Option<u32>| count.map(f64::from);
    [
        fact(Kind::Runtime, command.runtime.map(|time| time.0 as f64 / 1e9)),
        fact(Kind::WorkingSet, command.size.map(|size| size.0 as f64)),
        fact(Kind::BlockSize, command.block_size.map(|size| size.0 as f64)),
        fact(Kind::QueueDepth, count(command.queue_depth)),
        fact(Kind::Jobs, count(command.jobs)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a row says that holds one setting, of the text or of a job file (`run`).
fn of_setting<'a>(claim: &'a Claim, name: &str, run: bool) -> Option<Fact<'a>> {
    let number = |dimension| claim.value.filter(|number| number.dimension == dimension && number.value > 0.0);
    let (kind, value, half) = match name {
        "runtime" => match number(Dimension::Time) {
            Some(time) => (Kind::Runtime, time.value, time.step / 2.0),
            None if claim.value.is_none() => {
                let seconds = duration(&claim.printed)?;
                (Kind::Runtime, seconds, seconds * WORDS_ROUND)
            }
            None => return None,
        },
        "size" | "working_set" => number(Dimension::Size).map(|n| (Kind::WorkingSet, n.value, n.step / 2.0))?,
        "block" | "block_size" | "blocksize" | "bs" => {
            let text = claim.printed.rsplit('=').next().unwrap_or_default();
            (Kind::BlockSize, block_size(text)?.0 as f64, 0.0)
        }
        "queue_depth" | "iodepth" => number(Dimension::Plain).map(|n| (Kind::QueueDepth, n.value, 0.0))?,
        "jobs" | "numjobs" => number(Dimension::Plain).map(|n| (Kind::Jobs, n.value, 0.0))?,
        _ => return None,
    };
    // Settings of a job file count for each of its sections.
    Some(Fact { claim, kind, value, half, each: run && kind == Kind::Jobs })
}

/// What the columns of a row say.
fn of_columns(claim: &Claim) -> impl Iterator<Item = Fact<'_>> {
    let of = [
        (Kind::BlockSize, claim.block_size.map(|size| size.0 as f64)),
        (Kind::QueueDepth, claim.queue_depth.map(f64::from)),
        (Kind::Jobs, claim.jobs.map(f64::from)),
    ];
    of.into_iter().filter_map(move |(kind, value)| Some(Fact { claim, kind, value: value?, half: 0.0, each: false }))
}

fn differ(said: &Fact<'_>, run: &Fact<'_>) -> bool {
    if run.each && run.value > 0.0 && said.value >= run.value && said.value % run.value == 0.0 {
        return false;
    }
    // `20G` of fio are 20 GiB, and a text that says 20 GB may mean them.
    let binary = said.kind == Kind::WorkingSet && {
        let share = run.value / said.value;
        [1.024f64, 1.024f64.powi(2), 1.024f64.powi(3), 1.024f64.powi(4)]
            .iter()
            .any(|unit| (share / unit - 1.0).abs() < 1e-3)
    };
    (said.value - run.value).abs() > said.half + run.half + 1e-9 * run.value && !binary
}

fn why(said: &Fact<'_>, run: &Fact<'_>) -> Say {
    let is_command = |claim: &Claim| COMMANDS.contains(&claim.metric.as_str());
    let (in_text, row) = (said.claim.metric.starts_with("config_") && !is_command(said.claim), run.claim.row);
    Say::both(|lang| {
        let place = if in_text { lang.pick("text", "тексте") } else { lang.pick("table", "таблице") };
        let run_place = if is_command(run.claim) {
            lang.pick("command", "команде")
        } else {
            lang.pick("job file", "файле задания")
        };
        say_in!(
            lang,
            "The {place} states {stated}, but the {run_place} (row {row}) says {run}: one of the two differs from what was run.",
            "В {place} {stated}, а в {run_place} (строка {row}) — {run}: в одном из двух мест указано не то, что запускали.",
            stated = said.kind.stated(said.value, lang),
            run = run.kind.value(run.value, lang)
        )
    })
}

impl Kind {
    /// What a load has, in words: "a run time of 1800 s", «время прогона 1800 с».
    fn stated(self, value: f64, lang: Lang) -> String {
        let printed = self.value(value, lang);
        match self {
            Kind::Runtime => say_in!(lang, "a run time of {printed}", "время прогона {printed}"),
            Kind::WorkingSet => say_in!(lang, "a working set of {printed}", "рабочая область {printed}"),
            Kind::BlockSize => say_in!(lang, "a block size of {printed}", "размер блока {printed}"),
            Kind::QueueDepth => say_in!(lang, "a queue depth of {printed}", "глубина очереди {printed}"),
            Kind::Jobs if value == 1.0 => say_in!(lang, "{printed} job", "{printed} задание"),
            Kind::Jobs => say_in!(lang, "{printed} jobs", "число заданий {printed}"),
        }
    }

    fn value(self, value: f64, lang: Lang) -> String {
        match self {
            Kind::Runtime => format!("{} {}", format::number(value, lang), lang.pick("s", "с")),
            Kind::WorkingSet | Kind::BlockSize => format::bytes(Bytes(value as u64), lang),
            Kind::QueueDepth | Kind::Jobs => format::count(value as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Doubt;
    use super::super::fixture::claim;
    use super::*;

    fn text(row: u32, test: &str, metric: &str, printed: &str) -> Claim {
        let claim = Claim { block_size: None, ..claim(row, test, metric, "text", "1") };
        Claim { printed: printed.into(), value: None, ..claim }
    }

    fn number(row: u32, test: &str, depth: u32, jobs: u32) -> Claim {
        Claim { queue_depth: Some(depth), jobs: Some(jobs), ..claim(row, test, "iops", "IOPS", "1000") }
    }

    fn of(rows: &[Claim]) -> (usize, Vec<Doubt>, Vec<Unread>) {
        let mut unread = Vec::new();
        let found = stated(rows, &Settings::new(rows), &mut unread);
        (found.places, found.doubts, unread)
    }

    #[test]
    fn half_an_hour_in_the_text_is_no_2400_s_in_the_job_file() {
        let seconds = |row: u32, printed: &str| {
            let mut claim = claim(row, "a", "fio_runtime", "ms", printed);
            claim.value = claim.value.map(|n| stend_record::published::Number { value: n.value * 1e3, ..n });
            claim
        };
        let rows = |said: &str| [text(2, "all", "config_runtime", said), seconds(3, "2400"), seconds(4, "2400")];
        for said in ["полчаса", "half an hour"] {
            let (places, doubts, _) = of(&rows(said));
            assert_eq!((places, doubts.len(), doubts[0].row, doubts[0].against.as_slice()), (1, 1, 2, &[3, 4][..]));
            assert!(
                doubts[0]
                    .why
                    .en
                    .starts_with("The text states a run time of 1800 s, but the job file (row 3) says 2400 s"),
                "{}",
                doubts[0].why.en
            );
        }
        assert!(of(&rows("40 минут")).1.is_empty());
        assert_eq!(of(&rows("several days")).0, 0, "not understood, so not judged");
    }

    #[test]
    fn sixteen_jobs_in_the_table_are_no_4_in_the_command() {
        let command =
            |jobs: u32| text(2, "rr", "command", &format!("fio -bs=4k -iodepth=128 -numjobs={jobs} -runtime=60"));
        let (_, doubts, _) = of(&[command(4), number(3, "rr", 128, 16), number(4, "rr", 128, 16)]);
        assert_eq!((doubts.len(), doubts[0].row, doubts[0].against.as_slice()), (1, 3, &[2][..]));
        assert!(
            doubts[0].why.en.starts_with("The table states 16 jobs, but the command (row 2) says 4"),
            "{}",
            doubts[0].why.en
        );
        let (places, doubts, unread) = of(&[command(16), number(3, "rr", 128, 16)]);
        assert_eq!((places, doubts.len(), unread.len()), (3, 0, 0));
        assert_eq!(of(&[command(4), number(3, "other", 128, 16)]).0, 0, "of another test");
    }

    #[test]
    fn jobs_of_each_target_may_be_several_times_as_many() {
        let command = text(2, "rr", "config_command", "-b4K -t32 -o32 -w0 -d10");
        assert!(of(&[command.clone(), number(3, "rr", 32, 64)]).1.is_empty());
        assert_eq!(of(&[command, number(3, "rr", 32, 48)]).1.len(), 1);
    }

    #[test]
    fn the_working_set_of_the_text_is_held_against_the_command() {
        let said = |printed: &str| {
            let mut claim = claim(2, "rr", "config_working_set", "x", printed);
            claim.value = claim.value.map(|n| stend_record::published::Number {
                value: n.value * 1e9,
                step: n.step * 1e9,
                dimension: Dimension::Size,
                ..n
            });
            claim.block_size = None;
            claim
        };
        let command = text(3, "rr", "command", "fio -bs=4k -size=20G");
        assert!(of(&[said("20"), command.clone()]).1.is_empty(), "20G are 20 GiB");
        assert_eq!(of(&[said("100"), command]).1.len(), 1);
    }

    #[test]
    fn a_command_that_cannot_be_read_is_told() {
        let (places, _, unread) = of(&[text(2, "rr", "command", "fio -bs=4q"), number(3, "rr", 1, 1)]);
        assert_eq!((places, unread.len(), unread[0].row), (0, 1, 2));
    }

    #[test]
    fn a_command_for_writes_says_nothing_of_reads() {
        let with = |pattern: &str| {
            let command = Claim { pattern: pattern.into(), ..text(2, "4k", "command", "fio -bs=4k -iodepth=128") };
            of(&[command, Claim { pattern: "randread".into(), ..number(3, "4k", 32, 16) }]).1.len()
        };
        assert_eq!((with("randwrite"), with("randread"), with("")), (0, 1, 1));
    }
}
