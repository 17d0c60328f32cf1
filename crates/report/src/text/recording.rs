//! A recording on a terminal: the host in a sentence, then its drives. Must not explain: charts are in the page.

use super::grid::{Column, Row, grid};
use super::layout::clean;
use super::{Screen, screen};
use crate::figures::{NONE, utc};
use crate::{journal, recording};
use stend_analyse::journal::Problem;
use stend_analyse::recording::Recorded;
use stend_analyse::recording_lines::{RecordedDrive, Spread};
use stend_base::{Lang, Say, format, say};
use stend_record::RunRecord;

/// Devices in the table: a screen. The report has all of them.
const ROWS_MAX: usize = 40;

/// What `stend show` prints of a recording, at most `width` columns wide (40 at least).
pub fn recording_text(
    run: &RunRecord,
    found: &Recorded,
    problems: &[Problem],
    lang: Lang,
    width: usize,
    colour: bool,
) -> String {
    let screen = screen(lang, width, colour);
    let mut out = screen.faint(&screen.paragraph(&clean(origin(run, found).get(lang))));
    out.push_str(&screen.bold(&screen.paragraph(recording::host(found).get(lang))));
    if let Some(counted) = journal::counted(problems) {
        out.push_str(&screen.paragraph(&format!("{}: `stend journal {}`", counted.get(lang), run.header.id)));
    }
    if let Some(state) = recording::state(run) {
        out.push_str(&screen.paragraph(state.get(lang)));
    }
    if let Some(idle) = recording::idle(found) {
        out.push_str(&screen.paragraph(&clean(idle.get(lang))));
    }
    out.push('\n');
    out.push_str(&table(&found.drives, &screen));
    out
}

/// Which recording it is: host, when, how long, how fine.
fn origin(run: &RunRecord, found: &Recorded) -> Say {
    let id = &run.header.id;
    let name = run.header.label.as_ref().map_or(id.clone(), |label| format!("{label} ({id})"));
    let (host, began) = (run.load().called(), utc(run.header.started_unix));
    let (span, samples) = (Say::both(|lang| format::duration(found.span, lang)), format::count(found.samples));
    let (en, ru) = (span.en, span.ru);
    say!(
        "{name}: recording of {host}, {began}, {en}, samples: {samples}",
        "{name}: запись хоста {host}, {began}, {ru}, отсчётов: {samples}"
    )
}

fn table(drives: &[RecordedDrive], screen: &Screen) -> String {
    let lang = screen.lang;
    let heads = [
        say!("device", "устройство"),
        Say::same("IOPS"),
        say!("most", "наиб."),
        say!("MB/s", "МБ/с"),
        say!("most", "наиб."),
        say!("rd ms", "чт мс"),
        say!("wr ms", "зп мс"),
        say!("busy", "занят"),
        say!("most", "наиб."),
    ];
    let number = |value: f64| format::number(value, lang);
    let latency = |of: Option<Spread>| of.map_or_else(|| NONE.to_string(), |ns| number(ns.mean / 1e6));
    let row = |drive: &RecordedDrive| Row {
        name: clean(&drive.name),
        indent: 0,
        cells: vec![
            number(drive.iops.mean),
            number(drive.iops.max),
            number(drive.throughput.mean / 1e6),
            number(drive.throughput.max / 1e6),
            latency(drive.read_latency),
            latency(drive.write_latency),
            format::percent(drive.busy.mean, lang),
            format::percent(drive.busy.max, lang),
        ],
        tint: None,
    };
    let rows: Vec<Row> = drives.iter().take(ROWS_MAX).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let columns = |count: usize| -> Vec<Column> {
        let column = |(at, head): (usize, &Say)| Column { head: head.get(lang).to_string(), right: at > 0 };
        heads[..count].iter().enumerate().map(column).collect()
    };
    let drawn = (1..=heads.len()).rev().find_map(|count| grid(&columns(count), &rows, screen));
    let more = drives.len().saturating_sub(ROWS_MAX);
    let more = match more {
        0 => String::new(),
        _ => screen.faint(&screen.paragraph(
            say!("… and {more} more; the report has all of them", "… и ещё {more}; в отчёте есть все").get(lang),
        )),
    };
    drawn.unwrap_or_default() + &more
}
