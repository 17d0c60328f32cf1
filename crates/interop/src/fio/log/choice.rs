//! Which logs of fio are read: by their names the jobs that they are of, and of each job what says most. Must not judge what is in them.

use super::scan::LatencyLines;
use std::collections::BTreeMap;
use std::io::Read;
use stend_base::{Error, Result, Say, say};

/// Bytes of a log that show what it holds: some lines.
const BEGIN: usize = 512;

/// What a log is of, by its name. In the order of how much it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// From before the submission.
    Lat,
    /// From after it.
    Clat,
    /// Histograms of clat.
    Histogram,
    /// I/Os per second, or a line for each I/O.
    Iops,
    /// KiB per second, or a line for each I/O.
    Bw,
    /// The time of the submission alone.
    Slat,
}

/// A log by its name: `PREFIX_lat.N.log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Directory and prefix: jobs of one run of fio.
    pub group: String,
    /// Prefix.
    pub case: String,
    pub of: Of,
    /// Number of the job; 0 if it has none.
    pub job: u32,
}

/// Logs of the jobs of one run of fio.
pub struct Jobs<'n> {
    group: String,
    pub case: String,
    /// By number of the job.
    pub logs: BTreeMap<u32, BTreeMap<Of, &'n str>>,
}

/// What is read of a job.
pub enum Choice<'n> {
    /// A log of single I/Os, or of their histograms.
    Each(Of, &'n str),
    /// Averages: I/Os and bytes per second, and mean latencies.
    Averages { iops: &'n str, bw: &'n str, latency: Option<(Of, &'n str)> },
}

/// What a log begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    Empty,
    /// A single I/O, or something that is no log.
    Each,
    Average,
}

/// By run of fio the logs of its jobs.
pub fn jobs(names: &[String]) -> Result<(Vec<Jobs<'_>>, Vec<Say>)> {
    let mut groups: Vec<Jobs<'_>> = Vec::new();
    let mut dropped = Vec::new();
    for name in names {
        let named = named(name)?;
        let at = groups.iter().position(|jobs| jobs.group == named.group).unwrap_or_else(|| {
            groups.push(Jobs { group: named.group.clone(), case: named.case.clone(), logs: BTreeMap::new() });
            groups.len() - 1
        });
        let logs = groups[at].logs.entry(named.job).or_default();
        match logs.contains_key(&named.of) {
            true => dropped.push(not_read(name)),
            false => drop(logs.insert(named.of, name)),
        }
    }
    Ok((groups, dropped))
}

/// What of the logs of a job is read; what is not goes to `dropped`.
pub fn of_job<'n>(
    logs: &BTreeMap<Of, &'n str>,
    open: &dyn Fn(&str) -> Result<Box<dyn Read>>,
    dropped: &mut Vec<Say>,
) -> Result<Choice<'n>> {
    let mut found: Vec<(Of, &'n str, Begins)> = Vec::new();
    for (of, name) in logs {
        found.push((*of, name, begins(*of, open(name)?.as_mut())));
    }
    let each = |wanted: Begins| found.iter().find(|(of, _, is)| *is == wanted && *of != Of::Slat);
    let average = |wanted: Of| {
        found.iter().find(|(of, _, is)| (*of, *is) == (wanted, Begins::Average)).map(|(of, name, _)| (*of, *name))
    };
    let choice = match each(Begins::Each) {
        Some((of, name, _)) => Choice::Each(*of, name),
        None if found.iter().any(|(_, _, is)| *is == Begins::Average) => {
            let latency = average(Of::Lat).or(average(Of::Clat));
            match (average(Of::Iops), average(Of::Bw)) {
                (Some((_, iops)), Some((_, bw))) => Choice::Averages { iops, bw, latency },
                _ => return Err(alone(&found)),
            }
        }
        None => match each(Begins::Empty) {
            Some((of, name, _)) => Choice::Each(*of, name),
            None => return Err(alone(&found)),
        },
    };
    let read = |name: &str| match &choice {
        Choice::Each(_, own) => *own == name,
        Choice::Averages { iops, bw, latency } => {
            *iops == name || *bw == name || latency.is_some_and(|(_, own)| own == name)
        }
    };
    dropped.extend(logs.values().filter(|name| !read(name)).map(|name| not_read(name)));
    Ok(choice)
}

fn not_read(name: &str) -> Say {
    say!(
        "{name}: another log of the job has more detail, so this one was not read",
        "{name}: другой журнал этого задания подробнее, этот не читался"
    )
}

/// What is there does not say how many I/Os there were, or how many bytes.
fn alone(found: &[(Of, &str, Begins)]) -> Box<Error> {
    let name = found.first().map_or("", |(_, name, _)| *name);
    Error::spec(say!(
        "`{name}` and the files named with it do not give the numbers of I/Os and bytes",
        "из `{name}` и указанных с ним файлов не узнать число операций и байт"
    ))
    .hint(say!(
        "averages (log_avg_msec) need both the `_iops` and the `_bw` log of the job; without log_avg_msec the `_lat` log is enough",
        "к средним (log_avg_msec) нужны журналы задания `_iops` и `_bw`, оба; без log_avg_msec достаточно журнала `_lat`"
    ))
}

/// By the first line. Averages have no size.
fn begins(of: Of, source: &mut dyn Read) -> Begins {
    let mut bytes = [0u8; BEGIN + 32];
    let mut held = 0;
    while held < BEGIN {
        match source.read(&mut bytes[held..BEGIN]) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            // What cannot be read is reported when it is read.
            Err(_) => return Begins::Each,
            Ok(0) => break,
            Ok(count) => held += count,
        }
    }
    if held == 0 {
        return Begins::Empty;
    }
    match LatencyLines::default().next(&bytes) {
        Ok((line, _)) if line.columns.size == 0 && of != Of::Histogram => Begins::Average,
        _ => Begins::Each,
    }
}

/// What a name says.
pub fn named(name: &str) -> Result<Named> {
    let of = || {
        let stem = name.strip_suffix(".log")?;
        let (stem, job) = match stem.rsplit_once('.') {
            Some((stem, number)) if number.parse::<u32>().is_ok() => (stem, number.parse().ok()?),
            _ => (stem, 0),
        };
        let (group, kind) = match stem.strip_suffix("_clat_hist") {
            Some(group) => (group, "clat_hist"),
            None => stem.rsplit_once('_')?,
        };
        let of = match kind {
            "lat" => Of::Lat,
            "clat" => Of::Clat,
            "clat_hist" => Of::Histogram,
            "slat" => Of::Slat,
            "bw" => Of::Bw,
            "iops" => Of::Iops,
            _ => return None,
        };
        let case = group.rsplit('/').next().unwrap_or(group).to_string();
        Some(Named { group: group.to_string(), case, of, job })
    };
    of().ok_or_else(|| {
        Error::usage(say!(
            "the name `{name}` does not show what the log contains",
            "по имени `{name}` не понять, о чём этот журнал"
        ))
        .hint(say!(
            "fio calls its logs `PREFIX_lat.N.log`, `PREFIX_clat.N.log`, `PREFIX_clat_hist.N.log`, `PREFIX_iops.N.log`, `PREFIX_bw.N.log`",
            "fio называет журналы `PREFIX_lat.N.log`, `PREFIX_clat.N.log`, `PREFIX_clat_hist.N.log`, `PREFIX_iops.N.log`, `PREFIX_bw.N.log`"
        ))
    })
}
