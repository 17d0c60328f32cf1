//! A recording as one HTML file: the host in a sentence, its drives, and everything over time.

use super::{bar, document, facts, figure, section, table};
use crate::figures::{NONE, utc};
use crate::markup::Markup;
use crate::svg::WIDTH_PAGE;
use crate::{journal, recording};
use stend_analyse::journal::{Problem, is_failing};
use stend_analyse::recording::Recorded;
use stend_analyse::recording_lines::{RecordedDrive, Spread};
use stend_base::{Lang, Say, format, say};
use stend_record::RunRecord;

/// A recording as one HTML file that starts in `lang`.
pub fn recording_html(run: &RunRecord, found: &Recorded, problems: &[Problem], lang: Lang) -> String {
    let title = title(run);
    document(&title, lang, |m| {
        m.raw("\n");
        m.el("header", "top", |m| {
            bar(m);
            m.line("h1", "", &title);
            m.line("p", "verdict", &recording::host(found));
            let counted = journal::counted(problems).map(|said| Say { en: said.en + ".", ru: said.ru + "." });
            [counted, recording::state(run), recording::idle(found)]
                .iter()
                .flatten()
                .for_each(|said| m.line("p", "note", said));
        });
        m.raw("\n");
        m.el("main", "", |m| {
            problem_table(m, run, problems);
            drives(m, found);
            health(m, found);
            if !found.charts.is_empty() {
                section(m, "cases", &say!("Over time", "По времени"), |m| {
                    m.el("div", "charts wide", |m| {
                        found.charts.iter().for_each(|chart| figure::draw(m, chart, lang, WIDTH_PAGE));
                    });
                });
            }
            section(m, "system", &say!("The recording", "Запись"), |m| facts(m, &what(run, found)));
        });
    })
}

fn title(run: &RunRecord) -> Say {
    let (host, began) = (run.load().called(), utc(run.header.started_unix));
    say!("Recording of {host} from {began}", "Запись хоста {host} с {began}")
}

fn what(run: &RunRecord, found: &Recorded) -> Vec<(Say, Say)> {
    let facts = run.load().facts.as_ref();
    let of = |field: fn(&stend_record::HostFacts) -> &str| Say::same(facts.map_or("", field));
    let recording = run.header.recording.as_ref();
    vec![
        (say!("id", "номер"), Say::same(&*run.header.id)),
        (say!("label", "метка"), Say::same(run.header.label.as_deref().unwrap_or(""))),
        (say!("length", "длительность"), Say::both(|lang| format::duration(found.span, lang))),
        (say!("samples", "отсчётов"), Say::same(format::count(found.samples))),
        (
            say!("keeps", "хранит"),
            recording.map_or_else(|| Say::same(""), |recording| recording::retention_text(&recording.retention)),
        ),
        (say!("system", "система"), of(|f| &f.os)),
        (say!("kernel", "ядро"), of(|f| &f.kernel)),
        (say!("CPU", "процессор"), of(|f| &f.cpu_model)),
    ]
}

/// Problems of the journal, open ones first.
fn problem_table(m: &mut Markup, run: &RunRecord, problems: &[Problem]) {
    if problems.is_empty() {
        return;
    }
    let columns = [
        say!("object", "объект"),
        say!("problem", "проблема"),
        say!("seen", "что видно"),
        say!("when", "когда"),
        say!("what to do", "что делать"),
    ];
    section(m, "problems", &say!("Problems", "Проблемы"), |m| {
        table(m, "", &columns, |m| {
            for problem in journal::ordered(problems) {
                let glyph = journal::glyph(problem);
                m.el("tr", "", |m| {
                    m.with("th", &[("scope", "row")], |m| m.text(&format!("{glyph} {}", problem.object)));
                    let advice = if problem.closed.is_none() { problem.rule.advice() } else { Say::same("") };
                    for cell in [problem.rule.name(), problem.evidence.clone(), journal::span(run, problem), advice] {
                        m.line("td", "", &cell);
                    }
                });
            }
        });
    });
}

/// What drives say of themselves.
fn health(m: &mut Markup, found: &Recorded) {
    if found.health.is_empty() {
        return;
    }
    let columns = [
        say!("device", "устройство"),
        say!("own verdict", "собственная оценка"),
        say!("endurance used, %", "ресурс израсходован, %"),
        say!("spare left, %", "резерв остался, %"),
        say!("media errors", "ошибок носителя"),
        say!("written, TB", "записано, ТБ"),
        say!("hours of operation", "наработка, ч"),
    ];
    section(m, "health", &say!("Health of the drives", "Состояние накопителей"), |m| {
        table(m, "numbers", &columns, |m| {
            for (device, health) in &found.health {
                let count = |of: Option<u64>| Say::same(of.map_or_else(|| NONE.to_string(), format::count));
                let passed = match (is_failing(health), health.passed) {
                    (Some(true), _) => say!("✖ fails", "✖ неисправен"),
                    (_, Some(false)) => say!("! warns", "! предупреждает"),
                    (_, Some(true)) => say!("✔ passed", "✔ исправен"),
                    (_, None) => Say::same(NONE),
                };
                let written = health
                    .bytes_written
                    .map_or(Say::same(NONE), |bytes| Say::both(|lang| format::number(bytes as f64 / 1e12, lang)));
                let cells = [
                    passed,
                    count(health.used_percent),
                    count(health.spare_percent),
                    count(health.media_errors),
                    written,
                    count(health.power_on_hours),
                ];
                m.el("tr", "", |m| {
                    m.with("th", &[("scope", "row")], |m| m.text(device));
                    cells.iter().for_each(|cell| m.line("td", "", cell));
                });
            }
        });
    });
}

fn drives(m: &mut Markup, found: &Recorded) {
    if found.drives.is_empty() {
        return;
    }
    let columns = [
        say!("device", "устройство"),
        Say::same("IOPS"),
        say!("at most", "наибольшее"),
        say!("MB/s", "МБ/с"),
        say!("at most", "наибольшее"),
        say!("read latency, ms", "задержка чтения, мс"),
        say!("write latency, ms", "задержка записи, мс"),
        say!("I/Os in flight", "операций в очереди"),
        say!("share of time with I/O", "доля времени с операциями"),
    ];
    section(m, "results", &say!("Drives", "Накопители"), |m| {
        let note = say!(
            "Means over the whole recording; “at most” is the largest of one step. A drive that works on many I/Os at once can do more when it is busy all the time.",
            "Средние за всю запись; «наибольшее» — самое большое за один шаг. Накопитель, который выполняет много операций сразу, может больше и тогда, когда занят всё время."
        );
        m.line("p", "note", &note);
        table(m, "numbers", &columns, |m| found.drives.iter().for_each(|drive| row(m, drive)));
    });
}

fn row(m: &mut Markup, drive: &RecordedDrive) {
    let number = |value: f64| Say::both(|lang| format::number(value, lang));
    let latency = |of: Option<Spread>| of.map_or_else(|| Say::same(NONE), |ns| number(ns.mean / 1e6));
    let cells = [
        number(drive.iops.mean),
        number(drive.iops.max),
        number(drive.throughput.mean / 1e6),
        number(drive.throughput.max / 1e6),
        latency(drive.read_latency),
        latency(drive.write_latency),
        number(drive.queue.mean),
        Say::both(|lang| format::percent(drive.busy.mean, lang)),
    ];
    m.el("tr", "", |m| {
        m.with("th", &[("scope", "row")], |m| m.text(&drive.name));
        cells.iter().for_each(|cell| m.line("td", "", cell));
    });
}
