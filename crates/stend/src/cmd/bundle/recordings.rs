//! Recordings of the host of a bundle: the last 48 hours as tables, charts and events, and the journal of all of it.

use super::Making;
use super::facts::WIDTH;
use std::io::Write;
use std::path::PathBuf;
use stend_analyse::host_rates;
use stend_analyse::journal::marks::Marks;
use stend_analyse::journal::{Journal, Problem};
use stend_analyse::recording::{Fold, Recorded};
use stend_base::{Result, Say, format, say};
use stend_record::store::{KnownRun, SampleRows};
use stend_record::{Event, RunRecord, Sample, WallClock};
use stend_report::{BUNDLE_SPAN, BUNDLE_TABLES_MAX, BundlePart, BundleTable, Said, Step};

/// Recordings that are opened, the newest first: after a crash and a restart the one before matters, and some more of short tries.
const OPENED: usize = 8;
/// Most events of a recording: a bad drive fills the log of the kernel with alike ones.
const EVENTS_MAX: usize = 10_000;

/// A recording with samples in the time that is wanted.
pub(super) struct Opened {
    /// Everything but the samples, and the samples one at a time.
    pub rows: SampleRows,
    path: PathBuf,
    clock: WallClock,
    /// The first sample that is wanted.
    from: usize,
}

/// Opens those of the last 48 hours, which end with the newest sample.
pub(super) fn open(known: &mut Vec<KnownRun>, making: &mut Making) -> Vec<Opened> {
    known.truncate(OPENED);
    let mut all = Vec::new();
    for file in known.drain(..) {
        match SampleRows::open(&file.path) {
            Ok(rows) => all.push(Opened { clock: WallClock::of(&rows.record), rows, path: file.path, from: 0 }),
            Err(error) => making.leave_out(BundlePart::Recording, error.message),
        }
    }
    let newest = all.iter().filter_map(|of| of.unix_ns(of.rows.len().checked_sub(1)?)).max();
    let Some(newest) = newest else {
        making.leave_out(BundlePart::Recording, none());
        return Vec::new();
    };
    let begin = newest.saturating_sub_unsigned(BUNDLE_SPAN.0);
    for of in &mut all {
        of.from =
            (0..of.rows.len()).find(|index| of.unix_ns(*index).is_some_and(|at| at >= begin)).unwrap_or(of.rows.len());
    }
    all.retain(|of| of.from < of.rows.len());
    all
}

fn none() -> Say {
    say!(
        "samples and journal: this machine has no recording of the host; `stend record` makes one on the host, and `stend bundle` there packs it",
        "отсчёты и журнал: на этой машине нет записи работы той машины; запись делает `stend record` на ней самой, а `stend bundle` там же её упакует"
    )
}

impl Opened {
    fn unix_ns(&self, index: usize) -> Option<i64> {
        let at = self.rows.at(index)?;
        Some(self.clock.unix_ns(at))
    }
}

/// Adds each of them. Tables of all share the limit, the newest recording first.
pub(super) fn add(all: &mut Vec<Opened>, making: &mut Making) {
    let mut left = BUNDLE_TABLES_MAX.0;
    for of in all.drain(..) {
        making.part(BundlePart::Recording, |making| one(&of, &mut left, making));
    }
}

fn one(of: &Opened, left: &mut u64, making: &mut Making) -> Result<()> {
    let folder = format!("recording-{}/", of.rows.record.header.id);
    let record = match &making.redaction {
        Some(redaction) => redaction.apply(of.rows.record.clone())?,
        None => of.rows.record.clone(),
    };
    let looked = look(of, &record, making);
    documents(&folder, &record, &looked, of, making)?;
    events(&folder, &record, making)?;
    tables(&folder, of, &looked.sizes, left, making)
}

/// What the samples say.
struct Found {
    recorded: Recorded,
    problems: Vec<Problem>,
    /// Bytes of the tables for each sample that is wanted, in their order.
    sizes: Vec<u64>,
}

/// Reads all samples once: the journal is about all of them, the rest about those that are wanted.
fn look(of: &Opened, record: &RunRecord, making: &mut Making) -> Found {
    let rows = &of.rows;
    let mut journal = Journal::new(record);
    let ends = rows.at(of.from).zip(rows.at(rows.len() - 1)).unwrap_or_default();
    let mut fold = Fold::new(ends.0, ends.1, rows.len() - of.from).of_host(record.load());
    let (mut sizes, mut before) = (Vec::new(), None);
    for index in 0..rows.len() {
        let Some(sample) = sample(rows, index, making) else {
            sizes.extend((index >= of.from).then_some(0));
            continue;
        };
        journal.add(sample.clone());
        if index >= of.from {
            let step =
                |before: &Sample| rendered(of, index, before, &sample).iter().map(|text| text.len() as u64).sum();
            sizes.push(before.as_ref().map_or(0, step));
            fold.add(sample.clone());
            before = Some(sample);
        }
    }
    Found { recorded: fold.end(record), problems: journal.end(), sizes }
}

/// A sample, without its secrets unless they are wanted.
fn sample(rows: &SampleRows, index: usize, making: &mut Making) -> Option<Sample> {
    let mut sample = rows.get(index)?;
    if let Some(redaction) = &mut making.redaction {
        redaction.learn_sample(&sample);
        redaction.sample(&mut sample);
    }
    Some(sample)
}

/// Rows of a step in every table.
fn rendered(of: &Opened, index: usize, before: &Sample, after: &Sample) -> [String; 4] {
    let Some(rates) = host_rates::between(before, after) else { return Default::default() };
    let at_unix_ms = of.unix_ns(index).unwrap_or_default().div_euclid(1_000_000);
    let temperatures = after.parts.as_ref().map_or(&[][..], |parts| &parts.temperatures);
    let step = Step { at_unix_ms, rates: &rates, temperatures };
    BundleTable::ALL.map(|table| {
        let mut text = String::new();
        table.add(&step, &mut text);
        text
    })
}

fn documents(folder: &str, record: &RunRecord, found: &Found, of: &Opened, making: &mut Making) -> Result<()> {
    let Found { recorded, problems, .. } = found;
    let about = say!("the last 48 hours in a table", "последние 48 часов таблицей");
    making.in_both(folder, "recording.txt", &about, &|lang| {
        stend_report::recording_text(record, recorded, problems, lang, WIDTH, false)
    })?;
    let about = say!("the last 48 hours with charts, for a browser", "последние 48 часов с графиками, для браузера");
    making.in_both(folder, "recording.html", &about, &|lang| {
        stend_report::recording_html(record, recorded, problems, lang)
    })?;
    let about = say!("the same for programs", "то же для программ");
    making.file(format!("{folder}data/recording.json"), about, &stend_report::recording_json(record, recorded))?;
    let about = say!("the host as the recording knows it", "машина по данным записи");
    let host = serde_json::to_string_pretty(&record.load().info).unwrap_or_default() + "\n";
    making.file(format!("{folder}data/host.json"), about, &host)?;
    let marks = marks(of, making);
    let said = Said { marks: &marks, now_unix: making.bundle.made_unix };
    let about = say!(
        "problems of the whole recording: since when, what was seen, what to do",
        "проблемы за всю запись: с какого времени, что замечено, что делать"
    );
    making.in_both(folder, "journal.txt", &about, &|lang| {
        stend_report::journal_text(record, problems, said, lang, WIDTH, false)
    })?;
    making.file(format!("{folder}data/journal.json"), about, &stend_report::journal_json(record, problems, said))
}

/// What people said of problems: it has their names and their words.
fn marks(of: &Opened, making: &mut Making) -> Marks {
    let found = stend_session::marks(&of.path).unwrap_or_else(|error| {
        making.leave_out(BundlePart::Marks, error.message);
        Marks::default()
    });
    if making.redaction.is_none() || found.all().is_empty() {
        return found;
    }
    making.leave_out(
        BundlePart::Marks,
        say!(
            "who acknowledged or muted problems, and their comments: they name people",
            "кто принял проблемы к сведению или заглушил и комментарии: в них имена людей"
        ),
    );
    Marks::default()
}

/// Events of the recording, a line each: errors in the log of the kernel, health of drives, devices that come and go.
fn events(folder: &str, record: &RunRecord, making: &mut Making) -> Result<()> {
    let older = record.events.len().saturating_sub(EVENTS_MAX);
    if older > 0 {
        let older = say!("the {older} oldest events of a recording", "самые старые события записи: {older}");
        making.leave_out(BundlePart::Events, older);
    }
    let clock = WallClock::of(record);
    let line = |event: &Event| {
        let unix = clock.unix_s(event.at);
        serde_json::json!({"time_utc": format::rfc3339(unix), "event": event.kind}).to_string() + "\n"
    };
    let text: String = record.events[older..].iter().map(line).collect();
    let about = say!(
        "events: errors in the log of the kernel, health of drives, devices that came or went",
        "события: ошибки в журнале ядра, состояние накопителей, появление и исчезновение устройств"
    );
    making.file(format!("{folder}data/events.jsonl"), about, &text)
}

/// The tables, without the oldest samples where they would take more than is left.
fn tables(folder: &str, of: &Opened, sizes: &[u64], left: &mut u64, making: &mut Making) -> Result<()> {
    let mut files = Vec::new();
    for table in BundleTable::ALL {
        let mut file = making.begin(format!("{folder}{}", table.file()), table.about())?;
        file.write_all(table.head().as_bytes()).map_err(|error| super::unpacked(&error))?;
        files.push(file);
    }
    let first = kept(sizes, left);
    let begins = of.from + first;
    if first > 0 {
        let begin = (begins..of.rows.len()).find_map(|index| of.unix_ns(index));
        making.leave_out(BundlePart::Samples, cut(begin, &of.rows.record.header.id));
    }
    let mut before = None;
    for index in begins..of.rows.len() {
        let Some(sample) = sample(&of.rows, index, making) else { continue };
        if let Some(before) = &before {
            for (text, file) in rendered(of, index, before, &sample).iter().zip(&mut files) {
                file.write_all(text.as_bytes()).map_err(|error| super::unpacked(&error))?;
            }
        }
        before = Some(sample);
    }
    files.into_iter().try_for_each(|file| making.whole(file))
}

/// What is left out of the tables of a recording, of which the first sample that is in them is of this time.
fn cut(begin_ns: Option<i64>, id: &str) -> Say {
    match begin_ns {
        Some(begin) => {
            let at = format::utc(begin.div_euclid(1_000_000_000));
            say!(
                "samples before {at}: with them the tables would be larger than a bundle may be",
                "отсчёты до {at}: с ними таблицы превысили бы предел"
            )
        }
        None => say!(
            "all samples of recording {id}: with them the tables would be larger than a bundle may be",
            "все отсчёты записи {id}: с ними таблицы превысили бы предел"
        ),
    }
}

/// How many of the oldest are left out so that the others take no more than is left.
fn kept(sizes: &[u64], left: &mut u64) -> usize {
    let fits = sizes.iter().rev().take_while(|size| {
        let room = left.checked_sub(**size);
        *left = room.unwrap_or(*left);
        room.is_some()
    });
    sizes.len() - fits.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_samples_are_cut_and_what_is_left_goes_to_the_next_recording() {
        let mut left = 100;
        assert_eq!(kept(&[50, 40, 30, 20], &mut left), 1);
        assert_eq!(left, 10);
        assert_eq!(kept(&[50, 40, 10], &mut left), 2);
        assert_eq!((left, kept(&[1], &mut left)), (0, 1));
        assert_eq!(kept(&[], &mut left), 0);
    }

    #[test]
    fn a_recording_of_which_no_sample_is_in_the_tables_is_named() {
        assert!(cut(None, "R-1").en.starts_with("all samples of recording R-1: "));
        assert!(cut(Some(1_795_296_600_000_000_000), "R-1").en.starts_with("samples before 2026-11-2"));
    }
}
