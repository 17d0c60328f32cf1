//! Results in the layout that fio prints (`--output-format=json+`), for programs that read fio. What fio would know and Stend does not
//! is not there; the document itself lists the consequences, under `stend`.

mod layout;
mod options;
mod paths;

pub(crate) use options::kinds;
pub use paths::fio_json_place;

use layout::Document;
use std::collections::BTreeSet;
use std::io::{Result, Write};
use stend_analyse::as_fio::GroupAsFio;
use stend_base::{Say, say};
use stend_record::RunRecord;

/// Writes groups of jobs as one document of fio.
pub fn fio_json(run: &RunRecord, groups: &[GroupAsFio], to: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *to, &Document::new(run, groups, notes(groups)))?;
    to.write_all(b"\n")
}

/// What a reader of fio would otherwise take these numbers for.
fn notes(groups: &[GroupAsFio]) -> Vec<Say> {
    let mut notes = Vec::new();
    let latencies = || groups.iter().flat_map(|g| &g.jobs).flat_map(|j| &j.sides).filter_map(|s| s.latency.as_ref());
    if latencies().any(|latency| latency.kind == "lat") {
        notes.push(say!(
            "lat_ns includes the submission of an I/O; slat_ns and clat_ns, its two parts, were not measured and are left out.",
            "lat_ns включает подачу операции; две её части, slat_ns и clat_ns, не измерялись и не приводятся."
        ));
    }
    if groups.iter().flat_map(|group| &group.jobs).any(|job| job.cpu_ns.is_some()) {
        notes.push(say!(
            "usr_cpu is all time on a CPU, that in the kernel included: the two were not measured apart, so sys_cpu is 0.",
            "usr_cpu — всё время на процессоре, включая время в ядре: по отдельности оно не измерялось, поэтому sys_cpu равен 0."
        ));
    }
    if groups.iter().flat_map(|group| &group.asked.streams).any(|stream| stream.is_open()) {
        notes.push(say!(
            "Where I/Os were due at given times, lat_ns counts from their begin, as fio counts, and leaves out what they waited before it; `stend show` has both.",
            "Там, где операции начинались по расписанию, lat_ns отсчитывается, как у fio, от их начала, без ожидания до него; обе задержки показывает `stend show`."
        ));
    }
    if groups.iter().any(|group| group.trials > 1) {
        notes.push(say!(
            "The trials of a case are one job: its rates are means over them, its latencies are merged. `stend show` has the intervals.",
            "Испытания одного случая сведены в одно задание: скорости усреднены по ним, задержки объединены. Интервалы показывает `stend show`."
        ));
    }
    let mut told = BTreeSet::new();
    for group in groups {
        for Say { en, ru } in group.asked.streams.iter().flat_map(options::left_out) {
            let label = &group.label;
            let note = say!(
                "{label}: fio has no option for {en}.",
                "{label}: у fio нет параметра, который означал бы это: {ru}."
            );
            // Each trial of a case would say the same.
            if told.insert(note.en.clone()) {
                notes.push(note);
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests;
